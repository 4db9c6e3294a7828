/* Answers that are handed out piece by piece as they come. */
#include "tests/scene/http_fixture.h"

struct stream {
    struct text text;
    int idle;
};

static int on_data(void *context, const char *data, size_t len) {
    struct stream *stream = context;

    if (!len)
        return ++stream->idle == 2; /* the second quiet second ends it */
    text_add_bytes(&stream->text, data, len);
    return 0;
}

static int one_is_enough(void *context, const char *data, size_t len) {
    text_add_bytes(context, data, len);
    return 1;
}

static void streams_with_idle_ticks(void **state) {
    char url[128];
    struct http_request request = request_for(url, "/stream");
    struct http_response response = {0};
    struct stream stream = {0};
    struct text first = {0};
    struct error err = {0};

    (void)state;
    request.on_data = on_data;
    request.on_data_context = &stream;
    assert_int_equal(http_perform(fixture.http, &request, &response, &err), 0);
    assert_string_equal(text_str(&stream.text), "one\ntwo\n");
    assert_int_equal(stream.idle, 2);
    assert_int_equal(response.status, 200);
    assert_null(response.body);
    http_response_free(&response);
    request.on_data = one_is_enough;
    request.on_data_context = &first;
    assert_int_equal(http_perform(fixture.http, &request, &response, &err), 0);
    assert_string_equal(text_str(&first), "one\n");
    http_response_free(&response);
    text_free(&stream.text);
    text_free(&first);
}

static int count_seconds(void *context, const char *, size_t len) {
    *(unsigned *)context += !len;
    return 0;
}

/* A connection over which nothing comes is given up long before its time. One that drips is not. */
static void a_stream_that_says_no_more(void **state) {
    static const char *const paths[][2] = {{"/stream", "nothing came for 1500 ms"},
                                           {"/drip", "no complete answer within 4000 ms"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
        char url[128];
        struct http_request request = request_for(url, paths[i][0]);
        struct http_response response = {0};
        struct error err = {0};
        unsigned seconds = 0;

        request.timeout_ms = 4000;
        request.silent_ms = 1500;
        request.on_data = count_seconds;
        request.on_data_context = &seconds;
        assert_int_equal(http_perform(fixture.http, &request, &response, &err), -1);
        assert_int_equal(err.kind, ERROR_TIMED_OUT);
        assert_non_null(strstr(err.message, paths[i][1]));
        assert_int_equal(seconds >= 3, i);
        http_response_free(&response);
    }
}

struct asking {
    unsigned asked, pieces;
};

static int ask_meanwhile(void *context, const char *, size_t len) {
    struct asking *asking = context;
    char url[128];
    struct http_request request = request_for(url, "/stream");
    struct http_response response = {0};
    struct text first = {0};

    asking->pieces += len != 0;
    if (len)
        return 0;
    request.on_data = one_is_enough;
    request.on_data_context = &first;
    assert_int_equal(http_perform(fixture.http, &request, &response, NULL), 0);
    assert_string_equal(text_str(&first), "one\n");
    http_response_free(&response);
    text_free(&first);
    return ++asking->asked == 2;
}

/* Of two streams that never rest each is asked once a second whether it has had enough, and may ask
 * the server something. */
static void asks_while_data_come(void **state) {
    char urls[2][128];
    struct asking asking[2] = {{0}};
    struct http_exchange exchanges[2];
    struct error errors[2] = {{0}};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        exchanges[i] =
            (struct http_exchange){.request = request_for(urls[i], "/drip"), .err = &errors[i]};
        exchanges[i].request.on_data = ask_meanwhile;
        exchanges[i].request.on_data_context = &asking[i];
    }
    http_perform_all(fixture.http, exchanges, 2, 0);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(errors[i].kind, ERROR_NONE);
        assert_int_equal(asking[i].asked, 2);
        assert_true(asking[i].pieces > 5);
        http_response_free(&exchanges[i].response);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_with_idle_ticks),
        cmocka_unit_test(a_stream_that_says_no_more),
        cmocka_unit_test(asks_while_data_come),
    };

    return cmocka_run_group_tests_name("http streams", tests, start_server, stop_server);
}
