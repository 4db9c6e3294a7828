/* JoinConfiguration between file, flags and options: who wins, and what is renewed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/memory.h"
#include "join/configuration/cluster_config.h"
#include "join/configuration/join_configuration.h"
#include "join/discovery/discovery.h"
#include "netsetup/agents/daemon_set_agent.h"

#define TOKEN "abcdef.0123456789abcdef"
#define OTHER "fedcba.0123456789abcdef"
#define PIN "sha256:3b3b3b3b3b3b3b3b3b3b3b3b3b3b3b3b3b3b3b3b3b3b3b3b3b3b3b3b3b3b3b3b"
#define V4 "apiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\n"

static const char full[] =
    "apiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\ndryRun: true\n"
    "nodeRegistration:\n  name: ' WIN-1 '\n  criSocket: //./pipe/other\n"
    "  taints: [{key: os, value: windows, effect: NoSchedule}, {key: b, effect: NoExecute}]\n"
    "  kubeletExtraArgs: [{name: v, value: '5'}, {name: node-labels, value: a=b}, {name: v}]\n"
    "  ignorePreflightErrors: [Swap]\n  imagePullPolicy: Always\n  imagePullSerial: false\n"
    "caCertPath: C:\\ca.crt\n"
    "discovery:\n  bootstrapToken: {token: " TOKEN ", apiServerEndpoint: '1.2.3.4:6443', "
    "caCertHashes: ['" PIN "']}\n  tlsBootstrapToken: " OTHER "\n"
    "skipPhases: [verify]\npatches: {directory: C:\\p}\n"
    "timeouts: {discovery: 1m30s, tlsBootstrap: 2m, kubeletHealthCheck: 10s, "
    "kubernetesAPICall: 5s}\n";

struct scene {
    struct config_file file;
    struct join_options options;
    struct text_list warnings;
    struct error err;
};

static int setup(void **state) {
    *state = xcalloc(1, sizeof(struct scene));
    return 0;
}

static int teardown(void **state) {
    struct scene *s = *state;

    config_file_free(&s->file);
    join_options_free(&s->options);
    text_list_free(&s->warnings);
    freep(state);
    return 0;
}

static void read_file(struct scene *s, const char *text) {
    if (config_file_parse(text, strlen(text), "f", CONFIG_KNOWN, &s->file, &s->err) < 0)
        fail_msg("%s", s->err.message);
}

static void settle(struct scene *s) {
    join_configuration_overlay(&s->file.join, &s->options);
    if (join_configuration_check(s->file.join, &s->file.yaml, NULL, &s->err) < 0)
        fail_msg("%s", s->err.message);
    join_configuration_apply(s->file.join, &s->options, &s->warnings);
}

static void every_field_arrives(void **state) {
    struct scene *s = *state;
    const struct join_options *o = &s->options;

    read_file(s, full);
    settle(s);
    assert_true(o->dry_run);
    assert_string_equal(o->node_name, "win-1");
    assert_string_equal(o->cri_socket, "npipe:////./pipe/other");
    assert_int_equal(s->warnings.count, 1);
    assert_string_equal(o->register_with_taints, "os=windows:NoSchedule,b:NoExecute");
    assert_int_equal(o->kubelet_extra_args.count, 3);
    assert_string_equal(o->kubelet_extra_args.items[1], "node-labels=a=b");
    assert_string_equal(o->kubelet_extra_args.items[2], "v=");
    assert_string_equal(o->ignore_preflight_errors.items[0], "Swap");
    assert_string_equal(o->ca_cert_path, "C:\\ca.crt");
    assert_string_equal(o->discovery_token, TOKEN);
    assert_string_equal(o->tls_bootstrap_token, OTHER);
    assert_string_equal(o->endpoint, "1.2.3.4:6443");
    assert_string_equal(o->discovery_token_ca_cert_hash.items[0], PIN);
    assert_string_equal(o->skip_phases.items[0], "verify");
    assert_string_equal(o->patches, "C:\\p");
    assert_int_equal(o->discovery_timeout, 90000);
    assert_int_equal(o->tls_bootstrap_timeout, 120000);
    assert_int_equal(o->kubelet_health_check_timeout, 10000);
    assert_int_equal(o->kubernetes_api_call_timeout, 5000);
}

static void flags_win(void **state) {
    struct scene *s = *state;
    struct join_options *o = &s->options;

    o->node_name = xstrdup("Other");
    o->token = xstrdup(OTHER);
    o->timeout = 1000;
    o->register_with_taints = xstrdup("x:NoSchedule");
    text_list_add(&o->skip_phases, "preflight");
    text_list_add(&o->ignore_preflight_errors, "PageFile");
    read_file(s, full);
    settle(s);
    assert_string_equal(o->node_name, "other");
    assert_string_equal(o->discovery_token, OTHER);
    assert_int_equal(o->timeout, 1000);
    assert_string_equal(o->register_with_taints, "x:NoSchedule");
    assert_int_equal(o->skip_phases.count, 1);
    assert_string_equal(o->skip_phases.items[0], "preflight");
    assert_int_equal(o->ignore_preflight_errors.count, 2);
}

static void all_checks_or_some(void **state) {
    static const struct {
        const char *names;
        int result;
    } rows[] = {{"", 0}, {"all", 0}, {"ALL all", 0}, {"PageFile CRI", 0}, {"CRI All", -1}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(text_list_free) struct text_list names = {0};
        struct error err = {0};

        text_list_split(&names, rows[i].names, ' ');
        assert_int_equal(join_ignored_check(&names, &err), rows[i].result);
        assert_int_equal(err.kind, rows[i].result ? ERROR_USAGE : ERROR_NONE);
    }
}

static void flags_alone_are_judged_as_a_file(void **state) {
    struct scene *s = *state;
    struct join_options *o = &s->options;

    o->endpoint = xstrdup("1.2.3.4");
    o->token = xstrdup("abc");
    join_configuration_overlay(&s->file.join, o);
    assert_int_equal(join_configuration_check(s->file.join, &s->file.yaml, NULL, &s->err), -1);
    assert_int_equal(s->err.kind, ERROR_USAGE);
    assert_string_equal(s->err.message,
                        "endpoint \"1.2.3.4\": missing port in address; --token: it has no dot; it "
                        "must be 6 characters, a dot and 16 characters of [a-z0-9]; "
                        "--discovery-token-ca-cert-hash is missing");
    assert_string_equal(s->err.hints[0], "give only host and port: 1.2.3.4:6443");
    assert_non_null(strstr(s->err.hints[1], "kubeadm token create --print-join-command"));
    assert_string_equal(s->err.hints[2], "");
}

/* Errors about a file name line and column, each its own; those about flags say that they are. */
static void errors_have_their_places(void **state) {
    static const struct {
        const char *text, *places[4];
    } rows[] = {
        {V4 "nodeRegistration:\n  name: a_\n",
         {"f: [line 1 column 1: discovery: ", ", line 4 column 9: nodeRegistration.name: "}},
        {V4 "discovery:\n  file: {kubeConfigPath: 'ftp://x'}\n",
         {"f: line 4 column 26: discovery.file.kubeConfigPath: "}},
        {V4 "discovery:\n  file: {kubeConfigPath: 'https://x'}\nnodeRegistration:\n  taints:\n"
            "  - {key: a, effect: NoSchedule}\n  - {key: a, effect: Never}\n  kubeletExtraArgs:\n"
            "  - name: a\n  - value: b\n",
         {"line 11 column 5: nodeRegistration.kubeletExtraArgs: Invalid value: \"index 1\"",
          "line 8 column 5: nodeRegistration.taints[1]: "}},
        {V4 "discovery:\n  bootstrapToken:\n    token: a\n",
         {"line 5 column 5: discovery.bootstrapToken.apiServerEndpoint: Required value",
          "line 5 column 12: discovery.bootstrapToken.token: ",
          "line 5 column 5: discovery.bootstrapToken.caCertHashes: Required value"}},
        {"apiVersion: kubeadm.k8s.io/v1beta3\nkind: JoinConfiguration\n"
         "discovery: {timeout: 0s, file: {kubeConfigPath: 'https://x'}}\n"
         "nodeRegistration: {kubeletExtraArgs: {b: a, --a: b}}\n",
         {"line 3 column 22: timeouts.discovery: ", "line 4 column 50: nodeRegistration.kube"}},
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct config_file file = {0};
        struct error err = {0};

        if (config_file_parse(rows[i].text, strlen(rows[i].text), "f", CONFIG_KNOWN, &file, &err) <
            0)
            fail_msg("%s", err.message);
        assert_int_equal(join_configuration_check(file.join, &file.yaml, NULL, &err), -1);
        for (size_t n = 0; n < ARRAY_SIZE(rows[i].places) && rows[i].places[n]; n++)
            if (!strstr(err.message, rows[i].places[n]))
                fail_msg("%s: not in %s", rows[i].places[n], err.message);
        config_file_free(&file);
    }
    (void)state;
}

/* ... also where it takes the place of what the file says, and where only its lists grew. */
static void errors_of_flags_name_them(void **state) {
    struct scene *s = *state;

    read_file(s, V4 "discovery: {bootstrapToken: {token: " TOKEN ", caCertHashes: [a]}}\n");
    s->options.endpoint = xstrdup("b");
    s->options.discovery_token = xstrdup("c");
    join_configuration_overlay(&s->file.join, &s->options);
    assert_int_equal(join_configuration_check(s->file.join, &s->file.yaml, NULL, &s->err), -1);
    assert_true(text_starts_with(s->err.message,
                                 "f: [endpoint \"b\": missing port in address, --token: it has "));
    assert_non_null(strstr(s->err.message, ", line 3 column 77: discovery.boot"));
}

static void nothing_is_made_of_nothing(void **state) {
    struct scene *s = *state;

    s->options.node_name = xstrdup("a");
    s->options.token = xstrdup(TOKEN);
    join_configuration_overlay(&s->file.join, &s->options);
    assert_null(s->file.join);
}

static void old_versions_are_renewed(void **state) {
    struct scene *s = *state;
    _cleanup_(freep) char *text = NULL;

    read_file(s, "apiVersion: kubeadm.k8s.io/v1beta3\nkind: JoinConfiguration\n"
                 "discovery: {timeout: 2m, file: {kubeConfigPath: 'https://x'}}\n"
                 "nodeRegistration: {kubeletExtraArgs: {v: '5', node-ip: 1.2.3.4, empty: null}}\n");
    join_configuration_default(s->file.join);
    text = yaml_write(s->file.join);
    assert_string_equal(
        text, "apiVersion: kubeadm.k8s.io/v1beta4\ncaCertPath: C:/etc/kubernetes/pki/ca.crt\n"
              "discovery:\n  file:\n    kubeConfigPath: https://x\nkind: JoinConfiguration\n"
              "nodeRegistration:\n  criSocket: npipe:////./pipe/containerd-containerd\n"
              "  imagePullPolicy: IfNotPresent\n  imagePullSerial: true\n  kubeletExtraArgs:\n"
              "  - name: empty\n    value: \"\"\n  - name: node-ip\n    value: 1.2.3.4\n"
              "  - name: v\n    value: \"5\"\n  taints: null\ntimeouts:\n"
              "  controlPlaneComponentHealthCheck: 4m0s\n  discovery: 2m0s\n  etcdAPICall: 2m0s\n"
              "  kubeletHealthCheck: 4m0s\n  kubernetesAPICall: 1m0s\n  tlsBootstrap: 5m0s\n"
              "  upgradeManifests: 5m0s\n");
}

static void files_of_discovery(void **state) {
    static const char *const rows[][2] = {{"C:\\d.conf", "C:\\d.conf"},
                                          {"file:///C:/d.conf", "C:/d.conf"},
                                          {"file:///etc/d.conf", "/etc/d.conf"},
                                          {"file://host", "//host"},
                                          {"file://server/share/d.conf", "//server/share/d.conf"},
                                          {"file:////server/share/d.conf", "//server/share/d.conf"},
                                          {"file://C:/k/d.conf", "C:/k/d.conf"},
                                          {"file://LocalHost/C:/d.conf", "C:/d.conf"},
                                          {"file:/C:/d.conf", "C:/d.conf"},
                                          {"FILE:///C:/a%20b.conf?x#y", "C:/a b.conf"},
                                          {"file://ab/share", "//ab/share"},
                                          {"file://localhost", "//localhost"},
                                          {"file:///1:/x", "/1:/x"},
                                          {"file:/a%2", "/a%2"},
                                          {"file:/a%2x%zz%00%41%7e", "/a%2x%zz%00A~"},
                                          {"file:/a#b", "/a"},
                                          {"HTTPS://X/y", "https://X/y"},
                                          {"file:d.conf", "file:d.conf"},
                                          {"https://x/y", "https://x/y"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *path = join_discovery_file_path(rows[i][0]);

        assert_string_equal(path, rows[i][1]);
    }
}

static void node_configuration_goes_there_and_back(void **state) {
    struct scene *s = *state;
    _cleanup_json_ json_t *made = NULL;

    read_file(s, "apiVersion: winjoin.io/v1alpha1\nkind: NodeConfiguration\n"
                 "network: {mode: overlay, plugin: flannel, name: net, adapter: E, vni: 4097, "
                 "vxlanPort: 4789, podCIDRs: [10.1.0.0/24], serviceCIDRs: [10.96.0.0/12], "
                 "excludeFromNAT: [10.9.0.0/16], dualStack: 'off'}\n"
                 "kubeProxy: {run: none, dsr: 'on'}\nartifacts: {kubernetesVersion: v1.37.1, "
                 "bundle: b, mirror: 'https://m', lock: l}\nverify: {level: node, external: {ip: "
                 "'1.2.3.4:443', "
                 "name: 'n:443', dns: 1.2.3.5}, timeout: 2000ms}\n"
                 "services: {kubelet: {extraArgs: [--v=4]}}\n");
    node_configuration_apply(s->file.node, &s->options);
    made = node_configuration_make(&s->options);
    assert_true(json_equal(made, s->file.node));
}

static bool lists(const json_t *names, const char *name) {
    json_each(names, i, item) {
        if (text_equal(json_string_value(item), name))
            return true;
    }
    return false;
}

/* Each object that a join looks for to find the cluster's network agent. */
static void assert_finds_agents(const json_t *maps) {
    for (size_t i = 0; daemon_set_agents[i]; i++) {
        assert_true(!daemon_set_agents[i]->config_map ||
                    lists(maps, daemon_set_agents[i]->config_map));
        assert_true(!daemon_set_agents[i]->others_map ||
                    lists(maps, daemon_set_agents[i]->others_map));
    }
}

static void manifest_has_what_nodes_need(void **state) {
    struct scene *s = *state;
    _cleanup_json_ json_t *node = node_configuration_make(&s->options), *objects = NULL;
    static const char *const kinds[] = {
        "ConfigMap",          "Role",
        "RoleBinding",        "Role",
        "RoleBinding",        "ClusterRole",
        "ClusterRoleBinding", "ClusterRoleBinding",
        "ClusterRole",        "ClusterRoleBinding",
    };

    objects = cluster_manifest_make(node, NULL, NULL);
    assert_int_equal(json_array_size(objects), ARRAY_SIZE(kinds));
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
        assert_string_equal(json_text_at(json_array_get(objects, i), "kind"), kinds[i]);
    assert_string_equal(json_text_at(objects, "5.rules.0.resources.0"), "daemonsets");
    assert_null(json_at(objects, "5.rules.0.resourceNames"));
    assert_finds_agents(json_at(objects, "5.rules.1.resourceNames"));
    assert_int_equal(json_array_size(json_at(objects, "5.rules.0.verbs")), 1);
    assert_string_equal(json_text_at(objects, "5.rules.0.verbs.0"), "list");
    assert_string_equal(json_text_at(objects, "5.rules.1.resources.0"), "configmaps");
    assert_int_equal(json_array_size(json_at(objects, "6.subjects")), 2);
    assert_string_equal(json_text_at(objects, "8.metadata.name"), "winjoin:flannel");
    assert_string_equal(json_text_at(objects, "8.rules.0.resources.0"), "nodes");
    assert_string_equal(json_text_at(objects, "8.rules.0.verbs.0"), "list");
    assert_string_equal(json_text_at(objects, "8.rules.0.verbs.1"), "watch");
    assert_int_equal(json_array_size(json_at(objects, "8.rules")), 1);
    assert_string_equal(json_text_at(objects, "9.roleRef.name"), "winjoin:flannel");
    assert_string_equal(json_text_at(objects, "3.rules.0.resources.0"), "services");
    assert_string_equal(json_text_at(objects, "5.rules.2.resources.0"), "ipamconfigs");
    assert_int_equal(json_array_size(json_at(objects, "4.subjects")), 1); /* nodes may anyway */
    assert_string_equal(json_text_at(objects, "0.data.NodeConfiguration"),
                        "apiVersion: winjoin.io/v1alpha1\nkind: NodeConfiguration\n");
}

/* ---- memory that held a token ---- */

/* Stands before the C library's: a block that begins with a token as it is freed is counted. */
static size_t freed_with_a_token;

#define UNCHECKED __attribute__((no_sanitize("address", "undefined"))) /* the first come early */

UNCHECKED static bool begins(const char *block, const char *text) {
    while (*text && *block == *text) {
        block++;
        text++;
    }
    return !*text;
}

UNCHECKED void free(void *block) {
    static const char *const tokens[] = {TOKEN, OTHER, "ghijkl.0123456789abcdef"};

    for (size_t i = 0; block && i < ARRAY_SIZE(tokens); i++)
        freed_with_a_token += begins(block, tokens[i]);
    if (block && realloc(block, 0))
        fail_msg("realloc(x, 0) does not free");
}

/* Of a file, of the flags that replace what it says, of the options made of both. */
static void tokens_are_wiped(void **state) {
    struct scene *s = *state;
    struct yaml yaml = {0};
    char *copy = xstrdup(TOKEN);
    size_t before = freed_with_a_token;

    freep(&copy);
    assert_int_equal(freed_with_a_token, before + 1);
    assert_return_code(yaml_read(TOKEN, strlen(TOKEN), "f", &yaml, NULL), 0);
    yaml_forget(&yaml);
    assert_int_equal(freed_with_a_token, before + 1); /* nor what the parser had read */
    for (size_t given = 0; given < 4; given++) {
        read_file(s, full);
        s->options.token = given == 1 ? xstrdup("ghijkl.0123456789abcdef") : NULL;
        s->options.discovery_token = given == 2 ? xstrdup("ghijkl.0123456789abcdef") : NULL;
        s->options.tls_bootstrap_token = given == 3 ? xstrdup("ghijkl.0123456789abcdef") : NULL;
        join_configuration_overlay(&s->file.join, &s->options);
        join_configuration_apply(s->file.join, &s->options, &s->warnings);
        config_file_free(&s->file);
        join_options_free(&s->options);
        if (freed_with_a_token != before + 1)
            fail_msg("%zu blocks, %zu", freed_with_a_token - before - 1, given);
    }
    s->options.discovery_file = xstrdup("C:\\f"); /* the token beside it is dropped */
    s->options.discovery_token = xstrdup(TOKEN);
    join_configuration_overlay(&s->file.join, &s->options);
    assert_null(json_at(s->file.join, "discovery.bootstrapToken"));
    config_file_free(&s->file);
    join_options_free(&s->options);
    assert_int_equal(freed_with_a_token, before + 1);
}

/* One place makes them, for join and discover. */
static void discovery_asks_with_the_right_token(void **state) {
    static const struct {
        const char *token, *discovery, *bootstrap, *asks, *goes_on;
    } cases[] = {
        {"t", NULL, NULL, "t", "t"}, {NULL, "d", NULL, "d", NULL}, {"t", "d", NULL, "d", "t"},
        {"t", NULL, "b", "t", "b"},  {"t", "d", "b", "d", "b"},    {NULL, NULL, NULL, NULL, NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct join_options asked = {.token = (char *)cases[i].token,
                                     .discovery_token = (char *)cases[i].discovery,
                                     .tls_bootstrap_token = (char *)cases[i].bootstrap,
                                     .discovery_timeout = 7,
                                     .timeout = i % 2 ? 9 : 0};
        struct discovery_options made;

        discovery_options_make(&asked, &made);
        assert_true(text_equal(made.token, cases[i].asks) || (!made.token && !cases[i].asks));
        assert_true(text_equal(made.tls_bootstrap_token, cases[i].goes_on) ||
                    (!made.tls_bootstrap_token && !cases[i].goes_on));
        assert_int_equal(made.timeout_ms, i % 2 ? 9 : 7);
        assert_int_equal(discovery_is_asked(&asked), cases[i].asks != NULL);
    }
}

/* A copy of the options, for what the cluster adds, has no token. */
static void a_copy_has_no_token(void **state) {
    struct scene *s = *state;
    struct join_options copy;

    read_file(s, full);
    settle(s);
    assert_string_equal(s->options.discovery_token, TOKEN);
    join_options_copy(&s->options, &copy);
    assert_null(copy.token);
    assert_null(copy.discovery_token);
    assert_null(copy.tls_bootstrap_token);
    assert_string_equal(copy.node_name, s->options.node_name);
    assert_ptr_not_equal(copy.node_name, s->options.node_name);
    assert_int_equal(copy.kubelet_extra_args.count, s->options.kubelet_extra_args.count);
    assert_string_equal(copy.kubelet_extra_args.items[0], s->options.kubelet_extra_args.items[0]);
    assert_int_equal(copy.discovery_timeout, s->options.discovery_timeout);
    join_options_free(&copy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_field_arrives, setup, teardown),
        cmocka_unit_test_setup_teardown(flags_win, setup, teardown),
        cmocka_unit_test(all_checks_or_some),
        cmocka_unit_test_setup_teardown(flags_alone_are_judged_as_a_file, setup, teardown),
        cmocka_unit_test(errors_have_their_places),
        cmocka_unit_test_setup_teardown(errors_of_flags_name_them, setup, teardown),
        cmocka_unit_test_setup_teardown(nothing_is_made_of_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(old_versions_are_renewed, setup, teardown),
        cmocka_unit_test(files_of_discovery),
        cmocka_unit_test_setup_teardown(node_configuration_goes_there_and_back, setup, teardown),
        cmocka_unit_test_setup_teardown(manifest_has_what_nodes_need, setup, teardown),
        cmocka_unit_test(discovery_asks_with_the_right_token),
        cmocka_unit_test_setup_teardown(tokens_are_wiped, setup, teardown),
        cmocka_unit_test_setup_teardown(a_copy_has_no_token, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
