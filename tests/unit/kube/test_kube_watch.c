/* List and watch: drops, ends, 410, polling, time. */
#include "tests/scene/kube_scene.h"

/* Notes each event as "TYPE name@version "; ends at one whose version is "end". */
static int note(void *context, const char *type, const json_t *object, struct error *err) {
    struct scene *s = context;
    const char *name = json_text_at(object, "metadata.name");
    const char *version = json_text_at(object, "metadata.resourceVersion");

    (void)err;
    text_addf(&s->seen, "%s %s@%s ", type, name ? name : "-", version ? version : "-");
    return text_equal(version, "end");
}

static int tick(void *context, unsigned waited_ms, struct error *err) {
    struct scene *s = context;

    (void)waited_ms, (void)err;
    s->ticks++;
    return 0;
}

static int watch(struct scene *s, unsigned timeout_ms, struct error *err) {
    struct kube_watch w = {.path = "/api/v1/nodes",
                           .name = "win-1",
                           .timeout_ms = timeout_ms,
                           .on_event = note,
                           .on_tick = tick,
                           .context = s};

    return kube_watch(&s->client, &w, 1, err);
}

static void lists_then_watches(void **state) {
    struct scene *s = *state;

    PLAY(
        s,
        {"/api/v1/nodes?fieldSelector=metadata.name%3Dwin-1", 200, LIST("10", NODE("9", "")), 0, 0},
        {"&watch=true&allowWatchBookmarks=true&resourceVersion=10&", 200,
         EVENT("MODIFIED", NODE("11", "")) EVENT("BOOKMARK", NODE("12", ""))
             EVENT("DELETED", NODE("end", "")) EVENT("ADDED", NODE("99", "")),
         0, 0});
    assert_int_equal(watch(s, 60000, NULL), 0);
    assert_string_equal(text_str(&s->seen),
                        "ADDED win-1@9 LISTED -@10 MODIFIED win-1@11 DELETED win-1@end ");
    assert_int_equal(s->asked, 2);
}

static void takes_up_a_dropped_stream(void **state) {
    struct scene *s = *state;

    PLAY(s, {"nodes?", 200, LIST("10", ""), 0, 0},
         {"resourceVersion=10&", 0, EVENT("MODIFIED", NODE("11", "")) "{\"type\":\"MODI",
          ERROR_NETWORK, 0},
         {"resourceVersion=11&", 0, NULL, ERROR_NETWORK, 0},
         {"resourceVersion=11&", 200, EVENT("BOOKMARK", NODE("20", "")), 0, 30000},
         {"resourceVersion=20&", 200, EVENT("MODIFIED", NODE("end", "")), 0, 0});
    assert_int_equal(watch(s, 60000, NULL), 0);
    assert_string_equal(text_str(&s->seen), "LISTED -@10 MODIFIED win-1@11 MODIFIED win-1@end ");
    assert_in_range(s->ticks, 28, 32);
}

/* As client-go: each stream costs the server. What is dead shows by its silence. */
static void streams_last_for_minutes(void **state) {
    struct scene *s = *state;
    struct kube_watch w = {
        .path = "/api/v1/nodes", .timeout_ms = 3600000, .on_event = note, .context = s};

    PLAY(s, {"nodes?", 200, LIST("10", ""), 0, 0},
         {"watch", 200, EVENT("BOOKMARK", NODE("10", "")), 0, 3600000});
    assert_int_equal(kube_watch(&s->client, &w, 1, NULL), -1);
    assert_in_range(s->asked, 1 + 6, 1 + 12);
    assert_int_equal(s->silent_ms, 75000);
    w.silent_ms = 60000; /* a few fit in */
    s->asked = 0;
    assert_int_equal(kube_watch(&s->client, &w, 1, NULL), -1);
    assert_in_range(s->asked, 1 + 90, 1 + 180);
}

/* What drops beside another does not wait for the other's end, nor does it end the other at once.
 */
static void what_drops_beside_another_is_taken_up(void **state) {
    struct scene *s = *state;
    const struct kube_watch w[] = {
        {.path = "/a", .version = "1", .timeout_ms = 3600000, .on_event = note, .context = s},
        {.path = "/b", .version = "5", .on_event = note, .context = s},
    };

    PLAY(s, {"/a?", 0, EVENT("MODIFIED", NODE("2", "")), ERROR_NETWORK, 3000},
         {"/b?", 200, EVENT("MODIFIED", NODE("6", "")), 0, 600000},
         {"resourceVersion=2&", 200, EVENT("MODIFIED", NODE("end", "")), 0, 0},
         {"resourceVersion=6&", 200, EVENT("MODIFIED", NODE("7", "")), 0, 0});
    assert_int_equal(kube_watch(&s->client, w, 2, NULL), 0);
    assert_in_range(host_monotonic_ms(s->host), 20000, 22000);
}

/* One that answers and then no more, for longer than is waited for; the error is its own. */
static void gives_up_a_silent_server(void **state) {
    struct scene *s = *state;
    struct error err = {0};
    struct kube_watch w = {.path = "/api/v1/nodes",
                           .timeout_ms = 600000,
                           .silent_ms = 60000,
                           .on_event = note,
                           .context = s};

    PLAY(s, {"nodes", 200, LIST("10", ""), 0, 0},
         {"resourceVersion=10&", 0, NULL, ERROR_TIMED_OUT, 40000},
         {"resourceVersion=10&", 200, EVENT("BOOKMARK", NODE("20", "")), 0, 30000},
         {"resourceVersion=20&", 0, NULL, ERROR_TIMED_OUT, 40000},
         {"resourceVersion=20&", 0, NULL, ERROR_NETWORK, 20000});
    assert_int_equal(kube_watch(&s->client, &w, 1, &err), -1);
    assert_int_equal(err.kind, ERROR_NETWORK);
    assert_in_range(s->asked, 5, 6);
}

static void lists_again_after_410(void **state) {
    struct scene *s = *state;

    PLAY(s, {"nodes?", 200, LIST("10", ""), 0, 0},
         {"resourceVersion=10&", 200,
          EVENT("ERROR", "{\"kind\":\"Status\",\"code\":410,\"message\":\"too old\"}"), 0, 0},
         {"nodes?fieldSelector=metadata.name%3Dwin-1", 200, LIST("50", NODE("49", "")), 0, 0},
         {"resourceVersion=50&", 410, "{\"kind\":\"Status\"}", 0, 0},
         {"nodes?", 200, LIST("60", NODE("end", "")), 0, 0});
    assert_int_equal(watch(s, 60000, NULL), 0);
    assert_string_equal(text_str(&s->seen),
                        "LISTED -@10 ADDED win-1@49 LISTED -@50 ADDED win-1@end ");
}

/* A whole collection: 5,000 Nodes are more than one answer may hold. */
static void lists_a_collection_in_pages(void **state) {
    struct scene *s = *state;
    struct kube_watch w = {
        .path = "/api/v1/nodes", .timeout_ms = 5000, .on_event = note, .context = s};
    struct error err = {0};

    PLAY(s,
         {"nodes?limit=500", 200,
          "{\"metadata\":{\"resourceVersion\":\"10\",\"continue\":\"next\"},\"items\":[" NODE(
              "8", "") "]}",
          0, 0},
         {"continue=next", 200, LIST("10", NODE("9", "")), 0, 0},
         {"resourceVersion=10&", 200, "", 0, 6000});
    assert_int_equal(kube_watch(&s->client, &w, 1, &err), -1);
    assert_int_equal(err.kind, ERROR_TIMED_OUT);
    assert_string_equal(text_str(&s->seen), "ADDED win-1@8 ADDED win-1@9 LISTED -@10 ");
}

static void polls_where_watch_is_not_granted(void **state) {
    struct scene *s = *state;

    PLAY(s, {"nodes?", 200, LIST("10", ""), 0, 0},
         {"watch=true", 403, "{\"message\":\"cannot watch\"}", 0, 0},
         {"nodes?", 200, LIST("11", ""), 0, 0}, {"nodes?", 200, LIST("12", NODE("end", "")), 0, 0});
    assert_int_equal(watch(s, 60000, NULL), 0);
    assert_int_equal(s->asked, 4);
    assert_in_range(host_monotonic_ms(s->host), 1000, 3000); /* about every two seconds */
}

static void ends_at_once_when_denied_or_untrusted(void **state) {
    struct scene *s = *state;
    struct error err = {0};

    PLAY(s, {"nodes?", 403, "{\"message\":\"cannot list\"}", 0, 0});
    assert_int_equal(watch(s, 60000, &err), -1);
    assert_int_equal(err.kind, ERROR_DENIED);
    assert_int_equal(s->asked, 1);
    PLAY(s, {"nodes?", 200, LIST("10", ""), 0, 0}, {"watch", 0, NULL, ERROR_UNTRUSTED, 0});
    assert_int_equal(watch(s, 60000, &err), -1);
    assert_int_equal(err.kind, ERROR_UNTRUSTED);
    assert_int_equal(s->asked, 2);
}

static void a_server_that_starts_refuses_for_a_while(void **state) {
    struct scene *s = *state;
    struct error err = {0};

    PLAY(s, {"nodes?", 200, LIST("10", ""), 0, 0},
         {"resourceVersion=10&", 401, "{\"message\":\"Unauthorized\"}", 0, 0},
         {"resourceVersion=10&", 401, "{\"message\":\"Unauthorized\"}", 0, 0},
         {"resourceVersion=10&", 200, EVENT("MODIFIED", NODE("end", "")), 0, 0});
    assert_int_equal(watch(s, 60000, &err), 0);
    assert_int_equal(s->asked, 4);
    PLAY(s, {"nodes?", 200, LIST("10", ""), 0, 0},
         {"resourceVersion=10&", 401, "{\"message\":\"Unauthorized\"}", 0, 0});
    assert_int_equal(watch(s, 600000, &err), -1);
    assert_int_equal(err.kind, ERROR_DENIED);
    assert_in_range(s->asked, 5, 20);
    PLAY(s, {"nodes?", 401, "{\"message\":\"Unauthorized\"}", 0, 0});
    assert_int_equal(watch(s, 60000, &err), -1);
    assert_int_equal(s->asked, 1);
}

/* Whoever has a version got it from that server, with these credentials: of a 401 alone that says
 * that it has started again, as what it forbids, it forbids then, too. */
static void a_version_is_proof_of_having_been_let_in(void **state) {
    struct scene *s = *state;
    struct kube_watch w = {.path = "/api/v1/nodes",
                           .version = "10",
                           .timeout_ms = 60000,
                           .on_event = note,
                           .context = s};
    struct error err = {0};

    PLAY(s, {"resourceVersion=10&", 0, NULL, ERROR_NETWORK, 0},
         {"resourceVersion=10&", 401, "{\"message\":\"Unauthorized\"}", 0, 0},
         {"resourceVersion=10&", 200, EVENT("MODIFIED", NODE("end", "")), 0, 0});
    assert_int_equal(kube_watch(&s->client, &w, 1, &err), 0);
    assert_int_equal(s->asked, 3);
    PLAY(s, {"resourceVersion=10&", 403, "{\"message\":\"cannot watch\"}", 0, 0},
         {"nodes?", 403, "{\"message\":\"cannot list\"}", 0, 0});
    assert_int_equal(kube_watch(&s->client, &w, 1, &err), -1);
    assert_int_equal(s->asked, 2);
}

static void is_bounded_in_time(void **state) {
    struct scene *s = *state;
    struct error err = {0};

    PLAY(s, {"nodes?", 200, LIST("10", ""), 0, 0}, {"watch", 200, "", 0, 30000});
    assert_int_equal(watch(s, 100000, &err), -1);
    assert_int_equal(err.kind, ERROR_TIMED_OUT);
    assert_string_equal(err.message, "waited 100 s");
    assert_in_range(s->asked, 4, 6);
    PLAY(s, {"nodes?", 0, NULL, ERROR_NETWORK, 0});
    assert_int_equal(watch(s, 100000, &err), -1);
    assert_int_equal(err.kind, ERROR_TIMED_OUT);
    assert_non_null(strstr(err.message, "last failure: GET https://k/api/v1/nodes"));
    assert_in_range(s->asked, 15, 30);
}

static void a_stream_that_ends_at_once_is_no_busy_loop(void **state) {
    struct scene *s = *state;
    struct error err = {0};
    uint64_t before;

    PLAY(s, {"nodes?", 200, LIST("10", ""), 0, 0}, {"watch", 200, "", 0, 0});
    assert_int_equal(watch(s, 60000, &err), -1);
    assert_string_equal(
        err.message,
        "waited 60 s; last failure: watch /api/v1/nodes: the stream ended immediately");
    assert_in_range(s->asked, 10, 25);
    PLAY(s, {"nodes?", 200, LIST("10", ""), 0, 0},
         {"watch", 200, EVENT("BOOKMARK", NODE("11", "")), 0, 0});
    assert_int_equal(watch(s, 60000, &err), -1);
    assert_int_equal(err.kind, ERROR_TIMED_OUT);
    assert_in_range(s->asked, 30, 61);
    before = host_monotonic_ms(s->host);
    PLAY(s, {"nodes?", 200, LIST("10", ""), 0, 0}, {"watch", 410, "{\"kind\":\"Status\"}", 0, 0},
         {"nodes?", 200, LIST("10", ""), 0, 0}, {"watch", 410, "{\"kind\":\"Status\"}", 0, 0},
         {"nodes?", 200, LIST("10", ""), 0, 0}, {"watch", 410, "{\"kind\":\"Status\"}", 0, 0},
         {"nodes?", 200, LIST("10", ""), 0, 0}, {"watch", 410, "{\"kind\":\"Status\"}", 0, 0},
         {"nodes?", 200, LIST("10", NODE("end", "")), 0, 0});
    assert_int_equal(watch(s, 60000, &err), 0);
    assert_in_range(host_monotonic_ms(s->host) - before, 4000, 9000);
}

/* Words instead of events are not read again with each line: this takes seconds otherwise. */
static void words_are_no_events(void **state) {
    struct scene *s = *state;
    struct error err = {0};
    static char words[512 * 1024];

    for (size_t i = 0; i < sizeof words - 1; i++)
        words[i] = "[\n\"\n"[i % 4];
    PLAY(s, {"nodes?", 200, LIST("10", ""), 0, 0}, {"watch", 200, words, 0, 0});
    assert_int_equal(watch(s, 2000, &err), -1);
    PLAY(s, {"nodes?", 200, LIST("10", ""), 0, 0},
         {"watch", 200,
          "\n" EVENT("MODIFIED", NODE("11", "")) "sorry\n" EVENT("DELETED", NODE("end", "")), 0,
          0});
    assert_int_equal(watch(s, 2000, &err), -1);
    assert_non_null(strstr(err.message, "; last failure: watch /api/v1/nodes: decode event: line 1 "
                                        "column 5: invalid token near 'sorry': sorry"));
    assert_null(strstr(text_str(&s->seen), "DELETED"));
    assert_non_null(strstr(text_str(&s->seen), "MODIFIED win-1@11"));
}

static int say_stop(void *context, unsigned waited_ms, struct error *err) {
    (void)context;
    return waited_ms >= 5000 ? error_set(err, ERROR_INTERRUPTED, "enough") : 0;
}

static void ends_when_a_callback_says_so(void **state) {
    struct scene *s = *state;
    struct kube_watch w = {.path = "/api/v1/nodes",
                           .timeout_ms = 60000,
                           .on_event = note,
                           .on_tick = say_stop,
                           .context = s};
    struct error err = {0};

    PLAY(s, {"nodes", 200, LIST("10", ""), 0, 0}, {"watch", 200, "", 0, 30000});
    assert_int_equal(kube_watch(&s->client, &w, 1, &err), -1);
    assert_int_equal(err.kind, ERROR_INTERRUPTED);
    assert_in_range(host_monotonic_ms(s->host), 5000, 7000);
    /* without a tick there is none to ask; the end of time is the end */
    w.on_tick = NULL;
    s->asked = 0;
    assert_int_equal(kube_watch(&s->client, &w, 1, &err), -1);
    assert_int_equal(err.kind, ERROR_TIMED_OUT);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(lists_then_watches),
        CASE(takes_up_a_dropped_stream),
        CASE(streams_last_for_minutes),
        CASE(what_drops_beside_another_is_taken_up),
        CASE(gives_up_a_silent_server),
        CASE(lists_again_after_410),
        CASE(lists_a_collection_in_pages),
        CASE(polls_where_watch_is_not_granted),
        CASE(ends_at_once_when_denied_or_untrusted),
        CASE(a_server_that_starts_refuses_for_a_while),
        CASE(a_version_is_proof_of_having_been_let_in),
        CASE(is_bounded_in_time),
        CASE(a_stream_that_ends_at_once_is_no_busy_loop),
        CASE(words_are_no_events),
        CASE(ends_when_a_callback_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
