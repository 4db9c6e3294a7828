/* What a node's evidence may say, piece by piece, and which flows are red with it: shared by the
 * rows of the decision table's test. Written with ' for " and bare keys. */
#pragma once

#define DNS_RED                                                                                    \
    "pod-to-service-ip/udp=dns-timeout pod-to-pod-name/tcp=dns-timeout "                           \
    "pod-to-pod-name/udp=dns-timeout pod-to-service-pqdn/tcp=dns-timeout "                         \
    "pod-to-service-pqdn/udp=dns-timeout pod-to-service-fqdn/tcp=dns-timeout "                     \
    "pod-to-service-fqdn/udp=dns-timeout pod-to-external-dns/tcp=dns-timeout "                     \
    "pod-to-external-dns/udp=dns-timeout"
#define SERVICE6_RED "pod-to-service-ip/tcp6=dns-timeout pod-to-service-ip/udp6=dns-timeout"
#define DUAL(forwarding)                                                                           \
    "expected:{networkMode:'l2bridge','podCIDR6':'fd00:10:244:3::/"                                \
    "64','nodeIP6':'fd00:200::21','dnsIP6':'"                                                      \
    "fd00:10:96::a'},adapters:[{alias:'vEthernet "                                                 \
    "(Ethernet)',forwarding:true,'forwarding6':" forwarding                                        \
    ",addresses:['10.0.0.21/24','fd00:200::21/64']}]"
#define BALANCERS6                                                                                 \
    ",loadBalancers:[" BALANCER("fd00:10:96::a", "17", "53", "") "," BALANCER("fd00:10:96::a",     \
                                                                              "6", "53", "") "]"
#define NAMES_RED                                                                                  \
    "pod-to-pod-name/tcp=dns-timeout pod-to-pod-name/udp=dns-timeout "                             \
    "pod-to-service-pqdn/tcp=dns-timeout pod-to-service-pqdn/udp=dns-timeout "                     \
    "pod-to-service-fqdn/tcp=dns-timeout pod-to-service-fqdn/udp=dns-timeout "                     \
    "pod-to-external-dns/tcp=dns-timeout"
#define EXTERNAL_RED                                                                               \
    "pod-to-external-ip/tcp=timeout pod-to-external-ip/udp=dns-timeout "                           \
    "pod-to-external-dns/tcp=timeout"
#define ALL_NOT_RUN                                                                                \
    "pod-to-pod-ip/tcp=- pod-to-pod-ip/udp=- pod-to-pod-name/tcp=- pod-to-pod-name/udp=- "         \
    "pod-to-service-ip/tcp=- pod-to-service-ip/udp=- pod-to-service-pqdn/tcp=- "                   \
    "pod-to-service-pqdn/udp=- pod-to-service-fqdn/tcp=- pod-to-service-fqdn/udp=- "               \
    "pod-to-external-ip/tcp=- pod-to-external-ip/udp=- pod-to-external-dns/tcp=- "                 \
    "pod-to-external-dns/udp=- node-to-pod/tcp=- node-to-pod/udp=- pod-to-node/tcp=- "             \
    "pod-to-node/udp=-"
#define OVERLAY "expected:{networkName:'flannel.4096',networkMode:'overlay',podCIDR:'10.244.3.0/24'"
#define PODS "pods:{a:{ip:'10.244.3.4'},b:{ip:'10.244.3.5'}}"
#define ENDPOINT_A                                                                                 \
    "{ID:'6f3c',State:3,IpConfigurations:[{IpAddress:'10.244.3.4'}],Dns:{Search:["                 \
    "'kube-system.svc.cluster.local'],ServerList:['10.96.0.10']},"
#define ENDPOINT_B "{ID:'7a00',State:3,IpConfigurations:[{IpAddress:'10.244.3.5'}]}"
#define NETWORK(policies)                                                                          \
    "networks:[{Name:'flannel.4096',Type:'Overlay',Ipams:[{Subnets:[{Policies:[{Type:'VSID',"      \
    "Settings:{IsolationId:4096}}]}]}],Policies:[" policies "]}]"
#define LIN_1(data)                                                                                \
    "nodes:[{metadata:{name:'win-7k2'},spec:{podCIDR:'10.244.3.0/24'}},{metadata:{name:'lin-1',"   \
    "annotations:{'flannel.alpha.coreos.com/public-ip':'10.0.0.31',"                               \
    "'flannel.alpha.coreos.com/backend-data':'" data "'}},spec:{podCIDR:'10.244.1.0/24'},status:{" \
    "addresses:[{type:'InternalIP',address:'10.0.0.31'}]}}]"
#define PEER_DATA "{\\\"VNI\\\":4096,\\\"VtepMAC\\\":\\\"0e:2a:00:00:00:01\\\"}"
#define REMOTE(vni, ip, mac)                                                                       \
    "{Type:'RemoteSubnetRoute',Settings:{DestinationPrefix:'10.244.1.0/24',IsolationId:" vni       \
    ",ProviderAddress:'" ip "',DistributedRouterMacAddress:'" mac "'}}"
#define GOOD_REMOTE REMOTE("4096", "10.0.0.31", "0E-2A-00-00-00-01")
#define BALANCER(vip, protocol, port, source)                                                      \
    "{FrontendVIPs:['" vip "'],SourceVIP:'" source "',PortMappings:[{Protocol:" protocol           \
    ",ExternalPort:" port "}]}"
#define DNS_BALANCERS(source)                                                                      \
    BALANCER("10.96.0.10", "17", "53", source) "," BALANCER("10.96.0.10", "6", "53", source)
#define DNS_BALANCER_TO_POD                                                                        \
    "{FrontendVIPs:['10.96.0.10'],SourceVIP:'10.244.3.2',HostComputeEndpoints:['d000'],"           \
    "PortMappings:[{Protocol:17,ExternalPort:53}]}"
#define DNS_POD "{ID:'d000',Flags:1,IpConfigurations:[{IpAddress:'10.244.1.9'}]}"
#define OLD_SLICE                                                                                  \
    PUT("endpoints|3|IpConfigurations|0|IpAddress", "'10.244.9.9'")                                \
    PUT("loadBalancers|0|SourceVIP", "'10.0.0.21'")                                                \
    PUT("dnsSpec", "{pods:{'10.244.9.9':'lin-1'}}")
#define VIP_ENDPOINT "{ID:'2222',IpConfigurations:[{IpAddress:'10.244.3.2'}]}"
#define ASKED(outcome) "extra:{'x-dns-pod':{outcome:'" outcome "'}}"
#define DNS_POD_SILENT                                                                             \
    "endpoints:[" DNS_POD "],loadBalancers:[" DNS_BALANCER_TO_POD                                  \
    "," BALANCER("10.96.0.10", "6", "53", "") "]," ASKED("dns-timeout")
#define WITH_DNS_POD(asked)                                                                        \
    LIN_1(PEER_DATA)                                                                               \
    ",endpoints:[" VIP_ENDPOINT "," DNS_POD "],loadBalancers:[" DNS_BALANCER_TO_POD                \
    "," BALANCER("10.96.0.10", "6", "53", "10.244.3.2") "," BALANCER("10.96.0.1", "6", "443",      \
                                                                     "10.0.0.21") "]," asked
#define ROUTED(prefix)                                                                             \
    PODS ",endpoints:[" ENDPOINT_A "Policies:[{Type:'SDNRoute',Settings:{NeedEncap:true,"          \
         "DestinationPrefix:'" prefix "'}}]}," VIP_ENDPOINT "],loadBalancers:[" DNS_BALANCERS(     \
             "10.244.3.2") "," BALANCER("10.96.0.1", "6", "443", "") "]"
#define WIN_NODE "node:{status:{addresses:[{type:'InternalIP',address:'10.0.0.21'}]}}"
#define NODE_RED "pod-to-node/tcp=timeout pod-to-node/udp=no-reply"
#define BRIDGE "expected:{networkName:'cbr0',networkMode:'l2bridge'}," WIN_NODE
#define ON_SEGMENT                                                                                 \
    "networks:[{Name:'cbr0',Type:'L2Bridge',Ipams:[{Subnets:[{IpAddressPrefix:'10.0.0.0/24'}]}]}]"
#define AZURE                                                                                      \
    "expected:{networkName:'cbr0',networkMode:'l2bridge'," VIPS "}," WIN_NODE "," ON_SEGMENT
#define OWN_ROUTE(prefix)                                                                          \
    PODS ",endpoints:[" ENDPOINT_A "Policies:[{Type:'SDNRoute',Settings:{NeedEncap:true,"          \
         "DestinationPrefix:'" prefix "'}}]}]"
#define ACL(action, direction, more)                                                               \
    "{Type:'ACL',Settings:{Action:'" action "',Direction:'" direction "'," more "}}"
#define TO_B_RED                                                                                   \
    "pod-to-pod-ip/tcp=timeout pod-to-pod-ip/udp=no-reply "                                        \
    "pod-to-pod-name/tcp=timeout@10.244.3.5 pod-to-pod-name/udp=no-reply@10.244.3.5 "              \
    "node-to-pod/tcp=timeout node-to-pod/udp=no-reply"
#define ENDPOINTS_AB(a, b)                                                                         \
    PODS "," WIN_NODE ",endpoints:[" ENDPOINT_A "Policies:[" a "]},{ID:'7a00',State:3,"            \
         "IpConfigurations:[{IpAddress:'10.244.3.5'}],Policies:[" b "]}]"
#define SERVICE_SEEN(name, state, more)                                                            \
    "{name:'" name "',state:'" state "',winjoin:true," more "log:'C:\\\\var\\\\log\\\\" name       \
    ".log'}"
#define LOOK(containerd, kubelet, kube_proxy, more)                                                \
    "look:{time:'2026-11-22T10:15:02Z',seconds:0.1,services:[" SERVICE_SEEN(                       \
        "containerd", containerd,                                                                  \
        more) "," SERVICE_SEEN("kubelet", kubelet, more) "," SERVICE_SEEN("kube-proxy",            \
                                                                          kube_proxy, more) "]"
#define VIPS "dnsIP:'10.96.0.10',kubernetesIP:'10.96.0.1'"
