/* Arguments of the kubelet that are settings of winjoin, too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "join/configuration/kubelet_arguments.h"

struct scene {
    struct join_options options;
    struct text_list warnings;
};

static void take(struct scene *s, const char *name, const char *value) {
    kubelet_argument_take(name, value, &s->options, &s->warnings);
}

static void close_scene(struct scene *s) {
    join_options_free(&s->options);
    text_list_free(&s->warnings);
}

static void arguments_become_options(void **state) {
    struct scene s = {0};
    const struct join_options *o = &s.options;

    (void)state;
    take(&s, "pod-infra-container-image", "own.example/pause:3.10.1");
    assert_string_equal(s.options.sandbox_image, "own.example/pause:3.10.1");
    take(&s, "node-ip", "10.0.0.9");
    take(&s, "container-runtime-endpoint", "npipe:////./pipe/c");
    take(&s, "v", "4");
    assert_string_equal(o->node_ip, "10.0.0.9");
    assert_string_equal(o->cri_socket, "npipe:////./pipe/c");
    assert_int_equal(o->kubelet_extra_args.count, 1);
    assert_string_equal(o->kubelet_extra_args.items[0], "v=4");
    assert_int_equal(s.warnings.count, 0);
    close_scene(&s);
}

static void what_is_of_linux_is_left_out(void **state) {
    static const char *const rows[][2] = {{"resolv-conf", "/run/systemd/resolve/resolv.conf"},
                                          {"cgroup-driver", "systemd"},
                                          {"cgroups-per-qos", "true"},
                                          {"cluster-dns", "169.254.20.10"},
                                          {"cgroup_driver", "systemd"},
                                          {"tls-cert-file", "/etc/x.crt"}};
    static const char *const kept[][2] = {{"pod-max-pids", "-1"},
                                          {"cgroups-per-qos", "false"},
                                          {"cluster-dns", "10.96.0.10"},
                                          {"tls-cert-file", "C:\\x.crt"},
                                          {"cpu-manager-policy", "static"}};
    struct scene s = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        take(&s, rows[i][0], rows[i][1]);
    assert_int_equal(s.options.kubelet_extra_args.count, 0);
    assert_int_equal(s.warnings.count, ARRAY_SIZE(rows));
    assert_string_equal(s.warnings.items[1],
                        "kubeletExtraArgs: cgroup-driver=systemd is a setting of Linux nodes: left "
                        "out on Windows");
    for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
        take(&s, kept[i][0], kept[i][1]);
    assert_int_equal(s.options.kubelet_extra_args.count, ARRAY_SIZE(kept));
    close_scene(&s);
}

static void another_root_is_the_owners(void **state) {
    struct scene s = {0};

    (void)state;
    take(&s, "root-dir", "C:\\var\\lib\\kubelet");
    assert_int_equal(s.warnings.count, 0);
    take(&s, "root-dir", "D:\\kubelet");
    assert_int_equal(s.warnings.count, 1);
    assert_non_null(strstr(s.warnings.items[0], "root-dir=D:\\kubelet: pods' volumes"));
    assert_int_equal(s.options.kubelet_extra_args.count, 2);
    close_scene(&s);
}

static void a_flag_wins_over_an_argument(void **state) {
    struct scene s = {.options.node_ip = xstrdup("10.0.0.8")};

    (void)state;
    take(&s, "node-ip", "10.0.0.9");
    assert_string_equal(s.options.node_ip, "10.0.0.8");
    assert_int_equal(s.options.kubelet_extra_args.count, 0);
    assert_string_equal(s.warnings.items[0],
                        "kubeletExtraArgs: node-ip=10.0.0.9: 10.0.0.8 is used instead");
    close_scene(&s);
}

/* As the kubelet reads names. */
static void underscores_are_dashes(void **state) {
    struct scene s = {0};
    struct error err = {0};

    (void)state;
    take(&s, "node_ip", "10.0.0.9");
    take(&s, "max_pods", "50");
    assert_string_equal(s.options.node_ip, "10.0.0.9");
    assert_string_equal(s.options.kubelet_extra_args.items[0], "max-pods=50");
    assert_int_equal(node_argument_check("--node_ip=10.0.0.21", &err), -1);
    assert_non_null(strstr(err.message, "give it to the join as --node-ip"));
    assert_true(linux_setting_is_argument("cgroup_driver", "systemd"));
    assert_int_equal(kubelet_argument_check("cluster_dns", "10.96.0.10,fd00::a", &err), 0);
    assert_int_equal(kubelet_argument_check("cluster_dns", "10.96.0.10,kube-dns", &err), -1);
    assert_string_equal(err.message, "--cluster-dns \"kube-dns\": not an IP address");
    close_scene(&s);
}

static void two_addresses_stay_an_argument(void **state) {
    struct scene s = {0};

    (void)state;
    take(&s, "node-ip", "10.0.0.9,fd00::9");
    assert_string_equal(s.options.node_ip, "10.0.0.9");
    assert_string_equal(s.options.kubelet_extra_args.items[0], "node-ip=10.0.0.9,fd00::9");
    close_scene(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_become_options),
        cmocka_unit_test(what_is_of_linux_is_left_out),
        cmocka_unit_test(another_root_is_the_owners),
        cmocka_unit_test(a_flag_wins_over_an_argument),
        cmocka_unit_test(underscores_are_dashes),
        cmocka_unit_test(two_addresses_stay_an_argument),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
