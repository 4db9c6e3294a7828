/* How this node itself sends to an address. */
#include "base/cidr.h"
#include "diag/causes/rows.h"

/* The narrowest of its routes that holds the address. */
static const json_t *route_to(const struct scene *scene, const char *ip) {
    const json_t *best = NULL;
    int length = -1;

    json_each(json_object_get(scene->evidence, "routes"), i, route) {
        const char *prefix = json_text_at(route, "destination");
        struct cidr cidr;

        if (prefix && cidr_parse(prefix, &cidr, NULL) == 0 && cidr.length > length &&
            prefix_holds(prefix, ip)) {
            best = route;
            length = cidr.length;
        }
    }
    return best;
}

static const json_t *neighbor_of(const struct scene *scene, const char *ip) {
    json_each(json_object_get(scene->evidence, "neighbors"), i, neighbor) {
        if (text_equal(json_text_at(neighbor, "address"), ip))
            return neighbor;
    }
    return NULL;
}

static void hint_set(struct finding *finding, char *hint) {
    free(finding->hint);
    finding->hint = hint;
}

/* The default route and those of the node's own segments are as usual. */
void note_way(const struct scene *scene, const char *ip, struct finding *finding) {
    const json_t *route = ip ? route_to(scene, ip) : NULL;
    const char *prefix = json_text_at(route, "destination"), *hop = json_text_at(route, "nextHop");
    bool by_hop = hop && !text_equal(hop, "0.0.0.0") && !text_equal(hop, "::");
    const char *next = by_hop ? hop : ip;
    const json_t *neighbor = next ? neighbor_of(scene, next) : NULL;
    const char *mac = json_text_at(neighbor, "mac");

    if (by_hop && !text_equal(prefix, "0.0.0.0/0") && !text_equal(prefix, "::/0")) {
        finding_note(finding, "this node's route to %s is %s by %s", ip, prefix, hop);
        hint_set(finding, xasprintf("if that route is wrong: route.exe delete %s; else look at %s",
                                    prefix, hop));
    }
    if (mac && *mac && json_is_true(json_object_get(neighbor, "fixed"))) {
        finding_note(finding, "%s has the MAC address %s here because somebody wrote that", next,
                     mac);
        hint_set(finding, xasprintf("if that address is wrong: arp.exe -d %s, and arp.exe -a shows "
                                    "the new one",
                                    next));
    } else if (mac && !*mac) {
        finding_note(finding, "no machine of this segment says that it has the address %s", next);
    }
}
