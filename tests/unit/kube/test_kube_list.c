/* A whole list, taken object by object as it comes in pieces. */
#include "tests/scene/kube_scene.h"

#include "kube/object.h"

struct list {
    const char *text;
    size_t piece;
    long status;
    char *names, *version;
};

static int send_pieces(void *context, const struct http_request *request, struct http_response *ret,
                       struct error *err) {
    const struct list *list = context;
    size_t len = strlen(list->text);

    (void)err;
    assert_true(request->gzip);
    assert_non_null(strstr(request->url, "/api/v1/nodes?resourceVersion=0"));
    ret->status = list->status;
    ret->body = xstrdup("");
    for (size_t at = 0; at < len; at += list->piece) {
        size_t n = len - at < list->piece ? len - at : list->piece;

        if (request->on_data(request->on_data_context, list->text + at, n))
            break;
    }
    return 0;
}

static int note_names(void *context, const json_t *items, struct error *err) {
    struct list *list = context;

    (void)err;
    json_each(items, i, item) {
        char *more = xasprintf("%s %s", list->names ? list->names : "",
                               json_text_or(item, "metadata.name", "-"));

        text_set(&list->names, more);
    }
    return 0;
}

static int take_list(struct scene *s, struct list *list, struct error *err) {
    struct http *http = http_memory_new(send_pieces, list);
    int result;

    list->status = list->status ? list->status : 200;
    s->client.http = http;
    result = kube_pages_each(&s->client, "/api/v1/nodes", note_names, list, &list->version, err);
    s->client.http = s->http;
    http_free(http);
    return result;
}

static void list_free(struct list *list) {
    free_all(list->names, list->version);
}

#define ITEM(name) "{\"metadata\":{\"name\":\"" name "\"}}"

static void each_object_is_told_once(void **state) {
    static const char *const texts[] = {
        "{\"kind\":\"NodeList\",\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[" ITEM(
            "a") "," ITEM("b ]}\\\"\\\\") "," ITEM("c") "]}\n",
        " { \"items\" : [ " ITEM("a") " ,\n" ITEM(
            "b ]}\\\"\\\\") "\t,"
                            "{\"items\":[{\"items\":[]}],\"metadata\":{\"name\":\"c\"}}"
                            " ] , \"other\":[[1],{\"items\":[{}]}], \"metadata\" : "
                            "{\"resourceVersion\":\"7\"} } "};

    for (size_t t = 0; t < ARRAY_SIZE(texts); t++)
        for (size_t piece = 1; piece <= strlen(texts[t]); piece++) {
            struct list list = {.text = texts[t], .piece = piece};

            assert_int_equal(take_list(*state, &list, NULL), 0);
            assert_string_equal(list.names, " a b ]}\"\\ c");
            assert_string_equal(list.version, "7");
            list_free(&list);
        }
}

static void none_is_a_list_too(void **state) {
    static const char *const texts[] = {"{\"kind\":\"NodeList\",\"items\":[]}",
                                        "{\"kind\":\"NodeList\",\"items\":null}"};

    for (size_t t = 0; t < ARRAY_SIZE(texts); t++) {
        struct list list = {.text = texts[t], .piece = 1};

        assert_int_equal(take_list(*state, &list, NULL), 0);
        assert_null(list.names);
        assert_null(list.version);
    }
}

static void assert_refused(struct scene *s, const char *text, long status, const char *words) {
    for (size_t piece = 1; piece < 200; piece += 198) {
        struct list list = {.text = text, .piece = piece, .status = status};
        struct error err = {0};

        assert_int_equal(take_list(s, &list, &err), -1);
        if (!strstr(err.message, words))
            fail_msg("'%s' lacks '%s'", err.message, words);
        list_free(&list);
    }
}

static void what_is_no_list_is_refused(void **state) {
    assert_refused(*state, "{\"items\":[{}", 200, "GET /api/v1/nodes: decode the answer");
    assert_refused(*state, "{\"items\":[{}{}]}", 200, "is not JSON");
    assert_refused(*state, "{\"items\":[{},]}", 200, "decode the answer");
    assert_refused(*state, "{\"items\":[{}]]}", 200, "decode the answer");
    assert_refused(*state, "}", 200, "byte 1 is not JSON");
    assert_refused(*state, "{\"items\":[{\"a\":x}]}", 200, "decode the answer");
    assert_refused(*state, "{\"items\":[1,2]}", 200, "it is not a whole list");
    assert_refused(*state, "{\"items\":[{}],\"metadata\":{\"continue\":\"x\"}}", 200,
                   "it is not a whole list");
    assert_refused(*state, "{\"kind\":\"Status\",\"message\":\"no\"}", 200, "no");
    assert_refused(*state, "{\"kind\":\"Status\",\"message\":\"you may not\"}", 403,
                   "you may not (403");
}

static void an_object_has_an_end(void **state) {
    _cleanup_(freep) char *text = xcalloc(1, 3 * 1024 * 1024);

    memset(text, ' ', 3 * 1024 * 1024 - 1);
    memcpy(text, "{\"items\":[{", 11);
    for (size_t piece = 65536; piece < 4000000; piece *= 50) {
        struct list list = {.text = text, .piece = piece};
        struct error err = {0};

        assert_int_equal(take_list(*state, &list, &err), -1);
        assert_string_equal(err.message, "GET /api/v1/nodes: an object has more than 2 MiB");
        list_free(&list);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_object_is_told_once, setup, teardown),
        cmocka_unit_test_setup_teardown(none_is_a_list_too, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_no_list_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(an_object_has_an_end, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
