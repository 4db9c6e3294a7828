/* Services that an image brought: a join goes on with them, and a reset gives them back. */
#include "tests/scene/join_scene.h"

#include "base/log.h"
#include "cmd/program.h"
#include "host/command_line.h"
#include "join/plan/plan.h"
#include "services/containerd_settings.h"
#include "services/runtime_files.h"
#include "services/service_table.h"

#define NATIVE                                                                                     \
    "\"C:\\k\\kubelet.exe\" --windows-service --config=C:/var/lib/kubelet/config.yaml "            \
    "--node-labels role=old --register-with-taints=a=b:NoSchedule --image-credential-provider="    \
    "\"C:\\Program Files\\acr.exe\""
#define SCRIPT "C:\\k\\StartKubelet.ps1"
#define WRAPPED "C:\\nssm\\nssm.exe"

static struct text warnings;

static void keep_warning(void *context, enum log_level level, const char *line) {
    (void)context;
    if (level == LOG_WARNING)
        text_addf(&warnings, "%s\n", line);
}

/* As PrepareNode.ps1 and image-builder leave a machine. */
static void put_service(struct run *r, const char *name, const char *command, bool runs) {
    struct host_service service = {.name = (char *)name,
                                   .display_name = (char *)name,
                                   .description = (char *)"of the image",
                                   .command = (char *)command,
                                   .auto_start = runs,
                                   .restart_on_error = runs,
                                   .restart_delays_ms = {1000, 2000, 3000},
                                   .reset_seconds = 40,
                                   .preshutdown_ms = 5000};

    assert_int_equal(host_service_put(r->host, &service, NULL), 0);
    if (runs)
        assert_int_equal(host_service_start(r->host, name, 1000, NULL), 0);
}

static void open_image(struct run *r, const char *kubelet) {
    open_run(r, NULL);
    kubeadm_settle(&r->options);
    put_service(r, "containerd", "\"C:\\Program Files\\containerd\\containerd.exe\" --run-service",
                true);
    host_memory_set_pipe(r->host, "\\\\.\\pipe\\containerd-containerd");
    put_service(r, "kubelet", kubelet, false);
    assert_int_equal(
        host_write(r->host, CONTAINERD_CONFIG_PATH, "version = 3\n", 12, HOST_PUBLIC, NULL), 0);
    text_clear(&warnings);
    log_open(keep_warning, NULL, LOG_WARNING);
}

static char *command_of(struct run *r, const char *name) {
    struct host_service service = {0};
    char *command;

    assert_int_equal(host_service_query(r->host, name, &service, NULL), 0);
    assert_string_equal(service.description, "of the image");
    assert_int_equal(service.state, HOST_SERVICE_RUNNING);
    command = xstrdup(service.command);
    host_service_free(&service);
    return command;
}

static void join(struct run *r) {
    struct error err = {0};

    if (join_once(r, &err) < 0)
        fail_msg("%s", err.message);
}

static void assert_taken_back(struct run *r, const json_t *before) {
    struct error err = {0};
    json_t *after;

    if (reset_once(r, &err) < 0)
        fail_msg("%s", err.message);
    after = state_of(r);
    assert_same(before, after, "after the reset");
    json_decref(after);
}

static void close_image(struct run *r) {
    log_open(NULL, NULL, 0);
    close_run(r);
}

/* The arguments that image-builder's images drop reach it: each flag once, the image's own stay. */
static void native_kubelet_gets_the_arguments(void **state) {
    _cleanup_(freep) char *command = NULL, *again = NULL, *containerd = NULL, *config = NULL;
    struct run r;
    json_t *before;
    size_t len;

    (void)state;
    open_image(&r, NATIVE);
    text_list_add(&r.options.kubelet_extra_args, "node-labels=role=new");
    text_list_add(&r.options.kubelet_extra_args, "v=4");
    before = state_of(&r);
    join(&r);
    command = command_of(&r, "kubelet");
    assert_true(text_starts_with(command,
                                 "C:\\k\\kubelet.exe --windows-service "
                                 "--register-with-taints=a=b:NoSchedule "
                                 "\"--image-credential-provider=C:\\Program Files\\acr.exe\""
                                 " --config=C:\\var\\lib\\kubelet\\config.yaml "));
    assert_non_null(strstr(command, " --node-labels=role=new"));
    assert_null(strstr(command, "role=old"));
    assert_non_null(strstr(command, " --v=4"));
    assert_null(strstr(command, "--v=2"));
    containerd = command_of(&r, "containerd");
    assert_string_equal(containerd,
                        "\"C:\\Program Files\\containerd\\containerd.exe\" --run-service");
    assert_int_equal(host_read(r.host, CONTAINERD_CONFIG_PATH, 100, &config, &len, NULL), 0);
    assert_string_equal(config, "version = 3\n");
    assert_string_equal(text_str(&warnings), "");
    join(&r); /* once more: nothing is added twice */
    again = command_of(&r, "kubelet");
    assert_string_equal(again, command);
    assert_taken_back(&r, before);
    json_decref(before);
    close_image(&r);
}

/* image-builder's images since 2026: another program starts it, and has words of its own. */
static void behind_a_log_runner_it_gets_them_too(void **state) {
    _cleanup_(freep) char *command = NULL;
    struct run r;

    (void)state;
    open_image(&r, "\"C:\\k\\kube-log-runner.exe\" --log-file=C:/log/kubelet.log -v=1 "
                   "C:/k/kubelet.exe --windows-service -v=2 --node-labels=role=old");
    text_list_add(&r.options.kubelet_extra_args, "node-labels=role=new");
    text_list_add(&r.options.kubelet_extra_args, "log-file=x");
    join(&r);
    command = command_of(&r, "kubelet");
    assert_true(text_starts_with(command, "C:\\k\\kube-log-runner.exe "
                                          "--log-file=C:/log/kubelet.log -v=1 C:/k/kubelet.exe "
                                          "--windows-service -v=2 --config="));
    assert_non_null(strstr(command, " --node-labels=role=new"));
    assert_null(strstr(command, "role=old"));
    assert_string_equal(text_str(&warnings), "");
    close_image(&r);
}

/* nssm with a script that reads kubeadm's file, as PrepareNode.ps1 sets it up. */
static void put_script(struct run *r, const char *parameters) {
    static const char script[] = "$f = Get-Content /var/lib/kubelet/kubeadm-flags.env\n";
    static const char key[] = "SYSTEM\\CurrentControlSet\\Services\\kubelet\\Parameters";

    host_memory_set_registry(r->host, key, "Application", "C:\\Windows\\powershell.exe");
    host_memory_set_registry(r->host, key, "AppParameters", parameters);
    assert_int_equal(host_write(r->host, SCRIPT, script, sizeof script - 1, HOST_PUBLIC, NULL), 0);
}

/* As people write them: slashes, a command in place of a file. */
static void a_script_is_found_by_any_spelling(void **state) {
    static const char *const spellings[] = {
        "-NoProfile -File \"C:/k/StartKubelet.ps1\"",
        "-Command \"& 'C:\\k\\StartKubelet.ps1' -x; exit\"",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(spellings); i++) {
        struct run r;

        open_image(&r, WRAPPED);
        put_script(&r, spellings[i]);
        join(&r);
        assert_string_equal(text_str(&warnings), "");
        close_image(&r);
    }
}

static void wrapped_kubelet_reads_the_file(void **state) {
    _cleanup_(freep) char *command = NULL, *flags = NULL;
    struct run r;
    json_t *before;
    size_t len;

    (void)state;
    open_image(&r, WRAPPED);
    text_list_add(&r.options.kubelet_extra_args, "node-labels=role=new");
    put_script(&r, "-NoProfile -File " SCRIPT);
    before = state_of(&r);
    join(&r);
    command = command_of(&r, "kubelet");
    assert_string_equal(command, WRAPPED);
    assert_string_equal(text_str(&warnings), "");
    assert_int_equal(
        host_read(r.host, "C:\\var\\lib\\kubelet\\kubeadm-flags.env", 4096, &flags, &len, NULL), 0);
    assert_non_null(strstr(flags, "--node-labels=role=new"));
    assert_taken_back(&r, before);
    json_decref(before);
    close_image(&r);
}

static void one_that_drops_the_arguments_is_told(void **state) {
    struct run r;
    json_t *before;

    (void)state;
    open_image(&r, WRAPPED " run");
    before = state_of(&r);
    join(&r);
    assert_non_null(strstr(text_str(&warnings), "does not read kubeadm-flags.env"));
    assert_non_null(strstr(text_str(&warnings), "sc.exe delete kubelet"));
    assert_taken_back(&r, before);
    json_decref(before);
    close_image(&r);
}

/* Killed at the n-th call, then run again or reset at once: both services are the image's again. */
static bool killed_once(const char *kubelet, size_t n, bool again) {
    struct error err = {0};
    struct run r;
    json_t *before;
    size_t calls;
    bool reached;

    open_image(&r, kubelet);
    put_script(&r, "-NoProfile -File " SCRIPT);
    before = state_of(&r);
    calls = host_memory_calls(r.host);
    host_memory_die(r.host, n);
    (void)join_once(&r, &err);
    reached = host_memory_calls(r.host) - calls >= n;
    host_memory_fail(r.host, 0);
    set_options(&r, NULL);
    kubeadm_settle(&r.options);
    error_clear(&err);
    if (again && join_once(&r, &err) < 0)
        fail_msg("killed at call %zu, the same join again: %s", n, err.message);
    if (again) {
        _cleanup_(freep) char *command =
            command_of(&r, "kubelet"); /* it runs, and is the image's */

        assert_int_equal(strstr(command, "--windows-service") != NULL,
                         !text_equal(kubelet, WRAPPED));
    }
    assert_taken_back(&r, before);
    json_decref(before);
    close_image(&r);
    return reached;
}

static void killed_at_every_call(void **state) {
    size_t n = 1;

    tells_nothing = true;
    while (killed_once(*state, n, n % 2))
        n += next_call();
    assert_true(n > 50);
    for (n = 1; killed_once(*state, n, !(n % 2)); n += next_call())
        continue;
    tells_nothing = false;
}

/* Where the image brought none, containerd gets its file all the same. */
static void without_one_to_adopt(void **state) {
    struct error err = {0};
    struct run r;

    (void)state;
    open_run(&r, "overlay");
    r.options.existing_services = xstrdup("adopt");
    if (join_once(&r, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(host_file_type(r.host, CONTAINERD_CONFIG_PATH), HOST_FILE);
    close_run(&r);
}

/* A containerd that looks elsewhere, as its own default does. */
static void open_elsewhere(struct run *r) {
    static const char *const programs[] = {"win-overlay", "host-local"};
    static const char config[] = "version = 2\n[grpc]\naddress = '\\\\.\\pipe\\elsewhere'\n";

    open_run(r, "overlay");
    r->options.existing_services = xstrdup("adopt");
    r->scene.conf = CONTAINERD_FOLDER "\\cni\\conf\\10-winjoin.conf";
    put_service(r, "containerd", "C:\\containerd\\containerd.exe --run-service", true);
    put_service(r, "kubelet", "C:\\k\\kubelet.exe --windows-service", false);
    host_memory_set_pipe(r->host, "\\\\.\\pipe\\elsewhere");
    for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
        _cleanup_(freep) char *path =
            xasprintf(CONTAINERD_FOLDER "\\cni\\bin\\%s.exe", programs[i]);

        assert_int_equal(host_write(r->host, path, "MZ", 2, HOST_PUBLIC, NULL), 0);
    }
    assert_int_equal(
        host_write(r->host, CONTAINERD_CONFIG_PATH, config, strlen(config), HOST_PUBLIC, NULL), 0);
    assert_int_equal(host_write(r->host, CONTAINERD_FOLDER "\\cni\\conf\\0-nat.conf", "{}", 2,
                                HOST_PUBLIC, NULL),
                     0);
    assert_int_equal(
        host_remove(r->host, CONTAINERD_FOLDER "\\containerd-shim-runhcs-v1.exe", NULL), 0);
    assert_int_equal(host_remove(r->host, CNI_BIN_DIR "\\win-overlay.exe", NULL), 0);
}

static void it_gets_its_files_where_it_looks(void **state) {
    _cleanup_(freep) char *instance = NULL, *flags = NULL;
    struct run r;
    json_t *before;
    size_t len;

    (void)state;
    open_elsewhere(&r);
    before = state_of(&r);
    join(&r);
    assert_int_equal(host_file_type(r.host, CONTAINERD_FOLDER "\\cni\\conf\\10-winjoin.conf"),
                     HOST_FILE);
    assert_int_equal(host_file_type(r.host, CONTAINERD_FOLDER "\\cni\\conf\\0-nat.conf"),
                     HOST_ABSENT);
    assert_int_equal(host_file_type(r.host, CNI_CONF_DIR), HOST_ABSENT);
    assert_int_equal(host_read(r.host, KUBELET_INSTANCE_CONFIG_FILE, 4096, &instance, &len, NULL),
                     0);
    assert_non_null(strstr(instance, "npipe:////./pipe/elsewhere"));
    assert_taken_back(&r, before);
    json_decref(before);
    close_run(&r);
}

/* The plan has the services that the join goes on with, and the place of its CNI file. */
static void a_dry_run_tells_it(void **state) {
    struct error err = {0};
    struct run r;
    struct join one;
    _cleanup_json_ json_t *plan = NULL;
    _cleanup_(freep) char *text = NULL;

    (void)state;
    open_elsewhere(&r);
    one = (struct join){.host = r.host, .http = r.http, .asked = &r.options};
    assert_int_equal(join_open(&one, &err), 0);
    if (join_plan_make(&one, &plan, &err) < 0)
        fail_msg("%s", err.message);
    text = join_plan_text(plan);
    assert_non_null(strstr(text,
                           "  containerd       adopted, kept as it is:\n"
                           "                   C:\\containerd\\containerd.exe --run-service\n"));
    assert_non_null(strstr(text, "  kubelet          adopted, started again with:\n"
                                 "                   C:\\k\\kubelet.exe --windows-service --"));
    assert_non_null(strstr(text, CONTAINERD_FOLDER "\\cni\\conf\\10-winjoin.conf\n"));
    assert_null(strstr(text, CONTAINERD_CONFIG_PATH));
    assert_null(strstr(text, "services\\kubelet.json"));
    join_close(&one);
    close_run(&r);
}

/* One whose words about itself cannot be read, or that the call contradicts. */
static void one_that_does_not_fit_is_refused(void **state) {
    static const struct {
        const char *config, *socket, *says;
    } rows[] = {
        {"version = 2\n[grpc\n", NULL, "config.toml: line 2: ']' is missing"},
        {"version = 2\n", "npipe:////./pipe/other", "opens \\\\.\\pipe\\containerd-containerd"},
        {"version = 3\ndisabled_plugins = ['x', 'io.containerd.cri.v1.runtime']\n", NULL,
         "disables containerd's CRI plugin"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct error err = {0};
        struct run r;

        open_elsewhere(&r);
        assert_int_equal(host_write(r.host, CONTAINERD_CONFIG_PATH, rows[i].config,
                                    strlen(rows[i].config), HOST_PUBLIC, NULL),
                         0);
        r.options.cri_socket = xstrdup_null(rows[i].socket);
        assert_int_equal(join_once(&r, &err), -1);
        assert_int_equal(err.kind, ERROR_PREFLIGHT);
        if (!strstr(err.hints[0], "[ContainerdConfig]") || !strstr(err.hints[0], rows[i].says))
            fail_msg("'%s' does not say '%s'", err.hints[0], rows[i].says);
        close_run(&r);
    }
}

/* Nobody asked for it. */
static void otherwise_they_are_refused(void **state) {
    struct error err = {0};
    struct run r;
    json_t *before, *after;

    (void)state;
    open_image(&r, NATIVE);
    freep(&r.options.existing_services);
    before = state_of(&r);
    assert_int_equal(join_once(&r, &err), -1);
    assert_int_equal(err.kind, ERROR_PREFLIGHT);
    after = state_of(&r);
    assert_same(before, after, "refused");
    json_decref(before);
    json_decref(after);
    close_image(&r);
}

static void command_lines(void **state) {
    static const struct {
        const char *line, *words;
    } rows[] = {
        {"", ""},
        {"   ", ""},
        {"a b", "[a][b]"},
        {" \"C:\\Program Files\\x.exe\"\t-a  b ", "[C:\\Program Files\\x.exe][-a][b]"},
        {"\"\" a", "[][a]"},
        {"a\\\\\\\"b", "[a\\\"b]"},
        {"\"a\\\\\" b", "[a\\][b]"},
        {"a\\b\\\\c", "[a\\b\\\\c]"},
        {"--x=\"a b\"c", "[--x=a bc]"},
        {"\"not closed ", "[not closed ]"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct text_list words = {0};
        struct text seen = {0};

        command_line_words(rows[i].line, &words);
        for (size_t k = 0; k < words.count; k++)
            text_addf(&seen, "[%s]", words.items[k]);
        assert_string_equal(text_str(&seen), rows[i].words);
        text_list_free(&words);
        text_free(&seen);
    }
}

static int free_warnings(void **state) {
    (void)state;
    text_free(&warnings);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(native_kubelet_gets_the_arguments),
        cmocka_unit_test(wrapped_kubelet_reads_the_file),
        cmocka_unit_test(behind_a_log_runner_it_gets_them_too),
        cmocka_unit_test(a_script_is_found_by_any_spelling),
        cmocka_unit_test(one_that_drops_the_arguments_is_told),
        cmocka_unit_test_prestate(killed_at_every_call, (char *)NATIVE),
        cmocka_unit_test_prestate(killed_at_every_call, (char *)WRAPPED),
        cmocka_unit_test(without_one_to_adopt),
        cmocka_unit_test(it_gets_its_files_where_it_looks),
        cmocka_unit_test(a_dry_run_tells_it),
        cmocka_unit_test(one_that_does_not_fit_is_refused),
        cmocka_unit_test(otherwise_they_are_refused),
        cmocka_unit_test(command_lines),
        cmocka_unit_test(what_was_told_is_expected),
    };

    return cmocka_run_group_tests(tests, NULL, free_warnings);
}
