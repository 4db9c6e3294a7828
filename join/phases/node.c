/* The phases that watch the Node: registered, Ready, proved. */
#include <stdlib.h>
#include <string.h>

#include "base/cidr.h"
#include "base/memory.h"
#include "diag/run.h"
#include "join/phases/phases.h"
#include "kube/csr.h"
#include "services/runtime_files.h"

enum { REGISTER_TIMEOUT_MS = 120000, READY_TIMEOUT_MS = 180000 };

static int on_node(void *context, const struct kube_node *node, unsigned waited_ms) {
    struct join *join = context;

    if (!node)
        join_tell_waiting(join, waited_ms, 0, "", "for the kubelet to register node %s",
                          join->node_name);
    else if (!kube_node_has_pod_cidr(node))
        join_tell_waiting(join, waited_ms, 0, "", "for the pod subnet of node %s", join->node_name);
    else
        join_tell_waiting(join, waited_ms, 0, "", "Ready is False: %s",
                          node->ready_message ? node->ready_message : "no reason given");
    return host_interrupted(join->host);
}

static int wait_node(struct join *join, kube_node_wanted *wanted, unsigned timeout_ms,
                     struct error *err) {
    struct kube_node node = {0};

    if (join_need_node_client(join, err) < 0 ||
        kube_node_wait(&join->client, join->node_name, wanted, timeout_ms, on_node, join, &node,
                       err) < 0)
        return -1;
    if (join->has_node)
        kube_node_free(&join->node);
    join->node = node;
    join->has_node = true;
    return 0;
}

int phase_node(struct join *join, struct error *err) {
    kube_node_wanted *wanted =
        join->options->pod_cidr ? kube_node_is_registered : kube_node_has_pod_cidr;

    if (wait_node(join, wanted, REGISTER_TIMEOUT_MS, err) < 0) {
        if (err->kind == ERROR_TIMED_OUT && join->options->pod_cidr == NULL)
            (void)error_hint(err, "kubelet log: C:\\var\\log\\kubelet; pod subnets need "
                                  "--allocate-node-cidrs=true in the controller manager");
        return -1;
    }
    text_addf(&join->detail, "%s registered", join->node_name);
    if (join->node.pod_cidrs.count)
        text_addf(&join->detail, ", pods %s", join->node.pod_cidrs.items[0]);
    return 0;
}

/* Nobody but an operator (or an approver) approves serving certificates, and until then logs and
 * exec fail with "tls: internal error": said here, not found out later. */
static void tell_serving_request(struct join *join) {
    struct kube_client client = join->client; /* the same texts, without its patience */
    struct kube_csr csr = {0};
    struct error why = {0};

    if (!json_bool_at(join->kubelet_config ? join->kubelet_config : join->cluster.kubelet,
                      "serverTLSBootstrap", false))
        return;
    client.patience_ms = 0;
    if (kube_csr_find(&client, KUBE_CSR_SERVING_SIGNER, join->node_name, &csr, &why) < 0) {
        text_list_add(&join->next, "the cluster signs serving certificates (serverTLSBootstrap): "
                                   "kubectl logs and exec work once the kubelet's request is "
                                   "approved: kubectl get csr");
        return;
    }
    if (csr.state == KUBE_CSR_PENDING)
        text_list_add_owned(&join->next,
                            xasprintf("kubectl logs and exec work once the kubelet's serving "
                                      "certificate is approved: kubectl certificate approve %s",
                                      csr.name));
    if (csr.state == KUBE_CSR_DENIED || csr.state == KUBE_CSR_FAILED) {
        (void)kube_csr_refused(&csr, &why);
        join_warn(join, "kubectl logs and exec will not work: %s", why.message);
    }
    kube_csr_free(&csr);
}

int phase_ready(struct join *join, struct error *err) {
    uint64_t begin = host_monotonic_ms(join->host);

    if (wait_node(join, kube_node_is_ready, READY_TIMEOUT_MS, err) < 0)
        return -1;
    text_addf(&join->detail, "after %.1f s",
              (double)(host_monotonic_ms(join->host) - begin) / 1000.0);
    tell_serving_request(join);
    return 0;
}

static void on_diag(void *context, const char *message) {
    join_tell_waiting(context, 0, 0, "", "%s", message);
}

/* The first address of the service range is always the Service "kubernetes" (kube-apiserver). */
static void kubernetes_service(const struct join *join, char out[IP_TEXT_MAX]) {
    struct cidr services;
    struct ip first;

    out[0] = '\0';
    if (join->cluster.service_subnets.count &&
        cidr_parse(join->cluster.service_subnets.items[0], &services, NULL) == 0 &&
        cidr_address(&services, 1, &first, NULL) == 0)
        ip_format(&first, out);
}

static void fill_scene(const struct join *join, const char *kubernetes_ip,
                       struct diag_options *ret) {
    const struct join_options *o = join->options;
    const char *dns_ip =
        join->cluster.cluster_dns.count ? join->cluster.cluster_dns.items[0] : NULL;
    bool outside = !text_equal(o->verify, "node"); /* --verify node stays inside the cluster */

    ret->scene = (struct diag_scene){
        .node_name = join->node_name,
        .node_ip = join_node_ip(join),
        .dns_domain = join->cluster.dns_domain,
        .kubernetes_ip = kubernetes_ip,
        .dns_ip = dns_ip,
        .external_ip = outside ? o->external_ip : NULL,
        .external_name = outside ? o->external_name : NULL,
        .external_dns = outside ? o->external_dns : NULL,
        .timeout_ms = (unsigned)o->verify_timeout,
    };
    ret->probes = (struct diag_probe_options){
        .program = join->probe_program,
        .program_len = join->probe_program_len,
        .sandbox_image = RUNTIME_SANDBOX_IMAGE,
        .node_name = join->node_name,
        .client = &join->client,
    };
    ret->evidence = (struct diag_evidence_options){
        .network_name = join->plan.name,
        .network_mode = network_mode_name(join->plan.mode),
        .pod_cidr = join->plan.pod_cidr,
        .dns_ip = dns_ip,
        .dns_domain = join->cluster.dns_domain,
        .kubernetes_ip = kubernetes_ip,
    };
}

/* Node objects are evidence: who the peers are and what they publish. What may not be read stays
 * out. */
static void read_node_evidence(struct join *join, json_t **node, json_t **nodes) {
    _cleanup_(freep) char *path = xasprintf("/api/v1/nodes/%s", join->node_name);
    struct error ignored = {0};

    (void)kube_get(&join->client, path, node, &ignored);
    (void)kube_nodes_get(&join->client, nodes, &ignored);
}

static int fail_flows(struct join *join, struct error *err) {
    const struct diag_causes *causes = &join->report.causes;

    (void)error_set(err, ERROR_FLOWS, "prove the pod network: %s", text_str(&join->detail));
    for (size_t i = 0; i < causes->count && i < 3; i++) {
        const struct diag_cause *cause = &causes->items[i];

        (void)error_hint(err, "%s: %s%s%s", cause->id, cause->message,
                         cause->evidence.count ? "; " : "",
                         cause->evidence.count ? cause->evidence.items[0] : "");
    }
    return error_hint(err, "winjoin diag shows which flows and why");
}

int phase_verify(struct join *join, struct error *err) {
    struct diag_options options = {.progress = on_diag, .progress_context = join};
    _cleanup_json_ json_t *node = NULL, *nodes = NULL;
    char kubernetes_ip[IP_TEXT_MAX];
    _cleanup_(freep) char *line = NULL, *manifests = NULL;

    if (text_equal(join->options->verify, "none")) {
        text_add(&join->detail, "left out (--verify none)");
        return 0;
    }
    if (join_need_node_client(join, err) < 0 || join_need_cluster(join, err) < 0 ||
        join_need_node(join, err) < 0 || join_need_plan(join, err) < 0)
        return -1;
    kubernetes_service(join, kubernetes_ip);
    fill_scene(join, kubernetes_ip, &options);
    manifests = join_manifest_folder(join);
    options.probes.manifest_folder = manifests;
    read_node_evidence(join, &node, &nodes);
    options.evidence.node = node;
    options.evidence.nodes = nodes;
    if (join->has_report)
        diag_report_free(&join->report);
    join->has_report = false;
    if (phase_own_folder(join, diag_transport_find(DIAG_REACH_NODE)->folder, err) < 0 ||
        diag_run(join->host, &options, &join->report, err) < 0)
        return -1;
    join->has_report = true;
    line = diag_report_line(&join->report);
    text_add(&join->detail, line);
    return diag_report_is_good(&join->report) ? 0 : fail_flows(join, err);
}
