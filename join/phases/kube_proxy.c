/* The phase that starts kube-proxy and waits for the first Service in HNS. */
#include "join/files/node_files.h"
#include "join/phases/phases.h"
#include "join/phases/steps.h"
#include "join/programs/programs.h"
#include "netsetup/agents/agent.h"

int phase_kube_proxy(struct join *join, struct error *err) {
    _cleanup_(node_files_free) struct node_files files = {0};

    if (!programs_wanted(&join->found, &service_kube_proxy)) {
        text_addf(&join->progress.detail, "left to the cluster (%s)",
                  join->found.plan.agent->in_cluster ? "--network-plugin external"
                                                     : "--kube-proxy none");
        return 0;
    }
    if (node_files_kube_proxy(join->host, &join->found, &files, err) < 0 ||
        node_files_write(&join->journal, &files, err) < 0)
        return -1;
    return service_run(join, &service_kube_proxy, err);
}
