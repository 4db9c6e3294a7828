/* The exports by name: handles, the Hcn* families, HNSCall, and the injected faults before all. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tests/hns/model.h"

/* What an export of a family does. */
enum verb { ENUMERATE, CREATE, OPEN, MODIFY, QUERY, DELETE, CLOSE };

struct call {
    enum verb verb;
    enum model_kind kind;
};

static void give(struct hns_answer *ret, const char *text) {
    ret->out[ret->n++] = text ? strdup(text) : NULL;
}

static void give_json(struct hns_answer *ret, json_t *json) {
    ret->out[ret->n++] = json_dumps(json, JSON_COMPACT);
    json_decref(json);
}

void hns_answer_free(struct hns_answer *answer) {
    for (size_t i = 0; i < HNS_MODEL_OUTPUTS; i++)
        free(answer->out[i]);
    memset(answer, 0, sizeof(*answer));
}

static bool is_called(const char *function, const char *verb, const char *kind, const char *rest) {
    size_t v = strlen(verb), k = strlen(kind);

    return !strncmp(function, verb, v) && !strncmp(function + v, kind, k) &&
           !strcmp(function + v + k, rest);
}

static bool find_call(const char *function, struct call *ret) {
    static const struct {
        const char *before, *after;
    } verbs[] = {[ENUMERATE] = {"HcnEnumerate", "s"},
                 [CREATE] = {"HcnCreate", ""},
                 [OPEN] = {"HcnOpen", ""},
                 [MODIFY] = {"HcnModify", ""},
                 [QUERY] = {"HcnQuery", "Properties"},
                 [DELETE] = {"HcnDelete", ""},
                 [CLOSE] = {"HcnClose", ""}};

    for (int v = ENUMERATE; v <= CLOSE; v++) {
        for (int k = 0; k < KINDS; k++) {
            if (is_called(function, verbs[v].before, model_kind_names[k], verbs[v].after)) {
                *ret = (struct call){(enum verb)v, (enum model_kind)k};
                return true;
            }
        }
    }
    return false;
}

char *hns_model_handle(const struct hns_model *m, const char *handle) {
    const json_t *open = json_object_get(m->handles, handle);
    uint64_t kind = model_number(open, "kind");
    char text[80];

    if (!open || kind >= KINDS)
        return NULL;
    (void)snprintf(text, sizeof(text), "%s %s", model_kind_names[kind], model_text(open, "id"));
    return strdup(text);
}

/* ---- queries ---- */

static int take_query(struct hns_model *m, const char *text, json_t **ret_filter) {
    json_t *parsed, *query;
    const char *filter;
    int r = 0;

    *ret_filter = NULL;
    if (!text || !*text)
        return 0;
    if (model_parse(m, text, &parsed))
        return -1;
    r = model_take(m, model_query_schema, "", parsed, &query);
    json_decref(parsed);
    if (r)
        return -1;
    filter = model_text(query, "Filter");
    if (*filter)
        r = model_parse(m, filter, ret_filter);
    json_decref(query);
    return r;
}

/* The members that a filter may name, in its spelling and the document's. */
static const char *const filters[][2] = {
    {"ID", "ID"},
    {"Name", "Name"},
    {"VirtualNetwork", "HostComputeNetwork"},
    {"Type", "Type"},
    {"HostComputeNetwork", "HostComputeNetwork"},
};

static int matches(struct hns_model *m, const json_t *object, const json_t *filter) {
    json_t *value;
    const char *key;

    json_object_foreach((json_t *)filter, key, value) {
        const char *wanted = json_string_value(value), *has = NULL;

        for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++)
            if (!strcasecmp(key, filters[i][0]))
                has = model_text(object, filters[i][1]);
        if (!has || !wanted)
            return model_fail(m, HR_PARAMETER, "Filter.%.64s", key);
        if (!strcasecmp(key, "Name") ? strcmp(has, wanted) : strcasecmp(has, wanted))
            return 0;
    }
    return 1;
}

static int enumerate(struct hns_model *m, enum model_kind kind, const char *query,
                     struct hns_answer *ret) {
    json_t *filter, *ids, *object;
    const char *id;
    int hit = 0;

    if (take_query(m, query, &filter))
        return -1;
    ids = json_array();
    json_object_foreach(m->objects[kind], id, object) {
        hit = matches(m, object, filter);
        if (hit < 0)
            break;
        if (hit)
            json_array_append_new(ids, json_string(id));
    }
    json_decref(filter);
    if (hit < 0) {
        json_decref(ids);
        return -1;
    }
    give_json(ret, ids);
    return 0;
}

/* ---- one object ---- */

/* The open object that a handle belongs to; NULL = failed. */
static json_t *behind(struct hns_model *m, enum model_kind kind, const char *handle) {
    const json_t *open = handle ? json_object_get(m->handles, handle) : NULL;

    if (!open || model_number(open, "kind") != kind) {
        (void)model_fail(m, HR_HANDLE, "'%.32s'", handle ? handle : "");
        return NULL;
    }
    return model_find(m, kind, model_text(open, "id"));
}

/* A document of version 1 has no SchemaVersion and one of these members. */
static bool is_v1(const json_t *document, const char *a, const char *b) {
    return !json_object_get(document, "SchemaVersion") &&
           (json_object_get(document, a) || json_object_get(document, b));
}

static int create(struct hns_model *m, enum model_kind kind, const char *network, const char *id,
                  const char *document, struct hns_answer *ret) {
    json_t *parsed, *taken;
    const json_t *object;
    int r;

    if (model_parse(m, document, &parsed))
        return -1;
    if (kind == NETWORK && is_v1(parsed, "Subnets", "NetworkAdapterName"))
        r = model_v1_to_network(m, parsed, &taken);
    else if (kind == ENDPOINT && is_v1(parsed, "VirtualNetwork", "IPAddress"))
        r = model_v1_to_endpoint(m, parsed, &taken);
    else
        r = model_take(m, model_kind_schemas[kind], "", parsed, &taken);
    json_decref(parsed);
    if (r)
        return -1;
    object = model_create(m, kind, id, taken, network);
    if (!object)
        return -1;
    give(ret, model_open(m, kind, model_text(object, "ID")));
    return 0;
}

static int modify(struct hns_model *m, enum model_kind kind, json_t *object, const char *document) {
    json_t *parsed, *request;
    int r;

    if (kind == LOAD_BALANCER)
        return model_balancer_modify(m, object, document);
    if (model_parse(m, document, &parsed))
        return -1;
    r = model_take(m, model_modify_schema, "", parsed, &request);
    json_decref(parsed);
    if (r)
        return -1;
    if (kind == NETWORK)
        r = model_network_modify(m, object, request);
    else if (kind == ENDPOINT)
        r = model_endpoint_modify(m, object, request);
    else if (kind == NAMESPACE)
        r = model_namespace_modify(m, object, request);
    else
        r = model_fail(m, HR_UNSUPPORTED, NULL);
    json_decref(request);
    return r;
}

static int on_handle(struct hns_model *m, struct call call, const char *const args[],
                     struct hns_answer *ret) {
    json_t *object = behind(m, call.kind, args[0]), *filter;

    if (!object)
        return -1;
    if (call.verb == MODIFY)
        return modify(m, call.kind, object, args[1]);
    if (take_query(m, args[1], &filter))
        return -1;
    json_decref(filter);
    give_json(ret, model_public(m, call.kind, object));
    return 0;
}

static int create_endpoint(struct hns_model *m, const char *const args[], struct hns_answer *ret) {
    const json_t *network = behind(m, NETWORK, args[0]);

    return network ? create(m, ENDPOINT, model_text(network, "ID"), args[1], args[2], ret) : -1;
}

static int family_call(struct hns_model *m, struct call call, const char *const args[],
                       struct hns_answer *ret) {
    const json_t *object;

    if (call.verb != CLOSE && !model_has(m, F_V2_API))
        return model_fail(m, HR_NOT_SUPPORTED, "%s", model_feature_text(F_V2_API));
    switch (call.verb) {
    case ENUMERATE:
        return enumerate(m, call.kind, args[0], ret);
    case CREATE:
        return call.kind == ENDPOINT ? create_endpoint(m, args, ret)
                                     : create(m, call.kind, NULL, args[0], args[1], ret);
    case OPEN:
        object = model_find(m, call.kind, args[0]);
        if (object)
            give(ret, model_open(m, call.kind, model_text(object, "ID")));
        return object ? 0 : -1;
    case DELETE:
        return model_delete(m, call.kind, args[0]);
    case CLOSE:
        if (args[0])
            json_object_del(m->handles, args[0]);
        return 0;
    default:
        return on_handle(m, call, args, ret);
    }
}

/* How many outputs an export has, its ErrorRecord counted; exports without one have `record` false.
 */
static size_t outputs(const char *function, const struct call *call, bool *ret_record) {
    *ret_record = !call || call->verb != CLOSE;
    if (call)
        return call->verb == CLOSE ? 0 : call->verb == MODIFY || call->verb == DELETE ? 1 : 2;
    if (!strncmp(function, "Hcs", 3) && strncmp(function, "HcsRegister", 11) &&
        strncmp(function, "HcsUnregister", 13) && strcmp(function, "HcsCloseComputeSystem"))
        return strstr(function, "Modify") || strstr(function, "Start") ||
                       strstr(function, "Shutdown") || strstr(function, "Terminate")
                   ? 1
                   : 2;
    *ret_record = false;
    return !strcmp(function, "HNSCall") || !strncmp(function, "HcsRegister", 11) ||
           !strcmp(function, "HcnRegisterServiceCallback") || !strcmp(function, "LayerExists");
}

static int other_call(struct hns_model *m, const char *function, const char *const args[], size_t n,
                      struct hns_answer *ret) {
    unsigned hr;
    int r;

    if (!strcmp(function, "HNSCall")) {
        give_json(ret, model_v1_call(m, args[0], args[1], args[2], &hr));
        ret->hresult = m->soft_v1 ? 0 : hr;
        return 0;
    }
    if (!strcmp(function, "HcnRegisterServiceCallback")) {
        give(ret, model_open(m, SYSTEM, "service"));
        return 0;
    }
    if (!strcmp(function, "HcnUnregisterServiceCallback"))
        return 0;
    r = model_hcs_call(m, function, args, n, ret);
    return r > 0 ? model_fail(m, HR_NOT_IMPLEMENTED, "%.64s", function) : r;
}

/* ---- injected faults ---- */

static bool rule_fits(const json_t *rule, const char *function, const char *const args[],
                      size_t n) {
    const char *fn = model_text(rule, "fn"), *contains = model_text(rule, "contains");
    json_t *count = json_object_get(rule, "count");
    bool found = !*contains;

    if (strncmp(function, fn, strlen(fn)) || (count && json_integer_value(count) <= 0))
        return false;
    for (size_t i = 0; i < n; i++)
        found |= args[i] && strstr(args[i], contains);
    return found;
}

static json_t *find_rule(const struct hns_model *m, const char *function, const char *const args[],
                         size_t n) {
    json_t *rule, *count;
    size_t i;

    json_array_foreach(m->faults, i, rule) {
        if (!rule_fits(rule, function, args, n))
            continue;
        count = json_object_get(rule, "count");
        if (count)
            json_integer_set(count, json_integer_value(count) - 1);
        return rule;
    }
    return NULL;
}

/* Fails as the rule says: version 1 "soft" in its envelope, everything else by the HRESULT. */
static int inject(struct hns_model *m, const json_t *rule, const char *function,
                  struct hns_answer *ret) {
    unsigned hr = (unsigned)strtoul(model_text(rule, "hr"), NULL, 0);
    const char *text = model_text(rule, "error");

    if (strcmp(function, "HNSCall") || !json_is_true(json_object_get(rule, "soft")))
        return model_fail(m, hr, NULL);
    ret->out[ret->n++] = model_error_record(hr, *text ? text : model_hr_text(hr));
    return 0;
}

static void fail_answer(const struct hns_model *m, size_t n, bool record, struct hns_answer *ret) {
    hns_answer_free(ret);
    ret->hresult = m->fail_hr;
    ret->n = n;
    if (record && n)
        ret->out[n - 1] = model_error_record(m->fail_hr, m->fail_text);
}

unsigned hns_model_call(struct hns_model *m, const char *function, const char *const args[],
                        size_t n_args, struct hns_answer *ret) {
    const char *input[4] = {0}; /* short calls read NULL, not beyond */
    struct call call;
    bool family = find_call(function, &call), record;
    size_t n = outputs(function, family ? &call : NULL, &record);
    json_t *rule = find_rule(m, function, args, n_args);
    unsigned delay = (unsigned)(1000 * json_number_value(json_object_get(rule, "delay")));
    int r;

    memset(ret, 0, sizeof(*ret));
    for (size_t i = 0; i < n_args && i < 4; i++)
        input[i] = args[i];
    m->changed = false;
    if (rule && json_object_get(rule, "hr"))
        r = inject(m, rule, function, ret);
    else if (family)
        r = family_call(m, call, input, ret);
    else
        r = other_call(m, function, input, n_args, ret);
    if (r)
        fail_answer(m, n, record, ret);
    ret->n = n;
    ret->delay_ms = delay;
    ret->changed = m->changed;
    return ret->hresult;
}

uint32_t hns_model_host_call(void *context, const char *function, const char *const *args,
                             size_t n_args, char **ret_result, char **ret_error_record) {
    struct hns_answer answer;
    struct call call;
    bool record;
    size_t n = outputs(function, find_call(function, &call) ? &call : NULL, &record);
    uint32_t hr = hns_model_call(context, function, args, n_args, &answer);

    if (record && n && ret_error_record) {
        *ret_error_record = answer.out[n - 1];
        answer.out[n - 1] = NULL;
    }
    if (n > (record ? 1u : 0u) && ret_result) {
        *ret_result = answer.out[0];
        answer.out[0] = NULL;
    }
    hns_answer_free(&answer);
    return hr;
}
