/* What somebody else than an administrator put into a node's folders: found, named, refused. */
#include "tests/scene/preflight_scene.h"

#include "node/folders.h"
#include "services/artifacts/artifacts.h"

#define POD "C:\\etc\\kubernetes\\manifests\\other.yaml"
#define BELONGS "belongs to SRV\\eve"

static void users(const char *path) {
    if (host_file_type(r.host, path) == HOST_ABSENT)
        put(path, "x");
    host_memory_give_to_user(r.host, path);
}

/* ---- who ---- */

static void first_of_path(const char *path, const char *why) {
    struct host_untrusted untrusted = {0};
    _cleanup_(freep) char *said = NULL;
    struct error err = {0};

    assert_int_equal(host_find_untrusted(r.host, path, &untrusted, &err), 0);
    said = untrusted.path ? host_untrusted_text(&untrusted) : NULL;
    if (!text_equal(said, why))
        fail_msg("%s: %s", path, said ? said : "nobody");
    host_untrusted_free(&untrusted);
}

static void finds_the_first_component(void **state) {
    struct host_untrusted untrusted = {0};
    struct error err = {0};

    (void)state;
    open_fit();
    first_of_path(KUBELET, NULL);
    first_of_path("C:\\absent\\x", NULL);
    first_of_path("C:\\Program Files\\containerd", NULL);
    users(KUBELET);
    first_of_path("C:\\k", NULL);
    first_of_path(KUBELET, "'C:\\k\\kubelet.exe' " BELONGS);
    users("C:\\k");
    first_of_path(KUBELET, "'C:\\k' " BELONGS);
    assert_int_equal(host_link(r.host, "C:\\var", "C:\\Windows", NULL), 0);
    first_of_path("C:\\var\\lib\\kubelet", "'C:\\var' is a junction or a link");
    assert_int_equal(host_find_untrusted(r.host, "k", &untrusted, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    close_run(&r);
}

static void names_what_lies_in_a_folder(void **state) {
    struct host_untrusted untrusted = {0};
    struct error err = {0};

    (void)state;
    open_fit();
    users(KUBELET);
    assert_int_equal(host_find_untrusted_in(r.host, "C:\\k", &untrusted, &err), 0);
    assert_string_equal(untrusted.path, KUBELET);
    assert_true(untrusted.inside);
    host_untrusted_free(&untrusted);
    assert_int_equal(host_find_untrusted_in(r.host, "C:\\none", &untrusted, &err), 0);
    assert_null(untrusted.path);
    assert_int_equal(host_refuse_untrusted_in(r.host, "C:\\k", &err), -1);
    assert_int_equal(err.kind, ERROR_DENIED);
    assert_string_equal(err.message, "'C:\\k\\kubelet.exe' " BELONGS);
    assert_string_equal(err.hints[0], "cmd /c del /f \"C:\\k\\kubelet.exe\"");
    /* a service's own link is as good as its files, a user's is not */
    assert_int_equal(host_link(r.host, "C:\\q\\current.pem", "C:\\q\\1.pem", NULL), 0);
    assert_int_equal(host_refuse_untrusted_in(r.host, "C:\\q", &err), 0);
    users("C:\\q\\current.pem");
    assert_int_equal(host_refuse_untrusted_in(r.host, "C:\\q", &err), -1);
    assert_string_equal(err.hints[0], "cmd /c rmdir \"C:\\q\\current.pem\"");
    close_run(&r);
}

/* Whosever it is, and before the folder is closed: what they wrote until then stays. */
static void names_what_users_may_change(void **state) {
    static const struct {
        const char *list, *why;
    } rows[] = {
        {"D:(A;;FA;;;WD)", "'" KUBELET "' can be changed by Everyone"},
        {"D:P(A;;FA;;;BA)(A;;0x1301bf;;;AU)",
         "'" KUBELET "' can be changed by Authenticated Users"},
        {"D:(XA;;FW;;;BU;(a==1))", "'" KUBELET "' can be changed by Users"},
        {"D:NO_ACCESS_CONTROL", "'" KUBELET "' can be changed by Everyone"},
        {"D:(A;;FRFX;;;BU)(A;IO;FA;;;WD)(A;;FA;;;BA)(D;;FA;;;BG)", NULL},
        {"its folder's D:(A;OICI;0x1301bf;;;BU)",
         "'C:\\k\\kube-proxy.exe' can be changed by Users"},
        {"its folder's D:(A;CI;FA;;;BU)", NULL},
        {"D:(A;;FA;;;S-1-5-21-1-2-3-1002)", NULL}, /* an account that an administrator chose */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct error err = {0};

        open_fit();
        assert_int_equal(host_access_set(r.host, rows[i].list[0] == 'D' ? KUBELET : "C:\\k",
                                         strchr(rows[i].list, 'D'), &err),
                         0);
        assert_int_equal(host_refuse_untrusted_in(r.host, "C:\\k", &err), rows[i].why ? -1 : 0);
        assert_string_equal(err.message, rows[i].why ? rows[i].why : "");
        assert_true(
            text_starts_with(err.hints[0], rows[i].why ? "cmd /c del /f \"C:\\k\\kube" : ""));
        close_run(&r);
    }
}

/* None of them goes through a junction, takes over what is untrusted, or removes a tree. */
static void says_what_repairs_it(void **state) {
    static const struct {
        struct host_untrusted untrusted;
        const char *command;
    } rows[] = {
        {{.path = (char *)"C:\\k", .type = HOST_LINK}, "cmd /c rmdir \"C:\\k\""},
        {{.path = (char *)"C:\\k", .owner = (char *)"SRV\\eve", .type = HOST_FOLDER},
         "cmd /c ren \"C:\\k\" \"k.before-winjoin\""},
        {{.path = (char *)"C:\\k\\x y",
          .owner = (char *)"SRV\\eve",
          .type = HOST_FOLDER,
          .inside = true},
         "cmd /c move \"C:\\k\\x y\" \"C:\\x y.before-winjoin\""},
        {{.path = (char *)KUBELET, .owner = (char *)"SRV\\eve", .type = HOST_FILE, .inside = true},
         "cmd /c del /f \"" KUBELET "\""},
        /* a shell would run what the name holds */
        {{.path = (char *)"C:\\k\\$(calc).exe",
          .owner = (char *)"SRV\\eve",
          .type = HOST_FILE,
          .inside = true},
         "cmd /c dir /a /q /x \"C:\\k\""},
        {{.path = (char *)"C:\\%x%\\&y",
          .owner = (char *)"SRV\\eve",
          .type = HOST_FILE,
          .inside = true},
         "cmd /c dir /a /q /x \"C:\\\""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *command = host_untrusted_remedy(&rows[i].untrusted);

        assert_string_equal(command, rows[i].command);
    }
}

/* ---- preflight ---- */

static void is_refused(const char *message) {
    const struct preflight_result *result;
    struct look look;

    open_look(&look, false);
    result = result_of(&look, "FolderOwners");
    assert_int_equal(result->outcome, PREFLIGHT_ERROR);
    assert_string_equal(result->message, message);
    assert_true(*result->hint);
    assert_int_equal(result_of(&look, "IsPrivilegedUser")->outcome, PREFLIGHT_PASS);
    close_look(&look);
    close_run(&r);
}

static void preflight_refuses(void **state) {
    static const char *const given[] = {KUBELET,
                                        "C:\\k",
                                        "C:\\opt",
                                        POD,
                                        "C:\\opt\\cni\\bin\\$(calc).exe",
                                        "C:\\ProgramData\\containerd\\root\\x",
                                        "C:\\var\\lib\\kubelet\\config.yaml",
                                        "C:\\run\\flannel\\x"};
    static const char *const named[] = {
        [5] = "C:\\ProgramData\\containerd\\root", [7] = "C:\\run\\flannel\\x"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(given); i++) {
        const char *path = i < ARRAY_SIZE(named) && named[i] ? named[i] : given[i];
        _cleanup_(freep) char *message = xasprintf("'%s' " BELONGS, path);

        open_fit();
        users(given[i]);
        users(path);
        is_refused(message);
    }
    open_fit();
    assert_int_equal(host_link(r.host, "C:\\var\\lib\\cni", "C:\\Windows", NULL), 0);
    is_refused("'C:\\var\\lib\\cni' is a junction or a link");
}

static void preflight_cannot_be_told_to_pass(void **state) {
    (void)state;
    open_fit();
    users(POD);
    text_list_add(&r.options.ignore_preflight_errors, "all");
    is_refused("'" POD "' " BELONGS);
}

/* Administrators' own are told of, and no more. */
static void preflight_lets_administrators_be(void **state) {
    struct look look;

    (void)state;
    open_fit();
    put(POD, "x");
    open_look(&look, false);
    assert_int_equal(result_of(&look, "FolderOwners")->outcome, PREFLIGHT_PASS);
    assert_int_equal(result_of(&look, "DirAvailable--etc-kubernetes-manifests")->outcome,
                     PREFLIGHT_WARNING);
    close_look(&look);
    close_run(&r);
}

/* Neither kubelet.exe nor containerd.exe, nor anything else that lies in a node's folder. */
static void preflight_runs_nothing_of_a_node(void **state) {
    struct look look;
    size_t skip;

    (void)state;
    open_fit();
    skip = strlen(host_memory_log(r.host));
    open_look(&look, true);
    assert_null(strstr(host_memory_log(r.host) + skip, "run C:\\k"));
    assert_null(strstr(host_memory_log(r.host) + skip, "run C:\\Program"));
    assert_null(strstr(host_memory_log(r.host) + skip, "run C:\\opt"));
    assert_non_null(strstr(host_memory_log(r.host) + skip, "netsh.exe"));
    close_look(&look);
    close_run(&r);
}

/* ---- the join, when preflight was passed over ---- */

static void phase_refuses(const char *phase, const char *path, const char *message) {
    struct join join = {.http = NULL};
    struct error err = {0};
    size_t skip;

    open_fit();
    users(path);
    join = (struct join){.host = r.host, .http = r.http, .asked = &r.options};
    r.options.dry_run = false;
    assert_int_equal(join_open(&join, &err), 0);
    skip = strlen(host_memory_log(r.host));
    assert_int_equal(join_run_phase(&join, phase, &err), -1);
    if (err.kind != ERROR_DENIED || !strstr(err.message, message))
        fail_msg("%s: %s", phase, err.message);
    assert_true(*err.hints[0]);
    assert_true(!text_starts_with(path, "C:\\k") ||
                !strstr(host_memory_log(r.host) + skip, "run C:\\k"));
    assert_null(strstr(host_memory_log(r.host) + skip, "service_start kubelet"));
    join_close(&join);
    close_run(&r);
}

static void phases_refuse(void **state) {
    (void)state;
    phase_refuses("artifacts", "C:\\k\\version.dll", "'C:\\k\\version.dll' " BELONGS);
    phase_refuses("artifacts", "C:\\opt\\cni\\bin\\azure-vnet.exe", "azure-vnet.exe' " BELONGS);
    phase_refuses("artifacts", "C:\\k", "'C:\\k' " BELONGS);
    phase_refuses("kubelet", POD, "'" POD "' " BELONGS);
    phase_refuses("kubelet", KUBELET, "start 'kubelet': '" KUBELET "' " BELONGS);
}

/* Also one that the table does not know: the cluster's folder of static pods. */
static void a_folder_that_is_closed_holds_nothing_of_users(void **state) {
    struct error err = {0};

    (void)state;
    open_fit();
    users("C:\\pods\\evil.yaml");
    assert_int_equal(node_folder_close(r.host, "C:\\pods", &err), -1);
    assert_int_equal(err.kind, ERROR_DENIED);
    assert_string_equal(err.message, "'C:\\pods\\evil.yaml' " BELONGS);
    assert_int_equal(host_remove(r.host, "C:\\pods\\evil.yaml", NULL), 0);
    assert_int_equal(node_folder_close(r.host, "C:\\pods", &err), 0);
    close_run(&r);
}

/* It is not what the node needs, and is asked for again. */
static void a_strangers_program_is_missing(void **state) {
    struct text_list missing = {0};
    struct service_choice choice = {0};
    struct error err = {0};

    (void)state;
    open_fit();
    assert_int_equal(
        artifacts_missing(r.host, NULL, NULL, "win-overlay", "host-local", &choice, &missing, &err),
        0);
    assert_int_equal(missing.count, 0);
    users(KUBELET);
    users("C:\\opt\\cni\\bin\\host-local.exe");
    assert_int_equal(
        artifacts_missing(r.host, NULL, NULL, "win-overlay", "host-local", &choice, &missing, &err),
        0);
    assert_int_equal(missing.count, 2);
    assert_true(text_list_has(&missing, "kubelet"));
    assert_true(text_list_has(&missing, "host-local"));
    text_list_free(&missing);
    close_run(&r);
}

/* The right bytes with a wrong owner are written again. */
static void right_bytes_of_a_stranger_are_not_installed(void **state) {
    struct artifact kubelet = {
        .target = (char *)KUBELET,
        .sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        .size = 3};
    struct error err = {0};
    bool same = false;

    (void)state;
    open_fit();
    put(KUBELET, "abc");
    assert_int_equal(artifact_is_installed(r.host, &kubelet, &same, &err), 0);
    assert_true(same);
    users(KUBELET);
    assert_int_equal(artifact_is_installed(r.host, &kubelet, &same, &err), 0);
    assert_false(same);
    close_run(&r);
}

/* Administrators' programs are taken as they are, unless a lock says otherwise. */
static void a_lock_judges_what_is_there(void **state) {
    static const char lock[] =
        "{\"apiVersion\":\"winjoin.io/v1alpha1\",\"kind\":\"BundleLock\",\"artifacts\":[{\"name\":"
        "\"kubelet\",\"version\":\"v1.37.1\",\"sha256\":"
        "\"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\",\"size\":3,\"path\":"
        "\"kubelet.exe\"}]}";
    static const char *const contents[] = {"abc", "abd"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(contents); i++) {
        struct join join = {.http = NULL};
        struct error err = {0};

        open_fit();
        put("D:\\lock", lock);
        put(KUBELET, contents[i]);
        r.options.lock = xstrdup("D:\\lock");
        r.options.source_base = xstrdup("none");
        r.options.dry_run = false;
        join = (struct join){.host = r.host, .http = r.http, .asked = &r.options};
        assert_int_equal(join_open(&join, &err), 0);
        assert_int_equal(join_run_phase(&join, "artifacts", &err), i ? -1 : 0);
        assert_int_equal(err.kind, i ? ERROR_UNTRUSTED : ERROR_NONE);
        assert_true(!i || text_ends_with(err.message, "may not be downloaded: kubelet"));
        join_close(&join);
        close_run(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_first_component),
        cmocka_unit_test(names_what_lies_in_a_folder),
        cmocka_unit_test(names_what_users_may_change),
        cmocka_unit_test(says_what_repairs_it),
        cmocka_unit_test(preflight_refuses),
        cmocka_unit_test(preflight_cannot_be_told_to_pass),
        cmocka_unit_test(preflight_lets_administrators_be),
        cmocka_unit_test(preflight_runs_nothing_of_a_node),
        cmocka_unit_test(phases_refuse),
        cmocka_unit_test(a_folder_that_is_closed_holds_nothing_of_users),
        cmocka_unit_test(a_strangers_program_is_missing),
        cmocka_unit_test(right_bytes_of_a_stranger_are_not_installed),
        cmocka_unit_test(a_lock_judges_what_is_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
