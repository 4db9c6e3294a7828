/* Makes the host's own endpoint on bridges, which is the gateway of the node's Pods. */
#include "netsetup/modes/bridge.h"

#include "base/log.h"
#include "host/wait.h"
#include "netsetup/nic/nic.h"
#include "netsetup/plan/network_plan.h"

enum { POLL_MS = 500, ATTACH_WAIT_MS = 10000, INTERFACE_WAIT_MS = 30000 };

static bool has_address(const json_t *endpoint, const char *wanted) {
    struct ip theirs = {0}, ours = {0};
    json_each(json_object_get(endpoint, "IpConfigurations"), i, config) {
        const char *address = json_text_at(config, "IpAddress");
        if (text_equal(address, wanted) ||
            (address && ip_parse(address, &theirs, NULL) == 0 &&
             ip_parse(wanted, &ours, NULL) == 0 && ip_equal(&theirs, &ours)))
            return true;
    }
    return false;
}

/* Finds the host's endpoint by name. *ret_id stays "" when it is absent; one with other addresses
 * is deleted first. */
static int find_endpoint(struct host *host, const struct network_plan *plan,
                         const struct hcn_network *network, char *ret_id, struct error *err) {
    _cleanup_json_ json_t *list = NULL;
    if (hcn_list(host, HCN_ENDPOINT, "VirtualNetwork", network->id, &list, err) < 0)
        return -1;
    json_each(list, i, item) {
        const char *id = json_text_at(item, "ID"), *name = json_text_at(item, "Name");
        const char *address = json_text_at(item, "IpConfigurations.0.IpAddress");
        bool wanted_address = has_address(item, plan->host_endpoint);
        bool complete = !plan->ipv6.on || has_address(item, plan->ipv6.host_endpoint);
        bool wanted_name = text_equal(name, plan->host_endpoint_name);
        if (!id || (!wanted_address && !wanted_name))
            continue;
        if (wanted_address && wanted_name && complete)
            return text_format(ret_id, HCN_ID_MAX, "%s", id) < 0
                       ? error_set(err, ERROR_MALFORMED, "decode HNS endpoint: id is too long")
                       : 0;
        if (!hcn_network_is_ours(network))
            return error_set(err, ERROR_CONFLICT,
                             "endpoint '%s' (%s) exists on a network that winjoin did not make",
                             name ? name : id, address ? address : "no address");
        if (hcn_delete(host, HCN_ENDPOINT, id, err) < 0)
            return -1;
    }
    return 0;
}

struct attach {
    struct host *host;
    const char *id, *address;
};

static enum wait_poll poll_attach(void *context, struct wait *, struct error *err) {
    const struct attach *attach = context;
    if (hcn_endpoint_attach(attach->host, attach->id, err) == 0)
        return POLL_DONE;
    if (err->kind == ERROR_DENIED)
        return POLL_FAILED; /* HNS would deny it again. */
    log_message(LOG_RETRY, "%s; trying again", err->message);
    return POLL_AGAIN;
}

/* Waits for the interface, which comes up a moment after the attach. */
static enum wait_poll poll_interface(void *context, struct wait *wait, struct error *err) {
    const struct attach *attach = context;
    uint32_t index;
    if (nic_index_of(attach->host, attach->address, &index, err) == 0)
        return POLL_DONE;
    if (err->kind != ERROR_ABSENT)
        return POLL_FAILED;
    (void)error_set(err, ERROR_TIMED_OUT, "no interface has %s after %u s", attach->address,
                    wait->limit_ms / 1000);
    return POLL_AGAIN;
}

static int attach(struct host *host, const char *id, const char *address, struct error *err) {
    struct attach context = {host, id, address};
    struct wait attached = {
        .limit_ms = ATTACH_WAIT_MS, .pause_ms = POLL_MS, .poll = poll_attach, .context = &context};
    struct wait up = {.limit_ms = INTERFACE_WAIT_MS,
                      .pause_ms = POLL_MS,
                      .poll = poll_interface,
                      .context = &context};
    if (wait_until(host, &attached, err) != POLL_DONE || wait_until(host, &up, err) != POLL_DONE)
        return -1;
    return 0;
}

int bridge_complete(struct host *host, const struct network_plan *plan, struct hcn_network *network,
                    struct error *err) {
    const char *const addresses[] = {plan->management_address, plan->host_endpoint,
                                     plan->ipv6.management_address, plan->ipv6.host_endpoint};
    char id[HCN_ID_MAX] = "";
    if (find_endpoint(host, plan, network, id, err) < 0)
        return error_prefix(err, "endpoint '%s'", plan->host_endpoint_name);
    if (!*id) {
        _cleanup_json_ json_t *document = hcn_host_endpoint_json(plan, network->id), *made = NULL;
        _cleanup_(freep) char *text = json_write(document), *properties = NULL;
        if (hcn_create(host, HCN_ENDPOINT, network->id, NULL, text, &properties, err) < 0)
            return error_prefix(err, "create endpoint '%s'", plan->host_endpoint_name);
        if (json_read(properties, strlen(properties), "HNS endpoint", &made, err) < 0)
            return -1;
        const char *made_id = json_text_at(made, "ID");
        if (!made_id || text_format(id, sizeof id, "%s", made_id) < 0)
            return error_set(err, ERROR_MALFORMED, "decode HNS endpoint: no usable ID");
    }
    if (attach(host, id, plan->host_endpoint, err) < 0 ||
        (plan->ipv6.on && attach(host, id, plan->ipv6.host_endpoint, err) < 0))
        return error_prefix(err, "endpoint '%s'", plan->host_endpoint_name);
    for (size_t i = 0; i < (plan->ipv6.on ? 4 : 2); i++)
        if (forwarding_ensure(host, addresses[i], err) < 0)
            return -1;
    return 0;
}
