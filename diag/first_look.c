/* Takes the first look of a diagnosis. Only the API server and a silent service delay it
 * briefly. */
#include "diag/first_look.h"

#include "base/rfc3339.h"
#include "pki/certificate.h"
#include "services/cri.h"
#include "services/service_status.h"

#define HNS_SERVICE "hns"
enum { CERTIFICATE_MAX = 1024 * 1024, SECONDS_A_DAY = 86400 };

/* Adds the status of a service. With `wanted`, it is added even if it is absent. */
static void add_service(struct host *host, const char *name, bool wanted, json_t *services) {
    json_t *status = NULL;

    if (service_status_read(host, name, &status, ERROR_IGNORED) < 0)
        return; /* Without a Service Control Manager there are no services. */
    if (wanted || !text_equal(json_text_at(status, "state"), "absent"))
        json_array_append(services, status);
    json_decref(status);
}

void diag_look_services(struct host *host, json_t *look) {
    json_t *services = json_array();

    add_service(host, HNS_SERVICE, false, services);
    for (const struct service *const *at = service_table; *at; at++) {
        const struct service *row = *at;
        /* The service should be there: each node needs it, or winjoin installed it here, which its
         * settings file shows. */
        bool is_set_up = row->chosen_by == SERVICE_CHOSEN_ALWAYS ||
                         (row->hosted && host_file_type(host, row->settings_file) == HOST_FILE);

        add_service(host, row->name, row->diagnosed && is_set_up, services);
    }
    json_object_set_new(look, "services", services);
}

/* ---- the API server ---- */

/* Sends the API server one request, for the Node, which is needed anyway; then a second one with
 * more time if the server may only be slow. */
static json_t *api_json(const struct diag_look_options *options, json_t **ret_node) {
    struct kube_client client;
    struct error why = {0};
    _cleanup_(freep) char *path = NULL;
    const char *outcome = "unreachable";
    json_t *api;

    if (!options->client || !options->client->server)
        return json_pack("{s:s, s:s*}", "outcome", "no-identity", "detail", options->client_error);
    /* A copy of the client that borrows the same texts and does not retry. */
    client = *options->client;
    client.patience_ms = 0;
    client.timeout_ms = DIAG_LOOK_API_MS;
    path = xasprintf("/api/v1/nodes/%s", options->node_name ? options->node_name : "");
    (void)kube_get(&client, path, ret_node, &why);
    if (why.kind == ERROR_TIMED_OUT) {
        error_clear(&why);
        client.timeout_ms = DIAG_LOOK_AGAIN_MS;
        (void)kube_get(&client, path, ret_node, &why);
    }
    /* The server answered, even if it has no such Node. */
    if (why.kind == ERROR_NONE || why.kind == ERROR_ABSENT)
        outcome = "ok";
    else if (why.kind == ERROR_UNTRUSTED)
        outcome = "untrusted";
    else if (why.kind == ERROR_DENIED)
        outcome = "refused";
    else if (why.os || why.kind == ERROR_MALFORMED) /* HTTP answered, or at least connected. */
        outcome = "failing";
    api = json_pack("{s:s, s:s, s:s*}", "server", client.server, "outcome", outcome, "detail",
                    why.kind ? why.message : NULL);
    if (why.kind == ERROR_NONE)
        json_object_set_new(api, "clockDifferenceSeconds",
                            json_integer((json_int_t)client.clock_difference));
    return api;
}

/* ---- services that run but do not answer ---- */

static bool runs(const json_t *look, const char *name) {
    json_each(json_object_get(look, "services"), i, status)
        if (text_equal(json_text_at(status, "name"), name))
            return text_equal(json_text_at(status, "state"), "running");
    return false;
}

/* ---- the certificate ---- */

json_t *diag_look_certificate(struct host *host, const char *path) {
    _cleanup_(secret_freep) char *pem = NULL;
    _cleanup_(certificates_free) struct certificates list = {0};
    const struct certificate *first;
    struct error why = {0};
    size_t len;

    if (host_read(host, path, CERTIFICATE_MAX, &pem, &len, &why) < 0 ||
        certificates_parse(pem, len, &list, &why) < 0)
        return json_pack("{s:s, s:o*}", "path", path, "error", json_string(why.message));
    first = &list.items[0];
    return json_pack("{s:s, s:o*, s:s, s:s, s:I}", "path", path, "subject",
                     json_string(first->subject), "notBefore", RFC3339_TEXT(first->not_before),
                     "notAfter", RFC3339_TEXT(first->not_after), "daysLeft",
                     (json_int_t)((first->not_after - host_now(host)) / SECONDS_A_DAY));
}

json_t *diag_look(struct host *host, const struct diag_look_options *options, json_t **ret_node) {
    uint64_t begin = host_monotonic_ms(host);
    _cleanup_json_ json_t *node = NULL;
    json_t *look = json_object();
    _cleanup_(cri_pods_free) struct cri_pods pods = {0};
    struct error kubelet = {0}, containerd = {0};
    json_t *silent;

    json_object_set_new(look, "time", json_string(RFC3339_TEXT(host_now(host))));
    diag_look_services(host, look);
    if (options->certificate_file)
        json_object_set_new(look, "certificate",
                            diag_look_certificate(host, options->certificate_file));
    json_object_set_new(look, "api", api_json(options, &node));
    /* Any answer shows that the service works. A service that refuses the connection may only have
     * another port, so just a time-out counts. */
    silent = json_object();
    if (options->kubelet_health && runs(look, service_kubelet.name)) {
        const struct http_request request = {
            .url = options->kubelet_health, .timeout_ms = DIAG_LOOK_SILENT_MS, .proxy = ""};
        struct http_response response = {0};

        (void)http_perform(options->http, &request, &response, &kubelet);
        http_response_free(&response);
    }
    if (options->cri_pipe && runs(look, service_containerd.name))
        (void)cri_pods(host, options->cri_pipe, DIAG_LOOK_SILENT_MS, &pods, &containerd);
    if (kubelet.kind == ERROR_TIMED_OUT)
        json_object_set_new(silent, service_kubelet.name, json_string(kubelet.message));
    if (containerd.kind == ERROR_TIMED_OUT)
        json_object_set_new(silent, service_containerd.name, json_string(containerd.message));
    if (json_object_size(silent))
        json_object_set(look, "silent", silent);
    json_decref(silent);
    json_object_set_new(look, "seconds",
                        json_real((double)(host_monotonic_ms(host) - begin) / 1000.0));
    if (ret_node)
        *ret_node = take_ptr(node);
    return look;
}

bool diag_look_api_answers(const json_t *look) {
    return text_equal(json_text_at(look, "api.outcome"), "ok");
}

bool diag_look_is_young(const json_t *look, int64_t now) {
    json_each(json_object_get(look, "services"), i, status) {
        int64_t since = rfc3339_seconds(json_text_at(status, "since"));

        if (text_equal(json_text_at(status, "state"), "running") && since &&
            now - since < DIAG_YOUNG_SECONDS)
            return true;
    }
    return false;
}

const char *diag_service_called(const char *name) {
    return text_equal(name, service_kubelet.name) ? "the kubelet"
           : text_equal(name, HNS_SERVICE)        ? "HNS"
                                                  : name;
}

const char *diag_look_stops_pods(const json_t *look) {
    json_each(json_object_get(look, "services"), i, status) {
        const char *name = json_text_at(status, "name");

        if ((text_equal(name, HNS_SERVICE) || text_equal(name, service_containerd.name) ||
             text_equal(name, service_kubelet.name)) &&
            service_status_is_down(status))
            return diag_service_called(name);
    }
    return NULL;
}
