/* An upgrade on a host in memory: what it replaces and what it leaves. */
#include "tests/scene/upgrade_scene.h"

/* ---- what it does ---- */

/* What winjoin gives a kubelet by itself is not taken for the administrator's, and given again. */
static void assert_each_argument_once(struct run *r, const char *service) {
    struct service_host_settings settings = {0};
    struct error err = {0};

    assert_int_equal(service_host_settings_load(r->host, service, &settings, &err), 0);
    assert_true(settings.command.count > 3);
    for (size_t i = 0; i < settings.command.count; i++)
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(settings.command.items[i], settings.command.items[k]);
    service_host_settings_free(&settings);
}

static void programs_are_replaced(void **state) {
    struct error err = {0};
    struct ran ran = {0};
    _cleanup_(freep) char *warnings = NULL;
    const char *detail;
    json_t *before;
    struct run r;

    (void)state;
    open_node(&r, &before);
    if (upgrade_once(&r, false, false, &ran, &err) < 0)
        fail_msg("%s", err.message);
    assert_new(&r);
    assert_string_equal(json_text_at(ran.document, "kind"), "UpgradeResult");
    assert_true(json_bool_at(ran.document, "changed", false));
    assert_int_equal(json_array_size(json_object_get(ran.document, "programs")), 4);
    assert_string_equal(json_text_at(ran.document, "programs.0.from"), "v1.36.2");
    assert_string_equal(json_text_at(ran.document, "programs.0.to"), "v1.37.1");
    assert_string_equal(json_text_at(ran.document, "services.0"), "kubelet");
    assert_string_equal(json_text_at(ran.document, "services.1"), "kube-proxy");
    assert_int_equal(json_array_size(json_object_get(ran.document, "services")), 2);
    assert_string_equal(json_text_at(row_of(ran.document, "kubelet"), "detail"), "kubelet v1.37.1");
    warnings = json_write(json_object_get(ran.document, "warnings"));
    assert_non_null(strstr(warnings, "kubectl drain win-7k2"));
    assert_null(strstr(warnings, "becomes older"));
    detail = json_text_at(row_of(ran.document, "compare"), "detail");
    assert_non_null(strstr(detail, "kubelet v1.36.2 -> v1.37.1"));
    assert_non_null(strstr(detail, "; restarts kubelet, kube-proxy"));
    assert_each_argument_once(&r, "kubelet");
    ran_free(&ran);
    reset_gives_back(&r, before, "after an upgrade");
    close_node(&r, before);
}

static void what_is_up_to_date_stays(void **state) {
    struct error err = {0};
    struct ran ran = {0};
    json_t *before, *once, *again;
    struct run r;
    unsigned changes;

    (void)state;
    open_node(&r, &before);
    assert_int_equal(upgrade_once(&r, false, false, NULL, &err), 0);
    once = state_of(&r);
    changes = host_changes(r.host);
    assert_int_equal(upgrade_once(&r, false, false, &ran, &err), 0);
    assert_int_equal(host_changes(r.host), changes);
    assert_false(json_bool_at(ran.document, "changed", true));
    assert_non_null(strstr(ran.text, "nothing to do"));
    assert_string_equal(json_text_at(row_of(ran.document, "kubelet"), "outcome"), "not-run");
    again = state_of(&r);
    assert_same(once, again, "a second upgrade");
    json_decref(once);
    json_decref(again);
    ran_free(&ran);
    close_node(&r, before);
}

static void a_dry_run_changes_nothing(void **state) {
    struct error err = {0};
    struct ran ran = {0};
    json_t *before, *joined, *after;
    struct run r;

    (void)state;
    open_node(&r, &before);
    joined = state_of(&r);
    if (upgrade_once(&r, true, false, &ran, &err) < 0)
        fail_msg("%s", err.message);
    after = state_of(&r);
    assert_same(joined, after, "a dry run");
    assert_string_equal(json_text_at(ran.document, "kind"), "UpgradePlan");
    assert_true(json_bool_at(ran.document, "changed", false));
    assert_non_null(strstr(ran.text, "C:\\k\\kubelet.exe"));
    assert_non_null(strstr(ran.text, "v1.36.2 -> v1.37.1"));
    assert_non_null(strstr(ran.text, "started again: kubelet, kube-proxy"));
    json_decref(joined);
    json_decref(after);
    ran_free(&ran);
    close_node(&r, before);
}

/* The image alone is no reason to start a service again, and is imported once. */
static void a_newer_image_is_imported(void **state) {
    struct error err = {0};
    struct ran ran = {0};
    json_t *before;
    struct run r;

    (void)state;
    open_node(&r, &before);
    assert_int_equal(upgrade_once(&r, false, false, NULL, &err), 0);
    freep(&imported);
    put(&r, IMAGE, "an older image");
    assert_int_equal(upgrade_once(&r, false, false, &ran, &err), 0);
    assert_int_equal(json_array_size(json_object_get(ran.document, "programs")), 1);
    assert_int_equal(json_array_size(json_object_get(ran.document, "services")), 0);
    assert_string_equal(json_text_at(row_of(ran.document, "containerd"), "detail"),
                        "unchanged, sandbox image imported");
    assert_new(&r);
    freep(&imported);
    assert_int_equal(upgrade_once(&r, false, false, NULL, &err), 0);
    assert_null(imported);
    ran_free(&ran);
    close_node(&r, before);
}

static const char config_toml[] = "C:\\Program Files\\containerd\\config.toml";

/* containerd's file names the image of the version with which the node was joined. */
static void name_older_image(struct run *r) {
    _cleanup_(freep) char *text = get(r, config_toml);
    char *at = strstr(text, "pause:3.10.2");

    assert_non_null(at);
    at[strlen("pause:3.10.")] = '1';
    put(r, config_toml, text);
}

static bool warns(const struct ran *ran, const char *words) {
    _cleanup_(freep) char *warnings = json_write(json_object_get(ran->document, "warnings"));

    return strstr(warnings, words) != NULL;
}

static void an_older_sandbox_image_is_told(void **state) {
    struct error err = {0};
    struct ran ran = {0};
    json_t *before, *list = json_array();
    struct run r;

    (void)state;
    open_node(&r, &before);
    add_artifact(&r, list, "containerd", "v2.4.3", "MZ newer containerd");
    put_lock(&r, json_incref(list));
    assert_int_equal(upgrade_once(&r, true, false, &ran, &err), 0);
    assert_false(warns(&ran, "sandbox image")); /* it stays the same */
    ran_free(&ran);
    put_bundle(&r, "v1.37.1");
    name_older_image(&r);
    assert_int_equal(upgrade_once(&r, true, false, &ran, &err), 0);
    assert_true(warns(&ran, "config.toml' stays: pause 3.10.1: use 3.10.2 or newer with "
                            "Kubernetes 1.36 or newer"));
    ran_free(&ran);
    put_lock(&r, list);
    assert_int_equal(upgrade_once(&r, true, false, &ran, &err), 0);
    assert_true(warns(&ran, "the sandbox image becomes registry.k8s.io/pause:3.10.2, which "));
    ran_free(&ran);
    put(&r, IMAGE, "a newer image");
    assert_int_equal(upgrade_once(&r, true, false, &ran, &err), 0);
    assert_false(warns(&ran, "sandbox image"));
    ran_free(&ran);
    close_node(&r, before);
}

/* What --sandbox-image chose at the join is not said again, and stays where the file is made
 * again; what winjoin chose becomes that of the new version. */
static void a_chosen_image_stays(void **state) {
    static const char *const rows[][2] = {
        {"own.example/pause:3.10.1", "own.example/pause:3.10.1"},
        {"registry.k8s.io/pause:3.10.1", "registry.k8s.io/pause:3.10.2"}};
    struct error err = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *text = NULL;
        json_t *before, *list = json_array();
        struct run r;

        open_node(&r, &before);
        r.options.sandbox_image = xstrdup(rows[i][0]);
        assert_int_equal(join_once(&r, &err), 0);
        freep(&r.options.sandbox_image);
        add_artifact(&r, list, "containerd", "v2.4.3", "MZ newer containerd");
        put_lock(&r, list);
        assert_int_equal(upgrade_once(&r, false, false, NULL, &err), 0);
        text = get(&r, config_toml);
        assert_non_null(strstr(text, rows[i][1]));
        close_node(&r, before);
    }
}

/* What the administrator gave the kubelet at the join is not said again, and stays. */
static void own_arguments_stay(void **state) {
    struct error err = {0};
    _cleanup_(freep) char *file = NULL;
    json_t *before;
    struct run r;

    (void)state;
    open_node(&r, &before);
    text_list_add(&r.options.kubelet_extra_args, "max-pods=44");
    r.options.node_labels = xstrdup("rack=7");
    assert_int_equal(join_once(&r, &err), 0);
    if (upgrade_once(&r, false, false, NULL, &err) < 0)
        fail_msg("%s", err.message);
    file = get(&r, "C:\\ProgramData\\winjoin\\services\\kubelet.json");
    assert_non_null(strstr(file, "--max-pods=44"));
    assert_non_null(strstr(file, "--node-labels=rack=7"));
    assert_null(strstr(strstr(file, "--max-pods=44") + 1, "--max-pods"));
    close_node(&r, before);
}

/* What winjoin gave to an older kubelet alone is not the administrator's. */
static void what_an_older_kubelet_needed_goes(void **state) {
    static const char path[] = "C:\\ProgramData\\winjoin\\services\\kubelet.json";
    struct error err = {0};
    _cleanup_(freep) char *joined = NULL, *older = NULL, *file = NULL;
    const char *at;
    json_t *before;
    struct run r;

    (void)state;
    open_node(&r, &before);
    joined = get(&r, path);
    at = strstr(joined, "\"--v=2\"");
    assert_non_null(at);
    older = xasprintf("%.*s\"--container-runtime-endpoint=npipe:////./pipe/"
                      "containerd-containerd\", %s",
                      (int)(at - joined), joined, at);
    put(&r, path, older);
    put(&r, "C:\\k\\kubelet.exe", "MZ v1.26.2");
    if (upgrade_once(&r, false, false, NULL, &err) < 0)
        fail_msg("%s", err.message);
    file = get(&r, path);
    assert_null(strstr(file, "--container-runtime-endpoint"));
    close_node(&r, before);
}

/* Each of them, though its program is up to date. */
static void other_settings_are_shown_and_written(void **state) {
    static const char path[] = "C:\\var\\lib\\kubelet\\config.yaml";
    static const char *const others[] = {"C:\\var\\lib\\kubelet\\instance-config.yaml",
                                         "C:\\k\\kube-proxy.conf"};
    struct error err = {0};
    struct ran ran = {0};
    _cleanup_(freep) char *wanted = NULL, *other = NULL;
    json_t *before;
    struct run r;

    (void)state;
    open_node(&r, &before);
    assert_int_equal(upgrade_once(&r, false, false, NULL, &err), 0);
    wanted = get(&r, path);
    other = xasprintf("%smaxPods: 7\n", wanted);
    put(&r, path, other);
    assert_int_equal(upgrade_once(&r, true, false, &ran, &err), 0);
    assert_string_equal(json_text_at(ran.document, "files.0.path"), path);
    assert_string_equal(json_text_at(ran.document, "files.0.differences.0"),
                        "maxPods: 7 -> absent");
    assert_non_null(strstr(ran.text, "maxPods: 7 -> absent"));
    assert_int_equal(upgrade_once(&r, false, false, NULL, &err), 0);
    assert_text(&r, path, wanted);
    for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
        _cleanup_(freep) char *its = get(&r, others[i]);
        _cleanup_(freep) char *more = xasprintf("%sodd: 1\n", its);

        put(&r, others[i], more);
        assert_int_equal(upgrade_once(&r, false, false, NULL, &err), 0);
        assert_text(&r, others[i], its);
    }
    ran_free(&ran);
    close_node(&r, before);
}

/* A program of its own that cannot be read is no program that is the same. */
static void a_winjoin_that_cannot_be_read_is_an_error(void **state) {
    struct error err = {0};
    json_t *before;
    struct run r;

    (void)state;
    open_node(&r, &before);
    host_memory_set_program_path(r.host, "D:\\gone.exe");
    assert_int_equal(upgrade_once(&r, false, false, NULL, &err), -1);
    assert_non_null(strstr(err.message, "D:\\gone.exe"));
    assert_old(&r);
    close_node(&r, before);
}

/* Another winjoin.exe becomes the host of the services: all of them are started again. */
static void winjoin_itself_is_replaced(void **state) {
    struct error err = {0};
    struct ran ran = {0};
    json_t *before;
    struct run r;

    (void)state;
    open_node(&r, &before);
    put(&r, "D:\\winjoin.exe", "MZ newer winjoin");
    host_memory_set_program_path(r.host, "D:\\winjoin.exe");
    host_memory_hold(r.host, "C:\\k\\winjoin.exe"); /* a service host that has not ended yet */
    if (upgrade_once(&r, false, false, &ran, &err) < 0)
        fail_msg("%s", err.message);
    assert_text(&r, "C:\\k\\winjoin.exe", "MZ newer winjoin");
    assert_text(&r, "C:\\k\\winjoin.exe.old", "MZ");
    host_memory_hold(r.host, NULL);
    assert_string_equal(json_text_at(ran.document, "services.0"), "winjoin-network");
    assert_int_equal(json_array_size(json_object_get(ran.document, "services")), 4);
    assert_new(&r);
    assert_true(scene_runs(&r.scene, "winjoin-network"));
    ran_free(&ran);
    host_remove(r.host, "D:\\winjoin.exe", NULL);
    reset_gives_back(&r, before, "after winjoin was replaced");
    close_node(&r, before);
}

static void what_cannot_be_is_refused(void **state) {
    struct error err = {0};
    json_t *before, *joined, *after;
    struct run r;

    (void)state;
    open_run(&r, "overlay");
    assert_int_equal(upgrade_once(&r, false, false, NULL, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    close_run(&r);
    open_node(&r, &before);
    put_bundle(&r, "v1.38.0");
    joined = state_of(&r);
    error_clear(&err);
    assert_int_equal(upgrade_once(&r, false, false, NULL, &err), -1);
    assert_int_equal(err.kind, ERROR_PREFLIGHT);
    assert_non_null(strstr(err.message, "higher than the control plane"));
    assert_hint(&err, "nothing on this machine was changed");
    after = state_of(&r);
    assert_same(joined, after, "a refused upgrade");
    json_decref(joined);
    json_decref(after);
    close_node(&r, before);
}

/* ---- what becomes of it ---- */

/* What the join's journal learns of the programs that were here before it stays. */
static void forget_backups(json_t *state) {
    json_t *files = json_object_get(state, "files"), *file;
    const char *path;
    void *next;

    json_object_foreach_safe(files, next, path, file) {
        if (strstr(path, "winjoin\\journal\\") || strstr(path, "winjoin\\backup"))
            json_object_del(files, path);
    }
}

static void a_kubelet_that_does_not_come_up_is_taken_back(void **state) {
    struct error err = {0};
    struct ran ran = {0};
    json_t *before, *joined, *after;
    struct run r;

    (void)state;
    open_node(&r, &before);
    joined = state_of(&r);
    host_memory_end_service_starts(r.host, "kubelet", 4);
    assert_int_equal(upgrade_once(&r, false, false, &ran, &err), -1);
    assert_non_null(strstr(err.message, "kubelet"));
    assert_hint(&err, "back in the state before");
    assert_true(json_bool_at(ran.document, "wentBack", false));
    assert_false(json_bool_at(ran.document, "changed", true));
    assert_old(&r);
    after = state_of(&r);
    forget_backups(joined);
    forget_backups(after);
    assert_same(joined, after, "an upgrade that went back");
    json_decref(joined);
    json_decref(after);
    ran_free(&ran);
    error_clear(&err);
    assert_int_equal(upgrade_once(&r, false, false, NULL, &err), 0);
    assert_new(&r);
    reset_gives_back(&r, before, "after one that went back");
    close_node(&r, before);
}

static void a_killed_one_is_continued(void **state) {
    struct error err = {0};
    struct ran ran = {0};
    json_t *before;
    struct run r;

    (void)state;
    open_node(&r, &before);
    for (size_t n = 1;
         host_file_type(r.host, UPGRADE_FOLDER "\\journal\\journal.jsonl") != HOST_FILE; n++) {
        host_memory_die(r.host, n);
        assert_int_equal(upgrade_once(&r, false, false, NULL, &err), -1);
        host_memory_fail(r.host, 0);
        error_clear(&err);
    }
    assert_int_equal(upgrade_once(&r, true, false, &ran, &err), 0);
    assert_true(text_starts_with(ran.text, "an earlier upgrade did not end: this one continues"));
    assert_true(json_bool_at(ran.document, "resumed", false));
    ran_free(&ran);
    assert_int_equal(upgrade_once(&r, false, false, NULL, &err), 0);
    assert_new(&r);
    close_node(&r, before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_are_replaced),
        cmocka_unit_test(what_is_up_to_date_stays),
        cmocka_unit_test(a_dry_run_changes_nothing),
        cmocka_unit_test(a_newer_image_is_imported),
        cmocka_unit_test(an_older_sandbox_image_is_told),
        cmocka_unit_test(a_chosen_image_stays),
        cmocka_unit_test(own_arguments_stay),
        cmocka_unit_test(what_an_older_kubelet_needed_goes),
        cmocka_unit_test(other_settings_are_shown_and_written),
        cmocka_unit_test(a_winjoin_that_cannot_be_read_is_an_error),
        cmocka_unit_test(winjoin_itself_is_replaced),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(a_kubelet_that_does_not_come_up_is_taken_back),
        cmocka_unit_test(a_killed_one_is_continued),
        cmocka_unit_test(what_was_told_is_expected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
