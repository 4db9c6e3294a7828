/* JSON told by places: what is found where, and what is no JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/json_scan.h"

static const struct json_place places[] = {
    {"", 0}, {"name", 1}, {"labels.a\\.b/c", 2}, {"ports.*", 3}, {"ports.*.port", 4}};

/* "1=x" a text, "4#80" a number, "1?" a bool, "1-" null, "0{" and "0}" an object or array. */
static void found(void *context, const struct json_found *f) {
    static const char signs[] = {[SCAN_BEGINS] = '{', [SCAN_ENDS] = '}', [SCAN_TEXT] = '=',
                                 [SCAN_NUMBER] = '#', [SCAN_BOOL] = '?', [SCAN_NULL] = '-'};
    struct text *t = context;

    text_addf(t, "%s%d%c", t->len ? " " : "", f->what, signs[f->kind]);
    if (f->kind == SCAN_TEXT)
        text_add_bytes(t, f->text, f->len);
    else if (f->kind == SCAN_NUMBER || f->kind == SCAN_BOOL)
        text_addf(t, "%lld", f->number);
}

static int scan(const char *prefix, const char *text, size_t len, struct text *ret,
                struct error *err) {
    /* a copy without a NUL: what is behind the text is not read */
    char *copy = memcpy(xmalloc(len + !len), text, len);
    int result = json_scan(copy, len,
                           &(struct json_scan){.name = "Services",
                                               .prefix = prefix,
                                               .places = places,
                                               .count = ARRAY_SIZE(places),
                                               .found = found,
                                               .context = ret},
                           err);

    free(copy);
    return result;
}

static void whole_found(void *context, const struct json_found *f) {
    if (f->kind == SCAN_ENDS)
        text_addf(context, "%d %.*s|", f->what, (int)f->whole_len, f->whole);
}

static void objects_as_they_are_spelled(void **state) {
    static const char text[] = "{ \"ports\":[ {\"x\": [ \"}\" ]} ,[1], 2] } ";
    struct text t = {0};

    (void)state;
    assert_int_equal(json_scan(text, strlen(text),
                               &(struct json_scan){.name = "Services",
                                                   .prefix = "",
                                                   .places = places,
                                                   .count = ARRAY_SIZE(places),
                                                   .found = whole_found,
                                                   .context = &t},
                               NULL),
                     0);
    assert_string_equal(text_str(&t), "3 {\"x\": [ \"}\" ]}|3 [1]|"
                                      "0 { \"ports\":[ {\"x\": [ \"}\" ]} ,[1], 2] }|");
    text_free(&t);
}

static void what_stands_where(void **state) {
    static const struct {
        const char *prefix, *text, *wanted;
    } rows[] = {
        {"", "{\"name\":\"x\"}", "0{ 1=x 0}"},
        {"", " { \"a\" : [ { } , \"}\\\"]\" ] , \"name\" : \"x\" } ", "0{ 1=x 0}"},
        {"", "{\"name\":\"\\u00fc\\n\"}", "0{ 1=\xc3\xbc\n 0}"},
        {"", "{\"name\":\"\xc3\xbc\"}", "0{ 1=\xc3\xbc 0}"},
        {"", "{\"name\":true}", "0{ 1?1 0}"},
        {"", "{\"name\":false,\"name\":null}", "0{ 1?0 1- 0}"},
        {"", "{\"name\":{\"name\":\"y\"}}", "0{ 1{ 1} 0}"},
        {"", "{\"named\":\"y\",\"nam\":\"y\",\"\":1}", "0{ 0}"},
        {"", "{\"labels\":{\"a.b/c\":\"l\",\"a\":{\"b/c\":\"m\"}}}", "0{ 2=l 0}"},
        {"", "{\"ports\":[{\"port\":80},{\"x\":[1]},{\"port\":-1}]}",
         "0{ 3{ 4#80 3} 3{ 3} 3{ 4#-1 3} 0}"},
        {"", "{\"ports\":[1.5,99999999999999999999,\"x\"]}", "0{ 3#0 3#0 3=x 0}"},
        {"", "[{\"name\":\"x\"}]", "0{ 0}"},
        {"", "7", "0#7"},
        {"", "{\"name\":0.0000000000000000000000000000000000000001}", "0{ 1#0 0}"},
        {"items.*", "{\"name\":\"no\",\"items\":[{\"name\":\"x\"},{\"name\":\"y\"}]}",
         "0{ 1=x 0} 0{ 1=y 0}"},
        {"items.*", "{\"items\":null,\"item\":[{\"name\":\"x\"}]}", ""},
        {"items.*", "{\"items\":{\"*\":{\"name\":\"x\"}}}", "0{ 1=x 0}"},
        {"object", "{\"type\":\"ADDED\",\"object\":{\"name\":\"x\"}}", "0{ 1=x 0}"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct text t = {0};

        if (scan(rows[i].prefix, rows[i].text, strlen(rows[i].text), &t, NULL) < 0 ||
            strcmp(text_str(&t), rows[i].wanted) != 0)
            fail_msg("%s: %s", rows[i].text, text_str(&t));
        text_free(&t);
    }
}

static void what_is_no_json(void **state) {
    static const char *const rows[] = {
        "",
        " ",
        "{",
        "{\"name\":\"x\"",
        "{\"name\":\"x",
        "{\"name\":\"x\\",
        "{\"name\":\"\\x\"}",
        "{\"name\":\"a\nb\"}",
        "{\"name\":\"\xff\"}",
        "{\"name\" \"x\"}",
        "{\"name\":}",
        "{\"a\":}",
        "{\"a\":,\"b\":1}",
        "{name:1}",
        "{\"name\":nil}",
        "{\"name\":\"x\",}",
        "{\"a\":[1}",
        "{\"a\":[[]}",
        "{\"name\":\"x\"}}",
        "{\"name\":\"x\"} x",
        "{\"name\":\"x\"]",
        "]",
        ",",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct text t = {0};
        struct error why = {0};

        if (scan("", rows[i], strlen(rows[i]), &t, &why) == 0)
            fail_msg("%s: %s", rows[i], text_str(&t));
        assert_int_equal(why.kind, ERROR_MALFORMED);
        text_free(&t);
    }
}

static void where_it_is_no_json(void **state) {
    static const char text[] = "{\"name\":\"x\",}";
    struct text t = {0};
    struct error why = {0};

    (void)state;
    assert_int_equal(scan("", text, strlen(text), &t, &why), -1);
    assert_string_equal(why.message, "decode Services: byte 12 is not JSON");
    assert_string_equal(text_str(&t), "0{ 1=x"); /* what came before */
    text_free(&t);
}

/* Each beginning of a text is no text, and nothing behind it is read. */
static void cut_off(void **state) {
    static const char text[] =
        "{\"name\":\"\\u00fc\",\"labels\":{\"a.b/c\":[1,true,{}]},\"ports\":[{\"port\":80}]}";

    (void)state;
    for (size_t len = 0; len < strlen(text); len++) {
        struct text t = {0};

        assert_int_equal(scan("", text, len, &t, NULL), -1);
        text_free(&t);
    }
}

/* What is asked for may not be nested without end; what is passed over may. */
static void depth(void **state) {
    struct json_place deep[SCAN_PLACES_MAX];
    struct text path = {0}, text = {0}, t = {0};
    struct json_scan scan = {
        .name = "x", .places = deep, .count = 1, .found = found, .context = &t};

    (void)state;
    for (unsigned i = 0; i < 300; i++) {
        text_add(&path, i ? ".*" : "*");
        text_add(&text, "[");
    }
    for (unsigned i = 0; i < 300; i++)
        text_add(&text, "]");
    deep[0] = (struct json_place){text_str(&path), 0};
    scan.prefix = "";
    assert_int_equal(json_scan(text_str(&text), text.len, &scan, NULL), -1);
    deep[0].path = "a";
    assert_int_equal(json_scan(text_str(&text), text.len, &scan, NULL), 0);
    text_free(&path);
    text_free(&text);
    text_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_stands_where), cmocka_unit_test(objects_as_they_are_spelled),
        cmocka_unit_test(what_is_no_json),   cmocka_unit_test(where_it_is_no_json),
        cmocka_unit_test(cut_off),           cmocka_unit_test(depth)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
