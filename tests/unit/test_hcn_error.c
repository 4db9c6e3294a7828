/* HRESULTs and ErrorRecords of the Host Networking Service as errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "host/hcn_error.h"

static void success(void **state) {
    struct error err = {0};

    (void)state;
    assert_int_equal(hcn_check("HcnOpenNetwork", 0, NULL, &err), 0);
    assert_int_equal(hcn_check("HcnOpenNetwork", 0, "", &err), 0);
    assert_int_equal(hcn_check("HcnOpenNetwork", 1, NULL, &err), 0); /* S_FALSE */
    assert_int_equal(err.kind, ERROR_NONE);
}

static void kinds(void **state) {
    static const struct {
        uint32_t hresult;
        enum error_kind kind;
    } cases[] = {
        {0x803b0001, ERROR_ABSENT},      {0x803b0002, ERROR_ABSENT},
        {0x80070490, ERROR_ABSENT},      {0x803b0006, ERROR_ABSENT},
        {0x803b0010, ERROR_CONFLICT},    {0x80071392, ERROR_CONFLICT},
        {0x800700b7, ERROR_CONFLICT},    {0x803b0014, ERROR_CONFLICT},
        {0x803b0015, ERROR_UNSUPPORTED}, {0x80070032, ERROR_UNSUPPORTED},
        {0x80070005, ERROR_DENIED},      {0x803b001b, ERROR_HOST},
        {0x803b001e, ERROR_HOST},        {0x8badf00d, ERROR_HOST},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct error err = {0};

        assert_int_equal(hcn_check("HcnCreateNetwork", cases[i].hresult, NULL, &err), -1);
        assert_int_equal(err.kind, cases[i].kind);
        assert_int_equal(err.os, cases[i].hresult);
    }
    assert_string_equal(hcn_error_name(0x803b001e), "HCN_E_INVALID_IP");
    assert_null(hcn_error_name(0x80070490));
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
        cmocka_unit_test(kinds),
        cmocka_unit_test(records),
    };

    return cmocka_run_group_tests_name("hcn_error", tests, NULL, NULL);
}
