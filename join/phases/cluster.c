/* The phases that speak with the cluster: discovery, configuration, client certificate. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rfc3339.h"
#include "join/phases/kubelet_bootstrap.h"
#include "join/kubelet/kubelet_files.h"
#include "join/phases/node_name.h"
#include "join/phases/phases.h"

/* "sha256:3b79…dd8a" is enough for a person to compare. */
static void add_short_pin(struct text *out, const char *pin) {
    size_t len = strlen(pin);

    if (len < 20)
        text_add(out, pin);
    else
        text_addf(out, "%.11s...%s", pin, pin + len - 4);
}

int phase_discovery(struct join *join, struct error *err) {
    const struct discovery_result *d = &join->discovery;

    if (join_need_client(join, err) < 0)
        return -1;
    if (!join->has_discovery) {
        text_addf(&join->detail, "joined already: %s, as this node", join->client.server);
        return 0;
    }
    text_addf(&join->detail, "%s", d->config.server);
    if (d->matched_pin[0]) {
        text_add(&join->detail, ", CA ");
        add_short_pin(&join->detail, d->matched_pin);
        text_add(&join->detail, " is the pinned one");
    }
    return 0;
}

int phase_configuration(struct join *join, struct error *err) {
    const struct cluster_config *c = &join->cluster;

    if (join_need_cluster(join, err) < 0 || node_name_claim(join, err) < 0 ||
        join_need_kubelet_config(join, err) < 0 || join_need_plan(join, err) < 0)
        return -1;
    text_addf(&join->detail, "%s", c->kubernetes_version);
    if (c->pod_subnets.count)
        text_addf(&join->detail, ", pods %s", c->pod_subnets.items[0]);
    if (c->service_subnets.count)
        text_addf(&join->detail, ", services %s", c->service_subnets.items[0]);
    if (c->cluster_dns.count)
        text_addf(&join->detail, ", DNS %s", c->cluster_dns.items[0]);
    return 0;
}

static int on_csr(void *context, const struct kube_csr *csr, unsigned waited_ms) {
    struct join *join = context;
    char hint[320] = "";

    if (csr->state == KUBE_CSR_PENDING && waited_ms >= 3000)
        (void)text_format(hint, sizeof hint, "kubectl certificate approve %s", csr->name);
    if (csr->state == KUBE_CSR_PENDING)
        join_tell_waiting(join, waited_ms, 0, hint, "%s pending: nobody has approved it yet",
                          csr->name);
    else if (csr->state == KUBE_CSR_APPROVED)
        join_tell_waiting(join, waited_ms, 0, "", "%s approved, not signed yet", csr->name);
    return host_interrupted(join->host);
}

/* --tls-bootstrap kubelet: the file that it begins with is laid, the kubelet does the rest. */
static int leave_to_kubelet(struct join *join, struct error *err) {
    if (phase_own_folder(join, KUBERNETES_FOLDER, err) < 0 || kubelet_bootstrap_lay(join, err) < 0)
        return -1;
    text_addf(&join->detail, "left to the kubelet, by %s", KUBELET_BOOTSTRAP_KUBECONFIG_FILE);
    return 0;
}

int phase_certificate(struct join *join, struct error *err) {
    const struct join_options *o = join->options;
    struct client_certificate_options options = {
        .node_name = join->node_name,
        .timeout_ms = (unsigned)(o->timeout ? o->timeout : o->timeouts.tls_bootstrap),
        .progress = on_csr,
        .progress_context = join};
    struct client_certificate certificate = {0};
    char until[RFC3339_TEXT_MAX];

    if (join_need_client(join, err) < 0 || phase_own_folder(join, KUBELET_FOLDER, err) < 0)
        return -1;
    if (kubelet_bootstrap_is_needed(join))
        return leave_to_kubelet(join, err);
    options.ca_pem = join->client.ca_pem;
    if (client_certificate_ensure(&join->client, join->host, &options, &certificate, err) < 0)
        return -1;
    rfc3339_format(certificate.not_after, until);
    until[10] = '\0';
    if (certificate.made_now)
        text_addf(&join->detail, "%s approved (%s), valid until %s", certificate.csr_name,
                  certificate.reason && *certificate.reason ? certificate.reason : "by hand",
                  until);
    else
        text_addf(&join->detail, "the stored one is kept, valid until %s", until);
    client_certificate_free(&certificate);
    return 0;
}
