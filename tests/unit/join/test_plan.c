/* The dry run: it changes nothing, its plan is what the join then does, it keeps secrets. */
#include "tests/scene/join_scene.h"

#include "join/plan/plan.h"
#include "tests/memory/http_memory.h"

static struct run r;
static bool changed_cluster; /* something else than GET was sent */

static int answer(void *context, const struct http_request *request, struct http_response *ret,
                  struct error *err) {
    changed_cluster |= request->method && !text_equal(request->method, "GET") &&
                       !strstr(request->url, "/selfsubject"); /* a question */
    return scene_answer(context, request, ret, err);
}

static void open_plan(const char *mode) {
    open_run(&r, mode);
    answer_with(&r, answer);
    changed_cluster = false;
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

static void give_pod_cidr(void) {
    text_list_add(&r.options.pod_cidrs, "10.244.3.0/24");
}

/* What the in-memory host may be asked in a dry run; all else changes something. */
static bool only_looks(const char *line) {
    static const char *const looks[] = {
        "facts",
        "read ",
        "list ",
        "access_get ",
        "adapters",
        "routes",
        "HNSCall GET",
        "HcnEnumerate",
        "HcnOpen",
        "HcnQuery",
        "HcnClose",
        "free_space",
        "registry_get ",
        "port_in_use ",
        "service_query",
        "firewall_has",
        "forwarding ",
        "random ",
        "run C:\\k\\kubelet.exe --version",
        "run C:\\k\\kube-proxy.exe --version",
        "run C:\\Program Files\\containerd\\containerd.exe --version",
        "run C:\\Windows\\System32\\netsh.exe int ipv4 show"};

    for (size_t i = 0; i < ARRAY_SIZE(looks); i++)
        if (text_starts_with(line, looks[i]))
            return true;
    return false;
}

static void changes_nothing(void **state) {
    struct text_list lines = {0};
    json_t *before, *after;
    size_t skip;

    (void)state;
    open_plan("overlay");
    before = host_memory_state(r.host);
    skip = strlen(host_memory_log(r.host));
    json_decref(plan_of());
    text_list_split(&lines, host_memory_log(r.host) + skip, '\n');
    assert_true(lines.count > 20);
    for (size_t i = 0; i < lines.count; i++)
        if (!only_looks(lines.items[i]))
            fail_msg("the dry run did: %s", lines.items[i]);
    text_list_free(&lines);
    after = host_memory_state(r.host);
    assert_same(before, after, "dry run");
    assert_false(changed_cluster);
    json_decref(before);
    json_decref(after);
    close_run(&r);
}

static const json_t *file_of(const json_t *plan, const char *path) {
    const json_t *file;
    size_t i;

    json_array_foreach(json_object_get(plan, "files"), i,
                       file) if (text_equal(json_text_at(file, "path"), path)) return file;
    return NULL;
}

/* network.json holds the routes to other nodes, too, which the plan cannot know. */
static char *without_peers(const char *text) {
    json_t *json = NULL;
    char *rest;

    if (json_read(text, strlen(text), "network.json", &json, NULL) < 0)
        return xstrdup(text);
    json_object_del(json, "peers");
    rest = json_write_pretty(json);
    json_decref(json);
    return rest;
}

static bool is_planned_elsewhere(const char *path) {
    return strstr(path, "\\journal\\") || strstr(path, "\\backup\\") ||
           strstr(path, "\\pki\\kubelet-client-") || strstr(path, "\\cni\\");
}

static void each_file_is_planned(const json_t *plan, const json_t *before, const json_t *after) {
    const char *path;
    json_t *file;

    json_object_foreach((json_t *)after, path, file) {
        const json_t *planned = file_of(plan, path);
        _cleanup_(freep) char *was = NULL, *is = NULL;

        if (!text_equal(json_text_at(file, "type"), "file") || json_object_get(before, path) ||
            is_planned_elsewhere(path))
            continue;
        if (!planned)
            fail_msg("%s is not in the plan", path);
        assert_int_equal(json_bool_at(planned, "protected", false),
                         text_equal(json_text_at(file, "access"), "secret"));
        was = without_peers(json_text_at(planned, "content"));
        is = without_peers(json_text_at(file, "content"));
        assert_string_equal(was, is);
    }
}

static void each_planned_file_is_there(const json_t *plan, const json_t *after) {
    const json_t *file;
    size_t i;

    json_array_foreach(json_object_get(plan, "files"), i, file) {
        if (!json_object_get(after, json_text_at(file, "path")))
            fail_msg("%s is planned and not written", json_text_at(file, "path"));
        assert_true(json_object_get(file, "content") || json_object_get(file, "sha256"));
    }
    json_array_foreach(json_at(plan, "network.cni"), i, file)
        assert_non_null(json_object_get(after, json_text_at(file, "path")));
}

static void each_service_is_planned(const json_t *plan, const json_t *before, const json_t *after) {
    const json_t *service;
    size_t i, made = json_object_size(after) - json_object_size(before);

    assert_int_equal(json_array_size(json_object_get(plan, "services")), made);
    json_array_foreach(json_object_get(plan, "services"), i, service) {
        const char *name = json_text_at(service, "name");

        assert_string_equal(json_text_at(service, "command"),
                            json_text_at(json_object_get(after, name), "command"));
    }
}

static void the_plan_is_what_the_join_does(const char *mode) {
    struct error err = {0};
    json_t *plan, *before, *after;

    open_plan(mode);
    give_pod_cidr();
    before = host_memory_state(r.host);
    plan = plan_of();
    r.options.dry_run = false;
    if (join_once(&r, &err) < 0)
        fail_msg("join: %s", err.message);
    after = host_memory_state(r.host);
    each_file_is_planned(plan, json_object_get(before, "files"), json_object_get(after, "files"));
    each_planned_file_is_there(plan, json_object_get(after, "files"));
    each_service_is_planned(plan, json_object_get(before, "services"),
                            json_object_get(after, "services"));
    json_decref(plan);
    json_decref(before);
    json_decref(after);
    close_run(&r);
}

static void the_overlay_plan_is_what_the_join_does(void **state) {
    (void)state;
    the_plan_is_what_the_join_does("overlay");
}

static void the_l2bridge_plan_is_what_the_join_does(void **state) {
    (void)state;
    the_plan_is_what_the_join_does("l2bridge");
}

/* winjoin puts itself where the services look for it. */
static void winjoin_itself_is_planned(void **state) {
    const json_t *file;
    json_t *plan;

    (void)state;
    open_plan("overlay");
    assert_int_equal(host_write(r.host, "D:\\winjoin.exe", "MZ", 2, HOST_PUBLIC, NULL), 0);
    host_memory_set_program_path(r.host, "D:\\winjoin.exe");
    plan = plan_of();
    file = file_of(plan, "C:\\k\\winjoin.exe");
    assert_string_equal(json_text_at(file, "sha256"),
                        "9b8db510ef42b8ed54a3712636fda55a4f8cfcd5493e20b74ab00cd4f3979f2d");
    assert_false(json_bool_at(file, "protected", true));
    assert_true(json_bool_at(file, "replaces", false));
    json_decref(plan);
    close_run(&r);
}

static void an_unknown_pod_subnet_is_said(void **state) {
    json_t *plan;
    char *text;

    (void)state;
    open_plan("overlay");
    plan = plan_of();
    assert_string_equal(json_text_at(plan, "unknown.0"), "podCIDR");
    assert_string_equal(json_text_at(plan, "network.sourceVip"), "<podCIDR>");
    text = join_plan_text(plan);
    assert_non_null(strstr(text, "not known yet: podCIDR"));
    free(text);
    json_decref(plan);
    give_pod_cidr();
    plan = plan_of();
    assert_int_equal(json_array_size(json_object_get(plan, "unknown")), 0);
    assert_string_equal(json_text_at(plan, "network.sourceVip"), "10.244.3.2");
    text = json_write(plan);
    assert_null(strstr(text, "<podCIDR>"));
    free(text);
    json_decref(plan);
    close_run(&r);
}

/* What l2bridge has not is not said to be unknown either. */
static void an_unknown_pod_subnet_of_l2bridge(void **state) {
    json_t *plan, *document, *file;
    size_t i;

    (void)state;
    open_plan("l2bridge");
    plan = plan_of();
    assert_null(json_at(plan, "network.sourceVip"));
    json_array_foreach(json_at(plan, "network.documents"), i, document) {
        const json_t *length = json_at(document, "body.IpConfigurations.0.PrefixLength");

        if (length)
            assert_string_equal(json_string_value(length), "<podCIDR>");
    }
    json_array_foreach(json_object_get(plan, "files"), i, file) {
        const char *content = json_text_at(file, "content");

        if (strstr(json_text_at(file, "path"), "kube-proxy") && strstr(content, "sourceVip"))
            assert_null(strstr(content, "<podCIDR>"));
    }
    json_decref(plan);
    close_run(&r);
}

/* A node that has joined has its pod subnet. */
static void a_joined_nodes_subnet_is_known(void **state) {
    struct error err = {0};
    json_t *plan;

    (void)state;
    open_plan("overlay");
    r.options.dry_run = false;
    assert_int_equal(join_once(&r, &err), 0);
    r.options.dry_run = true;
    plan = plan_of();
    assert_int_equal(json_array_size(json_object_get(plan, "unknown")), 0);
    assert_true(
        json_bool_at(file_of(plan, "C:\\etc\\kubernetes\\kubelet.conf"), "replaces", false));
    json_decref(plan);
    close_run(&r);
}

static void secrets_are_kept(void **state) {
    const json_t *file;
    json_t *plan;
    char *text;

    (void)state;
    open_plan("overlay");
    plan = plan_of();
    text = json_write(plan);
    assert_null(strstr(text, SCENE_TOKEN_SECRET));
    free(text);
    text = join_plan_text(plan);
    assert_null(strstr(text, SCENE_TOKEN_SECRET));
    free(text);
    file = file_of(plan, "C:\\var\\lib\\kubelet\\pki\\kubelet-client-current.pem");
    assert_string_equal(json_text_at(file, "content"), "<redacted>");
    assert_true(json_bool_at(file, "protected", false));
    json_decref(plan);
    close_run(&r);
}

static void the_text_says_what_matters(void **state) {
    static const char *const says[] = {
        "Joining win-7k2 to https://10.0.0.10:6443 would do this; nothing was changed.",
        "\"kubernetes\" v1.37.1, pods 10.244.0.0/16, services 10.96.0.0/12",
        "overlay \"flannel.4096\" by win-overlay on \"Ethernet\", source VIP 10.244.3.2",
        "   1  preflight",
        "  15  verify",
        "write    C:\\etc\\kubernetes\\kubelet.conf  (SYSTEM and Administrators only)",
        "replace  C:\\var\\lib\\kubelet\\config.yaml",
        "write    C:\\etc\\cni\\net.d\\10-winjoin.conf",
        "-cgroupDriver: \"systemd\"",
        "+cgroupsPerQOS: false  # ",
        "kubelet          auto, LocalSystem, after containerd",
        "HcnCreateNetwork External (Overlay) 192.168.255.0/30",
        "HcnCreateNetwork flannel.4096 (Overlay) 10.244.3.0/24",
        "TCP 10250, inbound",
    };
    json_t *plan;
    char *text;

    (void)state;
    open_plan("overlay");
    give_pod_cidr();
    assert_int_equal(
        host_write(r.host, "C:\\var\\lib\\kubelet\\config.yaml", "x", 1, HOST_PUBLIC, NULL), 0);
    plan = plan_of();
    text = join_plan_text(plan);
    for (size_t i = 0; i < ARRAY_SIZE(says); i++)
        if (!strstr(text, says[i]))
            fail_msg("\"%s\" is missing in:\n%s", says[i], text);
    free(text);
    json_object_set_new(json_object_get(plan, "cluster"), "name", json_string("a\x1b[2Jb\nc"));
    text = join_plan_text(plan);
    assert_non_null(strstr(text, "\"a\\x1b[2Jb\\nc\""));
    free(text);
    json_decref(plan);
    close_run(&r);
}

static void skipped_phases_are_no_steps(void **state) {
    const json_t *step;
    json_t *plan;
    size_t i;

    (void)state;
    open_plan("overlay");
    text_list_add(&r.options.skip_phases, "kubelet-start");
    text_list_add(&r.options.skip_phases, "verify");
    plan = plan_of();
    json_array_foreach(json_object_get(plan, "steps"), i, step) {
        assert_string_not_equal(json_text_at(step, "id"), "kubelet");
        assert_string_not_equal(json_text_at(step, "id"), "verify");
    }
    assert_int_equal(i, 11);
    json_decref(plan);
    close_run(&r);
}

/* As kubeadm join with all phases skipped: no packet is sent, and nothing would be done. */
static void without_phases_nobody_is_asked(void **state) {
    _cleanup_(freep) char *text = NULL;
    json_t *plan;

    (void)state;
    open_plan("overlay");
    http_free(r.http);
    r.http = NULL;
    for (size_t i = 0; join_phases[i].id; i++)
        text_list_add(&r.options.skip_phases, join_phases[i].id);
    plan = plan_of();
    text = join_plan_text(plan);
    assert_int_equal(json_array_size(json_object_get(plan, "steps")), 0);
    assert_int_equal(json_array_size(json_object_get(plan, "files")), 0);
    assert_non_null(strstr(text, "would do nothing: all phases are skipped.\n"));
    json_decref(plan);
    close_run(&r);
}

static void a_refused_host_gets_no_plan(void **state) {
    struct error err = {0};
    struct join join;

    (void)state;
    open_plan("overlay");
    host_memory_set_port(r.host, false, 10250);
    open_join(&r, &join);
    assert_int_equal(join_run_phases(&join, true, &err), -1);
    assert_int_equal(err.kind, ERROR_PREFLIGHT);
    join_close(&join);
    close_run(&r);
}

/* KUBEADM_JOIN_DRYRUN_DIR: what somebody looks at there is what a join would write. */
static void the_files_can_be_looked_at(void **state) {
    static const char folder[] = "C:\\look\\here";
    struct text_list names = {0};
    struct error err = {0};
    size_t count = 0;
    json_t *plan;

    (void)state;
    open_plan("overlay");
    give_pod_cidr();
    plan = plan_of();
    assert_int_equal(join_plan_write(r.host, plan, folder, &count, &err), 0);
    assert_int_equal(host_list(r.host, folder, &names, &err), 0);
    assert_int_equal(names.count, count); /* no two of one name */
    assert_true(text_list_has(&names, "ca.crt"));
    assert_true(text_list_has(&names, "kubeadm-flags.env"));
    assert_true(text_list_has(&names, "instance-config.yaml"));
    assert_true(text_list_has(&names, "10-winjoin.conf"));
    assert_false(text_list_has(&names, "kubelet-client-current.pem"));
    for (size_t i = 0; i < count; i++) {
        _cleanup_(freep) char *path = xasprintf("%s\\%s", folder, names.items[i]), *text = NULL;
        size_t len;

        assert_int_equal(host_read(r.host, path, 65536, &text, &len, &err), 0);
        assert_null(strstr(text, SCENE_TOKEN_SECRET));
        if (text_equal(names.items[i], "config.yaml"))
            assert_string_equal(
                text, json_text_at(file_of(plan, "C:\\var\\lib\\kubelet\\config.yaml"), "content"));
    }
    text_list_free(&names);
    host_memory_fail(r.host, 1);
    assert_int_equal(join_plan_write(r.host, plan, folder, &count, &err), -1);
    assert_non_null(strstr(err.message, folder));
    json_decref(plan);
    close_run(&r);
}

/* Each question that the plan itself asks of the host fails once: there is no plan, or the whole.
 */
static void half_a_plan_is_none(void **state) {
    json_t *whole = NULL;
    size_t calls = 0;

    (void)state;
    open_plan("overlay");
    give_pod_cidr();
    for (size_t n = 0; n <= calls; n++) {
        struct error err = {0};
        json_t *plan = NULL;
        struct join join;

        open_join(&r, &join);
        assert_int_equal(join_run_phases(&join, true, &err), 0);
        calls = n ? calls : host_memory_calls(r.host);
        host_memory_fail(r.host, n);
        if (join_plan_make(&join, &plan, &err) == 0)
            assert_same(n ? whole : plan, plan, host_memory_failed(r.host));
        else
            assert_non_null(strstr(err.message, "told to fail"));
        if (n == 0) {
            calls = host_memory_calls(r.host) - calls;
            whole = json_incref(plan);
        }
        json_decref(plan);
        join_close(&join);
    }
    assert_true(calls > 5);
    json_decref(whole);
    close_run(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_nothing),
        cmocka_unit_test(the_overlay_plan_is_what_the_join_does),
        cmocka_unit_test(the_l2bridge_plan_is_what_the_join_does),
        cmocka_unit_test(winjoin_itself_is_planned),
        cmocka_unit_test(an_unknown_pod_subnet_is_said),
        cmocka_unit_test(an_unknown_pod_subnet_of_l2bridge),
        cmocka_unit_test(a_joined_nodes_subnet_is_known),
        cmocka_unit_test(secrets_are_kept),
        cmocka_unit_test(the_text_says_what_matters),
        cmocka_unit_test(skipped_phases_are_no_steps),
        cmocka_unit_test(without_phases_nobody_is_asked),
        cmocka_unit_test(a_refused_host_gets_no_plan),
        cmocka_unit_test(the_files_can_be_looked_at),
        cmocka_unit_test(half_a_plan_is_none),
        cmocka_unit_test(what_was_told_is_expected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
