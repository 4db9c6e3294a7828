/* The API server of a cluster of many nodes that is well, as a diagnosis of it asks: each answer
 * takes as long in a large cluster as in a small one. */
#pragma once

#include <stdio.h>
#include <stdlib.h>

#include "diag/cluster/cluster.h"
#include "kube/object.h"
#include "tests/memory/host_memory.h"
#include "tests/memory/http_memory.h"
#include "tests/scene/large_cluster.h"

enum { LARGE_PAGE = 500 };

static struct large_api {
    struct host *host;
    struct http *http;
    struct kube_client client;
    struct text_list pages; /* of the NodeList */
    const char *events;     /* NULL: they may not be read */
    struct text_list pods;  /* names, as they were made */
    size_t made_services;
    size_t lists; /* pages of Nodes that were asked for */
} large;

static const char *const large_pools[] = {"system", "windows", "batch"};

/* One Node: every second a Windows node, of three pools and three zones; `said`: its condition
 * PodNetworkProved, NULL: it has none. */
static inline json_t *played_node(size_t n, bool ready, const char *said) {
    bool windows = n % 2;
    _cleanup_(freep) char *ip = large_address(64, n), *cidr = large_address(192, n << 2),
                          *zone = xasprintf("zone-%zu", n / 6 % 3);
    json_t *conditions =
        json_pack("[{s:s, s:s}]", "type", "Ready", "status", ready ? "True" : "False");

    if (said)
        json_array_append_new(conditions, json_pack("{s:s, s:s, s:s, s:s, s:s}", "type",
                                                    "PodNetworkProved", "status", said, "reason",
                                                    "SVC-LOST", "message", "a Service is lost",
                                                    "lastHeartbeatTime", "2026-11-21T10:00:00Z"));
    return json_pack(
        "{s:{s:o, s:{s:s, s:s}}, s:{s:s}, s:{s:[{s:s, s:s}], s:o, s:{s:s, s:s, s:s, s:o}}}",
        "metadata", "name", large_text("node-", n), "labels", "agentpool", large_pools[n % 3],
        "topology.kubernetes.io/zone", zone, "spec", "podCIDR", cidr, "status", "addresses", "type",
        "InternalIP", "address", ip, "conditions", conditions, "nodeInfo", "operatingSystem",
        windows ? "windows" : "linux", "kubeletVersion", "v1.37.1", "kernelVersion",
        windows ? "10.0.20348.1" : "6.1", "machineID", large_text("machine-", n));
}

static inline void large_api_add_page(json_t *items, bool more) {
    _cleanup_json_ json_t *page = json_pack("{s:s, s:{s:s}, s:o}", "kind", "NodeList", "metadata",
                                            "resourceVersion", "7", "items", items);
    _cleanup_(freep) char *next = xasprintf("%zu", large.pages.count + 1);

    if (more)
        json_put(page, "metadata.continue", json_string(next));
    text_list_add_owned(&large.pages, json_write(page));
}

static inline char *large_pods_json(const char *path) {
    const char *mark = strstr(path, "continue=");
    size_t at = mark ? strtoul(mark + strlen("continue="), NULL, 10) : 0, i = at;
    _cleanup_json_ json_t *list = json_pack("{s:s, s:{s:s}, s:[]}", "kind", "PodList", "metadata",
                                            "resourceVersion", "7", "items");

    for (; i < at + LARGE_PAGE && i < large.pods.count; i++) {
        const char *name = large.pods.items[i];
        _cleanup_(freep) char *ip =
            large_address(128, strtoul(name + strlen("probe-"), NULL, 10) - 1);

        json_array_append_new(json_object_get(list, "items"),
                              json_pack("{s:{s:s}, s:{s:s, s:s, s:[{s:s, s:s}]}}", "metadata",
                                        "name", name, "status", "phase", "Running", "podIP", ip,
                                        "conditions", "type", "Ready", "status", "True"));
    }
    if (i < large.pods.count) {
        _cleanup_(freep) char *next = xasprintf("%zu", i);

        json_put(list, "metadata.continue", json_string(next));
    }
    return json_write(list);
}

/* Whose address or name it is, or the one who asks. */
static inline size_t large_responder(const char *host, size_t from) {
    unsigned a, b, c;

    if (sscanf(host, "10.%u.%u.%u", &a, &b, &c) == 3 && a >= 128)
        return ((size_t)(a - 128) << 16 | b << 8 | c) + 1;
    return sscanf(host, "probe-%u.", &a) == 1 ? a : from;
}

static inline char *large_dial(const char *path) {
    size_t from = strtoul(strstr(path, "/pods/probe-") + strlen("/pods/probe-"), NULL, 10);
    const char *host = strstr(path, "host="), *request = strstr(path, "request="),
               *tries = strstr(path, "tries=");
    struct text t = {0};

    if (strstr(path, ":8084/proxy/"))
        return xstrdup("{\"output\":\"x.svc.cluster.local,svc.cluster.local\\n10.96.0.10\\n\"}");
    if (strstr(path, "port=10250") || strstr(path, "host=alias."))
        return xstrdup("{\"errors\":[\"malformed HTTP response\"]}");
    if (text_starts_with(request, "request=echo"))
        return xasprintf("{\"responses\":[\"%.*s\"]}", (int)strspn(strchr(request, '0'), "0"),
                         strchr(request, '0'));
    if (text_starts_with(request, "request=clientip"))
        return xasprintf("{\"responses\":[\"10.128.0.1:4000\"]}");
    for (unsigned long i = tries ? strtoul(tries + strlen("tries="), NULL, 10) : 1; i; i--)
        text_addf(&t, "%s\"probe-%zu\"", t.len ? "," : "{\"responses\":[",
                  large_responder(host + strlen("host="), from));
    text_add(&t, "]}");
    return text_take(&t);
}

static inline char *played_service(const char *body) {
    json_t *service = NULL;
    char *text;

    if (json_read(body, strlen(body), "service", &service, NULL) < 0)
        exit(1);
    _cleanup_(freep) char *ip = large_address(96, ++large.made_services);
    json_put(service, "spec.clusterIP", json_string(ip));
    json_each(json_at(service, "spec.ports"), i, port)
        json_object_set_new(port, "nodePort",
                            json_integer((json_int_t)(30000 + 10 * large.made_services + i)));
    text = json_write(service);
    json_decref(service);
    return text;
}

static inline long large_posted(const char *path, const char *body, char **ret) {
    if (text_ends_with(path, "/pods")) {
        const char *name = strstr(body, "probe-");

        text_list_add_owned(&large.pods, xstrndup(name, strcspn(name, "\"")));
    }
    *ret = strstr(path, "/selfsubjectrulesreviews") ? xstrdup("{\"status\":{\"incomplete\":true}}")
           : strstr(path, "/selfsubjectaccessreviews") ? xstrdup("{\"status\":{\"allowed\":true}}")
           : text_ends_with(path, "/services")         ? played_service(body)
                                                       : xstrdup("{}");
    return 201;
}

static inline long large_got(const char *path, char **ret) {
    const char *mark = strstr(path, "continue=");
    size_t page = mark ? strtoul(mark + strlen("continue="), NULL, 10) : 0;

    if (text_starts_with(path, "/api/v1/namespaces/default/events")) {
        *ret = xstrdup(large.events ? large.events : "{\"message\":\"no events for you\"}");
        return large.events ? 200 : 403;
    }
    large.lists += text_starts_with(path, "/api/v1/nodes");
    *ret = text_starts_with(path, "/api/v1/nodes") ? xstrdup(large.pages.items[page])
           : strstr(path, "/proxy/")               ? large_dial(path)
           : strstr(path, "/pods")                 ? large_pods_json(path)
                                                   : xstrdup("{\"items\":[]}");
    return 200;
}

static inline int large_answer(void *context, const struct http_request *request,
                               struct http_response *ret, struct error *err) {
    const char *path = request->url + strlen("https://k");

    (void)context, (void)err;
    ret->status = text_equal(request->method, "POST")
                      ? large_posted(path, request->body, &ret->body)
                  : text_equal(request->method, "DELETE") ? (ret->body = xstrdup("{}"), 200)
                                                          : large_got(path, &ret->body);
    ret->body_len = strlen(ret->body);
    return 0;
}

/* Its Nodes are those of `node` by number; it makes them. */
static inline void large_api_open(size_t nodes, json_t *(*node)(size_t n)) {
    static const struct kubeconfig config = {.server = (char *)"https://k", .token = (char *)"t"};

    large = (struct large_api){.host = host_memory_new(), .events = "{\"items\":[]}"};
    for (size_t begin = 0; begin < nodes; begin += LARGE_PAGE) {
        json_t *items = json_array();

        for (size_t n = begin; n < nodes && n < begin + LARGE_PAGE; n++)
            json_array_append_new(items, node(n));
        large_api_add_page(items, begin + LARGE_PAGE < nodes);
    }
    large.http = http_memory_new(large_answer, NULL);
    if (kube_client_open(large.http, large.host, &config, &large.client, NULL) < 0)
        exit(1);
}

static inline void large_api_close(void) {
    kube_client_close(&large.client);
    http_free(large.http);
    host_free(large.host);
    text_list_free(&large.pages);
    text_list_free(&large.pods);
}

/* All the Nodes, as a run reads them. */
static inline int large_take_nodes(void *context, const json_t *items, struct error *err) {
    return cluster_nodes_add(context, items, err);
}
static inline void large_api_nodes(struct cluster_nodes *ret) {
    if (kube_pages_each(&large.client, "/api/v1/nodes", large_take_nodes, ret, NULL, NULL) < 0)
        exit(1);
}

/* ---- nodes that say something ---- */

enum { EVERY = 491 }; /* so that they are on each page, first and last on some */

static inline const char *said_of(size_t n) {
    return n % EVERY == 1 ? "False" : n % EVERY == 2 ? "Unknown" : n % 2 ? "True" : NULL;
}

static inline json_t *saying_node(size_t n) {
    json_t *node = played_node(n, n % EVERY != 0, said_of(n));

    if (n % EVERY == 3)
        json_put(node, "metadata.annotations",
                 json_pack("{s:s}", "winjoin.io/network-report", "no JSON"));
    if (n % EVERY == 4)
        json_put(node, "spec.podCIDR", json_string("10.192.255.0/24"));
    return node;
}
