/* HNS on a modelled server: what its calls do to the adapters around it. */
#include "host/model/model.h"

/* Who answers, and from what. */
struct hns {
    json_t *state;
    model_hns_answer *answer;
    void *context;
};

static json_t *parsed(const char *text) {
    json_t *json = NULL;

    if (text)
        (void)json_read(text, strlen(text), "HNS document", &json, NULL); /* NULL then */
    return json;
}

/* HNS chose the id itself: its properties have it. */
static char *id_behind_handle(const struct hns *hns, const char *handle) {
    const char *arguments[] = {handle, "{\"SchemaVersion\":{\"Major\":2,\"Minor\":0}}"};
    _cleanup_(freep) char *properties = NULL, *record = NULL;
    _cleanup_json_ json_t *json = NULL;

    if (hns->answer(hns->context, "HcnQueryNetworkProperties", arguments, 2, &properties,
                    &record) != 0)
        return NULL;
    json = parsed(properties);
    return xstrdup_null(json_text_at(json, "ID"));
}

static void attached(const struct hns *hns, const char *id) {
    _cleanup_(freep) char *path = xasprintf("/endpoints/%s", id);
    const char *arguments[] = {"GET", path, ""};
    _cleanup_(freep) char *response = NULL, *record = NULL;
    _cleanup_json_ json_t *json = NULL;

    if (hns->answer(hns->context, "HNSCall", arguments, 3, &response, &record) != 0)
        return;
    json = parsed(response);
    model_switch_endpoint_attached(hns->state, json_at(json, "Output"));
}

static void follow_v1(const struct hns *hns, const char *path, const char *response) {
    _cleanup_json_ json_t *json = text_ends_with(path, "/attach") ? parsed(response) : NULL;
    size_t skip = strlen("/endpoints/");

    if (json_bool_at(json, "Success", false)) {
        _cleanup_(freep) char *id = xstrndup(path + skip, strlen(path) - skip - strlen("/attach"));

        attached(hns, id);
    }
}

static void follow(const struct hns *hns, const char *function, const char *const *arguments,
                   const char *result) {
    if (text_equal(function, "HNSCall")) {
        follow_v1(hns, arguments[1], result);
    } else if (text_equal(function, "HcnCreateNetwork") && result) {
        _cleanup_(freep) char *id = text_starts_with(arguments[0], "00000000-0000")
                                        ? id_behind_handle(hns, result)
                                        : xstrdup(arguments[0]);
        _cleanup_json_ json_t *network = parsed(arguments[1]);

        if (id)
            model_switch_network_made(hns->state, id, network);
    } else if (text_equal(function, "HcnDeleteNetwork")) {
        model_switch_network_gone(hns->state, arguments[0]);
    } else if (text_equal(function, "HcnDeleteEndpoint")) {
        model_switch_endpoint_gone(hns->state, arguments[0]);
    }
}

uint32_t model_hns(json_t *state, model_hns_answer *answer, void *context, const char *function,
                   const char *const *arguments, size_t count, char **ret_result,
                   char **ret_error_record) {
    struct hns hns = {state, answer ? answer : model_hns_store, answer ? context : state};
    uint32_t hresult =
        hns.answer(hns.context, function, arguments, count, ret_result, ret_error_record);

    if (!(hresult & 0x80000000u))
        follow(&hns, function, arguments, *ret_result);
    return hresult;
}
