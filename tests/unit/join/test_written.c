/* What has changed since it was written: told with the command that repairs it, which does. */
#include "tests/scene/upgrade_scene.h"

#include "join/undo/journal.h"
#include "netsetup/hns/hcn_network.h"

enum { ONE = 1 };

static json_t *changed(struct run *r) {
    json_t *rows = written_compare(r->host, true);

    assert_non_null(rows);
    return rows;
}

static void assert_none(struct run *r) {
    json_t *rows = changed(r);
    _cleanup_(freep) char *text = json_write(rows);

    assert_string_equal(text, "[]");
    json_decref(rows);
}

/* As `winjoin join phase NAME`, without a token. */
static void repair(struct run *r, const char *command, const char *bundle) {
    static const char begin[] = "winjoin join phase ";
    struct join_options options = {.verify = (char *)"none", .bundle = (char *)bundle};
    struct join join = {.host = r->host, .http = r->http, .asked = &options, .phase_alone = true};
    struct error err = {0};

    assert_int_equal(strncmp(command, begin, strlen(begin)), 0);
    if (join_open(&join, &err) < 0 || join_run_phase(&join, command + strlen(begin), &err) < 0)
        fail_msg("%s: %s", command, err.message);
    join_close(&join);
}

static void spoil_cni(struct host *host) {
    assert_int_equal(
        host_write(host, "C:\\etc\\cni\\net.d\\10-winjoin.conf", "{}", 2, HOST_PUBLIC, NULL), 0);
}

static void remove_config(struct host *host) {
    assert_int_equal(host_remove(host, "C:\\var\\lib\\kubelet\\config.yaml", NULL), 0);
}

static void spoil_arguments(struct host *host) {
    assert_int_equal(host_write(host, service_kubelet.settings_file, "{}", 2, HOST_SECRET, NULL),
                     0);
}

static void spoil_program(struct host *host) {
    assert_int_equal(host_write(host, "C:\\k\\kubelet.exe", "MZ another", 10, HOST_PUBLIC, NULL),
                     0);
}

static void disable(struct host *host, const char *name) {
    struct host_service service = {0};

    assert_int_equal(host_service_query(host, name, &service, NULL), 0);
    service.auto_start = false;
    assert_int_equal(host_service_put(host, &service, NULL), 0);
    host_service_free(&service);
}

static void disable_service(struct host *host) {
    disable(host, "kube-proxy");
}

static void delete_service(struct host *host) {
    assert_int_equal(host_service_stop(host, "kube-proxy", 1000, NULL), 0);
    assert_int_equal(host_service_delete(host, "kube-proxy", 1000, NULL), 0);
}

static void delete_network(struct host *host) {
    struct error err = {0};

    if (hcn_network_remove(host, "flannel.4096", false, NULL, &err) < 0)
        fail_msg("%s", err.message);
}

static void close_firewall(struct host *host) {
    assert_int_equal(host_firewall_remove(host, "winjoin kubelet", NULL), 0);
}

static void each_kind_is_told_and_repaired(void **state) {
    static const struct {
        void (*plant)(struct host *host);
        const char *kind, *target, *difference, *command;
        bool missing;
    } cases[] = {
        {spoil_cni, "file", "C:\\etc\\cni\\net.d\\10-winjoin.conf", "its content differs",
         "winjoin join phase pod-network", false},
        {remove_config, "file", "C:\\var\\lib\\kubelet\\config.yaml", "it is missing",
         "winjoin join phase files", true},
        {spoil_arguments, "file", "", "the arguments of kubelet differ",
         "winjoin join phase kubelet", false},
        {disable_service, "service", "kube-proxy", "autoStart differs",
         "winjoin join phase kube-proxy", false},
        {delete_service, "service", "kube-proxy", "it is missing", "winjoin join phase kube-proxy",
         true},
        {delete_network, "network", "flannel.4096", "it is missing",
         "winjoin join phase pod-network", true},
        {close_firewall, "firewall", "winjoin kubelet", "it is missing",
         "winjoin join phase vswitch", true},
    };
    json_t *before;
    struct run r;

    (void)state;
    open_node(&r, &before);
    assert_none(&r);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        json_t *rows;

        cases[i].plant(r.host);
        rows = changed(&r);
        assert_int_equal(json_array_size(rows), ONE);
        assert_string_equal(json_text_at(rows, "0.kind"), cases[i].kind);
        if (*cases[i].target)
            assert_string_equal(json_text_at(rows, "0.target"), cases[i].target);
        assert_string_equal(json_text_at(rows, "0.difference"), cases[i].difference);
        assert_string_equal(json_text_at(rows, "0.command"), cases[i].command);
        assert_int_equal(json_bool_at(json_array_get(rows, 0), "missing", false), cases[i].missing);
        repair(&r, cases[i].command, NULL);
        assert_none(&r);
        json_decref(rows);
    }
    reset_gives_back(&r, before, "after repairs");
    close_node(&r, before);
}

/* The phase containerd registers winjoin-network, which is pod-network's. */
static void a_service_of_two_phases(void **state) {
    json_t *before, *rows;
    struct run r;

    (void)state;
    open_node(&r, &before);
    repair(&r, "winjoin join phase containerd", NULL);
    disable(r.host, "winjoin-network");
    rows = changed(&r);
    assert_int_equal(json_array_size(rows), ONE);
    assert_string_equal(json_text_at(rows, "0.target"), "winjoin-network");
    assert_string_equal(json_text_at(rows, "0.command"), "winjoin join phase pod-network");
    repair(&r, json_text_at(rows, "0.command"), NULL);
    assert_none(&r);
    json_decref(rows);
    close_node(&r, before);
}

static bool kubelet_differs(struct run *r) {
    struct journal journal = {0};
    struct error err = {0};
    bool differs;

    assert_int_equal(journal_open(r->host, WINJOIN_FOLDER, &journal, &err), 0);
    differs = written_file_differs(&journal, "C:\\k\\kubelet.exe");
    assert_false(written_file_differs(&journal, "C:\\k\\unknown.exe"));
    journal_close(&journal);
    return differs;
}

static void an_upgrade_is_no_drift_nor_is_going_back(void **state) {
    struct error err = {0};
    json_t *before, *rows;
    struct run r;

    (void)state;
    open_node(&r, &before);
    host_memory_end_service_starts(r.host, "kubelet", 4);
    assert_int_equal(upgrade_once(&r, false, false, NULL, &err), -1);
    assert_old(&r);
    assert_none(&r);
    error_clear(&err);
    assert_int_equal(upgrade_once(&r, false, false, NULL, &err), 0);
    assert_new(&r);
    assert_none(&r);
    assert_false(kubelet_differs(&r));
    spoil_program(r.host);
    assert_true(kubelet_differs(&r));
    rows = changed(&r);
    assert_string_equal(json_text_at(rows, "0.target"), "C:\\k\\kubelet.exe");
    assert_string_equal(json_text_at(rows, "0.difference"), "its content differs");
    assert_string_equal(json_text_at(rows, "0.command"), "winjoin upgrade --bundle " BUNDLE);
    json_decref(rows);
    assert_int_equal(upgrade_once(&r, false, false, NULL, &err), 0);
    assert_none(&r);
    assert_new(&r);
    assert_int_equal(host_remove(r.host, "C:\\k\\kubelet.exe", NULL), 0);
    assert_true(kubelet_differs(&r));
    rows = changed(&r);
    assert_string_equal(json_text_at(rows, "0.difference"), "it is missing");
    assert_string_equal(json_text_at(rows, "0.command"),
                        "winjoin join phase artifacts --bundle " BUNDLE);
    json_decref(rows);
    repair(&r, "winjoin join phase artifacts", BUNDLE);
    assert_none(&r);
    close_node(&r, before);
}

static void without_notes_nothing_is_said(void **state) {
    static const char *const texts[] = {
        NULL, "{", "[]", "{}", "{\"file\":[]}", "{\"file\":{\"C:\\\\x\":null}}"};
    json_t *before;
    struct run r;

    (void)state;
    open_node(&r, &before);
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        json_t *rows;

        assert_int_equal(host_remove(r.host, WRITTEN_FILE, NULL), 0);
        if (texts[i])
            assert_int_equal(
                host_write(r.host, WRITTEN_FILE, texts[i], strlen(texts[i]), HOST_SECRET, NULL), 0);
        rows = written_compare(r.host, true);
        if (i < 3)
            assert_null(rows);
        else
            assert_non_null(rows);
        json_decref(rows);
    }
    assert_int_equal(host_remove(r.host, WRITTEN_FILE, NULL), 0);
    repair(&r, "winjoin join phase files", NULL); /* notes what it writes */
    assert_none(&r);
    remove_config(r.host);
    {
        json_t *rows = changed(&r);

        assert_int_equal(json_array_size(rows), ONE);
        json_decref(rows);
    }
    close_node(&r, before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_is_told_and_repaired),
        cmocka_unit_test(a_service_of_two_phases),
        cmocka_unit_test(an_upgrade_is_no_drift_nor_is_going_back),
        cmocka_unit_test(without_notes_nothing_is_said),
        cmocka_unit_test(what_was_told_is_expected),
    };

    return cmocka_run_group_tests_name("written", tests, NULL, NULL);
}
