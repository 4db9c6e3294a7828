/* Pins: upstream's rules and texts, and the hash of a key. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "pki/digest.h"

#define HEX "3b793efefe27a19f93b0fbe6e637e9c41d0dde8a377d6ab1c0f656bf1136dd8a"

static void normalises(void **state) {
    char pin[PIN_TEXT_MAX];

    (void)state;
    assert_int_equal(pin_parse("sha256:" HEX, pin, NULL), 0);
    assert_string_equal(pin, "sha256:" HEX);
    assert_int_equal(
        pin_parse("SHA256:3B793EFEFE27A19F93B0FBE6E637E9C41D0DDE8A377D6AB1C0F656BF1136DD8A", pin,
                  NULL),
        0);
    assert_string_equal(pin, "sha256:" HEX);
}

static void refuses_what_is_no_pin(void **state) {
    static const char *const rows[] = {
        "",
        HEX,
        "sha256:" HEX ":",
        "sha512:" HEX,
        ":" HEX,
        "sha256:",
        "sha256:abcd",
        "sha256:" HEX "0",
        "sha256:z"
        "b793efefe27a19f93b0fbe6e637e9c41d0dde8a377d6ab1c0f656bf1136dd8a",
        " sha256:" HEX,
        "sha256:" HEX " ",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct error err = {0};
        char pin[PIN_TEXT_MAX] = "kept";

        assert_int_equal(pin_parse(rows[i], pin, &err), -1);
        assert_int_equal(err.kind, ERROR_USAGE);
        assert_non_null(strstr(err.message, "must be \"sha256:\" and 64 hexadecimal digits"));
        assert_string_equal(pin, "kept");
    }
}

static void one_bad_pin_fails_all(void **state) {
    struct text_list texts = {0}, pins = {0};

    (void)state;
    text_list_add(&texts, "sha256:" HEX);
    text_list_add(&texts, "Sha256:" HEX);
    assert_int_equal(pins_parse(&texts, &pins, NULL), 0);
    assert_int_equal(pins.count, 1);
    text_list_free(&pins);
    text_list_add(&texts, "sha256:12");
    assert_int_equal(pins_parse(&texts, &pins, NULL), -1);
    assert_int_equal(pins.count, 0);
    assert_int_equal(pins_parse(NULL, &pins, NULL), 0);
    assert_int_equal(pins.count, 0);
    text_list_free(&texts);
}

static void hashes_with_sha256(void **state) {
    char pin[PIN_TEXT_MAX];

    (void)state;
    pin_of_key("abc", 3, pin); /* FIPS 180-2 appendix B.1 */
    assert_string_equal(pin,
                        "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normalises),
        cmocka_unit_test(refuses_what_is_no_pin),
        cmocka_unit_test(one_bad_pin_fails_all),
        cmocka_unit_test(hashes_with_sha256),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
