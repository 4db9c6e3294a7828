/* The service table: command lines by version, what the SCM is told, ensure and remove. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "host/command_line.h"
#include "services/hosted_service.h"
#include "services/service_table.h"
#include "tests/memory/host_memory.h"

static struct host *host;
static struct service_settings settings;

static int open_host(void **state) {
    (void)state;
    host = host_memory_new();
    settings = (struct service_settings){.kubelet_version = "v1.37.1",
                                         .kube_proxy_version = "v1.37.1",
                                         .node_name = "WIN-7K2",
                                         .node_ip = "10.0.0.21",
                                         .network_name = "flannel.4096",
                                         .flannel_interface = "10.0.0.21"};
    return 0;
}

static int close_host(void **state) {
    (void)state;
    text_list_free(&settings.kubelet_extra_args);
    host_free(host);
    return 0;
}

static void assert_arguments(const struct service *row, const char *expected) {
    struct text_list arguments = {0};
    struct error err = {0};
    if (service_arguments(row, &settings, &arguments, NULL, &err) < 0)
        fail_msg("%s", err.message);
    char *joined = text_list_join(&arguments, "\n");
    assert_string_equal(joined, expected);
    free(joined);
    text_list_free(&arguments);
}

static void assert_last_argument(const struct service *row, const char *expected) {
    struct text_list arguments = {0};
    assert_int_equal(service_arguments(row, &settings, &arguments, NULL, NULL), 0);
    assert_string_equal(arguments.items[arguments.count - 1], expected);
    text_list_free(&arguments);
}

static void assert_refused(const struct service *row, enum error_kind kind, const char *says) {
    struct host_service service = {0};
    struct error err = {0};
    assert_int_equal(service_make(row, &settings, &service, &err), -1);
    assert_int_equal(err.kind, kind);
    if (!strstr(err.message, says))
        fail_msg("'%s' does not say '%s'", err.message, says);
}

#define KUBELET                                                                                    \
    "C:\\k\\kubelet.exe\n--config=C:\\var\\lib\\kubelet\\config.yaml\n"                            \
    "--kubeconfig=C:\\etc\\kubernetes\\kubelet.conf\n--cert-dir=C:\\var\\lib\\kubelet\\pki\n"

#define ENDPOINT "--container-runtime-endpoint=npipe:////./pipe/containerd-containerd\n"
#define GIVEN                                                                                      \
    "--bootstrap-kubeconfig=C:\\etc\\kubernetes\\bootstrap-kubelet.conf\n"                         \
    "--hostname-override=win-7k2\n--node-ip=10.0.0.21\n--node-labels=a=b\n"                        \
    "--register-with-taints=os=windows:NoSchedule"

static void kubelet_by_version(void **state) {
    (void)state;
    assert_arguments(&service_kubelet,
                     KUBELET "--v=2\n--hostname-override=win-7k2\n--node-ip=10.0.0.21");
    settings.kubelet_version = "1.24.0"; /* the oldest */
    settings.bootstrap_kubeconfig = true;
    settings.node_labels = "a=b";
    settings.register_with_taints = "os=windows:NoSchedule";
    assert_arguments(&service_kubelet, KUBELET ENDPOINT "--v=2\n" GIVEN);
    settings.kubelet_version = "1.26.15";
    assert_arguments(&service_kubelet, KUBELET ENDPOINT "--v=2\n" GIVEN);
    settings.kubelet_version = "v1.27.0"; /* a field of its file since */
    assert_arguments(&service_kubelet, KUBELET "--v=2\n" GIVEN);
    settings.kubelet_version = "v1.23.17";
    assert_refused(&service_kubelet, ERROR_UNSUPPORTED, "the oldest supported version is 1.24");
    settings.kubelet_version = "latest";
    assert_refused(&service_kubelet, ERROR_USAGE, "version of kubelet: 'latest'");
    settings.kubelet_version = NULL;
    assert_refused(&service_kubelet, ERROR_USAGE, "no version given");
    settings.kubelet_version = "v2.1.0";
    assert_refused(&service_kubelet, ERROR_USAGE, "'v2.1.0'");
    settings.kube_proxy_version = "latest";
    assert_refused(&service_kube_proxy, ERROR_USAGE, "version of kube-proxy: 'latest'");
}

static void extra_arguments(void **state) {
    (void)state;
    text_list_add(&settings.kubelet_extra_args, "--v=6");
    text_list_add(&settings.kubelet_extra_args, "--feature-gates=A=true");
    assert_arguments(&service_kubelet,
                     KUBELET "--hostname-override=win-7k2\n--node-ip=10.0.0.21\n--v=6\n"
                             "--feature-gates=A=true");
    text_list_add(&settings.kubelet_extra_args, "--token=abcdef.0123456789abcdef");
    assert_refused(&service_kubelet, ERROR_USAGE, "'--token'");
    text_list_free(&settings.kubelet_extra_args);
    text_list_add(&settings.kubelet_extra_args, "--a=b\nc");
    assert_refused(&service_kubelet, ERROR_USAGE, "control character");
    text_list_free(&settings.kubelet_extra_args);
    text_list_add(&settings.kubelet_extra_args, "-v");
    assert_refused(&service_kubelet, ERROR_USAGE, "not of the form --name=value");
}

static void no_secret_in_the_message(void **state) {
    struct host_service service = {0};
    struct error err = {0};
    (void)state;
    text_list_add(&settings.kubelet_extra_args, "--token=abcdef.0123456789abcdef");
    assert_int_equal(service_make(&service_kubelet, &settings, &service, &err), -1);
    assert_null(strstr(err.message, "0123456789abcdef"));
}

static void other_programs(void **state) {
    (void)state;
    assert_arguments(&service_kube_proxy, "C:\\k\\kube-proxy.exe\n--config=C:\\k\\kube-proxy.conf\n"
                                          "--hostname-override=win-7k2\n--v=2");
    assert_arguments(&service_flanneld,
                     "C:\\k\\flanneld.exe\n--kube-subnet-mgr\n"
                     "--kubeconfig-file=C:\\k\\flanneld.kubeconfig\n--iface=10.0.0.21\n--ip-masq\n"
                     "--net-config-path=C:\\etc\\kube-flannel\\net-conf.json\n"
                     "--subnet-file=C:\\run\\flannel\\subnet.env");
    settings.agent_key_folder = "C:\\var\\lib\\ovn-kubernetes\\pki";
    settings.api_server = "https://10.0.0.10:6443";
    settings.ca_file = "C:\\etc\\kubernetes\\pki\\ca.crt";
    settings.vxlan_port = 4789;
    assert_arguments(&service_hybrid_overlay_node,
                     "C:\\k\\hybrid-overlay-node.exe\n--node=win-7k2\n"
                     "--bootstrap-kubeconfig=C:\\etc\\kubernetes\\kubelet.conf\n"
                     "--cert-dir=C:\\var\\lib\\ovn-kubernetes\\pki\n--cert-duration=24h\n"
                     "--k8s-apiserver=https://10.0.0.10:6443\n"
                     "--k8s-cacert=C:\\etc\\kubernetes\\pki\\ca.crt");
    settings.vxlan_port = 9898;
    assert_last_argument(&service_hybrid_overlay_node, "--hybrid-overlay-vxlan-port=9898");
    assert_arguments(&service_containerd,
                     "C:\\Program Files\\containerd\\containerd.exe\n"
                     "--config=C:\\Program Files\\containerd\\config.toml\n"
                     "--log-file=C:\\var\\log\\containerd\\containerd.log\n--run-service");
    assert_arguments(&service_network, "C:\\k\\winjoin.exe\nservice\nrun\nwinjoin-network");
}

static void what_the_scm_is_told(void **state) {
    struct host_service service = {0};
    (void)state;
    assert_int_equal(service_make(&service_containerd, &settings, &service, NULL), 0);
    assert_string_equal(service.command,
                        "\"C:\\Program Files\\containerd\\containerd.exe\" "
                        "\"--config=C:\\Program Files\\containerd\\config.toml\" "
                        "--log-file=C:\\var\\log\\containerd\\containerd.log --run-service");
    assert_int_equal(service.depends_on.count, 2);
    assert_string_equal(service.depends_on.items[0], "hns");
    assert_string_equal(service.depends_on.items[1], "winjoin-network");
    host_service_free(&service);
    assert_int_equal(service_make(&service_kubelet, &settings, &service, NULL), 0);
    assert_string_equal(service.command, "C:\\k\\winjoin.exe service run kubelet");
    assert_string_equal(service.depends_on.items[0], "containerd");
    assert_true(service.auto_start);
    assert_int_equal(service.restart_delays_ms[0], 5000);
    assert_int_equal(service.reset_seconds, 600);
    json_t *json = service_json(&service);
    char *text = json_write(json);
    assert_string_equal(
        text,
        "{\"name\":\"kubelet\",\"displayName\":\"Kubernetes kubelet\",\"command\":"
        "\"C:\\\\k\\\\winjoin.exe service run kubelet\",\"account\":\"LocalSystem\",\"start\":"
        "\"auto\",\"dependsOn\":[\"containerd\"],\"environment\":[],\"recovery\":{"
        "\"restartDelaysSeconds\":[5,10,30],\"resetSeconds\":600},\"description\":\"winjoin: the "
        "Kubernetes node agent\"}");
    free(text);
    json_decref(json);
    host_service_free(&service);
    for (const struct service *const *row = service_table; *row; row++) {
        assert_int_equal(service_make(*row, &settings, &service, NULL), 0);
        assert_true(service_is_ours(&service));
        assert_ptr_equal(service_by_name(service.name), *row);
        host_service_free(&service);
    }
    assert_null(service_by_name("nssm"));
}

/* Who runs where. */
static void what_is_wanted(void **state) {
    static const struct {
        struct service_choice choice;
        const char *wanted;
    } cases[] = {
        {{true, "flanneld"}, "winjoin-network containerd kubelet flanneld kube-proxy"},
        {{false, "flanneld"}, "winjoin-network containerd kubelet flanneld"},
        {{true, "hybrid-overlay-node"},
         "winjoin-network containerd kubelet hybrid-overlay-node kube-proxy"},
        {{true, "other"}, "winjoin-network containerd kubelet kube-proxy"},
        {{false, NULL}, "winjoin-network containerd kubelet"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct text_list names = {0};
        char *joined;

        for (const struct service *const *row = service_table; *row; row++)
            if (service_is_chosen(*row, &cases[i].choice))
                text_list_add(&names, (*row)->name);
        joined = text_list_join(&names, " ");
        assert_string_equal(joined, cases[i].wanted);
        free(joined);
        text_list_free(&names);
    }
}

struct expected_service {
    const struct service *row;
    const char *depends_on, *environment;
    unsigned delays[3], reset, preshutdown, stop;
};

/* Recovery and dependencies are promises too. */
static void rows(void **state) {
    static const struct expected_service expected[] = {
        {&service_network, "hns", "", {5000, 15000, 60000}, 600, 0, 0},
        {&service_containerd, "hns winjoin-network", "", {15000, 15000, 60000}, 86400, 0, 0},
        {&service_kubelet, "containerd", "", {5000, 10000, 30000}, 600, 60000, 30000},
        {&service_flanneld,
         "hns winjoin-network",
         "NODE_NAME=win-7k2",
         {5000, 10000, 30000},
         600,
         0,
         10000},
        {&service_hybrid_overlay_node, "hns kubelet", "", {5000, 10000, 30000}, 600, 0, 5000},
        {&service_kube_proxy,
         "hns",
         "KUBE_NETWORK=flannel.4096",
         {5000, 10000, 30000},
         600,
         0,
         10000},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
        const struct expected_service *row = &expected[i];
        struct service_host_settings file = {0};
        struct host_service service = {0};
        char *text = NULL;
        assert_int_equal(service_make(row->row, &settings, &service, NULL), 0);
        char *depends = text_list_join(&service.depends_on, " ");
        assert_string_equal(depends, row->depends_on);
        free(depends);
        assert_memory_equal(service.restart_delays_ms, row->delays, sizeof(row->delays));
        assert_int_equal(service.reset_seconds, row->reset);
        assert_int_equal(service.preshutdown_ms, row->preshutdown);
        assert_int_equal(service.environment.count, 0);
        host_service_free(&service);
        assert_int_equal(row->row->hosted, row->stop != 0);
        assert_int_equal(row->row->diagnosed, row->row != &service_network);
        if (!row->stop)
            continue;
        assert_int_equal(service_host_file_make(row->row, &settings, &text, NULL), 0);
        assert_int_equal(service_host_settings_parse(text, strlen(text), &file, NULL), 0);
        char *environment = text_list_join(&file.environment, " ");
        assert_string_equal(environment, row->environment);
        assert_int_equal(file.stop_timeout_ms, row->stop);
        assert_int_equal(file.max_log_bytes, 10485760);
        assert_int_equal(file.max_log_files, 5);
        assert_string_equal(file.working_folder, "C:\\k");
        free(environment);
        free(text);
        service_host_settings_free(&file);
    }
}

static void assert_in_scm(const char *member) {
    _cleanup_(host_service_free) struct host_service wanted = {0}, found = {0};
    assert_int_equal(service_make(&service_containerd, &settings, &wanted, NULL), 0);
    assert_int_equal(host_service_query(host, wanted.name, &found, NULL), 0);
    bool same = text_equal(found.display_name, wanted.display_name) &&
                text_equal(found.command, wanted.command) &&
                text_equal(found.depends_on.items[0], wanted.depends_on.items[0]) &&
                found.restart_delays_ms[2] == wanted.restart_delays_ms[2] &&
                found.restart_on_error && found.auto_start == wanted.auto_start;
    if (!same)
        fail_msg("%s was not put right", member);
}

/* Anything that differs in the SCM is put right; a restart is asked for where one is needed. */
static void changed_by_hand(void **state) {
    static const char *const members[] = {"display_name", "command", "depends",
                                          "delay",        "error",   "start"};
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
        _cleanup_(host_service_free) struct host_service service = {0};
        bool changed = false;
        assert_int_equal(service_make(&service_containerd, &settings, &service, NULL), 0);
        switch (i) {
        case 0:
            service.display_name[0] = 'X';
            break;
        case 1:
            service.command[0] = 'X';
            break;
        case 2:
            service.depends_on.items[0][0] = 'X';
            break;
        case 3:
            service.restart_delays_ms[2] = 1;
            break;
        case 4:
            service.restart_on_error = false;
            break;
        default:
            service.auto_start = false;
        }
        assert_int_equal(host_service_put(host, &service, NULL), 0);
        assert_int_equal(service_ensure(host, &service_containerd, &settings, &changed, NULL), 0);
        assert_int_equal(changed, text_equal(members[i], "command")); /* read at start */
        assert_in_scm(members[i]);
        assert_int_equal(service_ensure(host, &service_containerd, &settings, &changed, NULL), 0);
        assert_false(changed);
    }
    settings.kubelet_version = "x";
    assert_int_equal(service_ensure(host, &service_kubelet, &settings, NULL, NULL), -1);
}

static void quoting(void **state) {
    struct text_list list = {0};
    (void)state;
    text_list_add(&list, "C:\\a b\\c.exe");
    text_list_add(&list, "plain\\");
    text_list_add(&list, "");
    text_list_add(&list, "ends in \\");
    text_list_add(&list, "a\\\"b");
    char *line = command_line_make((const char *const *)list.items);
    assert_string_equal(line, "\"C:\\a b\\c.exe\" plain\\ \"\" \"ends in \\\\\" \"a\\\\\\\"b\"");
    free(line);
    text_list_free(&list);
}

static void ensured_twice(void **state) {
    struct service_host_settings file = {0};
    bool changed = false;
    struct error err = {0};
    (void)state;
    json_t *bare = host_memory_state(host);
    assert_int_equal(service_ensure(host, &service_kube_proxy, &settings, &changed, &err), 0);
    assert_true(changed);
    assert_int_equal(service_host_settings_load(host, "kube-proxy", &file, &err), 0);
    assert_string_equal(file.command.items[0], "C:\\k\\kube-proxy.exe");
    assert_string_equal(file.environment.items[0], "KUBE_NETWORK=flannel.4096");
    assert_string_equal(file.log_file, "C:\\var\\log\\kube-proxy\\kube-proxy.log");
    service_host_settings_free(&file);
    json_t *before = host_memory_state(host);
    assert_int_equal(service_ensure(host, &service_kube_proxy, &settings, &changed, &err), 0);
    assert_false(changed);
    json_t *after = host_memory_state(host);
    assert_true(json_equal(before, after));
    settings.network_name = "cbr0";
    assert_int_equal(service_ensure(host, &service_kube_proxy, &settings, &changed, &err), 0);
    assert_true(changed);
    assert_int_equal(service_remove(host, &service_kube_proxy, &err), 0);
    assert_int_equal(service_remove(host, &service_kube_proxy, &err), 0);
    json_t *gone = host_memory_state(host);
    assert_true(json_equal(json_object_get(gone, "services"), json_object_get(bare, "services")));
    assert_int_equal(host_file_type(host, "C:\\ProgramData\\winjoin\\services\\kube-proxy.json"),
                     HOST_ABSENT);
    json_decref(bare);
    json_decref(before);
    json_decref(after);
    json_decref(gone);
}

static void foreign_service(void **state) {
    char name[] = "kubelet", description[] = "somebody's", command[] = "C:\\nssm.exe";
    struct host_service foreign = {
        .name = name, .display_name = name, .description = description, .command = command};
    struct error err = {0};
    (void)state;
    assert_int_equal(host_service_put(host, &foreign, &err), 0);
    assert_int_equal(service_ensure(host, &service_kubelet, &settings, NULL, &err), -1);
    assert_int_equal(err.kind, ERROR_CONFLICT);
    assert_non_null(strstr(err.hints[0], "nssm.exe"));
    assert_int_equal(service_remove(host, &service_kubelet, &err), 0);
    struct host_service found = {0};
    assert_int_equal(host_service_query(host, "kubelet", &found, &err), 0);
    assert_string_equal(found.command, "C:\\nssm.exe");
    host_service_free(&found);
}

#define FILE_OF(command, environment, log, bytes)                                                  \
    "{\"command\":" command ",\"environment\":" environment                                        \
    ",\"workingFolder\":\"C:\\\\k\",\"logFile\":" log ",\"maxLogBytes\":" bytes                    \
    ",\"maxLogFiles\":3,\"stopTimeoutMs\":1000}"
#define LIMITS(bytes, files, stop)                                                                 \
    "{\"command\":[\"C:\\\\k.exe\"],\"environment\":[],\"workingFolder\":\"C:\\\\k\","             \
    "\"logFile\":" LOG ",\"maxLogBytes\":" bytes ",\"maxLogFiles\":" files                         \
    ",\"stopTimeoutMs\":" stop "}"
#define LOG "\"C:\\\\var\\\\log\\\\x\\\\x.log\""

static void settings_file(void **state) {
    static const char *const bad[] = {
        "",
        "[]",
        "{}",
        FILE_OF("[]", "[]", LOG, "10000"),
        FILE_OF("[\"k.exe\"]", "[]", LOG, "10000"),
        FILE_OF("[\"C:\\\\k\\\\..\\\\k.exe\"]", "[]", LOG, "10000"),
        FILE_OF("[\"C:\\\\k.exe\",7]", "[]", LOG, "10000"),
        FILE_OF("[\"C:\\\\k.exe\"]", "[\"x\"]", LOG, "10000"),
        FILE_OF("[\"C:\\\\k.exe\"]", "[]", "\"x.log\"", "10000"),
        FILE_OF("[\"C:\\\\k.exe\"]", "[]", LOG, "1"),
        FILE_OF("[\"C:\\\\k.exe\"]", "[]", LOG, "10000,\"more\":1"),
        LIMITS("4095", "3", "0"),
        LIMITS("4096", "0", "0"),
        LIMITS("4096", "101", "0"),
        LIMITS("4096", "3", "-1"),
        LIMITS("4096", "3", "600001"),
    };
    struct service_host_settings file = {0};
    struct error err = {0};
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        if (service_host_settings_parse(bad[i], strlen(bad[i]), &file, &err) == 0)
            fail_msg("taken: %s", bad[i]);
        assert_int_equal(err.kind, ERROR_MALFORMED);
    }
    static const char at_the_edge[] = FILE_OF("[\"A:\\\\k.exe\"]", "[]", "\"z:\\\\x.log\"", "4096");
    assert_int_equal(service_host_settings_parse(at_the_edge, strlen(at_the_edge), &file, &err), 0);
    service_host_settings_free(&file);
    static const char highest[] = LIMITS("9223372036854775807", "100", "600000");
    assert_int_equal(service_host_settings_parse(highest, strlen(highest), &file, &err), 0);
    service_host_settings_free(&file);
    static const char lowest[] = LIMITS("4096", "1", "0");
    assert_int_equal(service_host_settings_parse(lowest, strlen(lowest), &file, &err), 0);
    service_host_settings_free(&file);
    static const char good[] = FILE_OF("[\"C:\\\\k.exe\"]", "[\"A=\"]", LOG, "10000");
    assert_int_equal(service_host_settings_parse(good, strlen(good), &file, &err), 0);
    assert_int_equal(file.max_log_files, 3);
    char *text = service_host_settings_make(&file);
    service_host_settings_free(&file);
    assert_int_equal(service_host_settings_parse(text, strlen(text), &file, &err), 0);
    free(text);
    service_host_settings_free(&file);
    assert_int_equal(service_host_settings_load(host, "..\\x", &file, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    assert_int_equal(service_host_settings_load(host, "x", &file, &err), -1);
    assert_int_equal(err.kind, ERROR_ABSENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(kubelet_by_version, open_host, close_host),
        cmocka_unit_test_setup_teardown(extra_arguments, open_host, close_host),
        cmocka_unit_test_setup_teardown(no_secret_in_the_message, open_host, close_host),
        cmocka_unit_test_setup_teardown(other_programs, open_host, close_host),
        cmocka_unit_test_setup_teardown(what_the_scm_is_told, open_host, close_host),
        cmocka_unit_test_setup_teardown(rows, open_host, close_host),
        cmocka_unit_test(what_is_wanted),
        cmocka_unit_test_setup_teardown(changed_by_hand, open_host, close_host),
        cmocka_unit_test(quoting),
        cmocka_unit_test_setup_teardown(ensured_twice, open_host, close_host),
        cmocka_unit_test_setup_teardown(foreign_service, open_host, close_host),
        cmocka_unit_test_setup_teardown(settings_file, open_host, close_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
