/* JSON: strict reading with line and column, writing, and the path getters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/memory.h"

static json_t *read_json(const char *text) {
    json_t *json = NULL;

    assert_int_equal(json_read(text, strlen(text), "test", &json, NULL), 0);
    return json;
}

static void reads_and_writes(void **state) {
    _cleanup_json_ json_t *json = read_json("{\"b\":[1,2.5,true,null],\"a\":\"\\u00fc\"}");
    _cleanup_json_ json_t *scalar = read_json("\"x\"");
    _cleanup_(freep) char *compact = json_write(json), *pretty = json_write_pretty(json);

    (void)state;
    assert_string_equal(compact, "{\"b\":[1,2.5,true,null],\"a\":\"\xc3\xbc\"}");
    assert_non_null(strstr(pretty, "\n  \"b\": [\n    1,"));
    assert_string_equal(pretty + strlen(pretty) - 2, "}\n");
    assert_string_equal(json_string_value(scalar), "x");
}

static void writes_numbers_as_people_do(void **state) {
    static const struct {
        double value;
        const char *text;
    } rows[] = {{15 / 1000.0, "[0.015]"},
                {1078 / 1000.0, "[1.078]"},
                {2.0, "[2.0]"},
                {1.0 / 3, "[0.33333333333333331]"},
                {18446744073709551616.0, "[1.8446744073709552e19]"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_json_ json_t *json = json_pack("[f]", rows[i].value);
        _cleanup_(freep) char *text = json_write(json);

        assert_string_equal(text, rows[i].text);
    }
}

static void what_steers_a_terminal_is_written_escaped(void **state) {
    _cleanup_json_ json_t *json = read_json("[\"\\u001b\\u007f\\u009b\\u00a0\"]");
    _cleanup_(freep) char *text = json_write(json);
    _cleanup_json_ json_t *again = read_json(text);

    (void)state;
    assert_string_equal(text, "[\"\\u001B\\u007f\\u009b\xc2\xa0\"]");
    assert_true(json_equal(json, again));
}

/* Two bytes of text become 40 and more in memory. */
static void too_many_values_are_not_read(void **state) {
    static const struct {
        const char *first, *again, *last;
        size_t count;
        int result;
    } rows[] = {{"[0", ",0", "]", 1000000, 0},         {"[0", ",0", "]", 2000000, -1},
                {"[{}", ",{}", "]", 300000, -1},       {"[[]", ",[]", "]", 500000, -1},
                {"[\"\\\"", ",,{", "\"]", 2000000, 0}, {"[\"", "[{", "\\\\\"]", 2000000, 0}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct text text = {0};
        struct error err = {0};
        json_t *json = NULL;

        text_add(&text, rows[i].first);
        for (size_t n = 0; n < rows[i].count; n++)
            text_add(&text, rows[i].again);
        text_add(&text, rows[i].last);
        assert_int_equal(json_read(text_str(&text), text.len, "test", &json, &err), rows[i].result);
        if (rows[i].result < 0)
            assert_string_equal(err.message, "decode test: its values take more than 64 MiB");
        json_decref(json);
        text_free(&text);
    }
}

static void refuses_with_its_place(void **state) {
    static const char *const bad[] = {
        "",     "{",   "{\"a\":1,\"a\":2}", "{\"a\":1}x", "{'a':1}",
        "[1,]", "nul", "\"\\ud800\"",       "\"\xff\"",
    };
    struct error err = {0};
    json_t *json = NULL;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        if (json_read(bad[i], strlen(bad[i]), "Node", &json, &err) == 0)
            fail_msg("'%s' was taken", bad[i]);
        assert_int_equal(err.kind, ERROR_MALFORMED);
    }
    assert_null(json);
    assert_int_equal(json_read("{\n  \"a\": x\n}", 12, "Node", &json, &err), -1);
    assert_non_null(strstr(err.message, "decode Node: line 2 column "));
    assert_int_equal(json_read("\"a\0b\"", 5, "Node", &json, &err), -1);
}

static void too_long_is_not_even_read(void **state) {
    struct error err = {0};
    json_t *json = NULL;

    (void)state;
    assert_int_equal(json_read("", 32 * 1024 * 1024 + 1, "Node", &json, &err), -1);
    assert_string_equal(err.message, "decode Node: longer than 32 MiB");
}

static void paths_lead_to_values(void **state) {
    _cleanup_json_ json_t *json =
        read_json("{\"spec\":{\"podCIDR\":\"10.0.0.0/24\",\"n\":7,\"on\":true,"
                  "\"list\":[{\"x\":\"first\"},{\"x\":\"second\"}]},"
                  "\"labels\":{\"kubernetes.io/os\":\"windows\"}}");

    (void)state;
    assert_string_equal(json_text_at(json, "spec.podCIDR"), "10.0.0.0/24");
    assert_string_equal(json_text_at(json, "spec.list.1.x"), "second");
    assert_string_equal(json_text_at(json, "labels.kubernetes\\.io/os"), "windows");
    assert_null(json_text_at(json, "labels.kubernetes.io/os"));
    assert_null(json_text_at(json, "spec.n"));
    assert_null(json_at(json, "spec.list.2"));
    assert_null(json_at(json, "spec.list.x"));
    assert_null(json_at(json, "spec.podCIDR.x"));
    assert_null(json_at(NULL, "a"));
    assert_ptr_equal(json_at(json, ""), json);
    assert_int_equal(json_number_at(json, "spec.n", -1), 7);
    assert_int_equal(json_number_at(json, "spec.podCIDR", -1), -1);
    assert_true(json_bool_at(json, "spec.on", false));
    assert_true(json_bool_at(json, "spec.off", true));
    assert_false(json_bool_at(json, "spec.n", false));
}

static void a_part_of_256_characters_is_absent(void **state) {
    static const size_t lens[] = {255, 256, 600};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(lens); i++) {
        _cleanup_(freep) char *name = xasprintf("%0*d", (int)lens[i], 0);
        _cleanup_json_ json_t *json = json_pack("{s:i}", name, 7);

        assert_int_equal(json_number_at(json, name, -1), lens[i] < 256 ? 7 : -1);
    }
}

static void what_is_empty_is_no_member(void **state) {
    (void)state;
    _cleanup_json_ json_t *json = read_json("{\"kept\": \"a\"}");
    _cleanup_(freep) char *text = NULL;

    json_set_text(json, "none", NULL);
    json_set_text(json, "empty", "");
    json_set_text(json, "kept", "");
    json_set_text(json, "there", "b");
    text = json_write(json);
    assert_string_equal(text, "{\"kept\":\"a\",\"there\":\"b\"}");
}

static void a_text_is_found_among_others(void **state) {
    (void)state;
    _cleanup_json_ json_t *json = read_json("[1, \"a\", null, \"b\"]");

    assert_true(json_has_text(json, "b"));
    assert_false(json_has_text(json, "c"));
    assert_false(json_has_text(json, NULL));
    assert_false(json_has_text(json_array_get(json, 1), "a"));
    assert_false(json_has_text(NULL, "a"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_and_writes),
        cmocka_unit_test(writes_numbers_as_people_do),
        cmocka_unit_test(what_steers_a_terminal_is_written_escaped),
        cmocka_unit_test(too_many_values_are_not_read),
        cmocka_unit_test(refuses_with_its_place),
        cmocka_unit_test(too_long_is_not_even_read),
        cmocka_unit_test(paths_lead_to_values),
        cmocka_unit_test(a_part_of_256_characters_is_absent),
        cmocka_unit_test(what_is_empty_is_no_member),
        cmocka_unit_test(a_text_is_found_among_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
