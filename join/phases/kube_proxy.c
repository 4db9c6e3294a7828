/* The phase that starts kube-proxy and waits for the first Service in HNS. */
#include "join/wanted/wanted.h"
#include "join/phases/phases.h"
#include "join/phases/steps.h"
#include "join/programs/programs.h"
#include "netsetup/agents/agent.h"

int phase_kube_proxy(struct join *join, struct error *err) {
    if (!programs_wanted(&join->found, &service_kube_proxy)) {
        text_addf(&join->progress.detail, "left to the cluster (%s)",
                  join->found.plan.agent->in_cluster ? "--network-plugin external"
                                                     : "--kube-proxy none");
        return 0;
    }
    return wanted_files_apply(join, (struct wanted_choice){.phase = "kube-proxy"}, err) < 0
               ? -1
               : service_run(join, &service_kube_proxy, err);
}
