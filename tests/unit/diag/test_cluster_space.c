/* What diag names first for each scope with each effect (cluster_space.h), in clusters of several
 * shapes. Which nodes, in which direction, and which kind of flow is derived from both. */
#include "tests/scene/cluster_space.h"
#include "tests/scene/expected_scene.h"
#include "tests/scene/said_causes.h"

#define PODS "CL-NONE CL-SYSTEMS CL-KINDS CL-NODE CL-NODE-IN CL-NODE-OUT CL-PAIR"
#define UDP "CL-UDP CL-UDP-SYSTEMS CL-UDP-NODE CL-UDP-PAIR"
#define TCP "CL-TCP CL-TCP-SYSTEMS CL-TCP-NODE CL-TCP-PAIR"
#define MTU "CL-MTU CL-MTU-SYSTEMS CL-MTU-NODE CL-MTU-PAIR"
#define LOSS "CL-LOSS CL-LOSS-SYSTEMS CL-LOSS-NODE CL-LOSS-PAIR"
#define SIX "CL-IPV6 CL-IPV6-NODE CL-IPV6-PAIR"
#define SVC "CL-SVC CL-SVC-NODE"

static const struct effect effects[] = {
    {"pods lost", "pn", 0, PROBE_TIMEOUT, 2, false, PODS, 0, 0},
    {"all lost", "pnko", 0, PROBE_TIMEOUT, 2, false, PODS, 0, 0},
    {"pods refuse", "pn", 0, PROBE_REFUSED, 9, false, PODS, 0, 0},
    {"no route", "pn", 0, PROBE_UNREACHABLE, 9, false, PODS, 0, 0},
    {"udp of pods", "pn", 'u', PROBE_NO_REPLY, 2, false, UDP, 0, 0},
    {"udp", "pno", 'u', PROBE_NO_REPLY, 2, false, UDP, 0, 0},
    {"tcp of pods", "pn", 't', PROBE_TIMEOUT, 2, false, TCP, 0, 0},
    {"tcp", "pnok", 't', PROBE_TIMEOUT, 2, false, TCP, 0, 0},
    {"large packets", "p", 'L', PROBE_TIMEOUT, 0, false, MTU, 0, 0},
    {"kubelets", "k", 0, PROBE_TIMEOUT, 0, false, "CL-KUBELET CL-TARGET-PAIR", 0, 0},
    {"node ports", "o", 0, PROBE_TIMEOUT, 0, false, "CL-NODEPORT CL-NODEPORT-NODE CL-TARGET-PAIR",
     0, 0},
    {"node ports udp", "o", 'u', PROBE_NO_REPLY, 0, false,
     "CL-NODEPORT-UDP CL-NODEPORT-NODE CL-TARGET-PAIR", 0, 0},
    {"node ports tcp", "o", 't', PROBE_TIMEOUT, 0, false,
     "CL-NODEPORT-TCP CL-NODEPORT-NODE CL-TARGET-PAIR", 0, 0},
    {"strangers at node ports", "o", 't', PROBE_WRONG_RESPONDER, 0, false, "CL-NODEPORT-TAKEN", 0,
     0},
    {"kubelets and node ports", "ko", 0, PROBE_TIMEOUT, 0, false, "CL-TARGET CL-TARGET-PAIR", 0, 0},
    {"IPv6 of pods", "p", '6', PROBE_TIMEOUT, 0, false, SIX, 0, 0},
    {"another pod", "p", 0, PROBE_WRONG_RESPONDER, 0, false, "CL-SUBNET CL-WRONG", 0, 0},
    {"a tenth lost", "pno", 'c', PROBE_NO_REPLY, 0, false, LOSS, 0, 10},
    {"a third lost", "pno", 'c', PROBE_NO_REPLY, 0, false, LOSS, 0, 33},
    {"names of pods", "n", 0, PROBE_DNS_NXDOMAIN, 0, false, "CL-DNS-SOME", 0, 0},

    {"short names", "q", 0, PROBE_DNS_NXDOMAIN, 0, true, "CL-DNS-SHORT", 0, 0},
    {"full names", "nfa", 0, PROBE_DNS_NXDOMAIN, 0, true, "CL-DNS-SOME CL-DNS-FULL", 0, 0},
    {"no names in time", "nqfaE", 0, PROBE_DNS_TIMEOUT, 0, true, "CL-DNS CL-DNS-NODE", 0, 0},
    {"unknown names", "nqfa", 0, PROBE_DNS_NXDOMAIN, 0, true, "CL-DNS-UNKNOWN CL-DNS-NODE", 0, 0},
    {"DNS errors", "nqfaE", 0, PROBE_DNS_SERVFAIL, 0, true, "CL-DNS CL-DNS-NODE", 0, 0},
    {"names outside", "E", 0, PROBE_DNS_SERVFAIL, 0, true, "CL-OUT-NAME", 0, 0},
    {"aliases", "a", 0, PROBE_DNS_NXDOMAIN, 0, true, "CL-DNS-SOME", 0, 0},
    {"no load balancers", "sh", 0, PROBE_TIMEOUT, 0, true, SVC, 'n', 0},
    {"old load balancers", "sqfh", 0, PROBE_TIMEOUT, 0, true, SVC, 'o', 0},
    {"one Service", "sqf", 0, PROBE_REFUSED, 0, true, SVC, 0, 0},
    {"Services by UDP", "sqfh", 'u', PROBE_NO_REPLY, 0, true, "CL-SVC-UDP", 0, 0},
    {"Services by TCP", "sqfha", 't', PROBE_TIMEOUT, 0, true, "CL-SVC-TCP", 0, 0},
    {"IPv6 of Services", "s", '6', PROBE_TIMEOUT, 0, true, SIX, 0, 0},
    {"another pod by Service", "s", 0, PROBE_WRONG_RESPONDER, 0, true, "CL-WRONG", 0, 0},
    {"hairpin", "h", 0, PROBE_TIMEOUT, 0, true, "CL-HAIRPIN", 0, 0},
    {"hairpin by UDP", "h", 'u', PROBE_NO_REPLY, 0, true, "CL-HAIRPIN", 0, 0},
    {"localhost", "l", 0, PROBE_REFUSED, 0, true, "CL-LOCALHOST", 0, 0},
    {"API server", "a", 0, PROBE_TIMEOUT, 0, true, "CL-API CL-API-NODE", 0, 0},
    {"kubelet to pod", "r", 0, PROBE_TIMEOUT, 0, true, "CL-READY", 0, 0},
    {"outside", "e", 0, PROBE_TIMEOUT, 0, true, "CL-OUT CL-OUT-NODE", 0, 0},
    {"all outside", "eE", 0, PROBE_TIMEOUT, 0, true, "CL-OUT CL-OUT-NODE", 0, 0},
    {"beyond", "keaEo", 0, PROBE_TIMEOUT, 0, true, "CL-BEYOND", 0, 0},
    {"local pods", "h", 0, PROBE_REFUSED, 0, true, "CL-LOCAL", 'l', 0},
    {"local node ports", "", 0, PROBE_OK, 0, true, "CL-NODEPORT-LOCAL", 'l', 0},
    {"affinity", "", 0, PROBE_OK, 0, true, "CL-AFFINITY", 'a', 0},
    {"no pod", "", 0, PROBE_OK, 0, true, "CL-NOPOD", 'p', 0},
    {"not Ready", "", 0, PROBE_OK, 0, true, "CL-NOTREADY", 'r', 0},
    {"no proxy", "", 0, PROBE_OK, 0, true, "CL-API-POD", 'x', 0},
};
static const struct shape shapes[] = {
    {"1 Windows, 1 Linux", 1, 0, 1},
    {"3 Windows, 2 Linux", 3, 0, 2},
    {"3 Windows (2 old), 2 Linux", 3, 2, 2},
    {"20 Windows (8 old), 5 Linux", 20, 8, 5},
    {"12 Windows", 12, 0, 0},
};

/* ---- scopes ---- */

static bool is_in_set(const struct shape *shape, char set, size_t one, size_t node) {
    size_t lin = shape->lin;

    switch (set) {
    case 'w':
        return node >= lin;
    case 'l':
        return node < lin;
    case 'k':
        return node >= lin && node < lin + shape->old;
    default:
        return node == one;
    }
}

/* Its sets: 'w' Windows, 'l' Linux, 'k' old nodes, '1' a node, '2' a node and another; '-' none. */
static const struct drawn {
    char kind, x, y;
    const char *words;
} drawn_scopes[] = {
    {'A', '-', '-', "all"},
    {'B', 'w', '-', "Windows"},
    {'F', 'w', '-', "from Windows"},
    {'T', 'w', '-', "to Windows"},
    {'B', 'l', '-', "Linux"},
    {'F', 'l', '-', "from Linux"},
    {'T', 'l', '-', "to Linux"},
    {'B', 'k', '-', "old nodes"},
    {'F', 'k', '-', "from old"},
    {'T', 'k', '-', "to old"},
    {'D', 'w', 'l', "Windows to Linux"},
    {'D', 'l', 'w', "Linux to Windows"},
    {'X', 'w', 'l', "between systems"},
    {'B', '1', '-', "a node"},
    {'F', '1', '-', "from a node"},
    {'T', '1', '-', "to a node"},
    {'B', '2', '-', "two nodes"},
    {'F', '2', '-', "from two"},
    {'T', '2', '-', "to two"},
    {'D', '1', '3', "a pair"},
    {'X', '1', '3', "a pair, there and back"},
};

/* A pair that is asked: others are not seen. */
static void draw_pair(struct fault *f, size_t *a, size_t *b) {
    struct diag_report report = {0};
    struct cluster_pairs pairs;
    struct fault plain = *f;
    size_t i;

    add_shaped_nodes(&plain, &report.nodes);
    cluster_pairs_make(&report.nodes, &pairs);
    i = draw_number(&f->chance, (unsigned)pairs.count);
    *a = pairs.items[i].from;
    *b = pairs.items[i].to;
    free(pairs.items);
    cluster_nodes_free(&report.nodes);
}

static bool draw_scope(const struct drawn *d, struct fault *f) {
    size_t count = f->shape->windows + f->shape->lin, a, b, in = 0;

    draw_pair(f, &a, &b);
    f->scope = (struct scope){.kind = d->kind};
    for (size_t i = 0; i < count; i++) {
        f->scope.x[i] =
            d->kind != 'A' && (is_in_set(f->shape, d->x, a, i) || (d->x == '2' && i == b));
        f->scope.y[i] = is_in_set(f->shape, d->y == '3' ? '1' : d->y, b, i);
        in += f->scope.x[i];
    }
    text_format(f->scope.words, sizeof f->scope.words, "%s (%zu, %zu)", d->words, a, b);
    if (d->kind == 'A')
        return true;
    if (f->effect->of_nodes && d->kind != 'F')
        return false;
    return in && in < count && (d->kind != 'D' || d->x != 'l' || f->shape->lin);
}

/* ---- judging ---- */

static bool has_word(const char *words, const char *word) {
    size_t len = strlen(word);

    for (const char *at = words; (at = strstr(at, word)); at += len)
        if ((at == words || at[-1] == ' ') && (!at[len] || at[len] == ' '))
            return true;
    return false;
}

/* Whether a cell shows where the effect is. */
static bool shows(const struct effect *e, const struct diag_cell *c) {
    return (e->of_nodes ? c->from_node == c->to_node : c->from_node != c->to_node) &&
           strchr(e->flows, letter(c)) && is_protocol(e, c);
}

/* Of what is said of nodes. Where HNS cannot do it, nothing is missed. */
static bool is_right_of_nodes(const struct fault *f, const struct diag_report *report) {
    const struct diag_cause *first = report->causes.items;
    size_t missing = 0, wanted = 0;

    for (size_t i = 0; i < report->nodes.count; i++) {
        bool named = report->causes.count && cause_has(report, first, i, i);
        bool old = text_equal(report->nodes.items[i].build, "10.0.17763");
        bool broken = scope_has(&f->scope, i, i) && !(f->effect->symptom == 'a' && old);

        wanted += broken;
        missing += broken && !named;
        if (named && !broken)
            return false;
    }
    return report->causes.count
               ? has_word(f->effect->ids, first->id) && missing == names_left_out(first)
               : !wanted;
}

static bool is_right(const struct fault *f, const struct diag_report *report) {
    const struct diag_cause *first = report->causes.items;
    bool red = false;

    if (!*f->effect->flows)
        return is_right_of_nodes(f, report);
    for (size_t i = 0; i < report->cells.count; i++) {
        const struct diag_cell *c = &report->cells.items[i];

        if (!shows(f->effect, c))
            continue;
        red |= scope_has(&f->scope, c->from_node, c->to_node);
        if (report->causes.count && cause_has(report, first, c->from_node, c->to_node) !=
                                        scope_has(&f->scope, c->from_node, c->to_node))
            return false;
    }
    return red ? report->causes.count && has_word(f->effect->ids, first->id)
               : !report->causes.count;
}

static bool is_wrongly_sure(const struct fault *f, const struct diag_report *report) {
    for (size_t i = 0; i < report->causes.count; i++)
        if (report->causes.items[i].confirmed &&
            !has_word(f->effect->ids, report->causes.items[i].id))
            return true;
    return false;
}

static void add_causes(struct text *ret, const struct fault *f, const struct diag_report *report) {
    text_addf(ret, "==== %s; %s; %s\n", f->effect->name, f->scope.words, f->shape->name);
    said_causes_add(ret, &report->causes, false);
}

/* How many of this seed's faults are named right; all that is said of them; the others as lines. */
static void judge(uint64_t seed, unsigned every, unsigned *ret_all, unsigned *ret_right,
                  unsigned *ret_sure, struct text *ret_said) {
    for (size_t s = 0; s < ARRAY_SIZE(shapes); s++)
        for (size_t e = 0; e < ARRAY_SIZE(effects); e++)
            for (size_t d = 0; d < ARRAY_SIZE(drawn_scopes); d++) {
                struct fault f = {&shapes[s], &effects[e], {0}, seed + 1000 * s + 31 * e + d};
                struct diag_report report;
                bool right;

                if (draw_number(&f.chance, every) || !draw_scope(&drawn_scopes[d], &f))
                    continue;
                ask_space(&f, &report);
                right = is_right(&f, &report);
                ++*ret_all;
                *ret_right += right;
                *ret_sure += is_wrongly_sure(&f, &report);
                add_causes(ret_said, &f, &report);
                if (!right && getenv("SPACE_WORDS"))
                    print_message("%s; %s; %s: %s %s\n", f.effect->name, f.scope.words,
                                  f.shape->name,
                                  report.causes.count ? report.causes.items[0].id : "-",
                                  report.causes.count ? report.causes.items[0].message : "");
                diag_report_free(&report);
            }
}

/* SPACE_SEED=7 SPACE_WORDS=1 plays others, all of them, and prints those that are named wrong. */
static uint64_t seed_of(const char *words) {
    return words ? strtoul(words, NULL, 10) : 1;
}

static void test_space(void **state) {
    unsigned all = 0, right = 0, sure = 0;
    _cleanup_(text_free) struct text said = {.cap = 1 << 20};

    (void)state;
    judge(seed_of(getenv("SPACE_SEED")), getenv("SPACE_SEED") ? 1 : 20, &all, &right, &sure, &said);
    print_message("%u of %u faults are named right, %u wrongly confirmed\n", right, all, sure);
    assert_true(all > 100);
    assert_int_equal(sure, 0);
    assert_true(right * 10 >= all * 9);
    if (!getenv("SPACE_SEED"))
        assert_expected_exactly("cluster-causes", text_str(&said));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_space)};

    return cmocka_run_group_tests_name("a cluster's faults by enumeration", tests, NULL, NULL);
}
