/* Opens the client for the API server: by discovery, or with the node's own identity. */
#include "join/found/need.h"
#include "join/kubelet/kubelet_files.h"
#include "netsetup/nic/nic.h"
#include "pki/certificate.h"
#include "pki/digest.h"

/* Says how long a request is repeated while the API server is restarting or overloaded. kubeadm's
 * KubernetesAPICallTimeout is a minute; when 2,000 servers join at the same time, some requests are
 * not served within a minute (docs/benchmarks.md). */
enum { PATIENCE_MS = 90000 };

static void on_retry(void *context, const struct error *why, unsigned next_ms, unsigned left_ms) {
    struct join *join = context;
    unsigned waited_ms = (unsigned)(host_monotonic_ms(join->host) - join->progress.started_ms);

    join_tell_waiting(&join->progress, waited_ms, left_ms, "", "%s; %s%snext try in %u s",
                      why->message, why->hints[0], *why->hints[0] ? "; " : "",
                      (next_ms + 999) / 1000);
}

static void take_client(struct join *join, struct kube_client *client, bool is_node) {
    if (join->found.client.server)
        kube_client_close(&join->found.client);
    join->found.client = *client;
    join->found.client.patience_ms = PATIENCE_MS;
    join->found.client_is_node = is_node;
    join->watch.client = is_node ? &join->found.client : NULL;
}

static void on_adapter(void *context, unsigned milliseconds, const char *waiting_for) {
    join_tell_waiting(context, milliseconds, 0, "", "for %s", waiting_for);
}

/* Restores the node's adapter when a run was killed while HNS built the vSwitch, because without
 * the adapter's address no server can be reached. Does nothing when an adapter has an IPv4 address
 * and a gateway, or when adapters cannot be listed: later requests report that. */
static int restore_adapter(struct join *join, struct error *err) {
    const struct journal_entry *recorded = journal_find(&join->journal, JOURNAL_SWITCH, NULL);
    struct nic_restored guard = {0};
    _cleanup_(nic_snapshot_free) struct nic_snapshot snapshot = {0};
    _cleanup_(host_adapters_free) struct host_adapters adapters = {0};

    if (!recorded || join->found.options.dry_run ||
        host_adapters(join->host, &adapters, ERROR_IGNORED) < 0)
        return 0;
    for (size_t i = 0; i < adapters.count; i++) {
        const struct host_adapter *adapter = &adapters.items[i];

        for (size_t a = 0; adapter->gateways.count && a < adapter->addresses.count; a++)
            if (!strchr(adapter->addresses.items[a], ':') &&
                !text_starts_with(adapter->addresses.items[a], "169.254."))
                return 0;
    }
    if (nic_snapshot_read(json_object_get(recorded->before, "adapter"), &snapshot, err) < 0)
        return -1;
    return nic_restore(join->host, &snapshot, on_adapter, &join->progress, &guard, err);
}

/* Returns true when kubelet.conf belongs to the cluster that this command names: its CA has one of
 * the pins, or, without pins, its server is the endpoint. */
static bool is_joined_to(const struct join *join) {
    const struct text_list *wanted = &join->asked->discovery_token_ca_cert_hash;
    _cleanup_(certificates_free) struct certificates list = {0};
    _cleanup_(kubeconfig_free) struct kubeconfig config = {0};
    _cleanup_(text_list_free) struct text_list pins = {0};
    bool same = false;

    if (!join->was_node ||
        kubeconfig_read_file(join->host, KUBELET_KUBECONFIG_FILE, NULL, &config, ERROR_IGNORED) < 0)
        return false;
    if (!wanted->count)
        same = text_starts_with(config.server, "https://") &&
               text_equal(config.server + strlen("https://"), join->asked->endpoint);
    else if (pins_parse(wanted, &pins, ERROR_IGNORED) == 0 && config.ca_pem &&
             certificates_parse(config.ca_pem, strlen(config.ca_pem), &list, ERROR_IGNORED) == 0)
        for (size_t i = 0; i < list.count; i++)
            same |= text_list_has(&pins, list.items[i].pin);
    return same;
}

/* ---- a pause before the first request ---- */

enum { FRESH_SECONDS = 10 * 60, SPREAD_MS = 10 * 1000, LONGEST_MS = 60 * 60 * 1000 };

unsigned start_spread_longest_ms(long long given, bool unattended, const struct host_facts *facts) {
    bool fresh = facts->uptime_seconds && facts->uptime_seconds < FRESH_SECONDS;

    if (given >= 0)
        return given < LONGEST_MS ? (unsigned)given : LONGEST_MS;
    return fresh && unattended ? SPREAD_MS : 0;
}

/* ---- the client ---- */

int find_client(struct join *join, struct error *err) {
    struct join_found *found = &join->found;
    struct discovery_options options;
    struct kube_client client = {0};
    unsigned pause, longest = start_spread_longest_ms(found->options.start_spread, join->unattended,
                                                      &found->facts);

    if (found->client.server)
        return 0;
    if (restore_adapter(join, err) < 0)
        return -1;
    if (!discovery_is_asked(join->asked) &&
        host_file_type(join->host, KUBELET_KUBECONFIG_FILE) != HOST_ABSENT)
        return find_node_client(join, err);

    discovery_options_make(join->asked, &options);
    options.for_node = true;
    options.proof = CLUSTER_CONFIG_PATH;
    options.on_retry = on_retry;
    options.on_retry_context = join;
    if (!found->discovery.kubeconfig && longest) {
        pause = host_spread_ms(join->host, 0, longest);
        if (pause)
            join_tell_waiting(&join->progress, 0, pause, "",
                              "for %.1f s, so that machines that start together do not all connect "
                              "at once (--start-spread)",
                              pause / 1000.0);
        if (pause && host_sleep(join->host, pause, err) < 0)
            return -1;
    }
    if (!found->discovery.kubeconfig &&
        discovery_run(&options, join->http, join->host, &found->discovery, err) < 0) {
        /* An expired token does not matter on a machine that is already a node of this cluster. */
        if (err->kind != ERROR_DENIED || !is_joined_to(join))
            return -1;
        join_warn(&join->progress,
                  "%s: continuing with the identity of the node that this machine already is",
                  err->message);
        error_clear(err);
        return find_node_client(join, err);
    }
    for (size_t i = 0; i < found->discovery.warnings.count; i++)
        join_warn(&join->progress, "%s", found->discovery.warnings.items[i]);
    if (kube_client_open(join->http, join->host, &found->discovery.config, &client, err) < 0)
        return -1;
    take_client(join, &client, false);
    return 0;
}

int find_node_client(struct join *join, struct error *err) {
    _cleanup_(kubeconfig_free) struct kubeconfig config = {0};
    struct kube_client client = {0};

    if (join->found.client.server && join->found.client_is_node)
        return 0;
    if (kubeconfig_read_file(join->host, KUBELET_KUBECONFIG_FILE, NULL, &config, err) < 0) {
        (void)error_prefix(err, err->kind == ERROR_ABSENT ? "this machine has not joined a cluster"
                                                          : "use the node's own identity");
        return error_hint(err, "run winjoin join with a token, or winjoin status to see more");
    }
    if (kube_client_open(join->http, join->host, &config, &client, err) < 0)
        return -1;
    take_client(join, &client, true);
    return 0;
}
