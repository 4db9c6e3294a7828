/* winjoin diag --kubeconfig: which cluster is asked with whose credentials, what is shown while it
 * is measured, and how it ends. */
#include "tests/scene/cluster_scene.h"
#include "tests/scene/program_scene.h"

#define KUBECONFIG(user)                                                                           \
    "apiVersion: v1\nkind: Config\nclusters:\n- name: c\n  cluster: {server: 'https://k'}\n"       \
    "users:\n- name: u\n  user: " user                                                             \
    "\ncontexts:\n- name: x\n  context: {cluster: c, user: u}\n"                                   \
    "- name: y\n  context: {cluster: c, user: nobody}\ncurrent-context: x\n"

static int open_diag(void **state) {
    open_program(state);
    open_cluster(state);
    host_free(program->host);
    http_free(program->http);
    program->host = c.host;
    program->http = c.http;
    program->verb = verb_find(verbs, "diag");
    program->last = program->http;
    program->options.kubeconfig = (char *)"D:\\k";
    put("D:\\k", KUBECONFIG("{token: t}"));
    return 0;
}

static int close_diag(void **state) {
    program->host = NULL;
    program->http = NULL;
    close_program(state);
    return close_cluster(state);
}

/* ---- how it ends ---- */

static void a_cluster_that_is_well(void **state) {
    struct error err;

    (void)state;
    program->options.output = (char *)"json";
    if (verb(verb_diag, &err) < 0)
        fail_msg("%s", err.message);
    assert_string_equal(json_text_at(program->result, "kind"), "ClusterDiagReport");
    assert_null(json_at(program->result, "changes"));
    assert_non_null(strstr(text_str(&c.log), "\nDELETE /api/v1/namespaces/winjoin-diag-"));
    json_decref(program->result);
    program->result = NULL;
    program->options.output = NULL;
    assert_int_equal(verb(verb_diag, &err), 0);
    assert_has(&out, "2 Windows and 1 Linux nodes");
    assert_null(program->result);
    program->options.output = (char *)"junit";
    assert_int_equal(verb(verb_diag, &err), 0);
    assert_has(&out, "<testsuites ");
    program->options.output = (char *)"html";
    assert_int_equal(verb(verb_diag, &err), 0);
    assert_has(&out, "<main>");
    program->options.output = (char *)"metrics";
    assert_int_equal(verb(verb_diag, &err), 0);
    assert_has(&out, "winjoin_diag_up{server=\"https://k\"} 1\n");
    assert_null(program->result);
}

static bool broken(const struct dial *d, long *ret_status, const char **ret_body) {
    (void)ret_status;
    *ret_body = "{\"errors\":[\"dial tcp: i/o timeout\"]}";
    return d->from == 1 && text_equal(d->host, "10.244.2.5") && !d->udp;
}

/* Nothing else fails with it: no cause is named. */
static bool broken_alone(const struct dial *d, long *ret_status, const char **ret_body) {
    (void)ret_status;
    *ret_body = "{\"errors\":[\"dial tcp: i/o timeout\"]}";
    return d->from == 1 && text_equal(d->host, "backend") && !d->udp;
}

static void a_cluster_that_is_not(void **state) {
    struct error err;

    (void)state;
    c.dialed = broken_alone;
    assert_int_equal(verb(verb_diag, &err), -1);
    assert_int_equal(err.kind, ERROR_FLOWS);
    assert_true(text_starts_with(err.message, "test the pod network: "));
    assert_string_equal(err.hints[0], "winjoin diag on a Windows node named above tells why");
    assert_has(&out, "pod-to-service-pqdn");
}

static bool cut_off(const struct dial *d, long *ret_status, const char **ret_body) {
    (void)ret_status;
    *ret_body = "{\"errors\":[\"dial tcp: i/o timeout\"]}";
    return (d->from == 1 && !text_equal(d->host, "localhost")) ||
           text_starts_with(d->host, "10.244.1.") || text_starts_with(d->host, "probe-1.");
}

/* What a terminal shows last leads on, too. */
static void a_cluster_with_a_cause(void **state) {
    struct error err;

    (void)state;
    c.dialed = cut_off;
    assert_int_equal(verb(verb_diag, &err), -1);
    assert_int_equal(err.kind, ERROR_FLOWS);
    assert_non_null(strstr(err.message, "; CL-NODE: win-1: pods there reach no"));
    assert_non_null(strstr(err.hints[0], "; kubectl get node win-1 -o yaml shows"));
}

/* --compare says whether the cluster is worse than in an older report. */
static void compared_with_an_older_report(void **state) {
    _cleanup_(freep) char *well = NULL, *ill = NULL;
    struct error err;

    (void)state;
    program->options.output = (char *)"json";
    assert_int_equal(verb(verb_diag, &err), 0);
    well = json_write(program->result);
    c.dialed = broken;
    assert_int_equal(verb(verb_diag, &err), -1);
    ill = json_write(program->result);
    put("D:\\well.json", well);
    put("D:\\ill.json", ill);
    put("D:\\none.json", "{}");
    program->options.compare = (char *)"D:\\well.json";
    assert_int_equal(verb(verb_diag, &err), -1);
    assert_int_equal(err.kind, ERROR_FLOWS);
    assert_true(text_starts_with(err.message, "compare with 20"));
    assert_true(text_ends_with(err.message, ": it is worse"));
    assert_true(json_is_true(json_at(program->result, "changes.worse")));
    program->options.output = NULL;
    program->options.compare = (char *)"D:\\ill.json";
    assert_int_equal(verb(verb_diag, &err), 0); /* it is as it was */
    assert_has(&out, "pod-to-pod-ip");
    program->options.compare = (char *)"D:\\none.json";
    assert_int_equal(verb(verb_diag, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    assert_true(text_starts_with(err.message, "--compare D:\\none.json: "));
    assert_int_equal(out.len, 0);
    program->options.compare = NULL;
    program->options.kubeconfig = NULL;
    program->options.replay = (char *)"D:\\ill.json"; /* judged again, without the cluster */
    assert_int_equal(verb(verb_diag, &err), -1);
    assert_int_equal(err.kind, ERROR_FLOWS);
    program->options.replay = (char *)"D:\\well.json";
    assert_int_equal(verb(verb_diag, &err), 0);
    assert_has(&out, "2 Windows and 1 Linux nodes");
}

static unsigned tests_begun;
static void play_days(const char *method, const char *path) {
    if (text_equal(method, "POST") && text_ends_with(path, "/api/v1/namespaces"))
        tests_begun++;
    c.dialed = tests_begun == 2 || tests_begun == 3 || tests_begun == 5 ? broken : NULL;
    c.dead = tests_begun == 4 && strstr(path, "/pods");
    if (tests_begun == 8)
        host_memory_interrupt(c.host);
}

/* The whole report once, then only what changed, what hinders a test once, and the next test that
 * is made; until Ctrl-C. */
static void again_and_again(void **state) {
    static const char *const lines[] = {
        "78 of 78 cells work, 3 nodes in 6 pairs\n",
        "  77 of 78 cells work, 3 nodes in 6 pairs\n",
        "  pod-to-pod-ip/tcp win-1 -> win-2: fail, was pass (no ",
        "  not measured: ",
        "  77 of 78 cells work, 3 nodes in 6 pairs\n", /* as before, and told */
        "  pod-to-pod-ip/tcp win-1 -> win-2: pass, was fail\n"};
    struct error err;
    const char *at;

    (void)state;
    tests_begun = 0;
    c.before = play_days;
    program->options.watch = 30000;
    if (verb(verb_diag, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(tests_begun, 8);
    at = text_str(&out);
    for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
        if (!strstr(at, lines[i]))
            fail_msg("no '%s' in\n%s", lines[i], text_str(&out));
        at = strstr(at, lines[i]) + 1;
        assert_null(i > 1 ? strstr(at, lines[i]) : NULL); /* once */
    }
    at = strstr(strstr(text_str(&out), lines[0]) + 1, lines[0]); /* well again, and then still */
    assert_true(at && !strstr(at + 1, lines[0]));
    program->options.output = (char *)"junit";
    assert_int_equal(verb(verb_diag, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
}

static void rights_that_are_missing(void **state) {
    struct error err;

    (void)state;
    c.denied = "\"subresource\":\"proxy\"";
    assert_int_equal(verb(verb_diag, &err), -1);
    assert_int_equal(err.kind, ERROR_DENIED);
    assert_string_equal(json_text_at(program->result, "kind"), "List");
    assert_has(&out, "\"ClusterRole\"");
}

static void a_namespace_that_is_left(void **state) {
    struct error err;

    (void)state;
    c.deletions = 1000;
    assert_int_equal(verb(verb_diag, &err), -1);
    assert_int_equal(err.kind, ERROR_NETWORK);
    assert_true(text_starts_with(err.message, "delete the namespace winjoin-diag-"));
    assert_true(text_starts_with(err.hints[0], "kubectl delete namespace winjoin-diag-"));
    assert_has(&out, "2 Windows and 1 Linux nodes");
}

/* mingw has no memmem. */
static bool holds(const char *data, size_t len, const char *word) {
    size_t n = strlen(word);

    for (size_t i = 0; i + n <= len; i++)
        if (memcmp(data + i, word, n) == 0)
            return true;
    return false;
}

/* Before a run that cannot be, and where it fails: what a ticket needs is there all the same. */
static void the_evidence(void **state) {
    static const char *const there[] = {"evidence/nodes.json", "evidence/kube-system/pods.json"};
    static const char empty[] = "daemonsets.json";
    _cleanup_(freep) char *zip = NULL;
    struct error err;
    size_t len = 0;

    (void)state;
    program->options.collect = (char *)"D:\\no-such\\x.zip";
    assert_int_equal(verb(verb_diag, &err), -1);
    assert_int_equal(c.log.len, 0);
    program->options.collect = (char *)"D:\\well.zip";
    assert_int_equal(verb(verb_diag, &err), 0);
    assert_int_equal(host_read(c.host, "D:\\well.zip", 1 << 24, &zip, &len, &err), 0);
    for (size_t i = 0; i < ARRAY_SIZE(there); i++)
        assert_true(holds(zip, len, there[i]));
    assert_false(holds(zip, len, empty));
    assert_true(holds(zip, len, "evidence/winjoin-diag-")); /* while the probes are there */
    c.denied = "\"subresource\":\"proxy\"";
    program->options.collect = (char *)"D:\\denied.zip";
    assert_int_equal(verb(verb_diag, &err), -1);
    assert_int_equal(err.kind, ERROR_DENIED);
    free(take_ptr(zip));
    assert_int_equal(host_read(c.host, "D:\\denied.zip", 1 << 24, &zip, &len, &err), 0);
    assert_true(holds(zip, len, there[0]));
}

/* ---- what is shown meanwhile ---- */

static void the_cells_fill_in(void **state) {
    struct error err;

    for (unsigned live = 0; live < 2; live++) {
        close_diag(state);
        open_diag(state);
        program->terminal =
            (struct terminal){.err_is_terminal = true, .color = live, .columns = 100, .lines = 40};
        assert_int_equal(verb(verb_diag, &err), 0);
        assert_int_equal(has(&err_out, "works  fails  waits"), live);
        assert_int_equal(has(&err_out, "\n  pod-to-pod-ip "), live);
        assert_int_equal(has(&err_out, "asking the probes"), live);
    }
}

static void a_program_hears_what_is_waited_for(void **state) {
    struct error err;

    (void)state;
    program->options.progress = (char *)"json";
    assert_int_equal(verb(verb_diag, &err), 0);
    assert_has(&err_out, "starting the probe pods");
}

/* ---- which cluster, whose credentials ---- */

static void calls_that_are_refused(void **state) {
    struct program_options *o = &program->options;
    struct error err;

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        static const char *const said[] = {"use either --kubeconfig or --replay",
                                           "invalid value \"101\" for --count: at most 100",
                                           "use either --kubeconfig or --capture"};

        o->replay = i == 0 ? (char *)"D:\\x" : NULL;
        o->join.verify_attempts = i == 1 ? 101 : 0;
        o->join.verify_capture = i == 2;
        assert_int_equal(verb(verb_diag, &err), -1);
        assert_int_equal(err.kind, ERROR_USAGE);
        if (!text_starts_with(err.message, said[i]))
            fail_msg("%s, not %s", err.message, said[i]);
    }
    assert_int_equal(c.paths.count, 0);
}

/* As kubectl finds its file. */
static void where_the_kubeconfig_is(void **state) {
    static const struct {
        const char *variable, *home, *profile, *file, *message; /* file: which is the right one */
    } rows[] = {
        {"D:\\v", "D:\\h", "D:\\p", "D:\\v", NULL},
        {"D:\\v;D:\\w", "D:\\h", NULL, "D:\\v", "KUBECONFIG names several files"},
        {"/v:/w", "D:\\h", NULL, "D:\\v", "KUBECONFIG names several files"},
        {"", "D:\\h", "D:\\p", "D:\\h/.kube/config", NULL},
        {NULL, "D:\\h", "D:\\p", "D:\\h/.kube/config", NULL},
        {NULL, NULL, "D:\\p", "D:\\p/.kube/config", NULL},
        {NULL, NULL, NULL, "D:\\p/.kube/config", "the cluster's kubeconfig is missing"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct error err;

        close_diag(state);
        open_diag(state);
        program->options.kubeconfig = NULL;
        program->options.context = (char *)"x";
        host_memory_set_environment(c.host, "KUBECONFIG", rows[i].variable);
        host_memory_set_environment(c.host, "HOME", rows[i].home);
        host_memory_set_environment(c.host, "USERPROFILE", rows[i].profile);
        put(rows[i].file, KUBECONFIG("{token: t}"));
        assert_int_equal(verb(verb_diag, &err), rows[i].message ? -1 : 0);
        if (!text_starts_with(err.message, rows[i].message ? rows[i].message : ""))
            fail_msg("row %zu: %s", i, err.message);
        if (rows[i].message)
            assert_string_equal(err.hints[0], "use --kubeconfig FILE");
    }
}

static char *bearer; /* of the last request */

static int refuse_everybody(void *context, const struct http_request *request,
                            struct http_response *ret, struct error *err) {
    (void)context, (void)err;
    free(bearer);
    bearer = xstrdup_null(request->bearer_token);
    ret->status = 401;
    ret->body = xstrdup("{}");
    ret->body_len = 2;
    return 0;
}

/* A program gives them where the kubeconfig itself has none. */
static void whose_credentials(void **state) {
#define EXEC "exec: {command: 'D:\\bin\\x', apiVersion: client.authentication.k8s.io/v1}"
    static const struct {
        const char *config, *bearer, *message;
        int code; /* of the program */
    } rows[] = {
        {KUBECONFIG("{" EXEC "}"), "of-program", NULL, 0},
        {KUBECONFIG("{" EXEC ", token: own}"), "own", NULL, 0},
        {KUBECONFIG("{" EXEC "}"), NULL,
         "run 'D:\\bin\\x' of the kubeconfig: it ended with exit code 4", 4},
        {KUBECONFIG("{token: own, as: jane}"), NULL,
         "kubeconfig: impersonation (as) is not supported", 0},
        {KUBECONFIG("{username: jane, password: x}"), NULL,
         "kubeconfig: user name and password are not supported", 0},
    };

    (void)state;
    put("D:\\bin\\x", "MZ");
    program->http = http_memory_new(refuse_everybody, NULL);
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct error err;

        put("D:\\k", rows[i].config);
        host_memory_set_program(c.host, "x", rows[i].code,
                                "{\"kind\":\"ExecCredential\",\"apiVersion\":"
                                "\"client.authentication.k8s.io/v1\",\"status\":{\"token\":"
                                "\"of-program\"}}");
        assert_int_equal(verb(verb_diag, &err), -1);
        if (rows[i].message)
            assert_string_equal(err.message, rows[i].message);
        if (!text_equal(bearer, rows[i].bearer))
            fail_msg("row %zu: %s", i, bearer);
        free(take_ptr(bearer));
    }
    program->options.context = (char *)"y";
    put("D:\\k", rows[1].config);
    struct error err;
    assert_int_equal(verb(verb_diag, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    assert_true(text_starts_with(err.message, "--kubeconfig: "));
    http_free(program->http);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_diag, close_diag)
    const struct CMUnitTest tests[] = {
        CASE(a_cluster_that_is_well),   CASE(a_cluster_that_is_not),
        CASE(a_cluster_with_a_cause),   CASE(compared_with_an_older_report),
        CASE(again_and_again),          CASE(rights_that_are_missing),
        CASE(a_namespace_that_is_left), CASE(the_evidence),
        CASE(the_cells_fill_in),        CASE(a_program_hears_what_is_waited_for),
        CASE(calls_that_are_refused),   CASE(where_the_kubeconfig_is),
        CASE(whose_credentials),
    };

    return cmocka_run_group_tests_name("winjoin diag of a cluster", tests, NULL, free_output);
}
