/* The HNS model's own reading of addresses, prefixes, MACs and GUIDs, and its version ranges. */
#include "tests/hns/model.h"
#include "tests/scene/hns_case.h"

static void test_addresses(void **state) {
    static const struct {
        const char *text;
        int family; /* 0 = refused */
        unsigned char bytes[16];
    } cases[] = {
        {"10.244.1.2", 4, {10, 244, 1, 2}},
        {"0.0.0.0", 4, {0}},
        {"255.255.255.255", 4, {255, 255, 255, 255}},
        {"256.0.0.1", 0, {0}},
        {"1.2.3", 0, {0}},
        {"1.2.3.4.5", 0, {0}},
        {"1.2.3.", 0, {0}},
        {"1..3.4", 0, {0}},
        {"1.2.3.0004", 0, {0}},
        {" 1.2.3.4", 0, {0}},
        {"", 0, {0}},
        {"::", 6, {0}},
        {"::1", 6, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}},
        {"fd00:10::", 6, {0xfd, 0, 0, 0x10}},
        {"fd00::10:2", 6, {0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0, 2}},
        {"1:2:3:4:5:6:7:ABcd", 6, {0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0xab, 0xcd}},
        {"1:2:3:4:5:6:7", 0, {0}},
        {"1:2:3:4:5:6:7:8:9", 0, {0}},
        {"1:2:3:4:5:6:7:8::", 0, {0}},
        {"1::2::3", 0, {0}},
        {"1:::2", 0, {0}},
        {":1:2:3:4:5:6:7", 0, {0}},
        {"1:2:3:4:5:6:7:", 0, {0}},
        {"12345::", 0, {0}},
        {"fe80::1%eth0", 0, {0}},
        {"g::", 0, {0}},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct model_address a;
        bool good = model_address_read(cases[i].text, &a);

        if (good != (cases[i].family != 0))
            fail_msg("'%s' is %s", cases[i].text, good ? "taken" : "refused");
        if (good) {
            assert_int_equal(a.family, cases[i].family);
            assert_memory_equal(a.byte, cases[i].bytes, sizeof(a.byte));
        }
    }
    (void)state;
}

static void test_prefixes(void **state) {
    static const struct {
        const char *text;
        bool loose, exact;
        int length;
    } cases[] = {
        {"10.244.1.0/24", true, true, 24},    {"10.244.1.1/24", true, false, 24},
        {"10.244.1.1/32", true, true, 32},    {"10.244.1.128/25", true, true, 25},
        {"10.244.1.128/24", true, false, 24}, {"0.0.0.0/0", true, true, 0},
        {"0.0.0.1/0", true, false, 0},        {"fd00::/64", true, true, 64},
        {"fd00::1/64", true, false, 64},      {"::1/128", true, true, 128},
        {"10.0.0.0/33", false, false, 0},     {"fd00::/129", false, false, 0},
        {"10.0.0.0", false, false, 0},        {"10.0.0.0/", false, false, 0},
        {"10.0.0.0/x", false, false, 0},      {"10.0.0.0/-1", false, false, 0},
        {"10.0.0.0/0024", false, false, 0},   {"/24", false, false, 0},
        {"10.0.0/24", false, false, 0},
    };
    struct model_prefix p;

    for (size_t i = 0; i < COUNT(cases); i++) {
        if (model_prefix_read(cases[i].text, true, &p) != cases[i].exact)
            fail_msg("'%s' exactly", cases[i].text);
        if (model_prefix_read(cases[i].text, false, &p) != cases[i].loose)
            fail_msg("'%s' loosely", cases[i].text);
        if (cases[i].loose)
            assert_int_equal(p.length, cases[i].length);
    }
    (void)state;
}

static struct model_prefix prefix(const char *text) {
    struct model_prefix p;

    assert_true(model_prefix_read(text, false, &p));
    return p;
}

static struct model_address address(const char *text) {
    struct model_address a;

    assert_true(model_address_read(text, &a));
    return a;
}

static void test_what_lies_in_a_prefix(void **state) {
    static const struct {
        const char *prefix, *address;
        bool in, edge;
    } cases[] = {
        {"10.244.1.0/24", "10.244.1.1", true, false},
        {"10.244.1.0/24", "10.244.1.0", true, true},
        {"10.244.1.0/24", "10.244.1.255", true, true},
        {"10.244.1.0/24", "10.244.2.0", false, false},
        {"10.244.1.128/25", "10.244.1.127", false, false},
        {"10.244.1.0/31", "10.244.1.0", true, false},
        {"10.244.1.0/30", "10.244.1.3", true, true},
        {"10.244.1.1/32", "10.244.1.1", true, false},
        {"0.0.0.0/0", "10.0.0.1", true, false},
        {"0.0.0.0/0", "::1", false, false},
        {"fd00::/64", "fd00::", true, true},
        {"fd00::/64", "fd00::ffff:ffff:ffff:ffff", true, false},
        {"fd00::/64", "fd00:0:0:1::", false, false},
        {"fd00::/127", "fd00::", true, false},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct model_prefix p = prefix(cases[i].prefix);
        struct model_address a = address(cases[i].address);

        if (model_prefix_has(&p, &a) != cases[i].in ||
            model_prefix_is_edge(&p, &a) != cases[i].edge)
            fail_msg("%s in %s", cases[i].address, cases[i].prefix);
    }
    (void)state;
}

static void test_overlaps(void **state) {
    static const struct {
        const char *a, *b;
        bool overlap;
    } cases[] = {
        {"10.0.0.0/8", "10.244.1.0/24", true},       {"10.244.0.0/24", "10.244.1.0/24", false},
        {"10.244.1.0/24", "10.244.1.0/24", true},    {"0.0.0.0/0", "fd00::/8", false},
        {"10.244.1.0/25", "10.244.1.128/25", false}, {"fd00::/8", "fd12::/16", true},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct model_prefix a = prefix(cases[i].a), b = prefix(cases[i].b);

        assert_int_equal(model_prefix_overlaps(&a, &b), cases[i].overlap);
        assert_int_equal(model_prefix_overlaps(&b, &a), cases[i].overlap);
    }
    (void)state;
}

static void test_nth(void **state) {
    static const struct {
        const char *prefix;
        unsigned n;
        const char *wanted;
    } cases[] = {
        {"10.244.1.0/24", 2, "10.244.1.2"},
        {"10.244.0.0/16", 258, "10.244.1.2"},
        {"10.244.255.0/24", 256, "10.245.0.0"},
        {"fd00::/64", 65537, "fd00::1:1"},
        {"fd00:0:0:1::/64", 1, "fd00:0:0:1::1"},
        {"::/64", 0, "::"},
        {"::/64", 1, "::1"},
        {"fd00:0:0:1::/64", 0, "fd00:0:0:1::"},
        {"1:0:2:3:4:5:6:0/112", 7, "1:0:2:3:4:5:6:7"},
    };
    char text[46];

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct model_prefix p = prefix(cases[i].prefix);
        struct model_address a;

        model_prefix_nth(&p, cases[i].n, &a);
        model_address_write(&a, text);
        assert_string_equal(text, cases[i].wanted);
    }
    (void)state;
}

static void test_macs_and_guids(void **state) {
    char out[40];

    assert_true(model_mac_read("02:00:0a:c8:00:0b", out));
    assert_string_equal(out, "02-00-0A-C8-00-0B");
    assert_true(model_mac_read("0E-2A-0a-f4-01-03", out));
    assert_string_equal(out, "0E-2A-0A-F4-01-03");
    assert_false(model_mac_read("02:00:0a-c8:00:0b", out));
    assert_false(model_mac_read("02000ac8000b", out));
    assert_false(model_mac_read("02:00:0a:c8:00:0g", out));
    assert_false(model_mac_read("02.00.0a.c8.00.0b", out));
    assert_true(model_guid_read("{AAAAAAAA-0000-4000-8000-000000000001}", out));
    assert_string_equal(out, "aaaaaaaa-0000-4000-8000-000000000001");
    assert_true(model_guid_read(NOBODY, out));
    assert_false(model_guid_read("(" NOBODY ")", out));
    assert_false(model_guid_read("aaaaaaaa-0000-4000-8000-00000000000", out));
    assert_false(model_guid_read("aaaaaaaa-0000-4000-80000-00000000001", out));
    assert_false(model_guid_read("gaaaaaaa-0000-4000-8000-000000000001", out));
    (void)state;
}

/* The first and the last version of each range, and their neighbours. */
static void test_versions(void **state) {
    static const struct {
        enum model_feature feature;
        unsigned major, minor;
        bool has;
    } cases[] = {
        {ALWAYS, 0, 0, true},
        {F_V2_API, 9, 1, false},
        {F_V2_API, 9, 2, true},
        {F_V2_API, 10, 0, true},
        {F_DSR, 9, 2, false},
        {F_DSR, 9, 3, true},
        {F_DSR, 9, 99, true},
        {F_DSR, 10, 0, false},
        {F_DSR, 10, 1, false},
        {F_DSR, 10, 2, true},
        {F_DSR, 13, 0, true},
        {F_HOST_PREFIX, 9, 3, true},
        {F_HOST_PREFIX, 10, 3, false},
        {F_HOST_PREFIX, 10, 4, true},
        {F_VXLAN_PORT, 9, 5, false},
        {F_VXLAN_PORT, 10, 2, false},
        {F_VXLAN_PORT, 10, 3, true},
        {F_DUAL_STACK, 11, 9, false},
        {F_DUAL_STACK, 11, 10, true},
        {F_SET_POLICY, 12, 9, false},
        {F_SET_POLICY, 13, 0, true},
        {F_L4_PROXY, 9, 4, false},
        {F_L4_PROXY, 9, 5, true},
        {F_L4_PROXY, 10, 4, false},
        {F_L4_PROXY, 10, 5, true},
        {F_L4_PROXY, 11, 10, false},
        {F_L4_PROXY, 11, 11, true},
        {F_L4_PROXY, 12, 0, false},
        {F_L4_PROXY, 12, 1, true},
        {F_L4_PROXY, 13, 0, false},
        {F_L4_PROXY, 13, 1, true},
        {F_L4_PROXY, 14, 0, true},
        {F_L4_WFP_PROXY, 13, 1, false},
        {F_L4_WFP_PROXY, 13, 2, true},
        {F_TIER_ACL, 13, 9, false},
        {F_TIER_ACL, 14, 0, true},
        {F_NETWORK_ACL, 14, 9, false},
        {F_NETWORK_ACL, 15, 0, true},
        {F_DISABLE_HOST_PORT, 15, 0, false},
        {F_DISABLE_HOST_PORT, 15, 1, true},
        {F_MODIFY_LOAD_BALANCER, 15, 4, false},
        {F_MODIFY_LOAD_BALANCER, 15, 5, true},
    };
    struct hns_model *m = *state;

    for (size_t i = 0; i < COUNT(cases); i++) {
        m->major = cases[i].major;
        m->minor = cases[i].minor;
        if (model_has(m, cases[i].feature) != cases[i].has)
            fail_msg("%s: %u.%u", model_feature_text(cases[i].feature), m->major, m->minor);
    }
}

/* ---- the tables ---- */

/* Every member that is required is missed, in every schema. */
static void miss(struct hns_model *m, const struct model_field *schema, const char *name) {
    for (const struct model_field *f = schema; f->name; f++) {
        json_t *in = json_object(), *out = NULL;
        int r = model_take(m, schema, "", in, &out);

        json_decref(in);
        json_decref(out);
        if (f->required && !r)
            fail_msg("%s without %s is taken", name, f->name);
    }
}

static unsigned count_required(const struct model_field *schema) {
    unsigned n = 0;

    for (; schema->name; schema++)
        n += schema->required;
    return n;
}

/* Which members are required is a fact, counted here so that it cannot change unseen. */
static void test_required_members(void **state) {
    static const struct {
        const char *type;
        const struct model_policy *table;
        unsigned required;
    } policies[] = {
        {"VSID", model_subnet_policies, 1},
        {"NetAdapterName", model_network_policies, 1},
        {"ProviderAddress", model_network_policies, 1},
        {"DrMacAddress", model_network_policies, 1},
        {"RemoteSubnetRoute", model_network_policies, 4},
        {"VxlanPort", model_network_policies, 1},
        {"VSwitchExtension", model_network_policies, 1},
        {"SetPolicy", model_network_policies, 2},
        {"NetworkACL", model_network_policies, 2},
        {"PortMapping", model_endpoint_policies, 3},
        {"ACL", model_endpoint_policies, 2},
        {"OutBoundNAT", model_endpoint_policies, 0},
        {"SDNRoute", model_endpoint_policies, 1},
        {"ProviderAddress", model_endpoint_policies, 1},
        {"PortName", model_endpoint_policies, 1},
        {"EncapOverhead", model_endpoint_policies, 1},
        {"InterfaceParameters", model_endpoint_policies, 1},
    };

    for (size_t i = 0; i < COUNT(policies); i++) {
        const struct model_policy *row = policies[i].table;

        while (row->type && strcmp(row->type, policies[i].type))
            row++;
        assert_non_null(row->type);
        if (count_required(row->settings) != policies[i].required)
            fail_msg("%s", row->type);
        miss(*state, row->settings, row->type);
    }
    assert_int_equal(count_required(model_network_schema), 1);
    assert_int_equal(count_required(model_load_balancer_schema), 3);
    assert_int_equal(count_required(model_modify_schema), 2);
    assert_int_equal(count_required(model_v1_policy_list_schema), 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(test_addresses),
        CASE(test_prefixes),
        CASE(test_what_lies_in_a_prefix),
        CASE(test_overlaps),
        CASE(test_nth),
        CASE(test_macs_and_guids),
        CASE(test_versions),
        CASE(test_required_members),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
