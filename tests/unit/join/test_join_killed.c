/* A join, and a reset, that is killed at every call, in each mode. */
#include "tests/scene/cri_scene.h"
#include "tests/scene/join_scene.h"

#include "join/prepare/prepare.h"
#include "tests/scene/image_archive.h"

static char bundle[] = "D:\\b"; /* with an image */

static int prepare_of(struct run *r, char *from, struct error *err) {
    struct join_options options = {.bundle = from,
                                   .kubernetes_version = (char *)"v1.37.1",
                                   .network_mode = r->options.network_mode,
                                   .source_base = (char *)"none",
                                   .ignore_preflight_errors = r->options.ignore_preflight_errors};
    struct join join = {.host = r->host, .http = r->http, .asked = &options};
    int result = prepare_open(&join, err) < 0 ? -1 : join_run(&join, err);

    join_close(&join);
    return result;
}

static int prepare_once(struct run *r, struct error *err) {
    return prepare_of(r, NULL, err);
}

static int prepare_with_images_once(struct run *r, struct error *err) {
    return prepare_of(r, bundle, err);
}

static int join_with_images_once(struct run *r, struct error *err) {
    text_set(&r->options.bundle, xstrdup(bundle));
    return join_once(r, err);
}

/* containerd has an image when ctr was called. */
static void answer_image(void *context, const void *said, size_t len, struct text *answer) {
    _cleanup_(http2_request_free) struct http2_request request = {0};
    bool has = strstr(host_memory_log(context), "images import");

    http2_request_read(said, len, &request);
    if (cri_scene_calls(&request, ":path: /runtime.v1.ImageService/ImageStatus\n"))
        cri_scene_add(answer, "\x0a\3\x0a\1x", has ? 5 : 0);
    else /* a reset asks for pods: there are none */
        cri_scene_add(answer, "", 0);
}

/* What is there before anything is done. */
static void bring_image(struct run *r) {
    image_bundle_put(r->host, "r.example/app:1", "", "{}", "\"layers\":[]");
    assert_int_equal(
        host_write(r->host, "C:\\Program Files\\containerd\\ctr.exe", "MZ", 2, HOST_PUBLIC, NULL),
        0);
    host_memory_set_program(r->host, "ctr.exe", 0, "unpacking\n");
    host_memory_set_pipe_answer(r->host, answer_image, r->host);
}

/* What is killed, and what follows. */
typedef int once(struct run *r, struct error *err);
struct kind {
    const char *what;
    once *before, *killed, *again; /* NULL: nothing */
};
static const struct kind JOIN_THEN_JOIN = {"join", NULL, join_once, join_once},
                         JOIN_THEN_RESET = {"join", NULL, join_once, NULL},
                         RESET_THEN_RESET = {"reset", join_once, reset_once, NULL},
                         PREPARE_THEN_PREPARE = {"prepare", NULL, prepare_once, prepare_once},
                         PREPARE_THEN_JOIN = {"prepare", NULL, prepare_once, join_once},
                         PREPARED_JOIN = {"join", prepare_once, join_once, join_once},
                         IMAGES_PREPARED = {"prepare with images", NULL, prepare_with_images_once,
                                            prepare_with_images_once},
                         IMAGES_JOINED = {"prepare with images", NULL, prepare_with_images_once,
                                          join_with_images_once};

/* Killed at each call, so behind each record of the journal, too: the same join continues where it
 * was, or a reset restores the host at once; a second reset undoes what the first has left. */
static void killed_at_every_call(const char *mode, const struct kind *kind) {
    bool reached = true;

    for (size_t n = 1; reached; n += next_call()) {
        struct error err = {0};
        struct round t;

        _cleanup_(freep) char *what = xasprintf("%s killed at call", kind->what);

        round_open(&t, mode, what, n);
        if (kind->killed == prepare_with_images_once)
            bring_image(&t.r);
        json_decref(t.before);
        t.before = state_of(&t.r);
        if (kind->before)
            round_good(&t, "before", kind->before);
        t.calls = host_memory_calls(t.r.host);
        host_memory_die(t.r.host, n);
        (void)kind->killed(&t.r, &err);
        reached = round_reached(&t, n);
        if (kind->again)
            round_good(&t, "again", kind->again);
        round_close(&t);
    }
}

static void killed_and_joined_again(void **state) {
    killed_at_every_call(*state, &JOIN_THEN_JOIN);
}

static void killed_and_reset(void **state) {
    killed_at_every_call(*state, &JOIN_THEN_RESET);
}

static void reset_is_killed(void **state) {
    killed_at_every_call(*state, &RESET_THEN_RESET);
}

static void a_preparation_is_killed(void **state) {
    killed_at_every_call(*state, &PREPARE_THEN_PREPARE);
    killed_at_every_call(*state, &PREPARE_THEN_JOIN);
    killed_at_every_call(*state, &PREPARED_JOIN);
    killed_at_every_call(*state, &IMAGES_PREPARED);
    killed_at_every_call(*state, &IMAGES_JOINED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(killed_and_joined_again, (char *)"overlay"),
        cmocka_unit_test_prestate(killed_and_joined_again, (char *)"l2bridge"),
        cmocka_unit_test_prestate(killed_and_joined_again, (char *)"l2tunnel"),
        cmocka_unit_test_prestate(killed_and_joined_again, (char *)"transparent"),
        cmocka_unit_test_prestate(killed_and_joined_again, (char *)"nat"),
        cmocka_unit_test_prestate(killed_and_reset, (char *)"overlay"),
        cmocka_unit_test_prestate(killed_and_reset, (char *)"l2bridge"),
        cmocka_unit_test_prestate(killed_and_reset, (char *)"l2tunnel"),
        cmocka_unit_test_prestate(killed_and_reset, (char *)"transparent"),
        cmocka_unit_test_prestate(killed_and_reset, (char *)"nat"),
        cmocka_unit_test_prestate(reset_is_killed, (char *)"overlay"),
        cmocka_unit_test_prestate(reset_is_killed, (char *)"l2bridge"),
        cmocka_unit_test_prestate(reset_is_killed, (char *)"l2tunnel"),
        cmocka_unit_test_prestate(reset_is_killed, (char *)"transparent"),
        cmocka_unit_test_prestate(reset_is_killed, (char *)"nat"),
        cmocka_unit_test_prestate(a_preparation_is_killed, (char *)"overlay"),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
