/* Rows of diag_faults.h: those that were written down with their cause before any was tried. */
#pragma once

{"the DNS pod's remote endpoint leads to another machine", "OVL-PEER", DNS_RED,
 DNS_SILENT PUT("extra|x-peer", "{outcome:'refused'}") PUT(
     "endpoints|3|Policies", "[{Type:'ProviderAddress',Settings:{ProviderAddress:'10.0.0.99'}}]"),
 false},
    {"a pod's endpoint has another node's provider address", "HNS-MGMT", DNS_RED " " EXTERNAL_RED,
     DNS_SILENT PUT("endpoints|0|Policies|9",
                    "{Type:'ProviderAddress',Settings:{ProviderAddress:'10.0.0.99'}}"),
     false},
    {"pods have no DNS server", "DNS-SRV", NAMES_RED, PUT("endpoints|0|Dns|ServerList", "[]"),
     false},
    {"a dead DNS server comes before the cluster's", "DNS-SRV", NAMES_RED,
     PUT("endpoints|0|Dns|ServerList", "['10.0.0.2','10.96.0.10']"), false},
    {"everything is excepted from translation", "NAT-EXC", EXTERNAL_RED " " NODE_RED " " API_RED,
     PUT("endpoints|0|Policies|0|Settings|Exceptions", "['0.0.0.0/0']"), false},
    {"the route to cluster IPs does not encapsulate", "SVC-ROUTE", DNS_RED " " API_RED,
     PUT("endpoints|0|Policies|1|Settings|NeedEncap", "false") NO_DNS_SERVICE, false},
    {"the network has another VSID than its routes", "OVL-VNI", DNS_RED,
     DNS_SILENT PUT("networks|0|Ipams|0|Subnets|0|Policies|0|Settings|IsolationId", "4097"), false},
    {"the load balancers are of another Service prefix", "SVC-LOST", DNS_RED " " API_RED,
     NO_DNS_SERVICE PUT("loadBalancers|0|FrontendVIPs", "['10.112.0.10']")
         PUT("loadBalancers|1|FrontendVIPs", "['10.112.0.10']")
             PUT("loadBalancers|2|FrontendVIPs", "['10.112.0.1']")
                 PUT("kubernetes|servicesWithoutLoadBalancer",
                     "[{service:'kube-system/kube-dns',frontend:'10.96.0.10:53/UDP'},"
                     "{service:'kube-system/kube-dns',frontend:'10.96.0.10:53/TCP'},"
                     "{service:'default/kubernetes',frontend:'10.96.0.1:443/TCP'}]"),
     false},
    {"two pods' endpoints have the same MAC", "HNS-EPSTALE",
     "pod-to-pod-ip/tcp=timeout pod-to-pod-ip/udp=no-reply",
     PUT("endpoints|0|MacAddress", "'00-15-5D-0A-00-04'")
         PUT("endpoints|1|MacAddress", "'00-15-5D-0A-00-04'")
             PUT("extra|x-small-tcp|outcome", "'timeout'")
                 PUT("extra|x-small-udp|outcome", "'no-reply'"),
     false},
    {"a pod's endpoint has left its namespace", "HNS-EP", ALL_FROM_A,
     PUT("endpoints|0|State", "1") DNS_SILENT PUT("extra|x-small-tcp|outcome", "'timeout'")
         PUT("extra|x-small-udp|outcome", "'no-reply'"),
     false},
    {"the network uses another UDP port", "OVL-UDP", DNS_RED,
     DNS_SILENT PUT("networks|0|Policies|9", "{Type:'VxlanPort',Settings:{Port:8472}}"), false},
    {"the route to other nodes' pods is on another adapter", "L2-ROUTE", DNS_RED,
     DNS_SILENT PUT("routes|1|interface", "9"), true},
    {"pods have another route for cluster IPs", "POD-GW", DNS_RED " " API_RED,
     NO_DNS_SERVICE PUT("endpoints|0|Routes",
                        "[{NextHop:'10.244.3.1',DestinationPrefix:'0.0.0.0/0'},"
                        "{NextHop:'10.244.3.99',DestinationPrefix:'10.96.0.0/12'}]")
         PUT("networks|0|Ipams|0|Subnets|0|Routes", "[{NextHop:'10.244.3.1'}]"),
     false},
    {"the bridge was made with another address", "HNS-MGMT", DNS_RED " " EXTERNAL_RED,
     DNS_SILENT DROP("networks|0|Policies|1") PUT("networks|0|ManagementIP", "'10.0.0.9'"), true},
    {"the DNS server outside has ended", "EXT-NODE",
     "pod-to-external-ip/udp=refused pod-to-external-dns/tcp=dns-servfail "
     "pod-to-external-dns/udp=dns-servfail",
     PUT("extra|node-external-udp|outcome", "'refused'")
         PUT("extra|x-node-name|outcome", "'dns-timeout'")
             PUT("extra|x-dns-external|outcome", "'dns-servfail'"),
     false},
    {"the server outside has ended", "EXT-NODE",
     "pod-to-external-ip/tcp=refused pod-to-external-dns/tcp=refused@192.0.2.1",
     PUT("extra|node-external|outcome", "'refused'") PUT("extra|x-node-name|outcome", "'refused'"),
     false},
    {"the cluster's DNS lacks the Service kubernetes", "DNS-ZONE",
     "pod-to-service-ip/udp=dns-nxdomain pod-to-service-fqdn/tcp=dns-nxdomain "
     "pod-to-service-fqdn/udp=dns-nxdomain@10.96.0.10 "
     "pod-to-service-pqdn/tcp=dns-nxdomain@10.96.0.10 "
     "pod-to-service-pqdn/udp=dns-nxdomain@10.96.0.10",
     DNS_SIZES("dns-nxdomain") PUT("extra|x-dns-udp|outcome", "'dns-nxdomain'")
         PUT("extra|x-dns-tcp|outcome", "'dns-nxdomain'")
             PUT("extra|x-dns-pod|outcome", "'dns-nxdomain'")
                 PUT("extra|x-resolve-fqdn|outcome", "'dns-nxdomain'"),
     true},
    {"the cluster's DNS has another address for its own Service", "DNS-WRONG",
     "pod-to-service-fqdn/udp=dns-timeout@203.0.113.66 "
     "pod-to-service-pqdn/tcp=timeout@203.0.113.66 "
     "pod-to-service-pqdn/udp=dns-timeout@203.0.113.66",
     "", false},
    {"every second answer of the cluster's DNS is lost", "LOSS",
     "pod-to-service-ip/udp=dns-timeout* pod-to-service-fqdn/udp=dns-timeout* "
     "pod-to-service-pqdn/udp=dns-timeout* pod-to-external-dns/udp=dns-timeout*",
     DNS_UDP_SILENT, true},
    {"the DNS pods' node rejects what is for them", "SVC-EP0", DNS_RED,
     DNS_SILENT PUT("extra|x-peer|outcome", "'refused'")
         PUT("extra|x-dns-tcp|outcome", "'unreachable'")
             PUT("extra|x-dns-connect|outcome", "'unreachable'")
                 PUT("extra|x-closed-tcp|outcome", "'unreachable'"),
     false},
    {"a VPN takes a part of the other nodes' pods", "L2-ROUTE", DNS_RED,
     DNS_SILENT PUT("routes|9", "{destination:'10.244.1.0/26',nextHop:'10.0.0.99',interface:5}"),
     true},
    {"the node sends its pods' DNS questions to another server", "DNS-SRV",
     "pod-to-service-ip/udp=dns-nxdomain pod-to-pod-name/tcp=dns-nxdomain "
     "pod-to-pod-name/udp=dns-nxdomain pod-to-service-fqdn/tcp=dns-nxdomain "
     "pod-to-service-fqdn/udp=dns-nxdomain pod-to-service-pqdn/tcp=dns-nxdomain "
     "pod-to-service-pqdn/udp=dns-nxdomain",
     PUT("extra|x-dns-udp|outcome", "'dns-nxdomain'")
         PUT("extra|x-dns-pod|outcome", "'dns-nxdomain'")
             PUT("extra|x-resolve-fqdn|outcome", "'dns-nxdomain'"),
     false},
    {"pods get a prefix that holds the Services", "POD-GW", DNS_RED " " API_RED " " NODE_RED,
     DNS_SILENT PUT("endpoints|0|IpConfigurations|0|PrefixLength", "8"), true},
    {"pods get no default route", "POD-GW", DNS_RED " " API_RED " " EXTERNAL_RED " " NODE_RED,
     DNS_SILENT PUT("networks|0|Ipams|0|Subnets|0|Routes", "[{NextHop:'10.244.3.1'}]")
         PUT("endpoints|0|Routes", "[{NextHop:'10.244.3.1',DestinationPrefix:'198.18.0.0/15'}]"),
     false},
    {"an ACL blocks TCP 443", "CNI-POLICY",
     API_RED " pod-to-external-ip/tcp=timeout pod-to-external-dns/tcp=timeout@192.0.2.1",
     PUT("endpoints|0|Policies|3",
         ACL("Block", "Out", "Protocols:'6',RemotePorts:'443',Priority:1")),
     true},
    {"an ACL blocks the node", "CNI-POLICY", "node-to-pod/tcp=timeout node-to-pod/udp=no-reply",
     PUT("endpoints|1|Policies|3", ACL("Block", "In", "RuleType:'Host',Priority:1")), false},
    {"the DNS' load balancer listens at another port", "SVC-LOST", DNS_RED,
     DNS_UDP_SILENT PUT("loadBalancers|0|PortMappings|0|ExternalPort",
                        "54") LOST("kube-system/kube-dns", "10.96.0.10:53/UDP")
         PUT("kubernetes|loadBalancersWithoutService|9", "{id:'1b',frontend:'10.96.0.10:54/UDP'}"),
     false},
    {"the API's load balancer sends to another port", "SVC-PORT",
     "pod-to-service-ip/tcp=refused pod-to-service-fqdn/tcp=refused@10.96.0.1",
     PUT("kubernetes|loadBalancersToOtherPort", "[{id:'3b',frontend:'10.96.0.1',port:443}]")
         PUT("extra|x-node-api|outcome", "'refused'"),
     true},
    {"one of two behind the DNS' load balancer is gone", "SVC-STALE",
     "pod-to-service-ip/udp=dns-timeout* pod-to-service-fqdn/udp=dns-timeout*",
     PUT("loadBalancers|0|HostComputeEndpoints", "['d000','d001']")
         PUT("kubernetes|loadBalancersToOtherPods",
             "[{id:'1b',frontend:'10.96.0.10',address:'10.244.1.99'}]"),
     false},
    {"the bridge's gateway endpoint was deleted", "POD-GW",
     DNS_RED " " API_RED " " EXTERNAL_RED " " NODE_RED
             " node-to-pod/tcp=timeout node-to-pod/udp=no-reply",
     DNS_SILENT PUT("networks|0|Ipams|0|Subnets|0|Routes", "[{NextHop:'10.244.3.1'}]")
         PUT("endpoints|0|Routes", "[{NextHop:'10.244.3.2',DestinationPrefix:'0.0.0.0/0'}]"),
     true},
    {"a second route takes a part of a node's pods", "OVL-PEER", DNS_RED,
     DNS_SILENT PUT("networks|0|Policies|9",
                    "{Type:'RemoteSubnetRoute',Settings:{DestinationPrefix:'10.244.1.0/26',"
                    "IsolationId:4096,ProviderAddress:'10.0.0.99',"
                    "DistributedRouterMacAddress:'0E-2A-00-00-00-01'}}"),
     false},
    {"the DNS Service has UDP alone", "DNS-LB", "pod-to-service-pqdn/tcp=timeout",
     DROP("loadBalancers|1") DNS_SIZES_SILENT PUT("extra|x-dns-tcp|outcome", "'timeout'"), true},
    {"another node's flannel annotations are gone", "OVL-PEER", DNS_RED,
     DNS_SILENT PUT("nodes|1|metadata|annotations", "{}") DROP("networks|0|Policies|2"), false},
    {"the API server announces another port", "API-ADDR",
     "pod-to-service-ip/tcp=refused pod-to-service-fqdn/tcp=refused@10.96.0.1",
     PUT("look|api|server", "'https://10.0.0.31:6443'") PUT("extra|x-node-api|outcome", "'refused'")
         PUT("loadBalancers|2|PortMappings|0|InternalPort", "443"),
     true},
    {"another program has the port of the cluster's DNS", "SVC-EP0",
     "pod-to-service-ip/udp=refused pod-to-external-dns/udp=refused " NAMES_RED,
     DNS_SIZES_SILENT PUT("extra|x-dns-udp|outcome", "'refused'")
         PUT("extra|x-dns-pod|outcome", "'refused'")
             PUT("extra|x-dns-tcp|outcome", "'dns-timeout'"),
     false},
    {"the other pod's endpoint has another gateway", "POD-GW",
     "node-to-pod/tcp=timeout node-to-pod/udp=no-reply",
     PUT("networks|0|Ipams|0|Subnets|0|Routes", "[{NextHop:'10.244.3.1'}]")
         PUT("endpoints|1|Routes", "[{NextHop:'10.244.3.77',DestinationPrefix:'0.0.0.0/0'}]"),
     false},
    {"the nodes' own prefix is excepted from translation", "NAT-EXC", API_RED " " NODE_RED,
     PUT("endpoints|0|Policies|0|Settings|Exceptions",
         "['10.244.0.0/16','10.96.0.0/12','10.0.0.0/24']"),
     false},
    {"another node has got another pod prefix", "OVL-PEER", DNS_RED,
     DNS_SILENT PUT("nodes|1|spec|podCIDR", "'10.244.9.0/24'") DROP("extra|x-peer")
         DROP("extra|x-node-peer"),
     false},
    {"IP forwarding is off on the bridge's own adapter", "L2-FWD", DNS_RED " " EXTERNAL_RED,
     DNS_SILENT PUT("adapters|1", "{alias:'vEthernet (cbr0_ep)',up:true,mac:'00-15-5D-01-02-09',"
                                  "forwarding:false,addresses:['10.244.3.2/24'],dnsServers:[]}"),
     true},
    {"the node has no default route", "EXT-NODE", EXTERNAL_RED,
     DROP("routes|0") PUT("extra|node-external|outcome", "'unreachable'")
         PUT("extra|node-external-udp|outcome", "'unreachable'")
             PUT("extra|x-node-name|outcome", "'unreachable'"),
     true},
    {"a pod's port mapping takes the kubelet's port", "KUBELET-PORT", "pod-to-node/tcp=refused",
     PUT("endpoints|1|Policies|9",
         "{Type:'PortMapping',Settings:{Protocol:6,ExternalPort:10250,InternalPort:80}}"),
     false},
    {"a pod has the source VIP", "SVC-VIP", DNS_RED,
     NO_DNS_SERVICE PUT("endpoints|2|IpConfigurations|0|IpAddress", "'10.244.3.5'")
         PUT("loadBalancers|0|SourceVIP", "'10.244.3.5'")
             PUT("loadBalancers|1|SourceVIP", "'10.244.3.5'"),
     false},
    {"a firewall rejects what pods ask the DNS server outside", "EXT-PODS",
     "pod-to-external-ip/udp=refused", "", false},
    {"pods' names lead to another pod", "DNS-WRONG",
     "pod-to-pod-name/tcp=timeout@10.244.3.9 pod-to-pod-name/udp=no-reply@10.244.3.9", "", false},
    {"a firewall resets pods' connections to the API server", "API-PODS",
     "pod-to-service-ip/tcp=reset pod-to-service-fqdn/tcp=reset@10.96.0.1", "", false},
    {"another node's pod prefix holds this node's", "NODE-CIDR", DNS_RED,
     DNS_SILENT PUT("nodes|1|spec|podCIDR", "'10.244.0.0/16'")
         PUT("networks|0|Policies|2|Settings|DestinationPrefix", "'10.244.0.0/16'"),
     false},
    {"the Node has the address of another adapter", "NIC-WRONG", NODE_RED,
     PUT("node|status|addresses|0|address", "'192.168.56.2'")
         PUT("nodes|0|status|addresses|0|address", "'192.168.56.2'"),
     false},
    {"the cluster's DNS has an old address of the Service kubernetes", "DNS-WRONG",
     "pod-to-service-fqdn/tcp=timeout@10.112.0.1", "", false},
    {"the route to a node has this node's own MAC", "OVL-PEER", DNS_RED,
     DNS_SILENT PUT("networks|0|Policies|2|Settings|DistributedRouterMacAddress",
                    "'0E-2A-00-00-00-07'"),
     false},
    {"a second route to the same pods leads elsewhere", "L2-ROUTE", DNS_RED,
     DNS_SILENT PUT("routes|9", "{destination:'10.244.1.0/24',nextHop:'10.0.0.99',interface:5}"),
     true},
    {"pods complete short names for another namespace", "DNS-SFX",
     "pod-to-service-pqdn/tcp=dns-nxdomain pod-to-service-pqdn/udp=dns-nxdomain",
     PUT("endpoints|0|Dns|Search", "['default.svc.cluster.local']")
         PUT("endpoints|0|Dns|Domain", "'default.svc.cluster.local'"),
     false},
    {"an ACL blocks TCP of other pods", "CNI-POLICY",
     "pod-to-pod-ip/tcp=timeout pod-to-pod-name/tcp=timeout@10.244.3.5",
     PUT("endpoints|1|Policies|3",
         ACL("Block", "In", "Protocols:'6',RemoteAddresses:'10.244.0.0/16',Priority:1"))
         PUT("extra|x-small-tcp|outcome", "'timeout'"),
     true},
    {"the dynamic ports are few", "PORT-EXCL",
     "pod-to-service-fqdn/udp=dns-timeout pod-to-external-dns/tcp=dns-timeout",
     PUT("dynamicPorts", "255") PUT("excludedPorts", "0"), false},
    {"another Node has the address of the DNS pods' node", "NODE-TWICE", DNS_RED,
     DNS_SILENT PUT("nodes|2",
                    FLANNEL_NODE("lin-1-old", "10.244.8.0/24", "10.0.0.31", "vxlan", PEER_DATA))
         PUT("networks|0|Policies|9",
             "{Type:'RemoteSubnetRoute',Settings:{DestinationPrefix:'10.244.8.0/"
             "24',IsolationId:4096,ProviderAddress:'10.0.0.31',DistributedRouterMacAddress:'0E-2A-"
             "00-00-00-01'}}"),
     false},
    {"the source VIP of the DNS by TCP is from an old subnet", "SVC-VIP",
     "pod-to-service-pqdn/tcp=timeout",
     DNS_SIZES_SILENT PUT("extra|x-dns-tcp|outcome", "'timeout'")
         PUT("loadBalancers|1|SourceVIP", "'10.244.9.2'"),
     false},
    {"the network has half of the Node's prefix", "HNS-CIDR", DNS_RED,
     DNS_SILENT PUT("networks|0|Ipams|0|Subnets|0|IpAddressPrefix", "'10.244.3.0/25'"), false},
    {"the API server announces this node's address", "API-ADDR",
     "pod-to-service-ip/tcp=refused pod-to-service-fqdn/tcp=refused@10.96.0.1",
     PUT("endpoints|4|IpConfigurations|0|IpAddress", "'10.0.0.21'")
         PUT("extra|x-node-api|outcome", "'refused'"),
     false},
    {"the name outside has no address for pods", "EXT-DNS", "pod-to-external-dns/tcp=dns-nxdomain",
     "", false},
    {"the other pod's sandbox cannot be made", "POD-SBX",
     "pod-to-pod-ip/tcp=- pod-to-pod-ip/udp=- pod-to-pod-name/tcp=- pod-to-pod-name/udp=- "
     "node-to-pod/tcp=- node-to-pod/udp=-",
     PUT("pods|b", "{name:'winjoin-probe-b',waiting:'FailedCreatePodSandBox: no addresses'}")
         DROP("extra|x-small-tcp") DROP("extra|x-small-udp"),
     false},
    {"this node announces another backend", "FLANNEL-TYPE", DNS_RED,
     DNS_SILENT PUT("nodes|0|metadata|annotations|flannel.alpha.coreos.com/backend-type",
                    "'host-gw'"),
     false},
    {"the node forwards nothing that its pods send to others", "POD-GW",
     DNS_RED " " API_RED " " EXTERNAL_RED, DNS_SILENT, false},
    {"the node forwards nothing at all", "POD-GW",
     DNS_RED " " API_RED " " EXTERNAL_RED " pod-to-pod-ip/tcp=timeout pod-to-pod-ip/udp=no-reply",
     DNS_SILENT PUT("extra|x-small-tcp|outcome", "'timeout'")
         PUT("extra|x-small-udp|outcome", "'no-reply'"),
     false},
    {"a firewall of the node drops TCP of its pods", "TCP-LOST",
     API_RED " pod-to-pod-ip/tcp=timeout pod-to-pod-name/tcp=timeout@10.244.3.5 "
             "pod-to-service-pqdn/tcp=timeout@10.96.0.10 pod-to-external-ip/tcp=timeout "
             "pod-to-external-dns/tcp=timeout@192.0.2.1 pod-to-node/tcp=timeout",
     DNS_SIZES("timeout") PUT("extra|x-dns-tcp|outcome", "'timeout'") PUT(
         "extra|x-dns-connect|outcome", "'timeout'") PUT("extra|x-closed-tcp|outcome", "'timeout'")
         PUT("extra|x-small-tcp|outcome", "'timeout'") PUT("extra|x-peer|outcome", "'timeout'"),
     false},
    {"what the node sends by UDP is lost", "UDP-LOST", DNS_RED " pod-to-external-ip/udp=no-reply",
     DNS_SILENT PUT("extra|node-external-udp|outcome", "'no-reply'"), false},
    {"a VPN has a route to the pods of other nodes", "OVL-PEER", DNS_RED,
     DNS_SILENT PUT("routes|9", "{destination:'10.244.0.0/17',nextHop:'10.0.0.99',interface:5}"),
     false},
    {"the CNI configuration has another prefix than the Node", "HNS-CIDR", DNS_RED,
     DNS_SILENT PUT("networks|0|Ipams|0|Subnets|0|IpAddressPrefix", "'10.244.3.0/24'")
         PUT("pods|a|ip", "'10.244.9.4'")
             PUT("endpoints|0|IpConfigurations|0|IpAddress", "'10.244.9.4'"),
     false},
    {"the MAC address of the DNS pods' node was written manually, and is wrong", "PEER-DOWN",
     DNS_RED,
     DNS_SILENT PUT("extra|x-node-peer|outcome", "'timeout'")
         PUT("neighbors", "[{fixed:true,address:'10.0.0.31',mac:'02-00-00-00-00-99'}]"),
     false},
    {"UDP 4789 is dropped, and a third node has another VNI and backend", "OVL-UDP", DNS_RED,
     DNS_SILENT PUT("nodes|2",
                    FLANNEL_NODE("lin-2", "10.244.2.0/24", "10.0.0.32", "host-gw",
                                 "{\\\"VNI\\\":1,\\\"VtepMAC\\\":\\\"0e:2a:00:00:00:07\\\"}")),
     false},
    {"the DNS pods' node lets in a few new connections a second", "LOSS",
     "pod-to-pod-name/udp=dns-timeout pod-to-service-pqdn/udp=dns-timeout "
     "pod-to-service-fqdn/udp=dns-timeout pod-to-external-dns/udp=dns-timeout",
     DNS_POD_UDP_SILENT PUT("extra|x-dns-tcp|outcome", "'dns-timeout'")
         PUT("extra|x-dns-connect|outcome", "'timeout'")
             PUT("extra|x-dns-external|outcome", "'dns-timeout'"),
     false},
    {"the same, and other names", "LOSS",
     "pod-to-pod-name/tcp=dns-timeout pod-to-pod-name/udp=dns-timeout "
     "pod-to-service-pqdn/tcp=dns-timeout "
     "pod-to-service-pqdn/udp=dns-timeout pod-to-service-fqdn/tcp=dns-timeout "
     "pod-to-service-fqdn/udp=dns-timeout pod-to-external-dns/tcp=dns-timeout",
     DNS_POD_UDP_SILENT PUT("extra|x-dns-tcp|outcome", "'dns-timeout'")
         PUT("extra|x-dns-connect|outcome", "'timeout'")
             PUT("extra|x-resolve-fqdn|outcome", "'dns-timeout'")
                 PUT("extra|x-dns-external|outcome", "'dns-timeout'"),
     false},
    {"the route to a node has no MAC yet", "OVL-PEER", DNS_RED,
     DNS_SILENT PUT("networks|0|Policies|2|Settings|DistributedRouterMacAddress",
                    "'00-00-00-00-00-00'"),
     false},
    {"a VPN takes all that goes outside", "EXT-NODE", EXTERNAL_RED,
     PUT("routes|8", "{destination:'0.0.0.0/1',nextHop:'10.8.0.1',interface:12}")
         PUT("routes|9", "{destination:'128.0.0.0/1',nextHop:'10.8.0.1',interface:12}")
             PUT("extra|node-external|outcome", "'timeout'")
                 PUT("extra|node-external-udp|outcome", "'dns-timeout'")
                     PUT("extra|x-node-name|outcome", "'timeout'"),
     true},
    {"the route to one of two DNS pods' nodes is missing", "OVL-PEER", HALF_OF_DNS_RED,
     DNS_UDP_SILENT SECOND_DNS_POD PUT(
         "nodes|8", FLANNEL_NODE("lin-2", "10.244.2.0/24", "10.0.0.32", "vxlan", LIN_2_DATA)),
     false},
    {"no route to one of two DNS pods, which answers all the same", "SVC-HALF", HALF_OF_DNS_RED,
     DNS_UDP_SILENT SECOND_DNS_POD PUT("extra|x-dns-pod-2", "{outcome:'ok'}")
         PUT("nodes|8", FLANNEL_NODE("lin-2", "10.244.2.0/24", "10.0.0.32", "vxlan", LIN_2_DATA)),
     false},
    {"the same with a bridge, one of two", "L2-ROUTE", HALF_OF_DNS_RED,
     DNS_UDP_SILENT SECOND_DNS_POD PUT(
         "nodes|8", FLANNEL_NODE("lin-2", "10.244.2.0/24", "10.0.0.32", "host-gw", "null"))
         PUT("nodes|2|metadata|annotations", "{}"),
     true},
    {"one of two API servers refuses connections", "SVC-HALF",
     "pod-to-service-ip/tcp=refused* pod-to-service-fqdn/tcp=refused*@10.96.0.1",
     PUT("endpoints|9", "{ID:'a001',Flags:1,IpConfigurations:[{IpAddress:'10.0.0.30'}]}")
         PUT("loadBalancers|2|HostComputeEndpoints", "['a000','a001']"),
     false},
    {"an ACL keeps a pod from all other pods", "CNI-POLICY",
     "pod-to-pod-ip/tcp=timeout pod-to-pod-ip/udp=no-reply "
     "pod-to-pod-name/tcp=timeout@10.244.3.5 pod-to-pod-name/udp=no-reply@10.244.3.5",
     PUT("endpoints|0|Policies|3",
         ACL("Block", "Out", "RemoteAddresses:'10.244.0.0/16',Priority:1"))
         PUT("extra|x-small-tcp|outcome", "'timeout'")
             PUT("extra|x-small-udp|outcome", "'no-reply'")
                 PUT("extra|x-dns-pod|outcome", "'dns-timeout'")
                     PUT("extra|x-dns-connect|outcome", "'timeout'")
                         PUT("extra|x-closed-tcp|outcome", "'timeout'")
                             PUT("extra|x-closed-udp|outcome", "'no-reply'")
                                 PUT("extra|x-page-small", "{outcome:'timeout'}")
                                     PUT("extra|x-page-large", "{outcome:'timeout'}")
                                         PUT("extra|x-peer|outcome", "'timeout'"),
     false},
    {"pods are translated to an address that the node lost", "HNS-MGMT",
     EXTERNAL_RED " " NODE_RED " " API_RED,
     PUT("endpoints|0|Policies|0|Settings|VirtualIP", "'10.0.0.99'")
         PUT("extra|x-api-node|outcome", "'timeout'"),
     false},
    {"the API server is excepted from translation", "NAT-EXC", API_RED,
     PUT("endpoints|0|Policies|0|Settings|Exceptions",
         "['10.244.0.0/16','10.96.0.0/12','10.0.0.31/32']")
         PUT("extra|x-api-node|outcome", "'timeout'"),
     false},
    {"the node's disk is full", "NOTREADY", ALL_NOT_RUN,
     PUT("node|status|conditions|9", "{type:'DiskPressure',status:'True',message:'low'}")
         PUT("pods", "{a:{name:'a',waiting:'CreateContainerError: failed to create containerd "
                     "container: There is not enough space on the disk.'},b:{name:'b'}}"),
     false},
    {"the registry's certificate is not trusted", "POD-IMG", ALL_NOT_RUN,
     PUT("pods", "{a:{name:'a',waiting:'ImagePullBackOff: tls: failed to verify certificate: x509: "
                 "certificate signed by unknown authority'},b:{name:'b'}}"),
     true},
    {"the CNI plugin's program is gone", "POD-SBX", ALL_NOT_RUN,
     PUT("pods", "{a:{name:'a',waiting:'FailedCreatePodSandBox: failed to find plugin win-overlay "
                 "in path'},b:{name:'b'}}"),
     false},
    {"the DNS Service is for pods of the same node", "DNS-LB", DNS_RED,
     NO_DNS_SERVICE DROP("loadBalancers|0") DROP("loadBalancers|1")
         PUT("dnsSpec", "{ports:['53/UDP','53/TCP'],internalTrafficPolicy:'Local'}")
             PUT("dnsEndpoints", "2"),
     true},
    {"the node's firewall drops what its pods send by UDP", "FW-IN", "pod-to-node/udp=no-reply", "",
     true},
    {"a local endpoint has the DNS pod's address", "HNS-EPSTALE", DNS_RED,
     DNS_SILENT PUT("extra|x-peer|outcome", "'ok'")
         PUT("endpoints|9", "{ID:'dead',State:3,IpConfigurations:[{IpAddress:'10.244.1.9'}]}")
             PUT("kubernetes|endpointsWithoutPod", "[{id:'dead',name:'x',address:'10.244.1.9'}]"),
     false},
    {"the clock is two hours early", "CLOCK-OFF", "",
     PUT("look|api|clockDifferenceSeconds", "-7200"), true},
    {"pods' TCP 443 is handed to a proxy that has ended", "CNI-POLICY",
     "pod-to-service-ip/tcp=refused pod-to-service-fqdn/tcp=refused@10.96.0.1 "
     "pod-to-external-ip/tcp=refused pod-to-external-dns/tcp=refused@192.0.2.1",
     PUT("endpoints|0|Policies|9", "{Type:'L4WFPPROXY',Settings:{OutboundProxyPort:'15001',"
                                   "FilterTuple:{Protocols:'6',RemotePorts:'443'}}}"),
     false},
    {"nothing is wrong: a node that no flow asks is down", "-", "",
     PUT("nodes|8", "{metadata:{name:'lin-3',annotations:{'flannel.alpha.coreos.com/"
                    "backend-type':'vxlan','flannel.alpha.coreos.com/public-ip':'10.0.0.35',"
                    "'flannel.alpha.coreos.com/backend-data':'" LIN_3_DATA "'}},spec:{podCIDR:"
                    "'10.244.5.0/24'},status:{conditions:[{type:'Ready',status:'Unknown'}],"
                    "addresses:[{type:'InternalIP',address:'10.0.0.35'}]}}")
         PUT("networks|0|Policies|9",
             "{Type:'RemoteSubnetRoute',Settings:{DestinationPrefix:'10.244.5.0/24',"
             "IsolationId:4096,ProviderAddress:'10.0.0.35',"
             "DistributedRouterMacAddress:'0E-2A-00-00-00-03'}}")
             PUT("neighbors", "[{address:'10.0.0.35',mac:'00-00-00-00-00-00',fixed:false,}]"),
     false},
    {"the network has another prefix, and its pods get no address", "HNS-CIDR", ALL_NOT_RUN,
     PUT("networks|0|Ipams|0|Subnets|0|IpAddressPrefix", "'10.244.97.0/24'")
         PUT("pods", "{a:{name:'winjoin-probe-a',waiting:'Pending'},b:{name:'winjoin-probe-b'}}"),
     false},
    {"the node's adapter has another address than its Node", "NIC-WRONG", NODE_RED,
     PUT("adapters|0|addresses", "['10.0.0.97/24']"), true},
    {"the plugin gives pods a default route of IPv6 alone", "POD-GW",
     DNS_RED " " API_RED " " EXTERNAL_RED,
     DNS_SILENT PUT("endpoints|0|Routes", "[{DestinationPrefix:'::/0'}]"), false},
    {"pods have a route to a half of all addresses", "POD-GW", EXTERNAL_RED,
     PUT("endpoints|0|Routes", "[{NextHop:'10.244.3.1',DestinationPrefix:'0.0.0.0/1'}]")
         PUT("networks|0|Ipams|0|Subnets|0|Routes",
             "[{NextHop:'10.244.3.1',DestinationPrefix:'0.0.0.0/0'}]"),
     false},
    {"the CNI configuration lacks what its plugin needs", "NODE-CHANGED", ALL_NOT_RUN,
     PUT("changed", "[{kind:'file',target:'10-winjoin.conf',difference:'its content differs',"
                    "missing:false,command:'winjoin join phase pod-network'}]")
         PUT("pods", "{a:{name:'winjoin-probe-a',waiting:'Pending'},b:{name:'winjoin-probe-b'}}"),
     false},
    {"this node announces everything but its address", "FLANNEL-NODE", DNS_RED,
     DNS_SILENT DROP("node|metadata|annotations|flannel.alpha.coreos.com/public-ip"), false},
    {"the network has lost the MAC that this node announces", "FLANNEL-NODE", DNS_RED,
     DNS_SILENT PUT("node|metadata|annotations", OWN_ANNOTATIONS_OF("10.0.0.21", OWN_DATA)), false},
    {"the Node object of this node was deleted", "NODE-GONE", DNS_RED " " API_RED,
     DNS_SILENT PUT("look|api|detail", "'GET /api/v1/nodes/win-1: not found (404 NotFound)'")
         DROP("node") DROP("kubernetes"),
     true},
    {"a firewall drops what takes connections of the DNS pods' node", "TCP-LOST",
     "pod-to-service-pqdn/tcp=dns-timeout",
     DNS_SIZES_SILENT PUT("extra|x-dns-tcp|outcome", "'dns-timeout'")
         PUT("extra|x-dns-connect|outcome", "'timeout'")
             PUT("extra|x-page-small", "{outcome:'timeout'}"),
     true},
    {"HNS has endpoints with the addresses that pods get, of pods that are gone", "HNS-LEFT",
     ALL_NOT_RUN,
     PUT("pods", EXISTS) PUT("endpoints|8", "{IpConfigurations:[{IpAddress:'10.244.3.8'}]}")
         PUT("endpoints|9", "{IpConfigurations:[{IpAddress:'10.244.3.9'}]}"),
     false},
    {"it has such endpoints of pods of other nodes", "HNS-EPSTALE", ALL_NOT_RUN,
     PUT("pods", EXISTS) PUT("endpoints|8", "{Flags:1,IpConfigurations:[{IpAddress:'10.244.3.8'}]}")
         PUT("endpoints|9", "{Flags:1,IpConfigurations:[{IpAddress:'10.244.3.9'}]}"),
     false},
    {"HNS says that there is such an endpoint, and all are of pods", "POD-SBX", ALL_NOT_RUN,
     PUT("pods", EXISTS), false},
    {"all addresses are reserved, and HNS knows of none", "HNS-LEFT", ALL_NOT_RUN,
     PUT("pods", "{a:{name:'a',waiting:'failed to setup network for sandbox: plugin "
                 "type=\\\"host-local\\\" failed: no IP addresses available in range set'},"
                 "b:{name:'b'}}"),
     false},
    {"another plugin's CNI configuration comes first", "POD-SBX", ALL_NOT_RUN,
     PUT("cni", "{file:'C:/etc/cni/net.d/05-calico.conflist',conf:{name:'k8s-pod-network'}}")
         PUT("pods", "{a:{name:'winjoin-probe-a',waiting:'Pending'},b:{name:'winjoin-probe-b'}}"),
     true},
    {"an EndpointSlice of the DNS is old", "SVC-EP0", DNS_RED, DNS_SILENT OLD_SLICE, false},
    {"a Node is gone", "OVL-PEER", DNS_RED,
     DNS_SILENT DROP("nodes|1") PUT("dnsSpec", "{pods:{'10.244.1.9':'lin-1'}}"), false},
    {"a virus scanner keeps the probe from running", "POD-SBX", ALL_NOT_RUN,
     PUT("pods", "{a:{name:'a'},b:{name:'b',waiting:'exit code 5',failures:3}}"), false},
    {"the program that gives addresses is gone", "NODE-CHANGED", ALL_NOT_RUN,
     PUT("changed", "[{kind:'program',target:'host-local.exe',difference:'is missing',"
                    "missing:true,command:'winjoin install'}]")
         PUT("pods", "{a:{name:'winjoin-probe-a',waiting:'failed to setup network for sandbox'},"
                     "b:{name:'winjoin-probe-b'}}"),
     true},
    {"an ACL keeps pods from the API server's own port", "CNI-POLICY", API_RED,
     PUT("endpoints|0|Policies|9",
         ACL("Block", "Out",
             "Protocols:'6',RemoteAddresses:'10.0.0.31',RemotePorts:'6443',Priority:100"))
         PUT("loadBalancers|2|PortMappings|0|InternalPort", "6443"),
     false},
    {"the cluster's DNS has a second, dead address for the API server", "DNS-WRONG",
     "pod-to-service-fqdn/tcp=timeout*@10.96.0.1@10.96.0.99", "", false},
    {"the service kube-proxy was deleted", "SVC-DOWN", "", PUT("look|services|3|state", "'absent'"),
     true},
    {"nothing is wrong: another network for containers without Kubernetes", "-", "",
     PUT("networks|1", "{Name:'nat',Type:'NAT',Ipams:[{Subnets:[{IpAddressPrefix:'172.20.0.0/16',"
                       "Routes:[{NextHop:'172.20.0.1'}]}]}],Policies:[]}")
         PUT("adapters|1", "{alias:'vEthernet (nat)',up:true,mac:'00-15-5D-77-00-01',forwarding:"
                           "false,addresses:['172.20.0.1/16'],dnsServers:[]}")
             PUT("endpoints|9", "{ID:'feed',State:3,IpConfigurations:[{IpAddress:'172.20.0.5'}],"
                                "Policies:[]}")
                 PUT("routes|9", "{destination:'172.20.0.0/16',nextHop:'0.0.0.0',interface:12}"),
     false},
    {"nothing is wrong: an ACL keeps all from a third pod", "-", "",
     PUT("endpoints|9",
         "{ID:'beef',State:3,IpConfigurations:[{IpAddress:'10.244.3.9'}],Policies:[" ACL(
             "Block", "In", "Priority:1") "," ACL("Block", "Out", "Priority:1") "]}"),
     true},
    {"nothing is wrong: a route to the router for all pods, beside the narrower ones", "-", "",
     PUT("routes|9", "{destination:'10.244.0.0/16',nextHop:'10.0.0.1',interface:5}"), true},
