/* The network as it is found: the card, HNS, and the plan that follows. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "join/found/need.h"
#include "netsetup/boot_network.h"
#include "netsetup/hcn_network.h"
#include "netsetup/nic_guard.h"
#include "netsetup/hns_features.h"

enum { NETWORK_FILE_MAX = 256 * 1024 };

/* A card recorded by an earlier, killed run is the truth about the host as it was found. */
static int recorded_card(struct join *join, struct error *err) {
    for (size_t i = 0; i < join->journal.count; i++)
        if (join->journal.entries[i].kind == JOURNAL_SWITCH)
            return nic_snapshot_read(json_object_get(join->journal.entries[i].before, "card"),
                                     &join->found.nic, err);
    return nic_choose(join->host, join->found.options.adapter, join->found.options.node_ip,
                      &join->found.nic, err);
}

/* Without its prefix. */
static void take_node_ip(struct join_found *found) {
    const char *given = found->options.node_ip ? found->options.node_ip : found->nic.address;
    size_t len = strcspn(given, "/");

    (void)text_format(found->node_ip, sizeof found->node_ip, "%.*s", (int)len, given);
}

static void remember(char **option, const json_t *file, const char *key) {
    const char *value = json_text_at(file, key);

    if (!*option && value)
        *option = xstrdup(value);
}

/* On a joined node what the join chose goes on to hold, unless this call chooses anew. */
static void take_joined_network(struct join *join) {
    struct join_options *o = &join->found.options;
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
static int check_agent(const struct join *join, const struct network_input *input,
                       struct error *err) {
    struct agent_settings settings = join->found.cluster.network; /* borrowed */

    if (!settings.agent || !text_equal(input->plugin, settings.agent->plugin))
        return 0;
    if (join->found.options.vni)
        settings.vni = (unsigned)join->found.options.vni;
    if (join->found.options.vxlan_port)
        settings.vxlan_port = (unsigned)join->found.options.vxlan_port;
    return settings.agent->check_settings(&settings, err);
}

/* The cluster's network agent decides plugin, mode, VNI and port where the call does not. */
static void plan_input_make(struct join *join, struct network_input *ret) {
    const struct join_options *o = &join->found.options;
    const struct agent_settings *network = &join->found.cluster.network;

    *ret = (struct network_input){
        .mode = o->network_mode,
        .plugin = o->network_plugin,
        .name = o->network_name,
        .adapter = join->found.nic.alias,
        .pod_cidr = o->pod_cidr,
        .cluster_pod_cidrs = join->found.cluster.pod_subnets,
        .service_cidrs =
            o->service_cidrs.count ? o->service_cidrs : join->found.cluster.service_subnets,
        .management = join->found.nic.address,
        .vni = o->vni ? (unsigned)o->vni : network->vni,
        .vxlan_port = o->vxlan_port ? (unsigned)o->vxlan_port : network->vxlan_port,
        .dns_domain = join->found.cluster.dns_domain,
        .dns_servers = join->found.cluster.cluster_dns,
        .exclude_from_nat = o->exclude_from_nat,
        .hns = join->found.hns,
        .dual_stack = o->dual_stack,
        .dsr = o->dsr,
    };
    if (!ret->plugin && network->agent)
        ret->plugin = network->agent->plugin;
    if (!ret->mode)
        ret->mode = network->mode;
    if (!ret->pod_cidr && join->found.node.name && join->found.node.pod_cidrs.count)
        ret->pod_cidr = join->found.node.pod_cidrs.items[0];
}

int find_plan(struct join *join, struct error *err) {
    struct network_plan plan = {0};
    struct network_input input;

    if (join->found.plan.name && (join->found.plan.pod_cidr_known || !join->found.node.name))
        return 0;
    if (find_cluster(join, err) < 0)
        return -1;
    if (!join->found.hns.major && hns_version_get(join->host, &join->found.hns, err) < 0)
        return -1;
    if (!join->found.nic.alias && recorded_card(join, err) < 0)
        return -1;
    take_node_ip(&join->found);
    take_joined_network(join);
    plan_input_make(join, &input);
    if (check_agent(join, &input, err) < 0 || network_plan_make(&input, &plan, err) < 0)
        return -1;
    if (join->found.plan.name)
        network_plan_free(&join->found.plan);
    join->found.plan = plan;
    for (size_t i = 0; i < plan.warning_count; i++)
        join_warn(&join->progress, "%s", plan.warnings[i].message);
    return 0;
}
