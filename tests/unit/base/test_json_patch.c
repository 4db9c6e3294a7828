/* JSON Patch and JSON Merge Patch: the RFCs' own examples, and what they leave to be refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/memory.h"

static json_t *json_of(const char *text) {
    json_t *json = NULL;
    struct error err = {0};

    if (json_read(text, strlen(text), "test", &json, &err) < 0)
        fail_msg("%s: %s", text, err.message);
    return json;
}

/* RFC 6902, appendix A; a NULL result is an error with these words. */
static const struct {
    const char *document, *patch, *result, *why;
} patches[] = {
    /* A.1 to A.16 */
    {"{\"foo\":\"bar\"}", "[{\"op\":\"add\",\"path\":\"/baz\",\"value\":\"qux\"}]",
     "{\"baz\":\"qux\",\"foo\":\"bar\"}", NULL},
    {"{\"foo\":[\"bar\",\"baz\"]}", "[{\"op\":\"add\",\"path\":\"/foo/1\",\"value\":\"qux\"}]",
     "{\"foo\":[\"bar\",\"qux\",\"baz\"]}", NULL},
    {"{\"baz\":\"qux\",\"foo\":\"bar\"}", "[{\"op\":\"remove\",\"path\":\"/baz\"}]",
     "{\"foo\":\"bar\"}", NULL},
    {"{\"foo\":[\"bar\",\"qux\",\"baz\"]}", "[{\"op\":\"remove\",\"path\":\"/foo/1\"}]",
     "{\"foo\":[\"bar\",\"baz\"]}", NULL},
    {"{\"baz\":\"qux\",\"foo\":\"bar\"}",
     "[{\"op\":\"replace\",\"path\":\"/baz\",\"value\":\"boo\"}]",
     "{\"baz\":\"boo\",\"foo\":\"bar\"}", NULL},
    {"{\"foo\":{\"bar\":\"baz\",\"waldo\":\"fred\"},\"qux\":{\"corge\":\"grault\"}}",
     "[{\"op\":\"move\",\"from\":\"/foo/waldo\",\"path\":\"/qux/thud\"}]",
     "{\"foo\":{\"bar\":\"baz\"},\"qux\":{\"corge\":\"grault\",\"thud\":\"fred\"}}", NULL},
    {"{\"foo\":[\"all\",\"grass\",\"cows\",\"eat\"]}",
     "[{\"op\":\"move\",\"from\":\"/foo/1\",\"path\":\"/foo/3\"}]",
     "{\"foo\":[\"all\",\"cows\",\"eat\",\"grass\"]}", NULL},
    {"{\"baz\":\"qux\",\"foo\":[\"a\",2,\"c\"]}",
     "[{\"op\":\"test\",\"path\":\"/baz\",\"value\":\"qux\"},"
     "{\"op\":\"test\",\"path\":\"/foo/1\",\"value\":2}]",
     "{\"baz\":\"qux\",\"foo\":[\"a\",2,\"c\"]}", NULL},
    {"{\"baz\":\"qux\"}", "[{\"op\":\"test\",\"path\":\"/baz\",\"value\":\"bar\"}]", NULL,
     "operation 1 (test): path \"/baz\": the test failed: it is \"qux\", not \"bar\""},
    {"{\"foo\":\"bar\"}", "[{\"op\":\"add\",\"path\":\"/child\",\"value\":{\"grandchild\":{}}}]",
     "{\"foo\":\"bar\",\"child\":{\"grandchild\":{}}}", NULL},
    {"{\"foo\":\"bar\"}", "[{\"op\":\"add\",\"path\":\"/baz\",\"value\":\"qux\",\"xyz\":123}]",
     "{\"foo\":\"bar\",\"baz\":\"qux\"}", NULL},
    {"{\"foo\":\"bar\"}", "[{\"op\":\"add\",\"path\":\"/baz/bat\",\"value\":\"qux\"}]", NULL,
     "there is no object or list at \"/baz\""},
    {"{\"/\":9,\"~1\":10}", "[{\"op\":\"test\",\"path\":\"/~01\",\"value\":10}]",
     "{\"/\":9,\"~1\":10}", NULL},
    {"{\"/\":9,\"~1\":10}", "[{\"op\":\"test\",\"path\":\"/~01\",\"value\":\"10\"}]", NULL,
     "it is 10, not \"10\""},
    {"{\"foo\":[\"bar\"]}", "[{\"op\":\"add\",\"path\":\"/foo/-\",\"value\":[\"abc\",\"def\"]}]",
     "{\"foo\":[\"bar\",[\"abc\",\"def\"]]}", NULL},
    /* the operations' other sides */
    {"{\"a\":1}", "[]", "{\"a\":1}", NULL},
    {"{\"a\":1}", "[{\"op\":\"add\",\"path\":\"\",\"value\":[2]}]", NULL, "can only be replaced"},
    {"{\"a\":1}", "[{\"op\":\"copy\",\"from\":\"\",\"path\":\"/b\"}]", NULL, "cannot be copied"},
    {"{\"a\":1}", "[{\"op\":\"replace\",\"path\":\"\",\"value\":[2]}]", "[2]", NULL},
    {"{\"a\":1}", "[{\"op\":\"replace\",\"path\":\"\",\"value\":{}}]", "{}", NULL},
    {"{\"a\":1}", "[{\"op\":\"test\",\"path\":\"\",\"value\":{\"a\":1.0}}]", "{\"a\":1}", NULL},
    {"{\"a\":[1]}", "[{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/a/-\"}]", "{\"a\":[1,[1]]}",
     NULL},
    {"{\"a\":1}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/a\"}]", "{\"a\":1}", NULL},
    {"{\"\":{\"~\":1}}", "[{\"op\":\"replace\",\"path\":\"//~0\",\"value\":null}]",
     "{\"\":{\"~\":null}}", NULL},
    {"{\"a\":[1,2]}", "[{\"op\":\"replace\",\"path\":\"/a/1\",\"value\":3}]", "{\"a\":[1,3]}",
     NULL},
    /* refused */
    {"{}", "{}", NULL, "a list of operations"},
    {"{}", "[1]", NULL, "operation 1: must be an object"},
    {"{}", "[{\"path\":\"/a\"}]", NULL, "\"op\" is required"},
    {"{}", "[{\"op\":\"put\",\"path\":\"/a\"}]", NULL, "op \"put\" is not one of"},
    {"{}", "[{\"op\":\"add\",\"value\":1}]", NULL, "\"path\" is required and must be a string"},
    {"{}", "[{\"op\":\"add\",\"path\":1,\"value\":1}]", NULL,
     "\"path\" is required and must be a string"},
    {"{}", "[{\"op\":\"add\",\"path\":\"/a\"}]", NULL, "\"value\" is required"},
    {"{}", "[{\"op\":\"copy\",\"path\":\"/a\"}]", NULL, "\"from\" is required"},
    {"{}", "[{\"op\":\"add\",\"path\":\"a\",\"value\":1}]", NULL, "begins with '/'"},
    {"{}", "[{\"op\":\"add\",\"path\":\"/~2\",\"value\":1}]", NULL, "followed by 0 or 1"},
    {"{}", "[{\"op\":\"add\",\"path\":\"/~\",\"value\":1}]", NULL, "followed by 0 or 1"},
    {"{}", "[{\"op\":\"remove\",\"path\":\"\"}]", NULL, "cannot be removed"},
    {"{}", "[{\"op\":\"remove\",\"path\":\"/a\"}]", NULL, "\"/a\": no such value"},
    {"{}", "[{\"op\":\"replace\",\"path\":\"/a\",\"value\":1}]", NULL, "no such value"},
    {"{}", "[{\"op\":\"test\",\"path\":\"/a\",\"value\":null}]", NULL, "no such value"},
    {"{\"a\":[1]}", "[{\"op\":\"add\",\"path\":\"/a/2\",\"value\":1}]", NULL, "has 1 items"},
    {"{\"a\":[1]}", "[{\"op\":\"add\",\"path\":\"/a/-1\",\"value\":1}]", NULL, "has 1 items"},
    {"{\"a\":[1]}", "[{\"op\":\"add\",\"path\":\"/a/00\",\"value\":1}]", NULL, "has 1 items"},
    {"{\"a\":[1]}", "[{\"op\":\"remove\",\"path\":\"/a/-\"}]", NULL, "no such value"},
    {"{\"a\":[1]}", "[{\"op\":\"replace\",\"path\":\"/a/1\",\"value\":1}]", NULL, "no such value"},
    {"{\"a\":{\"b\":1}}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/a/b\"}]", NULL,
     "into itself"},
    {"{\"a\":1}",
     "[{\"op\":\"add\",\"path\":\"/b\",\"value\":1},{\"op\":\"remove\",\"path\":\"/"
     "c\"}]",
     NULL, "operation 2 (remove)"},
};

static void patches_as_the_rfc(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(patches); i++) {
        _cleanup_json_ json_t *document = json_of(patches[i].document);
        _cleanup_json_ json_t *before = json_deep_copy(document);
        _cleanup_json_ json_t *patch = json_of(patches[i].patch), *is = NULL;
        _cleanup_json_ json_t *should = patches[i].result ? json_of(patches[i].result) : NULL;
        struct error err = {0};
        int result = json_patch_apply(document, patch, &is, NULL, &err);

        if (should && (result < 0 || !json_equal(is, should)))
            fail_msg("%s: %s", patches[i].patch, err.message);
        if (!should) {
            if (result == 0 || !strstr(err.message, patches[i].why))
                fail_msg("%s: '%s'", patches[i].patch, err.message);
            assert_int_equal(err.kind, ERROR_USAGE);
            assert_null(is);
        }
        assert_true(json_equal(document, before));
    }
}

static void tells_which_operation(void **state) {
    _cleanup_json_ json_t *document = json_of("{\"a\":1}"), *is = NULL;
    _cleanup_json_ json_t *patch =
        json_of("[{\"op\":\"remove\",\"path\":\"/a\"},{\"op\":\"remove\",\"path\":\"/a\"}]");
    size_t operation = 77;

    (void)state;
    assert_int_equal(json_patch_apply(document, patch, &is, &operation, NULL), -1);
    assert_int_equal(operation, 1);
    assert_int_equal(json_patch_apply(document, document, &is, &operation, NULL), -1);
    assert_int_equal(operation, 0);
}

/* Each copy doubles the document: 2^40 values without a limit. */
static void copies_within_bounds(void **state) {
    _cleanup_json_ json_t *document = json_of("{\"a\":{}}"), *patch = json_array(), *is = NULL;
    struct error err = {0};

    (void)state;
    for (int i = 0; i < 40; i++) {
        _cleanup_(freep) char *path = xasprintf("/a/%d", i);

        json_array_append_new(
            patch, json_pack("{s:s, s:s, s:s}", "op", "copy", "from", "/a", "path", path));
    }
    assert_int_equal(json_patch_apply(document, patch, &is, NULL, &err), -1);
    assert_non_null(strstr(err.message, "copies more than"));
    json_array_clear(patch);
    for (int i = 0; i <= JSON_PATCH_OPERATIONS_MAX; i++)
        json_array_append_new(patch,
                              json_pack("{s:s, s:s, s:i}", "op", "add", "path", "/a", "value", i));
    assert_int_equal(json_patch_apply(document, patch, &is, NULL, &err), -1);
    assert_non_null(strstr(err.message, "more than 1000 operations"));
}

/* RFC 7386, appendix A. */
static void merges_as_the_rfc(void **state) {
    static const struct {
        const char *target, *patch, *result;
    } rows[] = {
        {"{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
        {"{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}"},
        {"{\"a\":\"b\"}", "{\"a\":null}", "{}"},
        {"{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{\"b\":\"c\"}"},
        {"{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
        {"{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{\"a\":[\"b\"]}"},
        {"{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}", "{\"a\":{\"b\":\"d\"}}"},
        {"{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{\"a\":[1]}"},
        {"[\"a\",\"b\"]", "[\"c\",\"d\"]", "[\"c\",\"d\"]"},
        {"{\"a\":\"b\"}", "[\"c\"]", "[\"c\"]"},
        {"{\"a\":\"foo\"}", "null", "null"},
        {"{\"a\":\"foo\"}", "\"bar\"", "\"bar\""},
        {"{\"e\":null}", "{\"a\":1}", "{\"e\":null,\"a\":1}"},
        {"[1,2]", "{\"a\":\"b\",\"c\":null}", "{\"a\":\"b\"}"},
        {"{}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"bb\":{}}}"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_json_ json_t *target = json_of(rows[i].target), *patch = json_of(rows[i].patch);
        _cleanup_json_ json_t *before = json_deep_copy(target);
        _cleanup_json_ json_t *should = json_of(rows[i].result);
        _cleanup_json_ json_t *is = json_merge_patch(target, patch);

        if (!json_equal(is, should))
            fail_msg("%s + %s", rows[i].target, rows[i].patch);
        assert_true(json_equal(target, before));
    }
}

/* RFC 6901, section 5, with a key of its own: what a "test" finds there. */
static void pointers_point(void **state) {
    static const struct {
        const char *pointer, *value; /* NULL: nothing is there */
    } rows[] = {
        {"/foo/1", "\"baz\""}, {"/a~1b", "1"},    {"/m~0n", "8"},     {"/ ", "7"},   {"/", "0"},
        {"/foo/2", NULL},      {"/foo/01", NULL}, {"/foo/bar", NULL}, {"foo", NULL}, {"/m~n", NULL},
    };
    _cleanup_json_ json_t *document =
        json_of("{\"foo\":[\"bar\",\"baz\"],\"\":0,\"a/b\":1,\"m~n\":8,\" \":7}");

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *text = xasprintf("[{\"op\":\"%s\",\"path\":\"%s\",\"value\":%s}]",
                                                rows[i].value ? "test" : "remove", rows[i].pointer,
                                                rows[i].value ? rows[i].value : "null");
        _cleanup_json_ json_t *patch = json_of(text);
        json_t *patched = NULL;

        if ((json_patch_apply(document, patch, &patched, NULL, NULL) == 0) != !!rows[i].value)
            fail_msg("%s", rows[i].pointer);
        json_decref(patched);
    }
}

static void pointers_are_escaped(void **state) {
    struct text pointer = {0};

    (void)state;
    json_pointer_add(&pointer, "m~n/");
    assert_string_equal(text_str(&pointer), "/m~0n~1");
    text_free(&pointer);
}

static void compares_by_value(void **state) {
    static const struct {
        const char *a, *b;
        bool same;
    } rows[] = {
        {"[1,{\"a\":2}]", "[1.0,{\"a\":2.0}]", true},
        {"{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}", true},
        {"[1]", "[1,1]", false},
        {"{\"a\":1}", "{\"b\":1}", false},
        {"{\"a\":1}", "{\"a\":1,\"b\":1}", false},
        {"1", "\"1\"", false},
        {"[]", "{}", false},
        {"9007199254740993", "9007199254740992", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_json_ json_t *a = json_of(rows[i].a), *b = json_of(rows[i].b);

        if (json_same(a, b) != rows[i].same)
            fail_msg("%s, %s", rows[i].a, rows[i].b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patches_as_the_rfc),   cmocka_unit_test(tells_which_operation),
        cmocka_unit_test(copies_within_bounds), cmocka_unit_test(merges_as_the_rfc),
        cmocka_unit_test(pointers_point),       cmocka_unit_test(pointers_are_escaped),
        cmocka_unit_test(compares_by_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
