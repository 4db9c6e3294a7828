/* The Host Networking Service's calls as sequences of its exports: open, do, close. */
#include "base/log.h"
#include "host/hcn_error.h"
#include "host/host_ops.h"

#define ZERO_GUID "00000000-0000-0000-0000-000000000000"
enum { QUESTION_MIN_MS = 1000 };
/* What upstream's programs send; properties are the same with and without a filter. */
#define QUERY_ALL "{\"SchemaVersion\":{\"Major\":2,\"Minor\":0}}"

/* The exports of one kind of object (ComputeNetwork.h). */
struct exports {
    const char *enumerate, *create, *open, *query, *modify, *close, *remove;
};

static const struct exports exports[] = {
    [HCN_NETWORK] = {"HcnEnumerateNetworks", "HcnCreateNetwork", "HcnOpenNetwork",
                     "HcnQueryNetworkProperties", "HcnModifyNetwork", "HcnCloseNetwork",
                     "HcnDeleteNetwork"},
    [HCN_ENDPOINT] = {"HcnEnumerateEndpoints", "HcnCreateEndpoint", "HcnOpenEndpoint",
                      "HcnQueryEndpointProperties", "HcnModifyEndpoint", "HcnCloseEndpoint",
                      "HcnDeleteEndpoint"},
    [HCN_NAMESPACE] = {"HcnEnumerateNamespaces", "HcnCreateNamespace", "HcnOpenNamespace",
                       "HcnQueryNamespaceProperties", "HcnModifyNamespace", "HcnCloseNamespace",
                       "HcnDeleteNamespace"},
    [HCN_LOAD_BALANCER] = {"HcnEnumerateLoadBalancers", "HcnCreateLoadBalancer",
                           "HcnOpenLoadBalancer", "HcnQueryLoadBalancerProperties",
                           "HcnModifyLoadBalancer", "HcnCloseLoadBalancer",
                           "HcnDeleteLoadBalancer"},
};

/* What changes something gets all the time: its outcome would be unknown. */
static unsigned timeout_of(struct host *host, const char *function, const char *first_argument) {
    bool asks = text_starts_with(function, "HNSCall")
                    ? text_equal(first_argument, "GET")
                    : !text_starts_with(function, "HcnCreate") &&
                          !text_starts_with(function, "HcnModify") &&
                          !text_starts_with(function, "HcnDelete");
    uint64_t now = host_monotonic_ms(host), end = now + HOST_HCN_TIMEOUT_MS;

    if (asks && host->deadline_ms && host->deadline_ms < end)
        end = host->deadline_ms > now + QUESTION_MIN_MS ? host->deadline_ms : now + QUESTION_MIN_MS;
    return (unsigned)(end - now);
}

/* One export; ret may be NULL where its result does not matter. */
static int call(struct host *host, const char *function, const char *const *arguments, size_t count,
                char **ret, struct error *err) {
    _cleanup_(freep) char *result = NULL, *record = NULL;
    uint32_t hresult = 0;

    log_message(LOG_CALL, "%s", function);
    for (size_t i = 0; i < count; i++)
        log_message(LOG_TRACE, "%s is given %s", function, arguments[i] ? arguments[i] : "nothing");
    if (host->ops->hns(host, function, arguments, count,
                       timeout_of(host, function, count ? arguments[0] : NULL), &result, &record,
                       &hresult, err) < 0)
        return -1;
    log_message(LOG_TRACE, "%s answers 0x%08x %s", function, (unsigned)hresult,
                record   ? record
                : result ? result
                         : "");
    /* HNSCall has no ErrorRecord: when it fails its response says why. */
    if (hcn_check(function, hresult, record || !(hresult & 0x80000000u) ? record : result, err) < 0)
        return -1;
    if (!ret)
        return 0;
    if (!result)
        return error_set(err, ERROR_HOST, "call %s: HNS returned an empty answer", function);
    *ret = take_ptr(result);
    return 0;
}

static void close_handle(struct host *host, enum hcn_kind kind, const char *handle) {
    (void)call(host, exports[kind].close, &handle, 1, NULL, NULL); /* nothing depends on it */
}

static int open_handle(struct host *host, enum hcn_kind kind, const char *id, char **ret,
                       struct error *err) {
    return call(host, exports[kind].open, &id, 1, ret, err);
}

/* The exports turn a text into a GUID themselves and would take a wrong one for another object. */
static int check_id(const char *id, struct error *err) {
    size_t digits = strspn(id, "0123456789abcdefABCDEF-");

    if (strlen(id) != 36 || digits != 36 || id[8] != '-' || id[13] != '-' || id[18] != '-' ||
        id[23] != '-')
        return error_set(err, ERROR_USAGE, "HNS ID '%s': not a GUID", id);
    return 0;
}

int hcn_enumerate(struct host *host, enum hcn_kind kind, const char *query, char **ret,
                  struct error *err) {
    const char *arguments[] = {query ? query : QUERY_ALL};

    return call(host, exports[kind].enumerate, arguments, 1, ret, err);
}

static int query_handle(struct host *host, enum hcn_kind kind, const char *handle,
                        const char *query, char **ret, struct error *err) {
    const char *arguments[] = {handle, query ? query : QUERY_ALL};

    return call(host, exports[kind].query, arguments, 2, ret, err);
}

int hcn_create(struct host *host, enum hcn_kind kind, const char *network, const char *id,
               const char *document, char **ret_properties, struct error *err) {
    _cleanup_(freep) char *network_handle = NULL, *handle = NULL;
    const char *arguments[3];
    size_t count = 0;
    int result;

    if (id && check_id(id, err) < 0)
        return -1;
    if (kind == HCN_ENDPOINT) {
        if (!network || check_id(network, err) < 0)
            return error_set(err, ERROR_USAGE, "create an endpoint: no network given");
        if (open_handle(host, HCN_NETWORK, network, &network_handle, err) < 0)
            return -1;
        arguments[count++] = network_handle;
    }
    arguments[count++] = id ? id : ZERO_GUID;
    arguments[count++] = document;
    result = call(host, exports[kind].create, arguments, count, &handle, err);
    if (network_handle)
        close_handle(host, HCN_NETWORK, network_handle);
    if (host_changed(host, result) < 0)
        return -1;
    result = ret_properties ? query_handle(host, kind, handle, NULL, ret_properties, err) : 0;
    close_handle(host, kind, handle);
    return result;
}

int hcn_query(struct host *host, enum hcn_kind kind, const char *id, const char *query,
              char **ret_properties, struct error *err) {
    _cleanup_(freep) char *handle = NULL;
    int result;

    if (check_id(id, err) < 0 || open_handle(host, kind, id, &handle, err) < 0)
        return -1;
    result = query_handle(host, kind, handle, query, ret_properties, err);
    close_handle(host, kind, handle);
    return result;
}

int hcn_modify(struct host *host, enum hcn_kind kind, const char *id, const char *document,
               struct error *err) {
    _cleanup_(freep) char *handle = NULL;
    const char *arguments[2];
    int result;

    if (check_id(id, err) < 0 || open_handle(host, kind, id, &handle, err) < 0)
        return -1;
    arguments[0] = handle;
    arguments[1] = document;
    result = host_changed(host, call(host, exports[kind].modify, arguments, 2, NULL, err));
    close_handle(host, kind, handle);
    return result;
}

int hcn_delete(struct host *host, enum hcn_kind kind, const char *id, struct error *err) {
    if (check_id(id, err) < 0)
        return -1;
    return host_changed(host, call(host, exports[kind].remove, &id, 1, NULL, err));
}

int hns_call(struct host *host, const char *method, const char *path, const char *request,
             char **ret_response, struct error *err) {
    const char *arguments[] = {method, path, request ? request : ""};

    return call(host, "HNSCall", arguments, 3, ret_response, err);
}
