/* winjoin called as kubeadm: by which names, with which commands, what it prints, how it ends. */
#include "tests/scene/program_scene.h"

#include "cmd/program.h"
#include "join/phases/phases.h"

static void names(void **state) {
    static const char *const those[] = {"kubeadm",
                                        "kubeadm.exe",
                                        "KUBEADM.EXE",
                                        "Kubeadm",
                                        "./kubeadm",
                                        "/usr/bin/kubeadm",
                                        "C:\\k\\kubeadm.exe",
                                        "C:/k/kubeadm.exe",
                                        "..\\kubeadm",
                                        "C:kubeadm.exe",
                                        "\\\\server\\share\\KubeAdm.EXE"};
    static const char *const others[] = {"",
                                         "winjoin",
                                         "winjoin.exe",
                                         "kubeadm.exe.bak",
                                         "kubeadm2",
                                         "my-kubeadm",
                                         "kubeadm\\winjoin",
                                         "kubeadm/",
                                         "kubeadm.",
                                         "C:\\kubeadm\\join.exe"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(those); i++)
        if (!program_is_called(those[i], "kubeadm"))
            fail_msg("'%s'", those[i]);
    for (size_t i = 0; i < ARRAY_SIZE(others); i++)
        if (program_is_called(others[i], "kubeadm"))
            fail_msg("'%s'", others[i]);
    assert_int_equal(call_as("C:\\k\\KUBEADM.EXE version -o short"), 0);
    assert_string_equal(text_str(&out), "v1.37.1\n");
    assert_int_equal(call_as("C:\\k\\winjoin.exe version -o short"), 3);
}

static void versions(void **state) {
    _cleanup_json_ json_t *json = NULL;

    (void)state;
    assert_int_equal(call_as("kubeadm version"), 0);
    assert_has(&out, "kubeadm version: &version.Info{Major:\"1\", Minor:\"37\", ");
    assert_has(&out, "GitVersion:\"v1.37.1\"");
    assert_has(&out, "Compiler:\"winjoin ");
    assert_int_equal(call_as("kubeadm version --output=json"), 0);
    assert_int_equal(json_read(out.data, out.len, "stdout", &json, NULL), 0);
    assert_string_equal(json_text_at(json, "clientVersion.gitVersion"), "v1.37.1");
    assert_string_equal(json_text_at(json, "clientVersion.major"), "1");
    assert_string_equal(json_text_at(json, "clientVersion.minor"), "37");
    assert_string_equal(json_text_at(json, "clientVersion.platform"), "windows/amd64");
    assert_int_equal(call_as("kubeadm version -o yaml"), 0);
    assert_has(&out, "clientVersion:\n");
    assert_has(&out, "  gitVersion: v1.37.1\n");
}

/* Whatever fails, kubeadm ends with 1. */
static void refusals(void **state) {
    static const struct {
        const char *line, *error;
    } rows[] = {
        {"joni", "error: unknown command \"joni\" for \"kubeadm\"\n"},
        {"help joni", "error: unknown command \"joni\" for \"kubeadm\"\n"},
        {"diag", "error: unknown command \"diag\" for \"kubeadm\"\n"},
        {"join --nope", "error: unknown flag: --nope\n"},
        {"version -o xml", "use one of short, json, yaml\n"},
        {"version foo", "unexpected argument \"foo\""},
        {"join a:1 b:2", "unexpected argument \"b:2\""},
        {"join --config /nope --token abcdef.0123456789abcdef", "read the configuration: "},
        {"join", "no cluster given"},
        {"join phase nope", "invalid phase name: nope"},
        {"init", "hint: a control plane does not run on Windows"},
        {"init --config x.yaml", "kubeadm init is not possible on this machine"},
        {"token create --print-join-command", "control plane node (Linux): kubeadm token create"},
        {"certs renew all", "this node's own certificates: winjoin certs"},
        {"upgrade node", "this node's own programs: winjoin upgrade"},
        {"config images pull", "winjoin config validate"},
        {"kubeconfig user", "control plane node"},
        {"completion bash", "winjoin completion powershell"},
        {"alpha", "control plane node"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *line = xasprintf("kubeadm %s", rows[i].line);

        if (call_as(line) != 1)
            fail_msg("'%s': not 1", line);
        assert_has(&err_out, rows[i].error);
        assert_string_equal(text_str(&out), "");
    }
}

static void exit_codes(void **state) {
    (void)state;
    assert_int_equal(kubeadm_exit_code(ERROR_NONE), 0);
    assert_int_equal(kubeadm_exit_code(ERROR_INTERRUPTED), 130);
    for (int kind = ERROR_NONE + 1; kind < ERROR_INTERRUPTED; kind++)
        assert_int_equal(kubeadm_exit_code((enum error_kind)kind), 1);
}

static void helps(void **state) {
    (void)state;
    assert_int_equal(call_as("kubeadm"), 0);
    assert_has(&out, "\n  join           ");
    assert_has(&out, "\nNot on a worker: init token certs ");
    assert_int_equal(call_as("kubeadm join --help"), 0);
    assert_has(&out, "\n  kubeadm join [ENDPOINT] [flags]\n");
    assert_has(&out, "--discovery-token-ca-cert-hash");
    assert_int_equal(call_as("kubeadm help reset"), 0);
    assert_has(&out, "\n  kubeadm reset [flags]\n");
}

/* Nothing that the call says is taken back. */
static void defaults(void **state) {
    struct join_options o = {0}, told = {.network_plugin = xstrdup("flannel"),
                                         .kube_proxy = xstrdup("service"),
                                         .verify = xstrdup("full")};

    (void)state;
    kubeadm_settle(&o);
    kubeadm_settle(&told);
    assert_string_equal(o.network_plugin, "external");
    assert_string_equal(o.kube_proxy, "none");
    assert_string_equal(o.verify, "none");
    assert_int_equal(o.skip_phases.count, 3);
    assert_string_equal(told.network_plugin, "flannel");
    assert_string_equal(told.kube_proxy, "service");
    assert_string_equal(told.verify, "full");
    assert_int_equal(told.skip_phases.count, 0);
    join_options_free(&o);
    join_options_free(&told);
}

/* Each phase is printed under a name of kubeadm's; the groups agree. */
static void phase_texts(void **state) {
    size_t count = 0;

    (void)state;
    for (size_t i = 0; join_phases[i].id; i++) {
        const char *phase = kubeadm_phase(&join_phases[i])->name;

        assert_true(text_equal(phase, "preflight") || text_equal(phase, "kubelet-start") ||
                    text_equal(phase, "kubelet-wait-bootstrap"));
        for (size_t g = 0; phase_groups[g].name; g++)
            for (size_t k = 0; k < ARRAY_SIZE(phase_groups[g].phases) && phase_groups[g].phases[k];
                 k++)
                if (text_equal(phase_groups[g].phases[k], join_phases[i].id))
                    assert_string_equal(phase, phase_groups[g].name);
    }
    while (join_phases[count].id)
        count++;
    assert_string_equal(kubeadm_phase(&join_phases[0])->begin,
                        "[preflight] Running pre-flight checks\n");
    assert_string_equal(kubeadm_phase(&join_phases[count - 1])->begin, "");
    assert_string_equal(kubeadm_phase(&join_phases[count - 1])->name, "kubelet-wait-bootstrap");
}

/* As `echo y | kubeadm reset`; a flag without a meaning here is named in a warning. */
static void resets(void **state) {
    (void)state;
    assert_int_equal(call_as("kubeadm reset --force --cri-socket x --cert-dir y --vmodule a=1"), 0);
    assert_has(&out, "nothing to undo");
    assert_has(&err_out, "warning: --cri-socket is ignored");
    assert_has(&err_out, "warning: --cert-dir is ignored");
    assert_false(has(&err_out, "--kubeconfig"));
    assert_int_equal(call_as("winjoin reset --cri-socket x"), 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),  cmocka_unit_test(versions),    cmocka_unit_test(refusals),
        cmocka_unit_test(helps),  cmocka_unit_test(exit_codes),  cmocka_unit_test(defaults),
        cmocka_unit_test(resets), cmocka_unit_test(phase_texts),
    };

    return cmocka_run_group_tests(tests, NULL, free_output);
}
