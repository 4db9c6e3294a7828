/* Many texts that are found quickly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"

static void the_first_value_of_a_key(void **state) {
    _cleanup_(text_table_free) struct text_table table = {0};

    (void)state;
    assert_null(text_table_get(&table, "a"));
    text_table_add(&table, "b", "1");
    text_table_add(&table, "a", "");
    text_table_add(&table, "b", "2");
    text_table_add(&table, "", "empty");
    assert_string_equal(text_table_get(&table, "b"), "1");
    assert_string_equal(text_table_get(&table, "a"), "");
    assert_string_equal(text_table_get(&table, ""), "empty");
    assert_null(text_table_get(&table, "1"));
    assert_null(text_table_get(&table, "ab"));
    assert_null(text_table_get(&table, NULL));
    text_table_add(&table, "ab", "3"); /* between two questions */
    assert_string_equal(text_table_get(&table, "ab"), "3");
    assert_string_equal(text_table_get(&table, "b"), "1");
}

static void all_of_many(void **state) {
    enum { MANY = 5000 };
    _cleanup_(text_table_free) struct text_table table = {0};

    (void)state;
    for (unsigned i = 0; i < MANY; i++) {
        _cleanup_(freep) char *key = xasprintf("%u", i * 7919 % MANY);
        _cleanup_(freep) char *value = xasprintf("v%s", key);

        text_table_add(&table, key, value);
    }
    for (unsigned i = 0; i < MANY + 10; i++) {
        _cleanup_(freep) char *key = xasprintf("%u", i);
        const char *value = text_table_get(&table, key);

        assert_int_equal(value != NULL, i < MANY);
        if (value)
            assert_string_equal(value + 1, key);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_value_of_a_key),
        cmocka_unit_test(all_of_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
