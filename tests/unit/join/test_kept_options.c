/* The options that a phase alone and an upgrade take from the node's join. */
#include "node/chosen.h"
#include "tests/scene/upgrade_scene.h"

#define PATCHES "D:\\patches"
#define NOTES_OPTIONS "{\"options\":"

/* As `winjoin join phase NAME`; the options are the command's. */
static int phase_once(struct run *r, const char *phase, const struct join_options *options,
                      struct error *err) {
    struct join join = {.host = r->host, .http = r->http, .asked = options, .phase_alone = true};
    int result = join_open(&join, err);

    if (result == 0)
        result = join_run_phase(&join, phase, err);
    join_close(&join);
    return result;
}

static void phase_good(struct run *r, const char *phase, const struct join_options *options) {
    struct error err = {0};

    if (phase_once(r, phase, options, &err) < 0)
        fail_msg("%s: %s", phase, err.message);
}

/* A node that was joined with many options. */
static void open_chosen_node(struct run *r, json_t **ret_before) {
    struct join_options *o = &r->options;
    struct error err = {0};

    open_node(r, ret_before);
    put(r, PATCHES "\\kubeletconfiguration+merge.yaml", "maxPods: 17\n");
    o->node_labels = xstrdup("pool=windows,disk=ssd");
    o->register_with_taints = xstrdup("os=windows:NoSchedule");
    text_list_add(&o->kubelet_extra_args, "v=4");
    text_list_add(&o->kubelet_service_args, "--log-flush-frequency=5s");
    text_list_add(&o->exclude_from_nat, "192.0.2.0/24");
    o->patches = xstrdup(PATCHES);
    o->ca_cert_path = xstrdup("D:\\ca.crt");
    o->cri_socket = xstrdup("npipe:////./pipe/other");
    o->sandbox_image = xstrdup("registry.corp.example/pause:3.10.1");
    text_set(&o->dsr, xstrdup("off"));
    host_memory_set_pipe(r->host, "\\\\.\\pipe\\other");
    if (join_once(r, &err) < 0)
        fail_msg("%s: %s", err.message, err.hints[0]);
    assert_int_equal(host_remove(r->host, PATCHES "\\kubeletconfiguration+merge.yaml", NULL), 0);
}

static bool file_has(struct run *r, const char *path, const char *text) {
    _cleanup_(freep) char *is = get(r, path);

    return is && strstr(is, text);
}

/* The host without the notes, which say what phase wrote a thing last. */
static json_t *node_of(const struct run *r) {
    json_t *state = state_of(r);

    assert_int_equal(json_object_del(json_object_get(state, "files"), WRITTEN_FILE), 0);
    return state;
}

/* Each phase alone, without a flag, leaves the node as the join made it. */
static void a_phase_alone_makes_the_same(void **state) {
    static const struct join_options none;
    json_t *before, *joined;
    struct run r;

    (void)state;
    open_chosen_node(&r, &before);
    assert_true(file_has(&r, KUBELET_CONFIG_FILE, "maxPods: 17"));
    assert_true(file_has(&r, KUBELET_FLAGS_FILE, "--node-labels=pool=windows,disk=ssd"));
    assert_true(file_has(&r, "C:\\etc\\cni\\net.d\\10-winjoin.conf", "192.0.2.0/24"));
    joined = node_of(&r);
    for (const struct join_phase *phase = join_phases; phase->id; phase++) {
        _cleanup_json_ json_t *after = NULL;

        if (text_equal(phase->id, "preflight") || text_equal(phase->id, "verify"))
            continue;
        phase_good(&r, phase->id, &none);
        after = node_of(&r);
        assert_same(joined, after, phase->id);
    }
    json_decref(joined);
    close_node(&r, before);
}

/* What a command gives wins, and the next one finds it; an empty text ends what the join had. */
static void what_is_given_wins(void **state) {
    static const struct join_options none;
    struct join_options labels = {.node_labels = (char *)"pool=other"},
                        empty = {.node_labels = (char *)"", .register_with_taints = (char *)""};
    const struct join_options *const rows[] = {&labels, &none, &empty, &none};
    json_t *before;
    struct run r;

    (void)state;
    open_chosen_node(&r, &before);
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        phase_good(&r, "files", rows[i]);
        assert_int_equal(file_has(&r, KUBELET_FLAGS_FILE, "--node-labels=pool=other"), i < 2);
        assert_int_equal(file_has(&r, KUBELET_FLAGS_FILE, "--node-labels"), i < 2);
        assert_int_equal(file_has(&r, KUBELET_FLAGS_FILE, "--register-with-taints"), i < 2);
        assert_true(file_has(&r, KUBELET_CONFIG_FILE, "maxPods: 17"));
    }
    /* A folder that is given takes the place of all patches. */
    assert_int_equal(host_make_folder(r.host, "D:\\others", HOST_PUBLIC, NULL), 0);
    phase_good(&r, "files", &(struct join_options){.patches = (char *)"D:\\others"});
    assert_false(file_has(&r, KUBELET_CONFIG_FILE, "maxPods"));
    phase_good(&r, "files", &none);
    assert_false(file_has(&r, KUBELET_CONFIG_FILE, "maxPods"));
    close_node(&r, before);
}

static void upgrade_open_good(struct run *r, const struct join_options *options, struct join *join,
                              struct upgrade *upgrade) {
    struct error err = {0};

    *upgrade = (struct upgrade){0};
    *join = (struct join){.host = r->host, .http = r->http, .asked = options};
    if (upgrade_open(join, upgrade, &err) < 0)
        fail_msg("%s: %s", err.message, err.hints[0]);
}

/* An upgrade keeps what the join was given and what it chose itself, also where the cluster's Node
 * has none of it. */
static void an_upgrade_takes_what_the_join_had(void **state) {
    static const struct join_options none;
    struct join_options given = {.node_ip = (char *)"10.0.0.99", .dsr = (char *)"auto"};
    const struct join_options *o;
    struct upgrade upgrade;
    struct join join;
    json_t *before;
    struct run r;

    (void)state;
    open_node(&r, &before);
    upgrade_open_good(&r, &none, &join, &upgrade);
    o = &join.found.options;
    assert_int_equal(o->pod_cidrs.count, 1);
    assert_string_equal(o->pod_cidrs.items[0], "10.244.3.0/24");
    assert_string_equal(o->node_ip, "10.0.0.21");
    assert_string_equal(o->dsr, "on");
    assert_null(o->kube_proxy);
    upgrade_close(&join);
    text_list_add(&given.pod_cidrs, "10.9.0.0/24");
    upgrade_open_good(&r, &given, &join, &upgrade);
    assert_string_equal(o->node_ip, "10.0.0.99");
    assert_string_equal(o->dsr, "auto");
    assert_int_equal(o->pod_cidrs.count, 1);
    upgrade_close(&join);
    text_list_free(&given.pod_cidrs);
    close_node(&r, before);

    open_chosen_node(&r, &before);
    text_set(&r.options.kube_proxy, xstrdup("none"));
    r.options.patches = (freep(&r.options.patches), NULL);
    assert_int_equal(join_once(&r, &(struct error){0}), 0);
    upgrade_open_good(&r, &none, &join, &upgrade);
    assert_string_equal(o->ca_cert_path, "D:\\ca.crt");
    assert_string_equal(o->cri_socket, "npipe:////./pipe/other");
    assert_string_equal(o->kube_proxy, "none");
    assert_string_equal(o->dsr, "off");
    assert_string_equal(o->node_labels, "pool=windows,disk=ssd");
    assert_int_equal(join.found.patches.count, 0); /* the last join had none */
    upgrade_close(&join);
    close_node(&r, before);
}

/* The patches of the join are those of the upgrade; its arguments of the kubelet come once. */
static void an_upgrade_writes_what_the_join_had(void **state) {
    _cleanup_(freep) char *settings = NULL;
    struct error err = {0};
    json_t *before;
    struct run r;

    (void)state;
    open_chosen_node(&r, &before);
    if (upgrade_once(&r, false, false, NULL, &err) < 0)
        fail_msg("%s: %s", err.message, err.hints[0]);
    assert_true(file_has(&r, KUBELET_CONFIG_FILE, "maxPods: 17"));
    assert_true(file_has(&r, CONTAINERD_CONFIG_PATH, "registry.corp.example/pause:3.10.1"));
    settings = get(&r, service_kubelet.settings_file);
    assert_non_null(strstr(settings, "--log-flush-frequency=5s"));
    assert_null(strstr(strstr(settings, "--log-flush-frequency=5s") + 1, "--log-flush-frequency"));
    assert_non_null(strstr(settings, "--v=4"));
    assert_null(strstr(strstr(settings, "--v=4") + 1, "--v=4"));
    close_node(&r, before);
}

/* Defaults would take the place of what the join was given. */
static void what_cannot_be_read_is_an_error(void **state) {
    static const struct {
        const char *path, *text, *says, *file;
    } rows[] = {
        {CHOSEN_FILE, "{", "read what the join of this node chose: ", "network.json"},
        {CHOSEN_FILE, "[]", "read what the join of this node chose: ", "network.json"},
        {CHOSEN_FILE, "{\"podCIDR\":\"10.244.3.0/24\"}",
         "read what the join of this node chose: ", "network.json"},
        {WRITTEN_FILE, "{", "read the options of the join: ", "written.json"},
        {WRITTEN_FILE, NOTES_OPTIONS "[]}", "read the options of the join: ", "written.json"},
        {WRITTEN_FILE, NOTES_OPTIONS "{\"node_ip\":\"there\"}}", "--node-ip \"there\"",
         "--node-ip"},
        {WRITTEN_FILE, NOTES_OPTIONS "{\"patches\":[{}]}}", "the patches of the join",
         "not a patch file"},
        {WRITTEN_FILE,
         NOTES_OPTIONS "{\"patches\":[{\"path\":\"D:\\\\kubeletconfiguration.yaml\",\"text\":\"{\"}"
                       "]}}",
         "D:\\kubeletconfiguration.yaml", "line"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const struct join_options none = {0};
        struct upgrade upgrade = {0};
        struct error err = {0};
        struct join join;
        json_t *before;
        struct run r;

        open_node(&r, &before);
        put(&r, rows[i].path, rows[i].text);
        join = (struct join){.host = r.host, .http = r.http, .asked = &none};
        assert_int_equal(upgrade_open(&join, &upgrade, &err), -1);
        upgrade_close(&join);
        if (!text_starts_with(err.message, rows[i].says) || !strstr(err.message, rows[i].file))
            fail_msg("%zu: %s", i, err.message);
        if (i < 5)
            assert_hint(&err, "winjoin join");
        close_node(&r, before);
    }
}

/* Joins the node with the line that kubeadm prints, and with what `give` adds. Returns the warning
 * about options, or "". */
static char *join_again(struct run *r, void give(struct join_options *options), bool keeps) {
    struct join join = {.host = r->host, .http = r->http, .asked = &r->options};
    struct error err = {0};
    char *warning = NULL;

    set_options(r, NULL);
    if (give)
        give(&r->options);
    if (join_open(&join, &err) < 0 || join_run(&join, &err) < 0)
        fail_msg("%s: %s", err.message, err.hints[0]);
    assert_int_equal(join.keeps_options, keeps);
    for (size_t i = 0; i < join.progress.warnings.count; i++)
        if (strstr(join.progress.warnings.items[i], "this command"))
            text_set(&warning, xstrdup(join.progress.warnings.items[i]));
    join_close(&join);
    return warning ? warning : xstrdup("");
}

static void give_name(struct join_options *options) {
    options->node_name = xstrdup("win-7k2");
}

static void give_labels(struct join_options *options) {
    options->node_labels = xstrdup("pool=other");
}

static void give_wrong_argument(struct join_options *options) {
    text_list_add(&options->kubelet_extra_args, "v=9");
}

/* The line of `kubeadm token create` on a joined node writes what the last join did. */
static void a_bare_join_keeps_all(void **state) {
    static void (*const gives[])(struct join_options *) = {NULL, give_name, NULL};
    json_t *before, *joined;
    struct run r;

    (void)state;
    open_chosen_node(&r, &before);
    joined = node_of(&r);
    for (size_t i = 0; i < ARRAY_SIZE(gives); i++) {
        _cleanup_(freep) char *warning = join_again(&r, gives[i], true);
        _cleanup_json_ json_t *after = node_of(&r);

        assert_string_equal(warning, "");
        assert_same(joined, after, "joined again");
    }
    json_decref(joined);
    close_node(&r, before);
}

/* A join that gives an option gives them all, and says what the node loses. */
static void a_join_with_options_leaves_out_others(void **state) {
    json_t *before;
    struct run r;

    (void)state;
    open_chosen_node(&r, &before);
    for (size_t i = 0; i < 3; i++) {
        _cleanup_(freep) char *warning = join_again(&r, i < 2 ? give_labels : NULL, i == 2);

        assert_string_equal(warning,
                            i ? ""
                              : "this command does not give what the last join of this node gave: "
                                "--register-with-taints, --cri-socket, --dsr, --sandbox-image, "
                                "caCertPath, network.excludeFromNAT, "
                                "services.kubelet.extraArgs, kubeletExtraArgs, --patches; the node "
                                "loses it");
        assert_true(file_has(&r, KUBELET_FLAGS_FILE, "--node-labels=pool=other"));
        assert_false(file_has(&r, KUBELET_FLAGS_FILE, "--register-with-taints"));
        assert_false(file_has(&r, KUBELET_CONFIG_FILE, "maxPods"));
    }
    close_node(&r, before);
}

/* A wrong option of a join that failed does not stay; neither does a phase alone complete it. */
static void a_failed_join_keeps_nothing(void **state) {
    static const struct join_options none;
    struct error err = {0};
    json_t *before;
    struct run r;

    (void)state;
    open_chosen_node(&r, &before);
    set_options(&r, NULL);
    give_wrong_argument(&r.options);
    r.scene.no_prefix = true;
    assert_int_equal(join_once(&r, &err), -1);
    r.scene.no_prefix = false;
    phase_good(&r, "files", &none);
    assert_true(file_has(&r, KUBELET_FLAGS_FILE, "--v=9"));
    free(join_again(&r, NULL, true));
    assert_true(file_has(&r, KUBELET_FLAGS_FILE, "--node-labels=pool=windows,disk=ssd"));
    assert_false(file_has(&r, KUBELET_FLAGS_FILE, "--v=9"));
    assert_true(file_has(&r, KUBELET_CONFIG_FILE, "maxPods: 17"));
    /* On a node whose join was completed, a phase alone counts. */
    phase_good(&r, "files", &(struct join_options){.node_labels = (char *)"pool=other"});
    free(join_again(&r, NULL, true));
    assert_true(file_has(&r, KUBELET_FLAGS_FILE, "--node-labels=pool=other"));
    close_node(&r, before);

    open_run(&r, "overlay");
    give_wrong_argument(&r.options);
    r.scene.no_prefix = true;
    assert_int_equal(join_once(&r, &err), -1);
    r.scene.no_prefix = false;
    free(join_again(&r, NULL, false));
    assert_false(file_has(&r, KUBELET_FLAGS_FILE, "--v=9"));
    close_run(&r);
}

/* A node of which only the flows fail was joined. */
static void a_join_whose_flows_fail_counts(void **state) {
    struct error err = {0};
    json_t *before;
    struct run r;

    (void)state;
    open_chosen_node(&r, &before);
    set_options(&r, NULL);
    give_labels(&r.options);
    text_set(&r.options.verify, xstrdup("node"));
    assert_int_equal(join_once(&r, &err), -1);
    assert_int_equal(err.kind, ERROR_FLOWS);
    free(join_again(&r, NULL, true));
    assert_true(file_has(&r, KUBELET_FLAGS_FILE, "--node-labels=pool=other"));
    close_node(&r, before);
}

/* A whole join writes a damaged file again, and says that it did not read it. */
static void a_join_replaces_damaged_notes(void **state) {
    _cleanup_(freep) char *warning = NULL;
    json_t *before;
    struct run r;

    (void)state;
    open_chosen_node(&r, &before);
    put(&r, WRITTEN_FILE, NOTES_OPTIONS "[]}");
    warning = join_again(&r, give_labels, false);
    assert_non_null(strstr(warning, "only the options of this command are used"));
    free(join_again(&r, NULL, true));
    assert_true(file_has(&r, KUBELET_FLAGS_FILE, "--node-labels=pool=other"));
    close_node(&r, before);
}

/* A machine that has not joined has nothing to give. */
static void a_bare_machine_gives_nothing(void **state) {
    static const struct join_options none;
    struct upgrade upgrade = {0};
    struct error err = {0};
    struct join join;
    struct run r;

    (void)state;
    open_run(&r, "overlay");
    join = (struct join){.host = r.host, .http = r.http, .asked = &none, .phase_alone = true};
    assert_int_equal(join_open(&join, &err), 0);
    assert_null(join.found.options.node_labels);
    assert_null(join.found.options.node_ip);
    join_close(&join);
    join = (struct join){.host = r.host, .http = r.http, .asked = &none};
    assert_int_equal(upgrade_open(&join, &upgrade, &err), -1);
    assert_non_null(strstr(err.message, "has not joined"));
    upgrade_close(&join);
    close_run(&r);
}

/* `winjoin diag` runs a phase with options of its own: they are not the node's. */
static void a_diagnosis_keeps_nothing(void **state) {
    const struct join_options options = {.verify = (char *)"none", .node_labels = (char *)"a=b"};
    _cleanup_(freep) char *joined = NULL;
    struct error err = {0};
    struct join join;
    json_t *before;
    struct run r;

    (void)state;
    open_chosen_node(&r, &before);
    joined = get(&r, WRITTEN_FILE);
    join = (struct join){.host = r.host, .http = r.http, .asked = &options};
    if (join_open(&join, &err) < 0 || join_run_phase(&join, "verify", &err) < 0)
        fail_msg("%s", err.message);
    join_close(&join);
    assert_text(&r, WRITTEN_FILE, joined);
    close_node(&r, before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_phase_alone_makes_the_same),
        cmocka_unit_test(what_is_given_wins),
        cmocka_unit_test(an_upgrade_takes_what_the_join_had),
        cmocka_unit_test(an_upgrade_writes_what_the_join_had),
        cmocka_unit_test(what_cannot_be_read_is_an_error),
        cmocka_unit_test(a_bare_join_keeps_all),
        cmocka_unit_test(a_join_with_options_leaves_out_others),
        cmocka_unit_test(a_failed_join_keeps_nothing),
        cmocka_unit_test(a_join_whose_flows_fail_counts),
        cmocka_unit_test(a_join_replaces_damaged_notes),
        cmocka_unit_test(a_bare_machine_gives_nothing),
        cmocka_unit_test(a_diagnosis_keeps_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
