/* Flags in a help text, and what is left out of a command line by it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "services/artifacts/program_image.h"
#include "services/program_flags.h"
#include "services/service_table.h"
#include "tests/memory/host_memory.h"
#include "tests/scene/program_image.h"

static void reads_a_help_text(void **state) {
    static const char help[] =
        "Text with --words and\n  -x things.\n\nUsage:\n  kubelet [flags]\n\nFlags:\n"
        "      --node-ip string      IP (DEPRECATED: use --other)\r\n"
        "  -h, --help                help for kubelet\n"
        "  -v, --v Level             number\n"
        "      --version version[=true]   Print\n"
        "--not-indented string\n"
        "      --bad!name string\n"
        "      --tls_old string\n"
        "      --last";
    struct text_list flags = {0};
    _cleanup_(freep) char *all = NULL;

    (void)state;
    program_flags_parse(help, &flags);
    all = text_list_join(&flags, " ");
    assert_string_equal(all, "node-ip help v version tls_old last");
    text_list_free(&flags);
    program_flags_parse("Kubernetes v1.37.1\n", &flags);
    program_flags_parse("", &flags);
    assert_int_equal(flags.count, 0);
}

/* It would load what a user put beside it. */
static void runs_nothing_beside_a_strangers_file(void **state) {
    struct host *host = host_memory_new();
    struct text_list flags = {0};
    struct error err = {0};

    (void)state;
    host_memory_set_program(host, "kubelet.exe", 0, "");
    host_memory_set_program_flags(host, "kubelet.exe", "v");
    assert_int_equal(host_write(host, "C:\\k\\version.dll", "x", 1, HOST_PUBLIC, &err), 0);
    host_memory_give_to_user(host, "C:\\k\\version.dll");
    assert_int_equal(program_flags_read(host, "C:\\k\\kubelet.exe", &flags, &err), -1);
    assert_int_equal(err.kind, ERROR_DENIED);
    assert_null(strstr(host_memory_log(host), "run C:\\k"));
    host_free(host);
}

static void asks_a_program(void **state) {
    struct host *host = host_memory_new();
    struct text_list flags = {0}, arguments = {0};
    struct error err = {0};
    bool takes = false;

    (void)state;
    assert_int_equal(program_flags_read(host, "C:\\k\\kubelet.exe", &flags, &err), -1);
    assert_int_equal(err.kind, ERROR_ABSENT);
    host_memory_set_program(host, "kubelet.exe", 0, "");
    host_memory_set_program_flags(host, "kubelet.exe", "v node-ip");
    assert_int_equal(program_flags_read(host, "C:\\k\\kubelet.exe", &flags, &err), 0);
    assert_true(text_list_has(&flags, "node-ip"));
    text_list_split(&arguments, "--v=2 --node-ip=10.0.0.1", ' ');
    assert_int_equal(program_takes(host, "C:\\k\\kubelet.exe", &arguments, &takes, &err), 0);
    assert_true(takes);
    text_list_add(&arguments, "--node-ips=x");
    assert_int_equal(program_takes(host, "C:\\k\\kubelet.exe", &arguments, &takes, &err), 0);
    assert_false(takes);
    text_list_free(&flags);
    text_list_free(&arguments);
    host_free(host);
}

#define KUBELET "C:\\k\\kubelet.exe"

static void asks_for_a_version(void **state) {
    struct host *host = host_memory_new();
    _cleanup_(freep) char *says = NULL;
    struct error err = {0};

    (void)state;
    assert_int_equal(program_version_read(host, KUBELET, true, &says, &err), 0);
    assert_int_equal(host_write(host, KUBELET, "MZ", 2, HOST_PUBLIC, &err), 0);
    host_memory_set_program(host, "kubelet.exe", 3, "Kubernetes v1.37.1\n");
    assert_int_equal(program_version_read(host, KUBELET, true, &says, &err), -1);
    assert_string_equal(err.message, "'C:\\k\\kubelet.exe --version' ended with exit code 3");
    assert_int_equal(program_version_read(host, KUBELET, false, &says, &err), 0);
    host_memory_set_program(host, "kubelet.exe", 0, "Kubernetes v1.37.1\n");
    assert_int_equal(program_version_read(host, KUBELET, true, &says, &err), 1);
    assert_string_equal(says, "v1.37.1");
    host_memory_set_program(host, "kubelet.exe", 0, "a vain word v2.4.2 abc\n");
    freep(&says);
    assert_int_equal(program_version_read(host, KUBELET, true, &says, &err), 1);
    assert_string_equal(says, "v2.4.2");
    host_memory_set_program(host, "kubelet.exe", 0, "no version\r\nat all\n");
    freep(&says);
    assert_int_equal(program_version_read(host, KUBELET, true, &says, &err), 1);
    assert_string_equal(says, "no version");
    host_free(host);
}

/* The file says it: the program is not run. */
static void reads_a_version(void **state) {
    struct host *host = host_memory_new();
    _cleanup_(freep) char *image = image_make("mod\tk8s.io/kubernetes\tv1.36.2\t\n");
    _cleanup_(freep) char *says = NULL;
    struct error err = {0};

    (void)state;
    assert_int_equal(host_write(host, KUBELET, image, IMAGE_SIZE, HOST_PUBLIC, &err), 0);
    assert_int_equal(program_version_read(host, KUBELET, true, &says, &err), 1);
    assert_string_equal(says, "v1.36.2");
    assert_null(strstr(host_memory_log(host), "run "));
    assert_int_equal(host_write(host, KUBELET, image, IMAGE_SIZE / 2, HOST_PUBLIC, &err), 0);
    assert_int_equal(program_version_read(host, KUBELET, false, &says, &err), -1);
    assert_string_equal(err.message, "read 'C:\\k\\kubelet.exe': the file is cut off");
    assert_int_equal(err.kind, ERROR_MALFORMED);
    host_free(host);
}

static void runs_nothing_of_a_stranger(void **state) {
    struct host *host = host_memory_new();
    _cleanup_(freep) char *says = NULL;
    struct text_list flags = {0};
    struct error err = {0};
    bool takes;

    (void)state;
    assert_int_equal(host_write(host, KUBELET, "MZ", 2, HOST_PUBLIC, &err), 0);
    host_memory_set_program(host, "kubelet.exe", 0, "Kubernetes v1.37.1\n");
    host_memory_give_to_user(host, "C:\\k");
    assert_int_equal(program_version_read(host, KUBELET, true, &says, &err), -1);
    assert_int_equal(err.kind, ERROR_DENIED);
    assert_string_equal(err.message, "'C:\\k' belongs to SRV\\eve");
    assert_int_equal(program_flags_read(host, KUBELET, &flags, &err), -1);
    assert_int_equal(program_takes(host, KUBELET, &flags, &takes, &err), -1);
    assert_null(strstr(host_memory_log(host), "run "));
    assert_null(strstr(host_memory_log(host), "read C:"));
    host_free(host);
}

static void leaves_out_what_is_not_known(void **state) {
    struct text_list known = {0}, all = {0}, dropped = {0};
    struct service_settings settings = {.kubelet_version = "v1.37.1",
                                        .node_name = "win-1",
                                        .node_labels = "a=b",
                                        .known_flags = &known};
    _cleanup_(freep) char *line = NULL;

    (void)state;
    text_list_split(&settings.kubelet_extra_args, "--mine=1", ' ');
    assert_int_equal(service_arguments(&service_kubelet, &settings, &all, NULL, NULL), 0);
    assert_true(text_list_has(&all, "--node-labels=a=b")); /* nothing known: all */
    text_list_free(&all);
    text_list_split(&known, "config kubeconfig cert-dir hostname-override", ' ');
    assert_int_equal(service_arguments(&service_kubelet, &settings, &all, &dropped, NULL), 0);
    line = text_list_join(&all, " ");
    assert_null(strstr(line, "--node-labels"));
    assert_null(strstr(line, "--v=2"));
    assert_non_null(strstr(line, " --hostname-override=win-1"));
    assert_non_null(strstr(line, " --mine=1")); /* the user's own is asked about elsewhere */
    assert_int_equal(dropped.count, 2);
    assert_true(text_list_has(&dropped, "--node-labels=a=b"));
    text_list_free(&settings.kubelet_extra_args);
    text_list_free(&known);
    text_list_free(&all);
    text_list_free(&dropped);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_help_text),
        cmocka_unit_test(runs_nothing_beside_a_strangers_file),
        cmocka_unit_test(asks_a_program),
        cmocka_unit_test(asks_for_a_version),
        cmocka_unit_test(reads_a_version),
        cmocka_unit_test(runs_nothing_of_a_stranger),
        cmocka_unit_test(leaves_out_what_is_not_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
