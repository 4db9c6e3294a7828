/* A list of probes measured at the same time, attempts on threads of their own. */
#pragma once

#include "diag/probe/probe.h"

/* All probes of a list are measured at the same time. The attempts of one follow each other; an
 * attempt that takes long does not keep the next one waiting, so that a dead path costs little more
 * than one time-out. */
struct probe_work;
/* Copies the list; starts nothing yet. */
struct probe_work *probe_work_new(const struct probe_list *list);
/* Starts the attempts that are due; true when all have ended. Call it every few milliseconds. */
bool probe_work_step(struct probe_work *work);
/* Adds the results in the order of the list and frees `work`; waits where something still runs. */
void probe_work_end(struct probe_work *work, struct probe_results *ret);

/* ---- the probe's life inside a pod ---- */

/* Text is borrowed. */
struct probe_server {
    const char *mailbox;         /* folder */
    const char *name;            /* what the echo answers with */
    const char *run;             /* reported in heartbeats, "" = none */
    const char *address;         /* to listen on and to report; "" = all, and what the system has */
    unsigned tcp_port, udp_port; /* 0 = no echo */
};
/* Serves until a file "stop" is in the mailbox or nothing could be written there for a minute. */
void probe_serve(const struct probe_server *options);
