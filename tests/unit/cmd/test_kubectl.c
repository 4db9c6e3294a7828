/* winjoin called as a plugin of kubectl: what it has, what it says of itself, what it refuses. */
#include "tests/scene/program_scene.h"

static void it_has_what_needs_no_windows(void **state) {
    (void)state;
    assert_int_equal(call_as("/root/.krew/bin/kubectl-winjoin"), 0);
    assert_has(&out, "kubectl winjoin: ");
    assert_int_equal(call_as("C:\\krew\\bin\\kubectl-winjoin.exe --help"), 0);
    assert_has(&out, "kubectl winjoin: ");
    assert_has(&out, "\n  diag           test the nine pod flows");
    assert_has(&out, "\n  config ");
    assert_false(has(&out, "\n  join "));
    assert_false(has(&out, "\n  reset "));
    assert_int_equal(call_as("kubectl-winjoin version"), 0);
    assert_has(&out, "winjoin ");
}

static void usage_is_kubectls(void **state) {
    (void)state;
    assert_int_equal(call_as("kubectl-winjoin diag --help"), 0);
    assert_has(&out, "\nUsage:\n  kubectl winjoin diag [flags]\n");
    assert_has(&out, "\n  kubectl winjoin diag --kubeconfig cluster.conf\n");
    assert_int_equal(call_as("winjoin diag --help"), 0);
    assert_has(&out, "\nUsage:\n  winjoin diag [flags]\n");
}

static void what_acts_on_a_node_is_refused(void **state) {
    (void)state;
    assert_int_equal(call_as("kubectl-winjoin status"), 3);
    assert_has(&err_out, "kubectl winjoin status: it acts on the node it runs on");
    assert_has(&err_out, "on that node: winjoin status");
    assert_int_equal(call_as("kubectl-winjoin help join"), 3);
    assert_int_equal(call_as("kubectl-winjoin dig"), 3);
    assert_has(&err_out, "diag");
    assert_int_equal(call_as("kubectl-winjoin diag --no-such-flag"), 3);
    assert_has(&err_out, "kubectl winjoin diag --help lists the flags");
}

/* As kubectl does: no flag is the current context's cluster, not this machine. */
static void diag_is_of_the_cluster(void **state) {
    (void)state;
    assert_int_equal(call_as("kubectl-winjoin diag"), 3);
    assert_has(&err_out, "use --kubeconfig FILE");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_has_what_needs_no_windows),
        cmocka_unit_test(usage_is_kubectls),
        cmocka_unit_test(what_acts_on_a_node_is_refused),
        cmocka_unit_test(diag_is_of_the_cluster),
    };

    return cmocka_run_group_tests(tests, NULL, free_output);
}
