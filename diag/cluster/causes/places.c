/* Says which cells a row of the table of causes breaks, which cells lie in a place
 * (cluster_cause_rows.h), and the name of a place. */
#include "diag/cluster/causes/cluster_cause_rows.h"

enum { NAMES = 8 };

bool cluster_map_has(const struct cluster_map *map, const struct cluster_row *row,
                     const struct diag_cell *c) {
    return cluster_selects(&row->breaks, c) &&
           cluster_selects(&(struct cluster_selector){.flows = ANY_FLOW, .part = map->part}, c) &&
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

bool cluster_place_has_direction(const struct cluster_map *map, const struct cluster_place *place,
                                 size_t from, size_t to) {
    size_t end = place->direction == BETWEEN ? place->b : place->a;
    bool out = cluster_set_member(map, place->set, from) == place->a;
    bool in = cluster_set_member(map, place->set, to) == end;

    return place->direction == TOUCHING ? out || in
           : place->direction == FROM   ? out
           : place->direction == TO     ? in
                                        : out && in;
}

bool cluster_place_has(const struct cluster_map *map, const struct cluster_place *place,
                       const struct diag_cell *cell) {
    bool pair = place->direction == TO || place->direction == BETWEEN;

    if (place->group)
        return place->group[cell->from_node] != place->group[cell->to_node];
    return cluster_place_has_direction(map, place, cell->from_node, cell->to_node) &&
           !(pair && cell->from_node == cell->to_node);
}

enum cluster_scope cluster_place_scope(const struct cluster_place *place) {
    static const enum cluster_scope scope_of[] = {[FROM] = OUT, [TO] = IN, [TOUCHING] = NODE},
                                    between[] = {[ONE] = PAIR, [SYSTEM] = SYSTEMS, [KIND] = KINDS};

    return place->set == EVERY           ? ALL
           : place->direction == BETWEEN ? between[place->set]
                                         : scope_of[place->direction];
}

static char *set_name(const struct cluster_map *map, enum cluster_set set, size_t of) {
    const struct cluster_node *node = &map->report->nodes.items[of];

    return set == ONE ? xstrdup(node->name)
                      : cluster_node_text(node, set == SYSTEM ? ALIKE_SYSTEM : ALIKE_KIND);
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
    if (place->direction != BETWEEN)
        return xasprintf("%s%s", a, behind);
    b = set_name(map, place->set, place->b);
    return xasprintf("%s to %s%s", a, b, behind);
}
