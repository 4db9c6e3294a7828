/* This phase tests the Pod network. */
#include "base/log.h"
#include "diag/causes/causes.h"
#include "diag/first_look.h"
#include "diag/network_report.h"
#include "diag/run.h"
#include "diag/ask/mailbox.h"
#include "join/found/need.h"
#include "join/kubelet/kubelet_files.h"
#include "join/phases/steps.h"
#include "join/programs/programs.h"
#include "join/undo/journal.h"
#include "netsetup/agents/agent.h"
#include "node/chosen.h"
#include "services/containerd_settings.h"
#include "services/runtime_files.h"

static void on_diag(void *context, unsigned waited_ms, unsigned left_ms, const char *message) {
    join_tell_waiting(context, waited_ms, left_ms, "", "%s", message);
}

static void on_cells(void *context, const struct diag_cells *cells, bool begun) {
    const struct join_progress *progress = context;
    struct text_list lines = {0};

    if (progress->table) {
        diag_cells_progress(cells, begun, &lines);
        progress->table(progress->context, &lines);
    }
    text_list_free(&lines);
}

/* Finds the Services that Pods use. Returns that of the cluster's DNS (new reference; NULL when
 * unknown) and sets the addresses of "kubernetes" and of the DNS by IPv6 ("" when unknown). */
static json_t *find_services(struct join *join, char kubernetes_ip[IP_TEXT_MAX],
                             char dns_ip6[IP_TEXT_MAX]) {
    const struct text_list *ranges = &join->found.cluster.service_subnets;
    const struct text_list *servers = &join->found.plan.dns_servers;
    _cleanup_(freep) char *path = NULL;
    _cleanup_json_ json_t *list = NULL;
    json_t *dns = NULL;
    struct cidr range;
    struct ip address;

    kubernetes_ip[0] = dns_ip6[0] = '\0';
    /* The first address of the service range always belongs to Service "kubernetes"
     * (kube-apiserver). */
    if (ranges->count && cidr_parse(ranges->items[0], &range, NULL) == 0 &&
        cidr_address(&range, 1, &address, NULL) == 0)
        ip_format(&address, kubernetes_ip);

    /* Each cluster chooses the name of its DNS Service, so it is found by the address in
     * clusterDNS, if Services may be read. */
    if (!servers->count || !diag_look_api_answers(join->found.look))
        return NULL;
    path = xasprintf("/api/v1/services?fieldSelector=spec.clusterIP%%3D%s", servers->items[0]);
    if (kube_get(&join->found.client, path, &list, ERROR_IGNORED) < 0)
        return NULL;
    json_each(json_object_get(list, "items"), i, service)
        if (!dns && text_equal(json_text_at(service, "spec.clusterIP"), servers->items[0]))
            dns = json_incref(service);

    /* kubeadm writes only the IPv4 address to clusterDNS, even for a dual-stack Service. */
    json_each(join->found.plan.ipv6.on ? json_at(dns, "spec.clusterIPs") : NULL, i, ip)
        if (json_is_string(ip) && ip_parse(json_string_value(ip), &address, NULL) == 0 &&
            address.family == 6)
            ip_format(&address, dns_ip6);
    return dns;
}

static void fill_flow_input(const struct join *join, const char *kubernetes_ip, const json_t *dns,
                            const char *dns_ip6, struct diag_options *ret) {
    const struct join_options *o = &join->found.options;
    const struct text_list *servers = &join->found.plan.dns_servers;
    const char *dns_ip = servers->count ? servers->items[0] : NULL;
    bool made_here = join->found.plan.agent && !join->found.plan.agent->in_cluster;
    bool outside = !text_equal(o->verify, "node"); /* --verify node stays inside the cluster */

    ret->flow_input = (struct diag_flow_input){
        .node_name = join->found.node_name,
        .node_ip = join->found.node_ip,
        .node_ip6 = made_here ? join->found.plan.ipv6.management_address : NULL,
        .dns_ip6 = dns_ip6,
        .dns_name = json_text_at(dns, "metadata.name"),
        .dns_namespace = json_text_at(dns, "metadata.namespace"),
        .dns_domain = join->found.cluster.dns_domain,
        .kubernetes_ip = kubernetes_ip,
        .dns_ip = dns_ip,
        .external_ip = outside ? o->external_ip : NULL,
        .external_name = outside ? o->external_name : NULL,
        .external_dns = outside ? o->external_dns : NULL,
        .timeout_ms = (unsigned)o->verify_timeout,
        .attempts = (unsigned)o->verify_attempts,
    };
    ret->look = join->found.look;
    ret->capture = o->verify_capture;
    ret->probes = (struct diag_probe_options){
        .program = join->probe_program,
        .program_len = join->probe_program_len,
        .node_name = join->found.node_name,
        .client = diag_look_api_answers(join->found.look) ? &join->found.client : NULL,
    };
    ret->evidence = (struct diag_evidence_options){
        .network_name = made_here ? join->found.plan.name : NULL,
        .network_mode = made_here ? join->found.plan.mode->name : NULL,
        .routes = made_here ? join->found.plan.routes : NULL,
        .pod_cidrs = &join->found.cluster.pod_subnets,
        .pod_cidr = made_here ? join->found.plan.pod_cidr : NULL,
        .dns_ip = dns_ip,
        .pod_cidr6 = join->found.plan.ipv6.pod_cidr,
        .node_ip6 = ret->flow_input.node_ip6,
        .dns_ip6 = dns_ip6,
        .dns_domain = join->found.cluster.dns_domain,
        .kubernetes_ip = kubernetes_ip,
    };
}

/* ---- state before the test ---- */

/* Collects what is already known before the first measurement. */
static int look(struct join *join, json_t **ret_node, struct error *err) {
    _cleanup_(freep) char *health = join_kubelet_health_url(join), *pipe = service_proof_pipe(join);
    struct diag_look_options options = {.node_name = join->found.node_name,
                                        .certificate_file = KUBELET_CLIENT_CERTIFICATE_FILE,
                                        .http = join->http,
                                        .kubelet_health = health,
                                        .cri_pipe = pipe};
    _cleanup_(diag_report_free) struct diag_report report = {0};
    struct error why = {0};

    if (find_node_client(join, &why) == 0)
        options.client = &join->found.client;
    else if (why.kind == ERROR_INTERRUPTED ||
             /* Without CHOSEN_FILE, this machine never joined. */
             host_file_type(join->host, CHOSEN_FILE) == HOST_ABSENT)
        return error_pass(err, &why);
    else
        options.client_error = why.message;
    json_decref(join->found.look);
    join->found.look = diag_look(join->host, &options, ret_node);

    /* Causes that are known already are shown before a Pod is started. */
    report.evidence = json_pack("{s:O}", "look", join->found.look);
    diag_causes_find(&report);
    for (size_t i = 0; i < report.causes.count; i++)
        join_warn(&join->progress, "%s: %s", report.causes.items[i].id,
                  report.causes.items[i].message);

    /* The test uses the cluster's facts. When the cluster cannot be asked, it uses those that the
     * join recorded. */
    error_clear(&why);
    if (diag_look_stops_pods(join->found.look))
        return 0; /* Pods cannot start: nothing will be measured */
    if (diag_look_api_answers(join->found.look) &&
        join_need(join, NEED_NODE_CLIENT | NEED_CLUSTER | NEED_NODE | NEED_PLAN, &why) == 0)
        return 0;
    if (why.kind == ERROR_INTERRUPTED || find_remembered(join, err) < 0)
        return why.kind ? error_pass(err, &why) : -1;
    join_warn(&join->progress, "using what the join recorded, without asking the cluster%s%s",
              why.kind ? ": " : "", why.message);
    return 0;
}

/* Finds causes for the measured flows and publishes the report. Fails if a flow fails. */
static int judge(struct join *join, struct error *err) {
    struct diag_report *report = &join->found.report;
    _cleanup_json_ json_t *changed = NULL;
    _cleanup_(freep) char *line = NULL;
    struct error why = {0};

    /* When a flow failed, changes to what winjoin wrote on this node may be the cause. */
    if (!diag_report_is_good(report) && report->evidence)
        changed = written_compare(join->host, !json_object_get(report->evidence, "hnsSilent"));
    if (json_array_size(changed)) {
        json_object_set(report->evidence, "changed", changed);
        diag_causes_find(report);
    }
    /* The report is published for the diagnosis of the whole cluster. */
    if (diag_look_api_answers(join->found.look) &&
        network_report_publish(join->host, join->http, report, &why) < 0)
        log_message(LOG_RETRY, "publish the report of this node's network: %s", why.message);

    line = diag_report_line(report);
    text_add(&join->progress.detail, line);
    if (diag_report_is_good(report))
        return 0;
    (void)error_set(err, ERROR_FLOWS, "test the pod network: %s", text_str(&join->progress.detail));
    for (size_t i = 0; i < report->causes.count && i < 3; i++) {
        const struct diag_cause *cause = &report->causes.items[i];

        (void)error_hint(err, "%s: %s%s%s", cause->id, cause->message,
                         cause->evidence.count ? "; " : "",
                         cause->evidence.count ? cause->evidence.items[0] : "");
    }
    return error_hint(err, "winjoin diag shows which flows and why");
}

int phase_verify(struct join *join, struct error *err) {
    struct diag_options options = {
        .progress = on_diag, .cells = on_cells, .progress_context = &join->progress};
    const char *config;
    _cleanup_(containerd_settings_free) struct containerd_settings now = {0};
    _cleanup_json_ json_t *node = NULL, *nodes = NULL, *dns = NULL;
    char kubernetes_ip[IP_TEXT_MAX], dns_ip6[IP_TEXT_MAX];
    _cleanup_(text_list_free) struct text_list services = {0};
    _cleanup_(freep) char *manifests = NULL, *image = NULL;

    if (text_equal(join->found.options.verify, "none")) {
        text_add(&join->progress.detail, "skipped (--verify none)");
        return 0;
    }
    if (look(join, &node, err) < 0)
        return -1;
    dns = find_services(join, kubernetes_ip, dns_ip6);
    fill_flow_input(join, kubernetes_ip, dns, dns_ip6, &options);
    manifests = join_manifest_folder(join);
    options.probes.manifest_folder = manifests;
    /* The sandbox image is the only image that every node has: that of containerd's configuration,
     * else the one that winjoin would write there. */
    config = join->found.containerd.config;
    image = containerd_settings_read(join->host, config ? config : CONTAINERD_CONFIG_PATH, true,
                                     &now, ERROR_IGNORED) == 0
                ? take_ptr(now.sandbox_image)
                : NULL;
    image = image ? image : programs_sandbox_image(join->host, &join->found);
    options.probes.sandbox_image = image;
    /* The other Nodes and what they publish are evidence. */
    if (node)
        (void)kube_nodes_get(&join->found.client, &nodes, ERROR_IGNORED);
    options.evidence.node = node;
    options.evidence.nodes = nodes;
    text_list_add(&services, "hns");
    for (const struct service *const *row = service_table; *row; row++)
        if ((*row)->diagnosed)
            text_list_add(&services, (*row)->name);
    options.evidence.services = (const char *const *)services.items;
    if (join->found.report.cells.count)
        diag_report_free(&join->found.report);
    if (journal_record(&join->journal, JOURNAL_FOLDER_ENTRY, DIAG_PROBES_FOLDER, NULL, err) < 0 ||
        diag_run(join->host, &options, &join->found.report, err) < 0)
        return -1;
    return judge(join, err);
}
