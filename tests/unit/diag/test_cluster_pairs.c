/* Which nodes of a cluster are asked to reach which. */
#include "tests/scene/cluster_nodes_scene.h"

static bool has_kinds(const struct cluster_nodes *nodes, const struct cluster_pairs *pairs,
                      const char *from, const char *to) {
    bool found = false;

    for (size_t i = 0; i < pairs->count; i++) {
        _cleanup_(freep) char *a =
            cluster_node_text(&nodes->items[pairs->items[i].from], ALIKE_KIND);
        _cleanup_(freep) char *b = cluster_node_text(&nodes->items[pairs->items[i].to], ALIKE_KIND);

        found |= text_equal(a, from) && text_equal(b, to);
    }
    return found;
}

/* Every node as source and target, every pair of kinds, and no more than these need. */
static void check_pairs(unsigned windows, unsigned linux_count) {
    struct cluster_nodes nodes = mixed(windows, linux_count);
    struct cluster_pairs pairs;
    struct text_list kinds = {0};

    cluster_pairs_make(&nodes, &pairs);
    for (size_t i = 0; i < nodes.count; i++) {
        _cleanup_(freep) char *kind = cluster_node_text(&nodes.items[i], ALIKE_KIND);
        bool from = false, to = false;

        if (!text_list_has(&kinds, kind))
            text_list_add(&kinds, kind);
        for (size_t p = 0; p < pairs.count; p++) {
            assert_true(pairs.items[p].from != pairs.items[p].to);
            from |= pairs.items[p].from == i;
            to |= pairs.items[p].to == i;
        }
        assert_true(nodes.count < 2 || (from && to));
    }
    for (size_t a = 0; a < kinds.count; a++)
        for (size_t b = 0; b < kinds.count; b++)
            if (a != b || nodes.count > 2 * kinds.count)
                assert_true(has_kinds(&nodes, &pairs, kinds.items[a], kinds.items[b]));
    if (nodes.count > 5)
        assert_true(pairs.count <= nodes.count + kinds.count * kinds.count);
    else
        assert_int_equal(pairs.count, nodes.count * (nodes.count - 1));
    text_list_free(&kinds);
    free(pairs.items);
    cluster_nodes_free(&nodes);
}

static void test_pairs(void **state) {
    (void)state;
    check_pairs(0, 1);
    check_pairs(1, 1);
    check_pairs(2, 2);
    check_pairs(14, 5);
    check_pairs(150, 50);
}

/* Kinds that no ring brings together are paired by the nodes that are in the fewest pairs. */
static void test_pairs_of_kinds(void **state) {
    static const struct {
        const char *kinds, *pairs; /* a letter a node */
    } rows[] = {{"a", ""},
                {"aa", "01 10 "},
                {"aab", "01 12 20 02 10 21 "}, /* of few each to each */
                {"aaaaa", "01 12 23 34 40 02 13 24 30 41 03 14 20 31 42 04 10 21 32 43 "},
                {"aaaaaa", "01 12 23 34 45 50 "},
                {"ababab", "01 12 23 34 45 50 02 13 "},
                {"abcabc", "01 12 23 34 45 50 03 02 13 41 54 25 "},
                {"aabbcc", "01 12 23 34 45 50 04 21 53 "}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct cluster_nodes nodes = {0};
        struct cluster_pairs pairs;
        struct text t = {0};

        for (const char *kind = rows[i].kinds; *kind; kind++)
            add_node(&nodes, "n", "windows", kind, "v1.37.1", true);
        for (size_t n = 0; n < nodes.count; n++)
            nodes.items[n].build[1] = '\0';
        cluster_pairs_make(&nodes, &pairs);
        for (size_t p = 0; p < pairs.count; p++)
            text_addf(&t, "%zu%zu ", pairs.items[p].from, pairs.items[p].to);
        assert_string_equal(text_str(&t), rows[i].pairs);
        text_free(&t);
        free(pairs.items);
        cluster_nodes_free(&nodes);
    }
}

/* A node without a probe is in no pair. */
static void test_pairs_pass_over_the_missing(void **state) {
    struct cluster_nodes nodes = mixed(3, 2);
    struct cluster_pairs pairs;

    (void)state;
    nodes.items[1].waiting = xstrdup("Pending");
    cluster_pairs_make(&nodes, &pairs);
    for (size_t i = 0; i < pairs.count; i++)
        assert_true(pairs.items[i].from != 1 && pairs.items[i].to != 1);
    assert_true(pairs.count >= 4);
    free(pairs.items);
    cluster_nodes_free(&nodes);
}

/* What more nodes than these would be asked of each other. */
static void ring(struct diag_report *report) {
    const struct cluster_nodes *nodes = &report->nodes;
    struct cluster_pairs *pairs = &report->pairs;

    for (size_t i = 0; i < nodes->count; i++) {
        size_t next = (i + 1) % nodes->count;

        if (nodes->items[next].waiting)
            next = (next + 1) % nodes->count;
        if (!nodes->items[i].waiting)
            array_add(pairs->items, pairs->count, (struct cluster_pair){i, next});
    }
}

/* Beside a pair that fails: its first node to another, another to its second, and back; others of
 * the same kind, and such as are well, come first. */
static void test_pairs_beside_red_ones(void **state) {
    static const struct {
        const char *kinds, *red, *added;
        const char *missing; /* a node without a probe (w), unasked (u); "-l": answers come late */
    } rows[] = {
        {"aaaaa", "", "", ""},
        {"aaaaa", "12", "13 32 21 10 ", ""},             /* 0 reaches 1 */
        {"aaaaa", "12 34", "10 02 21 32 30 04 43 ", ""}, /* 0 alone is well */
        {"aabba", "12", "13 42 14 32 21 10 ", ""},       /* and of the other system */
        {"aab", "01", "02 21 10 ", ""},                  /* none of a kind: any */
        {"aa", "01", "", ""},
        {"aaaa", "12", "10 02 21 ", "3w"},
        {"aaaa", "12", "10 02 21 ", "3u"}, /* it is asked by exec, once */
        {"aaaa", "12", "13 32 10 ", "2u"},
        {"aaaaa", "12", "13 32 21 10 ", "-l"},
        {"aaaaaaa", "12 23 45", "16 62 21 10 26 63 32 43 46 65 54 24 42 25 52 ",
         ""},                      /* 2 works with nobody */
        {"aaaa", "12", "", "1ul"}, /* what it does not ask is no failure */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct diag_report report = {0};
        struct text t = {0};
        size_t before;

        for (const char *kind = rows[i].kinds; *kind; kind++)
            add_node(&report.nodes, "n", *kind == 'a' ? "windows" : "linux", "", "v1.37.1", true);
        if (*rows[i].missing && *rows[i].missing != '-') {
            struct cluster_node *node = &report.nodes.items[*rows[i].missing - '0'];

            *(rows[i].missing[1] == 'w' ? &node->waiting : &node->unreached) = xstrdup("x");
        }
        ring(&report);
        before = report.pairs.count;
        for (const char *at = rows[i].red; *at; at += at[2] ? 3 : 2) {
            report.cells.items =
                xrealloc(report.cells.items, (report.cells.count + 1) * sizeof *report.cells.items);
            report.cells.items[report.cells.count++] = (struct diag_cell){
                .outcome = strchr(rows[i].missing, 'l') ? DIAG_NOT_RUN : DIAG_FAIL,
                .from_node = (size_t)(at[0] - '0'),
                .to_node = (size_t)(at[1] - '0')};
        }
        cluster_pairs_widen(&report);
        for (size_t p = before; p < report.pairs.count; p++)
            text_addf(&t, "%zu%zu ", report.pairs.items[p].from, report.pairs.items[p].to);
        if (!text_equal(text_str(&t), rows[i].added))
            fail_msg("%s, red %s: '%s'", rows[i].kinds, rows[i].red, text_str(&t));
        text_free(&t);
        diag_report_free(&report);
    }
}

/* Where Services answer a few nodes now and then: from each of these to each. */
static void test_pairs_behind_services(void **state) {
    static const struct {
        const char *lossy, *added;
    } rows[] = {{"", ""},
                {"2", "20 21 24 "},
                {"22", "20 21 24 "},
                {"01234", ""},
                {"0134", "02 03 04 10 13 14 30 31 32 41 42 43 "}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct diag_report report = {0};
        struct text t = {0};

        for (unsigned k = 0; k < 6; k++)
            add_node(&report.nodes, "n", "windows", "", "v1.37.1", true);
        report.nodes.items[5].waiting = xstrdup("x");
        ring(&report);
        report.cells.items = xcalloc(8, sizeof *report.cells.items);
        for (const char *at = rows[i].lossy; *at; at++)
            report.cells.items[report.cells.count++] =
                (struct diag_cell){.flow = diag_flow_find("pod-to-service-ip"),
                                   .outcome = DIAG_FAIL,
                                   .result.succeeded = 1,
                                   .from_node = (size_t)(*at - '0'),
                                   .to_node = (size_t)(*at - '0')};
        cluster_pairs_widen(&report);
        for (size_t p = 5; p < report.pairs.count; p++)
            text_addf(&t, "%zu%zu ", report.pairs.items[p].from, report.pairs.items[p].to);
        assert_string_equal(text_str(&t), rows[i].added);
        text_free(&t);
        diag_report_free(&report);
    }
}

/* Of many that fail, so many. */
static void test_pairs_beside_many(void **state) {
    struct diag_report report = {.nodes = mixed(60, 0)};
    size_t before;

    (void)state;
    cluster_pairs_make(&report.nodes, &report.pairs);
    before = report.pairs.count;
    report.cells.items = xcalloc(before, sizeof *report.cells.items);
    for (; report.cells.count < before; report.cells.count++)
        report.cells.items[report.cells.count] =
            (struct diag_cell){.outcome = DIAG_FAIL,
                               .from_node = report.pairs.items[report.cells.count].from,
                               .to_node = report.pairs.items[report.cells.count].to};
    cluster_pairs_widen(&report);
    assert_in_range(report.pairs.count - before, 48, 72);
    diag_report_free(&report);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_pairs_of_kinds),
        cmocka_unit_test(test_pairs_pass_over_the_missing),
        cmocka_unit_test(test_pairs_beside_red_ones),
        cmocka_unit_test(test_pairs_behind_services),
        cmocka_unit_test(test_pairs_beside_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
