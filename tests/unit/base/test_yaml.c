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

static struct yaml_documents *parse(const char *text) {
    struct yaml_documents *documents = NULL;
    struct error err = {0};

    if (yaml_parse(text, strlen(text), "test", &documents, &err) < 0)
        fail_msg("%s", err.message);
    return documents;
}

static void tree_knows_its_places(void **state) {
    _cleanup_(yaml_documents_freep) struct yaml_documents *documents =
        parse("a: 1\nb:\n  - x\n  - 'true'\n  - {c: ~}\n---\n- z\n---\n");
    const struct yaml_node *root = yaml_document(documents, 0);

    (void)state;
    assert_int_equal(yaml_documents_count(documents), 3);
    assert_int_equal(yaml_type(root), YAML_MAP);
    assert_int_equal(yaml_count(root), 2);
    assert_string_equal(yaml_key(root, 1), "b");
    assert_int_equal(yaml_key_line(root, 1), 2);
    assert_int_equal(yaml_key_column(root, 1), 1);
    assert_string_equal(yaml_text_at(root, "a"), "1");
    assert_int_equal(yaml_type(yaml_value(root, 1)), YAML_LIST);
    assert_int_equal(yaml_line(yaml_at(root, "b.1")), 4);
    assert_int_equal(yaml_column(yaml_at(root, "b.1")), 5);
    assert_true(yaml_is_quoted(yaml_at(root, "b.1")));
    assert_false(yaml_is_quoted(yaml_at(root, "b.0")));
    assert_int_equal(yaml_type(yaml_at(root, "b.2.c")), YAML_NULL);
    assert_string_equal(yaml_text_at(root, "b.2.c"), "");
    assert_string_equal(yaml_text(yaml_item(yaml_document(documents, 1), 0)), "z");
    assert_int_equal(yaml_type(yaml_document(documents, 2)), YAML_NULL);
    assert_null(yaml_document(documents, 3));
    assert_null(yaml_at(root, "b.3"));
    assert_null(yaml_at(root, "b.x"));
    assert_null(yaml_at(root, "a.x"));
    assert_null(yaml_item(root, 0));
    assert_null(yaml_key(yaml_at(root, "b"), 0));
    assert_null(yaml_key(root, 2));
    assert_null(yaml_text(root));
}

static void refused(const char *text, size_t len, const char *why) {
    struct yaml_documents *documents = NULL;
    struct error err = {0};

    if (yaml_parse(text, len, "file.yaml", &documents, &err) == 0)
        fail_msg("'%s' was taken", text);
    assert_int_equal(err.kind, ERROR_MALFORMED);
    if (!strstr(err.message, why))
        fail_msg("'%s' does not say '%s'", err.message, why);
    assert_null(documents);
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

static void limits(void **state) {
    struct text deep = {0}, wide = {0};
    struct yaml_documents *documents = NULL;

    (void)state;
    for (int i = 0; i < 64; i++)
        text_add_char(&deep, '[');
    for (int i = 0; i < 64; i++)
        text_add_char(&deep, ']');
    assert_int_equal(yaml_parse(text_str(&deep), deep.len, "t", &documents, NULL), 0);
    yaml_documents_freep(&documents);
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
        _cleanup_(yaml_documents_freep) struct yaml_documents *documents = parse(rows[i][0]);
        _cleanup_json_ json_t *json = yaml_to_json(yaml_document(documents, 0));
        _cleanup_(freep) char *text = json_write(json);

        assert_string_equal(text, rows[i][1]);
    }
}

static void written_as_kubernetes_writes(void **state) {
    static const char json_text[] =
        "{\"kind\":\"Config\",\"apiVersion\":\"v1\",\"n\":1,\"list\":[{\"b\":\"x\",\"a\":true}],"
        "\"s\":\"true\",\"t\":\"12\",\"e\":\"\",\"z\":\"null\",\"o\":{},\"l\":[],"
        "\"m\":\"one\\ntwo\\n\",\"time\":null}";
    _cleanup_json_ json_t *json = NULL, *again = NULL;
    _cleanup_(freep) char *yaml = NULL;
    _cleanup_(yaml_documents_freep) struct yaml_documents *documents = NULL;

    (void)state;
    assert_int_equal(json_read(json_text, strlen(json_text), "t", &json, NULL), 0);
    yaml = yaml_write(json);
    assert_string_equal(yaml, "apiVersion: v1\ne: \"\"\nkind: Config\nl: []\nlist:\n- a: true\n"
                              "  b: x\nm: |\n  one\n  two\n\"n\": 1\no: {}\ns: \"true\"\n"
                              "t: \"12\"\ntime: null\nz: \"null\"\n");
    documents = parse(yaml);
    again = yaml_to_json(yaml_document(documents, 0));
    assert_true(json_equal(json, again));
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
    _cleanup_json_ json_t *json = json_object(), *again = NULL;
    _cleanup_(yaml_documents_freep) struct yaml_documents *documents = NULL;
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
    assert_int_equal(yaml_parse(yaml, strlen(yaml), "again", &documents, NULL), 0);
    again = yaml_to_json(yaml_document(documents, 0));
    assert_true(json_equal(json, again));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tree_knows_its_places),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(limits),
        cmocka_unit_test(scalars_become_json),
        cmocka_unit_test(written_as_kubernetes_writes),
        cmocka_unit_test(writes_odd_text_in_quotes),
        cmocka_unit_test(writes_numbers_as_go),
        cmocka_unit_test(writes_invisible_characters_as_escapes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
