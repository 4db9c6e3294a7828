/* Which cells a row selects, which cells lie in a place, and the names of places. */
#include "diag/cluster/causes/rows.h"

enum { NAMES = 8 };

static bool is_of_part(enum cluster_part part, const struct diag_cell *c) {
    switch (part) {
    case WHOLE:
        return true;
    case ONLY_UDP:
    case ONLY_TCP:
        return c->udp == (part == ONLY_UDP);
    default:
        return (c->family == 6) == (part == ONLY_IPV6);
    }
}

bool cluster_selects(const struct cluster_selector *selector, const struct diag_cell *c) {
    bool no_probe = c->flow->id == FLOW_POD_IP && c->from_node == c->to_node;
    bool api = c->flow->id == FLOW_SVC_FQDN && text_ends_with(c->to, ":443");
    unsigned flow = no_probe ? NO_PROBE : api ? API_NAME : 1U << c->flow->id;

    return (selector->flows & flow) && is_of_part(selector->part, c) &&
           (!selector->fits || selector->fits(c));
}

bool cluster_map_has(const struct cluster_map *map, const struct cluster_row *row,
                     const struct diag_cell *c) {
    return cluster_selects(&row->breaks, c) && is_of_part(map->part, c) &&
           c->outcome != DIAG_NOT_RUN &&
           !(row->local_port && diag_cell_is_open(c) &&
             !map->nodes[c->from_node].local_port_may_fail);
}

size_t cluster_set_member(const struct cluster_map *map, enum cluster_set set, size_t node) {
    switch (set) {
    case EVERY:
        return 0;
    case ONE:
        return node;
    case SYSTEM:
        return map->nodes[node].system;
    default:
        return map->nodes[node].kind;
    }
}

bool cluster_place_has_node(const struct cluster_map *map, const struct cluster_place *place,
                            size_t node) {
    return place->set == EVERY || cluster_set_member(map, place->set, node) == place->a;
}

bool cluster_place_has_way(const struct cluster_map *map, const struct cluster_place *place,
                           size_t from, size_t to) {
    size_t end = place->way == BETWEEN ? place->b : place->a;
    bool out = cluster_place_has_node(map, place, from);
    bool in = place->set == EVERY || cluster_set_member(map, place->set, to) == end;

    return place->way == TOUCHING ? out || in
           : place->way == FROM   ? out
           : place->way == TO     ? in
                                  : out && in;
}

bool cluster_place_has(const struct cluster_map *map, const struct cluster_place *place,
                       const struct diag_cell *cell) {
    bool pair = place->way == TO || place->way == BETWEEN;

    if (place->group)
        return place->group[cell->from_node] != place->group[cell->to_node];
    return cluster_place_has_way(map, place, cell->from_node, cell->to_node) &&
           !(pair && cell->from_node == cell->to_node);
}

enum cluster_scope cluster_place_scope(const struct cluster_place *place) {
    static const enum cluster_scope scope_of[] = {[FROM] = OUT, [TO] = IN, [TOUCHING] = NODE},
                                    between[] = {[ONE] = PAIR, [SYSTEM] = SYSTEMS, [KIND] = KINDS};

    return place->set == EVERY     ? ALL
           : place->way == BETWEEN ? between[place->set]
                                   : scope_of[place->way];
}

static char *set_name(const struct cluster_map *map, enum cluster_set set, size_t of) {
    const struct cluster_node *node = &map->report->nodes.items[of];

    return set == ONE      ? xstrdup(node->name)
           : set == SYSTEM ? xstrdup(node->os)
                           : cluster_node_kind(node);
}

char *cluster_place_name(const struct cluster_map *map, const struct cluster_place *place) {
    const struct cluster_nodes *nodes = &map->report->nodes;
    const char *behind = place->set == ONE ? "" : " nodes";
    _cleanup_(freep) char *a = NULL, *b = NULL;

    if (place->set == EVERY)
        return xstrdup("all nodes");
    if (place->group) {
        struct text name = {0};
        size_t named = 0;

        for (size_t i = 0; i < nodes->count; i++)
            if (place->group[i] && named++ < NAMES)
                text_addf(&name, "%s%s", named > 1 ? ", " : "", nodes->items[i].name);
        if (named > NAMES)
            text_addf(&name, ", %zu more", named - NAMES);
        text_add(&name, " and the other nodes");
        return text_take(&name);
    }
    a = set_name(map, place->set, place->a);
    if (place->way != BETWEEN)
        return xasprintf("%s%s", a, behind);
    b = set_name(map, place->set, place->b);
    return xasprintf("%s to %s%s", a, b, behind);
}
