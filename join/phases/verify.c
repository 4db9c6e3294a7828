/* The phase that proves the pod network. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/cidr.h"
#include "diag/run.h"
#include "diag/transports/transport.h"
#include "join/found/need.h"
#include "join/phases/phases.h"
#include "netsetup/agents/agent.h"
#include "services/runtime_files.h"

static void on_diag(void *context, const char *message) {
    join_tell_waiting(context, 0, 0, "", "%s", message);
}

/* The first address of the service range is always the Service "kubernetes" (kube-apiserver). */
static void kubernetes_service(const struct join *join, char out[IP_TEXT_MAX]) {
    struct cidr services;
    struct ip first;

    out[0] = '\0';
    if (join->found.cluster.service_subnets.count &&
        cidr_parse(join->found.cluster.service_subnets.items[0], &services, NULL) == 0 &&
        cidr_address(&services, 1, &first, NULL) == 0)
        ip_format(&first, out);
}

static void fill_scene(const struct join *join, const char *kubernetes_ip,
                       struct diag_options *ret) {
    const struct join_options *o = &join->found.options;
    const char *dns_ip =
        join->found.cluster.cluster_dns.count ? join->found.cluster.cluster_dns.items[0] : NULL;
    bool outside = !text_equal(o->verify, "node"); /* --verify node stays inside the cluster */

    ret->scene = (struct diag_scene){
        .node_name = join->found.node_name,
        .node_ip = join->found.node_ip,
        .dns_domain = join->found.cluster.dns_domain,
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
        .node_name = join->found.node_name,
        .client = &join->found.client,
    };
    ret->evidence = (struct diag_evidence_options){
        .network_name = join->found.plan.name,
        .network_mode = join->found.plan.mode->name,
        .pod_cidr = join->found.plan.pod_cidr,
        .dns_ip = dns_ip,
        .dns_domain = join->found.cluster.dns_domain,
        .kubernetes_ip = kubernetes_ip,
    };
}

static void name_services(struct text_list *ret) {
    text_list_add(ret, "hns");
    for (const struct service *const *row = service_table; *row; row++)
        if ((*row)->diagnosed)
            text_list_add(ret, (*row)->name);
}

/* Node objects are evidence: who the peers are and what they publish. What may not be read stays
 * out. */
static void read_node_evidence(struct join *join, json_t **node, json_t **nodes) {
    _cleanup_(freep) char *path = xasprintf("/api/v1/nodes/%s", join->found.node_name);
    struct error ignored = {0};

    (void)kube_get(&join->found.client, path, node, &ignored);
    (void)kube_nodes_get(&join->found.client, nodes, &ignored);
}

static int fail_flows(struct join *join, struct error *err) {
    const struct diag_causes *causes = &join->found.report.causes;

    (void)error_set(err, ERROR_FLOWS, "prove the pod network: %s",
                    text_str(&join->progress.detail));
    for (size_t i = 0; i < causes->count && i < 3; i++) {
        const struct diag_cause *cause = &causes->items[i];

        (void)error_hint(err, "%s: %s%s%s", cause->id, cause->message,
                         cause->evidence.count ? "; " : "",
                         cause->evidence.count ? cause->evidence.items[0] : "");
    }
    return error_hint(err, "winjoin diag shows which flows and why");
}

int phase_verify(struct join *join, struct error *err) {
    struct diag_options options = {.progress = on_diag, .progress_context = &join->progress};
    _cleanup_json_ json_t *node = NULL, *nodes = NULL;
    _cleanup_(text_list_free) struct text_list services = {0};
    char kubernetes_ip[IP_TEXT_MAX];
    _cleanup_(freep) char *line = NULL, *manifests = NULL;

    if (text_equal(join->found.options.verify, "none")) {
        text_add(&join->progress.detail, "left out (--verify none)");
        return 0;
    }
    kubernetes_service(join, kubernetes_ip);
    fill_scene(join, kubernetes_ip, &options);
    manifests = join_manifest_folder(join);
    options.probes.manifest_folder = manifests;
    read_node_evidence(join, &node, &nodes);
    options.evidence.node = node;
    options.evidence.nodes = nodes;
    name_services(&services);
    options.evidence.services = (const char *const *)services.items;
    if (join->found.report.cells.count)
        diag_report_free(&join->found.report);
    if (journal_own_folder(&join->journal, diag_transport_find(DIAG_REACH_NODE)->folder, err) < 0 ||
        diag_run(join->host, &options, &join->found.report, err) < 0)
        return -1;
    line = diag_report_line(&join->found.report);
    text_add(&join->progress.detail, line);
    return diag_report_is_good(&join->found.report) ? 0 : fail_flows(join, err);
}
