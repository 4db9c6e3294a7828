/* The whole join and reset on a host in memory: it works, it undoes itself, it keeps secrets. */
#include "tests/scene/join_scene.h"
#include "netsetup/modes/mode.h"

#include "services/containerd_settings.h"
#include "services/runtime_files.h"

/* The HNS networks and the reservations of addresses that a join left: "External cbr0". */
static char *made(const struct run *r, const char *network) {
    _cleanup_(freep) char *store = xasprintf("C:\\var\\lib\\cni\\networks\\%s", network);
    _cleanup_(text_list_free) struct text_list files = {0};
    _cleanup_json_ json_t *state = host_memory_state(r->host);
    struct text made = {0};
    const char *id;
    json_t *item;

    json_object_foreach(json_at(state, "hns.networks"), id, item)
        text_addf(&made, "%s%s:%s", made.len ? " " : "", json_text_at(item, "Name"),
                  json_text_at(item, "Type"));
    (void)host_list(r->host, store, &files, NULL);
    for (size_t i = 0; i < files.count; i++)
        text_addf(&made, " %s", files.items[i]);
    return text_take(&made);
}

/* Twice, which changes nothing. */
static void joins_and_resets(const char *mode, const char *plugin, const char *network,
                             const char *makes) {
    static const char xcopy[] = "C:\\Windows\\System32\\xcopy.exe";
    static const char log[] = "C:\\Windows\\System32\\wincni.log";
    _cleanup_(freep) char *what = NULL;
    struct error err = {0};
    struct run r;
    json_t *before, *after, *once, *twice;

    open_run(&r, mode);
    assert_int_equal(host_write(r.host, xcopy, "MZ", 2, HOST_PUBLIC, NULL), 0);
    r.options.network_plugin = xstrdup_null(plugin);
    before = state_of(&r);
    if (join_once(&r, &err) < 0)
        fail_msg("join: %s", err.message);
    what = made(&r, network);
    assert_string_equal(what, makes);
    once = host_memory_state(r.host);
    set_options(&r, mode);
    if (join_once(&r, &err) < 0)
        fail_msg("join again: %s", err.message);
    twice = host_memory_state(r.host);
    assert_same(json_object_get(once, "hns"), json_object_get(twice, "hns"), "a second join");
    json_decref(once);
    json_decref(twice);
    if (!text_starts_with(plugin ? plugin : "win-", "win-")) /* as the plugin leaves it */
        assert_int_equal(host_write(r.host, log, "{}", 2, HOST_PUBLIC, NULL), 0);
    assert_true(scene_runs(&r.scene, "kubelet"));
    assert_true(scene_runs(&r.scene, "kube-proxy"));
    if (reset_once(&r, &err) < 0)
        fail_msg("reset: %s", err.message);
    after = state_of(&r);
    assert_same(before, after, mode);
    json_decref(before);
    json_decref(after);
    close_run(&r);
}

static void overlay_joins_and_resets(void **state) {
    (void)state;
    joins_and_resets("overlay", NULL, "flannel.4096",
                     "External:Overlay flannel.4096:Overlay 10.244.3.2");
    joins_and_resets("overlay", "sdnoverlay", "flannel.4096",
                     "External:Overlay flannel.4096:Overlay 10.244.3.2");
}

/* A plugin that gives host-local no range needs the host's endpoint reserved. */
static void bridges_join_and_reset(void **state) {
    (void)state;
    joins_and_resets("l2bridge", NULL, "cbr0", "External:L2Bridge cbr0:L2Bridge");
    joins_and_resets("l2bridge", "sdnbridge", "cbr0", "External:L2Bridge cbr0:L2Bridge 10.244.3.2");
    joins_and_resets("l2tunnel", "sdnbridge", "cbr0", "External:L2Tunnel cbr0:L2Tunnel 10.244.3.2");
}

static void transparent_joins_and_resets(void **state) {
    (void)state;
    joins_and_resets("transparent", "sdnbridge", "transparent",
                     "External:Transparent transparent:Transparent");
}

/* The adapter has no part in it. */
static void nat_joins_and_resets(void **state) {
    (void)state;
    joins_and_resets("nat", "nat", "nat", "nat:NAT");
}

static int answer_with_nat(void *context, const struct http_request *request,
                           struct http_response *ret, struct error *err) {
    if (strstr(request->url, "configmaps/winjoin"))
        return scene_config_map(ret, "NodeConfiguration",
                                "apiVersion: winjoin.io/v1alpha1\nkind: NodeConfiguration\n"
                                "network: {mode: nat}\n");
    return scene_answer(context, request, ret, err);
}

/* Other nodes would not reach its pods: that is acknowledged, or refused before anything is made.
 */
static void nat_is_refused_until_acknowledged(void **state) {
    struct error err = {0};
    json_t *before, *after;
    struct run r;

    (void)state;
    for (int by_defaults = 0; by_defaults < 2; by_defaults++) {
        open_run(&r, by_defaults ? NULL : "nat");
        text_list_free(&r.options.ignore_preflight_errors);
        answer_with(&r, by_defaults ? answer_with_nat : scene_answer);
        before = state_of(&r);
        assert_int_equal(join_once(&r, &err), -1);
        assert_int_equal(err.kind, ERROR_PREFLIGHT);
        assert_non_null(strstr(err.message, by_defaults ? "in mode nat" : "preflight"));
        after = state_of(&r);
        assert_same(before, after, "refused");
        json_decref(before);
        json_decref(after);
        text_list_add(&r.options.ignore_preflight_errors, "networkmode");
        if (join_once(&r, &err) < 0)
            fail_msg("acknowledged: %s", err.message);
        text_list_free(&r.options.ignore_preflight_errors);
        text_list_add(&r.options.skip_phases, "preflight");
        if (join_once(&r, &err) < 0)
            fail_msg("joined: %s", err.message);
        assert_int_equal(reset_once(&r, &err), 0);
        close_run(&r);
    }
}

/* Called from where the join installed it, it is the one program that Windows does not remove. */
static void a_program_that_runs_moves_itself_aside(void **state) {
    static const char self[] = "C:\\k\\winjoin.exe", aside[] = "C:\\t\\winjoin-removed.exe";
    struct error err = {0};

    (void)state;
    for (int was_there = 0; was_there < 2; was_there++) {
        struct journal journal = {0};
        struct run r;

        open_run(&r, "overlay");
        host_memory_set_environment(r.host, "TEMP", "C:\\t");
        assert_int_equal(host_remove(r.host, self, &err), 0);
        if (was_there)
            assert_int_equal(host_write(r.host, self, "old", 3, HOST_PUBLIC, &err), 0);
        assert_int_equal(journal_open(r.host, WINJOIN_FOLDER, &journal, &err), 0);
        assert_int_equal(journal_write(&journal, self, "new", 3, HOST_PUBLIC, &err), 0);
        journal_close(&journal);
        assert_int_equal(reset_once(&r, &err), 0);
        assert_int_equal(host_file_type(r.host, self), was_there ? HOST_FILE : HOST_ABSENT);
        assert_int_equal(host_file_type(r.host, aside), HOST_FILE);
        close_run(&r);
    }
}

/* A run was killed while the SCM made a service: it has our entry in the journal, and no mark. */
static void a_service_without_a_mark_is_made_again(void **state) {
    struct error err = {0};

    (void)state;
    for (int joins = 0; joins < 2; joins++) {
        struct host_service half = {.name = (char *)"kube-proxy",
                                    .command = (char *)"C:\\half.exe"};
        struct journal journal = {0};
        json_t *before, *after;
        struct run r;

        open_run(&r, "overlay");
        before = state_of(&r);
        assert_int_equal(journal_open(r.host, WINJOIN_FOLDER, &journal, &err), 0);
        assert_int_equal(journal_service(&journal, "kube-proxy", &err), 0);
        journal_close(&journal);
        assert_int_equal(host_service_put(r.host, &half, &err), 0);
        if (joins && join_once(&r, &err) < 0)
            fail_msg("join: %s", err.message);
        if (joins)
            assert_true(scene_runs(&r.scene, "kube-proxy"));
        if (reset_once(&r, &err) < 0)
            fail_msg("reset: %s", err.message);
        after = state_of(&r);
        assert_same(before, after, joins ? "joined" : "reset");
        json_decref(before);
        json_decref(after);
        close_run(&r);
    }
}

static void a_killed_diagnosis_leaves_no_firewall_rule(void **state) {
    const struct host_firewall_rule rule = {
        .name = "winjoin-diag-udp-in", .description = "winjoin diag", .udp = true, .port = 9};
    struct error err = {0};
    bool has = false;
    struct run r;

    (void)state;
    open_run(&r, "overlay");
    if (join_once(&r, &err) < 0)
        fail_msg("join: %s", err.message);
    assert_int_equal(host_firewall_put(r.host, &rule, &err), 0);
    assert_int_equal(reset_once(&r, &err), 0);
    assert_int_equal(host_firewall_has(r.host, rule.name, &has, &err), 0);
    assert_false(has);
    close_run(&r);
}

/* What stood there is given back, whosever it was. */
static void the_event_log_finds_its_texts(void **state) {
    static const char mine[] = "C:\\k\\winjoin.exe", others[] = "D:\\old\\winjoin.exe";
    struct error err = {0};
    struct run r;

    (void)state;
    for (int i = 0; i < 2; i++) {
        char *file = NULL;

        open_run(&r, "overlay");
        assert_int_equal(host_event_source_set(r.host, i ? others : NULL, &err), 0);
        assert_int_equal(join_once(&r, &err), 0);
        assert_int_equal(
            host_registry_get(r.host, HOST_EVENT_SOURCE_KEY, "EventMessageFile", &file, &err), 0);
        assert_string_equal(file, mine);
        free(file);
        assert_int_equal(reset_once(&r, &err), 0);
        assert_int_equal(
            host_registry_get(r.host, HOST_EVENT_SOURCE_KEY, "EventMessageFile", &file, &err),
            i ? 0 : -1);
        if (i) {
            assert_string_equal(file, others);
            free(file);
        }
        close_run(&r);
    }
}

/* Programs run as LocalSystem from these folders: users must not add files beside them. A folder
 * that was there gets back the access that it had. */
static void only_administrators_add_programs(void **state) {
    static const char *const folders[] = {"C:\\k",
                                          "C:\\opt\\cni\\bin",
                                          "C:\\Program Files\\containerd",
                                          "C:\\etc\\kubernetes",
                                          "C:\\etc\\kubernetes\\manifests",
                                          "C:\\etc\\cni\\net.d"};
    struct error err = {0};
    json_t *before, *after;
    struct run r;

    (void)state;
    for (int was_there = 0; was_there < 2; was_there++) {
        open_run(&r, "overlay");
        for (size_t i = 0; was_there && i < ARRAY_SIZE(folders); i++)
            assert_int_equal(host_make_folder(r.host, folders[i], HOST_PUBLIC, &err), 0);
        before = state_of(&r);
        if (join_once(&r, &err) < 0)
            fail_msg("join: %s", err.message);
        for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
            _cleanup_(freep) char *access = host_memory_access(r.host, folders[i]);

            assert_string_equal(access, "read-only");
        }
        if (reset_once(&r, &err) < 0)
            fail_msg("reset: %s", err.message);
        after = state_of(&r);
        assert_same(before, after, "reset");
        json_decref(before);
        json_decref(after);
        close_run(&r);
    }
}

/* A file that the join writes over gets back its content and the list that it had. */
static void a_file_gets_back_its_access(void **state) {
    static const char path[] = "C:\\k\\kube-proxy.kubeconfig";
    static const struct {
        enum host_access access;
        const char *name;
    } lists[] = {{HOST_PUBLIC, "public"}, {HOST_READ_ONLY, "read-only"}, {HOST_SECRET, "secret"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
        _cleanup_(freep) char *joined = NULL, *after = NULL, *content = NULL;
        struct error err = {0};
        struct run r;
        size_t len;

        open_run(&r, "overlay");
        assert_int_equal(host_write(r.host, path, "mine", 4, lists[i].access, &err), 0);
        assert_int_equal(join_once(&r, &err), 0);
        joined = host_memory_access(r.host, path);
        assert_string_equal(joined, "secret");
        assert_int_equal(reset_once(&r, &err), 0);
        after = host_memory_access(r.host, path);
        assert_string_equal(after, lists[i].name);
        assert_int_equal(host_read(r.host, path, 100, &content, &len, &err), 0);
        assert_string_equal(content, "mine");
        close_run(&r);
    }
}

static void second_join_changes_nothing(void **state) {
    struct error err = {0};
    struct run r;
    json_t *first, *second;

    (void)state;
    open_run(&r, "overlay");
    if (join_once(&r, &err) < 0)
        fail_msg("first join: %s", err.message);
    first = state_of(&r);
    set_options(&r, "overlay");
    if (join_once(&r, &err) < 0)
        fail_msg("second join: %s", err.message);
    second = state_of(&r);
    assert_same(first, second, "second join");
    json_decref(first);
    json_decref(second);
    close_run(&r);
}

/* diag and single phases come without the join's flags. */
static void a_joined_node_remembers_its_network(void **state) {
    struct error err = {0};
    struct join join;
    struct run r;

    (void)state;
    open_run(&r, "l2bridge");
    if (join_once(&r, &err) < 0)
        fail_msg("join: %s", err.message);
    join_options_free(&r.options);
    r.options = (struct join_options){0};
    open_join(&r, &join);
    assert_int_equal(join_need(&join, NEED_NODE, &err), 0);
    assert_int_equal(join_need(&join, NEED_PLAN, &err), 0);
    assert_ptr_equal(join.found.plan.mode, &network_mode_l2bridge);
    assert_string_equal(join.found.plan.name, "cbr0");
    assert_string_equal(join.found.node_ip, "10.0.0.21"); /* without its prefix */
    join_close(&join);
    close_run(&r);
}

/* Without the rights that the manifest gives, kube-proxy programmes nothing for ever. */
static void a_cluster_without_the_manifest_is_told(void **state) {
    struct error err = {0};
    struct run r;

    (void)state;
    open_run(&r, "overlay");
    r.scene.unprepared = true;
    assert_int_equal(join_once(&r, &err), -1);
    assert_int_equal(err.kind, ERROR_DENIED);
    assert_non_null(strstr(err.message, "kube-proxy"));
    assert_non_null(strstr(err.hints[0], "winjoin config cluster"));
    r.scene.unprepared = false;
    error_clear(&err);
    set_options(&r, "overlay");
    if (join_once(&r, &err) < 0)
        fail_msg("join after the manifest: %s", err.message);
    close_run(&r);
}

static void no_secret_is_written_but_the_key(void **state) {
    struct error err = {0};
    struct run r;
    json_t *host;
    char *text;

    (void)state;
    open_run(&r, "overlay");
    if (join_once(&r, &err) < 0)
        fail_msg("join: %s", err.message);
    host = host_memory_state(r.host);
    text = json_write(host);
    assert_null(strstr(text, SCENE_TOKEN_SECRET));
    assert_null(strstr(host_memory_log(r.host), SCENE_TOKEN_SECRET));
    free(text);
    json_decref(host);
    close_run(&r);
}

/* 1.x and 2.x read files of different shapes. */
static void containerd_gets_a_file_that_it_reads(void **state) {
    static const char *const rows[][2] = {{"containerd v1.7.20\n", "version = 2"},
                                          {"containerd v2.4.2\n", "version = 3"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *text = NULL;
        struct error err = {0};
        struct run r;
        size_t len;

        open_run(&r, "overlay");
        host_memory_set_program(r.host, "containerd.exe", 0, rows[i][0]);
        if (join_once(&r, &err) < 0)
            fail_msg("join: %s", err.message);
        assert_int_equal(host_read(r.host, CONTAINERD_CONFIG_PATH, 65536, &text, &len, &err), 0);
        assert_non_null(strstr(text, rows[i][1]));
        close_run(&r);
    }
}

/* A phase alone fails where what it needs cannot be found, before it does anything. */
static void a_phase_has_what_it_needs(void **state) {
    static const char *const phases[] = {"artifacts",  "vswitch",    "files",
                                         "containerd", "kubelet",    "pod-network",
                                         "flanneld",   "kube-proxy", "verify"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(phases); i++) {
        struct error err = {0};
        struct join join;
        json_t *before, *after;
        struct run r;

        open_run(&r, "overlay");
        free(r.options.verify);
        r.options.verify = NULL;
        text_list_free(&r.options.discovery_token_ca_cert_hash);
        text_list_add(&r.options.discovery_token_ca_cert_hash,
                      "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef");
        before = state_of(&r);
        open_join(&r, &join);
        if (join_run_phase(&join, phases[i], &err) == 0)
            fail_msg("%s succeeds", phases[i]);
        join_close(&join);
        after = state_of(&r);
        assert_same(before, after, phases[i]);
        json_decref(before);
        json_decref(after);
        close_run(&r);
    }
}

static void each_program_has_its_files(void **state) {
    static const struct {
        const char *path, *part;
    } files[] = {
        {"C:\\etc\\kubernetes\\kubelet.conf", "user: default-auth"},
        {"C:\\var\\lib\\kubelet\\config.yaml", "kind: KubeletConfiguration"},
        {"C:\\var\\lib\\kubelet\\kubeadm-flags.env", "KUBELET_KUBEADM_ARGS"},
        {"C:\\k\\kube-proxy.conf", "kind: KubeProxyConfiguration"},
        {"C:\\k\\kube-proxy.kubeconfig", "user: kube-proxy"},
        {"C:\\etc\\cni\\net.d\\10-winjoin.conf", "win-overlay"},
        {"C:\\ProgramData\\winjoin\\network.json", "10.244.3.0/24"},
    };
    struct error err = {0};
    struct run r;

    (void)state;
    open_run(&r, "overlay");
    assert_int_equal(join_once(&r, &err), 0);
    for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
        _cleanup_(freep) char *text = NULL;
        size_t len;

        if (host_read(r.host, files[i].path, 65536, &text, &len, &err) < 0)
            fail_msg("%s", err.message);
        if (!strstr(text, files[i].part))
            fail_msg("%s: %s", files[i].path, text);
    }
    close_run(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overlay_joins_and_resets),
        cmocka_unit_test(bridges_join_and_reset),
        cmocka_unit_test(transparent_joins_and_resets),
        cmocka_unit_test(nat_joins_and_resets),
        cmocka_unit_test(nat_is_refused_until_acknowledged),
        cmocka_unit_test(a_program_that_runs_moves_itself_aside),
        cmocka_unit_test(a_service_without_a_mark_is_made_again),
        cmocka_unit_test(a_killed_diagnosis_leaves_no_firewall_rule),
        cmocka_unit_test(the_event_log_finds_its_texts),
        cmocka_unit_test(only_administrators_add_programs),
        cmocka_unit_test(a_file_gets_back_its_access),
        cmocka_unit_test(second_join_changes_nothing),
        cmocka_unit_test(a_joined_node_remembers_its_network),
        cmocka_unit_test(a_cluster_without_the_manifest_is_told),
        cmocka_unit_test(no_secret_is_written_but_the_key),
        cmocka_unit_test(containerd_gets_a_file_that_it_reads),
        cmocka_unit_test(a_phase_has_what_it_needs),
        cmocka_unit_test(each_program_has_its_files),
        cmocka_unit_test(what_was_told_is_expected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
