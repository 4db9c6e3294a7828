/* The routes that the network between the nodes needs: read from Nodes, written as commands. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "netsetup/routes/fabric_routes.h"
#include "netsetup/routes/routes.h"

#define NODE(name, provider, prefixes, addresses)                                                  \
    "{'metadata':{'name':'" name "'},'spec':{'providerID':'" provider "','podCIDRs':[" prefixes    \
    "]},'status':{'addresses':[" addresses "]}}"
#define IP(text) "{'type':'InternalIP','address':'" text "'}"
#define EKS "aws:///eu-west-1a/i-0123456789abcdef0"

static struct text_list left_out;

static json_t *routes_of(const char *items, const struct network_peer *own) {
    _cleanup_(freep) char *text = xasprintf("{'items':[%s]}", items);
    _cleanup_json_ json_t *nodes = NULL;

    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    assert_int_equal(json_read(text, strlen(text), "nodes", &nodes, NULL), 0);
    text_list_free(&left_out);
    return fabric_routes_of_nodes(nodes, own, &left_out);
}

static void assert_text(const json_t *routes, const char *format, const struct fabric_place *place,
                        const char *expected) {
    _cleanup_(freep) char *text = fabric_routes_text(routes, format, place, 0);

    assert_string_equal(text, expected);
}

static void commands(void **state) {
    static const struct fabric_place nowhere = {0}, place = {"k8s", "pods", "vpc-1"};
    _cleanup_json_ json_t *routes =
        routes_of(NODE("linux-1", "", "'10.244.0.0/24'", IP("10.0.0.20")) "," NODE(
                      "win-1", EKS, "'10.244.1.0/24','fd00:10:244:1::/64'",
                      IP("10.0.0.21") "," IP("fd00::21")),
                  NULL);

    (void)state;
    assert_text(routes, "text", &nowhere,
                "10.244.0.0/24 via 10.0.0.20 (node linux-1)\n"
                "10.244.1.0/24 via 10.0.0.21 (node win-1)\n"
                "fd00:10:244:1::/64 via fd00::21 (node win-1)\n");
    assert_text(routes, "az", &place,
                "az network route-table route create --resource-group k8s --route-table-name pods "
                "--name pods-10-244-0-0-24 --address-prefix 10.244.0.0/24 --next-hop-type "
                "VirtualAppliance --next-hop-ip-address 10.0.0.20\n"
                "az network route-table route create --resource-group k8s --route-table-name pods "
                "--name pods-10-244-1-0-24 --address-prefix 10.244.1.0/24 --next-hop-type "
                "VirtualAppliance --next-hop-ip-address 10.0.0.21\n"
                "az network route-table route create --resource-group k8s --route-table-name pods "
                "--name pods-fd00-10-244-1---64 --address-prefix fd00:10:244:1::/64 "
                "--next-hop-type VirtualAppliance --next-hop-ip-address fd00::21\n");
    assert_text(routes, "aws", &nowhere,
                "aws ec2 create-route --route-table-id ROUTE_TABLE_ID --destination-cidr-block "
                "10.244.0.0/24 --instance-id INSTANCE_ID\n"
                "aws ec2 create-route --route-table-id ROUTE_TABLE_ID --destination-cidr-block "
                "10.244.1.0/24 --instance-id i-0123456789abcdef0\n"
                "aws ec2 create-route --route-table-id ROUTE_TABLE_ID "
                "--destination-ipv6-cidr-block fd00:10:244:1::/64 --instance-id "
                "i-0123456789abcdef0\n");
    assert_text(routes, "gcloud", &place,
                "gcloud compute routes create pods-10-244-0-0-24 --network vpc-1 "
                "--destination-range 10.244.0.0/24 --next-hop-address 10.0.0.20\n"
                "gcloud compute routes create pods-10-244-1-0-24 --network vpc-1 "
                "--destination-range 10.244.1.0/24 --next-hop-address 10.0.0.21\n"
                "gcloud compute routes create pods-fd00-10-244-1---64 --network vpc-1 "
                "--destination-range fd00:10:244:1::/64 --next-hop-address fd00::21\n");
    assert_text(routes, "json", &nowhere, "");
    assert_int_equal(left_out.count, 0);
}

static void no_more_than_wanted(void **state) {
    static const struct fabric_place nowhere = {0};
    _cleanup_json_ json_t *routes =
        routes_of(NODE("a", "", "'10.1.0.0/24'", IP("10.0.0.1")) "," NODE("b", "", "'10.1.1.0/24'",
                                                                          IP("10.0.0.2")),
                  NULL);
    _cleanup_(freep) char *text = fabric_routes_text(routes, "text", &nowhere, 1);

    (void)state;
    assert_string_equal(text, "10.1.0.0/24 via 10.0.0.1 (node a)\n");
}

/* What a Node does not say yet of itself, its own node knows: --pod-cidr. */
static void own(void **state) {
    static const struct fabric_place nowhere = {0};
    const struct network_peer win = {
        .node = "win-1", .pod_cidr = "10.244.9.0/24", .node_address = "10.0.0.21"};
    _cleanup_json_ json_t *listed = routes_of(
        "{'metadata':{'name':'win-1'}}," NODE("b", "", "'10.1.1.0/24'", IP("10.0.0.2")), &win);
    _cleanup_json_ json_t *alone = routes_of("", &win);

    (void)state;
    assert_text(listed, "text", &nowhere,
                "10.244.9.0/24 via 10.0.0.21 (node win-1)\n10.1.1.0/24 via 10.0.0.2 (node b)\n");
    assert_text(alone, "text", &nowhere, "10.244.9.0/24 via 10.0.0.21 (node win-1)\n");
}

static void assert_formats(const char *provider, const char *expected) {
    _cleanup_(freep) char *node =
        xasprintf(NODE("a", "%s", "'10.1.0.0/24'", IP("10.0.0.1")), provider);
    _cleanup_json_ json_t *routes = routes_of(node, NULL);
    _cleanup_(text_list_free) struct text_list formats = {0};
    _cleanup_(freep) char *list = NULL;

    fabric_formats(routes, &formats);
    list = text_list_join(&formats, " ");
    assert_string_equal(list, expected);
}

static void formats(void **state) {
    (void)state;
    assert_formats("", "text az aws gcloud");
    assert_formats("vsphere://4210", "text az aws gcloud");
    assert_formats("azure:///subscriptions/1/resourceGroups/k8s/providers/x", "text az");
    assert_formats(EKS, "text aws");
    assert_formats("gce://project/zone/win-1", "text gcloud");
}

/* Nothing that a shell could take for more than a word gets into a line. */
static void hostile_nodes(void **state) {
    static const char *const formats[] = {"text", "az", "aws", "gcloud"};
    static const struct fabric_place nowhere = {0};
    static const char *const nodes[] = {
        NODE("a;calc", "", "'10.1.0.0/24'", IP("10.0.0.1")),
        NODE("a$(calc)", "", "'10.1.0.0/24'", IP("10.0.0.1")),
        NODE("a\\ncalc", "", "'10.1.0.0/24'", IP("10.0.0.1")),
        NODE("\\u001b[31m", "", "'10.1.0.0/24'", IP("10.0.0.1")),
        NODE("", "", "'10.1.0.0/24'", IP("10.0.0.1")),
        NODE("a", "", "'10.1.0.0/24 & calc'", IP("10.0.0.1")),
        NODE("a", "", "'10.1.0.0/24'", IP("10.0.0.1|calc")),
        NODE("a", "", "'fd00::/64'", IP("10.0.0.1")),
        NODE("a", "", "", IP("10.0.0.1")),
        NODE("a", "", "'10.1.0.0/24'", ""),
        "{}",
        "7",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(nodes); i++) {
        _cleanup_json_ json_t *routes = routes_of(nodes[i], NULL);

        assert_int_equal(json_array_size(routes), 0);
        assert_int_equal(left_out.count, 1);
        for (const char *c = left_out.items[0]; *c; c++)
            assert_in_range(*c, ' ', '~');
    }
    for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
        _cleanup_json_ json_t *routes =
            routes_of(NODE("a", "aws:///x/i-0123$(calc)", "'10.1.0.0/24'", IP("10.0.0.1")), NULL);
        _cleanup_(freep) char *text = fabric_routes_text(routes, formats[i], &nowhere, 0);

        assert_int_equal(left_out.count, 0);
        assert_non_null(strstr(text, "10.1.0.0/24"));
        assert_null(strstr(text, "calc"));
    }
}

static void places(void **state) {
    static const char *const refused[] = {"", "-x", "a b", "a;b", "$x", "a%b%", "\xc3\xa4"};
    struct error err = {0};

    (void)state;
    assert_int_equal(fabric_place_check(&(struct fabric_place){0}, &err), 0);
    assert_int_equal(fabric_place_check(&(struct fabric_place){"my_rg", "rtb-0a.b", "N"}, &err), 0);
    for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
        const char *name = refused[i];

        assert_int_equal(fabric_place_check(&(struct fabric_place){name, NULL, NULL}, &err), -1);
        assert_int_equal(err.kind, ERROR_USAGE);
        assert_int_equal(fabric_place_check(&(struct fabric_place){NULL, name, NULL}, &err), -1);
        assert_int_equal(fabric_place_check(&(struct fabric_place){NULL, NULL, name}, &err), -1);
    }
    assert_non_null(strstr(err.message, "--network \""));
}

static int free_list(void **state) {
    (void)state;
    text_list_free(&left_out);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands), cmocka_unit_test(no_more_than_wanted),
        cmocka_unit_test(own),      cmocka_unit_test(formats),
        cmocka_unit_test(places),   cmocka_unit_test(hostile_nodes),
    };

    return cmocka_run_group_tests(tests, NULL, free_list);
}
