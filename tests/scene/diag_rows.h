/* The scenes of the decision table's test: what is red, what the evidence says, and which causes
 * follow. */
#pragma once

#include "tests/scene/diag_documents.h"

#define API_RED "pod-to-service-ip/tcp=timeout pod-to-service-fqdn/tcp=timeout@10.96.0.1"

struct row {
    const char *name;
    const char
        *red; /* "flow/protocol=outcome[@address] ..."; "-" = not run; all others are green */
    const char *evidence; /* JSON5-like: ' for ", bare keys */
    const char *causes;   /* "ID confirmed|likely cells, ..." */
    const char *note;     /* the first cause's first line of evidence */
};
static const struct row rows[] = {
    {"all green", "", "", "", NULL},
    {"all green and a good look", "",
     LOOK("running", "running", "running", "") ",api:{outcome:'ok',clockDifferenceSeconds:-300},"
                                               "certificate:{notAfter:'2026-11-22T10:15:02Z'}}",
     "", NULL},
    {"the kubelet has ended", ALL_NOT_RUN,
     LOOK("running", "stopped", "running",
          "since:'2026-11-22T10:11:02Z',exitCode:255,lastErrors:['E1 foo'],") "}",
     "SVC-DOWN confirmed 18", "its log says: E1 foo"},
    {"containerd and the kubelet are stopped", ALL_NOT_RUN,
     LOOK("stopped", "stopped", "running", "exitCode:0,") "}",
     "SVC-DOWN confirmed 18, SVC-DOWN confirmed 0", "its log: C:\\var\\log\\containerd.log"},
    {"HNS is stopped", ALL_NOT_RUN,
     "look:{time:'2026-11-22T10:15:02Z',services:[{name:'hns',state:'stopped'}]}",
     "SVC-DOWN confirmed 18", "the Service Control Manager says: stopped"},
    {"kube-proxy is stopped, its load balancers work", "",
     LOOK("running", "running", "stopped", "exitCode:1,") "}", "SVC-DOWN confirmed 0", NULL},
    {"kube-proxy is stopped, and its load balancers are gone",
     DNS_RED " pod-to-service-ip/tcp=timeout",
     LOOK("running", "running", "stopped", "exitCode:1,") "},loadBalancers:[]",
     "SVC-DOWN confirmed 0, SVC-ALL confirmed 10", NULL},
    {"kube-proxy keeps ending", "",
     LOOK("running", "running", "running", "exitCode:1,recentEnds:3,") "}",
     "SVC-DOWN confirmed 0, SVC-DOWN confirmed 0, SVC-DOWN confirmed 0", NULL},
    {"the kubelet runs, what was measured has other causes", "pod-to-pod-ip/udp=no-reply",
     LOOK("running", "stopped", "running", "") "},extra:{'x-small-udp':{outcome:'ok'}}",
     "SVC-DOWN confirmed 0, MTU confirmed 1", NULL},
    {"the API server is away",
     "pod-to-service-ip/tcp=timeout pod-to-service-fqdn/tcp=timeout@10.96.0.1",
     "look:{api:{server:'https://10.0.0.10:6443',outcome:'unreachable',detail:'refused'}}",
     "API-DOWN confirmed 2", "refused"},
    {"the API server takes connections, and gives no answer",
     "pod-to-service-ip/tcp=timeout pod-to-service-fqdn/tcp=timeout@10.96.0.1",
     "look:{api:{server:'https://10.0.0.10:6443',outcome:'failing',detail:'late'}}",
     "API-DOWN likely 2", "late"},
    {"the API server is too far away for the first look",
     "pod-to-service-fqdn/tcp=dns-timeout pod-to-service-ip/udp=ok~1200 "
     "pod-to-service-ip/tcp=ok~1200",
     "look:{api:{outcome:'unreachable',detail:'late'}}", "LATENCY confirmed 1", NULL},
    {"some questions to the DNS by TCP are lost", "pod-to-service-fqdn/udp=dns-timeout",
     "expected:{dnsIP:'10.96.0.10'},loadBalancers:[{FrontendVIPs:['10.96.0.10'],"
     "HostComputeEndpoints:['d'],PortMappings:[{Protocol:6,ExternalPort:53}]}],"
     "extra:{'x-size-dns-1450':{outcome:'dns-timeout'},"
     "'x-size-dns-2000':{outcome:'dns-timeout',succeeded:2}}",
     "LOSS likely 1", NULL},
    {"the API server is away, pods do not notice", "",
     "look:{api:{server:'https://10.0.0.10:6443',outcome:'unreachable',detail:'refused'}}",
     "API-DOWN confirmed 0", "refused"},
    {"the API server refuses", "", "look:{api:{outcome:'refused',detail:'401'}}",
     "API-REFUSED confirmed 0", "401"},
    {"the API server is not trusted", "", "look:{api:{outcome:'untrusted',detail:'no'}}",
     "API-REFUSED confirmed 0", "no"},
    {"an expired certificate is why it refuses", "",
     "look:{time:'2026-11-22T10:15:02Z',api:{outcome:'refused'},certificate:{path:'c.pem',notAfter:"
     "'2026-11-22T10:15:01Z'}}",
     "CERT-EXPIRED confirmed 0", "c.pem was valid until 2026-11-22T10:15:01Z"},
    {"a clock that is behind", "", "look:{api:{outcome:'ok',clockDifferenceSeconds:301}}",
     "CLOCK-OFF confirmed 0", "its answer is dated 301 s after this clock"},
    {"a clock that is ahead", "", "look:{api:{outcome:'ok',clockDifferenceSeconds:-301}}",
     "CLOCK-OFF confirmed 0", "its answer is dated 301 s before this clock"},
    {"a known fault of this build, and nothing else", "pod-to-pod-ip/tcp=timeout",
     "host:{build:20348,revision:2600,knownFaults:[{id:'KB5040437',breaks:'x',fix:'y',source:'z'}]"
     "}",
     "WIN-PATCH likely 1", "10.0.20348.2600, KB5040437: x (z)"},
    {"a known fault does not go before what is seen", "pod-to-pod-ip/udp=no-reply",
     "host:{knownFaults:[{id:'KB5040437',breaks:'x',fix:'y',source:'z'}]},extra:{'x-small-udp':{"
     "outcome:'ok'}}",
     "MTU confirmed 1", NULL},
    {"load balancers without DSR and few ports", "pod-to-service-fqdn/udp=dns-timeout",
     "dynamicPorts:767,loadBalancers:[{Flags:0},{},{Flags:1}]", "PORT-POOL confirmed 1",
     "2 load balancers without DSR take 128 of 767 dynamic TCP ports"},
    {"ports enough", "pod-to-service-fqdn/udp=dns-timeout",
     "dynamicPorts:768,loadBalancers:[{Flags:0},{},{Flags:1}]", "", NULL},
    {"flanneld is stopped, which pods that run do not notice", "pod-to-pod-ip/tcp=timeout",
     "look:{time:'2026-11-22T10:15:02Z',services:[" SERVICE_SEEN("flanneld", "stopped", "") "]}",
     "SVC-DOWN confirmed 0", NULL},
    {"networks that could not be read", ALL_NOT_RUN, OVERLAY "}", "", NULL},
    {"networks of which none is expected", ALL_NOT_RUN,
     "networks:[{Name:'External',Type:'Overlay'}]", "", NULL},
    {"no image", ALL_NOT_RUN, "pods:{a:{waiting:'ErrImagePull: not found'},b:{}}",
     "POD-IMG confirmed 18", "winjoin-probe-a is waiting: ErrImagePull: not found"},
    {"no sandbox", ALL_NOT_RUN, "pods:{a:{waiting:'FailedCreatePodSandBox: hcn'},b:{}}",
     "POD-SBX confirmed 18", "winjoin-probe-a is waiting: FailedCreatePodSandBox: hcn"},
    {"node not ready", ALL_NOT_RUN,
     "node:{status:{conditions:[{type:'Ready',status:'False',message:'disk'}]}}",
     "NOTREADY confirmed 18", "Ready is False: disk"},
    {"no network is wider than a dead sandbox", ALL_NOT_RUN,
     OVERLAY "},networks:[{Name:'External',Type:'Overlay'}],pods:{a:{waiting:"
             "'FailedCreatePodSandBox'},b:{}}",
     "HNS-NET confirmed 18", "HNS has no network 'flannel.4096'; it has: External"},
    {"network of another type", ALL_NOT_RUN,
     OVERLAY "},networks:[{Name:'flannel.4096',Type:'L2Bridge'}]", "HNS-NET confirmed 18",
     "network 'flannel.4096' has type L2Bridge, not Overlay"},
    {"a network that is only looked for under another name", "pod-to-pod-ip/tcp=no-reply",
     OVERLAY "},networks:[{Name:'cbr0',Type:'L2Bridge'}]", "", NULL},
    {"network on APIPA", EXTERNAL_RED " " DNS_RED,
     OVERLAY "},networks:[{Name:'flannel.4096',Type:'Overlay',Policies:[{Type:'ProviderAddress',"
             "Settings:{ProviderAddress:'169.254.7.7'}}]}]",
     "HNS-MGMT confirmed 11",
     "the network's management address is 169.254.7.7: the adapter had no address when the network "
     "was made"},
    {"network on an old address", EXTERNAL_RED " " DNS_RED,
     "expected:{networkName:'cbr0'},networks:[{Name:'cbr0',Type:'L2Bridge',ManagementIP:"
     "'10.0.0.9'}],node:{status:{addresses:[{type:'InternalIP',address:'10.0.0.21'}]}}",
     "HNS-MGMT confirmed 11",
     "the network's management address is 10.0.0.9, the node's is 10.0.0.21"},
    {"old address, but outside is reached", "pod-to-service-ip/udp=dns-timeout",
     "expected:{networkName:'cbr0'},networks:[{Name:'cbr0',ManagementIP:'169.254.1.1'}]", "", NULL},
    {"endpoint b detached",
     "pod-to-pod-ip/tcp=timeout pod-to-pod-ip/udp=no-reply "
     "pod-to-pod-name/tcp=timeout pod-to-pod-name/udp=no-reply "
     "node-to-pod/tcp=timeout node-to-pod/udp=no-reply",
     PODS ",endpoints:[" ENDPOINT_A "},{ID:'7a00',State:4,IpConfigurations:[{IpAddress:"
          "'10.244.3.5'}]}]",
     "HNS-EP confirmed 6", "endpoint 7a00 (winjoin-probe-b) is in state 4, not 3"},
    {"stale endpoint", "pod-to-pod-ip/tcp=wrong-responder",
     PODS ",endpoints:[" ENDPOINT_A "}," ENDPOINT_B ",{Flags:1,IpConfigurations:[{IpAddress:"
          "'10.244.3.5'}]}]",
     "HNS-EPSTALE confirmed 1", "2 endpoints have the address 10.244.3.5"},
    {"mtu", "pod-to-pod-ip/udp=no-reply", "extra:{'x-small-udp':{outcome:'ok'}}", "MTU confirmed 1",
     "UDP to the other pod: 16 bytes arrive, 1400 do not"},
    {"mtu of the adapter", "pod-to-pod-ip/udp=no-reply",
     WIN_NODE ",adapters:[{alias:'Ethernet',mtu:1450,addresses:['10.0.0.21/24']}],"
              "extra:{'x-small-udp':{outcome:'ok'}}",
     "MTU confirmed 1", "the MTU of 'Ethernet' is 1450"},
    {"mtu between two sizes", "pod-to-pod-ip/udp=no-reply",
     "extra:{'x-small-udp':{outcome:'ok'},'x-size-udp-1300':{outcome:'no-reply'},"
     "'x-size-udp-1200':{outcome:'ok'},'x-size-udp-1000':{outcome:'ok'},"
     "'x-size-udp-2000':{outcome:'ok'},'x-size-tcp-1000':{outcome:'timeout'},"
     "'x-size-udp-x':{outcome:'no-reply'}}",
     "MTU confirmed 1", "UDP to the other pod: 1200 bytes arrive, 1300 do not"},
    {"mtu is not it when small ones are lost too", "pod-to-pod-ip/udp=no-reply",
     "extra:{'x-small-udp':{outcome:'no-reply'},'x-small-tcp':{outcome:'ok'}}",
     "POD-LOCAL likely 1", NULL},
    {"vni of a peer", DNS_RED, OVERLAY "}," NETWORK(GOOD_REMOTE) "," LIN_1("{\\\"VNI\\\":1}"),
     "OVL-VNI confirmed 9", "node lin-1 uses VNI 1, this node's network 4096"},
    {"vni of the route", DNS_RED,
     OVERLAY "}," NETWORK(REMOTE("4097", "10.0.0.31", "0E-2A-00-00-00-01")) "," LIN_1(PEER_DATA),
     "OVL-VNI confirmed 9", "the route to 10.244.1.0/24 has VNI 4097, the network 4096"},
    {"vni, but names resolve", "pod-to-service-ip/udp=dns-timeout",
     OVERLAY "}," NETWORK(GOOD_REMOTE) "," LIN_1("{\\\"VNI\\\":1}"), "", NULL},
    {"peer missing", DNS_RED, OVERLAY "}," NETWORK("") "," LIN_1(PEER_DATA), "OVL-PEER confirmed 9",
     "no RemoteSubnetRoute for 10.244.1.0/24 (node lin-1)"},
    {"peer missing, and kube-proxy took the node itself for its pod's", DNS_RED,
     OVERLAY "," VIPS "}," NETWORK("") "," LIN_1(
         PEER_DATA) ",endpoints:[" VIP_ENDPOINT ",{ID:'d000',Flags:1,IpConfigurations:[{IpAddress:"
                    "'10.244.1.9'}],Policies:[{Type:'ProviderAddress',Settings:{ProviderAddress:"
                    "'10.0.0.21'}}]}],loadBalancers:[" DNS_BALANCER_TO_POD
                    "]," ASKED("dns-timeout"),
     "OVL-PEER confirmed 9", "no RemoteSubnetRoute for 10.244.1.0/24 (node lin-1)"},
    {"peer missing, and who would add it", DNS_RED,
     OVERLAY "}," NETWORK("") "," LIN_1(PEER_DATA) ",services:{flanneld:'stopped'}",
     "OVL-PEER confirmed 9",
     "service flanneld is stopped: read its log, then start it: sc.exe start flanneld"},
    {"peers are there, and who added them ended", DNS_RED,
     OVERLAY "," VIPS "}," NETWORK(GOOD_REMOTE) "," LIN_1(
         PEER_DATA) ",services:{flanneld:'stopped'}," ASKED("dns-timeout"),
     "OVL-UDP likely 9", NULL},
    {"peer elsewhere", DNS_RED,
     OVERLAY "}," NETWORK(REMOTE("4096", "10.0.0.99", "0E-2A-00-00-00-01")) "," LIN_1(PEER_DATA),
     "OVL-PEER confirmed 9",
     "the route to 10.244.1.0/24 goes to 10.0.0.99, node lin-1 is at 10.0.0.31"},
    {"peer's mac", DNS_RED,
     OVERLAY "}," NETWORK(REMOTE("4096", "10.0.0.31", "0E-2A-00-00-00-09")) "," LIN_1(PEER_DATA),
     "OVL-PEER confirmed 9",
     "the route to 10.244.1.0/24 has router MAC 0E-2A-00-00-00-09, node lin-1 has "
     "0e:2a:00:00:00:01"},
    {"nothing wrong to see in the overlay", DNS_RED,
     OVERLAY "," VIPS "}," NETWORK(GOOD_REMOTE) "," WITH_DNS_POD(ASKED("dns-timeout")),
     "OVL-UDP likely 9",
     "pods on this node reach each other, but DNS on other nodes does not answer"},
    {"source vip of an old subnet", DNS_RED,
     OVERLAY "," VIPS "}," NETWORK(GOOD_REMOTE) "," LIN_1(
         PEER_DATA) ",loadBalancers:[" DNS_BALANCERS("10.244.9.2") "]",
     "SVC-VIP confirmed 9",
     "the load balancer of 10.96.0.10 has SourceVIP 10.244.9.2, which is outside 10.244.3.0/24"},
    {"the source vip's endpoint is gone", DNS_RED,
     OVERLAY "," VIPS "}," NETWORK(GOOD_REMOTE) ",endpoints:[],loadBalancers:[" DNS_BALANCERS(
         "10.244.3.2") "]",
     "SVC-VIP confirmed 9",
     "no endpoint has the SourceVIP 10.244.3.2 of the load balancer of 10.96.0.10"},
    {"hns shows nothing wrong, answers to the source vip are lost", DNS_RED,
     OVERLAY "," VIPS "}," NETWORK(GOOD_REMOTE) "," WITH_DNS_POD(ASKED("ok")), "SVC-VIP likely 9",
     "DNS answers at 10.244.1.9; through its Service the answers, which go to the SourceVIP "
     "10.244.3.2, are lost"},
    {"a missing peer that dns does not need", DNS_RED,
     OVERLAY "}," NETWORK("") "," LIN_1(PEER_DATA) "," ASKED("ok"), "", NULL},
    {"cluster ips are not handed over", DNS_RED " pod-to-service-ip/tcp=timeout",
     OVERLAY "," VIPS "}," ROUTED("10.112.0.0/12"), "SVC-ROUTE confirmed 10",
     "endpoint 6f3c (winjoin-probe-a): its SDNRoute policies lead to 10.112.0.0/12, not to "
     "10.96.0.1"},
    {"on the node's own segment, without loopback DSR", DNS_RED " pod-to-service-ip/tcp=timeout",
     AZURE "," ROUTED("10.112.0.0/12"), "SVC-ROUTE confirmed 10", NULL},
    {"on the node's own segment, loopback DSR needs no route",
     DNS_RED " pod-to-service-ip/tcp=timeout",
     AZURE "," PODS ",endpoints:[" ENDPOINT_A
           "Policies:[{Type:'OutBoundNAT',Settings:{Destinations:['10.244.3.4']}}]}]",
     "", NULL},
    {"cluster ips are handed over, and nothing answers", DNS_RED " pod-to-service-ip/tcp=timeout",
     OVERLAY "," VIPS "}," ROUTED("10.96.0.0/12") "," ASKED("ok"), "SVC-ROUTE likely 10", NULL},
    {"an acl in the wrong direction", TO_B_RED,
     ENDPOINTS_AB("", ACL("Allow", "Out",
                          "Priority:100") "," ACL("Block", "In", "Protocols:'256',Priority:65500")),
     "CNI-POLICY confirmed 6", "endpoint 7a00 (winjoin-probe-b): ACL Block In, priority 65500"},
    {"an acl without a priority", TO_B_RED, ENDPOINTS_AB("", ACL("Block", "In", "Protocols:'256'")),
     "CNI-POLICY confirmed 6", "endpoint 7a00 (winjoin-probe-b): ACL Block In, priority 0"},
    {"an acl that an earlier rule overrules", TO_B_RED,
     ENDPOINTS_AB("", ACL("Block", "In", "Priority:300") "," ACL("Allow", "In", "Priority:200")),
     "HNS-EP likely 6", NULL},
    {"an acl of one port and protocol", "pod-to-pod-ip/tcp=timeout",
     ENDPOINTS_AB(ACL("Block", "Out",
                      "Protocols:'6',RemotePorts:'80,0-18100',RemoteAddresses:"
                      "'10.244.3.0/24',Priority:9"),
                  ""),
     "CNI-POLICY confirmed 1",
     "endpoint 6f3c (winjoin-probe-a): ACL Block Out, priority 9, protocol 6, from or to "
     "10.244.3.0/24, their ports 80,0-18100"},
    {"an acl that blocks questions to the dns service", DNS_RED,
     "expected:{" VIPS
     "}," ENDPOINTS_AB(ACL("Block", "Out",
                           "Protocols:'17',RemotePorts:'53',RemoteAddresses:'10.96.0.10',"
                           "Priority:9"),
                       ""),
     "CNI-POLICY confirmed 9",
     "endpoint 6f3c (winjoin-probe-a): ACL Block Out, priority 9, protocol 17, from or to "
     "10.96.0.10, their ports 53"},
    {"an acl for an address that was never asked", "pod-to-service-fqdn/tcp=dns-timeout",
     "expected:{" VIPS
     "}," ENDPOINTS_AB(ACL("Block", "Out", "Protocols:'6',RemotePorts:'443'"), ""),
     "", NULL},
    {"an acl against the world outside", EXTERNAL_RED,
     ENDPOINTS_AB(
         "{Type:'OutBoundNAT'}," ACL("Block", "Out", "RemoteAddresses:'192.0.2.0/24',Priority:1"),
         ""),
     "CNI-POLICY confirmed 2", NULL},
    {"an acl that hns does not follow, of another direction, of the host's own traffic",
     "pod-to-pod-ip/tcp=timeout",
     ENDPOINTS_AB("",
                  ACL("Block", "In", "Priority:9") "," ACL("Block", "Out", "Priority:1") "," ACL(
                      "Block", "In", "RuleType:'Host',Priority:1")),
     "", NULL},
    {"a control plane without pods' network is no missing peer", DNS_RED,
     OVERLAY "}," NETWORK(GOOD_REMOTE) ",nodes:[{metadata:{name:'cp'},spec:{podCIDR:"
                                       "'10.244.0.0/24'}},{metadata:{name:'lin-1',annotations:{"
                                       "'flannel.alpha.coreos.com/backend-data':'" PEER_DATA
                                       "','flannel.alpha.coreos.com/"
                                       "public-ip':'10.0.0.31'}},spec:{podCIDR:'10.244.1.0/24'}}]",
     "OVL-UDP likely 9", NULL},
    {"nobody behind the dns service",
     "pod-to-service-ip/udp=refused pod-to-pod-name/tcp=dns-timeout "
     "pod-to-pod-name/udp=dns-timeout pod-to-service-pqdn/tcp=dns-timeout "
     "pod-to-service-pqdn/udp=dns-timeout pod-to-service-fqdn/tcp=dns-timeout "
     "pod-to-service-fqdn/udp=dns-timeout pod-to-external-dns/tcp=dns-timeout "
     "pod-to-external-dns/udp=refused",
     OVERLAY "}," NETWORK(GOOD_REMOTE) "," LIN_1(PEER_DATA), "SVC-EP0 likely 9",
     "the DNS Service refuses direct queries: packets arrive, but no program listens"},
    {"nobody behind the dns service, seen by tcp alone", DNS_RED,
     OVERLAY "}," NETWORK(GOOD_REMOTE) "," LIN_1(PEER_DATA) ",extra:{'x-dns-tcp':{outcome:"
                                                            "'refused'}}",
     "SVC-EP0 likely 9", NULL},
    {"names that resolve wrongly are not another server",
     "pod-to-service-fqdn/tcp=timeout pod-to-service-fqdn/udp=no-reply "
     "pod-to-service-pqdn/tcp=timeout pod-to-service-pqdn/udp=dns-timeout@10.9.9.9",
     "", "", NULL},
    {"names of services that lead elsewhere",
     "pod-to-service-fqdn/tcp=timeout@10.9.9.9 pod-to-service-fqdn/udp=dns-timeout@10.9.9.9 "
     "pod-to-service-pqdn/tcp=dns-timeout@10.9.9.9 pod-to-external-dns/tcp=timeout@10.9.9.9 "
     "pod-to-pod-name/udp=dns-nxdomain",
     "expected:{" VIPS "}", "DNS-WRONG confirmed 4",
     "kubernetes.default.svc.cluster.local:443 resolves to 10.9.9.9; the Service has 10.96.0.1"},
    {"names that are right, and do not answer",
     "pod-to-service-fqdn/tcp=timeout@10.96.0.1 pod-to-service-fqdn/udp=dns-timeout@10.96.0.10",
     "expected:{" VIPS "}", "", NULL},
    {"no source vip", DNS_RED,
     OVERLAY "," VIPS "}," NETWORK(GOOD_REMOTE) ",loadBalancers:[" DNS_BALANCERS("") "]",
     "SVC-VIP confirmed 9", "the load balancer of 10.96.0.10 has no SourceVIP"},
    {"no balancer at all", DNS_RED " pod-to-service-ip/tcp=timeout",
     "loadBalancers:[],services:{'kube-proxy':'stopped'}", "SVC-ALL confirmed 10",
     "HNS has no load balancers"},
    {"kube-proxy asks an API server that is not there", DNS_RED " pod-to-service-ip/tcp=timeout",
     "look:{api:{server:'https://10.0.0.10:6443',outcome:'ok'}},loadBalancers:[],services:{"
     "'kube-proxy':'running'},kubeProxy:{server:'https://10.0.0.99:6443',lastErrors:['E1 dial']}",
     "SVC-ALL confirmed 10",
     "its kubeconfig leads to https://10.0.0.99:6443; this node talks to https://10.0.0.10:6443"},
    {"kube-proxy has another source VIP", DNS_RED " pod-to-service-ip/tcp=timeout",
     OVERLAY "},loadBalancers:[],services:{'kube-proxy':'running'},kubeProxy:{sourceVip:"
             "'10.244.99.2',server:'https://10.0.0.10:6443'}",
     "SVC-ALL confirmed 10",
     "its configuration has the sourceVip 10.244.99.2, which is outside 10.244.3.0/24"},
    {"kube-proxy is well, and has programmed nothing yet", DNS_RED " pod-to-service-ip/tcp=timeout",
     "look:{api:{server:'https://10.0.0.10:6443',outcome:'ok'}},"
     "expected:{networkMode:'l2bridge',podCIDR:'10.244.3.0/24'},loadBalancers:[],services:{"
     "'kube-proxy':'running'},kubeProxy:{sourceVip:'10.9.9.9',server:'https://10.0.0.10:6443'}",
     "SVC-ALL confirmed 10", "HNS has no load balancers"},
    {"one cause for everything goes before a wider one for some",
     DNS_RED " pod-to-service-ip/tcp=timeout",
     OVERLAY "}," NETWORK("") "," LIN_1(PEER_DATA) ",loadBalancers:[]", "SVC-ALL confirmed 10",
     "HNS has no load balancers"},
    {"kube-proxy stopped", DNS_RED " pod-to-service-ip/tcp=timeout",
     "services:{'kube-proxy':'stopped'}", "SVC-ALL likely 10", "service kube-proxy is stopped"},
    {"kube-proxy stopped, services work", "pod-to-node/tcp=refused",
     "services:{'kube-proxy':'stopped'}", "KUBELET-PORT likely 1", NULL},
    {"dns without udp", DNS_RED,
     "expected:{" VIPS "},loadBalancers:[" BALANCER("10.96.0.10", "6", "53", "") "," BALANCER(
         "10.96.0.1", "6", "443", "") "]",
     "DNS-LB confirmed 9", "no load balancer for 10.96.0.10 UDP 53"},
    {"a load balancer that passes nothing on, and its pod answers", DNS_RED,
     "expected:{networkMode:'l2bridge'," VIPS "},endpoints:[" DNS_POD
     "],loadBalancers:[" DNS_BALANCER_TO_POD
     "," BALANCER("10.96.0.10", "6", "53", "") "],extra:{"
                                               "'x-dns-pod':{outcome:'ok'},'x-dns-udp':{outcome:'"
                                               "dns-timeout'},'x-dns-tcp':{outcome:'ok'}}",
     "DNS-LB likely 9",
     "DNS answers at 10.244.1.9; at 10.96.0.10, UDP 53, nothing does: dns-timeout"},
    {"the API's load balancer passes nothing on, and the API server answers", API_RED,
     "expected:{" VIPS "},endpoints:[{ID:'c000',Flags:1,IpConfigurations:[{IpAddress:'10.0.0.10'}]}"
     "],loadBalancers:[{FrontendVIPs:['10.96.0.1'],HostComputeEndpoints:['c000'],PortMappings:[{"
     "Protocol:6,ExternalPort:443}]}," DNS_BALANCERS(
         "") "],look:{api:{outcome:'ok'}},extra:{"
             "'x-api-node':{outcome:'refused'},'x-api-direct':{outcome:'ok'}}",
     "SVC-LB likely 2",
     "pods get an answer of 10.0.0.10; at 10.96.0.1 port 443, which leads there, none"},
    {"the DNS pods' node is far away",
     "pod-to-service-fqdn/udp=dns-timeout pod-to-service-ip/udp=ok~600",
     "extra:{'x-dns-connect':{outcome:'ok',medianUs:300000}}", "LATENCY confirmed 1",
     "a connection to a pod of the DNS takes 300 ms"},
    {"the DNS pods' node is near, the DNS slow",
     "pod-to-service-fqdn/udp=dns-timeout pod-to-service-ip/udp=ok~600",
     "extra:{'x-dns-connect':{outcome:'ok',medianUs:200000}}", "DNS-SLOW confirmed 1", NULL},
    {"the DNS Service has no port for UDP", DNS_RED,
     "expected:{" VIPS "},dnsSpec:{ports:['53/TCP']},loadBalancers:[" BALANCER(
         "10.96.0.10", "6", "53", "") "," BALANCER("10.96.0.1", "6", "443", "") "]",
     "DNS-LB confirmed 9", "the Service itself has no port 53/UDP"},
    {"the DNS Service is for pods of the same node", DNS_RED,
     "expected:{" VIPS "},dnsSpec:{ports:['53/UDP','53/TCP'],internalTrafficPolicy:'Local'},"
     "loadBalancers:[" BALANCER("10.96.0.10", "6", "53", "") "," BALANCER("10.96.0.1", "6", "443",
                                                                          "") "]",
     "DNS-LB confirmed 9",
     "the Service has internalTrafficPolicy Local: only pods of the same node are behind it"},
    {"kubernetes without balancer", "pod-to-service-ip/tcp=timeout pod-to-service-fqdn/tcp=timeout",
     "expected:{" VIPS "},loadBalancers:[" DNS_BALANCERS("") "]", "SVC-LB confirmed 2",
     "no load balancer for 10.96.0.1 TCP 443"},
    {"another dns server", NAMES_RED,
     PODS ",expected:{dnsIP:'10.96.0.99'},endpoints:[" ENDPOINT_A "}," ENDPOINT_B "]",
     "DNS-SRV confirmed 7", "the DNS Service answers direct queries"},
    {"the right dns server, and names fail all the same", NAMES_RED,
     PODS ",expected:{dnsIP:'10.96.0.10'},endpoints:[" ENDPOINT_A "}," ENDPOINT_B "]",
     "DNS-SRV likely 7", "the DNS Service answers direct queries"},
    {"no suffix", "pod-to-service-pqdn/tcp=dns-nxdomain pod-to-service-pqdn/udp=dns-nxdomain",
     PODS ",expected:{namespace:'default',dnsDomain:'cluster.local'},endpoints:[" ENDPOINT_A
          "}," ENDPOINT_B "]",
     "DNS-SFX confirmed 2",
     "the pod's DNS suffixes (endpoint 6f3c) lack default.svc.cluster.local"},
    {"suffix is there", "pod-to-service-pqdn/tcp=dns-nxdomain pod-to-service-pqdn/udp=dns-nxdomain",
     PODS ",expected:{namespace:'kube-system',dnsDomain:'cluster.local'},endpoints:[" ENDPOINT_A
          "}," ENDPOINT_B "]",
     "DNS-SFX likely 2", NULL},
    {"nothing outside answers anybody", EXTERNAL_RED " pod-to-external-dns/udp=dns-servfail",
     PODS ",expected:{externalIP:'192.0.2.1'},extra:{'node-external':{outcome:'timeout'}},"
          "endpoints:[" ENDPOINT_A "Policies:[]}," ENDPOINT_B "]",
     "EXT-NODE confirmed 4", "the node itself does not reach 192.0.2.1: timeout"},
    {"no nat", EXTERNAL_RED,
     PODS ",endpoints:[" ENDPOINT_A "Policies:[{Type:'SDNRoute'},{Type:'OutBoundNAT',Settings:{"
          "Destinations:['10.244.3.4']}}]}," ENDPOINT_B "]",
     "NAT-NONE confirmed 3",
     "endpoint 6f3c (winjoin-probe-a): none of its policies translates what goes out: "
     "SDNRoute, OutBoundNAT (to its own address only)"},
    {"a mode that translates by itself or not at all", EXTERNAL_RED,
     "expected:{networkMode:'nat'}," PODS ",endpoints:[" ENDPOINT_A "Policies:[]}," ENDPOINT_B "]",
     "", NULL},
    {"a router that knows nothing of its pods",
     EXTERNAL_RED " " NODE_RED " node-to-pod/tcp=timeout",
     "expected:{networkMode:'transparent'}," PODS ",endpoints:[" ENDPOINT_A
     "Routes:[{NextHop:'10.244.3.1'}]}," ENDPOINT_B "]",
     "L2-GATEWAY likely 6",
     "pods reach each other; the gateway of pod winjoin-probe-a is 10.244.3.1"},
    {"a router that carries some of it", EXTERNAL_RED,
     "expected:{networkMode:'transparent'}," PODS ",endpoints:[" ENDPOINT_A
     "Routes:[{NextHop:'10.244.3.1'}]}," ENDPOINT_B "]",
     "", NULL},
    {"nat is there", EXTERNAL_RED,
     PODS ",endpoints:[" ENDPOINT_A "Policies:[{Type:'OutBoundNAT',Settings:{Exceptions:"
          "['10.0.0.0/8']}}]}," ENDPOINT_B "],expected:{externalIP:'192.0.2.1'}",
     "", NULL},
    {"target excepted from nat", EXTERNAL_RED,
     PODS ",endpoints:[" ENDPOINT_A "Policies:[{Type:'OutBoundNAT',Settings:{Exceptions:"
          "['10.0.0.0/8','192.0.2.0/24']}}]}," ENDPOINT_B "],expected:{externalIP:'192.0.2.1'}",
     "NAT-EXC confirmed 3", "192.0.2.1 is in the exception 192.0.2.0/24"},
    {"pods elsewhere are not excepted from nat", DNS_RED,
     OVERLAY "," VIPS "}," PODS ",endpoints:[" VIP_ENDPOINT "," DNS_POD "," ENDPOINT_A
             "Policies:[{Type:'OutBoundNAT',Settings:{}}]}],loadBalancers:[" DNS_BALANCER_TO_POD
             "," DNS_BALANCERS("10.244.3.2") "]",
     "NAT-EXC confirmed 9", NULL},
    {"the dns pod is excepted from nat", DNS_RED,
     OVERLAY "," VIPS "}," PODS ",endpoints:[" VIP_ENDPOINT "," DNS_POD "," ENDPOINT_A
             "Policies:[{Type:'OutBoundNAT',Settings:{Exceptions:['10.244.0.0/16']}}]}],"
             "loadBalancers:[" DNS_BALANCER_TO_POD "," DNS_BALANCERS("10.244.3.2") "]",
     "OVL-UDP likely 9", NULL},
    {"the agent's pods reach only Services with their own address", DNS_RED,
     "expected:{networkName:'OVNKubernetesHybridOverlayNetwork',networkMode:'overlay'," VIPS
     "},networks:[{Name:'OVNKubernetesHybridOverlayNetwork',Type:'Overlay'}]," PODS
     ",endpoints:[" VIP_ENDPOINT "," DNS_POD "," ENDPOINT_A
     "Policies:[{Type:'OutBoundNAT',Settings:{}}]}],loadBalancers:[" DNS_BALANCER_TO_POD
     "," DNS_BALANCERS("10.244.3.2") "]",
     "OVL-PEER likely 9", NULL},
    {"forwarding of names",
     "pod-to-external-dns/tcp=dns-servfail "
     "pod-to-external-dns/udp=dns-servfail",
     "extra:{'x-dns-external':{outcome:'dns-servfail'}}", "EXT-DNS confirmed 2",
     "the cluster's DNS resolves Service names"},
    {"the node and its pods get nothing of each other by UDP",
     "pod-to-node/udp=no-reply node-to-pod/udp=no-reply", "", "FW-OWN likely 2",
     "the other pod reaches winjoin-probe-b, the node does not by UDP"},
    {"firewall", "pod-to-node/tcp=timeout", "", "FW-IN likely 1",
     "the node reaches the pod, the pod gets no answer from the node"},
    {"the node does not reach its pod either",
     NODE_RED " node-to-pod/tcp=timeout node-to-pod/udp=no-reply", "", "FW-OWN likely 4", NULL},
    {"a bridge without a route to the own node", NODE_RED, BRIDGE "," OWN_ROUTE("10.0.0.99/32"),
     "L2-NODE confirmed 2",
     "endpoint 6f3c (winjoin-probe-a): its SDNRoute policies lead to 10.0.0.99/32, not to "
     "10.0.0.21"},
    {"a bridge with a route to the own node", NODE_RED, BRIDGE "," OWN_ROUTE("10.0.0.21/32"),
     "FW-IN likely 2", NULL},
    {"pods on the node's own segment need no route to it", NODE_RED,
     BRIDGE "," ON_SEGMENT "," OWN_ROUTE("10.0.0.99/32"), "FW-IN likely 2", NULL},
    {"policies that lead nowhere are no routes", NODE_RED,
     BRIDGE "," PODS ",endpoints:[" ENDPOINT_A
            "Policies:[{Type:'ACL',Settings:{NeedEncap:true,DestinationPrefix:'10.0.0.21/32'}},"
            "{Type:'SDNRoute',Settings:{DestinationPrefix:'10.0.0.21/32'}},{Type:'SDNRoute'}]}]",
     "L2-NODE confirmed 2",
     "endpoint 6f3c (winjoin-probe-a): its SDNRoute policies lead to nothing, not to 10.0.0.21"},
    {"an overlay needs no route to the own node", NODE_RED,
     OVERLAY "}," WIN_NODE "," OWN_ROUTE("10.0.0.99/32"), "FW-IN likely 2", NULL},
    {"kubelet not there", "pod-to-node/tcp=refused", "", "KUBELET-PORT likely 1",
     "the node refuses connections to port 10250"},
    {"pods are translated to an address that is not the node's", EXTERNAL_RED,
     OVERLAY "}," WIN_NODE "," PODS
             ",adapters:[{addresses:['10.0.0.21/24']}],endpoints:[" ENDPOINT_A
             "Policies:[{Type:'OutBoundNAT',Settings:{VirtualIP:'10.0.0.99'}}]}," ENDPOINT_B
             "],extra:{'node-external':{outcome:'ok'},'node-external-udp':{outcome:'ok'}}",
     "HNS-MGMT confirmed 3",
     "packets of winjoin-probe-a are translated to 10.0.0.99, which no adapter of this node has"},
    {"pods are translated to the node's address", EXTERNAL_RED,
     OVERLAY "}," WIN_NODE "," PODS
             ",adapters:[{addresses:['10.0.0.21/24']}],endpoints:[" ENDPOINT_A
             "Policies:[{Type:'OutBoundNAT',Settings:{VirtualIP:'10.0.0.21'}}]}," ENDPOINT_B
             "],extra:{'node-external':{outcome:'ok'},'node-external-udp':{outcome:'ok'}}",
     "EXT-PODS likely 3", NULL},
    {"a proxy that lets nothing through",
     "pod-to-service-ip/tcp=refused "
     "pod-to-service-fqdn/tcp=refused@10.96.0.1 " EXTERNAL_RED,
     OVERLAY "}," WIN_NODE "," PODS
             ",adapters:[{addresses:['10.0.0.21/24']}],endpoints:[" ENDPOINT_A
             "Policies:[{Type:'OutBoundNAT',Settings:{VirtualIP:'10.0.0.21'}},{Type:'L4WFPPROXY',"
             "Settings:{FilterTuple:{Protocols:'6',RemotePorts:'443'}}}]}," ENDPOINT_B
             "],extra:{'node-external':{outcome:'ok'},'node-external-udp':{outcome:'ok'}}",
     "CNI-POLICY likely 4, EXT-PODS likely 1",
     "endpoint 6f3c (winjoin-probe-a): L4WFPPROXY to port ?"},
    {"a proxy that lets others through", EXTERNAL_RED,
     OVERLAY "}," WIN_NODE "," PODS
             ",adapters:[{addresses:['10.0.0.21/24']}],endpoints:[" ENDPOINT_A
             "Policies:[{Type:'OutBoundNAT',Settings:{VirtualIP:'10.0.0.21'}},{Type:'L4WFPPROXY',"
             "Settings:{FilterTuple:{Protocols:'6',RemotePorts:'443'}}}]}," ENDPOINT_B
             "],extra:{'node-external':{outcome:'ok'},'node-external-udp':{outcome:'ok'}}",
     "EXT-PODS likely 3", NULL},
    {"no space, and the Node has no such condition", ALL_NOT_RUN,
     "pods:{a:{name:'a',waiting:'CreateContainerError: There is not enough space on the disk.'}}",
     "POD-SBX likely 18", NULL},
    {"a program that failed twice", ALL_NOT_RUN,
     "pods:{a:{name:'a',waiting:'exit code 5',failures:2},b:{}}", "POD-SBX likely 18", NULL},
    {"a local endpoint has the DNS pod's address, and the pod takes connections", DNS_RED,
     OVERLAY "," VIPS
             "},endpoints:[{ID:'dead',IpConfigurations:[{IpAddress:'10.244.1.9'}]}," VIP_ENDPOINT
             "," DNS_POD "],loadBalancers:[" DNS_BALANCER_TO_POD
             "," DNS_BALANCERS("10.244.3.2") "],extra:{'x-dns-pod':{outcome:'dns-timeout'},'x-dns-"
                                             "udp':{outcome:'dns-timeout'},"
                                             "'x-dns-connect':{outcome:'ok'}}",
     "DNS-SLOW likely 9", NULL},
    {"two faults, two causes", EXTERNAL_RED " pod-to-node/tcp=timeout",
     PODS ",endpoints:[" ENDPOINT_A "Policies:[]}," ENDPOINT_B "]", "NAT-NONE confirmed 4", NULL},
    {"a broken document harms nobody", DNS_RED,
     "networks:3,endpoints:{},nodes:[1,{}],loadBalancers:'x',expected:[],pods:{a:[]}", "", NULL},
};
