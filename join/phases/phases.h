/* The phases' functions, for the table in join/phases/phases.c alone. Each is safe to run again. */
#ifndef JOIN_PHASES_PHASES_H
#define JOIN_PHASES_PHASES_H

#include "join/join.h"
#include "services/service_table.h"

/* join/preflight/preflight.c */
int phase_preflight(struct join *join, struct error *err);
/* join/phases/cluster.c */
int phase_discovery(struct join *join, struct error *err);
int phase_configuration(struct join *join, struct error *err);
int phase_certificate(struct join *join, struct error *err);
/* join/phases/services.c */
int phase_artifacts(struct join *join, struct error *err);
int phase_files(struct join *join, struct error *err);
int phase_containerd(struct join *join, struct error *err);
int phase_kubelet(struct join *join, struct error *err);
/* join/phases/network.c */
int phase_vswitch(struct join *join, struct error *err);
int phase_pod_network(struct join *join, struct error *err);
int phase_kube_proxy(struct join *join, struct error *err);
/* join/phases/flanneld.c */
int phase_flanneld(struct join *join, struct error *err);
/* join/phases/node.c */
int phase_node(struct join *join, struct error *err);
int phase_ready(struct join *join, struct error *err);
int phase_verify(struct join *join, struct error *err);

/* Records a folder that the node will fill; its absent parents go when they are empty. */
int phase_own_folder(struct join *join, const char *path, struct error *err);
/* Journals and registers the service, and starts it (again, when something changed). */
int phase_start_service(struct join *join, enum service_id id,
                        const struct service_settings *settings, struct error *err);
/* The plain values that command lines need, from the plan and the options; borrowed from join. */
void phase_service_settings(struct join *join, struct service_settings *ret);

#endif
