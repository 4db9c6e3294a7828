/* The phases that lay the network: vSwitch, pod network, kube-proxy. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "join/phases/node_files.h"
#include "join/phases/phases.h"
#include "join/phases/service_watch.h"
#include "join/phases/ways.h"
#include "netsetup/cni_config.h"
#include "netsetup/firewall.h"
#include "netsetup/hcn_network.h"
#include "netsetup/peers.h"
#include "netsetup/source_vip.h"
#include "services/service_table.h"

enum { PROGRAMMED_TIMEOUT_MS = 60000 };

static void on_nic(void *context, unsigned milliseconds, const char *waiting_for) {
    join_tell_waiting(context, milliseconds, 120000 - milliseconds, "", "for %s", waiting_for);
}

/* The card as it was found is written down before HNS touches it. */
static int record_switch(struct join *join, struct error *err) {
    if (journal_has(&join->journal, JOURNAL_SWITCH, join->plan.base_name))
        return 0;
    return journal_record(&join->journal, JOURNAL_SWITCH, join->plan.base_name,
                          json_pack("{s:o}", "card", nic_snapshot_json(&join->nic)), err);
}

static int open_firewall(struct join *join, struct error *err) {
    struct host_firewall_rule rules[FIREWALL_RULES_MAX];
    size_t count = firewall_rules(&join->plan, rules);
    bool there;

    for (size_t i = 0; i < count; i++) {
        if (host_firewall_has(join->host, rules[i].name, &there, err) < 0 ||
            (!there &&
             journal_record(&join->journal, JOURNAL_FIREWALL, rules[i].name, NULL, err) < 0))
            return -1;
    }
    return firewall_ensure(join->host, &join->plan, err);
}

/* A server whose firewall service is switched off must still be able to join. */
static int try_firewall(struct join *join, struct error *err) {
    if (open_firewall(join, err) == 0)
        return 0;
    if (err->kind != ERROR_HOST && err->kind != ERROR_UNSUPPORTED)
        return -1;
    join_warn(join, "%s: no inbound rule was made; the API server must reach TCP 10250%s",
              err->message,
              join->plan.mode == NETWORK_OVERLAY ? ", other nodes the VXLAN port" : "");
    error_clear(err);
    return 0;
}

static void describe_switch(struct join *join, const struct nic_guard_result *guard) {
    text_addf(&join->detail, "on \"%s\"; ", join->nic.alias);
    if (guard->outage_ms)
        text_addf(&join->detail, "was away %.1f s, ", guard->outage_ms / 1000.0);
    text_addf(&join->detail, "%s and %zu DNS servers %s", join->nic.address,
              join->nic.dns_servers.count, guard->address_restored ? "put back" : "kept");
}

int phase_vswitch(struct join *join, struct error *err) {
    struct nic_guard_result guard = {0};

    if (join_need_plan(join, err) < 0 || record_switch(join, err) < 0 ||
        nic_guard_ensure(join->host, &join->plan, &join->nic, on_nic, join, &guard, err) < 0 ||
        try_firewall(join, err) < 0)
        return -1;
    describe_switch(join, &guard);
    return 0;
}

/* Files that containerd would take before ours go, into the journal's backup. */
static int set_aside_conflicts(struct join *join, struct error *err) {
    struct text_list conflicts = {0};
    int result = cni_conflicts(join->host, &conflicts, err);

    for (size_t i = 0; result == 0 && i < conflicts.count; i++) {
        join_warn(join, "'%s' would win over the node's CNI file: set aside until reset",
                  conflicts.items[i]);
        result = journal_file(&join->journal, conflicts.items[i], err);
        if (result == 0)
            result = host_remove(join->host, conflicts.items[i], err);
    }
    text_list_free(&conflicts);
    return result;
}

static int write_cni(struct join *join, struct error *err) {
    _cleanup_(node_files_free) struct node_files files = {0};

    if (phase_own_folder(join, CNI_CONF_DIR, err) < 0 ||
        phase_own_folder(join, CNI_RESULTS_DIR, err) < 0 || set_aside_conflicts(join, err) < 0 ||
        node_files_cni(join, &files, err) < 0)
        return -1;
    return node_files_lay(join, &files, err);
}

static int reserve_source_vip(struct join *join, struct error *err) {
    if (phase_own_folder(join, CNI_STATE_DIR, err) < 0)
        return -1;
    if (join->plan.mode != NETWORK_OVERLAY)
        return 0;
    if (journal_record(&join->journal, JOURNAL_SOURCE_VIP, join->plan.name, NULL, err) < 0 ||
        ipam_stale_remove(join->host, &join->plan, err) < 0)
        return -1;
    return source_vip_ensure(join->host, &join->plan, err);
}

static int write_boot_network(struct join *join, struct error *err) {
    _cleanup_(node_files_free) struct node_files files = {0};
    _cleanup_json_ json_t *peers = NULL;
    struct service_settings settings;

    if (peers_read(join->host, &join->plan, &peers, err) < 0 ||
        node_files_boot_network(join, peers, &files, err) < 0)
        return -1;
    phase_service_settings(join, &settings);
    if (phase_own_folder(join, service_log_folder(SERVICE_NETWORK), err) < 0 ||
        node_files_lay(join, &files, err) < 0 ||
        journal_service(&join->journal, service_name(SERVICE_NETWORK), err) < 0)
        return -1;
    return service_ensure(join->host, SERVICE_NETWORK, &settings, NULL, err);
}

/* l2bridge: the pod network turns on forwarding of the management interface. */
static int record_forwarding(struct join *join, struct error *err) {
    uint32_t index;
    bool on;

    if (join->plan.mode != NETWORK_L2BRIDGE)
        return 0;
    if (nic_index_of(join->host, join_node_ip(join), &index, err) < 0 ||
        host_forwarding(join->host, index, &on, err) < 0)
        return -1;
    return journal_record(&join->journal, JOURNAL_FORWARDING, join_node_ip(join),
                          json_pack("{s:b}", "on", on), err);
}

int phase_pod_network(struct join *join, struct error *err) {
    struct hcn_network network = {0};
    enum hcn_outcome outcome;

    if (join_need_cluster(join, err) < 0 || join_need_node(join, err) < 0 ||
        join_need_plan(join, err) < 0 || record_forwarding(join, err) < 0)
        return -1;
    if (journal_record(&join->journal, JOURNAL_NETWORK, join->plan.name, NULL, err) < 0 ||
        hcn_pod_network_ensure(join->host, &join->plan, &network, &outcome, err) < 0 ||
        reserve_source_vip(join, err) < 0)
        return -1;
    text_addf(&join->detail, "%s %s", network_mode_name(join->plan.mode), join->plan.name);
    if (join->plan.mode == NETWORK_OVERLAY)
        text_addf(&join->detail, ", VNI %u", join->plan.vni);
    text_addf(&join->detail, "; %s", network_cni_type(&join->plan));
    if (join->plan.mode == NETWORK_OVERLAY)
        text_addf(&join->detail, "; source VIP %s", join->plan.source_vip);
    if (join_ways_ensure(join, &network, err) < 0 || write_boot_network(join, err) < 0)
        return -1;
    return write_cni(join, err); /* last: with it the kubelet calls the node's network ready */
}

/* kube-proxy says nothing of its own; what it programmed stands in HNS. */
static enum wait_look look_programmed(void *context, struct wait *wait, struct error *err) {
    static const char slices[] = "/apis/discovery.k8s.io/v1/endpointslices?limit=1";
    struct join *join = context;
    _cleanup_json_ json_t *balancers = NULL;

    if (hcn_list(join->host, HCN_LOAD_BALANCER, NULL, NULL, &balancers, err) < 0)
        return LOOK_FAILED;
    if (json_array_size(balancers)) {
        text_addf(&join->detail, "running, %zu load balancers programmed",
                  json_array_size(balancers));
        return LOOK_DONE;
    }
    if (service_watch_rights(join, slices, err) < 0 || service_watch_look(join, NULL, err) < 0)
        return LOOK_FAILED;
    wait->limit_ms = service_watch_limit(join, PROGRAMMED_TIMEOUT_MS);
    (void)error_set(err, ERROR_TIMED_OUT, "for kube-proxy to program the first Service");
    return LOOK_AGAIN;
}

static int wait_programmed(struct join *join, struct error *err) {
    struct wait wait = {.limit_ms = PROGRAMMED_TIMEOUT_MS,
                        .pause_ms = 500,
                        .look = look_programmed,
                        .tell = join_tell_missing,
                        .context = join,
                        .tell_context = join};
    enum wait_look end = wait_until(join->host, &wait, err);

    if (end != LOOK_AGAIN)
        return end;
    (void)error_set(err, ERROR_TIMED_OUT, "wait for kube-proxy: no Service programmed after %u s",
                    wait.limit_ms / 1000);
    return error_hint(err, "its log: %s", service_log_folder(SERVICE_KUBE_PROXY));
}

int phase_kube_proxy(struct join *join, struct error *err) {
    _cleanup_(node_files_free) struct node_files files = {0};
    struct service_settings settings;

    if (text_equal(join->options->kube_proxy, "none")) {
        text_add(&join->detail, "left to the cluster (--kube-proxy none)");
        return 0;
    }
    if (join_need_cluster(join, err) < 0 || join_need_node(join, err) < 0 ||
        join_need_plan(join, err) < 0 || node_files_kube_proxy(join, &files, err) < 0 ||
        node_files_lay(join, &files, err) < 0)
        return -1;
    phase_service_settings(join, &settings);
    if (phase_start_service(join, SERVICE_KUBE_PROXY, &settings, err) < 0)
        return -1;
    return wait_programmed(join, err);
}
