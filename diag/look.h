/* The first look of a diagnosis: services, API server, clock, certificate and HNS, in under a
 * second, before any pod is started. */
#pragma once

#include "base/json.h"
#include "host/host.h"
#include "kube/client.h"

/* All borrowed; NULL = not known. */
struct diag_look_options {
    const struct kube_client *client; /* the node's own identity */
    const char *client_error;         /* why there is none */
    const char *node_name;
    const char *certificate_file; /* the node's client certificate, PEM */
    struct http *http;            /* for the kubelet */
    const char *kubelet_health;   /* URL of its health; NULL: it is not asked */
    const char *cri_pipe;         /* containerd's; NULL: it is not asked */
};
/* What is seen, as the part "look" of the evidence (new reference):
 *   time, seconds, services[] (services/service_status.h: hns and those that are installed;
 *   containerd and the kubelet in any case), api{server, outcome:
 * "ok|unreachable|failing|untrusted| refused|no-identity", detail?, clockDifferenceSeconds?},
 * certificate{path, subject?, notBefore?, notAfter?, daysLeft?, error?} *ret_node (or NULL): the
 * Node object, new reference, NULL when it was not read. "failing": it takes connections, but gave
 * no answer in time, or an error; silent{kubelet?, containerd?}: which of them runs, and gave no
 * answer in DIAG_LOOK_SILENT_MS, with what was said of it. An API server that does not answer in
 * DIAG_LOOK_API_MS is asked once more, for DIAG_LOOK_AGAIN_MS. */
enum { DIAG_LOOK_API_MS = 700, DIAG_LOOK_AGAIN_MS = 2000, DIAG_LOOK_SILENT_MS = 2000 };
json_t *diag_look(struct host *host, const struct diag_look_options *options, json_t **ret_node);
/* Reads its part "services" again. */
void diag_look_services(struct host *host, json_t *look);
/* Its part "certificate"; new reference. */
json_t *diag_look_certificate(struct host *host, const char *path);
/* true when the API server answers this node's identity. */
bool diag_look_api_answers(const json_t *look);
/* true when one of its services was started within DIAG_YOUNG_SECONDS: kube-proxy and others may
 * still be at work on what is missing. */
enum { DIAG_YOUNG_SECONDS = 60 }; /* which kube-proxy takes at most */
bool diag_look_is_young(const json_t *look, int64_t now);
/* The service without which no pod can start, when it is down: "the kubelet", "containerd" or
 * "HNS"; NULL: all of them run. */
const char *diag_look_stops_pods(const json_t *look);
/* How a sentence calls a service: "the kubelet", "HNS", or its name. */
const char *diag_service_called(const char *name);
