/* Nodes of a cluster, as they are read of its API server. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "diag/cluster/cluster.h"

static inline void add_node(struct cluster_nodes *nodes, const char *name, const char *os,
                            const char *build, const char *version, bool ready) {
    array_add(nodes->items, nodes->count,
              (struct cluster_node){.name = xstrdup(name),
                                    .os = xstrdup(os),
                                    .build = xstrdup(build),
                                    .version = xstrdup(version),
                                    .network = xstrdup("flannel vxlan"),
                                    .ready = ready});
}

static inline struct cluster_nodes mixed(unsigned windows, unsigned linux_count) {
    static const char *const builds[] = {"10.0.17763", "10.0.20348", "10.0.26100"};
    struct cluster_nodes nodes = {0};
    char name[32];

    for (unsigned i = 0; i < windows; i++) {
        text_format(name, sizeof name, "w%u", i);
        add_node(&nodes, name, "windows", builds[i % 3], i % 2 ? "v1.36.2" : "v1.37.1", true);
    }
    for (unsigned i = 0; i < linux_count; i++) {
        text_format(name, sizeof name, "l%u", i);
        add_node(&nodes, name, "linux", "", "v1.37.1", true);
    }
    return nodes;
}
