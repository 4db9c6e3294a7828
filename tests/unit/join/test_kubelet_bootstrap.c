/* --tls-bootstrap kubelet: the kubelet of the scene makes its request itself, and the file with the
 * token is gone on every way out. */
#include "tests/scene/join_scene.h"

#include "join/kubelet/kubelet_files.h"
#include "join/phases/steps.h"
#include "pki/certificate.h"

/* What the kubelet is like in one run. */
struct kubelet {
    struct run *run;
    bool asked, stops;
    bool begins; /* it takes a moment until it asks */
    char *key;
    unsigned looks;
};

static bool has(struct run *r, const char *path) {
    return host_file_type(r->host, path) != HOST_ABSENT;
}

static char *text_of(struct run *r, const char *path) {
    char *text = NULL;
    size_t len;

    assert_int_equal(host_read(r->host, path, 65536, &text, &len, NULL), 0);
    return text;
}

/* The kubelet's path A: kubelet.conf at once, then its request, then the certificate. */
static void begin(struct kubelet *k) {
    _cleanup_(freep) char *conf = kubeconfig_make_kubelet(SCENE_SERVER, k->run->scene.ca_pem,
                                                          KUBELET_CLIENT_CERTIFICATE_FILE);
    _cleanup_(freep) char *pem = NULL;

    assert_int_equal(key_generate(&k->key, NULL), 0);
    assert_int_equal(csr_make(k->key, "win-7k2", NULL, &pem, NULL), 0);
    if (k->run->scene.approve)
        k->run->scene.denied = NULL; /* another request */
    free(k->run->scene.request);
    k->run->scene.request = base64_encode(pem, strlen(pem));
    assert_int_equal(
        host_write(k->run->host, KUBELET_KUBECONFIG_FILE, conf, strlen(conf), HOST_SECRET, NULL),
        0);
    k->asked = true;
}

static void store(struct kubelet *k) {
    static const char path[] =
        KUBELET_CERTIFICATE_FOLDER "\\kubelet-client-2026-11-21-10-00-00.pem";
    _cleanup_(freep) char *both = NULL;

    scene_sign(&k->run->scene);
    both = xasprintf("%s%s", k->run->scene.certificate, k->key);
    assert_int_equal(host_write(k->run->host, path, both, strlen(both), HOST_SECRET, NULL), 0);
    assert_int_equal(host_link(k->run->host, KUBELET_CLIENT_CERTIFICATE_FILE, path, NULL), 0);
}

static void on_sleep(void *context, struct host *host) {
    struct kubelet *k = context;

    scene_on_sleep(&k->run->scene, host);
    if (!scene_runs(&k->run->scene, "kubelet") || !has(k->run, KUBELET_BOOTSTRAP_KUBECONFIG_FILE))
        return;
    if (k->begins)
        k->begins = false;
    else if (!k->asked)
        begin(k);
    else if (k->stops)
        host_memory_interrupt(host);
    else if (k->run->scene.approve && ++k->looks == 3)
        store(k);
}

static void open_kubelet(struct kubelet *k, struct run *r) {
    *k = (struct kubelet){.run = r};
    open_run(r, "overlay");
    host_memory_on_sleep(r->host, on_sleep, k);
    r->options.tls_bootstrap = xstrdup("kubelet");
}

static void close_kubelet(struct kubelet *k) {
    secret_free_text(k->key);
    close_run(k->run);
}

static void assert_no_token(struct run *r) {
    json_t *state = host_memory_state(r->host);
    _cleanup_(freep) char *all = json_write(state);

    json_decref(state);
    assert_false(has(r, KUBELET_BOOTSTRAP_KUBECONFIG_FILE));
    assert_null(strstr(all, SCENE_TOKEN_SECRET));
}

static void the_kubelet_does_it_and_reset_takes_it_back(void **state) {
    struct error err = {0};
    struct kubelet k;
    struct run r;
    json_t *before, *after;

    (void)state;
    open_kubelet(&k, &r);
    before = state_of(&r);
    if (join_once(&r, &err) < 0)
        fail_msg("join: %s", err.message);
    assert_true(k.asked);
    assert_no_token(&r);
    assert_true(has(&r, KUBELET_KUBECONFIG_FILE));
    if (reset_once(&r, &err) < 0)
        fail_msg("reset: %s", err.message);
    after = state_of(&r);
    assert_same(before, after, "bootstrap by the kubelet");
    json_decref(before);
    json_decref(after);
    close_kubelet(&k);
}

static void nobody_approves(void **state) {
    struct error err = {0};
    struct kubelet k;
    struct run r;

    (void)state;
    open_kubelet(&k, &r);
    r.scene.approve = false;
    r.options.tls_bootstrap_timeout = 20000;
    assert_int_equal(join_once(&r, &err), -1);
    assert_int_equal(err.kind, ERROR_TIMED_OUT);
    assert_non_null(strstr(err.message, "csr-x7k2p is pending"));
    assert_non_null(strstr(err.message, "waited 20 s"));
    assert_string_equal(err.hints[0], "kubectl certificate approve csr-x7k2p");
    assert_false(scene_runs(&r.scene, "kubelet"));
    assert_no_token(&r);
    r.options.timeout = 10000; /* wins over timeouts.tlsBootstrap */
    error_clear(&err);
    assert_int_equal(join_once(&r, &err), -1);
    assert_non_null(strstr(err.message, "waited 10 s"));
    r.options.timeout = 0;
    /* the same call again, and now somebody approves */
    r.scene.approve = true;
    k.asked = false;
    secret_free_text(take_ptr(k.key));
    if (join_once(&r, &err) < 0)
        fail_msg("second join: %s", err.message);
    assert_no_token(&r);
    close_kubelet(&k);
}

struct told {
    unsigned without,
        with; /* how long was waited when it was last told without a hint, first with */
};

static void listen(void *context, const struct join_event *event) {
    struct told *told = context;

    if (event->state != JOIN_WAITING || !strstr(event->message, "csr-x7k2p is pending"))
        return;
    if (!*event->hint)
        told->without = event->waited_ms;
    else if (!told->with)
        told->with = event->waited_ms;
}

/* Most clusters approve by themselves, in a moment: after that a person is asked. */
static void an_approver_is_asked_for_after_a_while(void **state) {
    struct told told = {0};
    struct error err = {0};
    struct kubelet k;
    struct run r;
    struct join join;

    (void)state;
    open_kubelet(&k, &r);
    r.scene.approve = false;
    r.options.tls_bootstrap_timeout = 20000;
    join = (struct join){.host = r.host,
                         .http = r.http,
                         .asked = &r.options,
                         .progress = {.listener = listen, .context = &told}};
    assert_int_equal(join_open(&join, &err), 0);
    assert_int_equal(join_run(&join, &err), -1);
    join_close(&join);
    assert_in_range(told.without, 1, 2999);
    assert_in_range(told.with, 3000, 4500);
    close_kubelet(&k);
}

static void it_is_denied(void **state) {
    struct error err = {0};
    struct kubelet k;
    struct run r;

    (void)state;
    open_kubelet(&k, &r);
    r.scene.approve = false;
    r.scene.denied = "csr-n0t2d";
    assert_int_equal(join_once(&r, &err), -1);
    assert_int_equal(err.kind, ERROR_DENIED);
    assert_non_null(strstr(err.message, "\"csr-n0t2d\" is denied"));
    assert_false(scene_runs(&r.scene, "kubelet"));
    assert_no_token(&r);
    /* the same call again: the denied request is still there until the kubelet makes another */
    r.scene.approve = true;
    k.asked = false;
    k.begins = true;
    secret_free_text(take_ptr(k.key));
    if (join_once(&r, &err) < 0)
        fail_msg("second join: %s", err.message);
    assert_no_token(&r);
    close_kubelet(&k);
}

static void it_is_interrupted(void **state) {
    struct error err = {0};
    struct kubelet k;
    struct run r;

    (void)state;
    open_kubelet(&k, &r);
    k.stops = true;
    assert_int_equal(join_once(&r, &err), -1);
    assert_int_equal(err.kind, ERROR_INTERRUPTED);
    assert_no_token(&r);
    close_kubelet(&k);
}

static void a_killed_run_left_the_file(void **state) {
    struct error err = {0};
    struct kubelet k;
    struct run r;
    struct join join = {0};
    _cleanup_(secret_freep) char *text = NULL;

    (void)state;
    open_kubelet(&k, &r);
    open_join(&r, &join);
    assert_int_equal(join_run_phase(&join, "certificate", &err), 0);
    join_close(&join); /* as if it had been killed here */
    text = text_of(&r, KUBELET_BOOTSTRAP_KUBECONFIG_FILE);
    assert_non_null(strstr(text, "token: " SCENE_TOKEN));
    assert_non_null(strstr(text, "name: tls-bootstrap-token-user@kubernetes"));
    if (reset_once(&r, &err) < 0)
        fail_msg("reset: %s", err.message);
    assert_no_token(&r);
    /* and a join the other way round takes it away as well */
    set_options(&r, "overlay");
    r.options.tls_bootstrap = xstrdup("kubelet");
    open_join(&r, &join);
    assert_int_equal(join_run_phase(&join, "certificate", &err), 0);
    join_close(&join);
    set_options(&r, "overlay");
    if (join_once(&r, &err) < 0)
        fail_msg("join: %s", err.message);
    assert_no_token(&r);
    close_kubelet(&k);
}

static void a_serving_request_is_told(void **state) {
    struct error err = {0};
    struct run r;
    struct join join;

    (void)state;
    open_run(&r, "overlay");
    r.scene.serving = true;
    open_join(&r, &join);
    if (join_run(&join, &err) < 0)
        fail_msg("join: %s", err.message);
    assert_true(join.progress.next.count > 0);
    assert_non_null(strstr(join.progress.next.items[join.progress.next.count - 1],
                           "kubectl certificate approve csr-x7k2p"));
    join_close(&join);
    close_run(&r);
}

/* What the kubelet would begin with instead is away, or the join has failed. */
static void what_is_in_the_way_is_removed(void **state) {
    struct join_found found = {.discovery.kubeconfig = (char *)"x"};
    unsigned removed = 0;
    bool reached = true;

    (void)state;
    found.discovery.config.server = (char *)"https://10.0.0.10:6443";
    found.discovery.config.ca_pem = (char *)"x";
    found.discovery.config.token = (char *)"x";
    for (size_t n = 1; reached; n++) {
        struct host *host = host_memory_new();
        struct journal journal = {0};
        struct error err = {0};
        size_t calls;

        assert_int_equal(journal_open(host, WINJOIN_FOLDER, &journal, &err), 0);
        calls = host_memory_calls(host);
        host_memory_fail(host, n);
        if (kubelet_bootstrap_write(&journal, &found, &err) == 0)
            assert_false(text_starts_with(host_memory_failed(host), "remove "));
        else
            removed += text_starts_with(host_memory_failed(host), "remove ");
        reached = host_memory_calls(host) - calls >= n;
        journal_close(&journal);
        host_free(host);
    }
    assert_int_equal(removed, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_kubelet_does_it_and_reset_takes_it_back),
        cmocka_unit_test(nobody_approves),
        cmocka_unit_test(an_approver_is_asked_for_after_a_while),
        cmocka_unit_test(it_is_denied),
        cmocka_unit_test(it_is_interrupted),
        cmocka_unit_test(a_killed_run_left_the_file),
        cmocka_unit_test(a_serving_request_is_told),
        cmocka_unit_test(what_is_in_the_way_is_removed),
        cmocka_unit_test(what_was_told_is_expected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
