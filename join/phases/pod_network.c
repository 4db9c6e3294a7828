/* This phase makes the Pod network: the HNS network, the CNI file, the source VIP, and the service
 * that makes them again when Windows starts. */
#include "join/wanted/wanted.h"
#include "join/found/need.h"
#include "join/phases/steps.h"
#include "join/programs/programs.h"
#include "join/services/service_watch.h"
#include "join/undo/journal.h"
#include "netsetup/agents/agent.h"
#include "netsetup/netsetup.h"
#include "netsetup/hns/hcn_network.h"
#include "netsetup/plugins/cni_plugin.h"
#include "netsetup/routes/routes.h"

enum { KEEPER_START_MS = 60000 };

static int write_cni(struct join *join, struct error *err) {
    const char *folder = join->found.containerd.conf_dir;
    _cleanup_(text_list_free) struct text_list conflicts = {0};

    if (host_refuse_untrusted_in(join->host, containerd_cni_programs(&join->found.containerd),
                                 err) < 0)
        return error_prefix(err, "write the node's CNI file, which containerd runs programs by");
    if (journal_own_folder(&join->journal, folder, err) < 0 ||
        journal_own_folder(&join->journal, CNI_RESULTS_DIR, err) < 0 ||
        cni_conflicts(join->host, folder, &conflicts, err) < 0)
        return -1;
    /* Files that containerd would use before winjoin's are moved to the journal's backup. */
    for (size_t i = 0; i < conflicts.count; i++) {
        join_warn(&join->progress,
                  "'%s' would override the node's CNI file: moved away until winjoin reset",
                  conflicts.items[i]);
        if (journal_file(&join->journal, conflicts.items[i], err) < 0 ||
            host_remove(join->host, conflicts.items[i], err) < 0)
            return -1;
    }
    return wanted_files_apply(
        join, (struct wanted_choice){.phase = "pod-network", .service = &service_containerd}, err);
}

static int write_chosen(struct join *join, struct error *err) {
    struct service_settings settings;

    json_decref(join->found.peers);
    join->found.peers = NULL;
    if (node_routes_read(join->host, &join->found.plan, &join->found.peers, err) < 0)
        return -1;
    programs_service_settings(join->host, &join->found, &settings);
    if (wanted_files_apply(
            join, (struct wanted_choice){.phase = "pod-network", .service = &service_network},
            err) < 0 ||
        service_register(&join->journal, &service_network, &settings, NULL, err) < 0)
        return -1;
    return host_service_start(join->host, service_network.name, KEEPER_START_MS, err);
}

/* Records whether the management interface forwards, since the Pod network may turn that on. */
static int record_forwarding(struct join *join, const char *address, int family,
                             struct error *err) {
    uint32_t index;
    bool on;

    if (!join->found.plan.mode->forwarding || !*address)
        return 0;
    if (nic_index_of(join->host, address, &index, err) < 0 ||
        host_forwarding(join->host, index, family, &on, err) < 0)
        return -1;
    return journal_record(&join->journal, JOURNAL_FORWARDING, address, json_pack("{s:b}", "on", on),
                          err);
}

/* Makes the network. Depending on the agent, winjoin makes it, or the agent's service, or later the
 * first Pod. */
static int make_network(struct join *join, struct hcn_network *network, struct error *err) {
    struct network_plan *plan = &join->found.plan;
    struct hcn_network found = {0};
    struct error why = {0};
    enum hcn_outcome outcome;
    bool absent;

    if (network_fit_check_nodes(join, err) < 0)
        return -1;
    if (plan->agent->makes_network)
        return agent_network_make(join, network, err) < 0
                   ? -1
                   : source_vip_choose(join->host, plan, network, err);
    if (plan->agent->pods_make_network)
        return agent_network_record(join, err);
    if (record_forwarding(join, join->found.node_ip, 4, err) < 0 ||
        record_forwarding(join, plan->ipv6.management_address, 6, err) < 0)
        return -1;
    /* When the network is absent and the agent has a service, that service may make it later if HNS
     * refuses winjoin when Windows starts. With this record, a reset deletes that one, too. */
    absent = hcn_network_find(join->host, plan->name, &found, &why) < 0 && why.kind == ERROR_ABSENT;
    if (journal_record(&join->journal, JOURNAL_NETWORK, plan->name,
                       plan->agent->service && absent
                           ? json_pack("{s:s}", "agent", plan->agent->plugin)
                           : NULL,
                       err) < 0)
        return -1;
    return hcn_pod_network_ensure(join->host, plan, network, &outcome, err);
}

int phase_pod_network(struct join *join, struct error *err) {
    struct network_plan *plan = &join->found.plan;
    struct text *detail = &join->progress.detail;
    struct hcn_network network = {0};
    struct error why = {0};
    int result = 0;

    /* The cluster's agent makes the network. winjoin-network needs its file even when that wait
     * fails. The file is written after the images are pulled, because with it Pods may start as
     * soon as the network exists. */
    if (plan->agent->in_cluster) {
        result = daemon_set_network_await(join, err);
        if (result == 0 && images_await(join, err) < 0)
            return -1;
        if (write_chosen(join, &why) < 0 && result == 0)
            return error_pass(err, &why);
        return result < 0 ? -1 : daemon_set_network_pending(join, false, err);
    }

    /* Files that the CNI plugin's programs write are recorded before these programs or
     * winjoin-network can remove them. */
    join->journal.held = true;
    for (const char *const *file = cni_plugin_by_name(plan->cni_plugin)->files;
         file && *file && result == 0; file++)
        result = journal_file(&join->journal, *file, err);
    if (journal_write_down(&join->journal, result < 0 ? NULL : err) < 0 || result < 0)
        return -1;

    if (make_network(join, &network, err) < 0 ||
        journal_own_folder(&join->journal, CNI_STATE_DIR, err) < 0)
        return -1;
    if (source_vip_reserved(plan) &&
        (journal_record(&join->journal, JOURNAL_SOURCE_VIP, plan->name, NULL, err) < 0 ||
         ipam_stale_remove(join->host, plan, err) < 0 ||
         source_vip_ensure(join->host, plan, err) < 0))
        return -1;
    if (*network.name)
        written_network(&join->journal, &network);
    text_addf(detail, "%s %s", plan->mode->name, plan->name);
    if (plan->vni)
        text_addf(detail, ", VNI %u", plan->vni);
    text_addf(detail, "; %s", plan->cni_plugin);
    if (*plan->source_vip)
        text_addf(detail, "; source VIP %s", plan->source_vip);
    if (pod_routes_publish(join, &network, err) < 0 || write_chosen(join, err) < 0 ||
        images_await(join, err) < 0)
        return -1;
    /* The CNI file is last, because after it the kubelet reports a ready network. */
    return write_cni(join, err);
}
