/* Compares HNS networks with the wanted ones, and replaces or removes only winjoin's own. */
#include "netsetup/hns/hcn_network.h"

#include "base/log.h"
#include "netsetup/modes/mode.h"

#define HCN_E_ENDPOINT_ALREADY_ATTACHED 0x803b0014u /* An HRESULT from ComputeNetwork.h. */

/* Deletes an object; an absent one is success. */
static int delete_object(struct host *host, enum hcn_kind kind, const char *id, struct error *err) {
    struct error delete_err = {0};
    if (!id || hcn_delete(host, kind, id, &delete_err) == 0 || delete_err.kind == ERROR_ABSENT)
        return 0;
    return error_pass(err, &delete_err);
}

static bool balancer_uses(const json_t *balancer, const json_t *endpoints) {
    json_each(json_object_get(balancer, "HostComputeEndpoints"), i, used) {
        json_each(endpoints, j, endpoint) {
            const char *id = json_text_at(endpoint, "ID");
            if (id && json_is_string(used) && text_equal_nocase(id, json_string_value(used)))
                return true;
        }
    }
    return false;
}

/* Deletes a network with its endpoints and their load balancers. The load balancers go first,
 * because HNS does not delete an object that others reference. */
static int delete_network(struct host *host, const char *id, struct error *err) {
    _cleanup_json_ json_t *endpoints = NULL, *balancers = NULL;
    if (hcn_list(host, HCN_ENDPOINT, "VirtualNetwork", id, &endpoints, err) < 0 ||
        hcn_list(host, HCN_LOAD_BALANCER, NULL, NULL, &balancers, err) < 0)
        return -1;
    json_each(balancers, i, item)
        if (balancer_uses(item, endpoints) &&
            delete_object(host, HCN_LOAD_BALANCER, json_text_at(item, "ID"), err) < 0)
            return error_prefix(err, "delete load balancer");
    json_each(endpoints, i, item)
        if (delete_object(host, HCN_ENDPOINT, json_text_at(item, "ID"), err) < 0)
            return error_prefix(err, "delete endpoint");
    return delete_object(host, HCN_NETWORK, id, err);
}

/* Does the network have the wanted properties? An IPv6 subnet that is no longer wanted may stay,
 * since no Pod gets an address from it. */
bool hcn_network_serves(const struct hcn_network *found, const struct hcn_network *wanted) {
    bool adapters_known = *found->adapter && *wanted->adapter;
    return text_equal_nocase(found->type, wanted->type) &&
           text_equal(found->subnet, wanted->subnet) &&
           text_equal(found->gateway, wanted->gateway) && found->vsid == wanted->vsid &&
           (!adapters_known || text_equal_nocase(found->adapter, wanted->adapter)) &&
           (!*wanted->subnet6 || (text_equal(found->subnet6, wanted->subnet6) &&
                                  text_equal(found->gateway6, wanted->gateway6)));
}

static bool has_policy(const json_t *network, const json_t *policy) {
    json_each(json_object_get(network, "Policies"), i, item) {
        json_t *settings = json_object_get(item, "Settings");
        json_t *wanted = json_object_get(policy, "Settings");
        bool equal = json_equal(settings, wanted) ||
                     (json_object_size(wanted) == 0 && json_object_size(settings) == 0);
        if (equal && text_equal_nocase(json_text_at(item, "Type"), json_text_at(policy, "Type")))
            return true;
    }
    return false;
}

static int add_missing_policies(struct host *host, const char *name, const json_t *policies,
                                struct hcn_network *network, struct error *err) {
    _cleanup_json_ json_t *json = NULL;
    bool added = false;
    if (hcn_network_find_json(host, name, network, &json, err) < 0)
        return -1;
    json_each(policies, i, policy) {
        if (has_policy(json, policy))
            continue;
        _cleanup_json_ json_t *request = hcn_modify_policy_json(true, json_incref(policy));
        _cleanup_(freep) char *text = json_write(request);
        struct error why = {0};
        /* On a conflict the policy is already there, but this HNS does not list it. */
        if (hcn_modify(host, HCN_NETWORK, network->id, text, &why) < 0 &&
            why.kind != ERROR_CONFLICT) {
            (void)error_pass(err, &why);
            return error_prefix(err, "add policy '%s'", json_text_at(policy, "Type"));
        }
        added = true;
    }
    return added ? hcn_network_find(host, name, network, err) : 0;
}

/* Hints for errors of HNS that users see (HRESULTs of ComputeNetwork.h). */
static const struct {
    uint32_t hresult;
    const char *hint;
} create_hints[] = {
    {0x803b0006, "HNS does not know this adapter: give the physical adapter's name with --adapter"},
    {0x803b0018, "another HNS network uses the adapter's virtual switch in another mode: remove "
                 "that network, or join with its mode"},
    {0x80070005, "HNS requires an elevated process"},
    {0x800706ba, "the service 'hns' is not running: sc.exe start hns"},
    {0x800706d9, "the service 'hns' is not running: sc.exe start hns"},
    {0x803b0020, "the service 'hns' is stopping: sc.exe start hns"},
    {0x80070032, "this Windows does not support this network: see winjoin capabilities"},
};

/* Creates a network. After a lost answer or a conflict the network may exist nevertheless, so it is
 * looked up before the call fails. */
static int create_network(struct host *host, const json_t *document,
                          const struct hcn_network *wanted, struct error *err) {
    _cleanup_(freep) char *text = json_write(document);
    _cleanup_(freep) char *properties = NULL;
    struct hcn_network found = {0};
    struct error create_err = {0};
    if (hcn_create(host, HCN_NETWORK, NULL, NULL, text, &properties, &create_err) == 0)
        return 0;
    if ((create_err.kind == ERROR_CONFLICT || create_err.kind == ERROR_TIMED_OUT) &&
        hcn_network_find(host, wanted->name, &found, NULL) == 0 &&
        hcn_network_serves(&found, wanted)) {
        log_message(LOG_INFO, "create HNS network '%s': %s, although the network was made",
                    wanted->name, create_err.message);
        return 0;
    }
    (void)error_pass(err, &create_err);
    for (size_t i = 0; i < ARRAY_SIZE(create_hints); i++)
        if (create_hints[i].hresult == create_err.os)
            (void)error_hint(err, "%s", create_hints[i].hint);
    return error_prefix(err, "create HNS network '%s'", wanted->name);
}

int hcn_network_ensure(struct host *host, const json_t *document, const json_t *policies,
                       struct hcn_network *ret, enum hcn_outcome *ret_outcome, struct error *err) {
    struct hcn_network wanted = {0}, found = {0};
    struct error find_err = {0};
    enum hcn_outcome outcome = HCN_CREATED;
    if (hcn_network_parse(document, &wanted, err) < 0)
        return -1;
    if (hcn_network_find(host, wanted.name, &found, &find_err) == 0) {
        outcome = hcn_network_serves(&found, &wanted) ? HCN_REUSED : HCN_REPLACED;
        if (outcome == HCN_REPLACED && !hcn_network_is_ours(&found)) {
            (void)error_set(err, ERROR_CONFLICT,
                            "HNS network '%s' already exists and is different: %s %s, not %s %s",
                            found.name, found.type, found.subnet, wanted.type, wanted.subnet);
            return error_hint(
                err,
                "winjoin did not make it%s%s: hnsdiag delete networks %s, or choose another "
                "--network-name",
                *found.owner ? " but " : "", found.owner, found.id);
        }
        if (outcome == HCN_REPLACED && delete_network(host, found.id, err) < 0)
            return error_prefix(err, "replace HNS network '%s'", found.name);
    } else if (find_err.kind != ERROR_ABSENT) {
        return error_pass(err, &find_err);
    }
    if (outcome != HCN_REUSED && create_network(host, document, &wanted, err) < 0)
        return -1;
    if (add_missing_policies(host, wanted.name, policies, &found, err) < 0)
        return error_prefix(err, "HNS network '%s'", wanted.name);
    *ret = found;
    if (ret_outcome)
        *ret_outcome = outcome;
    return 0;
}

int hcn_base_network_ensure(struct host *host, const struct network_plan *plan,
                            struct hcn_network *ret, enum hcn_outcome *ret_outcome,
                            struct error *err) {
    _cleanup_json_ json_t *document = hcn_base_network_json(plan);
    return hcn_network_ensure(host, document, NULL, ret, ret_outcome, err);
}

int hcn_pod_network_ensure(struct host *host, const struct network_plan *plan,
                           struct hcn_network *ret, enum hcn_outcome *ret_outcome,
                           struct error *err) {
    struct hcn_network network = {0};
    enum hcn_outcome outcome = HCN_REUSED;
    if (!plan->pod_cidr_known)
        return error_set(err, ERROR_USAGE, "make the pod network: the pod prefix is not known");
    _cleanup_json_ json_t *document = hcn_pod_network_json(plan);
    _cleanup_json_ json_t *policies = hcn_network_policies_json(plan);
    if (hcn_network_ensure(host, document, policies, &network, &outcome, err) < 0)
        return -1;
    if (plan->mode->complete && plan->mode->complete(host, plan, &network, err) < 0)
        return -1;
    *ret = network;
    if (ret_outcome)
        *ret_outcome = outcome;
    return 0;
}

/* Removes a network and the namespaces of the Pods that have endpoints in it. */
static int remove_network(struct host *host, const char *network_id, struct error *err) {
    _cleanup_json_ json_t *endpoints = NULL, *namespaces = NULL;
    _cleanup_(text_list_free) struct text_list gone = {0};
    if (hcn_list(host, HCN_ENDPOINT, "VirtualNetwork", network_id, &endpoints, err) < 0 ||
        hcn_list(host, HCN_NAMESPACE, NULL, NULL, &namespaces, err) < 0)
        return -1;
    json_each(namespaces, i, space) {
        const char *id = json_text_at(space, "ID");
        /* HostDefault is Windows' own namespace, which holds the host's endpoints. */
        if (!id || text_equal(json_text_at(space, "Type"), "HostDefault"))
            continue;
        json_each(endpoints, k, endpoint) {
            const char *in = json_text_at(endpoint, "HostComputeNamespace");
            if (in && text_equal_nocase(in, id) && !text_list_has(&gone, id))
                text_list_add(&gone, id);
        }
    }
    if (delete_network(host, network_id, err) < 0)
        return -1;
    for (size_t i = 0; i < gone.count; i++)
        if (delete_object(host, HCN_NAMESPACE, gone.items[i], err) < 0)
            return error_prefix(err, "delete a pod's namespace");
    return 0;
}

int hcn_network_remove(struct host *host, const char *name, bool only_ours, bool *ret_removed,
                       struct error *err) {
    struct hcn_network network = {0};
    struct error find_err = {0};
    bool removed = false;
    if (hcn_network_find(host, name, &network, &find_err) < 0) {
        if (find_err.kind != ERROR_ABSENT)
            return error_pass(err, &find_err);
    } else if (!only_ours || hcn_network_is_ours(&network)) {
        if (remove_network(host, network.id, err) < 0)
            return error_prefix(err, "remove HNS network '%s'", name);
        removed = true;
    }
    if (ret_removed)
        *ret_removed = removed;
    return 0;
}

int hcn_endpoint_attach(struct host *host, const char *id, struct error *err) {
    _cleanup_json_ json_t *request = hcn_host_attach_json();
    _cleanup_(freep) char *text = json_write(request);
    _cleanup_(freep) char *path = xasprintf("/endpoints/%s/attach", id);
    _cleanup_(freep) char *response = NULL;
    _cleanup_json_ json_t *json = NULL;
    if (hns_call(host, "POST", path, text, &response, err) < 0)
        return err->os == HCN_E_ENDPOINT_ALREADY_ATTACHED ? 0 : -1;
    if (json_read(response, strlen(response), "HNS answer", &json, err) < 0)
        return -1;
    if (json_bool_at(json, "Success", false))
        return 0;
    const char *why = json_text_or(json, "Error", "no reason");
    if (strstr(why, "already attached") ||
        json_number_at(json, "ErrorCode", 0) == HCN_E_ENDPOINT_ALREADY_ATTACHED)
        return 0;
    return error_set(err, ERROR_HOST, "attach endpoint to the host: %s", why);
}
