/* Which flow a cell is of. */
#include "diag/cluster/cells.h"

bool cluster_cell_is_of(const struct cluster_cell *c, const char *flow) {
    return text_equal(c->cell.flow->id, flow);
}

bool cluster_cell_is_between_pods(const struct cluster_cell *c) {
    return cluster_cell_is_of(c, "pod-to-pod-ip") && c->from != c->to;
}

bool cluster_cell_is_to_service(const struct cluster_cell *c) {
    return cluster_cell_is_of(c, "pod-to-service-ip");
}

bool cluster_cell_is_by_name(const struct cluster_cell *c) {
    return cluster_cell_is_of(c, "pod-to-service-pqdn") ||
           cluster_cell_is_of(c, "pod-to-service-fqdn") || cluster_cell_is_of(c, "pod-to-pod-name");
}

/* What needs a load balancer or a name of one. */
bool cluster_cell_is_by_service(const struct cluster_cell *c) {
    return strstr(c->cell.flow->id, "-service") || cluster_cell_is_of(c, "nodeport-remote") ||
           cluster_cell_is_of(c, "pod-to-pod-name");
}

bool cluster_cell_is_pods_tcp(const struct cluster_cell *c) {
    return cluster_cell_is_between_pods(c) && !c->cell.udp;
}
