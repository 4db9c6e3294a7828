/* TOML as JSON, and where a text is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/toml.h"

static void what_is_read(void **state) {
    static const struct {
        const char *text, *json;
    } rows[] = {
        {"", "{}"},
        {"# nothing\r\n\r\n", "{}"},
        {"version = 3\r\nroot = 'C:\\x' # its disk\n", "{\"version\":3,\"root\":\"C:\\\\x\"}"},
        {"a = \"C:\\\\x\\t\\u00e4\\U0001F600\\\"\"",
         "{\"a\":\"C:\\\\x\\t\xc3\xa4\xf0\x9f\x98\x80\\\"\"}"},
        {"a = \"\"\"\none\\\n   two\nthree\"\"\"\"\nb = '''\r\nx'y'''",
         "{\"a\":\"onetwo\\nthree\\\"\",\"b\":\"x'y\"}"},
        {"[plugins]\n[plugins.\"io.v1.cri\".cni]\nbin_dirs = [ 'a', # first\n 'b',\n]\n",
         "{\"plugins\":{\"io.v1.cri\":{\"cni\":{\"bin_dirs\":[\"a\",\"b\"]}}}}"},
        {"plugins.'io.v1.cri'.cni . conf_dir = 'a'\n[ plugins . 'io.v1.cri' ]\nx = true",
         "{\"plugins\":{\"io.v1.cri\":{\"cni\":{\"conf_dir\":\"a\"},\"x\":true}}}"},
        {"cni = { conf_dir = 'a', bin.dir = 'b' }",
         "{\"cni\":{\"conf_dir\":\"a\",\"bin\":{\"dir\":\"b\"}}}"},
        {"[[a]]\nx = 1\n[[a]]\nx = 2\n[a.y]\nz = 3\n",
         "{\"a\":[{\"x\":1},{\"x\":2,\"y\":{\"z\":3}}]}"},
        {"a = 1979-05-27\nb = 0x1f\nc = -3\nd = [[1], []]",
         "{\"a\":\"1979-05-27\",\"b\":\"0x1f\",\"c\":-3,\"d\":[[1],[]]}"},
        {"a = 1\na = 2", "{\"a\":2}"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_json_ json_t *json = NULL;
        _cleanup_(freep) char *written = NULL;
        struct error err = {0};

        if (toml_parse(rows[i].text, strlen(rows[i].text), "x.toml", &json, &err) < 0)
            fail_msg("%s: %s", rows[i].text, err.message);
        written = json_write(json);
        assert_string_equal(written, rows[i].json);
    }
}

static void what_is_refused(void **state) {
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"a = 'x'\nb = 'C:\\x\n", "line 2: a quote is not closed"},
        {"\n\na = \"C:\\Program Files\"", "line 3: in double quotes a backslash is written twice"},
        {"a = \"\\u12\"", "too few digits"},
        {"a = \"\\ud800\"", "no character"},
        {"a =\n", "a value is missing"},
        {"a", "'=' is missing"},
        {"= 1", "a key is missing"},
        {"[a\nb = 1", "']' is missing"},
        {"a = [1 2]", "',' or a closing bracket"},
        {"a = [1", "',' or a closing bracket"},
        {"a = 1 b = 2", "behind the end of a value"},
        {"a = 1\n[a.b]\n", "line 2: a key has a value already"},
        {"a = []\n[a.b]\n", "a key has a value already"},
        {"a = '\xff'", "no UTF-8"},
        {"a = [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", "nested too deep"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        json_t *json = NULL;
        struct error err = {0};

        assert_int_equal(toml_parse(rows[i].text, strlen(rows[i].text), "x.toml", &json, &err), -1);
        assert_null(json);
        assert_int_equal(err.kind, ERROR_MALFORMED);
        if (!strstr(err.message, rows[i].says))
            fail_msg("'%s' does not say '%s'", err.message, rows[i].says);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_read),
        cmocka_unit_test(what_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
