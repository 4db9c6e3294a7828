/* Collects the evidence of a whole cluster in one .zip: what its API says about the pod network. */
#include "base/build_info.h"
#include "base/rfc3339.h"
#include "diag/cluster/cluster.h"
#include "kube/client.h"

#define LIST "?limit=500"
enum { ASK_MS = 15000 };

/* The namespaces where network agents, kube-proxy and the cluster's DNS run. */
static const char *const spaces[] = {
    "kube-system",
    "kube-flannel",
    "calico-system",
    "tigera-operator",
    "cilium",
    "antrea",
    "openshift-ovn-kubernetes",
    "openshift-dns",
    "ovn-kubernetes",
};
/* The lists that are read from each of these namespaces, and from the run's own namespace. */
static const struct {
    const char *api, *resource, *what;
} in_spaces[] = {
    {"/api/v1", "pods", "pods: where they run, why they do not"},
    {"/apis/apps/v1", "daemonsets", "agents of the network, kube-proxy"},
    {"/api/v1", "events", "what happened there lately"},
};
static const struct {
    const char *path, *name, *what;
} lists[] = {
    {"/version", "version", "of the API server"},
    {"/api/v1/nodes" LIST, "nodes", "nodes, their pod subnets and annotations"},
    {"/api/v1/services" LIST, "services", "Services of all namespaces"},
    {"/apis/discovery.k8s.io/v1/endpointslices" LIST, "endpointslices", "the pods behind them"},
};
static const struct {
    const char *space, *name;
} configs[] = {
    {"kube-system", "kubeadm-config"},   {"kube-system", "kubelet-config"},
    {"kube-system", "kube-proxy"},       {"kube-system", "coredns"},
    {"kube-system", "kube-flannel-cfg"}, {"kube-flannel", "kube-flannel-cfg"},
    {"kube-system", "calico-config"},    {"kube-system", "antrea-config"},
    {"kube-system", "cilium-config"},
};

struct asking {
    struct kube_many *items;
    char **paths, **names;
    const char **what;
    size_t count;
};

static void ask(struct asking *a, char *path, char *name, const char *what) {
    a->paths[a->count] = path;
    a->names[a->count] = name;
    a->what[a->count] = what;
    a->items[a->count++] = (struct kube_many){.method = "GET", .path = path, .timeout_ms = ASK_MS};
}

/* Removes fields that nobody reads, and copies of whole objects. */
static void tidy(json_t *json) {
    const json_t *list = json_object_get(json, "env");

    json_object_del(json, "managedFields");
    json_object_del(json, "kubectl.kubernetes.io/last-applied-configuration");
    if (json_is_array(list)) {
        json_t *environment = json_object();

        /* Turns [{name: A, value: B}] into {A: B}, so that redact_secrets() knows their names. */
        json_each(list, i, item) {
            const char *name = json_text_at(item, "name");
            json_t *value = json_object_get(item, "value");

            if (!value)
                value = json_object_get(item, "valueFrom");
            if (name)
                json_object_set(environment, name, value ? value : json_null());
        }
        json_object_set_new(json, "env", environment);
    }
    json_each_member(json, key, item) {
        tidy(item);
    }
    json_each(json, i, item) {
        tidy(item);
    }
}

static void add_answer(const struct asking *a, size_t i, struct collection *ret) {
    const struct kube_many *item = &a->items[i];
    _cleanup_json_ json_t *json = NULL;
    struct error why = {0};

    if (item->status == 404)
        return;
    if (item->status != 200) {
        (void)kube_many_error(item, &why);
    } else if (json_read(item->answer, item->answer_len, a->paths[i], &json, &why) == 0) {
        const json_t *items = json_object_get(json, "items");

        if (json_is_null(items) || (json_is_array(items) && !json_array_size(items)))
            return; /* An empty list usually means that the namespace does not exist. */
        tidy(json);
        if (json_text_at(json, "metadata.continue") && *json_text_at(json, "metadata.continue"))
            collection_miss(ret, a->names[i], "it has more than the 500 that are packed");
        collection_add_json(ret, a->names[i], a->what[i], json);
        return;
    }
    collection_miss(ret, a->names[i], why.message);
}

void cluster_evidence_add(struct kube_client *client, const char *namespace_,
                          struct collection *ret) {
    struct asking asking;
    size_t max =
        ARRAY_SIZE(lists) + ARRAY_SIZE(configs) + (ARRAY_SIZE(spaces) + 1) * ARRAY_SIZE(in_spaces);

    asking =
        (struct asking){xcalloc(max, sizeof *asking.items), xcalloc(max, sizeof *asking.paths),
                        xcalloc(max, sizeof *asking.names), xcalloc(max, sizeof *asking.what), 0};
    for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
        ask(&asking, xstrdup(lists[i].path), xasprintf("evidence/%s.json", lists[i].name),
            lists[i].what);
    for (size_t i = 0; i < ARRAY_SIZE(configs); i++)
        ask(&asking,
            xasprintf("/api/v1/namespaces/%s/configmaps/%s", configs[i].space, configs[i].name),
            xasprintf("evidence/%s/configmap-%s.json", configs[i].space, configs[i].name),
            "settings of the cluster and its network");
    for (size_t i = 0; i <= ARRAY_SIZE(spaces); i++) {
        const char *space = i ? spaces[i - 1] : namespace_;

        for (size_t k = 0; space && k < ARRAY_SIZE(in_spaces); k++)
            ask(&asking,
                xasprintf("%s/namespaces/%s/%s" LIST, in_spaces[k].api, space,
                          in_spaces[k].resource),
                xasprintf("evidence/%s/%s.json", space, in_spaces[k].resource), in_spaces[k].what);
    }
    kube_perform_many(client, asking.items, asking.count, 0);
    for (size_t i = 0; i < asking.count; i++)
        add_answer(&asking, i, ret);
    kube_many_free(asking.items, asking.count);
    for (size_t i = 0; i < asking.count; i++) {
        free(asking.paths[i]);
        free(asking.names[i]);
    }
    free_all(asking.items, asking.paths, asking.names, asking.what);
}

int cluster_collect(struct collection *collection, const char *server,
                    const struct diag_report *report, const char *failure, int64_t now, char **ret,
                    size_t *ret_len, struct error *err) {
    const struct diag_text_style style = {0};
    _cleanup_(freep) char *head =
        xasprintf("winjoin diag --collect: the cluster %s, %s, winjoin %s", server,
                  RFC3339_TEXT(report ? report->time : now), build_version);

    if (report) {
        _cleanup_(freep) char *text = diag_report_text(report, &style);
        _cleanup_(freep) char *html = diag_report_html(report);

        collection_add_report(collection, text, html, diag_report_json(report));
    }
    return collection_finish(collection, head, failure, ret, ret_len, err);
}
