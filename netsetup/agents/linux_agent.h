/* Programs that make the pod network of Linux nodes. Where one is found and its part for Windows is
 * not, a Windows node would get a network of its own, cut off from the cluster's. */
#pragma once

#include <stddef.h>

/* Text is static. */
struct linux_agent {
    const char *title;              /* for people: "Calico" */
    const char *const *daemon_sets; /* by which it is found, in any namespace; NULL-terminated */
    const char *windows;            /* what it has for Windows nodes, as the end of a sentence */
    const char *remedy;             /* what an administrator does first */
    const char *by_manifest; /* the same where it is in kube-system, as by its manifest; or NULL */
    /* a Node has this annotation where its part for Windows nodes is on, and that is this plugin;
     * or NULL */
    const char *annotation, *plugin;
};

/* Ends with a row without a title. */
extern const struct linux_agent linux_agents[];
/* Of no name above: what cluster_network_search() found. */
extern const struct linux_agent linux_agent_unknown;

/* The remedy where it is known by that ("DaemonSet kube-system/calico-node"). Static. */
const char *linux_agent_remedy(const struct linux_agent *agent, const char *linux_set);
