/* The one way to wait: by the clock, whatever a look costs. */
#include "tests/scene/join_scene.h"

#include "host/wait.h"
#include "tests/memory/host_memory.h"
#include "tests/memory/http_memory.h"

enum { LOOK_MS = 2000, FOUR_MINUTES = 240000 };

struct scene {
    struct host *host;
    unsigned looks, done_at, fails_at, longer_at; /* at which look; 0: never */
    unsigned told, told_ms[400], left_ms[400];
    char missing[64];
};

/* Each costs two seconds, as a closed loopback port of Windows does. */
static enum wait_poll slow_poll(void *context, struct wait *wait, struct error *err) {
    struct scene *s = context;

    assert_int_equal(err->kind, ERROR_NONE);
    host_memory_advance(s->host, LOOK_MS);
    s->looks++;
    if (s->looks == s->longer_at)
        wait->limit_ms += 60000;
    if (s->looks == s->done_at)
        return POLL_DONE;
    (void)error_set(err, ERROR_NETWORK, "look %u", s->looks);
    return s->looks == s->fails_at ? POLL_FAILED : POLL_AGAIN;
}

static void on_tell(void *context, const struct wait *wait, const struct error *missing) {
    struct scene *s = context;

    assert_true(s->told < ARRAY_SIZE(s->told_ms));
    s->left_ms[s->told] = wait_left_ms(wait);
    s->told_ms[s->told++] = wait->waited_ms;
    assert_int_equal(text_format(s->missing, sizeof s->missing, "%s", missing->message), 0);
}

static enum wait_poll run(struct scene *s, struct wait *wait, struct error *err) {
    s->host = s->host ? s->host : host_memory_new();
    *wait = (struct wait){.limit_ms = FOUR_MINUTES,
                          .pause_ms = 500,
                          .poll = slow_poll,
                          .tell = on_tell,
                          .context = s,
                          .tell_context = s};
    return wait_until(s->host, wait, err);
}

static void four_minutes_stay_four_minutes(void **state) {
    struct scene s = {0};
    struct error err = {0};
    struct wait wait;

    (void)state;
    assert_int_equal(run(&s, &wait, &err), POLL_AGAIN);
    assert_string_equal(err.message, "look 97");
    assert_int_equal(s.looks, 97); /* 2.5 s each, and the last at the limit */
    assert_in_range(wait.waited_ms, FOUR_MINUTES, FOUR_MINUTES + LOOK_MS);
    assert_in_range(host_monotonic_ms(s.host), FOUR_MINUTES, FOUR_MINUTES + 2 * LOOK_MS);
    host_free(s.host);
}

static void the_last_look_is_at_the_limit(void **state) {
    struct scene s = {.host = host_memory_new()};
    struct wait wait = {
        .limit_ms = LOOK_MS + 200, .pause_ms = 500, .poll = slow_poll, .context = &s};
    uint64_t begin = host_monotonic_ms(s.host);

    (void)state;
    assert_int_equal(wait_until(s.host, &wait, NULL), POLL_AGAIN);
    assert_int_equal(s.looks, 2);
    assert_int_equal(host_monotonic_ms(s.host) - begin, 2 * LOOK_MS + 200);
    host_free(s.host);
}

static void what_a_look_finds_ends_it(void **state) {
    struct scene done = {.done_at = 3}, failed = {.fails_at = 2}, longer = {.longer_at = 2};
    struct error err = {0};
    struct wait wait;

    (void)state;
    assert_int_equal(run(&done, &wait, &err), POLL_DONE);
    assert_int_equal(done.looks, 3);
    assert_int_equal(err.kind, ERROR_NONE);
    assert_int_equal(run(&failed, &wait, &err), POLL_FAILED);
    assert_string_equal(err.message, "look 2");
    assert_int_equal(run(&longer, &wait, &err), POLL_AGAIN);
    assert_in_range(wait.waited_ms, FOUR_MINUTES + 60000, FOUR_MINUTES + 60000 + LOOK_MS);
    host_free(done.host);
    host_free(failed.host);
    host_free(longer.host);
}

static void it_is_told_about_once_a_second(void **state) {
    struct scene s = {.done_at = 5};
    struct error err = {0};
    struct wait wait;

    (void)state;
    assert_int_equal(run(&s, &wait, &err), POLL_DONE);
    assert_int_equal(s.told, 4);
    assert_int_equal(s.told_ms[0], LOOK_MS);
    assert_int_equal(s.left_ms[0], FOUR_MINUTES - LOOK_MS);
    assert_string_equal(s.missing, "look 4");
    host_free(s.host);
}

static enum wait_poll quick_poll(void *context, struct wait *wait, struct error *err) {
    (void)wait;
    (void)err;
    return ++((struct scene *)context)->looks == 41 ? POLL_DONE : POLL_AGAIN;
}

static void quick_polls_are_not_all_told(void **state) {
    struct scene s = {.host = host_memory_new()};
    struct wait wait = {.limit_ms = 60000,
                        .pause_ms = 250,
                        .poll = quick_poll,
                        .tell = on_tell,
                        .context = &s,
                        .tell_context = &s};

    (void)state;
    assert_int_equal(wait_until(s.host, &wait, NULL), POLL_DONE);
    assert_int_equal(s.told, 10); /* in ten seconds */
    assert_int_equal(s.told_ms[0], 0);
    assert_int_equal(s.told_ms[1], 1000);
    host_free(s.host);
}

static void interrupt(void *context, struct host *host) {
    struct scene *s = context;

    if (s->looks == 3)
        host_memory_interrupt(host);
}

static void an_interruption_ends_it(void **state) {
    struct scene s = {.host = host_memory_new()};
    struct error err = {0};
    struct wait wait;

    (void)state;
    host_memory_on_sleep(s.host, interrupt, &s);
    assert_int_equal(run(&s, &wait, &err), POLL_FAILED);
    assert_int_equal(err.kind, ERROR_INTERRUPTED);
    assert_int_equal(s.looks, 3);
    host_free(s.host);
}

/* ---- in a join ---- */

/* The kubelet's health endpoint takes two seconds to refuse. */
static int refuse_slowly(void *context, const struct http_request *request,
                         struct http_response *ret, struct error *err) {
    struct run *r = context;

    if (!strstr(request->url, "/healthz"))
        return scene_answer(&r->scene, request, ret, err);
    host_memory_advance(r->host, LOOK_MS);
    return error_set(err, ERROR_NETWORK, "connection refused");
}

static void a_kubelet_is_waited_for_four_minutes(void **state) {
    struct error err = {0};
    uint64_t begin;
    struct run r;

    (void)state;
    open_run(&r, "overlay");
    http_free(r.http);
    r.http = http_memory_new(refuse_slowly, &r);
    begin = host_monotonic_ms(r.host);
    assert_int_equal(join_once(&r, &err), -1);
    assert_int_equal(err.kind, ERROR_TIMED_OUT);
    assert_string_equal(err.message, "wait for the kubelet: not healthy after 240 s");
    assert_in_range(host_monotonic_ms(r.host) - begin, FOUR_MINUTES, FOUR_MINUTES + 20000);
    close_run(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(four_minutes_stay_four_minutes),
        cmocka_unit_test(the_last_look_is_at_the_limit),
        cmocka_unit_test(what_a_look_finds_ends_it),
        cmocka_unit_test(it_is_told_about_once_a_second),
        cmocka_unit_test(quick_polls_are_not_all_told),
        cmocka_unit_test(an_interruption_ends_it),
        cmocka_unit_test(a_kubelet_is_waited_for_four_minutes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
