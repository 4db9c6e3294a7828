/* Which nodes of a large cluster a diagnosis asks, and what that costs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rfc3339.h"
#include "base/text.h"
#include "diag/cluster/cells.h"
#include "diag/network_report.h"
#include "diag/reports/form_parts.h"
#include "tests/scene/cluster_nodes_scene.h"
#include "tests/scene/large_api.h"
#include "tests/scene/large_report.h"

#include "tests/scene/counted_loops.h"

#include "diag/cluster/pairs.c"
#include "diag/cluster/sample.c"

/* ---- the draw ---- */

static const char *const systems[] = {"windows", "linux"};
static const char *const builds[] = {"10.0.20348", "10.0.26100"};

/* Of many kinds, some of them rare: their numbers by chance, the same each time. */
static struct cluster_nodes many_kinds(size_t count, unsigned seed) {
    struct cluster_nodes nodes = {0};
    uint64_t chance = seed;

    for (size_t i = 0; i < count; i++) {
        _cleanup_(freep) char *name = xasprintf("node-%zu", i);
        struct cluster_node *node;
        unsigned drawn[4];

        for (unsigned k = 0; k < 4; k++) {
            chance = chance * 6364136223846793005U + 1442695040888963407U;
            drawn[k] = (unsigned)(chance >> 40);
        }
        add_node(&nodes, name, systems[drawn[0] % 2], drawn[0] % 2 ? "" : builds[drawn[1] % 2],
                 "v1.37.1", true);
        node = &nodes.items[i];
        node->pool = xstrdup(drawn[2] % 50 ? "big" : "small");
        node->zone = xasprintf("%u", drawn[3] % 7 / 3);
    }
    return nodes;
}

static void choose(struct cluster_nodes *nodes, bool all, struct cluster_sample *ret) {
    struct cluster_choice choice = {.all = all, .now = 2000000000};

    *ret = (struct cluster_sample){0};
    assert_int_equal(cluster_nodes_choose(nodes, &choice, ret, NULL), 0);
}

static void sample_done(struct cluster_sample *sample) {
    struct diag_report report = {.sample = *sample};

    diag_report_free(&report);
}

static bool has_node(const struct cluster_nodes *nodes, const char *name) {
    for (size_t i = 0; i < nodes->count; i++)
        if (text_equal(nodes->items[i].name, name))
            return true;
    return false;
}

static void every_kind_and_pair_of_kinds(void **state) {
    (void)state;
    for (unsigned seed = 1; seed < 7; seed++)
        for (size_t count = 50; count <= (seed == 1 ? 5000 : 500); count *= 10) {
            struct cluster_nodes nodes = many_kinds(count, seed);
            struct cluster_sample sample;
            struct cluster_pairs pairs;
            size_t all, asked;

            choose(&nodes, false, &sample);
            assert_int_equal(sample.of, count);
            assert_true(sample.count > 6);
            for (size_t k = 0; k < sample.count; k++) {
                size_t seen = 0;

                for (size_t i = 0; i < nodes.count; i++) {
                    _cleanup_(freep) char *place = cluster_node_text(&nodes.items[i], ALIKE_PLACE);

                    seen += text_equal(place, sample.kinds[k].name);
                }
                assert_int_equal(seen, sample.kinds[k].asked);
                assert_true(seen >= (sample.kinds[k].nodes < 2 ? 1 : 2));
                assert_true(seen <= sample.kinds[k].nodes);
            }
            assert_int_equal(nodes.count, count < 120 ? count : 120);
            cluster_pairs_make(&nodes, &pairs);
            cluster_pairs_count(&nodes, &pairs, &all, &asked);
            assert_int_equal(all, asked);
            assert_true(all > sample.count * (sample.count - 1));
            assert_true(pairs.count <= nodes.count + sample.count * sample.count);
            free(pairs.items);
            sample_done(&sample);
            cluster_nodes_free(&nodes);
        }
}

/* Pairs of kinds that are asked, seen by looking at each. A node in capitals has no probe. */
static void pairs_are_counted(void **state) {
    static const struct {
        const char *kinds, *pairs;
        size_t all, asked;
    } rows[] = {{"aab", "02", 3, 1},   {"aab", "02 12 20", 3, 2}, {"ab", "01 10", 2, 2},
                {"aa", "01 10", 1, 1}, {"abc", "", 6, 0},         {"a", "", 0, 0},
                {"aabC", "02", 3, 1},  {"AB", "", 0, 0}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct cluster_nodes nodes = {0};
        struct cluster_pairs pairs = {0};
        size_t all, asked;

        for (const char *kind = rows[i].kinds; *kind; kind++) {
            char build[] = {*kind, '\0'};

            add_node(&nodes, "n", "windows", build, "v1", true);
            if (*kind < 'a')
                nodes.items[nodes.count - 1].waiting = xstrdup("x");
        }
        for (const char *at = rows[i].pairs; *at; at += at[2] ? 3 : 2)
            array_add(pairs.items, pairs.count,
                      (struct cluster_pair){(size_t)(at[0] - '0'), (size_t)(at[1] - '0')});
        cluster_pairs_count(&nodes, &pairs, &all, &asked);
        assert_int_equal(all, rows[i].all);
        assert_int_equal(asked, rows[i].asked);
        free(pairs.items);
        cluster_nodes_free(&nodes);
    }
}

/* Of more than 50 kinds no pair of all, but of those that are told by less. */
static void pairs_of_very_many_kinds(void **state) {
    struct cluster_nodes nodes = {0};
    struct cluster_pairs pairs;
    size_t all, asked;
    bool seen[16] = {0};

    (void)state;
    for (size_t i = 0; i < 240; i++) {
        _cleanup_(freep) char *name = xasprintf("node-%zu", i);

        add_node(&nodes, name, "linux", "", "v1.37.1", true);
        nodes.items[i].pool = xasprintf("%zu", i);
        nodes.items[i].zone = xasprintf("%zu", i / 60);
    }
    cluster_pairs_make(&nodes, &pairs);
    cluster_pairs_count(&nodes, &pairs, &all, &asked);
    assert_int_equal(all, 240 * 239);
    assert_in_range(asked, 240, 260);
    for (size_t i = 0; i < pairs.count; i++)
        seen[pairs.items[i].from / 60 * 4 + pairs.items[i].to / 60] = true;
    for (size_t i = 0; i < 16; i++)
        assert_true(seen[i]);
    free(pairs.items);
    cluster_nodes_free(&nodes);
}

/* The order in which the API server lists nodes is no matter, nor are other nodes, mostly. */
static void two_runs_choose_the_same(void **state) {
    struct cluster_nodes nodes = many_kinds(1000, 5), turned = many_kinds(1000, 5),
                         more = many_kinds(1001, 5);
    struct cluster_sample sample;
    size_t same = 0;

    (void)state;
    for (size_t i = 0; i < turned.count / 2; i++) {
        struct cluster_node node = turned.items[i];

        turned.items[i] = turned.items[turned.count - 1 - i];
        turned.items[turned.count - 1 - i] = node;
    }
    choose(&nodes, false, &sample);
    sample_done(&sample);
    choose(&turned, false, &sample);
    sample_done(&sample);
    choose(&more, false, &sample);
    sample_done(&sample);
    for (size_t i = 0; i < nodes.count; i++)
        same += has_node(&more, nodes.items[i].name);
    assert_true(same + 2 >= nodes.count);
    same = 0;
    for (size_t i = 0; i < nodes.count; i++)
        same += has_node(&turned, nodes.items[i].name);
    assert_true(same + 12 >= nodes.count); /* the last turn is of the kinds that come first */
    cluster_nodes_free(&nodes);
    cluster_nodes_free(&turned);
    cluster_nodes_free(&more);
}

/* Names that differ in a digit alone are drawn from everywhere. */
static void numbers_of_names_are_spread(void **state) {
    unsigned low[10] = {0}, bits[64] = {0};

    (void)state;
    for (unsigned i = 0; i < 1000; i++) {
        _cleanup_(freep) char *name = xasprintf("aks-windows-%u", i);
        uint64_t number = number_of(name);

        low[number / (UINT64_MAX / 10 + 1)]++;
        for (unsigned b = 0; b < 64; b++)
            bits[b] += number >> b & 1;
    }
    for (unsigned i = 0; i < 10; i++)
        assert_in_range(low[i], 60, 140);
    for (unsigned b = 0; b < 64; b++)
        assert_in_range(bits[b], 400, 600);
}

/* What is proved is asked where nothing else is left of a kind; a proof has a term. */
static void what_is_proved_comes_last(void **state) {
    static const int64_t now = 2000000000;
    struct cluster_nodes nodes = {0};
    struct cluster_sample sample;

    (void)state;
    for (size_t i = 0; i < 300; i++) {
        _cleanup_(freep) char *name = xasprintf("node-%zu", i);

        add_node(&nodes, name, i % 2 ? "windows" : "linux", "", "v1.37.1", true);
        nodes.items[i].proved = i % 2 ? now - NETWORK_PROOF_TERM_SECONDS : 0;
    }
    nodes.items[31].proved = 0;
    nodes.items[99].proved = now - NETWORK_PROOF_TERM_SECONDS - 1;
    choose(&nodes, false, &sample);
    assert_int_equal(nodes.count, 120);
    assert_true(has_node(&nodes, "node-31"));
    assert_true(has_node(&nodes, "node-99"));
    sample_done(&sample);
    cluster_nodes_free(&nodes);
}

/* So many at most are drawn; which kinds have none is told. */
static void more_kinds_than_can_be_asked(void **state) {
    struct cluster_nodes nodes = {0};
    struct cluster_sample sample;
    size_t none = 0;

    (void)state;
    for (size_t i = 0; i < 1200; i++) {
        _cleanup_(freep) char *name = xasprintf("node-%zu", i);

        add_node(&nodes, name, "linux", "", "v1.37.1", true);
        nodes.items[i].pool = xasprintf("%zu", i / 2);
    }
    choose(&nodes, false, &sample);
    assert_int_equal(nodes.count, 500);
    assert_int_equal(sample.count, 600);
    for (size_t k = 0; k < sample.count; k++)
        none += !sample.kinds[k].asked;
    assert_int_equal(none, 100);
    sample_done(&sample);
    cluster_nodes_free(&nodes);
}

/* ---- nodes that say something ---- */

/* Whatever says that something is wrong with it is asked, or told that it is not Ready. */
static void what_says_something_is_always_in(void **state) {
    (void)state;
    for (size_t count = 500; count <= 5000; count *= 10) {
        struct cluster_nodes nodes = {0};
        struct cluster_sample sample;
        size_t wanted = 0;

        large_api_open(count, saying_node);
        large.events =
            "{\"items\":[{\"involvedObject\":{\"name\":\"node-77\"},\"type\":\"Warning\","
            "\"reason\":\"NetworkDrift\",\"message\":\"m\",\"lastTimestamp\":"
            "\"2026-11-21T10:00:00Z\"}]}";
        large_api_nodes(&nodes);
        assert_int_equal(nodes.count, count);
        assert_int_equal(cluster_events_read(&large.client, &nodes, NULL), 0);
        choose(&nodes, false, &sample);
        for (size_t n = 0; n < count; n++) {
            _cleanup_(freep) char *name = xasprintf("node-%zu", n);

            if (n % EVERY <= 4 || n == 77) {
                wanted++;
                if (!has_node(&nodes, name))
                    fail_msg("of %zu nodes %s is not in the sample", count, name);
            }
        }
        assert_int_equal(sample.say, wanted);
        assert_int_equal(nodes.count, wanted + 120);
        assert_int_equal(sample.unsure, 0);
        sample_done(&sample);
        cluster_nodes_free(&nodes);
        large_api_close();
    }
}

static json_t *unsure_node(size_t n) {
    return played_node(n, true, n == 7 ? "False" : "Unknown");
}

/* A fleet that nobody measures is no reason to ask all of it. */
static void of_very_many_unsure_ones_some(void **state) {
    struct diag_report report = {0};

    (void)state;
    large_api_open(1000, unsure_node);
    large_api_nodes(&report.nodes);
    choose(&report.nodes, false, &report.sample);
    assert_int_equal(report.nodes.count, 201);
    assert_true(has_node(&report.nodes, "node-7"));
    assert_int_equal(report.sample.say, 1000);
    assert_int_equal(report.sample.unsure, 799);
    diag_report_free(&report);
    large_api_close();
}

/* What each says, and which word counts where there are several. */
static void words_of_nodes(void **state) {
    static const char
        drift[] = "{\"version\":1,\"time\":\"2026-11-21T10:00:00Z\",\"drift\":{"
                  "\"servicesWithoutLoadBalancer\":{\"count\":1,\"first\":[\"d/s\"]}}}",
        failed[] = "{\"version\":1,\"time\":\"2026-11-21T10:00:00Z\",\"diag\":{\"time\":"
                   "\"2026-11-21T10:00:00Z\",\"flows\":9,\"flowsPassed\":8,\"passed\":17,"
                   "\"failed\":{\"count\":1,\"first\":[\"pod-to-node/tcp\"]},\"causes\":[]}}";
    static const struct {
        const char *condition, *report, *event, *says;
        bool unsure, proved;
    } rows[] = {
        {NULL, NULL, NULL, NULL, false, false},
        {"True", NULL, NULL, NULL, false, true},
        {"False", NULL, NULL, "PodNetworkProved is False: SVC-LOST: a Service is lost", false,
         false},
        {"Unknown", NULL, NULL, "PodNetworkProved is Unknown: SVC-LOST: a Service is lost", true,
         false},
        {"odd", NULL, NULL, "PodNetworkProved is Unknown: SVC-LOST: a Service is lost", true,
         false},
        {"Unknown", "x", NULL, "its own report cannot be read", false, false},
        {"True", failed, NULL, "winjoin diag there: pod-to-node/tcp failed", false, true},
        {"False", failed, NULL, "PodNetworkProved is False: SVC-LOST: a Service is lost", false,
         false},
        {NULL, drift, NULL, "1 Services without a load balancer in HNS (d/s)", false, false},
        {NULL, NULL, "W", "Event R: m", false, false},
        {"Unknown", NULL, "W", "Event R: m", false, false},
        {NULL, NULL, "WN", NULL, false, false},
        {NULL, NULL, "NW", "Event R: m", false, false},
        {"False", NULL, "W", "PodNetworkProved is False: SVC-LOST: a Service is lost", false,
         false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_json_ json_t *items = json_pack("[o]", played_node(0, true, rows[i].condition)),
                              *events = json_pack("{s:[]}", "items");
        _cleanup_(freep) char *text = NULL;
        struct cluster_nodes nodes = {0};

        if (rows[i].report)
            json_put(json_array_get(items, 0), "metadata.annotations",
                     json_pack("{s:s}", "winjoin.io/network-report", rows[i].report));
        for (size_t k = 0; rows[i].event && rows[i].event[k]; k++)
            json_array_insert_new(
                json_object_get(events, "items"), 0, /* the newest one is listed first */
                json_pack("{s:{s:s}, s:s, s:s, s:s, s:s}", "involvedObject", "name", "node-0",
                          "type", rows[i].event[k] == 'W' ? "Warning" : "Normal", "reason", "R",
                          "message", "m", "lastTimestamp",
                          k ? "2026-11-21T10:00:01Z" : "2026-11-21T10:00:00Z"));
        large_api_open(0, NULL);
        large.events = text = json_write(events);
        assert_int_equal(cluster_nodes_add(&nodes, items, NULL), 0);
        assert_int_equal(cluster_events_read(&large.client, &nodes, NULL), 0);
        if (!text_equal(nodes.items[0].says ? nodes.items[0].says : "",
                        rows[i].says ? rows[i].says : ""))
            fail_msg("row %zu: %s", i, nodes.items[0].says);
        assert_int_equal(nodes.items[0].unsure, rows[i].unsure);
        assert_int_equal(nodes.items[0].proved,
                         rows[i].proved ? rfc3339_seconds("2026-11-21T10:00:00Z") : 0);
        cluster_nodes_free(&nodes);
        large_api_close();
    }
}

/* ---- whole runs ---- */

static json_t *plain_node(size_t n) {
    return played_node(n, true, NULL);
}

static const size_t sizes[] = {10, 100, 1000, 5000};

/* From each size to the largest an exponent of at most 1.1: 500, 50 and 5 to the power of that. */
static void assert_growth(const char *what, const size_t *costs) {
    static const double most[] = {931, 73.9, 5.87};

    for (size_t i = 0; i < ARRAY_SIZE(most); i++)
        if (!((double)costs[3] <= most[i] * (double)costs[i]))
            fail_msg("%s: %zu, %zu, %zu, %zu for 10, 100, 1000, 5000 nodes", what, costs[0],
                     costs[1], costs[2], costs[3]);
}

/* Turns of the loops that choose nodes and pairs. */
static void what_choosing_costs(void **state) {
    size_t sampled[ARRAY_SIZE(sizes)], all[ARRAY_SIZE(sizes)];

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
        for (int whole = 0; whole < 2; whole++) {
            struct cluster_nodes nodes = many_kinds(sizes[i], 3);
            struct cluster_sample sample;
            struct cluster_pairs pairs;
            size_t asked, possible, before = turns;

            choose(&nodes, whole, &sample);
            cluster_pairs_make(&nodes, &pairs);
            cluster_pairs_count(&nodes, &pairs, &possible, &asked);
            (whole ? all : sampled)[i] = turns - before;
            assert_true(turns - before >= sizes[i]);
            free(pairs.items);
            sample_done(&sample);
            cluster_nodes_free(&nodes);
        }
    assert_growth("a sample", sampled);
    assert_growth("all nodes", all);
}

/* A whole run: requests, and pages of Nodes. Of a sample they do not grow. */
static void what_a_run_asks(void **state) {
    size_t sampled[ARRAY_SIZE(sizes)];

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
        struct cluster_options options = {0};
        struct diag_report report = {0};
        struct error err = {0};
        json_t *grant = NULL;

        large_api_open(sizes[i], plain_node);
        assert_int_equal(cluster_run(&large.client, &options, &report, &grant, &err), 0);
        sampled[i] = http_memory_requests(large.http);
        assert_int_equal(large.lists, (sizes[i] + LARGE_PAGE - 1) / LARGE_PAGE);
        assert_int_equal(report.sample.of, sizes[i] > 40 ? sizes[i] : 0);
        assert_int_equal(report.nodes.count, sizes[i] < 120 ? sizes[i] : 120);
        assert_true(diag_report_is_good(&report));
        assert_int_equal(report.sample.pairs, report.sample.pairs_asked);
        diag_report_free(&report);
        large_api_close();
    }
    assert_true(sampled[3] < sampled[1] * 3 / 2);
    assert_true(sampled[3] < 10000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_and_pair_of_kinds),
        cmocka_unit_test(pairs_are_counted),
        cmocka_unit_test(pairs_of_very_many_kinds),
        cmocka_unit_test(two_runs_choose_the_same),
        cmocka_unit_test(numbers_of_names_are_spread),
        cmocka_unit_test(what_is_proved_comes_last),
        cmocka_unit_test(more_kinds_than_can_be_asked),
        cmocka_unit_test(what_says_something_is_always_in),
        cmocka_unit_test(of_very_many_unsure_ones_some),
        cmocka_unit_test(words_of_nodes),
        cmocka_unit_test(what_choosing_costs),
        cmocka_unit_test(what_a_run_asks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
