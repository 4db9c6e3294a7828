/* What each verb prints, compared as a whole with a file of tests/unit/expected; and every call of
 * the host and every request that it makes fails once: a verb that succeeds has passed over no
 * error, one that prints what it prints without failures leaves the node as it does without. */
#include "tests/scene/joining_scene.h"

#include "tests/scene/expected_scene.h"
#include "tests/scene/program_image.h"
#include "services/artifacts/artifacts.h"

enum failure { CALL, REQUEST, DENIED, BROKEN, FAILURES };
static const char *const failures[] = {"call", "request", "request denied", "request broken"};

static struct program_options *o(void) {
    return &program->options;
}

static void force(void) {
    o()->yes = true;
}

static void dry(void) {
    o()->join.dry_run = true;
}

static void endpoint(void) {
    o()->join.endpoint = xstrdup("10.0.0.10:6443");
    o()->join.token = xstrdup(SCENE_TOKEN);
    text_list_add(&o()->join.discovery_token_ca_cert_hash, r.scene.pin);
}

static void wet_join(void) {
    set_options(&r, "overlay");
    join_options_free(&o()->join);
    o()->join = r.options;
    r.options = (struct join_options){0};
    o()->join.start_spread = -1;
}

static void to_prepare(void) {
    o()->join.kubernetes_version = xstrdup("v1.37.1");
    o()->join.source_base = xstrdup("none");
}

static void dry_join(void) {
    wet_join();
    dry();
}

/* For nodes that need programs of Microsoft, which it lacks. */
static void bundle_path(void) {
    put_plugin_bundle();
    o()->join.network_mode = xstrdup("l2bridge");
    o()->join.network_plugin = xstrdup("azure-vnet");
    text_list_add(&program->words, "D:\\b");
}

static void folder(void) {
    _cleanup_(freep) char *image = image_make("mod\tx\tv1.0.0\th1:x\n");

    bundle_path();
    assert_int_equal(host_remove(r.host, "D:\\b\\" ARTIFACT_LOCK_NAME, NULL), 0);
    assert_int_equal(
        host_write(r.host, "D:\\b\\win-overlay.exe", image, IMAGE_SIZE, HOST_PUBLIC, NULL), 0);
    text_list_add(&program->words, "D:\\out.zip");
}

static void dry_bundle(void) {
    put_plugin_bundle();
    dry();
}

static const struct {
    const char *verb, *words;
    int (*run)(struct program *program, struct error *err);
    void (*prepare)(void);
    bool is_new; /* on a machine that has not joined */
    bool once;   /* there is a torture of its own */
} rows[] = {
    {"status", "", verb_status, NULL, false, false},
    {"certs", "", verb_certs, NULL, false, false},
    {"certs", "renew", verb_certs, NULL, false, false},
    {"capabilities", "", verb_capabilities, NULL, false, false},
    {"logs", "", verb_logs, NULL, false, false},
    {"discover", "", verb_discover, endpoint, true, false},
    {"preflight", "", verb_preflight, endpoint, true, false},
    {"join", "", verb_join, dry_join, true, false},
    {"prepare", "", verb_prepare, to_prepare, true, false},
    {"join", "done", verb_join, wet_join, true, true},
    {"upgrade", "done", verb_upgrade, put_plugin_bundle, false, true},
    {"reset", "done", verb_reset, force, false, true},
    {"upgrade", "", verb_upgrade, dry_bundle, false, false},
    {"reset", "", verb_reset, dry, false, false},
    {"bundle", "create", verb_bundle, folder, true, false},
    {"bundle", "show", verb_bundle, bundle_path, true, false},
    {"bundle", "verify", verb_bundle, bundle_path, true, false},
    {"install", "", verb_install, NULL, false, false},
};

static void join_before(void) {
    words("10.0.0.10:6443");
    succeeds(verb_join);
    record_free(program);
    json_decref(program->result);
    program->result = NULL;
    r.scene.registered = true;
}

static void open_row(size_t i) {
    (void)open_joining(NULL);
    if (!rows[i].is_new)
        join_before();
    join_options_free(&o()->join); /* another call */
    o()->join = (struct join_options){.start_spread = -1, .verify = xstrdup("none")};
    program->verb = verb_find(verbs, rows[i].verb);
    words(rows[i].once ? "" : rows[i].words);
    if (rows[i].prepare)
        rows[i].prepare();
}

/* What was printed, as text and as a document, and what the node became. */
struct outcome {
    char *printed;
    json_t *state;
};

static struct outcome outcome(void) {
    _cleanup_(freep) char *result = program->result ? json_write(program->result) : NULL;
    struct outcome is = {
        xasprintf("%s\n%s\n%s", text_str(&out), text_str(&err_out), result ? result : ""),
        state_of(&r)};
    json_t *files = json_object_get(is.state, "files"), *file;
    const char *path;
    void *next;

    json_object_foreach_safe(files, next, path, file) {
        _cleanup_(freep) char *text = json_write(file);

        if (strstr(text, "-----BEGIN ") || strstr(path, "\\winjoin\\") ||
            text_ends_with(path, ".tmp") || strstr(text, "certificate-authority-data"))
            json_object_del(files, path);
    }
    return is;
}

static void outcome_free(struct outcome *outcome) {
    free(outcome->printed);
    json_decref(outcome->state);
}

/* The words of who failed, or of what is not known without it. */
static bool is_why(const char *message) {
    static const char *const words[] = {"told",
                                        "checks failed",
                                        "this node is not well: ",
                                        "this machine has no node certificate",
                                        "[ClusterRights]",
                                        "is not JSON"};

    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (strstr(message, words[i]))
            return true;
    return false;
}

/* Whether the verb came to its n-th call or request. */
static bool fails_once(size_t row, enum failure how, size_t n, const struct outcome *usual) {
    size_t calls, requests;
    struct error err = {0};
    struct outcome is;
    char when[96];
    bool reached;

    open_row(row);
    (void)text_format(when, sizeof when, "%s %s (%zu), %s %zu", rows[row].verb, rows[row].words,
                      row, failures[how], n);
    calls = host_memory_calls(r.host);
    requests = http_memory_requests(r.http);
    if (how == CALL)
        host_memory_fail(r.host, n);
    else
        http_memory_fail(r.http, n, how == REQUEST ? 0 : how == DENIED ? 403 : 200);
    assert_said(verb(rows[row].run, &err), &err, when);
    if (err.kind && !is_why(err.message))
        fail_msg("%s: %s", when, err.message);
    reached = how == CALL ? host_memory_calls(r.host) - calls >= n
                          : http_memory_requests(r.http) - requests >= n;
    host_memory_fail(r.host, 0);
    is = outcome();
    if (err.kind == ERROR_NONE && text_equal(is.printed, usual->printed))
        assert_same(usual->state, is.state, when);
    outcome_free(&is);
    (void)close_joining(NULL);
    return reached;
}

static void verbs_print_what_is_expected(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *name =
            xasprintf("verb-%s%s%s", rows[i].verb, *rows[i].words ? "-" : "", rows[i].words);
        struct text t = {.cap = 1 << 20};

        open_row(i);
        succeeds(rows[i].run);
        text_addf(&t, "%s==== standard error\n%s==== document\n", text_str(&out),
                  text_str(&err_out));
        add_document(&t, program->result);
        (void)close_joining(NULL);
        assert_expected(name, text_str(&t));
        text_free(&t);
    }
}

static void verbs_pass_over_nothing(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct outcome usual;

        if (rows[i].once)
            continue;
        open_row(i);
        succeeds(rows[i].run);
        usual = outcome();
        (void)close_joining(NULL);
        for (enum failure how = CALL; how < FAILURES; how++)
            for (size_t n = 1; fails_once(i, how, n, &usual); n += how ? 1 : (next_call() + 1) / 2)
                ;
        outcome_free(&usual);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(verbs_print_what_is_expected),
                                       cmocka_unit_test(verbs_pass_over_nothing)};

    return cmocka_run_group_tests(tests, NULL, free_output);
}
