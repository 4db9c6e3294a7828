/* Strict DER: what is taken and what is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "pki/der.h"

struct row {
    const char *bytes;
    size_t len;
};

#define ROW(text)                                                                                  \
    { text, sizeof text - 1 }

static void taken(void **state) {
    static const struct row rows[] = {
        ROW(""),
        ROW("\x05\x00"),
        ROW("\x30\x00"),
        ROW("\x30\x06\x01\x01\xff\x02\x01\x80"),
        ROW("\x02\x02\x00\x80"),
        ROW("\x02\x02\xff\x7f"),
        ROW("\x03\x01\x00"),
        ROW("\x03\x02\x07\x80"),
        ROW("\x06\x03\x55\x1d\x0f"),
        ROW("\x06\x02\x88\x37"),
        ROW("\x13\x04"
            "a *&"),
        ROW("\x12\x02"
            "1 "),
        ROW("\x16\x01@"),
        ROW("\x17\x0d"
            "261122014500Z"),
        ROW("\x18\x0f"
            "20501122014500Z"),
        ROW("\xa3\x02\x05\x00"),
        ROW("\x82\x01\xff"),
        ROW("\x04\x02\x30\x80"),
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (der_why_bad((const unsigned char *)rows[i].bytes, rows[i].len))
            fail_msg("row %zu: %s", i,
                     der_why_bad((const unsigned char *)rows[i].bytes, rows[i].len));
}

static void refused(void **state) {
    static const struct row rows[] = {
        ROW("\x05"),                         /* no length */
        ROW("\x30\x80\x00\x00"),             /* without a definite length */
        ROW("\x04\x81\x01x"),                /* one octet too many */
        ROW("\x30\x84\x00\x00\x00\x00"),     /* noughts before the length */
        ROW("\x04\x02x"),                    /* cut short */
        ROW("\x04\x85\x01\x00\x00\x00\x00"), /* a length of five octets */
        ROW("\x1f\x81\x00\x00"),             /* a great tag */
        ROW("\x24\x03\x04\x01x"),            /* a text in pieces */
        ROW("\x10\x00"),                     /* a list that is none */
        ROW("\x01\x01\x01"),                 /* a boolean of 1 */
        ROW("\x01\x00"),                     /* of nothing */
        ROW("\x02\x00"),                     /* a number of nothing */
        ROW("\x02\x02\x00\x7f"),             /* with a nought before */
        ROW("\x02\x02\xff\x80"),             /* the same, below 0 */
        ROW("\x03\x00"),                     /* bits of nothing */
        ROW("\x03\x02\x08\x00"),             /* eight unused ones */
        ROW("\x03\x02\x01\x01"),             /* an unused one that is set */
        ROW("\x05\x01x"),                    /* a null with a value */
        ROW("\x06\x00"),                     /* no object */
        ROW("\x06\x01\x80"),                 /* one that does not end */
        ROW("\x06\x02\x80\x01"),             /* with a nought before */
        ROW("\x06\x05\x88\x80\x80\x80\x00"), /* an arc of 32 bits */
        ROW("\x13\x01@"),                    /* no PrintableString */
        ROW("\x13\x01_"),                    /* the same */
        ROW("\x12\x01"
            "a"),            /* no NumericString */
        ROW("\x16\x01\xff"), /* no ASCII */
        ROW("\x17\x0b"
            "2611220145Z"), /* no seconds */
        ROW("\x17\x11"
            "261122014500+0100"), /* an offset */
        ROW("\x18\x11"
            "20501122014500.5Z"), /* a fraction */
        ROW("\x1c\x04\x00\x00\x00"
            "a"),                        /* a UniversalString */
        ROW("\x30\x04\x30\x02\x05\x01"), /* deep in */
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (!der_why_bad((const unsigned char *)rows[i].bytes, rows[i].len))
            fail_msg("row %zu was taken", i);
}

static void nested(void **state) {
    unsigned char deep[120];

    (void)state;
    for (size_t i = 0; i < sizeof deep; i += 2) {
        deep[i] = 0x30;
        deep[i + 1] = (unsigned char)(sizeof deep - i - 2);
    }
    assert_string_equal(der_why_bad(deep, sizeof deep), "it is nested too deep");
    assert_null(der_why_bad(deep + 60, sizeof deep - 60));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(taken),
        cmocka_unit_test(refused),
        cmocka_unit_test(nested),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
