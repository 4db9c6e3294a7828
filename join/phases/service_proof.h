/* Services that run and do their work, known as their rows say (struct service, proof). */
#pragma once

#include "join/join.h"

/* Starts it with the settings of this join and waits for its work. Kinds: those of service_start()
 * and service_prove(). */
int service_run(struct join *join, const struct service *service, struct error *err);
/* The same for the service that was started last. ERROR_TIMED_OUT with hints at its log; those of
 * service_watch_look() and service_watch_rights(). */
int service_prove(struct join *join, struct error *err);
/* CRI's pipe: of --cri-socket or containerd's own. The caller frees. */
char *service_proof_pipe(const struct join *join);
