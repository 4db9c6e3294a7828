/* A ca.crt that is on the host already: compared with the proven CA, said when it is another's, and
 * not kept. */
#include "tests/scene/preflight_scene.h"

#include "join/wanted/wanted.h"
#include "join/kubelet/kubelet_files.h"
#include "join/plan/plan.h"
#include "tests/scene/certificate_vectors.h"

enum { FILE_MAX = 65536 };

static char said[4096]; /* the warnings of a join, one a line */

static void on_event(void *context, const struct join_event *event) {
    (void)context;
    if (event->state == JOIN_WARNING) {
        _cleanup_(freep) char *before = xstrdup(said);

        (void)text_format(said, sizeof said, "%s%s\n", before, event->message);
    }
}

static void join_and_listen(bool dry) {
    struct join join = {
        .host = r.host, .http = r.http, .asked = &r.options, .progress.listener = on_event};
    struct error err = {0};
    json_t *plan = NULL;

    said[0] = '\0';
    r.options.dry_run = dry;
    if (join_open(&join, &err) < 0 ||
        (dry ? join_run_phases(&join, true, &err) < 0 || join_plan_make(&join, &plan, &err) < 0
             : join_run(&join, &err) < 0))
        fail_msg("%s", err.message);
    json_decref(plan);
    join_close(&join);
}

static void assert_file(const char *path, const char *expected) {
    _cleanup_(freep) char *text = NULL;
    size_t len;

    assert_int_equal(host_read(r.host, path, FILE_MAX, &text, &len, NULL), 0);
    assert_string_equal(text, expected);
}

static void assert_both_are_said(const char *path) {
    assert_non_null(strstr(said, path));
    assert_non_null(strstr(said, OTHER_PIN " (CN=other)"));
    assert_non_null(strstr(said, r.scene.pin));
}

/* The cluster was rebuilt on the same address. */
/* What cannot be read is no reason to keep it. */
static void put_too_long(const char *path) {
    struct text text = {0};

    while (text.len <= 1024 * 1024)
        text_add(&text, OTHER_PEM);
    put(path, text_str(&text));
    text_free(&text);
}

static void an_earlier_joins_is_replaced_and_said(void **state) {
    (void)state;
    open_run(&r, "overlay");
    join_and_listen(false);
    assert_null(strstr(said, "ca.crt"));
    put(KUBERNETES_CA_FILE, OTHER_PEM);
    set_options(&r, "overlay");
    join_and_listen(true);
    assert_both_are_said(KUBERNETES_CA_FILE);
    assert_file(KUBERNETES_CA_FILE, OTHER_PEM);
    join_and_listen(false);
    assert_both_are_said(KUBERNETES_CA_FILE);
    assert_file(KUBERNETES_CA_FILE, r.scene.ca_pem);
    join_and_listen(false);
    assert_null(strstr(said, "ca.crt"));
    put_too_long(KUBERNETES_CA_FILE);
    join_and_listen(false);
    assert_non_null(strstr(said, "no certificate"));
    assert_file(KUBERNETES_CA_FILE, r.scene.ca_pem);
    close_run(&r);
}

/* By another tool: refused; when the call says so, replaced until reset. caCertPath decides which
 * file it is. */
static void another_tools_is_given_back(void **state) {
    static const char path[] = "D:\\pki\\cluster.crt";
    struct error err = {0};

    (void)state;
    open_run(&r, "overlay");
    r.options.ca_cert_path = xstrdup(path);
    put(path, OTHER_PEM);
    assert_int_equal(join_once(&r, &err), -1);
    assert_int_equal(err.kind, ERROR_PREFLIGHT);
    assert_non_null(strstr(err.hints[0], OTHER_PIN));
    text_list_add(&r.options.ignore_preflight_errors, "FileAvailable--etc-kubernetes-pki-ca.crt");
    join_and_listen(false);
    assert_both_are_said(path);
    assert_file(path, r.scene.ca_pem);
    assert_int_equal(reset_once(&r, &err), 0);
    assert_file(path, OTHER_PEM);
    close_run(&r);
}

/* What differs is who is trusted, not how the file is written. */
static void only_the_keys_count(void **state) {
    static const struct {
        const char *found, *proven;
        bool same;
    } cases[] = {
        {CA_PEM, CA_PEM, true},
        {"# put there by hand\r\n" CA_PEM "\r\n", CA_PEM, true},
        {CA_PEM OTHER_PEM, OTHER_PEM CA_PEM, true},
        {CA_PEM, CA_PEM OTHER_PEM, false}, /* a CA that was rotated meanwhile */
        {CA_PEM OTHER_PEM, CA_PEM, false}, /* trusts one more than the cluster says */
        {OTHER_PEM, CA_PEM, false},
        {"", CA_PEM, false},
        {"-----BEGIN CERTIFICATE-----\n!\n", CA_PEM, false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_(freep) char *difference = NULL;

        open_run(&r, "overlay");
        assert_null(ca_file_describe(r.host, KUBERNETES_CA_FILE));
        assert_null(ca_file_difference(r.host, KUBERNETES_CA_FILE, cases[i].proven));
        put(KUBERNETES_CA_FILE, cases[i].found);
        difference = ca_file_difference(r.host, KUBERNETES_CA_FILE, cases[i].proven);
        if (!difference != cases[i].same)
            fail_msg("case %zu: %s", i, difference);
        close_run(&r);
    }
}

static void many_are_cut(void **state) {
    _cleanup_(freep) char *described = NULL;

    (void)state;
    open_run(&r, "overlay");
    put(KUBERNETES_CA_FILE, CA_PEM OTHER_PEM SERVER_PEM CA_PEM CA_PEM);
    described = ca_file_describe(r.host, KUBERNETES_CA_FILE);
    assert_string_equal(described, CA_PIN " (CN=kubernetes), " OTHER_PIN " (CN=other), " SERVER_PIN
                                          " (CN=kube-apiserver) and 2 more");
    close_run(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_earlier_joins_is_replaced_and_said),
        cmocka_unit_test(another_tools_is_given_back),
        cmocka_unit_test(only_the_keys_count),
        cmocka_unit_test(many_are_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
