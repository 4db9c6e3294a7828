/* HRESULTs and ErrorRecords of the Host Networking Service as errors. */
#include "tests/scene/expected_scene.h"

#include "host/host_ops.h"

static void success(void **state) {
    struct error err = {0};

    (void)state;
    assert_int_equal(hcn_check("HcnOpenNetwork", 0, NULL, &err), 0);
    assert_int_equal(hcn_check("HcnOpenNetwork", 0, "", &err), 0);
    assert_int_equal(hcn_check("HcnOpenNetwork", 1, NULL, &err), 0); /* S_FALSE */
    assert_int_equal(err.kind, ERROR_NONE);
}

/* Each code that has a meaning of its own: HCN's and HRESULTs of Windows. */
static void codes(void **state) {
    static const uint32_t ranges[][2] = {
        {0x803b0000, 0x803b0100}, {0x80004000, 0x80004006}, {0x80070000, 0x80072000}};
    _cleanup_(text_free) struct text said = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(ranges); i++)
        for (uint32_t code = ranges[i][0]; code < ranges[i][1]; code++) {
            struct error err = {0}, worded = {0};
            const char *name, *end;

            assert_int_equal(hcn_check("x", code, "{\"Error\":\"words\"}", &worded), -1);
            name = worded.message + strlen("call x: "); /* where it has one of its own */
            end = strstr(name, ": words");
            assert_int_equal(hcn_check("HcnCreateNetwork", code, NULL, &err), -1);
            assert_int_equal(err.os, code);
            if (strstr(err.message, "HNS gave no reason") && err.kind == ERROR_HOST)
                continue;
            text_addf(&said, "%s: %s%s%.*s\n", error_kind_name(err.kind), err.message,
                      end ? ", " : "", end ? (int)(end - name) : 0, name);
        }
    assert_expected_exactly("hcn-errors", text_str(&said));
}

static void records(void **state) {
    struct error err = {0};

    (void)state;
    /* Success with a record: the record's own code counts. */
    assert_int_equal(hcn_check("HcnCreateNetwork", 0,
                               "{\"Success\":false,\"Error\":\"The object already exists. \","
                               "\"ErrorCode\":2147947410}",
                               &err),
                     -1);
    assert_int_equal(err.kind, ERROR_CONFLICT);
    assert_int_equal(err.os, 0x80071392);
    assert_string_equal(err.message,
                        "call HcnCreateNetwork: The object already exists (0x80071392)");
    /* The call's code wins over the record's. */
    assert_int_equal(hcn_check("HcnCreateEndpoint", 0x803b001e,
                               "{\"Error\":\"no subnet\",\"ErrorCode\":1}", &err),
                     -1);
    assert_string_equal(err.message,
                        "call HcnCreateEndpoint: HCN_E_INVALID_IP: no subnet (0x803b001e)");
    /* A record that is not JSON, or has no code, is a failure all the same. */
    assert_int_equal(hcn_check("HcnCreateEndpoint", 0, "broken \x1b[1m", &err), -1);
    assert_non_null(strstr(err.message, "broken \\x1b[1m"));
    assert_int_equal(hcn_check("HcnCreateEndpoint", 0, "[]", &err), -1);
    assert_int_equal(err.os, 0x80004005);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(success),
        cmocka_unit_test(codes),
        cmocka_unit_test(records),
    };

    return cmocka_run_group_tests_name("hcn_error", tests, NULL, NULL);
}
