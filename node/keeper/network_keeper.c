/* Keeps the Pod network while HNS and Windows restart. */
#include "node/keeper/network_keeper.h"

#include "base/log.h"
#include "host/wait.h"
#include "netsetup/agents/agent.h"
#include "netsetup/hns/hcn_network.h"
#include "netsetup/nic/nic.h"
#include "netsetup/routes/routes.h"
#include "node/chosen.h"
#include "services/service_table.h"

#define HNS_SERVICE "hns"
/* The adapter's state before the network was restored. The file exists until everything is done, so
 * that a run after a kill repeats the whole restore. */
#define ADAPTER_FILE HOST_OWN_FOLDER "\\network-adapter.json"

enum {
    LOOK_MS = 2000,
    INSPECT_MS = 30000,
    FOLLOW_AGAIN_MS = 60000,
    AGAIN_MS = 5000,
    BEGIN_MS = 20000, /* The limit at boot, when containerd waits for this service. */
    HNS_START_MS = 30000,
    HNS_DOWN_CHECKS = 5, /* Checks before winjoin starts HNS; usually the SCM restarts it. */
    /* Checks without load balancers before kube-proxy is restarted, which then deletes all. */
    EMPTY_CHECKS = 4,
    TOLD_FAILURE = 2, /* Failures in a row before a message; a new HNS may not answer yet. */
    BOOT_SECONDS = 300,
    ADAPTER_FILE_MAX = 1024 * 1024
};

/* ---- recording the network adapter ---- */

/* Records the interface that has the node's address. Under a virtual switch Windows does not list
 * the physical adapter, so nic_choose() cannot be used. */
static int record_adapter(struct network_keeper *k, const struct network_input *input,
                          struct error *err) {
    _cleanup_(host_adapters_free) struct host_adapters adapters = {0};
    _cleanup_(host_routes_free) struct host_routes routes = {0};
    const struct host_adapter *adapter;

    if (host_adapters(k->host, &adapters, err) < 0 || host_routes(k->host, &routes, err) < 0 ||
        !(adapter = nic_with(&adapters, input->management, err)))
        return -1;
    nic_snapshot_free(&k->adapter);
    nic_snapshot_take(adapter, adapter, &routes, input->management, &k->adapter);
    return 0;
}

/* ---- restoring the networks ---- */

/* When a network is missing, records the adapter before the network is made again, because HNS may
 * remove its address. *ret_again becomes true when an earlier run was killed and has left
 * ADAPTER_FILE. */
static int begin_restore(struct network_keeper *k, const struct network_input *input,
                         const struct network_plan *plan, bool *ret_again, struct error *err) {
    /* Mode nat has no base network. */
    const char *const names[] = {plan->base_name,
                                 plan->agent->pods_make_network ? NULL : plan->name};
    _cleanup_json_ json_t *left = NULL, *json = NULL;
    _cleanup_(freep) char *text = NULL;
    struct hcn_network network = {0};
    struct nic_snapshot adapter = {0};
    bool all = !k->lost;

    *ret_again = host_read_json(k->host, ADAPTER_FILE, ADAPTER_FILE_MAX, &left, NULL) == 0 &&
                 nic_snapshot_read(left, &adapter, NULL) == 0;
    if (*ret_again) {
        nic_snapshot_free(&k->adapter);
        k->adapter = adapter;
    }
    for (size_t i = 0; i < ARRAY_SIZE(names) && all; i++) {
        struct error why = {0};

        all = !names[i] || hcn_network_find(k->host, names[i], &network, &why) == 0;
        if (!all && why.kind != ERROR_ABSENT)
            return error_pass(err, &why);
    }
    if (all || *ret_again)
        return 0;
    if (!k->adapter.alias && record_adapter(k, input, err) < 0)
        return -1;
    json = nic_snapshot_json(&k->adapter);
    text = json_write(json);
    return host_write(k->host, ADAPTER_FILE, text, strlen(text), HOST_SECRET, err);
}

static int restore_networks(struct network_keeper *k, const json_t *peers,
                            struct network_restore *restore, struct error *err) {
    _cleanup_(network_plan_free) struct network_plan plan = {0};
    enum hcn_outcome base = HCN_REUSED, pods = HCN_REUSED;
    const struct nic_snapshot *adapter = &k->adapter;
    struct nic_restored guard = {0};
    struct hcn_network network = {0};
    int result;

    if (network_plan_make(restore->input, &plan, err) < 0 ||
        begin_restore(k, restore->input, &plan, &restore->made, err) < 0)
        return -1;
    if (plan.base_name && hcn_base_network_ensure(k->host, &plan, &network, &base, err) < 0)
        return -1;
    if (base != HCN_REUSED)
        text_list_add_owned(restore->did,
                            xasprintf("made the HNS network %s again", plan.base_name));
    if (adapter->alias && nic_restore(k->host, adapter, NULL, NULL, &guard, err) < 0)
        return -1;
    if (guard.address_restored)
        text_list_add_owned(restore->did,
                            xasprintf("restored %s on '%s'", adapter->address, adapter->alias));
    if (guard.routes_restored || guard.dns_restored)
        text_list_add_owned(
            restore->did, xasprintf("restored the routes and DNS servers of '%s'", adapter->alias));
    if (plan.agent->pods_make_network)
        return 0;
    result = hcn_pod_network_ensure(k->host, &plan, &network, &pods, err);
    if (pods != HCN_REUSED) {
        text_list_add_owned(restore->did, xasprintf("made the HNS network %s again", plan.name));
        restore->made = true;
    }
    return result < 0 ? -1 : node_routes_write(k->host, &plan, peers, false, err);
}

/* ---- load balancers and services on the networks ---- */

static int count_balancers(struct host *host, size_t *ret, struct error *err) {
    _cleanup_(freep) char *text = NULL;
    _cleanup_json_ json_t *ids = NULL;

    if (hcn_enumerate(host, HCN_LOAD_BALANCER, "", &text, err) < 0 ||
        json_read(text, strlen(text), "load balancers", &ids, err) < 0)
        return -1;
    *ret = json_array_size(ids);
    return 0;
}

int network_restore(struct network_keeper *k, bool booting, struct text_list *did,
                    struct error *err) {
    _cleanup_(chosen_free) struct chosen chosen = {0};
    _cleanup_json_ json_t *routes = NULL;
    struct network_restore restore = {
        .host = k->host, .input = &chosen.network, .booting = booting, .did = did};
    const char *plugin;
    const struct network_agent *agent;
    size_t count = 0;

    if (host_file_type(k->host, CHOSEN_FILE) == HOST_ABSENT)
        return 0; /* containerd starts before the join makes its network. */
    if (chosen_load(k->host, &chosen, err) < 0)
        return -1;
    plugin = chosen.network.plugin;
    agent = network_agent_by_plugin(plugin);
    routes = chosen_routes(k->host, &chosen);
    if (!agent)
        return error_set(err, ERROR_MALFORMED, "read '%s': no network plugin is called '%s'",
                         CHOSEN_FILE, plugin ? plugin : "");
    if ((!agent->makes_network && restore_networks(k, routes, &restore, err) < 0) ||
        (agent->restore && agent->restore(&restore, err) < 0) ||
        count_balancers(k->host, &count, err) < 0)
        return -1;
    /* kube-proxy does not notice that its load balancers are gone (kubernetes#135802,
     * Windows-Containers#278). */
    if ((restore.made || !count || count < k->balancers) &&
        network_restore_service(&restore, &service_kube_proxy, err) < 0)
        return -1;
    return host_remove(k->host, ADAPTER_FILE, err);
}

/* ---- event log ---- */

static void tell_restored(struct network_keeper *k, const char *why, const struct text_list *did) {
    _cleanup_(freep) char *list = text_list_join(did, ", ");
    _cleanup_(freep) char *text =
        xasprintf("%s: %s", why, did->count ? list : "nothing of the pod network was lost");

    k->tell(k->context, 'w', text);
    if (did->count)
        text_set(&k->restored, take_ptr(text));
}

static void tell_failed(struct network_keeper *k, const struct error *why) {
    _cleanup_(freep) char *text =
        xasprintf("the pod network could not be restored: %s; trying again every %d s",
                  why->message, AGAIN_MS / 1000);

    if (++k->failures == TOLD_FAILURE)
        k->tell(k->context, 'e', text);
}

/* ---- regular checks ---- */

/* Does HNS have another process than at the last check? Then all objects that were not persistent
 * are gone. Also starts HNS after it was down for several checks. */
static bool hns_has_restarted(struct network_keeper *k) {
    _cleanup_(host_service_free) struct host_service hns = {0};
    struct error why = {0};
    bool another;

    if (host_service_query(k->host, HNS_SERVICE, &hns, &why) < 0 ||
        hns.state == HOST_SERVICE_ABSENT)
        return false;
    if (hns.state != HOST_SERVICE_RUNNING || !hns.process_id) {
        if (++k->down_checks % HNS_DOWN_CHECKS == 0 &&
            host_service_start(k->host, HNS_SERVICE, HNS_START_MS, &why) < 0)
            log_message(LOG_WARNING, "%s", why.message);
        return false;
    }
    another = k->hns_process && k->hns_process != hns.process_id;
    k->hns_process = hns.process_id;
    k->down_checks = 0;
    return another;
}

static int try_restore(struct network_keeper *k, bool booting, const char *why, struct error *err) {
    _cleanup_(text_list_free) struct text_list did = {0};
    int result = network_restore(k, booting, &did, err);

    k->restore_ms = host_monotonic_ms(k->host) + AGAIN_MS;
    if (result < 0)
        return -1;
    if (k->lost || k->failures || did.count) {
        tell_restored(k, why, &did);
        k->check.news = NEWS_RESTORED;
    }
    k->lost = k->unchecked = false;
    k->failures = 0;
    return 0;
}

/* Records the adapter and counts the load balancers. */
static void inspect(struct network_keeper *k) {
    _cleanup_(chosen_free) struct chosen chosen = {0};
    _cleanup_(text_list_free) struct text_list did = {0};
    struct network_restore restore = {.host = k->host, .did = &did};
    const struct network_agent *agent;
    struct hcn_network network;
    struct error why = {0};
    size_t before = k->balancers;

    /* Values that cannot be read now do not count as lost. */
    if (chosen_load(k->host, &chosen, ERROR_IGNORED) < 0)
        return;
    (void)record_adapter(k, &chosen.network, ERROR_IGNORED);
    if (count_balancers(k->host, &k->balancers, &why) < 0)
        return;
    if (k->balancers != before)
        k->check.news = NEWS_BALANCERS;

    /* Where the first Pod makes the network, kube-proxy can program nothing before that. */
    agent = network_agent_by_plugin(chosen.network.plugin);
    if (k->balancers ||
        (agent && agent->pods_make_network &&
         hcn_network_find(k->host, chosen.network.name, &network, ERROR_IGNORED) < 0)) {
        k->empty_checks = 0;
        k->proxy_restarted = false;
        return;
    }
    if (++k->empty_checks < EMPTY_CHECKS || k->proxy_restarted)
        return;
    /* The API server may be unreachable, or there may be no Services, so kube-proxy is restarted
     * only once. */
    k->proxy_restarted = true;
    if (network_restore_service(&restore, &service_kube_proxy, &why) < 0)
        tell_failed(k, &why);
    else if (did.count)
        tell_restored(k, "HNS has no load balancers", &did);
}

static enum wait_poll poll_once(void *context, struct wait *, struct error *) {
    struct network_keeper *k = context;
    uint64_t now = host_monotonic_ms(k->host);
    struct error why = {0};

    if (hns_has_restarted(k)) {
        k->lost = k->check.hns_restarted = true;
        k->restore_ms = now;
    }
    if ((k->lost || k->failures || k->unchecked) && now >= k->restore_ms) {
        const char *reason = k->lost ? "HNS was restarted" : "winjoin-network was started";

        if (try_restore(k, false, reason, &why) < 0 && why.kind != ERROR_INTERRUPTED)
            tell_failed(k, &why);
    } else if (!k->lost && !k->failures && now >= k->inspect_ms) {
        inspect(k);
        k->inspect_ms = now + INSPECT_MS;
    }
    if (k->http)
        network_pending_update(k->host, k->http, k->booting, !k->failures && !k->lost, &k->pending);
    k->check.restored = k->restored;
    if (k->http && k->on_check)
        k->on_check(k->check_context, &k->check);
    freep(&k->restored);
    k->check = (struct network_check){0};
    return POLL_AGAIN;
}

static enum wait_poll poll_at_begin(void *context, struct wait *, struct error *err) {
    struct network_keeper *k = context;

    (void)hns_has_restarted(k);
    if (try_restore(k, true, "Windows was started", err) == 0)
        return POLL_DONE;
    return err->kind == ERROR_MALFORMED ? POLL_FAILED : POLL_AGAIN;
}

/* Restores only at boot, when no service that depends on this one runs yet. Such a service cannot
 * be restarted before this one has started, so later only network_keeper_run() restores. */
int network_keeper_begin(struct network_keeper *k, struct error *err) {
    struct wait wait = {
        .limit_ms = BEGIN_MS, .pause_ms = LOOK_MS, .poll = poll_at_begin, .context = k};
    struct host_facts facts = {0};
    struct error why = {0};

    k->booting = host_facts(k->host, &facts, ERROR_IGNORED) == 0 && facts.uptime_seconds &&
                 facts.uptime_seconds < BOOT_SECONDS;
    k->unchecked = !k->booting;
    if (k->unchecked || wait_until(k->host, &wait, &why) == POLL_DONE)
        return 0;
    if (why.kind == ERROR_INTERRUPTED)
        return error_pass(err, &why);
    k->failures = TOLD_FAILURE - 1;
    tell_failed(k, &why);
    return 0;
}

static int look_in_watch(void *context, unsigned, struct error *) {
    (void)poll_once(context, NULL, NULL);
    return 0;
}

int network_keeper_run(struct network_keeper *k, struct error *) {
    struct wait wait = {
        .limit_ms = FOLLOW_AGAIN_MS, .pause_ms = LOOK_MS, .poll = poll_once, .context = k};

    /* A first check comes before the API server is asked, which may not answer. */
    (void)poll_once(k, NULL, NULL);
    do {
        struct kube_watch others[4];
        size_t count = k->http && k->others ? k->others(k->check_context, others) : 0;
        struct error why = {0};

        if (k->http &&
            node_routes_follow(k->host, k->http, others, count, look_in_watch, k, &why) < 0 &&
            why.kind != ERROR_ABSENT)
            log_message(LOG_RETRY, "%s", why.message);
    } while (wait_until(k->host, &wait, NULL) == POLL_AGAIN);
    return 0;
}

void network_keeper_free(struct network_keeper *k) {
    nic_snapshot_free(&k->adapter);
    free(k->restored);
    *k = (struct network_keeper){0};
}
