/* YAML: the tree with its places, what is refused, and scalars as Kubernetes reads them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/text.h"
#include "base/yaml.h"

static struct yaml parse(const char *text) {
    struct yaml yaml = {0};
    struct error err = {0};

    if (yaml_read(text, strlen(text), "test", &yaml, &err) < 0)
        fail_msg("%s", err.message);
    return yaml;
}

static void is_at(const struct yaml_place *place, size_t line, size_t column) {
    assert_non_null(place);
    assert_int_equal(place->line, line);
    assert_int_equal(place->column, column);
}

static void values_know_their_places(void **state) {
    _cleanup_(yaml_forget) struct yaml yaml =
        parse("a: 1\nb:\n  - x\n  - true\n  - {c: ~, 'd.e': true}\n---\n- z\n---\n");
    json_t *root = json_array_get(yaml.documents, 0), *b = json_object_get(root, "b");

    (void)state;
    assert_int_equal(json_array_size(yaml.documents), 3);
    is_at(yaml_place(&yaml, root, ""), 1, 1);
    is_at(yaml_key_place(&yaml, root, "b"), 2, 1);
    is_at(yaml_place(&yaml, root, "b"), 3, 3);
    is_at(yaml_place(&yaml, root, "b[1]"), 4, 5);
    is_at(yaml_place(&yaml, root, "b.2.d\\.e"), 5, 19); /* another one of the same value */
    is_at(yaml_key_place(&yaml, json_array_get(b, 2), "d.e"), 5, 12);
    is_at(yaml_place_in(&yaml, json_array_get(b, 2), "c", 0), 5, 9);
    is_at(yaml_place(&yaml, root, "b[2].c"), 5, 5); /* null says nothing */
    is_at(yaml_place(&yaml, root, "b[2].x.y"), 5, 5);
    is_at(yaml_place(&yaml, root, "b[7]"), 3, 3);
    is_at(yaml_place(&yaml, json_array_get(yaml.documents, 1), "0"), 7, 3);
    assert_true(json_is_null(json_array_get(yaml.documents, 2)));
    is_at(yaml_place_in(&yaml, yaml.documents, NULL, 2), 9, 1);
    assert_null(yaml_place(NULL, root, "a"));
    assert_null(yaml_place_in(&yaml, yaml.documents, NULL, 3));
}

/* What came later is not of the text, but for what was made of it. */
static void changed_values_have_no_place(void **state) {
    _cleanup_(yaml_forget) struct yaml yaml = parse("a: x\nb: {c: true}\nd: [z]\n");
    json_t *root = json_array_get(yaml.documents, 0), *made = json_string("z2");

    (void)state;
    json_object_set_new(root, "a", json_string("x"));
    assert_null(yaml_place(&yaml, root, "a"));
    json_object_set_new(json_object_get(root, "b"), "e", json_true());
    assert_null(yaml_place(&yaml, root, "b.e"));
    is_at(yaml_place(&yaml, root, "b.c"), 2, 8);
    yaml_pass_on(&yaml, json_at(root, "d[0]"), made);
    json_object_set_new(root, "f", made);
    is_at(yaml_place(&yaml, root, "f"), 3, 5);
}

static void refused(const char *text, size_t len, const char *why) {
    struct yaml yaml = {0};
    struct error err = {0};

    if (yaml_read(text, len, "file.yaml", &yaml, &err) == 0)
        fail_msg("'%s' was taken", text);
    assert_int_equal(err.kind, ERROR_MALFORMED);
    if (!strstr(err.message, why))
        fail_msg("'%s' does not say '%s'", err.message, why);
    assert_null(yaml.documents);
}

static void what_is_refused(void **state) {
    static const char *const rows[][2] = {
        {"a: &x 1", "file.yaml: line 1 column 4: anchors are not allowed"},
        {"a: &x {}", "anchors"},
        {"a: &x []", "anchors"},
        {"&x a: 1", "anchors"},
        {"a: *x", "aliases are not allowed"},
        {"*x : 1", "aliases"},
        {"- 1\n- *x", "line 2 column 3: aliases"},
        {"a: 1\nb: 2\na: 3", "line 3 column 1: duplicate key \"a\" (first in line 1)"},
        {"{a: {b: 1, b: 2}}", "duplicate key"},
        {"? [a]\n: b", "a key must be a plain string"},
        {"a: !!binary aGk=", "tags are not allowed here"},
        {"a: !custom x", "tags are not allowed"},
        {"!custom a: x", "tags are not allowed"},
        {"a: !!map2 {}", "tags are not allowed"},
        {"a: !!int \"5\"", "tags are not allowed"}, /* what it makes of a text is a guess */
        {"a: !!bool x", "tags are not allowed"},
        {"a: 1\n  b: 2", "line 2 column 4"},
        {"a: [1, 2", "line 2 column 1"},
        {"\"a", "unexpected end of stream"},
        {"a: \"\\0\"", "a string contains a NUL byte"},
        {"\"\\0\": a", "a key contains a NUL byte"},
        {"a: \xff", "line 1 column 4: "},
        {"b: 1\na: \xc3\xa4 \x01", "line 2 column 6: control characters are not allowed"},
        {"\xef\xbb\xbfz: 1\n\n\x02", "line 3 column 1: "},
        {"{\"a\": \"b\xc2\x85\"}",
         "line 1 column 9: U+0085 is a line break in YAML: write it as \"\\u0085\""},
        {"a: {<<: {b: c}}", "line 1 column 5: merge keys are not allowed"},
    };

    (void)state;
    refused("a: b\nc: \0d", 10, "file.yaml: line 2 column 4: a NUL byte is not allowed");
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        refused(rows[i][0], strlen(rows[i][0]), rows[i][1]);
}

/* What Windows' editors and shells make of a file. */
static void what_windows_made_of_a_file(void **state) {
    static const char *const rows[][2] = {{"a: \xe9\n", "save the file as UTF-8"},
                                          {"a: \"C:\\k\"", "in single quotes: 'C:\\k'"},
                                          {"a: \x01", ""},
                                          {"a: [", ""}};
    struct yaml yaml = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct error err = {0};

        assert_int_equal(yaml_read(rows[i][0], strlen(rows[i][0]), "f", &yaml, &err), -1);
        assert_non_null(strstr(err.hints[0], rows[i][1]));
        assert_int_equal(*err.hints[0] != 0, *rows[i][1] != 0);
    }
}

static void limits(void **state) {
    struct text deep = {0}, wide = {0};
    struct yaml yaml = {0};

    (void)state;
    for (int i = 0; i < 64; i++)
        text_add_char(&deep, '[');
    for (int i = 0; i < 64; i++)
        text_add_char(&deep, ']');
    assert_int_equal(yaml_read(text_str(&deep), deep.len, "t", &yaml, NULL), 0);
    yaml_forget(&yaml);
    text_clear(&deep);
    for (int i = 0; i < 65; i++)
        text_add_char(&deep, '[');
    refused(text_str(&deep), deep.len, "nested deeper than 64 levels");
    for (int i = 0; i < 10001; i++)
        text_addf(&wide, "k%d: 1\n", i);
    refused(text_str(&wide), wide.len, "more than 2000 keys in one map");
    refused("", 4 * 1024 * 1024 + 1, "longer than 4 MiB");
    text_free(&deep);
    text_free(&wide);
}

static void scalars_become_json(void **state) {
    static const char *const rows[][2] = {
        {"true", "true"},
        {"False", "false"},
        {"'true'", "\"true\""},
        {"yes", "true"},
        {"off", "false"},
        {"~", "null"},
        {"null", "null"},
        {"\"\"", "\"\""},
        {"12", "12"},
        {"-7", "-7"},
        {"+7", "7"},
        {"0x1f", "31"},
        {"0o17", "15"},
        {"0o18", "\"0o18\""},
        {"1.5", "1.5"},
        {"1e3", "1000.0"},
        {"1.2.3", "\"1.2.3\""},
        {"10.244.0.0/16", "\"10.244.0.0/16\""},
        {"v1.37.1", "\"v1.37.1\""},
        {"2026-11-21", "\"2026-11-21\""},
        {"5m0s", "\"5m0s\""},
        {"-", "[null]"},
        {"nan", "\"nan\""},
        {".", "\".\""},
        {"1e999", "\"1e999\""},
        {"[a, {b: 1}, []]", "[\"a\",{\"b\":1},[]]"},
        {"|\n  x\n  y\n", "\"x\\ny\\n\""},
        {"1_000", "1000"},
        {".5_", "\".5_\""},
        {".5_1", "0.51"},
        {"['a?b', \"c?\", {d: e}]", "[\"a?b\",\"c?\",{\"d\":\"e\"}]"},
        {"{a: []}\n", "{\"a\":[]}"},
        {"- [a]\n- b?c", "[[\"a\"],\"b?c\"]"},
        {"010", "8"},
        {"08", "8.0"},
        {"0b11", "3"},
        {"y", "true"},
        {"N", "false"},
        {"!!str 12", "\"12\""},
        {"18446744073709551616", "1.8446744073709552e19"},
        {"-9223372036854775808", "-9223372036854775808"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(yaml_forget) struct yaml yaml = parse(rows[i][0]);
        _cleanup_(freep) char *text = json_write(json_array_get(yaml.documents, 0));

        assert_string_equal(text, rows[i][1]);
    }
}

static void written_as_kubernetes_writes(void **state) {
    static const char json_text[] =
        "{\"kind\":\"Config\",\"apiVersion\":\"v1\",\"n\":1,\"list\":[{\"b\":\"x\",\"a\":true}],"
        "\"s\":\"true\",\"t\":\"12\",\"e\":\"\",\"z\":\"null\",\"o\":{},\"l\":[],"
        "\"m\":\"one\\ntwo\\n\",\"time\":null}";
    _cleanup_json_ json_t *json = NULL;
    _cleanup_(freep) char *yaml = NULL;
    _cleanup_(yaml_forget) struct yaml again = {0};

    (void)state;
    assert_int_equal(json_read(json_text, strlen(json_text), "t", &json, NULL), 0);
    yaml = yaml_write(json);
    assert_string_equal(yaml, "apiVersion: v1\ne: \"\"\nkind: Config\nl: []\nlist:\n- a: true\n"
                              "  b: x\nm: |\n  one\n  two\n\"n\": 1\no: {}\ns: \"true\"\n"
                              "t: \"12\"\ntime: null\nz: \"null\"\n");
    again = parse(yaml);
    assert_true(json_equal(json, json_array_get(again.documents, 0)));
}

/* Text that another parser would take for a date, a number of base 60, infinity or a merge is
 * quoted. */
static void writes_odd_text_in_quotes(void **state) {
    static const struct {
        const char *text;
        bool quoted;
    } rows[] = {
        {".inf", true},
        {"-.INF", true},
        {".nan", true},
        {"infinity", false},
        {"2026-11-22", true},
        {"2026-x", false},
        {"2026-11x", false},
        {"202-11-22", false},
        {"1:20:30.5", true},
        {"-1:20", true},
        {"1:5_9", false},
        {"1:60", false},
        {"1:59", true},
        {"1:200", false},
        {"1:", false},
        {"1.5.", false},
        {"10.0.0.1:6443", false},
        {":20", false},
        {"<<", true},
        {"=", true},
        {"=a", false},
        {"<<<", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_json_ json_t *value = json_string(rows[i].text);
        _cleanup_json_ json_t *object = json_pack("{s:i}", rows[i].text, 1);
        _cleanup_(freep) char *scalar = yaml_write(value), *key = yaml_write(object);

        if ((scalar[0] == '"') != rows[i].quoted || (key[0] == '"') != rows[i].quoted)
            fail_msg("'%s' is written %s and %s", rows[i].text, scalar, key);
    }
}

/* As Go writes them: what kubeadm writes is the same text. */
static void writes_numbers_as_go(void **state) {
    static const struct {
        double value;
        const char *text;
    } rows[] = {
        {0.9, "0.9\n"},
        {0.1, "0.1\n"},
        {3, "3\n"},
        {-0.0, "0\n"},
        {1e6, "1000000\n"},
        {1e20, "1e+20\n"},
        {1e-7, "1e-07\n"},
        {123456789.5, "1.234567895e+08\n"},
        {0.30000000000000004, "0.30000000000000004\n"},
        {1.5e300, "1.5e+300\n"},
        {-12.25, "-12.25\n"},
        {0.0001, "0.0001\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_json_ json_t *json = json_real(rows[i].value);
        _cleanup_(freep) char *text = yaml_write(json);

        assert_string_equal(text, rows[i].text);
    }
}

/* A name that turns the line around must not reach a terminal, and must come back as it was. */
static void writes_invisible_characters_as_escapes(void **state) {
    static const char *const odd[] = {
        "a\xe2\x80\xaetxt.exe",
        "\xe2\x80\x8b",
        "two\nlines\xe2\x81\xa6\n",
        "\xc2\xad soft",
        "\xef\xbb\xbf",
        "tag \xf3\xa0\x80\x81",
        "\xe2\x80\xa8line\xe2\x80\xa9",
        "\"\xe2\x80\xae\\u202e",
        "true\xe2\x80\x8f",
        "\xc2\x9b"
        "31m",
        "a long text that is folded at blanks, with \xe2\x80\xae in the middle of it, and more "
        "words behind it so that there is more than one line"};
    _cleanup_json_ json_t *json = json_object();
    _cleanup_(yaml_forget) struct yaml again = {0};
    _cleanup_(text_free) struct text visible = {0};
    _cleanup_(freep) char *yaml = NULL;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(odd); i++)
        json_object_set_new(json, odd[i], json_pack("[s, {s:s}]", odd[i], odd[i], odd[i]));
    yaml = yaml_write(json);
    text_add_visible(&visible, yaml, strlen(yaml));
    assert_string_equal(yaml, text_str(&visible));
    assert_null(strstr(yaml, "\xc2\x9b"));
    assert_non_null(strstr(yaml, "\"a\\u202etxt.exe\":"));
    assert_non_null(strstr(yaml, "\\U000E0001"));
    again = parse(yaml);
    assert_true(json_equal(json, json_array_get(again.documents, 0)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_know_their_places),
        cmocka_unit_test(changed_values_have_no_place),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(what_windows_made_of_a_file),
        cmocka_unit_test(limits),
        cmocka_unit_test(scalars_become_json),
        cmocka_unit_test(written_as_kubernetes_writes),
        cmocka_unit_test(writes_odd_text_in_quotes),
        cmocka_unit_test(writes_numbers_as_go),
        cmocka_unit_test(writes_invisible_characters_as_escapes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
