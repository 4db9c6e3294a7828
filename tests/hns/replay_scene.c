/* The scene of a recording: what stood there before its first call, and what changed outside of it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/hns/replay.h"

const char *const replay_kinds[] = {"Network", "Endpoint", "Namespace", "LoadBalancer"};

const char *replay_text(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "";
}

json_t *replay_output(const json_t *line, size_t n) {
    const char *text = json_string_value(json_array_get(json_object_get(line, "out"), n));

    return text ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
}

int replay_kind_of(const char *function) {
    for (int k = REPLAY_KINDS - 1; k >= 0; k--)
        if (strstr(function, replay_kinds[k]))
            return k;
    return -1;
}

json_t *replay_control(struct replay *r, json_t *op) {
    json_t *answer = hns_model_control(r->model, op, NULL);

    json_decref(op);
    return answer;
}

/* ---- what the recording shows ---- */

static void learn_v1(struct replay *r, int kind, const json_t *document) {
    const char *id = replay_text(document, "ID");

    if (*id && !json_object_get(r->known_v1[kind], id))
        json_object_set(r->known_v1[kind], id, (json_t *)document);
}

static void learn_v1_line(struct replay *r, const json_t *line) {
    const char *path = replay_text(json_object_get(line, "args"), "Path");
    const char *method = replay_text(json_object_get(line, "args"), "Method");
    int kind = !strncmp(path, "/networks", 9) ? REPLAY_NETWORK : REPLAY_ENDPOINT;
    json_t *answer = replay_output(line, 0), *output = json_object_get(answer, "Output"), *item;
    size_t i;

    if (strncmp(path, "/networks", 9) && strncmp(path, "/endpoints", 10))
        output = NULL;
    json_array_foreach(output, i, item) learn_v1(r, kind, item);
    if (json_is_object(output))
        learn_v1(r, kind, output);
    if (!strcmp(method, "POST") && json_is_object(output))
        json_object_set_new(r->made, replay_text(output, "ID"), json_true());
    json_decref(answer);
}

/* The id of what line n made: the next line on its handle says it. */
static const char *made_by(const struct replay *r, size_t n) {
    const char *handle =
        json_string_value(json_array_get(json_object_get(json_array_get(r->lines, n), "out"), 0));

    for (size_t i = n + 1; handle && i < json_array_size(r->lines) && i < n + 64; i++) {
        const json_t *line = json_array_get(r->lines, i), *args = json_object_get(line, "args");
        const char *object = replay_text(line, "object"), *blank = strchr(object, ' ');

        if (blank && (!strcmp(replay_text(args, "Handle"), handle) ||
                      !strcmp(replay_text(args, "NetworkHandle"), handle)))
            return blank + 1;
    }
    return NULL;
}

void replay_learn(struct replay *r) {
    json_t *line, *properties;
    size_t i;

    json_array_foreach(r->lines, i, line) {
        const char *fn = replay_text(line, "fn"), *id;
        int kind = replay_kind_of(fn);

        if (!strcmp(fn, "HNSCall"))
            learn_v1_line(r, line);
        if (strcmp(replay_text(line, "hr"), "0x00000000"))
            continue;
        if (!strncmp(fn, "HcnCreate", 9) && (id = made_by(r, i))) {
            json_object_set_new(line, "made", json_string(id));
            json_object_set_new(r->made, id, json_true());
        }
        if (strncmp(fn, "HcnQuery", 8) || kind < 0)
            continue;
        properties = replay_output(line, 0);
        id = replay_text(properties, "ID");
        if (*id && !json_object_get(r->known[kind], id))
            json_object_set(r->known[kind], id, properties);
        json_decref(properties);
    }
}

/* ---- setting the scene ---- */

bool replay_has(struct replay *r, int kind, const char *id) {
    static const char *const lists[] = {"networks", "endpoints", "namespaces", "loadBalancers"};
    json_t *state = hns_model_state(r->model), *object;
    bool found = false;
    size_t i;

    json_array_foreach(json_object_get(state, lists[kind]), i, object) found |=
        !strcmp(replay_text(object, "ID"), id);
    json_decref(state);
    return found;
}

/* The old model asked for less: Overlay subnets without VSID, and any switch beside any other. */
static void complete_network(struct replay *r, json_t *document) {
    json_t *subnet = json_array_get(
        json_object_get(json_array_get(json_object_get(document, "Ipams"), 0), "Subnets"), 0);
    char alias[32];

    if (!strcmp(replay_text(document, "Type"), "Overlay") &&
        !json_array_size(json_object_get(subnet, "Policies")))
        json_object_set_new(
            subnet, "Policies",
            json_pack("[{s:s, s:{s:i}}]", "Type", "VSID", "Settings", "IsolationId", 4096));
    (void)snprintf(alias, sizeof(alias), "adopted%u", r->adopted);
    json_object_set_new(document, "Policies",
                        json_deep_copy(json_object_get(document, "Policies")));
    for (size_t i = json_array_size(json_object_get(document, "Policies")); i-- > 0;)
        if (!strcmp(replay_text(json_array_get(json_object_get(document, "Policies"), i), "Type"),
                    "NetAdapterName"))
            json_array_remove(json_object_get(document, "Policies"), i);
    json_array_append_new(json_object_get(document, "Policies"),
                          json_pack("{s:s, s:{s:s}}", "Type", "NetAdapterName", "Settings",
                                    "NetworkAdapterName", alias));
}

/* Every adopted network is on an adapter of its own; all of them are there from the start. */
static void adopt_v1(struct replay *r, int kind, const json_t *v1) {
    static const char *const paths[] = {"/networks/", "/endpoints/"};
    static const char *const members[][12] = {
        {"ID", "Name", "Type", "Subnets", NULL},
        {"ID", "Name", "VirtualNetwork", "Policies", "MacAddress", "IPAddress", "DNSSuffix",
         "DNSServerList", "GatewayAddress", "IsRemoteEndpoint", NULL}};
    json_t *request = json_object(), *value;
    struct hns_answer answer;
    const char *args[3] = {"POST", paths[kind], NULL};
    char alias[32], *text;

    for (size_t i = 0; members[kind][i]; i++)
        if ((value = json_object_get(v1, members[kind][i])))
            json_object_set(request, members[kind][i], value);
    (void)snprintf(alias, sizeof(alias), "adopted%u", r->adopted);
    if (kind == REPLAY_NETWORK)
        json_object_set_new(request, "NetworkAdapterName", json_string(alias));
    else
        replay_adopt(r, REPLAY_NETWORK, replay_text(v1, "VirtualNetwork"));
    args[2] = text = json_dumps(request, 0);
    (void)hns_model_call(r->model, "HNSCall", args, 3, &answer);
    if (!answer.out[0] || !strstr(answer.out[0], "\"Success\":true"))
        (void)fprintf(stderr, "%s:%zu: adopting: %s\n", r->name, r->at + 1, answer.out[0]);
    hns_answer_free(&answer);
    free(text);
    json_decref(request);
}

static void adopt_v2(struct replay *r, int kind, const json_t *properties) {
    json_t *document = json_deep_copy(properties), *answer, *id;
    size_t i;

    json_array_foreach(json_object_get(document, "HostComputeEndpoints"), i, id)
        replay_adopt(r, REPLAY_ENDPOINT, json_string_value(id));
    if (kind == REPLAY_ENDPOINT)
        replay_adopt(r, REPLAY_NETWORK, replay_text(document, "HostComputeNetwork"));
    if (kind == REPLAY_NETWORK)
        complete_network(r, document);
    json_object_del(document, "HostComputeNamespace");
    answer = replay_control(r, json_pack("{s:s, s:s, s:o}", "op", "create", "kind",
                                         replay_kinds[kind], "doc", document));
    if (json_object_get(answer, "error"))
        (void)fprintf(stderr, "%s:%zu: adopting a %s: %s\n", r->name, r->at + 1, replay_kinds[kind],
                      replay_text(answer, "error"));
    json_decref(answer);
}

/* A network of that name that is another one: the recorder had made the scene again. */
static void drop_namesake(struct replay *r, const char *name) {
    json_t *state = hns_model_state(r->model), *network;
    size_t i;

    json_array_foreach(json_object_get(state, "networks"), i, network) {
        if (!strcmp(replay_text(network, "Name"), name))
            replay_drop(r, REPLAY_NETWORK, replay_text(network, "ID"));
    }
    json_decref(state);
}

/* What stood there came about by the old model's control port, which knew no version gates. */
void replay_adopt(struct replay *r, int kind, const char *id) {
    const json_t *properties = json_object_get(r->known[kind], id);
    const json_t *v1 = kind < 2 ? json_object_get(r->known_v1[kind], id) : NULL;

    if (!id || !*id || json_object_get(r->made, id) || (!properties && !v1) ||
        replay_has(r, kind, id))
        return;
    if (kind == REPLAY_NETWORK)
        drop_namesake(r, replay_text(properties ? properties : v1, "Name"));
    json_decref(replay_control(r, json_pack("{s:s, s:[i,i]}", "op", "set", "version", 15, 5)));
    if (properties)
        adopt_v2(r, kind, properties);
    else
        adopt_v1(r, kind, v1);
    r->adopted++;
    replay_version(r);
}

void replay_drop(struct replay *r, int kind, const char *id) {
    if (!replay_has(r, kind, id))
        return;
    json_decref(replay_control(
        r, json_pack("{s:s, s:s, s:s}", "op", "delete", "kind", replay_kinds[kind], "id", id)));
    r->dropped++;
}

static bool has_id(const json_t *ids, const char *id) {
    const json_t *item;
    size_t i;

    json_array_foreach(ids, i, item) {
        const char *text = json_is_object(item) ? replay_text(item, "ID") : json_string_value(item);

        if (text && !strcmp(text, id))
            return true;
    }
    return false;
}

static const char *id_of(const json_t *item) {
    return json_is_object(item) ? replay_text(item, "ID") : json_string_value(item);
}

void replay_listed(struct replay *r, int kind, const json_t *ids, const json_t *model_ids) {
    const json_t *item;
    size_t i;

    json_array_foreach(model_ids, i, item) {
        if (!has_id(ids, id_of(item)))
            replay_drop(r, kind, id_of(item));
    }
    json_array_foreach(ids, i, item) replay_adopt(r, kind, id_of(item));
}

/* HNS's version now: what the last answer to /globals/version said, or the next one, or the file's
 * name, or 13.2. */
void replay_version(struct replay *r) {
    int major = 13, minor = 2;
    const char *dash = strrchr(r->name, '-');
    bool found = false;

    if (dash)
        (void)sscanf(dash, "-%d.%d.jsonl", &major, &minor);
    for (size_t i = 0; i < json_array_size(r->lines) && !(found && i > r->at); i++) {
        const json_t *line = json_array_get(r->lines, i);
        json_t *answer, *output;

        if (strcmp(replay_text(json_object_get(line, "args"), "Path"), "/globals/version"))
            continue;
        answer = replay_output(line, 0);
        output = json_object_get(answer, "Output");
        if (output) {
            major = (int)json_integer_value(json_object_get(output, "Major"));
            minor = (int)json_integer_value(json_object_get(output, "Minor"));
            found = true;
        }
        json_decref(answer);
    }
    json_decref(
        replay_control(r, json_pack("{s:s, s:[i,i]}", "op", "set", "version", major, minor)));
}

/* Before these marks the recorder reset the old model. */
void replay_mark(struct replay *r, const char *text) {
    static const char *const resets[] = {
        "rule fn:",        "no ProviderAddress",   "HNS 9.1", "VNI 1 port", "HostAttach fails",
        "no ManagementIP", "POST /networks/ fails"};
    static const char *const lists[] = {"networks", "endpoints", "namespaces", "loadBalancers"};
    bool reset = false;

    for (size_t i = 0; i < sizeof(resets) / sizeof(resets[0]); i++)
        reset |= !strncmp(text, resets[i], strlen(resets[i]));
    for (int k = 0; reset && k < REPLAY_KINDS; k++) {
        json_t *state = hns_model_state(r->model), *object;
        size_t i;

        json_array_foreach(json_object_get(state, lists[k]), i, object)
            replay_drop(r, k, replay_text(object, "ID"));
        json_decref(state);
    }
}
