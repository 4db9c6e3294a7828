/* Chooses the source VIP's address and reserves it in the store of host-local. */
#include "netsetup/netsetup.h"

#include "netsetup/agents/agent.h"
#include "netsetup/modes/mode.h"
#include "netsetup/plugins/cni_plugin.h"

enum { RESERVATION_MAX = 4096 };
/* The content of a reservation in host-local's form: container id, line break, interface name. */
#define RESERVATION "winjoin\r\nsource-vip"

const char *source_vip_reserved(const struct network_plan *plan) {
    const struct cni_plugin *cni = cni_plugin_by_name(plan->cni_plugin);
    if (plan->mode->source_vip)
        return plan->source_vip;
    return cni && cni->drops_ranges && !plan->ipv6.on && plan->host_endpoint_name
               ? plan->host_endpoint
               : NULL;
}

/* Returns the path of a reservation, a file named after the address. */
static char *place_of(const char *network, const char *address) {
    return xasprintf("%s\\%s\\%s", CNI_STATE_DIR, network, address);
}

/* Lists the reserved addresses. A missing store is empty. A store that an untrusted user has
 * written to is refused. */
static int list_store(struct host *host, const char *network, struct text_list *ret,
                      struct error *err) {
    _cleanup_(freep) char *folder = xasprintf("%s\\%s", CNI_STATE_DIR, network);
    _cleanup_(text_list_free) struct text_list names = {0};
    struct ip ip;
    if (host_refuse_untrusted_in(host, folder, err) < 0)
        return -1;
    if (host_list(host, folder, &names, err) < 0)
        return error_forgive(err, ERROR_ABSENT);
    for (size_t i = 0; i < names.count; i++)
        /* A name that is no address is lock or last_reserved_ip.0. */
        if (ip_parse(names.items[i], &ip, NULL) == 0)
            text_list_add(ret, names.items[i]);
    return 0;
}

static int is_ours(struct host *host, const char *path, bool *ret, struct error *err) {
    _cleanup_(freep) char *content = NULL;
    size_t len = 0;
    if (host_read(host, path, RESERVATION_MAX, &content, &len, err) < 0)
        return -1;
    *ret = text_equal(content, RESERVATION);
    return 0;
}

/* Removes winjoin's reservations except the one of `keep` (NULL means all). */
static int release(struct host *host, const char *network, const char *keep, struct error *err) {
    _cleanup_(text_list_free) struct text_list reserved = {0};
    if (list_store(host, network, &reserved, err) < 0)
        return -1;
    for (size_t i = 0; i < reserved.count; i++) {
        _cleanup_(freep) char *path = place_of(network, reserved.items[i]);
        bool ours = false;
        if (!text_equal(reserved.items[i], keep) &&
            (is_ours(host, path, &ours, err) < 0 || (ours && host_remove(host, path, err) < 0)))
            return -1;
    }
    return 0;
}

int source_vip_ensure(struct host *host, const struct network_plan *plan, struct error *err) {
    const char *reserved = source_vip_reserved(plan);
    if (!reserved)
        return 0;
    if (!plan->pod_cidr_known || text_equal(plan->source_vip, SOURCE_VIP_UNKNOWN))
        return error_set(err, ERROR_USAGE, "reserve source VIP: the pod prefix is not known");
    _cleanup_(freep) char *path = place_of(plan->name, reserved);
    struct error read_err = {0};
    bool ours;
    if (release(host, plan->name, reserved, err) < 0)
        return error_prefix(err, "reserve source VIP");
    if (is_ours(host, path, &ours, &read_err) == 0) {
        if (ours)
            return 0;
        (void)error_set(err, ERROR_CONFLICT,
                        "address '%s' is already reserved in '%s' by another container", reserved,
                        path);
        return error_hint(err,
                          "a pod of an earlier installation has it: remove that pod or the file");
    }
    if (read_err.kind != ERROR_ABSENT)
        return error_pass(err, &read_err);
    if (host_write(host, path, RESERVATION, strlen(RESERVATION), HOST_PUBLIC, err) < 0)
        return error_prefix(err, "reserve source VIP");
    return 0;
}

int source_vip_remove(struct host *host, const char *network_name, struct error *err) {
    if (release(host, network_name, NULL, err) < 0)
        return error_prefix(err, "release source VIP");
    return 0;
}

static bool is_in(const struct cidr *pods, const char *address, struct ip *ret) {
    return address && ip_parse(address, ret, NULL) == 0 && cidr_contains(pods, ret);
}

int ipam_stale_remove(struct host *host, const struct network_plan *plan, struct error *err) {
    _cleanup_(text_list_free) struct text_list reserved = {0};
    struct cidr pods = {0};
    if (!plan->pod_cidr_known)
        return 0;
    if (cidr_parse(plan->pod_cidr, &pods, err) < 0 ||
        list_store(host, plan->name, &reserved, err) < 0)
        return -1;
    for (size_t i = 0; i < reserved.count; i++) {
        _cleanup_(freep) char *path = place_of(plan->name, reserved.items[i]);
        struct ip ip;
        if (!is_in(&pods, reserved.items[i], &ip) && host_remove(host, path, err) < 0)
            return error_prefix(err, "remove stale reservation");
    }
    return 0;
}

/* ---- agents that let HNS choose the source VIP ---- */

int source_vip_recall(struct host *host, struct network_plan *plan, struct error *err) {
    _cleanup_(text_list_free) struct text_list reserved = {0};
    struct cidr pods = {0};
    if (!plan->agent->source_vip_endpoint || cidr_parse(plan->pod_cidr, &pods, NULL) < 0)
        return 0;
    if (list_store(host, plan->name, &reserved, err) < 0)
        return -1;
    for (size_t i = 0; i < reserved.count; i++) {
        _cleanup_(freep) char *path = place_of(plan->name, reserved.items[i]);
        bool ours = false;
        struct ip ip;
        if (is_in(&pods, reserved.items[i], &ip) && is_ours(host, path, &ours, err) < 0)
            return -1;
        if (ours)
            ip_format(&ip, plan->source_vip);
    }
    return 0;
}

static int find_endpoint(struct host *host, const struct network_plan *plan, const char *network_id,
                         json_t **ret, struct error *err) {
    _cleanup_json_ json_t *list = NULL;
    if (hcn_list(host, HCN_ENDPOINT, "VirtualNetwork", network_id, &list, err) < 0)
        return -1;
    json_each(list, i, item) {
        if (text_equal(json_text_at(item, "Name"), plan->agent->source_vip_endpoint)) {
            *ret = json_incref(item);
            break;
        }
    }
    return 0;
}

static int create_endpoint(struct host *host, const struct network_plan *plan,
                           const char *network_id, struct error *err) {
    _cleanup_json_ json_t *request =
        json_pack("{s:s,s:[],s:s}", "VirtualNetwork", network_id, "Policies", "Name",
                  plan->agent->source_vip_endpoint);
    _cleanup_(freep) char *text = json_write(request);
    _cleanup_(freep) char *response = NULL;
    _cleanup_json_ json_t *json = NULL;
    if (hns_call(host, "POST", "/endpoints/", text, &response, err) < 0 ||
        json_read(response, strlen(response), "HNS answer", &json, err) < 0)
        return -1;
    return json_bool_at(json, "Success", false)
               ? 0
               : error_set(err, ERROR_HOST, "HNS refuses it: %s",
                           json_text_or(json, "Error", "no reason"));
}

int source_vip_choose(struct host *host, struct network_plan *plan,
                      const struct hcn_network *network, struct error *err) {
    const char *name = plan->agent->source_vip_endpoint;
    _cleanup_json_ json_t *endpoint = NULL;
    struct cidr pods = {0};
    struct ip ip = {0};
    if (source_vip_recall(host, plan, err) < 0)
        return -1;
    if (!name || !text_equal(plan->source_vip, SOURCE_VIP_UNKNOWN))
        return 0;
    if (find_endpoint(host, plan, network->id, &endpoint, err) < 0 ||
        (!endpoint && (create_endpoint(host, plan, network->id, err) < 0 ||
                       find_endpoint(host, plan, network->id, &endpoint, err) < 0)))
        return error_prefix(err, "endpoint '%s'", name);
    const char *id = json_text_at(endpoint, "ID");
    if (!id)
        return error_set(err, ERROR_MALFORMED, "endpoint '%s': HNS does not have it", name);
    if (hcn_endpoint_attach(host, id, err) < 0 || cidr_parse(plan->pod_cidr, &pods, err) < 0)
        return -1;
    const char *address = json_text_at(endpoint, "IpConfigurations.0.IpAddress");
    if (!is_in(&pods, address, &ip))
        return error_set(err, ERROR_MALFORMED,
                         "HNS gave endpoint '%s' the address '%.60s', not one of %s", name,
                         address ? address : "", plan->pod_cidr);
    ip_format(&ip, plan->source_vip);
    return 0;
}
