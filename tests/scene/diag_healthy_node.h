/* The evidence of a healthy node, and flows that fail together. Written as diag_documents.h is. */
#pragma once

#include "tests/scene/diag_documents.h"

#define NAT_POLICY(more)                                                                           \
    "{Type:'OutBoundNAT',Settings:{Exceptions:['10.244.0.0/16','10.96.0.0/12'" more "]}}"
#define ROUTE_POLICY(prefix)                                                                       \
    "{Type:'SDNRoute',Settings:{NeedEncap:true,DestinationPrefix:'" prefix "'}}"
#define POD_POLICIES(nat, more)                                                                    \
    nat "," ROUTE_POLICY("10.96.0.0/12") "," ROUTE_POLICY("10.0.0.21/32") more
#define POD_ENDPOINT(id, ip, policies)                                                             \
    "{ID:'" id "',State:3,MacAddress:'00-15-5D-" id                                                \
    "',Routes:[{NextHop:'10.244.3.1',DestinationPrefix:'0.0.0.0/"                                  \
    "0'}],IpConfigurations:[{PrefixLength:24,IpAddress:'" ip                                       \
    "'}],Dns:{Search:['kube-system.svc.cluster.local'],Domain:'kube-system.svc.cluster.local',"    \
    "ServerList:['10.96.0.10']},Policies:[" policies "]}"
#define GOOD_POLICIES POD_POLICIES(NAT_POLICY(""), "")
#define BALANCER_TO(id, vip, protocol, port, source, member)                                       \
    "{ID:'" id "',FrontendVIPs:['" vip "'],SourceVIP:'" source "',HostComputeEndpoints:['" member  \
    "'],Flags:1,PortMappings:[{Protocol:" protocol ",ExternalPort:" port "}]}"
#define DNS_UDP(source, member) BALANCER_TO("1b", "10.96.0.10", "17", "53", source, member)
#define DNS_TCP BALANCER_TO("2b", "10.96.0.10", "6", "53", "10.244.3.2", "d000")
#define API_TCP BALANCER_TO("3b", "10.96.0.1", "6", "443", "10.244.3.2", "a000")
#define FLANNEL_NODE(name, cidr, ip, type, data)                                                   \
    "{metadata:{name:'" name "',annotations:{'flannel.alpha.coreos.com/backend-type':'" type       \
    "','flannel.alpha.coreos.com/public-ip':'" ip                                                  \
    "','flannel.alpha.coreos.com/backend-data':'" data "'}},spec:{podCIDR:'" cidr                  \
    "'},status:{conditions:[{type:'Ready',status:'True'}],addresses:[{type:'InternalIP',address:"  \
    "'" ip "'}]}}"
#define OWN_NODE FLANNEL_NODE("win-7k2", "10.244.3.0/24", "10.0.0.21", "vxlan", "{}")
#define OWN_DATA "{\\\"VNI\\\":4096,\\\"VtepMAC\\\":\\\"0e:2a:00:00:00:07\\\"}"
#define OWN_ANNOTATIONS(ip) OWN_ANNOTATIONS_OF(ip, "{}")
#define OWN_ANNOTATIONS_OF(ip, data)                                                               \
    "{'flannel.alpha.coreos.com/backend-type':'vxlan','flannel.alpha.coreos.com/public-ip':'" ip   \
    "','flannel.alpha.coreos.com/backend-data':'" data "'}"
#define OTHER_NODE(type, data) FLANNEL_NODE("lin-1", "10.244.1.0/24", "10.0.0.31", type, data)
#define NETWORK_OF(type, adapter, policies)                                                        \
    "[{Name:'flannel.4096',Type:'" type                                                            \
    "',Ipams:[{Subnets:[{Routes:[{NextHop:'10.244.3.1'}],Policies:[{Type:'VSID',Settings:{"        \
    "IsolationId:4096}}]}]}],Policies:[{Type:'NetAdapterName',Settings:{NetworkAdapterName:"       \
    "'" adapter "'}},{Type:'ProviderAddress',Settings:{ProviderAddress:'10.0.0.21'}}" policies     \
    "]}]"
#define ADAPTER(mac, forwarding)                                                                   \
    "{alias:'vEthernet (Ethernet)',up:true,mac:'" mac "',forwarding:" forwarding                   \
    ",addresses:['10.0.0.21/24'],dnsServers:[]}"

#define NO_DRIFT                                                                                   \
    "{servicesWithoutLoadBalancer:[],loadBalancersWithoutService:[],podsWithoutEndpoint:[],"       \
    "staleRemoteEndpoints:[],kubeProxyPods:[]}"
#define LOST(service, frontend)                                                                    \
    PUT("kubernetes|servicesWithoutLoadBalancer|9",                                                \
        "{service:'" service "',frontend:'" frontend "'}")

#define GOOD_NETWORKS NETWORK_OF("Overlay", "Ethernet", "," GOOD_REMOTE)
#define POD_A POD_ENDPOINT("6f3c", "10.244.3.4", GOOD_POLICIES)
#define POD_B POD_ENDPOINT("7a00", "10.244.3.5", GOOD_POLICIES)
#define API_ENDPOINT "{ID:'a000',Flags:1,IpConfigurations:[{IpAddress:'10.0.0.31'}]}"
#define GOOD_ENDPOINTS "[" POD_A "," POD_B "," VIP_ENDPOINT "," DNS_POD "," API_ENDPOINT "]"
#define GOOD_DNS_UDP DNS_UDP("10.244.3.2", "d000")
#define SHOP_TCP BALANCER_TO("4b", "10.96.7.9", "6", "80", "10.244.3.2", "d000")
#define GOOD_BALANCERS "[" GOOD_DNS_UDP "," DNS_TCP "," API_TCP "," SHOP_TCP "]"
#define GOOD_ADAPTERS "[" ADAPTER("00-15-5D-01-02-03", "true") "]"
#define GOOD_NODES "[" OWN_NODE "," GOOD_OTHER "]"
#define GOOD_OTHER OTHER_NODE("vxlan", PEER_DATA)
#define RUNS(name) SERVICE_SEEN(name, "running", "")
#define GOOD_SERVICES                                                                              \
    "[{name:'hns',winjoin:false,state:'running'}," RUNS("containerd") "," RUNS(                    \
        "kubelet") "," RUNS("kube-proxy") "," RUNS("flanneld") "]"
#define GOOD_LOOK                                                                                  \
    "{time:'2026-11-22T10:15:02Z',api:{server:'https://10.0.0.10:6443',outcome:'ok',"              \
    "clockDifferenceSeconds:1},certificate:{path:'c.pem',notAfter:'2027-11-22T10:15:02Z'},"        \
    "services:" GOOD_SERVICES "}"

/* A healthy node whose network is an overlay of flannel. */
#define HEALTHY                                                                                    \
    "host:{name:'WIN-7K2',build:20348,revision:4000,knownFaults:[]},"                              \
    "dynamicPorts:16384,excludedPorts:100,"                                                        \
    "expected:{networkName:'flannel.4096',networkMode:'overlay',podCIDR:'10.244.3.0/24',"          \
    "dnsIP:'10.96.0.10',dnsDomain:'cluster.local',kubernetesIP:'10.96.0.1',"                       \
    "externalIP:'192.0.2.1',namespace:'kube-system'},"                                             \
    "networks:" GOOD_NETWORKS ",endpoints:" GOOD_ENDPOINTS ",loadBalancers:" GOOD_BALANCERS        \
    ",adapters:" GOOD_ADAPTERS                                                                     \
    ",routes:[{destination:'0.0.0.0/0',nextHop:'10.0.0.1',interface:5},"                           \
    "{destination:'10.244.1.0/24',nextHop:'10.0.0.31',interface:5}],"                              \
    "services:{hns:'running',containerd:'running',kubelet:'running','kube-proxy':'running',"       \
    "flanneld:'running'},"                                                                         \
    "node:" OWN_NODE ",nodes:" GOOD_NODES                                                          \
    ",pods:{a:{name:'winjoin-probe-a',ip:'10.244.3.4'},b:{name:'winjoin-probe-b',"                 \
    "ip:'10.244.3.5'}},"                                                                           \
    "extra:{'x-small-tcp':{outcome:'ok'},'x-small-udp':{outcome:'ok'},"                            \
    "'x-dns-tcp':{outcome:'ok'},'x-dns-udp':{outcome:'ok'},'x-dns-pod':{outcome:'ok'},"            \
    "'x-dns-connect':{outcome:'ok'},'x-closed-tcp':{outcome:'refused'},"                           \
    "'x-closed-udp':{outcome:'refused'},'x-page-small':{outcome:'ok',succeeded:1},"                \
    "'x-page-large':{outcome:'ok',succeeded:3},'x-node-peer':{outcome:'refused'},"                 \
    "'x-node-name':{outcome:'ok'},'node-external-udp':{outcome:'ok'},"                             \
    "'x-peer':{outcome:'ok'},'x-api-node':{outcome:'refused'},"                                    \
    "'x-dns-external':{outcome:'ok'},'x-size-dns-1300':{outcome:'ok'},"                            \
    "'x-size-dns-1450':{outcome:'ok'},'x-size-dns-2000':{outcome:'ok'},'x-resolve-fqdn':{outcome:" \
    "'ok'},"                                                                                       \
    "'x-node-api':{outcome:'ok'},'node-external':{outcome:'ok'}},"                                 \
    "kubernetes:" NO_DRIFT ",look:" GOOD_LOOK
#define EXISTS                                                                                     \
    "{a:{name:'a',waiting:'setup network for sandbox: The object already exists.'},b:{name:'b'}}"
