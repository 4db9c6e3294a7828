/* Kubernetes' quantities. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/quantity.h"

static void quantities(void **state) {
    (void)state;
    assert_true(quantity_is(".5Gi") && quantity_is("5.") && quantity_is("+1E-3"));
    assert_false(quantity_is(".") || quantity_is("") || quantity_is("5GB") || quantity_is("e5"));
    assert_true(quantity_is_zero("-0.0Gi") && quantity_is_zero("0e5"));
    assert_false(quantity_is_zero("0.001") || quantity_is_zero("1e0"));
    assert_true(quantity_is_negative("-.1"));
    assert_false(quantity_is_negative("-0") || quantity_is_negative("1e-1"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantities),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
