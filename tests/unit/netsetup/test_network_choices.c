/* What a JoinPlan says of the network for every mode with every plugin: the whole object for those
 * that work, the refusal for the others. Sources: facts of Kubernetes' "Networking on Windows", the
 * recordings of each plugin, and its parser. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/scene/network_scene.h"

/* ---- expected parts; ' stands for " ---- */

#define V2 "{'SchemaVersion':{'Major':2,'Minor':0},'Owner':'winjoin',"
#define CALL(name, body) "{'call':'" name "','body':" body "}"
#define ON_ETHERNET                                                                                \
    "'Policies':[{'Type':'NetAdapterName','Settings':{'NetworkAdapterName':'Ethernet'}}],"
#define IPAMS(prefix, policies, hop)                                                               \
    "'Ipams':[{'Type':'Static','Subnets':[{'IpAddressPrefix':'" prefix "'," policies               \
    "'Routes':[{'NextHop':'" hop "','DestinationPrefix':'0.0.0.0/0'}]}]}]}"
#define VSID(n) "'Policies':[{'Type':'VSID','Settings':{'IsolationId':" n "}}],"
#define BASE(type, policies)                                                                       \
    CALL("HcnCreateNetwork", V2 "'Name':'External','Type':'" type "'," ON_ETHERNET IPAMS(          \
                                 "192.168.255.0/30", policies, "192.168.255.1"))
#define PODS(name, type, more, policies)                                                           \
    CALL("HcnCreateNetwork", V2 "'Name':'" name "','Type':'" type                                  \
                                "'," more IPAMS("10.244.1.0/24", policies, "10.244.1.1"))
#define ENDPOINT                                                                                   \
    CALL("HcnCreateEndpoint",                                                                      \
         V2 "'Name':'cbr0_ep','HostComputeNetwork':'<networkID>',"                                 \
            "'IpConfigurations':[{'IpAddress':'10.244.1.2','PrefixLength':24}]}")
#define OVERLAY_DOCUMENTS                                                                          \
    "[" BASE("Overlay", VSID("9999")) "," PODS(                                                    \
        "flannel.4096", "Overlay", "'Flags':8," ON_ETHERNET,                                       \
        VSID("4096")) "," CALL("HcnModifyNetwork",                                                 \
                               "{'ResourceType':'Policy','RequestType':'Add','Settings':"          \
                               "{'Policies':[{'Type':'HostRoute','Settings':{}}]}}") "]"
#define BRIDGE_DOCUMENTS(type)                                                                     \
    "[" BASE(type, "") "," PODS("cbr0", type, ON_ETHERNET, "") "," ENDPOINT "]"

#define DNS "'dns':{'nameservers':['10.96.0.10'],'search':['svc.cluster.local']},"
#define CNI(content)                                                                               \
    "[{'path':'C:\\\\etc\\\\cni\\\\net.d\\\\10-winjoin.conf','content':{" content "}}]"
#define CAPABILITIES "'capabilities':{'dns':true,'portMappings':true},"
#define NAT(list) "{'Type':'OutBoundNAT','Settings':{'Exceptions':[" list "]}}"
#define TO(prefix)                                                                                 \
    "{'Type':'SDNRoute','Settings':{'DestinationPrefix':'" prefix "','NeedEncap':true}}"
#define CLUSTER "'10.244.0.0/16','10.96.0.0/12'"
#define NEAR CLUSTER ",'10.0.0.0/24'"

/* containernetworking's form */
#define POLICY(value) "{'name':'EndpointPolicy','value':" value "}"
#define THEIRS(type, name, policies)                                                               \
    CNI("'cniVersion':'1.0.0','name':'" name "','type':'" type "','apiVersion':2," CAPABILITIES    \
        "'loopbackDSR':true," DNS                                                                  \
        "'ipam':{'type':'host-local','dataDir':'C:\\\\var\\\\lib\\\\cni\\\\networks','ranges':"    \
        "[[{'subnet':'10.244.1.0/24','rangeStart':'10.244.1.3','rangeEnd':'10.244.1.254',"         \
        "'gateway':'10.244.1.1'}]]},'policies':[" policies "]")
#define WIN_OVERLAY                                                                                \
    THEIRS("win-overlay", "flannel.4096", POLICY(NAT(CLUSTER)) "," POLICY(TO("10.96.0.0/12")))
#define HYBRID_OVERLAY                                                                             \
    THEIRS("win-overlay", "OVNKubernetesHybridOverlayNetwork",                                     \
           POLICY(NAT("'10.96.0.0/12'")) "," POLICY(TO("10.96.0.0/12")))
#define WIN_BRIDGE                                                                                 \
    THEIRS("win-bridge", "cbr0",                                                                   \
           POLICY(NAT(NEAR)) "," POLICY(TO("10.96.0.0/12")) "," POLICY(TO("10.0.0.21/32")))

/* Microsoft's form: keys of cni.go's NetworkConfig, IpamConfig, OptionalFlags and KVP */
#define ARGUMENT(value) "{'Name':'EndpointPolicy','Value':" value "}"
#define MICROSOFT(type, name, bridge, dsr, ipam, more)                                             \
    CNI("'cniVersion':'0.2.0','name':'" name "','type':'" type "'," CAPABILITIES                   \
        "'optionalFlags':{'forceBridgeGateway':" bridge ",'loopbackDSR':" dsr "}," DNS             \
        "'ipam':{" ipam "'subnet':'10.244.1.0/24','routes':[{'dst':'0.0.0.0/0','GW':"              \
        "'10.244.1.1'}]}" more)
#define HOST_LOCAL "'type':'host-local',"
#define SDNOVERLAY                                                                                 \
    MICROSOFT("sdnoverlay", "flannel.4096", "false", "true", HOST_LOCAL,                           \
              ",'AdditionalArgs':[" ARGUMENT(NAT(CLUSTER)) "," ARGUMENT(                           \
                  TO("10.96.0.0/12")) "," ARGUMENT("{'Type':'ProviderAddress','Settings':{'"       \
                                                   "ProviderAddress':'10.0.0.21'}}") "]")
#define SDNBRIDGE                                                                                  \
    MICROSOFT("sdnbridge", "cbr0", "true", "true", HOST_LOCAL,                                     \
              ",'AdditionalArgs':[" ARGUMENT(NAT(NEAR)) "," ARGUMENT(                              \
                  TO("10.96.0.0/12")) "," ARGUMENT(TO("10.0.0.21/32")) "]")

/* pods and the virtual network alone (AgentBaker, azurecnifunc.ps1) */
#define PODS_AND_NODES "'10.244.0.0/16','10.0.0.0/24'"
/* azure-vnet's form: keys of cni/netconfig.go and network/policy/policy_windows.go */
#define BLOCKED(port)                                                                              \
    ARGUMENT("{'Type':'ACL','Protocols':'6','Action':'Block','Direction':'Out',"                   \
             "'RemoteAddresses':'168.63.129.16/32','RemotePorts':'" port                           \
             "','Priority':200,'RuleType':'Switch'}")
#define ALLOWED(direction)                                                                         \
    ARGUMENT("{'Type':'ACL','Action':'Allow','Direction':'" direction "','Priority':65500}")
#define AZURE_CNI(word, more)                                                                      \
    "[{'path':'C:\\\\etc\\\\cni\\\\net.d\\\\10-winjoin.conflist','content':{"                      \
    "'cniVersion':'0.3.0','name':'azure','plugins':[{'type':'azure-vnet','mode':'" word            \
    "'," CAPABILITIES DNS more ",'windowsSettings':{'enableLoopbackDSR':true},"                    \
    "'AdditionalArgs':[" ARGUMENT(                                                                 \
        "{'Type':'OutBoundNAT','ExceptionList':[" PODS_AND_NODES                                   \
        "]}") "," BLOCKED("80") "," BLOCKED("32526") "," ALLOWED("In") "," ALLOWED("Out") "]}]}}]"
#define AZURE(mode, type, plugin, word, more)                                                      \
    NETWORK(mode, plugin, "azure", ETHERNET, "[" BASE(type, "") "]", AZURE_CNI(word, more), "",    \
            PODS_AND_NODES, "")
#define VNET_IPAM "'ipam':{'type':'azure-vnet-ipam'}"
#define CNS_IPAM "'executionMode':'v4swift','ipam':{'type':'azure-cns'}"

#define KUBELET "{'name':'winjoin kubelet','protocol':'TCP','port':10250}"
#define VXLAN ",{'name':'winjoin vxlan','protocol':'UDP','port':4789}"

/* The object but for its warnings, of which the codes are compared. */
#define NETWORK(mode, plugin, name, adapter, documents, cni, firewall, exceptions, more)           \
    "{'mode':'" mode "','plugin':'" plugin "','name':'" name "'," adapter "'documents':" documents \
    ",'cni':" cni ",'routes':[],'firewall':[" KUBELET firewall "],'natExceptions':[" exceptions    \
    "]" more "}"
#define ETHERNET "'adapter':'Ethernet',"
#define OVERLAY(plugin, cni)                                                                       \
    NETWORK("overlay", plugin, "flannel.4096", ETHERNET, OVERLAY_DOCUMENTS, cni, VXLAN, CLUSTER,   \
            ",'sourceVip':'10.244.1.2'")
#define BRIDGE(mode, type, plugin, cni)                                                            \
    NETWORK(mode, plugin, "cbr0", ETHERNET, BRIDGE_DOCUMENTS(type), cni, "", NEAR, "")
#define WAITS ",'waitSeconds':900"
#define LEFT(mode, name, firewall, exceptions)                                                     \
    NETWORK(mode, "external", name, ETHERNET, "[]", "[]", firewall, exceptions, WAITS)
#define OVN                                                                                        \
    NETWORK("overlay", "ovn-kubernetes", "OVNKubernetesHybridOverlayNetwork", ETHERNET, "[]",      \
            HYBRID_OVERLAY, VXLAN, "'10.96.0.0/12'", ",'sourceVip':'<sourceVIP>'" WAITS)
#define TRANSPARENT                                                                                \
    NETWORK(                                                                                       \
        "transparent", "sdnbridge", "transparent", ETHERNET,                                       \
        "[" BASE("Transparent", "") "," PODS("transparent", "Transparent", ON_ETHERNET, "") "]",   \
        MICROSOFT("sdnbridge", "transparent", "false", "false", HOST_LOCAL, ""), "", "", "")
#define PRIVATE                                                                                    \
    NETWORK("nat", "nat", "nat", "", "[" PODS("nat", "NAT", "", "") "]",                           \
            MICROSOFT("nat", "nat", "false", "false", "", ""), "", "", "")

/* ---- the table ---- */

static const struct {
    const char *mode, *plugin;
    const char *says;     /* the whole refusal; NULL: it works */
    const char *network;  /* the object */
    const char *warnings; /* codes, each with a blank behind it */
} rows[] = {
    {"overlay", "azure-vnet",
     "'azure-vnet' works in mode l2bridge or l2tunnel, not in 'overlay': there use win-overlay",
     NULL, NULL},
    {"overlay", "azure-cns",
     "'azure-cns' works in mode l2bridge or l2tunnel, not in 'overlay': there use win-overlay",
     NULL, NULL},
    {"overlay", "flannel", NULL, OVERLAY("flannel", WIN_OVERLAY), ""},
    {"overlay", "external", NULL, LEFT("overlay", "cluster", VXLAN, CLUSTER), ""},
    {"overlay", "ovn-kubernetes", NULL, OVN, ""},
    {"overlay", "win-overlay", NULL, OVERLAY("win-overlay", WIN_OVERLAY), "no-route-agent "},
    {"overlay", "sdnoverlay", NULL, OVERLAY("sdnoverlay", SDNOVERLAY), "no-route-agent "},
    {"overlay", "win-bridge",
     "'win-bridge' works in mode l2bridge or l2tunnel, not in 'overlay': there use win-overlay",
     NULL, NULL},
    {"overlay", "sdnbridge",
     "'sdnbridge' works in mode l2bridge, l2tunnel or transparent, not in 'overlay': there use "
     "win-overlay",
     NULL, NULL},
    {"overlay", "nat", "'nat' works in mode nat, not in 'overlay': there use win-overlay", NULL,
     NULL},

    {"l2bridge", "azure-vnet", NULL,
     AZURE("l2bridge", "L2Bridge", "azure-vnet", "bridge", VNET_IPAM), "pod-cidr-unused "},
    {"l2bridge", "azure-cns", NULL, AZURE("l2bridge", "L2Bridge", "azure-cns", "bridge", CNS_IPAM),
     "pod-cidr-unused "},
    {"l2bridge", "flannel", NULL, BRIDGE("l2bridge", "L2Bridge", "flannel", WIN_BRIDGE), ""},
    {"l2bridge", "external", NULL, LEFT("l2bridge", "cluster", "", NEAR), ""},
    {"l2bridge", "win-bridge", NULL, BRIDGE("l2bridge", "L2Bridge", "win-bridge", WIN_BRIDGE), ""},
    {"l2bridge", "sdnbridge", NULL, BRIDGE("l2bridge", "L2Bridge", "sdnbridge", SDNBRIDGE), ""},
    {"l2bridge", "ovn-kubernetes",
     "'ovn-kubernetes' works in mode overlay, not in 'l2bridge': there use win-bridge", NULL, NULL},
    {"l2bridge", "win-overlay",
     "'win-overlay' works in mode overlay, not in 'l2bridge': there use win-bridge", NULL, NULL},
    {"l2bridge", "sdnoverlay",
     "'sdnoverlay' works in mode overlay, not in 'l2bridge': there use win-bridge", NULL, NULL},
    {"l2bridge", "nat", "'nat' works in mode nat, not in 'l2bridge': there use win-bridge", NULL,
     NULL},

    {"l2tunnel", "azure-vnet", NULL,
     AZURE("l2tunnel", "L2Tunnel", "azure-vnet", "tunnel", VNET_IPAM), "pod-cidr-unused "},
    {"l2tunnel", "azure-cns", NULL, AZURE("l2tunnel", "L2Tunnel", "azure-cns", "tunnel", CNS_IPAM),
     "pod-cidr-unused "},
    {"l2tunnel", "external", NULL, LEFT("l2tunnel", "cluster", "", NEAR), ""},
    {"l2tunnel", "win-bridge", NULL, BRIDGE("l2tunnel", "L2Tunnel", "win-bridge", WIN_BRIDGE), ""},
    {"l2tunnel", "sdnbridge", NULL, BRIDGE("l2tunnel", "L2Tunnel", "sdnbridge", SDNBRIDGE), ""},
    {"l2tunnel", "flannel",
     "'flannel' works in mode overlay or l2bridge, not in 'l2tunnel': there use win-bridge", NULL,
     NULL},
    {"l2tunnel", "ovn-kubernetes",
     "'ovn-kubernetes' works in mode overlay, not in 'l2tunnel': there use win-bridge", NULL, NULL},
    {"l2tunnel", "win-overlay",
     "'win-overlay' works in mode overlay, not in 'l2tunnel': there use win-bridge", NULL, NULL},
    {"l2tunnel", "sdnoverlay",
     "'sdnoverlay' works in mode overlay, not in 'l2tunnel': there use win-bridge", NULL, NULL},
    {"l2tunnel", "nat", "'nat' works in mode nat, not in 'l2tunnel': there use win-bridge", NULL,
     NULL},

    {"transparent", "azure-vnet",
     "'azure-vnet' works in mode l2bridge or l2tunnel, not in 'transparent': there use sdnbridge",
     NULL, NULL},
    {"transparent", "azure-cns",
     "'azure-cns' works in mode l2bridge or l2tunnel, not in 'transparent': there use sdnbridge",
     NULL, NULL},
    {"transparent", "external", NULL, LEFT("transparent", "cluster", "", ""), ""},
    {"transparent", "sdnbridge", NULL, TRANSPARENT, "no-services mac-spoofing "},
    {"transparent", "flannel",
     "'flannel' works in mode overlay or l2bridge, not in 'transparent': there use sdnbridge", NULL,
     NULL},
    {"transparent", "ovn-kubernetes",
     "'ovn-kubernetes' works in mode overlay, not in 'transparent': there use sdnbridge", NULL,
     NULL},
    {"transparent", "win-overlay",
     "'win-overlay' works in mode overlay, not in 'transparent': there use sdnbridge", NULL, NULL},
    {"transparent", "win-bridge",
     "'win-bridge' works in mode l2bridge or l2tunnel, not in 'transparent': there use sdnbridge",
     NULL, NULL},
    {"transparent", "sdnoverlay",
     "'sdnoverlay' works in mode overlay, not in 'transparent': there use sdnbridge", NULL, NULL},
    {"transparent", "nat", "'nat' works in mode nat, not in 'transparent': there use sdnbridge",
     NULL, NULL},

    {"nat", "azure-vnet",
     "'azure-vnet' works in mode l2bridge or l2tunnel, not in 'nat': there use nat", NULL, NULL},
    {"nat", "azure-cns",
     "'azure-cns' works in mode l2bridge or l2tunnel, not in 'nat': there use nat", NULL, NULL},
    {"nat", "nat", NULL, PRIVATE, "no-services nat-inbound "},
    {"nat", "external",
     "'external' works in mode overlay, l2bridge, l2tunnel or transparent, not in 'nat': there use "
     "nat",
     NULL, NULL},
    {"nat", "flannel", "'flannel' works in mode overlay or l2bridge, not in 'nat': there use nat",
     NULL, NULL},
    {"nat", "ovn-kubernetes", "'ovn-kubernetes' works in mode overlay, not in 'nat': there use nat",
     NULL, NULL},
    {"nat", "win-overlay", "'win-overlay' works in mode overlay, not in 'nat': there use nat", NULL,
     NULL},
    {"nat", "win-bridge",
     "'win-bridge' works in mode l2bridge or l2tunnel, not in 'nat': there use nat", NULL, NULL},
    {"nat", "sdnoverlay", "'sdnoverlay' works in mode overlay, not in 'nat': there use nat", NULL,
     NULL},
    {"nat", "sdnbridge",
     "'sdnbridge' works in mode l2bridge, l2tunnel or transparent, not in 'nat': there use nat",
     NULL, NULL},
};

/* ---- comparing ---- */

static struct scene scene;

static int close_scene(void **state) {
    (void)state;
    scene_close(&scene);
    return 0;
}

static json_t *expected_json(const char *text) {
    _cleanup_(freep) char *quoted = xstrdup(text);
    struct error err = {0};
    json_t *json = NULL;
    for (char *c = quoted; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    if (json_read(quoted, strlen(quoted), "expected", &json, &err) < 0)
        fail_msg("%s: %s", err.message, quoted);
    return json;
}

/* Takes the warnings out; their codes. */
static char *warnings_taken(json_t *network) {
    struct text codes = {0};
    json_t *warning;
    size_t i;
    json_array_foreach(json_object_get(network, "warnings"), i, warning)
        text_addf(&codes, "%s ", json_text_at(warning, "code"));
    json_object_del(network, "warnings");
    return codes.len ? text_take(&codes) : xstrdup("");
}

/* Names the first field that differs. */
static void assert_object(const json_t *actual, const json_t *expected, const char *where) {
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)expected, key, value) {
        _cleanup_(freep) char *is = NULL, *wanted = json_write(value);
        if (json_equal(value, json_object_get(actual, key)))
            continue;
        is = json_object_get(actual, key) ? json_write(json_object_get(actual, key)) : NULL;
        fail_msg("%s: %s is\n%s\nnot\n%s", where, key, is ? is : "absent", wanted);
    }
    if (json_object_size(actual) != json_object_size(expected))
        fail_msg("%s: has other fields than expected", where);
}

static void every_mode_with_every_plugin(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *where = xasprintf("%s with %s", rows[i].mode, rows[i].plugin);
        scene_open(&scene, rows[i].mode);
        scene.input.plugin = rows[i].plugin;
        if (scene_plan(&scene) < 0) {
            _cleanup_(freep) char *said =
                xasprintf("network plugin %s", rows[i].says ? rows[i].says : "(works)");
            assert_string_equal(scene.err.message, said);
            assert_int_equal(scene.err.kind, ERROR_USAGE);
        } else {
            _cleanup_json_ json_t *network = network_plan_json(&scene.plan);
            if (rows[i].says)
                fail_msg("%s is not refused", where);
            _cleanup_json_ json_t *expected = expected_json(rows[i].network);
            _cleanup_(freep) char *codes = warnings_taken(network);
            assert_string_equal(codes, rows[i].warnings);
            assert_object(network, expected, where);
        }
        scene_close(&scene);
    }
}

/* No mode and no plugin is missing from the table. */
static void the_table_is_whole(void **state) {
    _cleanup_(text_list_free) struct text_list modes = {0}, plugins = {0};
    size_t found = 0;
    (void)state;
    network_mode_names(&modes);
    network_plugin_names(&plugins);
    for (size_t m = 0; m < modes.count; m++)
        for (size_t p = 0; p < plugins.count; p++)
            for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
                found += text_equal(rows[i].mode, modes.items[m]) &&
                         text_equal(rows[i].plugin, plugins.items[p]);
    assert_int_equal(found, modes.count * plugins.count);
    assert_int_equal(found, ARRAY_SIZE(rows));
}

/* Who may have the routes to other nodes' pods. */
static void routes(void **state) {
    static const struct {
        const char *mode, *plugin, *routes, *says, *mode_of_routes;
    } cases[] = {
        {"l2bridge", "win-bridge", NULL, NULL, NULL},
        {"l2bridge", "win-bridge", "own", NULL, NULL},
        {"l2bridge", "win-bridge", "print", NULL, "print"},
        {"l2bridge", "sdnbridge", "none", NULL, "none"},
        {"l2tunnel", "win-bridge", "print", NULL, "print"},
        {"l2bridge", "win-bridge", "all", "unknown routes setting 'all': use own, print or none",
         NULL},
        {"l2bridge", "flannel", "print",
         "routes 'print' is not possible: with plugin flannel the routes to other nodes' pods are "
         "kept by "
         "flanneld",
         NULL},
        {"overlay", "ovn-kubernetes", "own",
         "routes 'own' is not possible: with plugin ovn-kubernetes the routes to other nodes' pods "
         "are kept "
         "by hybrid-overlay-node",
         NULL},
        {"l2bridge", "external", "none",
         "routes 'none' is not possible: with plugin external the routes to other nodes' pods are "
         "kept by "
         "the cluster's own agent",
         NULL},
        {"overlay", "win-overlay", "print",
         "routes 'print' is not possible: in mode overlay packets to other nodes' pods travel in "
         "VXLAN "
         "between the nodes",
         NULL},
        {"transparent", "sdnbridge", "none",
         "routes 'none' is not possible: in mode transparent the pods' gateway is a router of the "
         "network, "
         "which reaches them directly",
         NULL},
        {"nat", "nat", "print",
         "routes 'print' is not possible: in mode nat other nodes cannot reach the pods", NULL},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_json_ json_t *network = NULL;
        scene_open(&scene, cases[i].mode);
        scene.input.plugin = cases[i].plugin;
        scene.input.routes = cases[i].routes;
        assert_int_equal(scene_plan(&scene), cases[i].says ? -1 : 0);
        if (cases[i].says) {
            assert_string_equal(scene.err.message, cases[i].says);
            assert_int_equal(scene.err.kind, ERROR_USAGE);
        } else {
            network = network_plan_json(&scene.plan);
            assert_true(text_equal(json_text_at(network, "routeMode"), cases[i].mode_of_routes));
            assert_int_equal(scene.plan.writes_routes, !cases[i].mode_of_routes);
        }
        scene_close(&scene);
    }
}

/* A plugin alone chooses the first mode it works in. */
static void a_plugin_alone(void **state) {
    static const struct {
        const char *plugin, *mode;
    } alone[] = {{"flannel", "overlay"},     {"win-overlay", "overlay"}, {"sdnoverlay", "overlay"},
                 {"win-bridge", "l2bridge"}, {"sdnbridge", "l2bridge"},  {"nat", "nat"},
                 {NULL, "overlay"}};
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(alone); i++) {
        scene_open(&scene, NULL);
        scene.input.plugin = alone[i].plugin;
        assert_int_equal(scene_plan(&scene), 0);
        assert_string_equal(scene.plan.mode->name, alone[i].mode);
        scene_close(&scene);
    }
}

/* forceBridgeGateway knows no prefix whose first address does not end in 0. */
static void prefixes_that_sdnbridge_cannot_serve(void **state) {
    static const struct {
        const char *mode, *pods, *says;
    } cases[] = {
        {"l2bridge", "10.244.1.0/25", NULL},
        {"l2bridge", "10.244.2.0/23", NULL},
        {"l2bridge", "10.244.1.128/25",
         "network plugin 'sdnbridge' cannot serve pod prefix 10.244.1.128/25: it takes 10.244.1.2 "
         "for the gateway, the host's endpoint is 10.244.1.130"},
        {"l2tunnel", "10.244.1.64/26", "it takes 10.244.1.2"},
        {"l2bridge", NULL, NULL},
        {"transparent", "10.244.1.128/25", NULL},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        scene_open(&scene, cases[i].mode);
        scene.input.plugin = "sdnbridge";
        scene.input.pod_cidr = cases[i].pods;
        assert_int_equal(scene_plan(&scene), cases[i].says ? -1 : 0);
        if (cases[i].says) {
            assert_int_equal(scene.err.kind, ERROR_UNSUPPORTED);
            assert_non_null(strstr(scene.err.message, cases[i].says));
        }
        scene_close(&scene);
    }
}

/* Names that are reserved elsewhere are NAT's own. */
static void names(void **state) {
    (void)state;
    scene_open(&scene, "nat");
    scene.input.name = "External";
    assert_int_equal(scene_plan(&scene), 0);
    assert_string_equal(scene.plan.name, "External");
    scene_close(&scene);
    scene_open(&scene, "transparent");
    scene.input.name = "nat";
    assert_int_equal(scene_plan(&scene), -1);
    assert_string_equal(scene.err.message, "network name 'nat' is not possible: it is reserved");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(every_mode_with_every_plugin, close_scene),
        cmocka_unit_test(the_table_is_whole),
        cmocka_unit_test_teardown(a_plugin_alone, close_scene),
        cmocka_unit_test_teardown(routes, close_scene),
        cmocka_unit_test_teardown(prefixes_that_sdnbridge_cannot_serve, close_scene),
        cmocka_unit_test_teardown(names, close_scene),
    };
    return cmocka_run_group_tests_name("network_choices", tests, NULL, NULL);
}
