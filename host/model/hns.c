/* Simulates HNS on a simulated server: a plain store of JSON documents. It answers version 2 calls
 * by their names and the version 1 calls that winjoin makes, and applies the effects of both on the
 * adapters. */
#include "host/model/model.h"

#include "base/cidr.h"

static const uint32_t not_found = 0x80070490, not_implemented = 0x80004001;
static const uint32_t invalid_json = 0x803b001b;

/* The word for each kind of object in the function names, and the member of the state that holds
 * such objects. */
static const struct {
    const char *word, *member;
} kinds[] = {
    {"Network", "networks"},
    {"Endpoint", "endpoints"},
    {"Namespace", "namespaces"},
    {"LoadBalancer", "loadBalancers"},
};

/* Returns the IPv4 address of the host on the network's adapter, in `out`, as HNS reports it
 * (ProviderAddress, ManagementIP); NULL when the adapter has no such address. */
static const char *management_address(json_t *state, const char *id, char out[IP_TEXT_MAX]) {
    _cleanup_(freep) char *key = text_lower(id);
    _cleanup_(freep) char *name =
        xasprintf("vEthernet (%s)", json_text_or(json_at(state, "hns.external"), key, ""));
    json_t *vnic = model_adapter_by_alias(state, name);

    json_each(json_object_get(vnic, "addresses"), i, item) {
        const char *address = json_string_value(item);
        size_t len = strcspn(address, "/");

        if (strchr(address, ':') || text_starts_with(address, "169.254.") || len >= IP_TEXT_MAX)
            continue;
        memcpy(out, address, len);
        out[len] = '\0';
        return out;
    }
    return NULL;
}

/* Gives an endpoint that requests no address the first free address of its network's subnet. The
 * search begins behind the gateway's address, which is the first of the subnet. */
static void give_address(json_t *state, json_t *endpoint) {
    json_t *networks = json_at(state, "hns.networks");
    const json_t *network = json_object_get(networks, json_text_at(endpoint, "HostComputeNetwork"));
    const char *prefix = json_text_at(network, "Ipams.0.Subnets.0.IpAddressPrefix");
    char text[IP_TEXT_MAX];
    bool taken = true;
    struct cidr subnet;

    if (json_text_at(endpoint, "IpConfigurations.0.IpAddress") || !prefix ||
        cidr_parse(prefix, &subnet, NULL) < 0)
        return;
    for (uint64_t n = 2; taken && cidr_address_text(&subnet, n, text, NULL) == 0; n++) {
        taken = false;
        json_each_member(json_at(state, "hns.endpoints"), id, other)
            taken |= text_equal(json_text_at(other, "IpConfigurations.0.IpAddress"), text);
    }
    if (!taken)
        json_object_set_new(
            endpoint, "IpConfigurations",
            json_pack("[{s:s, s:i}]", "IpAddress", text, "PrefixLength", subnet.length));
}

/* Stores an object under `id`, or under a new id from a counter in the state. Takes ownership of
 * the object and returns it borrowed. */
static json_t *keep(json_t *state, const char *member, const char *id, json_t *object) {
    json_t *hns = json_object_get(state, "hns");
    long long next = json_number_at(hns, "nextId", 1);
    _cleanup_(freep) char *key =
        id ? text_lower(id) : xasprintf("00000001-0000-4000-8000-%012llx", next);

    if (!id)
        json_object_set_new(hns, "nextId", json_integer(next + 1));
    json_object_set_new(object, "ID", json_string(key));
    if (text_equal(member, "endpoints")) {
        give_address(state, object);
        if (!json_text_at(object, "MacAddress"))
            json_object_set_new(object, "MacAddress", json_string("00-15-5D-0A-0B-0C"));
    }
    json_object_set_new(json_object_get(hns, member), key, object);
    return object;
}

static json_t *find(json_t *state, const char *member, const char *id) {
    _cleanup_(freep) char *key = text_lower(id ? id : "");

    return json_object_get(json_object_get(json_object_get(state, "hns"), member), key);
}

static char *enumerate(json_t *objects, const char *query) {
    _cleanup_json_ json_t *document = NULL, *filter = NULL;
    _cleanup_json_ json_t *ids = json_array();
    const char *text;

    /* When the query is not JSON, `document` is NULL, and all objects match. */
    if (query && *query)
        (void)json_read(query, strlen(query), "query", &document, NULL);
    text = json_text_at(document, "Filter");
    if (text)
        (void)json_read(text, strlen(text), "filter", &filter, NULL);
    json_each_member(objects, id, object) {
        bool matches = true;

        json_each_member(filter, key, wanted) {
            const char *member = text_equal(key, "VirtualNetwork") ? "HostComputeNetwork" : key;

            matches &= !json_string_length(wanted) ||
                       text_equal_nocase(json_text_at(object, member), json_string_value(wanted));
        }
        if (matches)
            json_array_append_new(ids, json_string(id));
    }
    return json_write(ids);
}

static uint32_t create(json_t *state, const char *member, const char *const *arguments,
                       size_t count, char **ret) {
    const char *id = arguments[count - 2];
    const char *document = arguments[count - 1];
    json_t *object = NULL;

    if (!document || json_read(document, strlen(document), "document", &object, NULL) < 0)
        return invalid_json;
    if (text_equal(member, "endpoints"))
        json_object_set_new(object, "HostComputeNetwork", json_string(arguments[0]));
    if (!id || text_starts_with(id, "00000000-0000"))
        id = NULL;
    *ret = xstrdup(json_text_at(keep(state, member, id, object), "ID"));
    return 0;
}

/* Performs a call on one existing object. arguments[0] is its id or its handle, which are equal. */
static uint32_t call_object(json_t *state, const char *member, const char *verb,
                            const char *const *arguments, char **ret) {
    json_t *object = find(state, member, arguments[0]);

    if (!object)
        return not_found;
    if (text_equal(verb, "Open")) {
        *ret = xstrdup(json_text_at(object, "ID"));
    } else if (text_equal(verb, "Query")) {
        _cleanup_json_ json_t *shown = json_deep_copy(object);
        json_t *policies;
        char address[IP_TEXT_MAX];

        /* Add the policies that HNS adds to an overlay network. */
        if (text_equal(member, "networks") &&
            text_equal_nocase(json_text_at(object, "Type"), "Overlay")) {
            policies = json_array_in(shown, "Policies");
            if (management_address(state, json_text_at(object, "ID"), address))
                json_array_append_new(policies,
                                      json_pack("{s:s, s:{s:s}}", "Type", "ProviderAddress",
                                                "Settings", "ProviderAddress", address));
            json_array_append_new(policies, json_pack("{s:s, s:{s:s}}", "Type", "DrMacAddress",
                                                      "Settings", "Address", "00-15-5D-AA-BB-CC"));
        }
        *ret = json_write(shown);
    } else if (text_equal(verb, "Modify")) {
        _cleanup_json_ json_t *request = NULL;

        if (!arguments[1] ||
            json_read(arguments[1], strlen(arguments[1]), "request", &request, NULL) < 0)
            return invalid_json;
        if (text_equal_nocase(json_text_at(request, "ResourceType"), "Policy")) {
            bool remove = text_equal_nocase(json_text_at(request, "RequestType"), "Remove");
            json_t *policies = json_array_in(object, "Policies");

            /* Add or remove the policies of a modify document. */
            json_each(json_at(request, "Settings.Policies"), i, policy) {
                for (size_t j = json_array_size(policies); j-- > 0;)
                    if (json_equal(json_array_get(policies, j), policy))
                        json_array_remove(policies, j);
                if (!remove)
                    json_array_append(policies, policy);
            }
        } else if (!json_text_at(request, "ResourceType"))
            json_object_update(object, request);
        return 0;
    }
    return 0;
}

/* ---- version 1 of the HNS interface: documents are stored in the form of version 2 and converted
 * in answers ---- */

static char *envelope(json_t *output) {
    _cleanup_json_ json_t *json = json_pack("{s:b, s:o}", "Success", 1, "Output", output);

    return json_write(json);
}

static char *failure(const char *text, uint32_t hresult) {
    _cleanup_json_ json_t *json =
        json_pack("{s:b, s:s, s:I}", "Success", 0, "Error", text, "ErrorCode", (json_int_t)hresult);

    return json_write(json);
}

static char *endpoint_v1(const json_t *endpoint) {
    return envelope(
        json_pack("{s:s, s:s*, s:s*, s:s*, s:I, s:s*, s:s*, s:i}", "ID",
                  json_text_at(endpoint, "ID"), "Name", json_text_at(endpoint, "Name"),
                  "VirtualNetwork", json_text_at(endpoint, "HostComputeNetwork"), "IPAddress",
                  json_text_at(endpoint, "IpConfigurations.0.IpAddress"), "PrefixLength",
                  (json_int_t)json_number_at(endpoint, "IpConfigurations.0.PrefixLength", 24),
                  "IPv6Address", json_text_at(endpoint, "IpConfigurations.1.IpAddress"),
                  "MacAddress", json_text_at(endpoint, "MacAddress"), "State",
                  json_bool_at(endpoint, "Attached", false) ? 2 : 1));
}

static char *call_v1(json_t *state, const char *path, const char *request) {
    static const char endpoints[] = "/endpoints/";
    const char *rest = path + (text_starts_with(path, endpoints) ? strlen(endpoints) : 0);
    /* The path may end in "/attach". */
    _cleanup_(freep) char *id = xstrndup(rest, strcspn(rest, "/"));
    const json_t *version = json_at(state, "hns.version");
    json_t *endpoint;

    if (text_equal(path, "/globals/version"))
        return envelope(json_pack("{s:I, s:I}", "Major",
                                  (json_int_t)json_number_at(version, "major", 13), "Minor",
                                  (json_int_t)json_number_at(version, "minor", 2)));
    if (text_equal(path, "/networks/")) {
        json_t *all = json_array();
        char address[IP_TEXT_MAX];

        json_each_member(json_at(state, "hns.networks"), key, network)
            json_array_append_new(all, json_pack("{s:s, s:s*, s:s*, s:s*}", "ID", key, "Name",
                                                 json_text_at(network, "Name"), "Type",
                                                 json_text_at(network, "Type"), "ManagementIP",
                                                 management_address(state, key, address)));
        return envelope(all);
    }
    if (rest == path)
        return failure("The request is not supported.", 0x80070032);
    if (!*rest) {
        _cleanup_json_ json_t *v1 = NULL;

        if (!request || json_read(request, strlen(request), "request", &v1, NULL) < 0)
            return failure("The JSON document is invalid.", invalid_json);
        return endpoint_v1(
            keep(state, "endpoints", NULL,
                 json_pack("{s:s*, s:s*}", "Name", json_text_at(v1, "Name"), "HostComputeNetwork",
                           json_text_at(v1, "VirtualNetwork"))));
    }
    endpoint = find(state, "endpoints", id);
    if (!endpoint)
        return failure("Element not found.", not_found);
    if (text_equal(rest + strlen(id), "/attach")) {
        if (json_bool_at(endpoint, "Attached", false))
            return failure("This endpoint is already attached to the switch.", 0x803b0014);
        json_object_set_new(endpoint, "Attached", json_true());
    }
    return endpoint_v1(endpoint);
}

uint32_t model_hns_store(void *context, const char *function, const char *const *arguments,
                         size_t count, char **ret_result, char **ret_error_record) {
    static const char *const verbs[] = {"Enumerate", "Create", "Open",  "Query",
                                        "Modify",    "Close",  "Delete"};
    json_t *state = context;
    const char *verb = NULL, *member = NULL;

    *ret_error_record = NULL;
    if (text_equal(function, "HNSCall")) {
        *ret_result = call_v1(state, arguments[1], arguments[2]);
        return 0;
    }

    /* A name like "HcnEnumerateNetworks" consists of a verb and a kind of objects. */
    for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
        for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
            _cleanup_(freep) char *begin = xasprintf("Hcn%s%s", verbs[i], kinds[k].word);

            if (text_starts_with(function, begin)) {
                verb = verbs[i];
                member = kinds[k].member;
            }
        }
    if (!member)
        return not_implemented;
    if (text_equal(verb, "Enumerate")) {
        *ret_result =
            enumerate(json_object_get(json_object_get(state, "hns"), member), arguments[0]);
        return 0;
    }
    if (text_equal(verb, "Create"))
        return create(state, member, arguments, count, ret_result);
    if (text_equal(verb, "Delete")) {
        _cleanup_(freep) char *key = text_lower(arguments[0]);
        json_t *endpoints = json_at(state, "hns.endpoints");
        const char *endpoint;
        json_t *object;
        void *next;

        if (json_object_del(json_object_get(json_object_get(state, "hns"), member), key) < 0)
            return not_found;
        if (!text_equal(member, "networks"))
            return 0;
        json_object_foreach_safe(
            endpoints, next, endpoint,
            object) if (text_equal_nocase(json_text_at(object, "HostComputeNetwork"), key))
            json_object_del(endpoints, endpoint);
        return 0;
    }
    if (text_equal(verb, "Close"))
        return 0;
    return call_object(state, member, verb, arguments, ret_result);
}

static json_t *parsed(const char *text) {
    json_t *json = NULL;

    /* `json` remains NULL when the text is not JSON. */
    if (text)
        (void)json_read(text, strlen(text), "HNS document", &json, NULL);
    return json;
}

uint32_t model_hns(json_t *state, model_hns_answer *answer, void *context, const char *function,
                   const char *const *arguments, size_t count, char **ret_result,
                   char **ret_error_record) {
    _cleanup_(freep) char *answered = NULL, *record = NULL, *path = NULL;
    _cleanup_json_ json_t *json = NULL, *network = NULL;
    uint32_t hresult;

    if (!answer) {
        answer = model_hns_store;
        context = state;
    }
    hresult = answer(context, function, arguments, count, ret_result, ret_error_record);
    if (hresult & 0x80000000u)
        return hresult;
    if (text_equal(function, "HNSCall") && text_ends_with(arguments[1], "/attach")) {
        const char *asked[] = {"GET", NULL, ""};

        json = parsed(*ret_result);
        if (!json_bool_at(json, "Success", false))
            return hresult;
        path = xstrndup(arguments[1], strlen(arguments[1]) - strlen("/attach"));
        asked[1] = path;
        if (answer(context, "HNSCall", asked, 3, &answered, &record) != 0)
            return hresult;
        json_decref(json);
        json = parsed(answered);
        model_switch_endpoint_attached(state, json_at(json, "Output"));
    } else if (text_equal(function, "HcnCreateNetwork") && *ret_result) {
        const char *asked[3] = {*ret_result, "{\"SchemaVersion\":{\"Major\":2,\"Minor\":0}}"};
        /* HNS itself chose the id. */
        bool chosen = text_starts_with(arguments[0], "00000000-0000");
        const char *id = arguments[0];

        if (chosen &&
            answer(context, "HcnQueryNetworkProperties", asked, 2, &answered, &record) == 0)
            json = parsed(answered);
        if (chosen)
            id = json_text_at(json, "ID");
        network = parsed(arguments[1]);
        if (id)
            model_switch_network_made(state, id, network);
    } else if (text_equal(function, "HcnDeleteNetwork")) {
        model_switch_network_gone(state, arguments[0]);
    } else if (text_equal(function, "HcnDeleteEndpoint")) {
        model_adapters_remove(state, "endpoint", arguments[0]);
    }
    return hresult;
}
