/* Chooses which nodes of a cluster get a probe: the named ones, all, or a sample of many. */
#include "base/text.h"
#include "diag/cluster/cluster.h"
#include "diag/network_report.h"

enum {
    /* At least this many nodes of each kind, so that one can ask another of the same kind. */
    KIND_LEAST = 2,
    /* The number of nodes that are drawn, if there are that many. */
    LEAST = 120,
    /* The most nodes that are drawn. With very many kinds some get none, and the report says so. */
    MOST = 500,
    /* The most unsure nodes in a sample: in a fleet that nobody measures, all nodes are unsure. */
    UNSURE_MAX = 200,
};

static int choose_named(const struct cluster_nodes *nodes, const struct text_list *names,
                        bool *chosen, struct error *err) {
    _cleanup_(text_table_free) struct text_table there = {0}, wanted = {0};

    for (size_t n = 0; n < names->count; n++)
        text_table_add(&wanted, names->items[n], "");
    for (size_t i = 0; i < nodes->count; i++) {
        text_table_add(&there, nodes->items[i].name, "");
        chosen[i] = text_table_get(&wanted, nodes->items[i].name) != NULL;
    }
    for (size_t n = 0; n < names->count; n++)
        if (!text_table_get(&there, names->items[n]))
            return error_set(err, ERROR_USAGE, "--nodes: the cluster has no node '%s'",
                             names->items[n]);
    return 0;
}

/* ---- draw a sample ---- */

/* A node that may be drawn. */
struct lot {
    size_t node, kind; /* Indexes of the node, and of the first node of its kind. */
    /* The node has proved its network lately, so its probe would show little that is new. */
    bool proved;
    uint64_t number; /* A number made from the node's name, for the order. */
};

/* FNV-1a of the name, with its bits mixed afterwards, because names of nodes often differ only at
 * their ends. */
static uint64_t number_of(const char *name) {
    uint64_t number = 0xcbf29ce484222325;

    for (; *name; name++)
        number = (number ^ (unsigned char)*name) * 0x100000001b3;
    number = (number ^ number >> 33) * 0xff51afd7ed558ccd;
    return number ^ number >> 33;
}

static int by_kind(const void *a, const void *b) {
    const struct lot *x = a, *y = b;

    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->proved != y->proved)
        return x->proved ? 1 : -1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

static bool says_wrong(const struct cluster_node *node) {
    return !node->ready || node->says || node->twin;
}

/* Chooses the nodes that say something is wrong with themselves. Nodes that are only unsure are
 * chosen up to UNSURE_MAX, in the order of their numbers. */
static void choose_saying(const struct cluster_nodes *nodes, bool *chosen,
                          struct cluster_sample *ret) {
    struct lot *unsure = xcalloc(nodes->count, sizeof *unsure);
    size_t count = 0;

    for (size_t i = 0; i < nodes->count; i++) {
        const struct cluster_node *node = &nodes->items[i];
        bool is_unsure = node->unsure && node->ready && !node->twin;

        ret->say += says_wrong(node);
        chosen[i] = says_wrong(node) && !is_unsure;
        if (is_unsure)
            unsure[count++] = (struct lot){.node = i, .number = number_of(node->name)};
    }
    qsort(unsure, count, sizeof *unsure, by_kind);
    for (size_t i = 0; i < count && i < UNSURE_MAX; i++)
        chosen[unsure[i].node] = true;
    ret->unsure = count > UNSURE_MAX ? count - UNSURE_MAX : 0;
    free(unsure);
}

/* Chooses among the other nodes: the first of each kind, then the second, and so on. */
static void choose_of_kinds(const struct cluster_nodes *nodes, const size_t *alike, int64_t now,
                            bool *chosen) {
    struct lot *lots = xcalloc(nodes->count, sizeof *lots);
    /* The index in `lots` where each kind begins. */
    size_t *kinds = xcalloc(nodes->count + 1, sizeof *kinds);
    size_t count = 0, kind_count = 0, drawn = 0, before = SIZE_MAX;

    for (size_t i = 0; i < nodes->count; i++) {
        const struct cluster_node *node = &nodes->items[i];

        if (!says_wrong(node))
            lots[count++] = (struct lot){
                i, alike[i], node->proved && now - node->proved <= NETWORK_PROOF_TERM_SECONDS,
                number_of(node->name)};
    }
    qsort(lots, count, sizeof *lots, by_kind);
    for (size_t i = 0; i < count; i++)
        if (!i || lots[i].kind != lots[i - 1].kind)
            kinds[kind_count++] = i;
    kinds[kind_count] = count;

    for (size_t turn = 0; drawn != before && (turn < KIND_LEAST || drawn < LEAST); turn++) {
        before = drawn;
        for (size_t k = 0; k < kind_count && drawn < MOST; k++)
            if (kinds[k] + turn < kinds[k + 1] && (turn < KIND_LEAST || drawn < LEAST)) {
                chosen[lots[kinds[k] + turn].node] = true;
                drawn++;
            }
    }
    free_all(lots, kinds);
}

bool cluster_choice_is_sample(const struct cluster_choice *choice,
                              const struct cluster_nodes *nodes) {
    return !choice->all && !(choice->names && choice->names->count) &&
           nodes->count > CLUSTER_ALL_MAX;
}

int cluster_nodes_choose(struct cluster_nodes *nodes, const struct cluster_choice *choice,
                         struct cluster_sample *ret, struct error *err) {
    _cleanup_(freep) bool *chosen = xcalloc(nodes->count, sizeof *chosen);
    struct cluster_nodes kept = {0};

    if (choice->names && choice->names->count) {
        if (choose_named(nodes, choice->names, chosen, err) < 0)
            return -1;
    } else if (cluster_choice_is_sample(choice, nodes)) {
        _cleanup_(freep) size_t *alike = cluster_alike_make(nodes, ALIKE_PLACE);
        _cleanup_(freep) size_t *place = xcalloc(nodes->count, sizeof *place);

        ret->of = nodes->count;
        choose_saying(nodes, chosen, ret);
        choose_of_kinds(nodes, alike, choice->now, chosen);
        ret->kinds = xcalloc(nodes->count, sizeof *ret->kinds);
        for (size_t i = 0; i < nodes->count; i++) {
            if (alike[i] == i) {
                place[i] = ret->count;
                ret->kinds[ret->count++].name = cluster_node_text(&nodes->items[i], ALIKE_PLACE);
            }
            ret->kinds[place[alike[i]]].nodes++;
            ret->kinds[place[alike[i]]].asked += chosen[i] && nodes->items[i].ready;
        }
    } else {
        memset(chosen, true, nodes->count);
    }
    kept.items = xcalloc(nodes->count, sizeof *nodes->items);
    for (size_t i = 0; i < nodes->count; i++)
        if (chosen[i]) {
            kept.items[kept.count++] = nodes->items[i];
            nodes->items[i] = (struct cluster_node){0};
        }
    cluster_nodes_free(nodes);
    *nodes = kept;
    if (!nodes->count)
        return error_set(err, ERROR_USAGE, "choose nodes: the cluster has no node to test");
    return 0;
}
