/* The phase that makes the virtual switch, with the adapter kept as it was. */
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

/* The adapter as it was found is written down before HNS touches it. */
static int record_switch(struct join *join, struct error *err) {
    if (journal_has(&join->journal, JOURNAL_SWITCH, join->found.plan.base_name))
        return 0;
    return journal_record(&join->journal, JOURNAL_SWITCH, join->found.plan.base_name,
                          json_pack("{s:o}", "card", nic_snapshot_json(&join->found.nic)), err);
}

static int open_firewall(struct join *join, struct error *err) {
    struct host_firewall_rule rules[FIREWALL_RULES_MAX];
    size_t count = firewall_rules(&join->found.plan, rules);
    bool there;

    for (size_t i = 0; i < count; i++)
        if (host_firewall_has(join->host, rules[i].name, &there, err) < 0 ||
            (!there &&
             journal_record(&join->journal, JOURNAL_FIREWALL, rules[i].name, NULL, err) < 0))
            return -1;
    for (size_t i = 0; i < count; i++) {
        if (host_firewall_put(join->host, &rules[i], err) < 0)
            return error_prefix(err, "firewall rule '%s'", rules[i].name);
        written_firewall(&join->journal, rules[i].name);
    }
    return 0;
}

/* A server whose firewall service is switched off must still be able to join. */
static int try_firewall(struct join *join, struct error *err) {
    if (open_firewall(join, err) == 0)
        return 0;
    if (err->kind != ERROR_HOST && err->kind != ERROR_UNSUPPORTED)
        return -1;
    join_warn(&join->progress,
              "%s: no inbound rule was made; the API server must reach TCP 10250%s", err->message,
              join->found.plan.mode->vxlan ? ", other nodes the VXLAN port" : "");
    error_clear(err);
    return 0;
}

static void describe_switch(struct join *join, const struct nic_restored *guard) {
    join_fact(&join->progress, "adapter", json_string(join->found.nic.alias));
    join_fact(&join->progress, "address", json_string(join->found.nic.address));
    join_fact(&join->progress, "outageSeconds", json_real(guard->outage_ms / 1000.0));
    text_addf(&join->progress.detail, "on \"%s\"; ", join->found.nic.alias);
    if (guard->outage_ms)
        text_addf(&join->progress.detail, "offline for %.1f s, ", guard->outage_ms / 1000.0);
    text_addf(&join->progress.detail, "%s and %zu DNS server%s %s", join->found.nic.address,
              join->found.nic.dns_servers.count, PLURAL(join->found.nic.dns_servers.count),
              guard->address_restored ? "restored" : "kept");
}

int phase_vswitch(struct join *join, struct error *err) {
    struct nic_restored guard = {0};
    struct hcn_network base = {0};

    if (host_fixes_apply(join, err) < 0 || agent_registry_apply(join, err) < 0)
        return -1;
    if (join->found.plan.agent->makes_network) {
        text_addf(&join->progress.detail, "left to %s",
                  join->found.plan.agent->service ? join->found.plan.agent->service
                                                  : "the cluster's network agent");
        return record_switch(join, err) < 0 ? -1 : try_firewall(join, err);
    }
    if (join->found.plan.mode->internal) {
        text_add(&join->progress.detail, "not needed: the pod network brings one of its own");
        return network_clash_check(join->host, &join->found.plan, err) < 0
                   ? -1
                   : try_firewall(join, err);
    }
    if (record_switch(join, err) < 0 ||
        nic_guard_ensure(join->host, &join->found.plan, &join->found.nic, on_nic, &join->progress,
                         &guard, err) < 0 ||
        hcn_network_find(join->host, join->found.plan.base_name, &base, err) < 0 ||
        try_firewall(join, err) < 0)
        return -1;
    written_network(&join->journal, &base);
    describe_switch(join, &guard);
    if (*guard.differs)
        join_warn(&join->progress, "adapter \"%s\" is not as it was before: %s",
                  join->found.nic.alias, guard.differs);
    return 0;
}
