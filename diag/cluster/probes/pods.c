/* Makes the objects of a cluster's diagnosis, waits for its pods, and deletes all of it. */
#include "diag/cluster/probes/asking.h"

#include "base/log.h"
#include "base/rfc3339.h"
#include "base/yaml.h"
#include "kube/client.h"
#include "kube/object.h"
#include "templates/templates.h"

/* ---- the objects ---- */

static json_t *part(const char *name, json_t *values) {
    return yaml_template(template_find("cluster-diagnosis.yaml")->data, name, values);
}

json_t *cluster_pod_make(const struct cluster_node *node, const char *image) {
    _cleanup_json_ json_t *of_os =
        part(text_equal(node->os, "windows") ? "windows" : "linux", NULL);
    _cleanup_(freep) char *command = kube_escape(json_text_at(of_os, "SETTINGS_OF"));
    _cleanup_(freep) char *settings = xasprintf("--http-override=/shell?cmd=%s", command);
    json_t *values = json_pack("{s:s, s:s, s:s, s:s}", "POD", node->pod, "NODE", node->name, "OS",
                               node->os, "IMAGE", image);

    json_object_update(values, of_os);
    json_object_set_new(values, "SETTINGS", json_string(settings));
    return part("pod", values);
}

static json_t *alias_make(const char *name, const char *domain) {
    _cleanup_(freep) char *target = xasprintf("kubernetes.default.svc.%s", domain);

    return part("alias", json_pack("{s:s, s:s}", "NAME", name, "KUBERNETES", target));
}

json_t *cluster_services_make(const char *domain) {
    json_t *services = part("services", NULL);

    json_array_append_new(services, alias_make("alias", domain));
    return services;
}

const struct kube_right cluster_rights[CLUSTER_RIGHTS] = {
    {"list", "", "nodes"},        {"create", "", "namespaces"}, {"list", "", "namespaces"},
    {"delete", "", "namespaces"}, {"create", "", "pods"},       {"list", "", "pods"},
    {"watch", "", "pods"},        {"get", "", "pods/proxy"},    {"create", "", "services"},
};

enum {
    START_MS = 300000,
    SILENT_MS = 60000, /* An API server that is silent for so long is not waited for. */
    CREATE_TRIES = 20, /* The ServiceAccount is made a moment after its namespace. */
    CREATE_FIRST_MS = 100,
    CREATE_PAUSE_MS = 1000,
    READY_MS = 4000, /* The kubelet's readiness probe runs once a second. */
    READY_LEAST_MS = 500,
    REMOVE_TRIES = 10,
    REMOVE_PAUSE_MS = 3000,
};

/* ---- rights ---- */

int cluster_rights_check(struct kube_client *client, json_t **ret_grant, struct error *err) {
    _cleanup_(text_free) struct text missing = {0};
    _cleanup_json_ json_t *answer = NULL, *review = NULL;
    bool may[CLUSTER_RIGHTS] = {0};
    const char *user;
    json_t *rules;

    if (kube_may(client, cluster_rights, CLUSTER_RIGHTS, may, err) < 0)
        return -1;
    for (size_t i = 0; i < CLUSTER_RIGHTS; i++)
        if (!may[i])
            text_addf(&missing, "%s%s %s", missing.len ? ", " : "", cluster_rights[i].verb,
                      cluster_rights[i].resource);
    if (!missing.len)
        return 0;

    review = json_pack("{s:s, s:s}", "apiVersion", "authentication.k8s.io/v1", "kind",
                       "SelfSubjectReview");
    (void)kube_create(client, "/apis/authentication.k8s.io/v1/selfsubjectreviews", review, &answer,
                      ERROR_IGNORED); /* A server before 1.28 has no SelfSubjectReview. */
    user = json_text_or(answer, "status.userInfo.username", "YOUR-USER");
    /* One rule for each right, in the order in which messages list them, and one for exec, which is
     * used only where the proxy fails. */
    rules = json_array();
    for (size_t i = 0; i < CLUSTER_RIGHTS; i++)
        json_array_append_new(rules, json_pack("{s:[s], s:[s], s:[s]}", "apiGroups",
                                               cluster_rights[i].group, "resources",
                                               cluster_rights[i].resource, "verbs",
                                               cluster_rights[i].verb));
    json_array_append_new(rules, json_pack("{s:[s], s:[s], s:[s,s]}", "apiGroups", "", "resources",
                                           "pods/exec", "verbs", "get", "create"));
    *ret_grant = part("grant", json_pack("{s:o, s:s}", "RULES", rules, "USER", user));
    (void)error_set(err, ERROR_DENIED, "diagnose the cluster: '%s' is not allowed to: %s", user,
                    text_str(&missing));
    return error_hint(err, "nothing was changed; an administrator grants it: winjoin diag "
                           "--kubeconfig FILE | kubectl --kubeconfig ADMIN apply -f -");
}

/* ---- delete namespaces ---- */

void cluster_sweep(struct kube_client *client) {
    _cleanup_json_ json_t *list = NULL;
    struct error why = {0};

    if (kube_get(client,
                 "/api/v1/namespaces?labelSelector=" CLUSTER_MANAGER "%3D" CLUSTER_MANAGER_NAME,
                 &list, &why) < 0)
        log_message(LOG_RETRY, "%s", why.message);
    json_each(json_object_get(list, "items"), i, item) {
        const char *name = json_text_at(item, "metadata.name");
        int64_t made = rfc3339_seconds(json_text_at(item, "metadata.creationTimestamp"));

        if (!name || !made || !text_starts_with(name, CLUSTER_MANAGER_NAME "-") ||
            !kube_name_is_valid(name) || json_at(item, "metadata.deletionTimestamp") ||
            host_now(client->host) + client->clock_difference < made + POD_LIFE_SECONDS)
            continue;
        _cleanup_(freep) char *path = xasprintf("/api/v1/namespaces/%s", name);

        if (kube_delete(client, path, &why) < 0)
            log_message(LOG_RETRY, "%s", why.message);
    }
}

int cluster_remove(struct kube_client *client, const char *namespace_, struct error *err) {
    _cleanup_(freep) char *path = xasprintf("/api/v1/namespaces/%s", namespace_);

    for (int i = 0;; i++) {
        struct error ignored = {0};

        error_clear(err);
        if (kube_delete(client, path, err) == 0)
            return 0;
        if (i == REMOVE_TRIES || (!error_is_retryable(err) && err->kind != ERROR_TIMED_OUT))
            return -1;
        /* After Ctrl-C this returns at once. */
        (void)host_sleep(client->host, REMOVE_PAUSE_MS, &ignored);
    }
}

/* ---- create the objects ---- */

static int create_all(struct kube_client *client, const char *path, const json_t *objects,
                      struct error *err) {
    size_t count = json_array_size(objects);
    struct kube_many *items = xcalloc(count, sizeof *items);
    const struct kube_many *failed;
    bool over = false;

    for (unsigned try = 0; !over; try++) {
        bool may_pass;

        failed = NULL;
        for (size_t i = 0; i < count; i++)
            items[i] = (struct kube_many){
                .method = "POST", .path = path, .body = json_write(json_array_get(objects, i))};
        kube_perform_many(client, items, count, 0);
        for (size_t i = 0; i < count; i++)
            if (items[i].status / 100 != 2 && items[i].status != 409)
                /* An existing object was made by an earlier try whose answer was lost. */
                failed = &items[i];
        /* Another try is useful when the ServiceAccount is not there yet (usually it is within a
         * tenth of a second), or when the server has too much to do. */
        may_pass =
            failed &&
            (failed->status == 429 || failed->status >= 500 || !failed->status ||
             (failed->status == 403 && failed->answer && strstr(failed->answer, "serviceaccount")));
        over =
            !may_pass || try == CREATE_TRIES ||
            host_sleep(client->host, try < 4 ? CREATE_FIRST_MS << try : CREATE_PAUSE_MS, err) < 0;
        if (over && failed && !err->kind)
            (void)kube_many_error(failed, err);
        kube_many_free(items, count);
        for (size_t i = 0; i < count; i++)
            free((char *)items[i].body);
    }
    free(items);
    return failed ? -1 : 0;
}

int cluster_alias_start(struct kube_client *client, const struct diag_report *report,
                        struct error *err) {
    /* Only the ExternalName Service is made again ("domain-alias") for a domain learned later. */
    _cleanup_json_ json_t *alias = alias_make("domain-alias", report->domain);
    _cleanup_(freep) char *path = xasprintf("/api/v1/namespaces/%s/services", report->namespace_);

    return kube_create(client, path, alias, NULL, err);
}

int cluster_pods_start(struct kube_client *client, const struct cluster_options *options,
                       struct diag_report *report, struct cluster_addresses *ret,
                       struct error *err) {
    /* The namespace has Pod Security "restricted", which is enough for the probes. */
    _cleanup_json_ json_t *space =
        part("namespace", json_pack("{s:s}", "NAME", report->namespace_));
    _cleanup_json_ json_t *services = cluster_services_make(report->domain), *made = json_array();
    _cleanup_json_ json_t *pods = json_array();
    _cleanup_(freep) char *pods_path = xasprintf("/api/v1/namespaces/%s/pods", report->namespace_),
                          *services_path =
                              xasprintf("/api/v1/namespaces/%s/services", report->namespace_);

    if (kube_create(client, "/api/v1/namespaces", space, NULL, err) < 0)
        return -1;
    /* The Services are made before the pods, so that kube-proxy knows them when the pods run. */
    for (size_t i = 0; i < json_array_size(services); i++) {
        json_t *answer = NULL;

        if (kube_create(client, services_path, json_array_get(services, i), &answer, err) < 0)
            return -1;
        json_array_append_new(made, answer);
    }
    cluster_addresses_read(made, ret);
    if (!*ret->backend_ip || !*ret->self_ip || !*ret->sticky_ip || !ret->node_port)
        return error_set(err, ERROR_MALFORMED, "create Services: the answer has no clusterIP");

    for (size_t i = 0; i < report->nodes.count; i++)
        if (!report->nodes.items[i].waiting)
            json_array_append_new(
                pods, cluster_pod_make(&report->nodes.items[i],
                                       options->image ? options->image : CLUSTER_PROBE_IMAGE));
    return create_all(client, pods_path, pods, err);
}

/* ---- wait for the pods ---- */

struct waiting {
    const struct cluster_options *options;
    struct diag_report *report;
    unsigned limit_ms;
    size_t open; /* Pods that do not run yet but still may. */
};

/* Reads a pod's state and addresses into its node. `waiting` becomes why the pod does not run; NULL
 * when it runs. */
static void read_state(struct cluster_node *node, const json_t *pod) {
    static const struct {
        const char *path;
        bool six;
    } addresses[] = {{"status.podIPs.1.ip", true},
                     {"status.podIPs.0.ip", true},
                     {"status.podIPs.1.ip", false},
                     {"status.podIP", false}};
    const json_t *ready = kube_ready_condition(pod);

    free(take_ptr(node->waiting));
    node->waiting = kube_pod_waiting(pod);
    for (size_t i = 0; i < ARRAY_SIZE(addresses); i++) {
        const char *ip = json_text_at(pod, addresses[i].path);

        if (ip && (strchr(ip, ':') != NULL) == addresses[i].six)
            text_set(addresses[i].six ? &node->pod_ip6 : &node->pod_ip, xstrdup(ip));
    }
    if (!node->waiting && !node->pod_ip && !node->pod_ip6)
        node->waiting = xstrdup("Pending");
    if (ready)
        node->pod_ready = text_equal(json_text_at(ready, "status"), "True");
}

/* Says whether a pod that does not run still may. Once the kubelet has tried more than once, it
 * never will. */
static bool is_open(const struct cluster_node *node) {
    static const char *const ends[] = {"ImagePullBackOff",  "InvalidImageName",
                                       "ErrImageNeverPull", "CreateContainerConfigError",
                                       "CrashLoopBackOff",  "Failed"};

    if (!node->pod || !node->waiting)
        return false;
    for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
        if (text_starts_with(node->waiting, ends[i]))
            return false;
    return true;
}

static int on_pod(void *context, const char *type, const json_t *object, struct error *err) {
    struct waiting *w = context;
    struct cluster_node *node =
        cluster_node_of_probe(&w->report->nodes, json_text_at(object, "metadata.name"));

    (void)err; /* This callback never fails, so it sets no error. */
    if (node && (text_equal(type, "ADDED") || text_equal(type, "MODIFIED"))) {
        w->open -= is_open(node);
        read_state(node, object);
        w->open += is_open(node);
    }
    return w->open == 0;
}

static int on_tick(void *context, unsigned waited_ms, struct error *err) {
    struct waiting *w = context;
    _cleanup_(freep) char *line = NULL;
    size_t shown = 0;

    (void)err; /* This callback never fails, so it sets no error. */
    while (shown < w->report->nodes.count && !w->report->nodes.items[shown].waiting)
        shown++;
    if (shown < w->report->nodes.count)
        line = xasprintf("waiting for %zu probe pods (%s: %s)", w->open,
                         w->report->nodes.items[shown].name, w->report->nodes.items[shown].waiting);
    if (line && w->options->progress)
        w->options->progress(w->options->progress_context, waited_ms, w->limit_ms - waited_ms,
                             line);
    return w->open == 0;
}

int cluster_pods_await(struct kube_client *client, const struct cluster_options *options,
                       struct diag_report *report, struct error *err) {
    struct waiting w = {.options = options,
                        .report = report,
                        .limit_ms =
                            options->start_timeout_ms ? options->start_timeout_ms : START_MS};
    _cleanup_(freep) char *path = xasprintf("/api/v1/namespaces/%s/pods", report->namespace_);
    struct kube_watch watch = {.path = path,
                               .timeout_ms = w.limit_ms,
                               .silent_ms = SILENT_MS,
                               .on_event = on_pod,
                               .on_tick = on_tick,
                               .context = &w};

    for (size_t i = 0; i < report->nodes.count; i++) {
        struct cluster_node *node = &report->nodes.items[i];

        if (!node->waiting)
            node->waiting = xstrdup("Pending");
        w.open += is_open(node);
    }
    if (kube_watch(client, &watch, 1, err) == 0)
        return 0;
    if (err->kind != ERROR_TIMED_OUT)
        return error_prefix(err, "wait for the probe pods");
    error_clear(err); /* The nodes of pods that do not run have the reason in `waiting`. */
    return 0;
}

/* A watch of the pods' readiness. It looks at all pods, since one may have been evicted or deleted
 * meanwhile. */
struct ready_watch {
    struct diag_report *report;
    bool listed;
    size_t open; /* Once the pods are listed: how many are not ready yet. */
};

static int on_ready(void *context, const char *type, const json_t *object, struct error *err) {
    struct ready_watch *l = context;
    struct cluster_nodes *nodes = &l->report->nodes;
    struct cluster_node *node = cluster_node_of_probe(nodes, json_text_at(object, "metadata.name"));

    (void)err; /* This callback never fails, so it sets no error. */
    if (text_equal(type, "LISTED")) {
        _cleanup_(freep) bool *there = xcalloc(nodes->count, sizeof *there);

        json_each(json_object_get(object, "items"), k, item) {
            const struct cluster_node *of =
                cluster_node_of_probe(nodes, json_text_at(item, "metadata.name"));

            if (of && !json_at(item, "metadata.deletionTimestamp"))
                there[of - nodes->items] = true;
        }
        l->listed = true;
        l->open = 0;
        for (size_t i = 0; i < nodes->count; i++) {
            struct cluster_node *n = &nodes->items[i];

            if (n->pod && !n->waiting && !there[i])
                cluster_node_gone(n, xstrdup("its pod was deleted, as where a node is drained"));
            l->open += !n->waiting && !n->pod_ready;
        }
    } else if (node && !node->waiting && !text_equal(type, "DELETED")) {
        l->open -= l->listed && !node->pod_ready;
        read_state(node, object);
        l->open += l->listed && !node->waiting && !node->pod_ready;
    }
    return l->listed && !l->open;
}

int cluster_pods_await_ready(struct kube_client *client, struct diag_report *report, uint64_t begin,
                             struct error *err) {
    uint64_t waited = host_monotonic_ms(client->host) - begin;
    struct ready_watch ready = {.report = report};
    _cleanup_(freep) char *path = xasprintf("/api/v1/namespaces/%s/pods", report->namespace_);
    struct kube_watch watch = {.path = path,
                               .timeout_ms = waited + READY_LEAST_MS < READY_MS
                                                 ? (unsigned)(READY_MS - waited)
                                                 : READY_LEAST_MS,
                               .on_event = on_ready,
                               .context = &ready};

    if (kube_watch(client, &watch, 1, err) < 0) {
        if (err->kind == ERROR_INTERRUPTED)
            return -1;
        log_message(LOG_RETRY, "%s", err->message);
        error_clear(err); /* Pods that are not ready show in the report. */
    }
    return 0;
}
