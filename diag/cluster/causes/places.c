/* A place in a cluster: which cells lie in it, and what it is called. */
#include "diag/cluster/causes/cause_row.h"

enum { NAMES = 8 };

static bool is_of_part(enum cluster_part part, const struct diag_cell *c) {
    switch (part) {
    case WHOLE:
        return true;
    case UDP:
    case TCP:
        return c->udp == (part == UDP);
    default:
        return (c->family == 6) == (part == SIX);
    }
}

bool cluster_map_has(const struct cluster_map *map, const struct cluster_row *row,
                     const struct diag_cell *c) {
    return row->among(c) && is_of_part(map->part, c) && c->outcome != DIAG_NOT_RUN &&
           !(row->local && diag_cell_is_open(c) && !map->silent[c->from_node]);
}

static bool is_in_set(const struct cluster_map *map, enum cluster_set set, size_t of, size_t node) {
    switch (set) {
    case EVERY:
        return true;
    case ONE:
        return node == of;
    case SYSTEM:
        return map->systems[node] == of;
    default:
        return map->kinds[node] == of;
    }
}

bool cluster_place_has_node(const struct cluster_map *map, const struct cluster_place *place,
                            size_t node) {
    return is_in_set(map, place->set, place->a, node);
}

bool cluster_place_has_way(const struct cluster_map *map, const struct cluster_place *place,
                           size_t from, size_t to) {
    bool out = is_in_set(map, place->set, place->a, from);
    bool in = is_in_set(map, place->set, place->way == BETWEEN ? place->b : place->a, to);

    return place->way == TOUCHING ? out || in
           : place->way == FROM   ? out
           : place->way == TO     ? in
                                  : out && in;
}

bool cluster_place_has(const struct cluster_map *map, const struct cluster_place *place,
                       const struct diag_cell *cell) {
    bool pair = place->way == TO || place->way == BETWEEN;

    if (place->side)
        return place->side[cell->from_node] != place->side[cell->to_node];
    return cluster_place_has_way(map, place, cell->from_node, cell->to_node) &&
           !(pair && cell->from_node == cell->to_node);
}

enum cluster_scope cluster_place_scope(const struct cluster_place *place) {
    if (place->set == EVERY)
        return ALL;
    if (place->way == BETWEEN)
        return place->set == ONE ? PAIR : place->set == SYSTEM ? SYSTEMS : KINDS;
    return place->way == FROM ? OUT : place->way == TO ? IN : NODE;
}

static char *set_name(const struct cluster_map *map, enum cluster_set set, size_t of) {
    const struct cluster_node *node = &map->report->nodes.items[of];

    return set == ONE      ? xstrdup(node->name)
           : set == SYSTEM ? xstrdup(node->os)
                           : cluster_node_kind(node);
}

/* "win-1, win-2 and the other nodes". */
static char *side_name(const struct cluster_map *map, const bool *side) {
    const struct cluster_nodes *nodes = &map->report->nodes;
    struct text name = {0};
    size_t named = 0;

    for (size_t i = 0; i < nodes->count; i++)
        if (side[i] && named++ < NAMES)
            text_addf(&name, "%s%s", named > 1 ? ", " : "", nodes->items[i].name);
    if (named > NAMES)
        text_addf(&name, ", %zu more", named - NAMES);
    text_add(&name, " and the other nodes");
    return text_take(&name);
}

char *cluster_place_name(const struct cluster_map *map, const struct cluster_place *place) {
    const char *nodes = place->set == ONE ? "" : " nodes";
    _cleanup_(freep) char *a = NULL, *b = NULL;

    if (place->set == EVERY)
        return xstrdup("all nodes");
    if (place->side)
        return side_name(map, place->side);
    a = set_name(map, place->set, place->a);
    if (place->way != BETWEEN)
        return xasprintf("%s%s", a, nodes);
    b = set_name(map, place->set, place->b);
    return xasprintf("%s to %s%s", a, b, nodes);
}
