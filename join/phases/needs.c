/* What phases need to know, fetched once: a client, the cluster, the card, the plan, the Node. */
#include <stdlib.h>
#include <string.h>

#include "base/cidr.h"
#include "base/log.h"
#include "base/memory.h"
#include "join/phases/boot_network.h"
#include "join/join.h"
#include "join/kubelet/kubelet_files.h"
#include "join/configuration/node_configuration.h"
#include "join/phases/start_spread.h"
#include "netsetup/hcn_network.h"
#include "netsetup/nic_guard.h"

/* An API server that starts again meanwhile is waited for (kubeadm: KubernetesAPICallTimeout). */
enum { PATIENCE_MS = 60000, NETWORK_FILE_MAX = 256 * 1024 };

static void on_retry(void *context, const struct error *why, unsigned next_ms, unsigned left_ms) {
    struct join *join = context;
    unsigned waited_ms = (unsigned)(host_monotonic_ms(join->host) - join->started_ms);

    join_tell_waiting(join, waited_ms, left_ms, "", "%s; next try in %u s", why->message,
                      (next_ms + 999) / 1000);
}

static void discovery_options_make(struct join *join, struct discovery_options *ret) {
    const struct join_options *o = join->options;

    *ret = (struct discovery_options){
        .endpoint = o->endpoint,
        .token = o->discovery_token ? o->discovery_token : o->token,
        .tls_bootstrap_token = o->tls_bootstrap_token ? o->tls_bootstrap_token : o->token,
        .ca_cert_hashes = &o->discovery_token_ca_cert_hash,
        .unsafe_skip_ca_verification = o->discovery_token_unsafe_skip_ca_verification,
        .file = o->discovery_file,
        .timeout_ms = (unsigned)(o->timeout ? o->timeout : o->timeouts.discovery),
        .on_retry = on_retry,
        .on_retry_context = join,
    };
}

/* true when this call was given something to discover with. */
static bool can_discover(const struct join *join) {
    const struct join_options *o = join->options;

    return o->discovery_file || o->token || o->discovery_token;
}

static void take_client(struct join *join, struct kube_client *client, bool is_node) {
    if (join->has_client)
        kube_client_close(&join->client);
    join->client = *client;
    join->client.patience_ms = PATIENCE_MS;
    join->has_client = true;
    join->client_is_node = is_node;
}

static void on_card(void *context, unsigned milliseconds, const char *waiting_for) {
    join_tell_waiting(context, milliseconds, 0, "", "for %s", waiting_for);
}

static bool has_ipv4(const struct host_adapter *adapter) {
    for (size_t i = 0; i < adapter->addresses.count; i++) {
        const char *address = adapter->addresses.items[i];
        if (!strchr(address, ':') && !text_starts_with(address, "169.254."))
            return true;
    }
    return false;
}

/* Is there a card with an address and a way out? An error says yes: what follows will tell. */
static bool has_way_out(struct host *host) {
    struct host_adapters adapters = {0};
    struct error ignored = {0};
    bool found = false;

    if (host_adapters(host, &adapters, &ignored) < 0)
        return true;
    for (size_t i = 0; i < adapters.count && !found; i++)
        found = adapters.items[i].gateways.count && has_ipv4(&adapters.items[i]);
    host_adapters_free(&adapters);
    return found;
}

/* A run killed while HNS built the vSwitch left the card without its address: no server can be
 * reached before it is back. */
static int give_card_back(struct join *join, struct error *err) {
    struct nic_guard_result guard = {0};
    struct nic_snapshot card = {0};
    int result = 0;

    if (join->options->dry_run || has_way_out(join->host))
        return 0;
    for (size_t i = 0; i < join->journal.count; i++) {
        if (join->journal.entries[i].kind != JOURNAL_SWITCH)
            continue;
        if (nic_snapshot_read(json_object_get(join->journal.entries[i].before, "card"), &card,
                              err) < 0)
            return -1;
        result = nic_guard_restore(join->host, &card, on_card, join, &guard, err);
        nic_snapshot_free(&card);
        break;
    }
    return result;
}

int join_need_client(struct join *join, struct error *err) {
    struct discovery_options options;
    struct kube_client client = {0};

    if (join->has_client)
        return 0;
    if (give_card_back(join, err) < 0)
        return -1;
    if (!can_discover(join) && host_file_type(join->host, KUBELET_KUBECONFIG_FILE) != HOST_ABSENT)
        return join_need_node_client(join, err);
    discovery_options_make(join, &options);
    if (!join->has_discovery && start_spread_wait(join, err) < 0)
        return -1;
    if (!join->has_discovery &&
        discovery_run(&options, join->http, join->host, &join->discovery, err) < 0)
        return -1;
    join->has_discovery = true;
    for (size_t i = 0; i < join->discovery.warnings.count; i++)
        join_warn(join, "%s", join->discovery.warnings.items[i]);
    if (kube_client_open(join->http, join->host, &join->discovery.config, &client, err) < 0)
        return -1;
    take_client(join, &client, false);
    return 0;
}

int join_need_node_client(struct join *join, struct error *err) {
    struct kubeconfig config = {0};
    struct kube_client client = {0};
    int result;

    if (join->has_client && join->client_is_node)
        return 0;
    if (kubeconfig_read_file(join->host, KUBELET_KUBECONFIG_FILE, &config, err) < 0) {
        (void)error_prefix(err, "use the node's own identity");
        return error_hint(err, "this node has not joined yet: run winjoin join with a token");
    }
    result = kube_client_open(join->http, join->host, &config, &client, err);
    kubeconfig_free(&config);
    if (result == 0)
        take_client(join, &client, true);
    return result;
}

int join_need_cluster(struct join *join, struct error *err) {
    if (join->has_cluster)
        return 0;
    if (join_need_client(join, err) < 0 ||
        cluster_config_read(&join->client, (unsigned)join->options->timeouts.kubernetes_api_call,
                            &join->cluster, err) < 0)
        return -1;
    join->has_cluster = true;
    for (size_t i = 0; i < join->cluster.warnings.count; i++)
        log_message(LOG_INFO, "%s", join->cluster.warnings.items[i]);
    if (join->cluster.winjoin) {
        node_configuration_apply(join->cluster.winjoin, join->options);
        if (join_options_check(join->options, err) < 0)
            return error_prefix(err, "ConfigMap kube-system/winjoin");
    }
    return 0;
}

/* A card recorded by an earlier, killed run is the truth about the host as it was found. */
static int recorded_card(struct join *join, struct error *err) {
    for (size_t i = 0; i < join->journal.count; i++)
        if (join->journal.entries[i].kind == JOURNAL_SWITCH)
            return nic_snapshot_read(json_object_get(join->journal.entries[i].before, "card"),
                                     &join->nic, err);
    return nic_choose(join->host, join->options->adapter, join->options->node_ip, &join->nic, err);
}

const char *join_node_ip(const struct join *join) {
    static char address[CIDR_TEXT_MAX];

    if (join->options->node_ip)
        return join->options->node_ip;
    (void)text_format(address, sizeof address, "%s", join->nic.address);
    address[strcspn(address, "/")] = '\0';
    return address;
}

static void remember(char **option, const json_t *file, const char *key) {
    const char *value = json_text_at(file, key);

    if (!*option && value)
        *option = xstrdup(value);
}

/* On a joined node what the join chose goes on to hold, unless this call chooses anew. */
static void take_joined_network(struct join *join) {
    struct join_options *o = join->options;
    _cleanup_(freep) char *text = NULL;
    _cleanup_json_ json_t *file = NULL;
    struct error ignored = {0};
    size_t len;

    if (o->network_mode || o->network_plugin ||
        host_read(join->host, BOOT_NETWORK_FILE, NETWORK_FILE_MAX, &text, &len, &ignored) < 0 ||
        json_read(text, len, BOOT_NETWORK_FILE, &file, &ignored) < 0)
        return; /* not joined */
    remember(&o->network_mode, file, "mode");
    remember(&o->network_plugin, file, "plugin");
    remember(&o->network_name, file, "name");
    if (!o->vni)
        o->vni = json_number_at(file, "vni", 0);
    if (!o->vxlan_port)
        o->vxlan_port = json_number_at(file, "vxlanPort", 0);
}

/* A network that cannot work is refused before the first thing is changed. The call's own VNI and
 * port stand above those of the ConfigMap. */
static int check_flannel(const struct join *join, const struct network_input *input,
                         struct error *err) {
    struct cluster_flannel flannel = join->cluster.flannel;

    if (!flannel.present || !text_equal(input->plugin, "flannel"))
        return 0;
    if (join->options->vni)
        flannel.vni = (unsigned)join->options->vni;
    if (join->options->vxlan_port)
        flannel.port = (unsigned)join->options->vxlan_port;
    return cluster_flannel_check(&flannel, err);
}

/* The cluster's flannel decides plugin, VNI and port where the call does not. */
static void plan_input_make(struct join *join, struct network_input *ret) {
    const struct join_options *o = join->options;
    const struct cluster_flannel *flannel = &join->cluster.flannel;
    bool vxlan = flannel->present && text_equal(flannel->backend_type, "vxlan");

    *ret = (struct network_input){
        .mode = o->network_mode,
        .plugin = o->network_plugin,
        .name = o->network_name,
        .adapter = join->nic.alias,
        .pod_cidr = o->pod_cidr,
        .cluster_pod_cidrs = join->cluster.pod_subnets,
        .service_cidrs = o->service_cidrs.count ? o->service_cidrs : join->cluster.service_subnets,
        .management = join->nic.address,
        .vni = o->vni  ? (unsigned)o->vni
               : vxlan ? flannel->vni
                       : 0,
        .vxlan_port = o->vxlan_port ? (unsigned)o->vxlan_port
                      : vxlan       ? flannel->port
                                    : 0,
        .dns_domain = join->cluster.dns_domain,
        .dns_servers = join->cluster.cluster_dns,
        .exclude_from_nat = o->exclude_from_nat,
        .hns = join->hns,
        .dual_stack = o->dual_stack,
        .dsr = o->dsr,
    };
    if (!ret->plugin && flannel->present)
        ret->plugin = "flannel";
    if (!ret->mode && flannel->present)
        ret->mode = vxlan ? "overlay" : "l2bridge";
    if (!ret->pod_cidr && join->has_node && join->node.pod_cidrs.count)
        ret->pod_cidr = join->node.pod_cidrs.items[0];
}

int join_need_plan(struct join *join, struct error *err) {
    struct network_plan plan = {0};
    struct network_input input;

    if (join->has_plan && (join->plan.pod_cidr_known || !join->has_node))
        return 0;
    if (join_need_cluster(join, err) < 0)
        return -1;
    if (!join->hns.major && hns_version_get(join->host, &join->hns, err) < 0)
        return -1;
    if (!join->has_nic && recorded_card(join, err) < 0)
        return -1;
    join->has_nic = true;
    take_joined_network(join);
    plan_input_make(join, &input);
    if (check_flannel(join, &input, err) < 0 || network_plan_make(&input, &plan, err) < 0)
        return -1;
    if (join->has_plan)
        network_plan_free(&join->plan);
    join->plan = plan;
    join->has_plan = true;
    for (size_t i = 0; i < plan.warning_count; i++)
        join_warn(join, "%s", plan.warnings[i].message);
    return 0;
}

int join_need_node(struct join *join, struct error *err) {
    if (join->has_node && join->node.pod_cidrs.count)
        return 0;
    if (join_need_node_client(join, err) < 0)
        return -1;
    if (join->has_node)
        kube_node_free(&join->node);
    join->has_node = false;
    if (kube_node_get(&join->client, join->node_name, &join->node, err) < 0)
        return -1;
    join->has_node = true;
    if (join->node.pod_cidrs.count || join->options->pod_cidr)
        return 0;
    (void)error_set(err, ERROR_ABSENT, "read podCIDR of node '%s': it has none yet",
                    join->node_name);
    return error_hint(err, "the controller manager gives it (--allocate-node-cidrs=true); or give "
                           "one with --pod-cidr");
}
