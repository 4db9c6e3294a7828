/* Writes the end of a join or of an upgrade as an Event on the Node. */
#pragma once

#include "join/join.h"
#include "kube/node_event.h"

/* Behind a join's phases: that it changed this node, or the error it failed with, where the Node is
 * there. One request, where this node has its identity; that it fails is a line of the log. */
void join_tell_node(struct join *join, const struct error *failure);
/* The same of what the caller says. */
void join_tell_event(struct join *join, enum node_event event, const char *message);
