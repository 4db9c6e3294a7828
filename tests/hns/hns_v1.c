/* HNSCall: version 1 of the interface, methods and paths over the same objects. */
#include <stdio.h>
#include <string.h>

#include "tests/hns/model.h"

/* "/endpoints/<id>/attach" in up to three words. */
struct path {
    char word[3][64];
    size_t n;
};

static int read_path(struct hns_model *m, const char *text, struct path *ret) {
    memset(ret, 0, sizeof(*ret));
    while (*text) {
        size_t len = strcspn(text, "/");

        if (len && (ret->n == 3 || len >= sizeof(ret->word[0])))
            return model_fail(m, HR_NOT_FOUND, "no such path");
        if (len) {
            memcpy(ret->word[ret->n], text, len);
            ret->n++;
        }
        text += len + (text[len] == '/');
    }
    return 0;
}

static json_t *view(const struct hns_model *m, enum model_kind kind, const json_t *object) {
    if (kind == NETWORK)
        return model_v1_network(m, object);
    return kind == ENDPOINT ? model_v1_endpoint(m, object) : model_v1_policy_list(kind, object);
}

static void view_all(const struct hns_model *m, enum model_kind kind, json_t *ret) {
    json_t *object;
    const char *key;

    json_object_foreach(m->objects[kind], key, object)
        json_array_append_new(ret, view(m, kind, object));
}

static int get(struct hns_model *m, enum model_kind kind, const char *id, json_t **ret) {
    json_t *object;

    if (*id) {
        object = model_find(m, kind, id);
        *ret = object ? view(m, kind, object) : NULL;
        return object ? 0 : -1;
    }
    *ret = json_array();
    view_all(m, kind, *ret);
    if (kind == LOAD_BALANCER)
        view_all(m, SDN_ROUTE, *ret);
    return 0;
}

static int drop(struct hns_model *m, enum model_kind kind, const char *id, json_t **ret) {
    json_t *object = model_find(m, kind, id);

    if (!object)
        return -1;
    *ret = kind == NETWORK || kind == ENDPOINT ? view(m, kind, object) : NULL;
    return model_delete(m, kind, id);
}

static int convert(struct hns_model *m, enum model_kind kind, const json_t *v1, json_t **ret) {
    if (kind == NETWORK)
        return model_v1_to_network(m, v1, ret);
    return kind == ENDPOINT ? model_v1_to_endpoint(m, v1, ret)
                            : model_v1_from_policy_list(m, kind, v1, ret);
}

static int post(struct hns_model *m, enum model_kind kind, const json_t *request, json_t **ret) {
    json_t *document;
    const json_t *object;

    if (convert(m, kind, request, &document))
        return -1;
    object = model_create(m, kind, NULL, document, NULL);
    *ret = object ? view(m, kind, object) : NULL;
    return object ? 0 : -1;
}

/* POST /endpoints/<id>: its policies are replaced, as hcsshim's ApplyACLPolicy and friends do. */
static int post_endpoint(struct hns_model *m, const char *id, const json_t *request, json_t **ret) {
    json_t *endpoint = model_find(m, ENDPOINT, id), *document;

    if (!endpoint || model_v1_to_endpoint(m, request, &document))
        return -1;
    json_object_set(endpoint, "Policies", json_object_get(document, "Policies"));
    json_decref(document);
    m->changed = true;
    *ret = model_v1_endpoint(m, endpoint);
    return 0;
}

/* A switch's extension is a policy of each of its networks; version 1 shows all as "Extensions". */
void model_v1_set_extension(json_t *policies, const json_t *extension) {
    const char *id = model_text(extension, "Id");

    for (size_t i = json_array_size(policies); i-- > 0;) {
        const json_t *policy = json_array_get(policies, i);

        if (!strcmp(model_text(policy, "Type"), "VSwitchExtension") &&
            !strcmp(model_text(json_object_get(policy, "Settings"), "ExtensionID"), id))
            json_array_remove(policies, i);
    }
    json_array_append_new(policies,
                          json_pack("{s:s, s:{s:s, s:b}}", "Type", "VSwitchExtension", "Settings",
                                    "ExtensionID", id, "Enable",
                                    json_is_true(json_object_get(extension, "IsEnabled"))));
}

/* POST /networks/<id>: extensions of its switch are turned on and off, as Antrea's agent does. */
static int post_network(struct hns_model *m, const char *id, const json_t *request, json_t **ret) {
    json_t *network = model_find(m, NETWORK, id), *taken, *extension;
    size_t i;

    if (!network || model_take(m, model_v1_change_schema, "", request, &taken))
        return -1;
    json_array_foreach(json_object_get(taken, "Extensions"), i, extension)
        model_v1_set_extension(json_object_get(network, "Policies"), extension);
    json_decref(taken);
    m->changed = true;
    *ret = model_v1_network(m, network);
    return 0;
}

static int attach(struct hns_model *m, const struct path *path, const json_t *request) {
    json_t *endpoint = model_find(m, ENDPOINT, path->word[1]), *taken;
    const char *id;
    int r;

    if (!endpoint || model_take(m, model_v1_attach_schema, "", request, &taken))
        return -1;
    id = model_text(taken, "ContainerId");
    if (!strcmp(path->word[2], "attach"))
        r = model_endpoint_attach(m, endpoint, model_text(taken, "SystemType"), id);
    else if (!strcmp(path->word[2], "detach"))
        r = model_endpoint_detach(m, endpoint, id);
    else
        r = model_fail(m, HR_NOT_FOUND, "no such path");
    json_decref(taken);
    return r;
}

static int object_call(struct hns_model *m, enum model_kind kind, const char *method,
                       const struct path *path, const json_t *request, json_t **ret) {
    if (path->n == 3)
        return kind == ENDPOINT && !strcmp(method, "POST") ? attach(m, path, request)
                                                           : model_fail(m, HR_NOT_FOUND, NULL);
    if (!strcmp(method, "GET"))
        return get(m, kind, path->word[1], ret);
    if (!strcmp(method, "DELETE") && path->n == 2)
        return drop(m, kind, path->word[1], ret);
    if (!strcmp(method, "POST") && path->n == 1)
        return post(m, kind, request, ret);
    if (!strcmp(method, "POST") && kind == ENDPOINT)
        return post_endpoint(m, path->word[1], request, ret);
    if (!strcmp(method, "POST") && kind == NETWORK)
        return post_network(m, path->word[1], request, ret);
    return model_fail(m, HR_UNSUPPORTED, "%.16s", method);
}

static int other_call(struct hns_model *m, const char *method, const struct path *path,
                      json_t **ret) {
    const char *word = path->word[0];

    if (strcmp(method, "GET"))
        return model_fail(m, HR_NOT_FOUND, "no such path");
    if (!strcmp(word, "globals") && !strcmp(path->word[1], "version"))
        *ret = json_pack("{s:i, s:i}", "Major", (int)m->major, "Minor", (int)m->minor);
    else if (!strcmp(word, "endpointstats") && path->n == 2 &&
             model_find(m, ENDPOINT, path->word[1]))
        *ret = json_pack("{s:s, s:i, s:i, s:i, s:i, s:i, s:i}", "EndpointId", path->word[1],
                         "BytesReceived", 0, "BytesSent", 0, "DroppedPacketsIncoming", 0,
                         "DroppedPacketsOutgoing", 0, "PacketsReceived", 0, "PacketsSent", 0);
    else if (!strcmp(word, "endpointstats"))
        return -1;
    else if (!strcmp(word, "activities") || !strcmp(word, "portpools") || !strcmp(word, "plugins"))
        *ret = json_array();
    else
        return model_fail(m, HR_NOT_FOUND, "no such path");
    return 0;
}

/* Load balancers and routes share a path: a request says which by its policy, else the id does. */
static enum model_kind list_kind(const struct hns_model *m, const struct path *path,
                                 const json_t *request) {
    char guid[40];

    if (path->n == 1)
        return model_v1_list_kind(request);
    return model_guid_read(path->word[1], guid) && json_object_get(m->objects[SDN_ROUTE], guid)
               ? SDN_ROUTE
               : LOAD_BALANCER;
}

static int route(struct hns_model *m, const char *method, const char *text, const json_t *request,
                 json_t **ret) {
    static const struct {
        const char *word;
        enum model_kind kind;
    } kinds[] = {{"networks", NETWORK}, {"endpoints", ENDPOINT}, {"policylists", LOAD_BALANCER}};
    struct path path;

    if (read_path(m, text, &path))
        return -1;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (!strcmp(path.word[0], kinds[i].word))
            return object_call(
                m, kinds[i].kind == LOAD_BALANCER ? list_kind(m, &path, request) : kinds[i].kind,
                method, &path, request, ret);
    return other_call(m, method, &path, ret);
}

/* The envelope says how it went; *ret_hr too. */
json_t *model_v1_call(struct hns_model *m, const char *method, const char *path,
                      const char *request, unsigned *ret_hr) {
    json_t *body = NULL, *output = NULL, *answer;
    int r = request && *request ? model_parse(m, request, &body) : 0;

    if (!r && !body)
        body = json_object();
    if (!r)
        r = route(m, method ? method : "", path ? path : "", body, &output);
    json_decref(body);
    *ret_hr = r ? m->fail_hr : 0;
    if (r) {
        json_decref(output);
        return json_pack("{s:b, s:s, s:I}", "Success", 0, "Error", m->fail_text, "ErrorCode",
                         (json_int_t)m->fail_hr);
    }
    answer = json_pack("{s:b}", "Success", 1);
    if (output)
        json_object_set_new(answer, "Output", output);
    return answer;
}
