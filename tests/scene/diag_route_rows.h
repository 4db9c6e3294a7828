/* More scenes of diag_rows.h: routes to other nodes and outside, and the gateway. */
#pragma once

#include "tests/scene/diag_rows.h"

static const struct row route_rows[] = {
    {"some packets outside are lost, and a name outside has no answer",
     "pod-to-external-ip/tcp=timeout* pod-to-external-dns/tcp=dns-timeout",
     "extra:{'x-dns-external':{outcome:'dns-timeout'},'x-node-name':{outcome:'dns-timeout'}}",
     "LOSS confirmed 2", NULL},
    {"the node reaches the target at times",
     "pod-to-external-ip/tcp=timeout pod-to-external-ip/udp=dns-timeout*",
     "extra:{'node-external':{outcome:'timeout',attempts:3,succeeded:2}}", "LOSS confirmed 2",
     NULL},
    {"the node loses some", "pod-to-external-dns/tcp=dns-timeout",
     "extra:{'x-dns-external':{outcome:'dns-timeout'},'node-external-udp':{outcome:'dns-timeout',"
     "attempts:3,succeeded:1}}",
     "EXT-DNS likely 1", NULL},
    {"the node loses none", "pod-to-external-dns/tcp=dns-timeout",
     "extra:{'x-dns-external':{outcome:'dns-timeout'},'node-external-udp':{outcome:'ok',"
     "attempts:3,succeeded:3}}",
     "EXT-DNS confirmed 1", NULL},
    {"route missing", DNS_RED,
     "expected:{networkMode:'l2bridge'},routes:[{destination:'10.244.1.0/"
     "24',nextHop:'10.0.0.9'}]," LIN_1("null"),
     "L2-ROUTE confirmed 9", "no route to 10.244.1.0/24 via 10.0.0.31 (node lin-1)"},
    {"route missing, and a flow that was not tried", DNS_RED " pod-to-service-ip/tcp=-",
     "expected:{networkMode:'l2bridge'},routes:[]," LIN_1("null"), "L2-ROUTE confirmed 9", NULL},
    {"route missing, where no agent announces nodes", DNS_RED,
     "expected:{networkMode:'l2bridge'},routes:[],nodes:[{metadata:{name:'lin-1'},spec:{podCIDR:"
     "'10.244.1.0/24'},status:{addresses:[{type:'InternalIP',address:'10.0.0.31'}]}}]",
     "L2-ROUTE confirmed 9", "no route to 10.244.1.0/24 via 10.0.0.31 (node lin-1)"},
    {"route missing, and who would add it", DNS_RED,
     "expected:{networkMode:'l2bridge'},routes:[]," LIN_1("null") ",services:{flanneld:'stopped'}",
     "L2-ROUTE confirmed 9",
     "service flanneld is stopped: read its log, then start it: sc.exe start flanneld"},
    {"route is there, the way back may not", DNS_RED,
     "expected:{networkMode:'l2bridge'," VIPS
     "},routes:[{destination:'10.244.1.0/24',nextHop:'10.0.0.31'}]," LIN_1(
         "null") "," DNS_POD_SILENT,
     "L2-ROUTE likely 9", "pod 10.244.1.9 of another node gives no answer"},
    {"a route is missing, and the DNS pod takes connections", DNS_RED,
     "expected:{networkMode:'l2bridge',routes:'own'," VIPS "},routes:[],"
     "endpoints:[" DNS_POD "],loadBalancers:[" DNS_BALANCER_TO_POD "," BALANCER(
         "10.96.0.10", "6", "53",
         "") "],extra:{'x-dns-pod':{outcome:'dns-timeout'},'x-dns-udp':{outcome:'dns-timeout'},"
             "'x-dns-connect':{outcome:'ok'}}," LIN_1("null"),
     "DNS-SLOW likely 9", NULL},
    {"a route takes the DNS pod alone, and its node answers", DNS_RED,
     "expected:{networkMode:'l2bridge'," VIPS
     "},routes:[{destination:'10.244.1.0/24',nextHop:'10.0.0.31'},{destination:'10.244.1.9/32',"
     "nextHop:'10.0.0.99'}]," LIN_1(
         "null") ",endpoints:[" DNS_POD "],loadBalancers:[" DNS_BALANCER_TO_POD
                 "],extra:{'x-dns-pod':{outcome:'dns-timeout'},'x-peer':{outcome:'refused'}}",
     "L2-ROUTE confirmed 9",
     "the route to 10.244.1.9/32, a part of 10.244.1.0/24 (node lin-1), goes to 10.0.0.99"},
    {"a route takes another pod, and the DNS pod is silent", DNS_RED,
     "expected:{networkMode:'l2bridge'," VIPS
     "},routes:[{destination:'10.244.1.0/24',nextHop:'10.0.0.31'},{destination:'10.244.1.8/32',"
     "nextHop:'10.0.0.99'}]," LIN_1(
         "null") ",endpoints:[" DNS_POD "],loadBalancers:[" DNS_BALANCER_TO_POD
                 "],extra:{'x-dns-pod':{outcome:'dns-timeout'},'x-peer':{outcome:'refused'}}",
     "DNS-LB confirmed 1, SVC-EP0 likely 8", NULL},
    {"a route is missing, and some answers of the one DNS pod come",
     "pod-to-service-ip/udp=dns-timeout*",
     "expected:{networkMode:'l2bridge',routes:'own'," VIPS "},routes:[],endpoints:[" DNS_POD "],"
     "loadBalancers:[{FrontendVIPs:['10.96.0.10'],HostComputeEndpoints:['d000'],PortMappings:[{"
     "Protocol:17,"
     "ExternalPort:53}]}," BALANCER(
         "10.96.0.10", "6", "53",
         "") "],extra:{'x-dns-pod':{outcome:'dns-timeout'}}," LIN_1("null"),
     "LOSS likely 1", NULL},
    {"a route is missing, and the DNS pod there answers", "pod-to-service-ip/udp=dns-timeout*",
     "expected:{networkMode:'l2bridge',routes:'own'," VIPS "},routes:[],endpoints:[" DNS_POD "],"
     "loadBalancers:[{FrontendVIPs:['10.96.0.10'],HostComputeEndpoints:['d000','d009'],"
     "PortMappings:[{Protocol:17,"
     "ExternalPort:53}]}," BALANCER("10.96.0.10", "6", "53",
                                    "") "],extra:{'x-dns-pod':{outcome:'ok'}}," LIN_1("null"),
     "SVC-HALF likely 1", NULL},
    {"a route to one of two DNS pods is missing", "pod-to-service-ip/udp=dns-timeout*",
     "expected:{networkMode:'l2bridge',routes:'own'," VIPS "},routes:[],endpoints:[" DNS_POD "],"
     "loadBalancers:[{FrontendVIPs:['10.96.0.10'],HostComputeEndpoints:['d000','d009'],"
     "PortMappings:[{Protocol:17,"
     "ExternalPort:53}]}," BALANCER(
         "10.96.0.10", "6", "53",
         "") "],extra:{'x-dns-pod':{outcome:'dns-timeout'}}," LIN_1("null"),
     "L2-ROUTE confirmed 1", "no route to 10.244.1.0/24 via 10.0.0.31 (node lin-1)"},
    {"route is there, and no other node was asked", DNS_RED,
     "expected:{networkMode:'l2bridge'," VIPS
     "},routes:[{destination:'10.244.1.0/24',nextHop:'10.0.0.31'}]," LIN_1("null"),
     "", NULL},
    {"the DNS pod is of this node", DNS_RED,
     "expected:{networkMode:'l2bridge',podCIDR:'10.244.1.0/24'," VIPS
     "},routes:[{destination:'10.244.1.0/24',nextHop:'10.0.0.31'}]," LIN_1(
         "null") "," DNS_POD_SILENT,
     "", NULL},
    {"the network has the routes, and this node none", DNS_RED,
     "expected:{networkMode:'l2bridge',routes:'print'," VIPS
     "},routes:[]," LIN_1("null") "," DNS_POD_SILENT,
     "L2-ROUTE likely 9", "pod 10.244.1.9 of another node gives no answer"},
    {"routes of its own are missing", DNS_RED,
     "expected:{networkMode:'l2bridge',routes:'own'},routes:[]," LIN_1("null"),
     "L2-ROUTE confirmed 9", "no route to 10.244.1.0/24 via 10.0.0.31 (node lin-1)"},
    {"a node without a route is not that of the DNS pods", DNS_RED,
     "expected:{networkMode:'l2bridge'," VIPS
     "},routes:[{destination:'10.244.1.0/24',nextHop:'10.0.0.31'}],"
     "nodes:[{metadata:{name:'lin-2'},spec:{podCIDR:'10.244.2.0/24'},status:{addresses:[{type:"
     "'InternalIP',address:'10.0.0.32'}]}},{metadata:{name:'lin-1'},spec:{podCIDR:'10.244.1.0/24'},"
     "status:{addresses:[{type:'InternalIP',address:'10.0.0.31'}]}}]," DNS_POD_SILENT,
     "L2-ROUTE likely 9", "pod 10.244.1.9 of another node gives no answer"},
    {"a node with another backend is not that of the DNS pods", DNS_RED,
     "expected:{networkMode:'l2bridge'," VIPS
     "},routes:[{destination:'10.244.1.0/24',nextHop:'10.0.0.31'}],"
     "nodes:[{metadata:{name:'lin-2',annotations:{'flannel.alpha.coreos.com/"
     "backend-type':'vxlan'}},"
     "spec:{podCIDR:'10.244.2.0/24'}},{metadata:{name:'lin-1',annotations:{"
     "'flannel.alpha.coreos.com/backend-type':'host-gw'}},spec:{podCIDR:'10.244.1.0/24'},"
     "status:{addresses:[{type:'InternalIP',address:'10.0.0.31'}]}}]," DNS_POD_SILENT,
     "L2-ROUTE likely 9", "pod 10.244.1.9 of another node gives no answer"},
    {"a control plane needs no route to its pods", DNS_RED,
     "expected:{networkMode:'l2bridge'," VIPS
     "},routes:[{destination:'10.244.1.0/24',nextHop:'10.0.0.31'}],"
     "nodes:[{metadata:{name:'cp'},spec:{podCIDR:'10.244.0.0/24'}},{metadata:{name:'lin-1',"
     "annotations:{'flannel.alpha.coreos.com/backend-type':'host-gw'}},spec:{podCIDR:"
     "'10.244.1.0/"
     "24'},status:{addresses:[{type:'InternalIP',address:'10.0.0.31'}]}}]," DNS_POD_SILENT,
     "L2-ROUTE likely 9", NULL},
    {"no way back from the control plane",
     "pod-to-service-ip/tcp=timeout pod-to-service-fqdn/tcp=timeout@10.96.0.1",
     "expected:{networkMode:'l2bridge',podCIDR:'10.244.3.0/24'," VIPS
     "},endpoints:[{ID:'c000',Flags:1,IpConfigurations:[{IpAddress:'10.0.0.10'}]}],loadBalancers:["
     "{FrontendVIPs:['10.96.0.1'],HostComputeEndpoints:['c000'],PortMappings:[{Protocol:6,"
     "ExternalPort:443}]}," DNS_BALANCERS("") "]," WIN_NODE
                                              ",extra:{'x-api-node':{outcome:'timeout'}}",
     "L2-ROUTE likely 2",
     "other Services answer; pods get nothing from 10.0.0.10, at port 10250 either"},
    {"a bridge's pods send by an address that the node does not have",
     DNS_RED " pod-to-service-ip/tcp=timeout " EXTERNAL_RED " " NODE_RED,
     "expected:{networkName:'cbr0',networkMode:'l2bridge'}," PODS
     ",networks:[{Name:'cbr0',Type:'L2Bridge',Ipams:[{Subnets:[{IpAddressPrefix:'10.244.3.0/24',"
     "Routes:[{NextHop:'10.244.3.1'}]}]}]}],adapters:[{addresses:['10.0.0.21/"
     "24']}],endpoints:[" ENDPOINT_A
     "Routes:[{DestinationPrefix:'0.0.0.0/0',NextHop:'10.244.3.2'}]}," ENDPOINT_B "]",
     "POD-GW confirmed 14",
     "pods send by 10.244.3.2, and no adapter of this node has an address of 10.244.3.0/24"},
    {"no forwarding", DNS_RED " " EXTERNAL_RED,
     "expected:{networkMode:'l2bridge',podCIDR:'10.244.3.0/24'},node:{status:{addresses:[{type:"
     "'InternalIP',address:'10.0.0.21'}]}},adapters:[{alias:'vEthernet (Ethernet)',forwarding:"
     "false,addresses:['10.0.0.21/24']}]",
     "L2-FWD confirmed 11", "IPv4 forwarding is off on 'vEthernet (Ethernet)'"},
    {"the host's endpoint does not forward", DNS_RED " " EXTERNAL_RED,
     "expected:{networkMode:'l2bridge',podCIDR:'10.244.3.0/24'},adapters:[{alias:"
     "'vEthernet (cbr0_ep)',forwarding:false,addresses:['10.244.3.2/24']}]",
     "L2-FWD confirmed 11", "IPv4 forwarding is off on 'vEthernet (cbr0_ep)'"},
    {"forwarding of IPv6 alone is off", SERVICE6_RED, DUAL("false") BALANCERS6,
     "IP6-FWD confirmed 2", "IPv6 forwarding is off on 'vEthernet (Ethernet)'"},
    {"the host's endpoint does not forward IPv6", SERVICE6_RED,
     "expected:{networkMode:'l2bridge','podCIDR6':'fd00:10:244:3::/64'},adapters:[{alias:"
     "'vEthernet (cbr0_ep)','forwarding6':false,addresses:['fd00:10:244:3::2/64']},{alias:'Other',"
     "'forwarding6':false,addresses:['fd00:300::1/64']}]",
     "IP6-FWD confirmed 2", "IPv6 forwarding is off on 'vEthernet (cbr0_ep)'"},
    {"the address of IPv6 is gone", SERVICE6_RED " pod-to-node/tcp6=timeout",
     "expected:{'nodeIP6':'fd00:200::21'},adapters:[{alias:'Ethernet',addresses:['10.0.0.21/24']}]",
     "IP6-ADDR confirmed 3", "no adapter has the address fd00:200::21"},
    {"no load balancer of IPv6", SERVICE6_RED, DUAL("true") ",loadBalancers:[]",
     "IP6-LB confirmed 2", "HNS has no load balancer for [fd00:10:96::a]:53 over TCP"},
    {"no route of IPv6", SERVICE6_RED,
     DUAL("true") BALANCERS6
     ",nodes:[{metadata:{name:'lin-1'},spec:{podCIDRs:['10.244.1.0/24',"
     "'fd00:10:244:1::/64']},status:{addresses:[{type:'InternalIP',address:'10.0.0.31'},{type:"
     "'InternalIP',address:'fd00:200::31'}]}}],routes:[{destination:'10.244.1.0/24'}]",
     "IP6-ROUTE confirmed 2", "no route to fd00:10:244:1::/64 via fd00:200::31 (node lin-1)"},
    {"a route of IPv6 that stands", SERVICE6_RED,
     DUAL("true") BALANCERS6
     ",nodes:[{metadata:{name:'lin-1'},spec:{podCIDRs:['10.244.1.0/24',"
     "'fd00:10:244:1::/64']},status:{addresses:[{type:'InternalIP',address:'10.0.0.31'},{type:"
     "'InternalIP',address:'fd00:200::31'}]}}],routes:[{destination:'fd00:10:244:1::/64'}]",
     "", NULL},
    {"IPv4 is judged for itself", SERVICE6_RED,
     "expected:{networkMode:'l2bridge',podCIDR:'10.244.3.0/24'},node:{status:{addresses:[{type:"
     "'InternalIP',address:'10.0.0.21'}]}},adapters:[{alias:'vEthernet (Ethernet)',forwarding:"
     "false,addresses:['10.0.0.21/24']}]",
     "", NULL},
};

/* Of all scenes; NULL: no more. */
static inline const struct row *row_at(size_t i) {
    return i < ARRAY_SIZE(rows)                            ? &rows[i]
           : i < ARRAY_SIZE(rows) + ARRAY_SIZE(route_rows) ? &route_rows[i - ARRAY_SIZE(rows)]
                                                           : NULL;
}
