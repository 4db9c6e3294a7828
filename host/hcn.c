/* Calls the Host Networking Service (HNS): each operation is a sequence of calls of exported
 * functions (open, act, close). Result codes (HRESULTs of ComputeNetwork.h and winerror.h) become
 * kinds of errors. */
#include "base/json.h"
#include "base/log.h"
#include "host/host_ops.h"

struct code {
    uint32_t hresult;
    enum error_kind kind;
    /* Symbolic name or description of the code; used as reason when HNS gives none. */
    const char *name;
};

static const struct code codes[] = {
    {0x803b0001, ERROR_ABSENT, "HCN_E_NETWORK_NOT_FOUND"},
    {0x803b0002, ERROR_ABSENT, "HCN_E_ENDPOINT_NOT_FOUND"},
    {0x803b0003, ERROR_ABSENT, "HCN_E_LAYER_NOT_FOUND"},
    {0x803b0004, ERROR_ABSENT, "HCN_E_SWITCH_NOT_FOUND"},
    {0x803b0005, ERROR_ABSENT, "HCN_E_SUBNET_NOT_FOUND"},
    {0x803b0006, ERROR_ABSENT, "HCN_E_ADAPTER_NOT_FOUND"},
    {0x803b0007, ERROR_ABSENT, "HCN_E_PORT_NOT_FOUND"},
    {0x803b0008, ERROR_ABSENT, "HCN_E_POLICY_NOT_FOUND"},
    {0x803b0009, ERROR_ABSENT, "HCN_E_VFP_PORTSETTING_NOT_FOUND"},
    {0x803b000a, ERROR_HOST, "HCN_E_INVALID_NETWORK"},
    {0x803b000b, ERROR_HOST, "HCN_E_INVALID_NETWORK_TYPE"},
    {0x803b000c, ERROR_HOST, "HCN_E_INVALID_ENDPOINT"},
    {0x803b000d, ERROR_HOST, "HCN_E_INVALID_POLICY"},
    {0x803b000e, ERROR_UNSUPPORTED, "HCN_E_INVALID_POLICY_TYPE"},
    {0x803b000f, ERROR_HOST, "HCN_E_INVALID_REMOTE_ENDPOINT_OPERATION"},
    {0x803b0010, ERROR_CONFLICT, "HCN_E_NETWORK_ALREADY_EXISTS"},
    {0x803b0011, ERROR_CONFLICT, "HCN_E_LAYER_ALREADY_EXISTS"},
    {0x803b0012, ERROR_CONFLICT, "HCN_E_POLICY_ALREADY_EXISTS"},
    {0x803b0013, ERROR_CONFLICT, "HCN_E_PORT_ALREADY_EXISTS"},
    {0x803b0014, ERROR_CONFLICT, "HCN_E_ENDPOINT_ALREADY_ATTACHED"},
    {0x803b0015, ERROR_UNSUPPORTED, "HCN_E_REQUEST_UNSUPPORTED"},
    {0x803b0016, ERROR_UNSUPPORTED, "HCN_E_MAPPING_NOT_SUPPORTED"},
    {0x803b0017, ERROR_HOST, "HCN_E_DEGRADED_OPERATION"},
    {0x803b0018, ERROR_HOST, "HCN_E_SHARED_SWITCH_MODIFICATION"},
    {0x803b0019, ERROR_HOST, "HCN_E_GUID_CONVERSION_FAILURE"},
    {0x803b001a, ERROR_HOST, "HCN_E_REGKEY_FAILURE"},
    {0x803b001b, ERROR_HOST, "HCN_E_INVALID_JSON"},
    {0x803b001c, ERROR_HOST, "HCN_E_INVALID_JSON_REFERENCE"},
    {0x803b001d, ERROR_HOST, "HCN_E_ENDPOINT_SHARING_DISABLED"},
    {0x803b001e, ERROR_HOST, "HCN_E_INVALID_IP"},
    {0x803b001f, ERROR_ABSENT, "HCN_E_SWITCH_EXTENSION_NOT_FOUND"},
    {0x803b0020, ERROR_HOST, "HCN_E_MANAGER_STOPPED"},
    {0x803b0021, ERROR_ABSENT, "GCN_E_MODULE_NOT_FOUND"},
    {0x803b0022, ERROR_HOST, "GCN_E_NO_REQUEST_HANDLERS"},
    {0x803b0023, ERROR_UNSUPPORTED, "GCN_E_REQUEST_UNSUPPORTED"},
    {0x803b0024, ERROR_HOST, "GCN_E_RUNTIMEKEYS_FAILED"},
    {0x803b0025, ERROR_TIMED_OUT, "GCN_E_NETADAPTER_TIMEOUT"},
    {0x803b0026, ERROR_ABSENT, "GCN_E_NETADAPTER_NOT_FOUND"},
    {0x803b0027, ERROR_ABSENT, "GCN_E_NETCOMPARTMENT_NOT_FOUND"},
    {0x803b0028, ERROR_ABSENT, "GCN_E_NETINTERFACE_NOT_FOUND"},
    {0x803b0029, ERROR_CONFLICT, "GCN_E_DEFAULTNAMESPACE_EXISTS"},
    {0x803b002a, ERROR_HOST, "HCN_E_ICS_DISABLED"},
    {0x803b002b, ERROR_CONFLICT, "HCN_E_ENDPOINT_NAMESPACE_ALREADY_EXISTS"},
    {0x803b002c, ERROR_CONFLICT, "HCN_E_ENTITY_HAS_REFERENCES"},
    {0x803b002d, ERROR_HOST, "HCN_E_INVALID_INTERNAL_PORT"},
    {0x803b002e, ERROR_HOST, "HCN_E_NAMESPACE_ATTACH_FAILED"},
    {0x803b002f, ERROR_HOST, "HCN_E_ADDR_INVALID_OR_RESERVED"},
    {0x803b0030, ERROR_HOST, "HCN_E_INVALID_PREFIX"},
    {0x803b0031, ERROR_HOST, "HCN_E_OBJECT_USED_AFTER_UNLOAD"},
    {0x803b0032, ERROR_HOST, "HCN_E_INVALID_SUBNET"},
    {0x803b0033, ERROR_HOST, "HCN_E_INVALID_IP_SUBNET"},
    {0x803b0034, ERROR_HOST, "HCN_E_ENDPOINT_NOT_ATTACHED"},
    {0x803b0035, ERROR_HOST, "HCN_E_ENDPOINT_NOT_LOCAL"},
    {0x803b0036, ERROR_CONFLICT, "HCN_INTERFACEPARAMETERS_ALREADY_APPLIED"},
    {0x803b0037, ERROR_UNSUPPORTED, "HCN_E_VFP_NOT_ALLOWED"},
    {0x80070490, ERROR_ABSENT, "element not found"},
    {0x80071392, ERROR_CONFLICT, "the object already exists"},
    {0x800700b7, ERROR_CONFLICT, "it already exists"},
    {0x80070005, ERROR_DENIED, "access is denied"},
    {0x80070032, ERROR_UNSUPPORTED, "the request is not supported"},
    {0x80004001, ERROR_UNSUPPORTED, "not implemented"},
    {0x80070057, ERROR_HOST, "a parameter is not valid"},
    {0x800706ba, ERROR_HOST, "the hns service does not respond"},
    {0x800706d9, ERROR_HOST, "the hns service is not running"},
    {0x800706b5, ERROR_HOST, "the hns service's interface is unknown"},
};

int hcn_check(const char *function, uint32_t hresult, const char *record, struct error *err) {
    _cleanup_json_ json_t *json = NULL;
    _cleanup_(freep) char *reason = NULL;
    const struct code *code = NULL;
    const char *text;

    if (!(hresult & 0x80000000u) && (!record || !*record))
        return 0;
    /* `json` remains NULL when the record is not JSON. */
    if (record && *record)
        (void)json_read(record, strlen(record), "ErrorRecord", &json, NULL);
    if (!(hresult & 0x80000000u))
        hresult = (uint32_t)json_number_at(json, "ErrorCode", 0x80004005);
    for (size_t i = 0; i < ARRAY_SIZE(codes) && !code; i++)
        code = codes[i].hresult == hresult ? &codes[i] : NULL;
    /* Use the "Error" member, or the whole record when it is not JSON. Blanks and dots at the end
     * are removed below. */
    text = json_text_or(json, "Error", record && *record ? record : NULL);
    reason = xstrdup(text ? text : code ? code->name : "HNS gave no reason");
    for (size_t len = strlen(reason); len && strchr(". \r\n", reason[len - 1]);)
        reason[--len] = '\0';
    if (code && (hresult >> 16) == 0x803b && !text_equal(code->name, reason))
        return error_set_os(err, code->kind, hresult, "call %s: %s: %s", function, code->name,
                            reason);
    return error_set_os(err, code ? code->kind : ERROR_HOST, hresult, "call %s: %s", function,
                        reason);
}

#define ZERO_GUID "00000000-0000-0000-0000-000000000000"
enum { QUESTION_MIN_MS = 1000 };
/* The query that upstream programs send. HNS returns the same properties with and without a filter.
 */
#define QUERY_ALL "{\"SchemaVersion\":{\"Major\":2,\"Minor\":0}}"

/* Names of the functions for one kind of object (ComputeNetwork.h). */
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

/* Calls one exported function. `ret` may be NULL when the result does not matter. */
static int call(struct host *host, const char *function, const char *const *arguments, size_t count,
                char **ret, struct error *err) {
    _cleanup_(freep) char *result = NULL, *record = NULL;
    uint64_t now = host_monotonic_ms(host), end = now + HOST_HCN_TIMEOUT_MS;
    uint32_t hresult = 0;
    bool asks = text_starts_with(function, "HNSCall")
                    ? text_equal(arguments[0], "GET")
                    : !text_starts_with(function, "HcnCreate") &&
                          !text_starts_with(function, "HcnModify") &&
                          !text_starts_with(function, "HcnDelete");

    log_message(LOG_CALL, "%s", function);
    for (size_t i = 0; i < count; i++)
        log_message(LOG_TRACE, "%s is given %s", function, arguments[i] ? arguments[i] : "nothing");
    /* Only a call that reads is shortened by the deadline. A call that changes something gets the
     * full time, because after a timeout its outcome is unknown. */
    if (asks && host->deadline_ms && host->deadline_ms < end)
        end = host->deadline_ms > now + QUESTION_MIN_MS ? host->deadline_ms : now + QUESTION_MIN_MS;
    if (host->ops->hns(host, function, arguments, count, (unsigned)(end - now), &result, &record,
                       &hresult, err) < 0)
        return -1;
    log_message(LOG_TRACE, "%s answers 0x%08x %s", function, (unsigned)hresult,
                record   ? record
                : result ? result
                         : "");
    /* HNSCall returns no ErrorRecord. When it fails, its response contains the reason. */
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
    /* A failure to close a handle has no consequences. */
    (void)call(host, exports[kind].close, &handle, 1, NULL, NULL);
}

/* Checks that an id is a GUID. The exported functions parse the text themselves and could take a
 * malformed one for another object. */
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
        if (call(host, exports[HCN_NETWORK].open, &network, 1, &network_handle, err) < 0)
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
    arguments[0] = handle;
    arguments[1] = QUERY_ALL;
    result =
        ret_properties ? call(host, exports[kind].query, arguments, 2, ret_properties, err) : 0;
    close_handle(host, kind, handle);
    return result;
}

int hcn_query(struct host *host, enum hcn_kind kind, const char *id, const char *query,
              char **ret_properties, struct error *err) {
    _cleanup_(freep) char *handle = NULL;
    const char *arguments[2];
    int result;

    if (check_id(id, err) < 0 || call(host, exports[kind].open, &id, 1, &handle, err) < 0)
        return -1;
    arguments[0] = handle;
    arguments[1] = query ? query : QUERY_ALL;
    result = call(host, exports[kind].query, arguments, 2, ret_properties, err);
    close_handle(host, kind, handle);
    return result;
}

int hcn_modify(struct host *host, enum hcn_kind kind, const char *id, const char *document,
               struct error *err) {
    _cleanup_(freep) char *handle = NULL;
    const char *arguments[2];
    int result;

    if (check_id(id, err) < 0 || call(host, exports[kind].open, &id, 1, &handle, err) < 0)
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
