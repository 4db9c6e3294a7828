/* Finds what winjoin made and the journal does not have: services, HNS networks and firewall rules
 * with winjoin's mark. */
#include "join/undo/journal.h"

#include "netsetup/netsetup.h"
#include "netsetup/hns/hcn_network.h"
#include "netsetup/nic/nic.h"
#include "netsetup/plan/network_plan.h"
#include "services/service_table.h"

enum { HNS_MS = 5000 };

struct search {
    struct journal *journal;
    bool record;
    unrecorded_found *found;
    void *context;
};

/* Handles a thing that was found. Takes over `before`. */
static int report_found(const struct search *search, enum journal_kind kind, const char *target,
                        json_t *before, struct error *err) {
    if (search->found)
        search->found(search->context, kind, target);
    if (search->record)
        return journal_record(search->journal, kind, target, before, err);
    json_decref(before);
    return 0;
}

/* Reports a virtual switch, which Windows removes together with its last network. After the undo,
 * the adapter gets its present settings back. */
static int found_switch(const struct search *search, const char *name, struct error *err) {
    struct nic_snapshot snapshot = {0};
    json_t *before;

    if (!search->record)
        return report_found(search, JOURNAL_SWITCH, name, NULL, err);
    if (nic_choose(search->journal->host, NULL, NULL, &snapshot, err) < 0)
        return error_prefix(err, "network '%s', which is not in the journal", name);
    before = json_pack("{s:o}", "adapter", nic_snapshot_json(&snapshot));
    nic_snapshot_free(&snapshot);
    return report_found(search, JOURNAL_SWITCH, name, before, err);
}

int unrecorded_find(struct journal *journal, bool record, unrecorded_found *found, void *context,
                    struct error *err) {
    const struct search search = {journal, record, found, context};
    _cleanup_(text_list_free) struct text_list rules = {0};
    _cleanup_json_ json_t *networks = NULL;
    uint64_t before = host_set_limit(journal->host, HNS_MS);
    bool base = journal_find(journal, JOURNAL_SWITCH, NETWORK_BASE_NAME);
    struct hcn_network network;

    (void)hcn_list(journal->host, HCN_NETWORK, NULL, NULL, &networks, ERROR_IGNORED);
    host_set_deadline(journal->host, before);
    json_each(networks, i, document) {
        if (base || hcn_network_parse(document, &network, ERROR_IGNORED) < 0 ||
            !hcn_network_is_ours(&network) || !text_equal(network.name, NETWORK_BASE_NAME))
            continue;
        base = true;
        if (found_switch(&search, network.name, err) < 0)
            return -1;
    }

    firewall_names(&rules);
    for (size_t i = 0; i < rules.count; i++) {
        bool there = false;

        if (host_firewall_has(journal->host, rules.items[i], &there, err) < 0)
            return -1;
        if (there && !journal_find(journal, JOURNAL_FIREWALL, rules.items[i]) &&
            report_found(&search, JOURNAL_FIREWALL, rules.items[i], NULL, err) < 0)
            return -1;
    }
    /* Without a base network, each other network has its own virtual switch. */
    json_each(networks, i, document) {
        if (hcn_network_parse(document, &network, ERROR_IGNORED) == 0 &&
            hcn_network_is_ours(&network) &&
            !journal_find(journal, JOURNAL_NETWORK, network.name) &&
            !journal_find(journal, JOURNAL_SWITCH, network.name) &&
            !text_equal(network.name, NETWORK_BASE_NAME) &&
            (base ? report_found(&search, JOURNAL_NETWORK, network.name, NULL, err)
                  : found_switch(&search, network.name, err)) < 0)
            return -1;
    }

    for (const struct service *const *row = service_table; *row; row++) {
        _cleanup_(host_service_free) struct host_service service = {0};

        if (host_service_query(journal->host, (*row)->name, &service, err) < 0)
            return -1;
        if (service_is_ours(&service) && !journal_find(journal, JOURNAL_SERVICE, (*row)->name) &&
            report_found(&search, JOURNAL_SERVICE, (*row)->name, NULL, err) < 0)
            return -1;
    }
    return 0;
}
