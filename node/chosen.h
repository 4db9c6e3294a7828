/* What the join of this node chose. The join writes it to one file. Upgrade, reset, diag and the
 * service winjoin-network read it. That service makes the network again: Windows forgets overlay
 * networks at boot, and HNS forgets them whenever it starts. */
#pragma once

#include "host/host.h"
#include "netsetup/plan/network_plan.h"

#define CHOSEN_FILE HOST_OWN_FOLDER "\\network.json"

/* The content of the file. Text is borrowed from `file`; free with chosen_free(). */
struct chosen {
    /* The document of the file; owned. Its "peers" are the routes to other nodes
     * (netsetup/routes/routes.h) as the join wrote them. */
    json_t *file;
    const char *node;             /* Name of the Node. */
    struct network_input network; /* The network's values; the lists are owned. */
    /* "none": winjoin does not run kube-proxy; NULL means that it does. */
    const char *kube_proxy;
};

/* Makes the document of the file; the member `file` is ignored. New reference. */
json_t *chosen_json(const struct chosen *chosen);
/* Reads the document of the file. Fails with ERROR_MALFORMED. */
int chosen_read(json_t *file, struct chosen *ret, struct error *err);
/* Reads the file. Fails as host_read_json() and chosen_read(); ERROR_ABSENT means that no join has
 * written it yet. */
int chosen_load(struct host *host, struct chosen *ret, struct error *err);
void chosen_free(struct chosen *chosen);

/* The routes that winjoin-network has written after the join. Each file has one writer, so that
 * neither overwrites changes of the other: a join writes CHOSEN_FILE, winjoin-network this one. */
#define CHOSEN_ROUTES_FILE HOST_OWN_FOLDER "\\routes.json"
/* Writes CHOSEN_ROUTES_FILE. Fails as host_write(). */
int chosen_routes_write(struct host *host, const struct chosen *chosen, const json_t *routes,
                        struct error *err);
/* Returns the current routes: winjoin-network's if it wrote them after this join, otherwise the
 * join's. New reference, an array. */
json_t *chosen_routes(struct host *host, const struct chosen *chosen);
/* All routes that both files have, those of an earlier join included: each of them may be on the
 * machine. New reference. */
json_t *chosen_routes_ever(struct host *host, const struct chosen *chosen);
