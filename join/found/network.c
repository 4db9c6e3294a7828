/* Finds the network: the adapter, the version of HNS, and the plan that follows from them. */
#include "join/configuration/join_options.h"
#include "join/found/need.h"
#include "netsetup/agents/daemon_set_agent.h"
#include "netsetup/hns/hcn_network.h"
#include "netsetup/hns/hns_features.h"
#include "netsetup/netsetup.h"
#include "node/chosen.h"

static void hold(char **option, const char *asked, const char *chosen) {
    if (!asked && chosen)
        text_set(option, xstrdup(chosen));
}

/* On a joined node, the network that its join chose stays, even if the cluster's defaults differ,
 * unless this command chooses another mode or plugin. Returns true when the network stays. */
static bool keep_joined_network(struct join *join) {
    const struct network_agent *agent = join->found.cluster.network.agent;
    const struct join_options *asked = join->asked;
    struct join_options *o = &join->found.options;
    _cleanup_(chosen_free) struct chosen joined = {0};
    const struct network_input *chosen = &joined.network;

    if (asked->network_mode || asked->network_plugin ||
        chosen_load(join->host, &joined, ERROR_IGNORED) < 0)
        /* This machine has not joined, or this command chooses another network. */
        return false;
    hold(&o->network_mode, NULL, chosen->mode);
    hold(&o->network_plugin, NULL, chosen->plugin);
    hold(&o->network_name, asked->network_name, chosen->name);
    hold(&o->routes, asked->routes, chosen->routes);
    if (agent && text_equal(agent->plugin, o->network_plugin))
        /* VNI and port come from the settings of the cluster's agent. */
        return true;
    if (!asked->vni)
        o->vni = chosen->vni;
    if (!asked->vxlan_port)
        o->vxlan_port = chosen->vxlan_port;
    return true;
}

/* Makes the input of the network plan. The cluster's network agent decides plugin, mode, VNI and
 * port when the options do not. */
static void plan_input_make(struct join *join, struct network_input *ret) {
    const struct join_options *o = &join->found.options;
    const struct agent_settings *network = &join->found.cluster.network;
    const struct network_agent *agent;

    join_network_input(o, ret);
    ret->adapter = join->found.nic.alias;
    ret->cluster_pod_cidrs = join->found.cluster.pod_subnets;
    if (!o->service_cidrs.count)
        ret->service_cidrs = join->found.cluster.service_subnets.count
                                 ? join->found.cluster.service_subnets
                                 : network->service_cidrs;
    ret->management = join->found.nic.address;
    ret->management6 = *join->found.nic.address6 ? join->found.nic.address6 : NULL;
    if (!o->vni)
        ret->vni = network->vni;
    if (!o->vxlan_port)
        ret->vxlan_port = network->vxlan_port;
    ret->dns_domain = join->found.cluster.dns_domain;
    ret->dns_servers = join->found.cluster.cluster_dns;
    ret->cni_folder = join->found.containerd.conf_dir;
    ret->hns = join->found.hns;
    if (!ret->plugin && network->agent)
        ret->plugin = network->agent->plugin;
    if (network->daemon_set_agent && network->agent &&
        text_equal(ret->plugin, network->agent->plugin))
        ret->daemon_set_agent = network->daemon_set_agent->name;
    if (!ret->mode)
        ret->mode = network->mode;
    agent = network_agent_by_plugin(ret->plugin);
    if (!ret->pod_cidr && agent && agent->subnet_annotation)
        ret->pod_cidr = found_pod_prefix(&join->found, agent);
    else if (!ret->pod_cidr && join->found.node.name && !(agent && agent->pods_make_network))
        network_input_pods(&join->found.node.pod_cidrs, ret);
}

#define ALLOW_READING "winjoin config cluster --kubeconfig admin.conf | kubectl apply -f -"

/* Refuses to continue when the cluster's network agent may not be read. Otherwise the node would
 * ignore an agent that exists, or use other settings than it. A node that was granted no rights at
 * all gets a warning here, because check ClusterRights reports that. */
static int check_unread(struct join *join, const struct network_input *input, struct error *err) {
    static const char unknown[] = "which network agent the cluster runs is not known: reading its "
                                  "DaemonSets or flannel's ConfigMap is not allowed (403)";
    const struct cluster_config *c = &join->found.cluster;
    const struct network_agent *agent = network_agent_by_plugin(input->plugin);

    if (!c->network_unread || c->network.agent || input->mode)
        return 0;
    if (!input->plugin && c->unprepared) {
        join_warn(&join->progress, "%s; to allow it: " ALLOW_READING, unknown);
        return 0;
    }
    if (!input->plugin) {
        (void)error_set(err, ERROR_DENIED, "%s", unknown);
        (void)error_hint(err, "an administrator allows it: " ALLOW_READING);
        return error_hint(err,
                          "or say it: --network-plugin, and --network-mode where that has several");
    }
    if (c->unprepared || !agent || !agent->sources)
        return 0;
    (void)error_set(err, ERROR_DENIED,
                    "the mode, VNI and port of the cluster's %s are not known: reading its "
                    "ConfigMap %s is not allowed (403)",
                    agent->plugin, agent->sources->name);
    (void)error_hint(err, "an administrator allows it: " ALLOW_READING);
    return error_hint(err, "or say them: --network-mode, --vni, --vxlan-port");
}

int find_plan(struct join *join, struct error *err) {
    struct join_found *found = &join->found;
    _cleanup_(network_plan_free) struct network_plan plan = {0};
    const struct journal_entry *recorded;
    struct network_input input;
    const char *ip, *ipv6;
    bool joined;

    if (found->plan.name && (found->plan.pod_cidr_known || !found->node.name))
        return 0;
    if (find_cluster(join, err) < 0)
        return -1;
    if (!found->hns.major && hns_version_get(join->host, &found->hns, err) < 0)
        return -1;
    recorded = journal_find(&join->journal, JOURNAL_SWITCH, NULL);
    /* If the journal has the adapter of an earlier, killed run, that adapter is used: its snapshot
     * shows the adapter before any change. */
    if (!found->nic.alias &&
        (recorded
             ? nic_snapshot_read(json_object_get(recorded->before, "adapter"), &found->nic, err)
             : nic_choose(join->host, found->options.adapter, found->options.node_ip, &found->nic,
                          err)) < 0)
        return -1;
    if (find_containerd(join->host, found, err) < 0)
        return -1;
    found->cluster.network.containerd = &found->containerd;
    ip = found->options.node_ip ? found->options.node_ip : found->nic.address;
    (void)text_format(found->node_ip, sizeof found->node_ip, "%.*s", (int)strcspn(ip, "/"), ip);
    joined = keep_joined_network(join);
    plan_input_make(join, &input);
    if ((!joined && check_unread(join, &input, err) < 0) ||
        network_fit_check(&found->cluster, &found->options, &input, joined, err) < 0 ||
        network_plan_make(&input, &plan, err) < 0)
        return -1;
    /* A node that has already joined with an isolated mode continues. */
    if (plan.mode->isolated && !journal_find(&join->journal, JOURNAL_NETWORK, plan.name) &&
        !ignored_checks_have(&found->options.ignore_preflight_errors, NETWORK_MODE_CHECK)) {
        (void)error_set(err, ERROR_PREFLIGHT, "%s", plan.mode->isolated);
        return error_hint(err, NETWORK_MODE_HINT);
    }
    if (source_vip_recall(join->host, &plan, err) < 0)
        return -1;
    network_plan_free(&found->plan);
    found->plan = take_struct(plan);
    ipv6 = found->plan.ipv6.management_address;
    /* One IPv4 and one IPv6 address always fit. */
    (void)text_format(found->node_ips, sizeof found->node_ips, "%s%s%s", found->node_ip,
                      *ipv6 ? "," : "", ipv6);
    network_fit_warn(join);
    for (size_t i = 0; i < found->plan.warning_count; i++)
        join_warn(&join->progress, "%s", found->plan.warnings[i].message);
    return 0;
}

int find_remembered(struct join *join, struct error *err) {
    _cleanup_(chosen_free) struct chosen chosen = {0};
    _cleanup_(network_plan_free) struct network_plan plan = {0};
    const struct network_input *network = &chosen.network;
    struct join_found *found = &join->found;

    if (chosen_load(join->host, &chosen, err) < 0 || network_plan_make(network, &plan, err) < 0)
        return -1;
    network_plan_free(&found->plan);
    found->plan = take_struct(plan);
    (void)text_format(found->node_ip, sizeof found->node_ip, "%.*s",
                      (int)strcspn(network->management, "/"), network->management);
    text_list_free(&found->cluster.service_subnets);
    found->cluster.service_subnets = take_struct(chosen.network.service_cidrs);
    text_list_free(&found->cluster.cluster_dns);
    found->cluster.cluster_dns = take_struct(chosen.network.dns_servers);
    text_set(&found->cluster.dns_domain, xstrdup_null(network->dns_domain));
    return 0;
}
