/* Faults of a node, modelled: what each changes in the evidence of a healthy node, and which flows
 * fail with it. Written as diag_documents.h is. */
#pragma once

#include <stdbool.h>

#include "tests/scene/diag_healthy_node.h"

/* Changes of that document: a path and its new value, or none. */
#define PUT(path, value) path "=" value "\n"
#define DROP(path) "-" path "\n"
/* The same node with a bridge. */
#define AS_BRIDGE                                                                                  \
    PUT("expected|networkMode", "'l2bridge'")                                                      \
    PUT("networks", NETWORK_OF("L2Bridge", "Ethernet", ""))                                        \
    PUT("node|metadata|annotations", "{}")                                                         \
    PUT("nodes|0|metadata|annotations", "{}") PUT("nodes|1|metadata|annotations", "{}")
/* Nor do larger questions to the DNS Service by TCP. */
#define DNS_SIZES(outcome)                                                                         \
    PUT("extra|x-size-dns-1300|outcome", "'" outcome "'")                                          \
    PUT("extra|x-size-dns-1450|outcome", "'" outcome "'")                                          \
    PUT("extra|x-size-dns-2000|outcome", "'" outcome "'")
#define DNS_SIZES_SILENT DNS_SIZES("dns-timeout")
/* What nothing on another node answers. */
#define DNS_SILENT                                                                                 \
    DNS_SIZES_SILENT                                                                               \
    PUT("extra|x-dns-udp|outcome", "'dns-timeout'")                                                \
    PUT("extra|x-dns-tcp|outcome", "'dns-timeout'")                                                \
    PUT("extra|x-dns-pod|outcome", "'dns-timeout'")                                                \
    PUT("extra|x-dns-connect|outcome", "'timeout'")                                                \
    PUT("extra|x-closed-tcp|outcome", "'timeout'")                                                 \
    PUT("extra|x-closed-udp|outcome", "'no-reply'")                                                \
    PUT("extra|x-page-small", "{outcome:'timeout'}")                                               \
    PUT("extra|x-page-large", "{outcome:'timeout'}")                                               \
    PUT("extra|x-peer|outcome", "'timeout'")
/* The DNS Service alone is not reached. */
#define DNS_UDP_SILENT PUT("extra|x-dns-udp|outcome", "'dns-timeout'")
#define NO_DNS_SERVICE DNS_UDP_SILENT DNS_SIZES_SILENT PUT("extra|x-dns-tcp|outcome", "'timeout'")
/* By UDP the DNS pod is not reached either, at no port. */
#define DNS_POD_UDP_SILENT DNS_UDP_SILENT PUT("extra|x-dns-pod|outcome", "'dns-timeout'")
/* The DNS pod is there, its program says nothing in time. */
#define DNS_PROGRAM_SILENT                                                                         \
    DNS_POD_UDP_SILENT DNS_SIZES_SILENT PUT("extra|x-dns-tcp|outcome", "'dns-timeout'")
#define API_RED "pod-to-service-ip/tcp=timeout pod-to-service-fqdn/tcp=timeout@10.96.0.1"
#define TO_NODES_RED DNS_RED
#define ALL_FROM_A                                                                                 \
    DNS_RED " " EXTERNAL_RED " " NODE_RED " pod-to-pod-ip/tcp=timeout pod-to-pod-ip/udp=no-reply " \
            "pod-to-service-ip/tcp=timeout"
/* Two pods of the DNS, the second on a node lin-2 that is not reached. */
#define SECOND_DNS_POD                                                                             \
    PUT("endpoints|9", "{ID:'d001',Flags:1,IpConfigurations:[{IpAddress:'10.244.2.9'}]}")          \
    PUT("loadBalancers|0|HostComputeEndpoints", "['d000','d001']")                                 \
    PUT("loadBalancers|1|HostComputeEndpoints", "['d000','d001']")
#define LIN_2_DATA "{\\\"VNI\\\":4096,\\\"VtepMAC\\\":\\\"0e:2a:00:00:00:02\\\"}"
#define LIN_3_DATA "{\\\"VNI\\\":4096,\\\"VtepMAC\\\":\\\"0e:2a:00:00:00:03\\\"}"
#define HALF_OF_DNS_RED                                                                            \
    "pod-to-service-ip/udp=dns-timeout* pod-to-pod-name/tcp=dns-timeout* "                         \
    "pod-to-service-fqdn/udp=dns-timeout* pod-to-external-dns/udp=dns-timeout*"
#define NO_PODS PUT("pods|a", "{name:'winjoin-probe-a'}") PUT("pods|b", "{name:'winjoin-probe-b'}")

static const struct fault {
    const char *title, *cause, *red, *changes;
    bool bridge;
} faults[] = {
    {"the kubelet is stopped", "SVC-DOWN", ALL_NOT_RUN,
     PUT("look|services|2|state", "'stopped'") NO_PODS, false},
    {"containerd is stopped", "SVC-DOWN", ALL_NOT_RUN,
     PUT("look|services|1|state", "'stopped'") NO_PODS, false},
    {"HNS is stopped", "SVC-DOWN", ALL_NOT_RUN, PUT("look|services|0|state", "'stopped'") NO_PODS,
     false},
    {"flanneld is stopped", "SVC-DOWN", "", PUT("look|services|4|state", "'stopped'"), false},
    {"kube-proxy keeps ending", "SVC-DOWN", "", PUT("look|services|3|recentEnds", "3"), false},
    {"the API server has ended", "API-DOWN", API_RED,
     PUT("look|api|outcome", "'unreachable'") DROP("kubernetes"), false},
    {"the API server is overloaded", "API-DOWN", API_RED,
     PUT("look|api|outcome", "'failing'") DROP("kubernetes"), false},
    {"the API server does not know the node any more", "API-REFUSED", "",
     PUT("look|api|outcome", "'refused'") DROP("kubernetes"), false},
    {"the client certificate has expired", "CERT-EXPIRED", "",
     PUT("look|certificate|notAfter", "'2026-11-22T10:00:00Z'") PUT("look|api|outcome", "'refused'")
         DROP("kubernetes"),
     false},
    {"the clock is ten minutes late", "CLOCK-OFF", "",
     PUT("look|api|clockDifferenceSeconds", "600"), false},
    {"the sandbox image is missing", "POD-IMG", ALL_NOT_RUN,
     PUT("pods", "{a:{name:'a',waiting:'ErrImageNeverPull: no'},b:{name:'b'}}"), false},
    {"the pods' HNS network was deleted", "HNS-NET", ALL_NOT_RUN,
     PUT("networks", "[{Name:'External',Type:'Overlay'}]")
         PUT("pods", "{a:{name:'a',waiting:'FailedCreatePodSandBox: hcn'},b:{name:'b'}}"),
     false},
    {"HNS hangs", "HNS-HUNG", ALL_NOT_RUN,
     DROP("networks") DROP("endpoints") DROP("loadBalancers") PUT("hnsSilent", "true") NO_PODS,
     false},
    {"the kubelet hangs", "SVC-DOWN", ALL_NOT_RUN,
     PUT("look|silent", "{kubelet:'no answer'}") PUT("pods", "{a:{name:'a'},b:{name:'b'}}"), false},
    {"containerd hangs", "SVC-DOWN", ALL_NOT_RUN,
     PUT("look|silent", "{containerd:'no answer'}") PUT("pods", "{a:{name:'a'},b:{name:'b'}}"),
     false},
    {"a pod's endpoint is deleted at once", "HNS-EP", ALL_NOT_RUN,
     PUT("pods", "{a:{name:'a',noAddress:true,},b:{name:'b',noAddress:true,}}"), false},
    {"the HNS network has another type", "HNS-NET", ALL_NOT_RUN,
     PUT("networks|0|Type", "'L2Bridge'") NO_PODS, false},
    {"no sandbox can be made", "POD-SBX", ALL_NOT_RUN,
     PUT("pods", "{a:{name:'a',waiting:'FailedCreatePodSandBox: hcn'},b:{name:'b'}}"), false},
    {"the CNI configuration is gone", "POD-SBX", ALL_NOT_RUN,
     PUT("missing", "['cni: no such file']") NO_PODS, false},
    {"the node is not Ready", "NOTREADY", ALL_NOT_RUN,
     PUT("node|status|conditions|0", "{type:'Ready',status:'False',message:'disk'}")
         PUT("pods", "{}"),
     false},
    {"TCP to other nodes' pods is lost", "TCP-LOST", "pod-to-service-pqdn/tcp=dns-timeout",
     DNS_SIZES_SILENT PUT("extra|x-dns-tcp|outcome", "'dns-timeout'") PUT(
         "extra|x-dns-connect|outcome", "'timeout'") PUT("extra|x-closed-tcp|outcome", "'timeout'"),
     true},
    {"the network was made while the adapter had no address", "HNS-MGMT", DNS_RED " " EXTERNAL_RED,
     PUT("networks|0|Policies|1|Settings|ProviderAddress", "'169.254.7.7'") DNS_SILENT, false},
    {"the node got another address", "HNS-MGMT", DNS_RED " " EXTERNAL_RED,
     PUT("networks|0|Policies|1|Settings|ProviderAddress", "'10.0.0.9'") DNS_SILENT, false},
    {"the Node object was made again, with another prefix", "HNS-CIDR", DNS_RED,
     PUT("expected|podCIDR", "'10.244.7.0/24'")
         PUT("networks|0|Ipams|0|Subnets|0|IpAddressPrefix", "'10.244.3.0/24'") DNS_SILENT,
     false},
    {"a pod's endpoint was deleted", "HNS-EP", ALL_FROM_A,
     PUT("endpoints|0|IpConfigurations|0|IpAddress", "'10.244.3.77'") DNS_SILENT PUT(
         "extra|x-small-tcp|outcome", "'timeout'") PUT("extra|x-small-udp|outcome", "'no-reply'"),
     false},
    {"a pod's endpoint is detached", "HNS-EP", TO_B_RED,
     PUT("endpoints|1|State", "4") PUT("extra|x-small-tcp|outcome", "'timeout'")
         PUT("extra|x-small-udp|outcome", "'no-reply'"),
     false},
    {"an ACL that lets in has the wrong direction", "CNI-POLICY", TO_B_RED,
     PUT("endpoints|1|Policies|3", ACL("Block", "In", "Priority:65500")) PUT(
         "extra|x-small-tcp|outcome", "'timeout'") PUT("extra|x-small-udp|outcome", "'no-reply'"),
     false},
    {"an ACL of the first pod lets the second one not in", "CNI-POLICY",
     "pod-to-pod-ip/tcp=<timeout pod-to-pod-ip/udp=<no-reply",
     PUT("endpoints|0|Policies|9", ACL("Block", "In", "Priority:1")), false},
    {"pods of the node reach each other in one direction alone", "POD-LOCAL",
     "pod-to-pod-ip/tcp=<timeout pod-to-pod-ip/udp=<no-reply", "", false},
    {"an ACL blocks every source of UDP", "CNI-POLICY",
     "pod-to-pod-ip/udp=no-reply node-to-pod/udp=no-reply pod-to-pod-name/udp=no-reply@10.244.3.5",
     PUT("endpoints|1|Policies|3", ACL("Block", "In", "Protocols:'17',Priority:1"))
         PUT("extra|x-small-udp|outcome", "'no-reply'"),
     false},
    {"an ACL keeps pods from the DNS", "CNI-POLICY", DNS_RED,
     PUT("endpoints|0|Policies|3",
         ACL("Block", "Out",
             "Protocols:'17',RemotePorts:'53',RemoteAddresses:'10.96.0.10',Priority:1"))
         DNS_UDP_SILENT,
     false},
    {"two endpoints have the address of a pod", "HNS-EPSTALE",
     "pod-to-pod-ip/tcp=wrong-responder node-to-pod/tcp=wrong-responder",
     PUT("endpoints|5", "{ID:'dead',Flags:1,IpConfigurations:[{IpAddress:'10.244.3.5'}]}"), false},
    {"an endpoint of a pod that is gone has the address of the pod that is asked", "HNS-EPSTALE",
     "pod-to-pod-ip/tcp=refused pod-to-pod-ip/udp=no-reply node-to-pod/tcp=refused "
     "node-to-pod/udp=no-reply",
     PUT("endpoints|9", "{ID:'dead',State:3,IpConfigurations:[{IpAddress:'10.244.3.5'}]}"), false},
    {"one has the address of the pod that asks", "HNS-EPSTALE", ALL_FROM_A,
     DNS_SILENT PUT(
         "endpoints|9",
         "{ID:'dead',HostComputeNamespace:'5d1f',IpConfigurations:[{IpAddress:'10.244.3.4'}]}"),
     true},
    {"nothing is wrong: an endpoint of a pod that is gone has a pod's address", "-", "",
     PUT("endpoints|9", "{ID:'dead',State:1,IpConfigurations:[{IpAddress:'10.244.3.4'}]}"), false},
    {"packets above 1300 bytes are lost between the nodes", "MTU-NODES", "",
     PUT("extra|x-size-dns-1450|outcome", "'dns-timeout'")
         PUT("extra|x-size-dns-2000|outcome", "'dns-timeout'"),
     false},
    {"large packets from other nodes' pods are lost", "MTU-NODES", "",
     PUT("extra|x-page-large", "{outcome:'no-reply',succeeded:0}"), false},
    {"packets above 1300 bytes are lost", "MTU",
     "pod-to-pod-ip/tcp=timeout pod-to-pod-ip/udp=no-reply node-to-pod/udp=no-reply", "", false},
    {"another node uses VNI 1", "OVL-VNI", DNS_RED,
     PUT("nodes|1", OTHER_NODE("vxlan", "{\\\"VNI\\\":1}")) DNS_SILENT, false},
    {"the route to a node has another VNI", "OVL-VNI", DNS_RED,
     PUT("networks|0|Policies|2|Settings|IsolationId", "4097") DNS_SILENT, false},
    {"the route to a node is missing", "OVL-PEER", DNS_RED,
     DROP("networks|0|Policies|2") DNS_SILENT, false},
    {"the route leads to a node's old address", "OVL-PEER", DNS_RED,
     PUT("networks|0|Policies|2|Settings|ProviderAddress", "'10.0.0.99'") DNS_SILENT, false},
    {"the route has a node's old MAC", "OVL-PEER", DNS_RED,
     PUT("networks|0|Policies|2|Settings|DistributedRouterMacAddress", "'0E-2A-00-00-00-09'")
         DNS_SILENT,
     false},
    {"pods' packets to other nodes are translated", "NAT-EXC", DNS_RED,
     PUT("endpoints|0|Policies|0|Settings|Exceptions", "['10.96.0.0/12']") DNS_SILENT, false},
    {"IP forwarding is off", "L2-FWD", DNS_RED " " EXTERNAL_RED,
     PUT("adapters|0|forwarding", "false") DNS_SILENT, true},
    {"all load balancers are gone", "SVC-ALL", DNS_RED " " API_RED,
     PUT("loadBalancers", "[]") NO_DNS_SERVICE LOST("d/a", "10.96.0.1:443/TCP"), false},
    {"HNS lost the load balancer of the DNS", "SVC-LOST", DNS_RED,
     DROP("loadBalancers|0") DNS_UDP_SILENT LOST("kube-system/kube-dns", "10.96.0.10:53/UDP"),
     false},
    {"HNS lost the load balancer of some Service", "SVC-LOST", "",
     LOST("shop/cart", "10.96.7.7:80/TCP"), false},
    {"an orphaned load balancer holds a port", "HNS-ORPHAN", "",
     LOST("shop/pay", "10.96.7.8:81/TCP")
         PUT("kubernetes|loadBalancersWithoutService|9", "{id:'0b',frontend:'10.96.8.8:81/TCP'}"),
     false},
    {"sandboxes are older than the network", "POD-NOEP", "",
     PUT("kubernetes|podsWithoutEndpoint|9", "{pod:'shop/cart-0',address:'10.244.3.9'}"), false},
    {"a route to a node that is gone catches what is for the DNS pod", "ROUTE-STALE", DNS_RED,
     DNS_SILENT PUT("kubernetes|routesWithoutNode",
                    "[{prefix:'10.244.1.0/28',by:'10.0.0.77',in:'Windows'}]"),
     true},
    {"such a route catches pods that no flow asks", "ROUTE-STALE", "",
     PUT("kubernetes|routesWithoutNode", "[{prefix:'10.244.1.128/25',by:'10.0.0.77',in:'HNS'}]"),
     false},
    {"pods that are gone use up the node's addresses", "HNS-LEFT", ALL_NOT_RUN,
     PUT("kubernetes|endpointsWithoutPod", "[{id:'0e',name:'x',address:'10.244.3.7'}]")
         PUT("pods", "{a:{name:'a',waiting:'CreatePodSandbox: no IP addresses available in range "
                     "set'},b:{name:'b'}}"),
     false},
    {"a second route to a node leads to its old address", "L2-ROUTE", DNS_RED,
     PUT("routes|9", "{destination:'10.244.1.0/24',nextHop:'10.0.0.99',interface:5}") DNS_SILENT,
     true},
    {"a DaemonSet's kube-proxy runs beside the service", "PROXY-TWO", "",
     PUT("kubernetes|kubeProxyPods|9", "{pod:'kube-system/kube-proxy-windows-x'}"), false},
    {"the DNS' load balancer sends to a pod that is gone", "SVC-STALE", DNS_RED,
     DNS_SILENT PUT("kubernetes|loadBalancersToOtherPods",
                    "[{id:'1B',frontend:'10.96.0.10',address:'10.244.1.9'}]"),
     false},
    {"the API's load balancer sends to a pod of another Service", "SVC-STALE", API_RED,
     PUT("kubernetes|loadBalancersToOtherPods",
         "[{id:'3B',frontend:'10.96.0.1',address:'10.0.0.31'}]")
         PUT("extra|x-node-api|outcome", "'refused'"),
     false},
    {"the Service kubernetes has no endpoint", "SVC-EP0", API_RED,
     DROP("loadBalancers|2") PUT("kubernetesEndpoints", "0"), false},
    {"the source VIP is from an old subnet", "SVC-VIP", DNS_RED,
     PUT("loadBalancers|0|SourceVIP", "'10.244.9.2'") NO_DNS_SERVICE, false},
    {"the source VIP's endpoint was deleted", "SVC-VIP", DNS_RED,
     DROP("endpoints|2") NO_DNS_SERVICE, false},
    {"the DNS has no load balancer for UDP", "DNS-LB", DNS_RED,
     DROP("loadBalancers|0") DNS_UDP_SILENT DROP("kubernetes"), false},
    {"the Service kubernetes has no load balancer", "SVC-LB", API_RED,
     DROP("loadBalancers|2") DROP("kubernetes"), false},
    {"cluster IPs are not handed to the load balancers", "SVC-ROUTE", DNS_RED " " API_RED,
     PUT("endpoints|0|Policies|1|Settings|DestinationPrefix", "'10.112.0.0/12'") NO_DNS_SERVICE,
     false},
    {"CoreDNS has ended", "SVC-EP0",
     "pod-to-service-ip/udp=refused " NAMES_RED " pod-to-external-dns/udp=refused",
     DNS_SIZES("refused") PUT("extra|x-dns-udp|outcome", "'refused'")
         PUT("extra|x-dns-tcp|outcome", "'refused'") PUT("extra|x-dns-pod|outcome", "'refused'")
             PUT("extra|x-dns-connect|outcome", "'refused'"),
     false},
    {"the route to a node is missing on a bridge", "L2-ROUTE", DNS_RED, DROP("routes|1") DNS_SILENT,
     true},
    {"other nodes have no route back", "L2-ROUTE", DNS_RED, DNS_SILENT, true},
    {"no pod of the DNS is ready", "SVC-EP0", DNS_RED,
     DROP("loadBalancers|0") DROP("loadBalancers|1") PUT("dnsEndpoints", "0") NO_DNS_SERVICE,
     false},
    {"the DNS Service was deleted", "DNS-NONE", DNS_RED,
     DROP("loadBalancers|0") DROP("loadBalancers|1") PUT("dnsService", "false") NO_DNS_SERVICE,
     false},
    {"a NetworkPolicy keeps pods of other nodes from the DNS", "SVC-EP0", DNS_RED,
     DNS_SILENT PUT("extra|x-peer", "{outcome:'refused'}"), false},
    {"the same on a bridge", "SVC-EP0", DNS_RED, DNS_SILENT PUT("extra|x-peer", "{outcome:'ok'}"),
     true},
    {"the node of the DNS pods is down", "PEER-DOWN", DNS_RED,
     DNS_SILENT PUT("nodes|1|status|conditions|0", "{type:'Ready',status:'Unknown'}")
         PUT("extra|x-peer", "{outcome:'timeout'}"),
     false},
    {"the node of the DNS pods is down, and its Node still Ready", "PEER-DOWN", DNS_RED,
     DNS_SILENT PUT("extra|x-node-peer|outcome", "'timeout'"), false},
    {"the same with a bridge", "PEER-DOWN", DNS_RED,
     DNS_SILENT PUT("extra|x-node-peer|outcome", "'unreachable'"), true},
    {"flannel announces another MAC than the network has", "FLANNEL-NODE", DNS_RED,
     DNS_SILENT PUT("networks|0|Policies|9",
                    "{Type:'DrMacAddress',Settings:{Address:'0E-2A-00-00-00-77'}}")
         PUT("node|metadata|annotations", OWN_ANNOTATIONS_OF("10.0.0.21", OWN_DATA)),
     false},
    {"flannel announces another VNI than the network has", "OVL-VNI", DNS_RED,
     DNS_SILENT PUT("node|metadata|annotations",
                    OWN_ANNOTATIONS_OF("10.0.0.21", "{\\\"VNI\\\":1}")),
     false},
    {"the DNS pods' node announces the address of another adapter", "NIC-WRONG", DNS_RED,
     DNS_SILENT PUT("nodes|1|metadata|annotations", OWN_ANNOTATIONS_OF("192.168.56.3", PEER_DATA))
         PUT("networks|0|Policies|2|Settings|ProviderAddress", "'192.168.56.3'"),
     false},
    {"two nodes' overlays have the same MAC", "OVL-MAC", DNS_RED,
     DNS_SILENT PUT("node|metadata|annotations", OWN_ANNOTATIONS_OF("10.0.0.21", PEER_DATA))
         PUT("nodes|0|metadata|annotations", OWN_ANNOTATIONS_OF("10.0.0.21", PEER_DATA))
             PUT("networks|0|Policies|9",
                 "{Type:'DrMacAddress',Settings:{Address:'0E-2A-00-00-00-01'}}"),
     false},
    {"flannel has not announced this node", "FLANNEL-NODE", DNS_RED,
     DNS_SILENT PUT("node|metadata|annotations", "{}") PUT("nodes|0|metadata|annotations", "{}"),
     false},
    {"a firewall drops UDP 4789", "OVL-UDP", DNS_RED, DNS_SILENT, false},
    {"the hypervisor's switch drops VXLAN", "OVL-NSX", DNS_RED,
     PUT("adapters|0|mac", "'00-50-56-AA-BB-CC'") DNS_SILENT, false},
    {"flannel announces the address of another adapter", "NIC-WRONG", DNS_RED,
     PUT("node|metadata|annotations", OWN_ANNOTATIONS("192.168.56.2")) DNS_SILENT, false},
    {"the network is on another adapter", "NIC-WRONG", DNS_RED,
     PUT("networks|0|Policies|0|Settings|NetworkAdapterName", "'Storage'") DNS_SILENT, false},
    {"the host joined under another name before", "NODE-TWICE", DNS_RED,
     PUT("nodes|2", FLANNEL_NODE("win-7k2-long-nam", "10.244.4.0/24", "10.0.0.21", "vxlan", "{}"))
         DNS_SILENT,
     false},
    {"another node's flannel uses host-gw", "FLANNEL-TYPE", DNS_RED,
     PUT("nodes|1", OTHER_NODE("host-gw", "null")) DNS_SILENT, false},
    {"the DNS answers over UDP alone", "DNS-PROTO", "pod-to-service-pqdn/tcp=timeout",
     DNS_SIZES_SILENT PUT("extra|x-dns-tcp|outcome", "'timeout'")
         PUT("extra|x-dns-connect|outcome", "'timeout'"),
     true},
    {"the DNS answers over TCP alone", "DNS-PROTO", DNS_RED, DNS_POD_UDP_SILENT, false},
    {"the node drops all UDP of its pods", "UDP-LOST",
     DNS_RED " pod-to-pod-ip/udp=no-reply pod-to-node/udp=no-reply "
             "pod-to-external-ip/udp=dns-timeout",
     DNS_POD_UDP_SILENT PUT("extra|x-closed-udp|outcome", "'no-reply'")
         PUT("extra|x-small-udp|outcome", "'no-reply'"),
     false},
    {"UDP to pods of other nodes is lost", "UDP-LOST", DNS_RED,
     DNS_POD_UDP_SILENT PUT("extra|x-closed-udp|outcome", "'no-reply'"), false},
    {"the DNS takes longer than 2 s", "DNS-SLOW", DNS_RED, DNS_PROGRAM_SILENT, false},
    {"the DNS serves another zone", "DNS-ZONE",
     "pod-to-service-ip/udp=dns-nxdomain pod-to-pod-name/tcp=dns-nxdomain "
     "pod-to-pod-name/udp=dns-nxdomain pod-to-service-fqdn/tcp=dns-nxdomain "
     "pod-to-service-fqdn/udp=dns-nxdomain pod-to-service-pqdn/tcp=dns-nxdomain "
     "pod-to-service-pqdn/udp=dns-nxdomain",
     DNS_SIZES("dns-nxdomain") PUT("extra|x-dns-udp|outcome", "'dns-nxdomain'")
         PUT("extra|x-dns-tcp|outcome", "'dns-nxdomain'")
             PUT("extra|x-dns-pod|outcome", "'dns-nxdomain'"),
     false},
    {"pods use another DNS server", "DNS-SRV", NAMES_RED,
     PUT("endpoints|0|Dns|ServerList", "['10.0.0.2']"), false},
    {"the DNS lies", "DNS-WRONG",
     "pod-to-service-fqdn/tcp=timeout@192.0.2.66 pod-to-service-fqdn/udp=dns-timeout@192.0.2.66",
     "", false},
    {"pods have no search list", "DNS-SFX",
     "pod-to-service-pqdn/tcp=dns-nxdomain pod-to-service-pqdn/udp=dns-nxdomain",
     PUT("endpoints|0|Dns", "{ServerList:['10.96.0.10']}"), false},
    {"nothing leaves the data center", "EXT-NODE",
     EXTERNAL_RED " pod-to-external-dns/udp=dns-servfail",
     PUT("extra|node-external|outcome", "'timeout'")
         PUT("extra|x-dns-external|outcome", "'dns-servfail'"),
     false},
    {"pods' endpoints translate nothing", "NAT-NONE", EXTERNAL_RED " " NODE_RED " " API_RED,
     DROP("endpoints|0|Policies|0"), false},
    {"the target outside is excepted from translation", "NAT-EXC", EXTERNAL_RED,
     PUT("endpoints|0|Policies|0|Settings|Exceptions",
         "['10.244.0.0/16','10.96.0.0/12','192.0.2.0/24']"),
     false},
    {"the DNS cannot ask anybody outside", "EXT-DNS",
     "pod-to-external-dns/tcp=dns-servfail pod-to-external-dns/udp=dns-servfail",
     PUT("extra|x-dns-external|outcome", "'dns-servfail'"), false},
    {"the name outside leads pods to another address", "EXT-DNS",
     "pod-to-external-dns/tcp=timeout@203.0.113.66", "", false},
    {"the name outside does not exist", "EXT-DNS",
     "pod-to-external-dns/tcp=dns-nxdomain pod-to-external-dns/udp=dns-nxdomain",
     PUT("extra|x-dns-external|outcome", "'dns-nxdomain'")
         PUT("extra|x-node-name|outcome", "'dns-nxdomain'"),
     false},
    {"a firewall drops what pods send outside", "EXT-PODS", EXTERNAL_RED, "", false},
    {"a firewall rejects what pods of a bridge send outside", "EXT-PODS",
     "pod-to-external-ip/tcp=unreachable pod-to-external-dns/tcp=unreachable@192.0.2.1", "", true},
    {"a firewall drops what pods send outside by UDP", "EXT-PODS",
     "pod-to-external-ip/udp=dns-timeout", "", false},
    {"pods of a bridge have no route to their node", "L2-NODE", NODE_RED,
     DROP("endpoints|0|Policies|2"), true},
    {"the node's firewall drops what its pods send", "FW-IN", NODE_RED, "", false},
    {"load balancers without DSR use up the ports", "PORT-POOL",
     "pod-to-service-fqdn/udp=dns-timeout",
     PUT("dynamicPorts", "640") PUT("excludedPorts", "0") PUT("loadBalancers|0|Flags", "0"), false},
    {"excluded ranges use up the ports", "PORT-EXCL",
     "pod-to-service-fqdn/udp=dns-timeout pod-to-external-dns/tcp=dns-timeout",
     PUT("excludedPorts", "16000"), false},
    {"the API server announces the address of another adapter", "API-ADDR", API_RED,
     PUT("endpoints|4|IpConfigurations|0|IpAddress", "'10.0.2.15'")
         PUT("extra|x-node-api|outcome", "'timeout'"),
     false},
    {"the API server lets the node in and not its pods", "API-PODS", API_RED, "", false},
    {"the same with a bridge", "API-PODS", API_RED, "", true},
    {"the control plane has no route to the pods of a bridge", "L2-ROUTE", API_RED,
     PUT("extra|x-api-node|outcome", "'timeout'"), true},
    {"a load balancer sends to a port that the DNS does not have", "SVC-PORT", DNS_RED,
     DNS_UDP_SILENT PUT("extra|x-dns-pod|outcome", "'dns-timeout'")
         PUT("kubernetes|loadBalancersToOtherPort", "[{id:'1B',frontend:'10.96.0.10',port:5353}]"),
     false},
    {"HNS lost what is behind a load balancer", "SVC-STALE", "pod-to-service-pqdn/tcp=timeout",
     DNS_SIZES_SILENT PUT("extra|x-dns-tcp|outcome", "'timeout'")
         PUT("kubernetes|loadBalancersWithoutEndpoint", "[{id:'2b',frontend:'10.96.0.10'}]"),
     false},
    {"the DNS answers with an error", "DNS-FAIL",
     "pod-to-service-ip/udp=dns-servfail pod-to-pod-name/tcp=dns-servfail "
     "pod-to-pod-name/udp=dns-servfail pod-to-service-fqdn/tcp=dns-servfail "
     "pod-to-service-fqdn/udp=dns-servfail pod-to-external-dns/udp=dns-servfail",
     DNS_SIZES("dns-servfail") PUT("extra|x-dns-udp|outcome", "'dns-servfail'")
         PUT("extra|x-dns-tcp|outcome", "'dns-servfail'")
             PUT("extra|x-dns-pod|outcome", "'dns-servfail'")
                 PUT("extra|x-dns-external|outcome", "'dns-servfail'"),
     false},
    {"one of two DNS pods is dead", "SVC-HALF",
     "pod-to-service-ip/udp=dns-timeout* pod-to-service-fqdn/udp=dns-timeout*",
     PUT("loadBalancers|0|HostComputeEndpoints", "['d000','d001']")
         PUT("loadBalancers|1|HostComputeEndpoints", "['d000','d001']")
             PUT("extra|x-dns-tcp|outcome", "'dns-timeout'")
                 PUT("extra|x-size-dns-2000|outcome", "'dns-timeout'"),
     false},
    {"the second of two DNS pods is dead, and has had most questions", "SVC-HALF", DNS_RED,
     SECOND_DNS_POD DNS_UDP_SILENT PUT("extra|x-dns-pod-2", "{outcome:'dns-timeout'}"), false},
    {"the first of two DNS pods is dead, and has had most questions", "SVC-HALF", DNS_RED,
     SECOND_DNS_POD DNS_SILENT PUT("extra|x-peer", "{outcome:'timeout'}")
         PUT("extra|x-dns-pod-2", "{outcome:'ok'}"),
     true},
    {"one of two API servers is dead", "SVC-HALF", "pod-to-service-fqdn/tcp=timeout@10.96.0.1",
     PUT("loadBalancers|2|HostComputeEndpoints", "['a000','a001']"), false},
    {"two Nodes have the same pod prefix", "NODE-CIDR", DNS_RED,
     DNS_SILENT PUT("nodes|2", FLANNEL_NODE("win-2", "10.244.3.0/24", "10.0.0.77", "vxlan", "{}")),
     false},
    {"pods have another gateway", "POD-GW", DNS_RED " " API_RED " " EXTERNAL_RED " " NODE_RED,
     DNS_SILENT PUT("endpoints|0|Routes", "[{NextHop:'10.244.3.77'}]")
         PUT("networks|0|Ipams|0|Subnets|0|Routes", "[{NextHop:'10.244.3.1'}]"),
     false},
    {"nothing leaves the data center by UDP", "EXT-NODE",
     "pod-to-external-ip/udp=dns-timeout pod-to-external-dns/udp=dns-servfail",
     PUT("extra|node-external-udp", "{outcome:'dns-timeout'}")
         PUT("extra|x-dns-external|outcome", "'dns-servfail'"),
     false},
    {"the node's firewall drops what it and its pods send to each other", "FW-OWN",
     NODE_RED " node-to-pod/tcp=timeout node-to-pod/udp=no-reply", "", false},
    {"a firewall rejects the kubelet's port", "FW-IN", "pod-to-node/tcp=unreachable", "", false},
    {"a firewall drops one port of the node's pods", "FW-OWN", "node-to-pod/tcp=timeout", "",
     false},
    {"the node refuses connections to its kubelet", "KUBELET-PORT", "pod-to-node/tcp=refused", "",
     false},
    {"pods of the node do not reach each other", "POD-LOCAL",
     "pod-to-pod-ip/tcp=timeout pod-to-pod-ip/udp=no-reply",
     PUT("extra|x-small-tcp|outcome", "'timeout'") PUT("extra|x-small-udp|outcome", "'no-reply'"),
     false},
    {"pods of the node are refused at each other", "POD-LOCAL",
     "pod-to-pod-ip/tcp=refused pod-to-pod-ip/udp=refused",
     PUT("extra|x-small-tcp|outcome", "'refused'") PUT("extra|x-small-udp|outcome", "'refused'"),
     false},
    {"a third of the packets to other machines is lost", "LOSS",
     "pod-to-service-ip/udp=dns-timeout* pod-to-service-pqdn/tcp=dns-timeout* "
     "pod-to-external-ip/udp=dns-timeout*",
     PUT("extra|x-dns-tcp|outcome", "'dns-timeout'") PUT("extra|x-closed-tcp|outcome", "'timeout'")
         PUT("extra|x-dns-pod|outcome", "'dns-timeout'"),
     false},
    {"a third of the packets to other nodes' pods is lost", "LOSS",
     "pod-to-service-ip/udp=dns-timeout* pod-to-service-fqdn/tcp=dns-timeout", DNS_POD_UDP_SILENT,
     true},
    {"a third of the packets is lost, and each flow's last attempt", "LOSS",
     "pod-to-service-fqdn/udp=dns-timeout pod-to-service-pqdn/tcp=dns-timeout",
     DNS_UDP_SILENT PUT("extra|x-closed-tcp|outcome", "'timeout'")
         PUT("extra|x-dns-tcp|outcome", "'dns-timeout'")
             PUT("extra|x-size-dns-2000|outcome", "'dns-timeout'"),
     false},
    {"a third of the packets is lost, and one answer of the DNS came", "LOSS", DNS_RED,
     PUT("extra|x-closed-tcp|outcome", "'timeout'") PUT("extra|x-dns-tcp|outcome", "'dns-timeout'")
         PUT("extra|x-dns-pod|outcome", "'dns-timeout'")
             PUT("extra|x-size-dns-2000|outcome", "'dns-timeout'"),
     false},
    {"packets to other machines take more than a second", "LATENCY",
     "pod-to-service-fqdn/tcp=dns-timeout pod-to-service-fqdn/udp=dns-timeout "
     "pod-to-service-ip/udp=ok~1200 pod-to-service-ip/tcp=ok~1200 "
     "pod-to-external-ip/tcp=ok~1210",
     "", false},
    {"packets to other machines take a while, and the API server's are too late", "LATENCY",
     "pod-to-service-ip/udp=ok~600 pod-to-service-ip/tcp=ok~600 pod-to-service-fqdn/tcp=ok~1800 "
     "pod-to-external-ip/tcp=ok~600",
     PUT("look|api|outcome", "'failing'") DROP("kubernetes"), false},
    {"some TCP packets of the node's pods are lost", "LOSS",
     "pod-to-pod-ip/tcp=ok^ pod-to-external-ip/tcp=ok^ pod-to-service-ip/tcp=ok^",
     PUT("extra|x-size-dns-1450|medianUs", "1000300") PUT("extra|x-dns-tcp|medianUs", "300")
         PUT("extra|x-size-dns-1300|medianUs", "300"),
     false},
    {"some TCP packets between the nodes are lost", "LOSS", "",
     PUT("extra|x-size-dns-1450|medianUs", "1000300")
         PUT("extra|x-size-dns-1300|medianUs", "1003100") PUT("extra|x-dns-tcp|medianUs", "300")
             PUT("extra|x-api-direct", "{outcome:'ok',medianUs:400}")
                 PUT("extra|x-size-dns-2000|medianUs", "300"),
     true},
    {"a third of the packets is lost", "LOSS",
     "pod-to-pod-ip/udp=no-reply* node-to-pod/tcp=timeout*", "", false},
    {"the node's kubeconfig was changed, and cannot be used", "NODE-CHANGED", ALL_NOT_RUN,
     PUT("look|api", "{outcome:'no-identity',detail:'kubelet.conf: no user'}")
         PUT("changed",
             "[{kind:'file',target:'kubelet.conf',difference:'its content differs',command:'x'}]")
             NO_PODS,
     false},
    {"containerd's configuration was changed, and the node is not Ready", "NODE-CHANGED",
     ALL_NOT_RUN,
     PUT("node|status|conditions|0",
         "{type:'Ready',status:'False',message:'container runtime network not ready'}")
         PUT("changed", "[{kind:'file',target:'config.toml',difference:'its content differs'}]")
             PUT("pods", "{}"),
     false},
    {"a known fault of this build", "WIN-PATCH", "pod-to-pod-ip/tcp=timeout",
     PUT("host|knownFaults", "[{id:'KB5040437',breaks:'x',fix:'y',source:'z'}]")
         PUT("extra|x-small-tcp|outcome", "'timeout'"),
     false},
#include "tests/scene/diag_sampled_faults.h"
};
