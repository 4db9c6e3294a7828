/* What each flow is, and each question beside the flows. */
#include "tests/scene/expected_scene.h"

#include "diag/flows/flows.h"

static void each_row_says_what_it_is(void **state) {
    static const char *const is[] = {"extra", "asked of the node", "straight",
                                     "name",  "service",           "outside"};
    _cleanup_(text_free) struct text t = {0};

    (void)state;
    for (const struct diag_flow *flow = diag_flows; flow->name; flow++) {
        assert_ptr_equal(flow, &diag_flows[flow->id]);
        text_addf(&t, "%s: %s, %s, '%s'", flow->name, flow->from, flow->to, flow->by);
        for (size_t bit = 0; bit < ARRAY_SIZE(is); bit++)
            if (flow->is & 1u << bit)
                text_addf(&t, ", %s", is[bit]);
        text_add_char(&t, '\n');
    }
    for (enum diag_extra_id extra = 0; extra < X_COUNT; extra++)
        text_addf(&t, "%s: %u%s\n", diag_extras[extra].name, diag_extras[extra].bytes,
                  diag_extras[extra].timed ? ", timed" : "");
    assert_expected_exactly("diag-tables", text_str(&t));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_row_says_what_it_is)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
