/* This phase makes the virtual switch and keeps the adapter's configuration. */
#include "join/phases/steps.h"
#include "join/undo/journal.h"
#include "join/wanted/wanted.h"
#include "netsetup/agents/agent.h"
#include "netsetup/netsetup.h"
#include "netsetup/hns/hcn_network.h"
#include "netsetup/modes/mode.h"
#include "netsetup/nic/nic.h"

static void on_nic(void *context, unsigned milliseconds, const char *waiting_for) {
    join_tell_waiting(context, milliseconds, 120000 - milliseconds, "", "for %s", waiting_for);
}

/* Records the adapter's configuration before HNS changes it. */
static int record_switch(struct join *join, struct error *err) {
    if (journal_find(&join->journal, JOURNAL_SWITCH, join->found.plan.base_name))
        return 0;
    return journal_record(&join->journal, JOURNAL_SWITCH, join->found.plan.base_name,
                          json_pack("{s:o}", "adapter", nic_snapshot_json(&join->found.nic)), err);
}

/* Opens the ports that the node needs. A server whose firewall service is disabled must still be
 * able to join, so a failure is only a warning. */
static int open_firewall(struct join *join, struct error *err) {
    struct host_firewall_rule rules[FIREWALL_RULES_MAX];
    size_t count = firewall_rules(&join->found.plan, rules);
    int result = 0;
    bool there;

    for (size_t i = 0; i < count && result == 0; i++) {
        result = host_firewall_has(join->host, rules[i].name, &there, err);
        if (result == 0 && !there)
            result = journal_record(&join->journal, JOURNAL_FIREWALL, rules[i].name, NULL, err);
    }
    for (size_t i = 0; i < count && result == 0; i++) {
        result = host_firewall_put(join->host, &rules[i], err);
        if (result < 0)
            (void)error_prefix(err, "firewall rule '%s'", rules[i].name);
        else
            written_note(&join->journal, JOURNAL_FIREWALL, rules[i].name, json_object());
    }
    if (result == 0)
        return 0;
    if (err->kind != ERROR_HOST && err->kind != ERROR_UNSUPPORTED)
        return -1;
    join_warn(&join->progress,
              "%s: no inbound rule was made; the API server must reach TCP 10250%s", err->message,
              join->found.plan.mode->vxlan ? ", other nodes the VXLAN port" : "");
    error_clear(err);
    return 0;
}

int phase_vswitch(struct join *join, struct error *err) {
    const struct nic_snapshot *nic = &join->found.nic;
    struct text *detail = &join->progress.detail;
    struct nic_restored guard = {0};
    struct hcn_network base = {0};

    if (host_fixes_apply(join, err) < 0 || agent_registry_apply(join, err) < 0)
        return -1;
    if (join->found.plan.agent->makes_network) {
        text_addf(&join->progress.detail, "left to %s",
                  join->found.plan.agent->service ? join->found.plan.agent->service
                                                  : "the cluster's network agent");
        return record_switch(join, err) < 0 ? -1 : open_firewall(join, err);
    }
    if (join->found.plan.mode->internal) {
        text_add(&join->progress.detail, "not needed: the pod network brings one of its own");
        return network_clash_check(join->host, &join->found.plan, err) < 0
                   ? -1
                   : open_firewall(join, err);
    }
    if (record_switch(join, err) < 0 ||
        nic_guard_ensure(join->host, &join->found.plan, &join->found.nic, on_nic, &join->progress,
                         &guard, err) < 0 ||
        hcn_network_find(join->host, join->found.plan.base_name, &base, err) < 0 ||
        open_firewall(join, err) < 0)
        return -1;
    written_network(&join->journal, &base);
    join_fact(&join->progress, "adapter", json_string(nic->alias));
    join_fact(&join->progress, "address", json_string(nic->address));
    join_fact(&join->progress, "outageSeconds", json_real(guard.outage_ms / 1000.0));
    text_addf(detail, "on \"%s\"; ", nic->alias);
    if (guard.outage_ms)
        text_addf(detail, "offline for %.1f s, ", guard.outage_ms / 1000.0);
    text_addf(detail, "%s and %zu DNS server%s %s", nic->address, nic->dns_servers.count,
              PLURAL(nic->dns_servers.count), guard.address_restored ? "restored" : "kept");
    if (*guard.differs)
        join_warn(&join->progress, "adapter \"%s\" is not as it was before: %s", nic->alias,
                  guard.differs);
    return 0;
}
