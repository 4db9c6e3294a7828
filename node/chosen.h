/* What the join of this node chose: one file, which the join writes and all others read: an
 * upgrade, a reset, a diagnosis, and the service winjoin-network, which makes the network again
 * (Windows forgets overlay networks at boot, and HNS whenever it starts). */
#pragma once

#include "host/host.h"
#include "netsetup/plan/network_plan.h"

#define CHOSEN_FILE HOST_OWN_FOLDER "\\network.json"

/* Text is borrowed from `file`; chosen_free(). */
struct chosen {
    /* owned; "peers" are the routes to other nodes (netsetup/routes/routes.h) as the join wrote
     * them */
    json_t *file;
    const char *node;                      /* the Node's name */
    struct network_input network;          /* its lists are owned */
    const char *cri_socket, *ca_cert_path; /* as a JoinConfiguration names them */
    const char *kube_proxy;                /* "none": not run by winjoin; NULL: it is */
};

/* The file's document; `file` is not looked at. New reference. */
json_t *chosen_json(const struct chosen *chosen);
/* ERROR_MALFORMED. */
int chosen_read(json_t *file, struct chosen *ret, struct error *err);
/* Reads the file. Kinds: those of host_read_json() and chosen_read(); ERROR_ABSENT: no join has
 * written it yet. */
int chosen_load(struct host *host, struct chosen *ret, struct error *err);
void chosen_free(struct chosen *chosen);

/* Each file has one writer, so that none overwrites what another has just written: a join writes
 * the one above, winjoin-network this one, with the routes as they have become since. */
#define CHOSEN_ROUTES_FILE HOST_OWN_FOLDER "\\routes.json"
/* Fails as host_write(). */
int chosen_routes_write(struct host *host, const struct chosen *chosen, const json_t *routes,
                        struct error *err);
/* The routes that count: winjoin-network's, where they were written since that join, else the
 * join's. New reference, an array. */
json_t *chosen_routes(struct host *host, const struct chosen *chosen);
/* All that either remembers, an earlier join's too: what may be on the machine. */
json_t *chosen_routes_ever(struct host *host, const struct chosen *chosen);
