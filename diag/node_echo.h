/* The node's own UDP echo, which pods ask while diag runs, and the firewall rule that lets them. */
#pragma once

#include "diag/flows/flows.h"
#include "host/host.h"

struct node_echo;
/* Served by a thread of its own: a pod is answered in time whatever else goes on. Fills the scene's
 * node_echo. NULL where the node has no address or its port is in use: the flow
 * is skipped then, with its code. */
struct node_echo *node_echo_open(struct host *host, struct diag_scene *scene);
/* Takes the rule away, too; NULL allowed. */
void node_echo_close(struct host *host, struct node_echo *echo);
/* Removes the rule that a killed run has left. */
void node_echo_forget(struct host *host);
