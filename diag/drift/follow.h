/* Services and EndpointSlices followed by one watch each, while a service runs. */
#pragma once

#include "diag/drift/cluster.h"

enum { DRIFT_WATCHES = 2 };

/* Zero-initialise; drift_follow_free(). */
struct drift_follow {
    struct drift_cluster cluster; /* its pods stay NULL; what could not be listed is not there */
    size_t changes;               /* so many events and lists came */
    char *versions[DRIFT_WATCHES];
    struct drift_followed {
        struct drift_follow *follow;
        enum drift_what what;
    } sides[DRIFT_WATCHES];
};
/* The watches, for kube_watch_all(): they go on from where an earlier one has ended. Where a server
 * grants no watch, or nothing at all, it is asked for the list every quarter of an hour. What they
 * borrow is the follow's. */
void drift_follow_watches(struct drift_follow *follow, struct kube_watch ret[DRIFT_WATCHES]);
void drift_follow_free(struct drift_follow *follow);
