/* The first look of a diagnosis: services, API server, clock and certificate, usually in under a
 * second and before any pod is started. */
#pragma once

#include "base/json.h"
#include "host/host.h"
#include "kube/client.h"

/* All members are borrowed; NULL means unknown. */
struct diag_look_options {
    const struct kube_client *client; /* A client with the node's own identity. */
    const char *client_error;         /* Why there is no client. */
    const char *node_name;
    const char *certificate_file; /* The node's client certificate, in PEM. */
    struct http *http;            /* For requests to the kubelet. */
    /* The URL of the kubelet's health; NULL means that the kubelet is not asked. */
    const char *kubelet_health;
    const char *cri_pipe; /* The pipe of containerd; NULL means that containerd is not asked. */
};
/* Takes the first look, and returns it as the part "look" of the evidence (a new reference):
 *   time, seconds
 *   services[] (services/service_status.h): hns and those that are installed; containerd and the
 *     kubelet in any case
 *   api{server, outcome: "ok|unreachable|failing|untrusted|refused|no-identity", detail?,
 *     clockDifferenceSeconds?}; "failing" means that it takes connections, but gave an error, or no
 *     answer in time
 *   certificate{path, subject?, notBefore?, notAfter?, daysLeft?, error?}
 *   silent{kubelet?, containerd?}: those that run, but gave no answer in DIAG_LOOK_SILENT_MS, each
 *     with the error
 *
 * *ret_node (may be NULL) gets the Node object, a new reference, or NULL when it was not read. An
 * API server without an answer in DIAG_LOOK_API_MS is asked once more, for DIAG_LOOK_AGAIN_MS. */
enum { DIAG_LOOK_API_MS = 700, DIAG_LOOK_AGAIN_MS = 2000, DIAG_LOOK_SILENT_MS = 2000 };
json_t *diag_look(struct host *host, const struct diag_look_options *options, json_t **ret_node);
/* Reads the part "services" of the look again. */
void diag_look_services(struct host *host, json_t *look);
/* Makes the part "certificate" of the look; returns a new reference. */
json_t *diag_look_certificate(struct host *host, const char *path);
/* Says whether the API server answers this node's identity. */
bool diag_look_api_answers(const json_t *look);
/* Says whether a service of the look was started within DIAG_YOUNG_SECONDS: kube-proxy and others
 * may then still be working on what is missing. */
enum { DIAG_YOUNG_SECONDS = 60 }; /* The longest time that kube-proxy takes. */
bool diag_look_is_young(const json_t *look, int64_t now);
/* Names the service without which no pod can start, if one is down: "the kubelet", "containerd" or
 * "HNS". NULL when all of them run. */
const char *diag_look_stops_pods(const json_t *look);
/* Returns the name of a service in a sentence: "the kubelet", "HNS", or its own name. */
const char *diag_service_called(const char *name);
