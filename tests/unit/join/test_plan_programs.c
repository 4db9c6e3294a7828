/* The dry run and the programs: whose versions it plans with, and what it refuses as the join
 * would.
 */
#include "tests/scene/join_scene.h"

#include "join/wanted/wanted.h"
#include "join/plan/plan.h"
#include "join/programs/programs.h"
#include "services/artifacts/artifacts.h"

static struct run r;

static void open_plan(void) {
    open_run(&r, "overlay");
    r.options.dry_run = true;
}

static json_t *plan_of(void) {
    struct join join = {.host = r.host, .http = r.http, .asked = &r.options};
    struct error err = {0};
    json_t *plan = NULL;

    if (join_open(&join, &err) < 0 || join_run_phases(&join, true, &err) < 0 ||
        join_plan_make(&join, &plan, &err) < 0)
        fail_msg("%s", err.message);
    join_close(&join);
    return plan;
}

static void put_bundle(const char *kube_proxy) {
    static const char format[] =
        "{\"apiVersion\":\"winjoin.io/v1alpha1\",\"kind\":\"BundleLock\",\"artifacts\":[{\"name\":"
        "\"kube-proxy\",\"version\":\"%s\",\"sha256\":"
        "\"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\",\"size\":3,\"path\":"
        "\"kube-proxy.exe\"}]}";
    _cleanup_(freep) char *lock = xasprintf(format, kube_proxy);

    assert_int_equal(
        host_write(r.host, "D:\\b\\winjoin.lock", lock, strlen(lock), HOST_PUBLIC, NULL), 0);
    assert_int_equal(host_write(r.host, "D:\\b\\kube-proxy.exe", "abc", 3, HOST_PUBLIC, NULL), 0);
    freep(&r.options.bundle);
    r.options.bundle = xstrdup("D:\\b");
}

/* Feature gates are those of the kube-proxy that will run, not of the cluster's version. */
static void kube_proxys_gates_are_its_own(void **state) {
    (void)state;
    open_plan();
    text_list_add(&r.options.ignore_preflight_errors, "KubeletVersion");
    for (int old = 0; old < 2; old++) {
        json_t *plan, *file;
        size_t i, found = 0;

        put_bundle(old ? "v1.33.0" : "v1.37.1");
        plan = plan_of();
        json_array_foreach(json_object_get(plan, "files"), i, file) {
            const char *content = json_text_at(file, "content");

            if (strstr(content, "kind: KubeProxyConfiguration") ||
                strstr(content, "\"KubeProxyConfiguration\"")) {
                found++;
                assert_int_equal(strstr(content, "WinDSR") != NULL, old);
            }
        }
        assert_int_equal(found, 1);
        json_decref(plan);
    }
    close_run(&r);
}

static int plan_fails(struct error *err) {
    struct join join = {.host = r.host, .http = r.http, .asked = &r.options};
    json_t *plan = NULL;
    int result = join_open(&join, err);

    if (result == 0)
        result = join_run_phases(&join, true, err);
    if (result == 0)
        result = join_plan_make(&join, &plan, err);
    join_close(&join);
    json_decref(plan);
    return result;
}

/* No plan is made of what the join would refuse. */
static void what_the_join_would_refuse(void **state) {
    struct error err = {0};

    (void)state;
    open_plan();
    assert_int_equal(host_remove(r.host, "C:\\k\\kube-proxy.exe", NULL), 0);
    r.options.source_base = xstrdup("none");
    assert_int_equal(plan_fails(&err), -1);
    assert_int_equal(error_exit_code(err.kind), 3);
    assert_non_null(strstr(err.message, "missing: kube-proxy"));
    text_list_add(&r.options.skip_phases, "artifacts");
    assert_int_equal(plan_fails(&err), 0);
    assert_int_equal(host_remove(r.host, "C:\\k\\kubelet.exe", NULL), 0);
    r.options.kubernetes_version = xstrdup("v1.99.0");
    assert_int_equal(plan_fails(&err), -1);
    assert_int_equal(error_exit_code(err.kind), 2);
    assert_non_null(strstr(err.message, "v1.99.0"));
    text_list_free(&r.options.skip_phases);
    freep(&r.options.kubernetes_version);
    assert_int_equal(host_write(r.host, "C:\\k\\kube-proxy.exe", "MZ", 2, HOST_PUBLIC, NULL), 0);
    assert_int_equal(host_write(r.host, "C:\\k\\kubelet.exe", "MZ", 2, HOST_PUBLIC, NULL), 0);
    text_list_add(&r.options.kubelet_extra_args, "token=x");
    assert_int_equal(plan_fails(&err), -1);
    assert_non_null(strstr(err.message, "a secret must not be on a command line"));
    text_list_free(&r.options.kubelet_extra_args);
    put_bundle("v1.37.1");
    assert_int_equal(host_write(r.host, "D:\\b\\kube-proxy.exe", "abd", 3, HOST_PUBLIC, NULL), 0);
    assert_int_equal(host_write(r.host, "C:\\k\\kubelet.exe", "MZ", 2, HOST_PUBLIC, NULL), 0);
    assert_int_equal(plan_fails(&err), -1);
    assert_int_equal(err.kind, ERROR_UNTRUSTED);
    close_run(&r);
}

/* The kubelet that will run is asked before anything is touched: it must be the lock's. */
static void a_kubelet_that_is_not_the_locks(void **state) {
    static const char lock[] =
        "{\"apiVersion\":\"winjoin.io/v1alpha1\",\"kind\":\"BundleLock\",\"artifacts\":[{\"name\":"
        "\"kubelet\",\"version\":\"v1.37.1\",\"sha256\":"
        "\"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\",\"size\":3,\"path\":"
        "\"kubelet.exe\"}]}";

    (void)state;
    for (unsigned damaged = 0; damaged < 2; damaged++) {
        struct bundle *bundle = NULL;
        struct error err = {0};
        json_t *before, *after;
        struct join join;

        open_plan();
        assert_int_equal(
            host_write(r.host, "D:\\b\\winjoin.lock", lock, strlen(lock), HOST_PUBLIC, NULL), 0);
        assert_int_equal(
            host_write(r.host, "D:\\b\\kubelet.exe", damaged ? "abd" : "abc", 3, HOST_PUBLIC, NULL),
            0);
        r.options.bundle = xstrdup("D:\\b");
        before = host_memory_state(r.host);
        open_join(&r, &join);
        assert_int_equal(join_need(&join, NEED_PLAN, &err), 0);
        assert_int_equal(programs_bundle(&join, &bundle, &err), 0);
        assert_int_equal(programs_check_kubelet(&join, bundle, &err), damaged ? -1 : 0);
        assert_int_equal(err.kind, damaged ? ERROR_UNTRUSTED : ERROR_NONE);
        join_close(&join);
        after = host_memory_state(r.host);
        assert_same(before, after, "a kubelet that is asked");
        json_decref(before);
        json_decref(after);
        close_run(&r);
    }
}

/* Versions that are not known to go together are told, and hinder nobody. */
static void what_does_not_go_together(void **state) {
    static const char lock[] =
        "{\"apiVersion\":\"winjoin.io/v1alpha1\",\"kind\":\"BundleLock\",\"artifacts\":[{\"name\":"
        "\"containerd\",\"version\":\"v%s\",\"sha256\":"
        "\"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\",\"size\":3,\"path\":"
        "\"containerd.exe\"}]}";
    static const char *const versions[] = {"1.6.1", "2.4.2"};

    (void)state;
    for (size_t old = 0; old < ARRAY_SIZE(versions); old++) {
        _cleanup_(freep) char *text = xasprintf(lock, versions[old]), *told = NULL;
        struct bundle *bundle = NULL;
        struct error err = {0};
        struct join join;

        open_plan();
        assert_int_equal(
            host_write(r.host, "D:\\b\\winjoin.lock", text, strlen(text), HOST_PUBLIC, NULL), 0);
        r.options.bundle = xstrdup("D:\\b");
        open_join(&r, &join);
        assert_int_equal(join_need(&join, NEED_PLAN, &err), 0);
        assert_int_equal(programs_bundle(&join, &bundle, &err), 0);
        if (programs_check_versions(&join, bundle_artifacts(bundle), &err) < 0)
            fail_msg("%s", err.message);
        told = text_list_join(&join.progress.warnings, "\n");
        assert_int_equal(strstr(told, "containerd") != NULL, old == 0);
        join_close(&join);
        close_run(&r);
    }
}

/* What was not read this time is what it was, as long as its version is the same. */
static void a_lock_keeps_what_was_not_read(void **state) {
#define PROGRAMS_LOCK "C:\\ProgramData\\winjoin\\" ARTIFACT_LOCK_NAME
    static const char sum[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    struct artifact items[] = {
        {.name = (char *)"kubelet", .version = (char *)"v1.37.1", .size = 3},
        {.name = (char *)"kube-proxy", .version = (char *)"v1.36.0", .size = 3}};
    const struct artifacts earlier = {items, ARRAY_SIZE(items)};
    const struct bundle_choice choice = {"v1.37.1", NULL, NULL};
    struct artifact_target target;
    struct text_list names = {0};
    struct bundle *bundle = NULL;
    struct artifacts kept = {0};
    struct error err = {0};
    struct mirror from;
    struct join join;

    (void)state;
    open_plan();
    open_join(&r, &join);
    from = (struct mirror){.host = r.host, .http = r.http};
    for (size_t i = 0; i < ARRAY_SIZE(items); i++) {
        memcpy(items[i].sha256, sum, sizeof sum);
        items[i].path = items[i].name;
        assert_true(artifact_target_find(items[i].name, &target));
        items[i].target = (char *)target.target;
        text_list_add(&names, items[i].name);
    }
    for (unsigned known = 0; known < 2; known++) {
        _cleanup_(freep) char *lock = artifact_lock_make(&earlier, NULL), *text = NULL;
        size_t len;

        if (known)
            assert_int_equal(
                host_write(r.host, PROGRAMS_LOCK, lock, strlen(lock), HOST_SECRET, NULL), 0);
        assert_int_equal(bundle_open_upstream(&from, &names, &choice, &bundle, &err), 0);
        assert_int_equal(programs_write_lock(&join, bundle, &err), 0);
        assert_int_equal(host_read(r.host, PROGRAMS_LOCK, 65536, &text, &len, &err), 0);
        assert_int_equal(artifact_lock_parse(text, len, &kept, NULL, &err), 0);
        assert_int_equal(kept.count, known);
        if (known) {
            assert_string_equal(kept.items[0].name, "kubelet");
            assert_string_equal(kept.items[0].sha256, sum);
            assert_int_equal(kept.items[0].size, 3);
        }
        artifacts_free(&kept);
        bundle_freep(&bundle);
    }
    text_list_free(&names);
    join_close(&join);
    close_run(&r);
}

/* The flags with which a person gets it again, as Windows PowerShell and cmd take them. */
static void a_program_names_its_source(void **state) {
    static const struct {
        const char *bundle, *mirror, *base, *wanted, *source;
    } rows[] = {
        {"D:\\b.zip", NULL, "https://m", "v1.36.2", "--bundle D:\\b.zip"},
        {"D:\\my b.zip", NULL, NULL, NULL, "--bundle \"D:\\my b.zip\""},
        {NULL, "https://m/w", "https://m", "v1.36.2", "--mirror https://m/w"},
        {NULL, NULL, NULL, "v1.36.2", "--kubernetes-version v1.36.2"},
        {NULL, NULL, "https://m", NULL, "--kubernetes-version v1.37.1 --source-base https://m"},
    };

    (void)state;
    open_plan();
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct join_options *o;
        const json_t *noted;
        struct join join;

        open_join(&r, &join);
        o = &join.found.options;
        o->bundle = xstrdup_null(rows[i].bundle);
        o->mirror = xstrdup_null(rows[i].mirror);
        o->source_base = xstrdup_null(rows[i].base);
        o->kubernetes_version = xstrdup_null(rows[i].wanted);
        join.found.cluster.kubernetes_version = xstrdup("v1.37.1");
        programs_note(&join, "C:\\k\\x", "00");
        noted = json_object_get(json_object_get(join.journal.written, "file"), "C:\\k\\x");
        assert_string_equal(json_text_at(noted, "source"), rows[i].source);
        assert_string_equal(json_text_at(noted, "sha256"), "00");
        join_close(&join);
    }
    close_run(&r);
}

/* What the lock says of Kubernetes' programs is believed; what it does not know is asked of them.
 */
static void versions_that_a_lock_knows(void **state) {
    static const struct {
        const char *name, *version;
        bool known;
    } rows[] = {{"kubelet", "v1.37.1", true},
                {"kubelet", "unknown", false},
                {"kube-proxy", "unknown", false},
                {"containerd", "unknown", true}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct artifact items[] = {{.name = (char *)"win-overlay", .version = (char *)"v1.0.0"},
                                   {(char *)rows[i].name, .version = (char *)rows[i].version}};
        const struct artifacts lock = {items, 2}, alone = {items + 1, 1};

        assert_int_equal(programs_versions_are_known(&lock), rows[i].known);
        assert_int_equal(programs_versions_are_known(&alone), rows[i].known);
    }
}

/* Its configuration is made for one version, which must be one. */
static void a_kube_proxy_of_no_version(void **state) {
    struct wanted_files files = {0};
    struct error err = {0};
    struct join join;

    (void)state;
    open_plan();
    open_join(&r, &join);
    assert_int_equal(join_need(&join, NEED_PLAN, &err), 0);
    free(join.found.kube_proxy_version);
    join.found.kube_proxy_version = xstrdup("1");
    assert_int_equal(wanted_files_make(r.host, &join.found,
                                       (struct wanted_choice){.phase = "kube-proxy"}, &files, &err),
                     -1);
    assert_non_null(strstr(err.message, "version of kube-proxy: '1'"));
    wanted_files_free(&files);
    join_close(&join);
    close_run(&r);
}

static void a_program_that_is_gone(void **state) {
    struct error err = {0};
    struct join join;
    json_t *plan = NULL;

    (void)state;
    open_plan();
    host_memory_set_program_path(r.host, "D:\\gone.exe");
    open_join(&r, &join);
    if (join_run_phases(&join, true, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(join_plan_make(&join, &plan, &err), -1);
    assert_non_null(strstr(err.message, "D:\\gone.exe"));
    assert_null(plan);
    join_close(&join);
    close_run(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kube_proxys_gates_are_its_own),
        cmocka_unit_test(what_the_join_would_refuse),
        cmocka_unit_test(what_does_not_go_together),
        cmocka_unit_test(a_lock_keeps_what_was_not_read),
        cmocka_unit_test(a_program_names_its_source),
        cmocka_unit_test(versions_that_a_lock_knows),
        cmocka_unit_test(a_kubelet_that_is_not_the_locks),
        cmocka_unit_test(a_kube_proxy_of_no_version),
        cmocka_unit_test(a_program_that_is_gone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
