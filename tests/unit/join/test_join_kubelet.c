/* A join's kubelet: patches, the user's arguments, versions; what is refused before anything is
 * touched. */
#include "tests/scene/join_scene.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static int setup(void **state) {
    struct run *r = xcalloc(1, sizeof *r);

    open_run(r, "overlay");
    *state = r;
    return 0;
}

static int teardown(void **state) {
    struct run *r = *state;

    close_run(r);
    free(r);
    return 0;
}

static char *content(struct run *r, const char *path) {
    char *data = NULL;
    size_t len;

    if (host_read(r->host, path, 1 << 20, &data, &len, NULL) < 0)
        fail_msg("%s is absent", path);
    return data;
}

static void joins(struct run *r) {
    struct error err = {0};

    if (join_once(r, &err) < 0)
        fail_msg("%s", err.message);
}

/* Refused with these words, and the host is as it was. */
static void refuses(struct run *r, enum error_kind kind, const char *words, const char *hint) {
    _cleanup_json_ json_t *before = state_of(r), *after = NULL;
    struct error err = {0};

    assert_int_equal(join_once(r, &err), -1);
    if (err.kind != kind || !strstr(err.message, words))
        fail_msg("'%s' (%s)", err.message, error_kind_name(err.kind));
    if (hint)
        assert_string_equal(err.hints[0], hint);
    after = state_of(r);
    print_difference(before, after, "");
    assert_true(json_equal(before, after));
}

static void put(struct run *r, const char *path, const char *text) {
    assert_int_equal(host_write(r->host, path, text, strlen(text), HOST_PUBLIC, NULL), 0);
}

static void writes_a_patched_configuration(void **state) {
    struct run *r = *state;
    _cleanup_(freep) char *config = NULL, *instance = NULL;

    put(r, "C:\\patches\\kubeletconfiguration+merge.yaml",
        "maxPods: 42\nstaticPodPath: D:\\pods\ncontainerRuntimeEndpoint: unix:///x\n");
    r->options.patches = xstrdup("C:\\patches");
    joins(r);
    config = content(r, "C:\\var\\lib\\kubelet\\config.yaml");
    assert_non_null(strstr(config, "\nmaxPods: 42\n"));
    assert_non_null(strstr(config, "\ncontainerRuntimeEndpoint: npipe:////./pipe/containerd-"));
    assert_non_null(strstr(config, "\nfileCheckFrequency: 2s\n"));
    assert_int_equal(host_file_type(r->host, "D:\\pods"), HOST_FOLDER);
    instance = content(r, "C:\\var\\lib\\kubelet\\instance-config.yaml");
    assert_non_null(strstr(instance, "containerRuntimeEndpoint: \"npipe:"));
}

static void listen_to_warnings(void *context, const struct join_event *event) {
    if (event->state == JOIN_WARNING)
        text_addf(context, "%s\n", event->message);
}

static void warns_of_each_path_without_a_drive(void **state) {
    struct run *r = *state;
    struct error err = {0};
    struct text told = {0};
    struct join join;

    put(r, "C:\\patches\\kubeletconfiguration+merge.yaml",
        "staticPodPath: /x\nvolumePluginDir: C:\\z\nresolvConf: /y\n");
    r->options.patches = xstrdup("C:\\patches");
    open_join(r, &join);
    join.progress.listener = listen_to_warnings;
    join.progress.context = &told;
    if (join_need(&join, NEED_KUBELET_CONFIG, &err) < 0)
        fail_msg("%s", err.message);
    assert_string_equal(text_str(&told),
                        "a patch sets staticPodPath to '/x', a path without a drive letter\n"
                        "a patch sets resolvConf to '/y', a path without a drive letter\n");
    join_close(&join);
    text_free(&told);
}

static void refuses_a_bad_patch_first(void **state) {
    struct run *r = *state;

    put(r, "C:\\patches\\kubeletconfiguration.yaml", "maxPods: 42\n$patch: 1\n");
    r->options.patches = xstrdup("C:\\patches");
    refuses(r, ERROR_USAGE, "kubeletconfiguration.yaml: line 2: /$patch", NULL);
    freep(&r->options.patches);
    r->options.patches = xstrdup("C:\\nowhere");
    refuses(r, ERROR_USAGE, "patches folder 'C:\\nowhere': no such folder", NULL);
}

static void passes_the_users_arguments(void **state) {
    struct run *r = *state;
    _cleanup_(freep) char *flags = NULL, *service = NULL;

    host_memory_set_program_flags(
        r->host, "kubelet.exe", "config kubeconfig cert-dir hostname-override node-ip v max-pods");
    text_list_add(&r->options.kubelet_extra_args, "max-pods=42");
    text_list_add(&r->options.kubelet_extra_args, "hostname-override=WIN-7K2");
    text_list_add(&r->options.kubelet_service_args, "--v=4");
    joins(r);
    flags = content(r, "C:\\var\\lib\\kubelet\\kubeadm-flags.env");
    assert_non_null(strstr(flags, "--max-pods=42 --hostname-override=WIN-7K2\""));
    service = content(r, "C:\\ProgramData\\winjoin\\services\\kubelet.json");
    assert_non_null(strstr(service, "--max-pods=42"));
    assert_non_null(strstr(service, "--v=4"));
    assert_null(strstr(service, "--v=2"));
    assert_null(strstr(service, "--hostname-override=win-7k2"));
}

/* A newer program may lack a flag of ours: it runs without it, and that is said. */
static void leaves_out_a_flag_that_the_kubelet_does_not_know(void **state) {
    struct run *r = *state;
    struct error err = {0};
    struct text told = {0};
    struct join join;
    _cleanup_(freep) char *service = NULL;

    host_memory_set_program_flags(r->host, "kubelet.exe",
                                  "config kubeconfig cert-dir hostname-override node-ip");
    open_join(r, &join);
    join.progress.listener = listen_to_warnings;
    join.progress.context = &told;
    if (join_run(&join, &err) < 0)
        fail_msg("%s", err.message);
    join_close(&join);
    assert_non_null(strstr(text_str(&told), "kubelet does not know '--v=2': left out\n"));
    service = content(r, "C:\\ProgramData\\winjoin\\services\\kubelet.json");
    assert_null(strstr(service, "--v="));
    assert_non_null(strstr(service, "--config="));
    text_free(&told);
}

static void refuses_an_argument_that_the_kubelet_does_not_know(void **state) {
    struct run *r = *state;

    host_memory_set_program_flags(r->host, "kubelet.exe", "config kubeconfig node-ip v max-pods");
    text_list_add(&r->options.kubelet_extra_args, "max-pods=42");
    text_list_add(&r->options.kubelet_extra_args, "max-pod=43");
    refuses(r, ERROR_USAGE, "kubelet argument '--max-pod=43': 'C:\\k\\kubelet.exe' has no such",
            "did you mean --max-pods?");
    text_list_free(&r->options.kubelet_extra_args);
    text_list_add(&r->options.kubelet_service_args, "--token=abc");
    refuses(r, ERROR_USAGE, "a secret must not be on a command line", NULL);
}

/* A kubelet that takes no letters for --max-pods. */
static bool kubelet_wants_a_number(void *context, struct host *host,
                                   const struct host_process *process, int *ret_code,
                                   struct text *ret_said, struct error *err) {
    (void)context, (void)host, (void)ret_said, (void)err;
    for (size_t i = 1; process->argv[i]; i++)
        if (text_equal(process->argv[i], "--max-pods=many")) {
            *ret_code = 1;
            return true;
        }
    return false;
}

static void refuses_a_value_that_the_kubelet_does_not_take(void **state) {
    struct run *r = *state;

    host_memory_set_program_flags(r->host, "kubelet.exe", "config kubeconfig node-ip v max-pods");
    host_memory_on_run(r->host, kubelet_wants_a_number, NULL);
    text_list_add(&r->options.kubelet_extra_args, "max-pods=many");
    refuses(r, ERROR_USAGE,
            "kubelet argument '--max-pods=many': 'C:\\k\\kubelet.exe' does not accept that value",
            NULL);
}

/* One whose help names no flag tells nothing of arguments. */
static bool kubelet_has_no_help(void *context, struct host *host,
                                const struct host_process *process, int *ret_code,
                                struct text *ret_said, struct error *err) {
    (void)context, (void)host, (void)err;
    for (size_t i = 1; process->argv[i]; i++)
        if (text_equal(process->argv[i], "--help")) {
            *ret_code = i > 1;
            text_add(ret_said, "The kubelet is the primary node agent.\n");
            return true;
        }
    return false;
}

static void takes_what_the_kubelet_does_not_tell(void **state) {
    struct run *r = *state;

    host_memory_on_run(r->host, kubelet_has_no_help, NULL);
    text_list_add(&r->options.kubelet_extra_args, "max-pods=42");
    joins(r);
}

/* A kubelet that is asked about its configuration, and what it saw. */
struct asked {
    int code;
    const char *says;
    enum error_kind fails; /* instead: it cannot be heard */
    unsigned times;
    char *config, *words;
};

static bool kubelet_answers(void *context, struct host *host, const struct host_process *process,
                            int *ret_code, struct text *ret_said, struct error *err) {
    struct asked *asked = context;
    struct text words = {0};
    size_t len;

    for (size_t i = 0; process->argv[i]; i++)
        text_addf(&words, "%s ", process->argv[i]);
    if (!strstr(text_str(&words), "--exit-on-lock-contention")) {
        text_free(&words);
        return false;
    }
    asked->times++;
    free(asked->words);
    freep(&asked->config);
    asked->words = text_take(&words);
    assert_int_equal(host_read(host, "C:\\ProgramData\\winjoin\\tmp\\config.yaml", 1 << 20,
                               &asked->config, &len, NULL),
                     0);
    assert_true(process->with_errors && process->timeout_ms == 30000);
    *ret_code = asked->code;
    text_add(ret_said, asked->says);
    if (asked->fails)
        (void)error_set(err, asked->fails, "it cannot be heard");
    return true;
}

static char *warnings_of(struct run *r) {
    struct join join = {.host = r->host, .http = r->http, .asked = &r->options};
    struct error err = {0};
    char *all;

    if (join_open(&join, &err) < 0 || join_run(&join, &err) < 0)
        fail_msg("%s", err.message);
    all = text_list_join(&join.progress.warnings, "\n");
    join_close(&join);
    return all;
}

#define GOOD "failed to run Kubelet: cannot exit on lock file contention: no lock file specified\n"

/* Each time, before anything is written, with the file as it will be, but for the CA's path. */
static void asks_the_kubelet(void **state) {
    struct run *r = *state;
    struct asked asked = {.code = 1, .says = GOOD};
    _cleanup_(freep) char *written = NULL;

    host_memory_on_run(r->host, kubelet_answers, &asked);
    joins(r);
    assert_int_equal(asked.times, 1);
    assert_non_null(strstr(asked.words, "--cert-dir=C:\\ProgramData\\winjoin\\tmp\\pki"));
    assert_non_null(strstr(asked.words, "--config=C:\\ProgramData\\winjoin\\tmp\\config.yaml"));
    assert_non_null(strstr(asked.config, "staticPodPath: C:"));
    assert_null(strstr(asked.config, "clientCAFile"));
    written = content(r, "C:\\var\\lib\\kubelet\\config.yaml");
    assert_non_null(strstr(written, "clientCAFile: C:"));
    assert_int_equal(host_file_type(r->host, "C:\\ProgramData\\winjoin\\tmp"), HOST_ABSENT);
    free(asked.words);
    free(asked.config);
}

static void refuses_what_the_kubelet_objects_to(void **state) {
    struct run *r = *state;
    struct asked asked = {
        .code = 2,
        .says = "panic: failed to merge global and in-flight KubeletConfiguration while setting "
                "defaults, error: unrecognized feature gate: NoSuchGate\n\ngoroutine 1:\n"};

    host_memory_on_run(r->host, kubelet_answers, &asked);
    refuses(
        r, ERROR_USAGE,
        "the cluster's KubeletConfiguration does not fit this kubelet: unrecognized feature gate: "
        "NoSuchGate",
        "the kubelet would not start: change the ConfigMap kube-system/kubelet-config, or "
        "override the value for this node with a patch (--patches)");
    free(asked.words);
    free(asked.config);
}

/* What it says, how it ends, and what is told of that. */
static void tells_what_the_kubelet_does_not_say(void **state) {
    static const struct {
        struct asked asked;
        const char *warning; /* NULL: none */
    } rows[] = {
        {{.code = 1, .says = GOOD}, NULL},
        {{.code = 1, .says = "strict decoding error: unknown field \\\"maxPodz\\\"\"\n" GOOD},
         "ignores a part of its configuration: unknown field \"maxPodz\""},
        {{.code = (int)0xC0000005, .says = ""}, "ended with exit code 0xc0000005"},
        {{.code = 129, .says = ""}, "ended with exit code 0x81"},
        {{.code = 128, .says = ""}, NULL},
        {{.fails = ERROR_TIMED_OUT, .says = ""}, "could not let the kubelet check"},
        {{.fails = ERROR_MALFORMED, .says = ""}, "could not let the kubelet check"},
        {{.fails = ERROR_ABSENT, .says = ""}, NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct asked asked = rows[i].asked;
        _cleanup_(freep) char *warnings = NULL;
        struct run r;

        open_run(&r, "overlay");
        host_memory_on_run(r.host, kubelet_answers, &asked);
        warnings = warnings_of(&r);
        if (rows[i].warning ? !strstr(warnings, rows[i].warning)
                            : strstr(warnings, "kubelet") != NULL)
            fail_msg("row %zu: %s", i, warnings);
        free(asked.words);
        free(asked.config);
        close_run(&r);
    }
}

static void stops_when_it_is_interrupted_meanwhile(void **state) {
    struct run *r = *state;
    struct asked asked = {.fails = ERROR_INTERRUPTED, .says = ""};

    host_memory_on_run(r->host, kubelet_answers, &asked);
    refuses(r, ERROR_INTERRUPTED, "interrupted", NULL);
    free(asked.words);
    free(asked.config);
}

static void refuses_versions_that_do_not_fit(void **state) {
    struct run *r = *state;

    host_memory_set_program(r->host, "kubelet.exe", 0, "Kubernetes v1.38.0\n");
    refuses(r, ERROR_PREFLIGHT, "[KubeletVersion] the kubelet version is higher", NULL);
    host_memory_set_program(r->host, "kubelet.exe", 0, "Kubernetes v1.33.1\n");
    refuses(r, ERROR_PREFLIGHT, "more than 3 minor versions older", NULL);
    host_memory_set_program(r->host, "kubelet.exe", 0, "Kubernetes v1.37.0\n");
    r->scene.server_version = "v1.36.4";
    refuses(r, ERROR_PREFLIGHT, "kubelet v1.37.0, control plane v1.36.4", NULL);
    r->scene.server_version = "v1.37.4";
    r->options.kubernetes_version = xstrdup("1.37.1");
    refuses(r, ERROR_USAGE, "the kubelet to be started is v1.37.0", NULL);
    freep(&r->options.kubernetes_version);
    r->options.kubernetes_version = xstrdup("1.37.0");
    joins(r);
}

static void lets_the_version_check_be_ignored(void **state) {
    struct run *r = *state;
    _cleanup_(freep) char *flags = NULL;

    host_memory_set_program(r->host, "kubelet.exe", 0, "Kubernetes v1.33.1\n");
    text_list_add(&r->options.ignore_preflight_errors, "kubeletversion");
    joins(r);
    flags = content(r, "C:\\var\\lib\\kubelet\\kubeadm-flags.env");
    assert_non_null(strstr(flags, "=\"--container-runtime-endpoint=npipe:"));
    assert_int_equal(host_file_type(r->host, "C:\\var\\lib\\kubelet\\instance-config.yaml"),
                     HOST_ABSENT);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(writes_a_patched_configuration),
        CASE(warns_of_each_path_without_a_drive),
        CASE(refuses_a_bad_patch_first),
        CASE(passes_the_users_arguments),
        CASE(leaves_out_a_flag_that_the_kubelet_does_not_know),
        CASE(refuses_an_argument_that_the_kubelet_does_not_know),
        CASE(refuses_a_value_that_the_kubelet_does_not_take),
        CASE(takes_what_the_kubelet_does_not_tell),
        CASE(refuses_what_the_kubelet_objects_to),
        CASE(asks_the_kubelet),
        CASE(tells_what_the_kubelet_does_not_say),
        CASE(stops_when_it_is_interrupted_meanwhile),
        CASE(refuses_versions_that_do_not_fit),
        CASE(lets_the_version_check_be_ignored),
        cmocka_unit_test(what_was_told_is_expected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
