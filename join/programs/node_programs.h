/* Which programs a node needs, for each network mode and plugin that this build can do. */
#pragma once

#include "join/configuration/join_options.h"
#include "services/artifacts/artifacts.h"

/* What nodes need that have nothing but these artifacts: [{"mode","plugin","missing":[names]}], one
 * object for each mode with each plugin that works in it, in the tables' order; network_mode,
 * network_plugin and kube_proxy of the options choose among them. New reference.
 * ERROR_USAGE: that plugin does not work in that mode. */
int node_programs_missing(const struct artifacts *artifacts, const struct join_options *options,
                          json_t **ret, struct error *err);
