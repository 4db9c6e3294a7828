/* A cluster in memory, as its API server answers a diagnosis of it: nodes, probe pods, Services,
 * the pod proxy. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/text.h"
#include "diag/cluster/cluster.h"
#include "tests/memory/host_memory.h"
#include "tests/memory/http_memory.h"

enum { NODES = 3, NODES_MANY = 7 }; /* many: not each is asked to reach each */

/* A question that a probe is asked. */
struct dial {
    unsigned from; /* the probe's number, from 1 */
    char host[128];
    char request[3100];         /* without its escapes */
    bool udp, large;            /* large: more than a packet's worth */
    unsigned port, tries, time; /* time: how often this was asked before */
};

static struct cluster_scene {
    struct host *host;
    struct http *http;
    struct kube_client client;
    struct cluster_options options;
    struct diag_report report;
    json_t *grant, *asked;  /* asked: how often each dial */
    struct text log;        /* "POST /api/v1/namespaces/NS/pods" of what changes something */
    struct text_list paths; /* of every request */
    char namespace_[64];
    unsigned made, failures; /* pods, and how often their making fails */
    unsigned deletions;      /* that fail */
    unsigned reviews;        /* questions about rights that fail */
    const char *denied;      /* a resource that nobody grants */
    const char *stale;       /* namespaces that are there */
    const char *pod_error;   /* status and body of a pod's making that fails */
    long pod_status;
    unsigned nodes;
    const char *waiting[NODES_MANY]; /* why a pod does not run */
    bool not_ready[NODES_MANY];      /* of the Nodes */
    const char *not_ready_why;       /* their reason, or NULL */
    const char *renewed;             /* of each node's Lease, or NULL: it may not be read */
    const char *nameless;            /* a Service that gets no address */
    bool dual, six_first;    /* pods and a Service have IPv6 addresses, too; as the first one */
    unsigned takes_ms;       /* a dial, set by dialed() each time */
    unsigned wait_us;        /* what an answer took, the same */
    bool unready_pods, dead; /* dead: no answer from the API server any more */
    bool unlisted;           /* the first pod */
    const char *suffixes;    /* of the pods */
    /* The answer of a dial that is not well: status and body; false: it is well. */
    bool (*dialed)(const struct dial *dial, long *ret_status, const char **ret_body);
    void (*before)(const char *method, const char *path); /* each request */
} c;

static const char *const node_names[NODES_MANY] = {"win-1", "win-2", "lin-1", "win-4",
                                                   "win-5", "lin-6", "win-7"};

static inline char *nodes_json(void) {
    json_t *items = json_array();

    for (unsigned i = 0; i < c.nodes; i++) {
        _cleanup_(freep) char *ip = xasprintf("10.0.0.%u", i + 1);
        bool linux_node = *node_names[i] == 'l';

        json_array_append_new(
            items,
            json_pack(
                "{s:{s:s, s:{s:s}}, s:{s:[{s:s, s:s}], s:[{s:s, s:s, s:s*}], s:{s:s, s:s, s:s}}}",
                "metadata", "name", node_names[i], "annotations",
                "flannel.alpha.coreos.com/backend-type", "vxlan", "status", "addresses", "type",
                "InternalIP", "address", ip, "conditions", "type", "Ready", "status",
                c.not_ready[i] ? "False" : "True", "reason", c.not_ready_why, "nodeInfo",
                "operatingSystem", linux_node ? "linux" : "windows", "kernelVersion",
                linux_node ? "6.1.0" : "10.0.20348.2340", "kubeletVersion", "v1.37.1"));
    }
    json_t *list = json_pack("{s:s, s:o}", "kind", "NodeList", "items", items);
    char *text = json_write(list);

    json_decref(list);
    return text;
}

static inline char *pods_json(void) {
    json_t *items = json_array();

    for (unsigned i = c.unlisted; i < c.nodes && c.made; i++) {
        _cleanup_(freep) char *name = xasprintf("probe-%u", i + 1);
        _cleanup_(freep) char *four = xasprintf("10.244.%u.5", i + 1);
        _cleanup_(freep) char *six = xasprintf("fd00:0:0:%u::5", i + 1);
        const char *ip = c.six_first ? six : four;
        json_t *pod = json_pack(
            "{s:{s:s}, s:{s:s, s:s, s:[{s:s}], s:[{s:s, s:s}]}}", "metadata", "name", name,
            "status", "phase", c.waiting[i] ? "Pending" : "Running", "podIP", ip, "podIPs", "ip",
            ip, "conditions", "type", "Ready", "status", c.unready_pods ? "False" : "True");

        if (c.dual)
            json_array_append_new(json_object_get(json_object_get(pod, "status"), "podIPs"),
                                  json_pack("{s:s}", "ip", c.six_first ? four : six));
        if (c.waiting[i])
            json_object_set_new(
                json_object_get(pod, "status"), "containerStatuses",
                json_pack("[{s:{s:{s:s}}}]", "state", "waiting", "reason", c.waiting[i]));
        json_array_append_new(items, pod);
    }
    json_t *list = json_pack("{s:s, s:{s:s}, s:o}", "kind", "PodList", "metadata",
                             "resourceVersion", "7", "items", items);
    char *text = json_write(list);

    json_decref(list);
    return text;
}

/* What a watch brings: every pod has changed. */
static inline char *events_json(void) {
    _cleanup_(freep) char *text = pods_json();
    json_t *list = NULL, *pod;
    struct text events = {0};
    size_t i;

    assert_int_equal(json_read(text, strlen(text), "pods", &list, NULL), 0);
    json_array_foreach(json_object_get(list, "items"), i, pod) {
        _cleanup_(freep) char *one = json_write(pod);

        text_addf(&events, "{\"type\":\"MODIFIED\",\"object\":%s}\n", one);
    }
    json_decref(list);
    return text_take(&events);
}

/* The server's own part of a Service: "backend" has 10.96.0.1, the next ones 2, 3 ... */
static inline char *service_answer(const char *body) {
    static const char *const names[] = {"probes", "backend", "sticky", "local", "self"};
    json_t *service = NULL;
    char *text;

    assert_int_equal(json_read(body, strlen(body), "service", &service, NULL), 0);
    for (unsigned i = 1; i < ARRAY_SIZE(names); i++) {
        _cleanup_(freep) char *ip = xasprintf("10.96.0.%u", i);
        json_t *spec = json_object_get(service, "spec"), *ports = json_object_get(spec, "ports");

        if (!text_equal(json_text_at(service, "metadata.name"), names[i]) ||
            text_equal(names[i], c.nameless))
            continue;
        json_object_set_new(spec, "clusterIP", json_string(ip));
        if (c.dual)
            json_object_set_new(spec, "clusterIPs", json_pack("[s, s]", ip, "fd00:1::1"));
        for (unsigned k = 0; k < 2; k++)
            json_object_set_new(json_array_get(ports, k), "nodePort",
                                json_integer(30000 + 10 * (int)i + (int)k));
    }
    text = json_write(service);
    json_decref(service);
    return text;
}

static inline void parameter(const char *url, const char *name, char *ret, size_t size) {
    _cleanup_(freep) char *key = xasprintf("%s=", name);
    const char *at = strstr(url, key);
    _cleanup_(freep) char *value =
        at ? xstrndup(at + strlen(key), strcspn(at + strlen(key), "&")) : xstrdup("");

    assert_int_equal(text_format(ret, size, "%s", value), 0);
}

/* Who answers when all is well: a probe by its address or name, any behind a Service. */
static inline char *dial_answer(const struct dial *d) {
    unsigned responder = d->from;

    for (unsigned i = 1; i <= c.nodes; i++) {
        _cleanup_(freep) char *ip = xasprintf("10.244.%u.", i), *name = xasprintf("probe-%u.", i);
        _cleanup_(freep) char *six = xasprintf("fd00%%3A0%%3A0%%3A%u%%3A", i);

        if (text_starts_with(d->host, ip) || text_starts_with(d->host, six) ||
            text_starts_with(d->host, name))
            responder = i;
    }
    if (text_starts_with(d->request, "echo"))
        return xasprintf("{\"responses\":[\"%s\"]}", strchr(d->request, '0'));
    if (text_equal(d->request, "clientip"))
        return xasprintf("{\"responses\":[\"10.244.%u.5:4000\"]}", d->from);
    bool tls = d->port == 10250 || text_starts_with(d->host, "alias.");
    _cleanup_(freep) char *one =
        tls ? xstrdup("\"malformed HTTP response\"") : xasprintf("\"probe-%u\"", responder);
    struct text answers = {0};

    text_add(&answers, tls ? "{\"errors\":[" : "{\"responses\":[");
    for (unsigned i = 0; i < d->tries; i++)
        text_addf(&answers, "%s%s", i ? "," : "", one);
    text_add(&answers, "]}");
    return text_take(&answers);
}

static inline long proxied(const char *url, char **ret) {
    struct dial d = {.from = (unsigned)strtoul(strstr(url, "/pods/probe-") + 12, NULL, 10)};
    char port[16], protocol[8], tries[8];
    long status = 200;
    const char *body = NULL;

    parameter(url, "host", d.host, sizeof d.host);
    parameter(url, "request", d.request, sizeof d.request);
    d.large = strlen(d.request) > 1000;
    parameter(url, "port", port, sizeof port);
    parameter(url, "protocol", protocol, sizeof protocol);
    parameter(url, "tries", tries, sizeof tries);
    d.port = (unsigned)strtoul(port, NULL, 10);
    d.tries = (unsigned)strtoul(tries, NULL, 10);
    d.udp = text_equal(protocol, "udp");
    d.time = (unsigned)json_integer_value(json_object_get(c.asked, url));
    json_object_set_new(c.asked, url, json_integer(d.time + 1));
    if (c.dialed && c.dialed(&d, &status, &body)) {
        *ret = xstrdup(body);
        return status;
    }
    *ret = strstr(url, ":8084/proxy/")
               ? xasprintf("{\"output\":\"%s\\n10.96.0.10\\n\"}", c.suffixes)
               : dial_answer(&d);
    return 200;
}

static inline long posted(const char *path, const char *body, char **ret) {
    if (strstr(path, "/selfsubjectaccessreviews")) {
        bool no = c.denied && strstr(body, c.denied);

        if (c.reviews && c.reviews--) {
            *ret = xstrdup("{}");
            return 500;
        }
        *ret = xasprintf("{\"status\":{\"allowed\":%s}}", no ? "false" : "true");
        return 201;
    }
    if (strstr(path, "/selfsubjectrulesreviews")) { /* as where another authorizer decides */
        *ret = xstrdup("{\"status\":{\"incomplete\":true}}");
        return 201;
    }
    if (strstr(path, "/selfsubjectreviews")) {
        *ret = xstrdup("{\"status\":{\"userInfo\":{\"username\":\"jane\"}}}");
        return 201;
    }
    text_addf(&c.log, "POST %s\n", path);
    if (text_ends_with(path, "/services")) {
        *ret = service_answer(body);
        return 201;
    }
    if (text_ends_with(path, "/pods") && c.failures) {
        c.failures--;
        *ret = xstrdup(c.pod_error);
        return c.pod_status;
    }
    c.made += text_ends_with(path, "/pods");
    *ret = xstrdup("{}");
    return 201;
}

static inline long got(const char *path, char **ret) {
    if (strstr(path, "/proxy/"))
        return proxied(path, ret);
    if (strstr(path, "/leases/")) {
        *ret =
            c.renewed ? xasprintf("{\"spec\":{\"renewTime\":\"%s\"}}", c.renewed) : xstrdup("{}");
        return c.renewed ? 200 : 403;
    }
    *ret = text_starts_with(path, "/api/v1/nodes")         ? nodes_json()
           : text_starts_with(path, "/api/v1/namespaces?") ? xstrdup(c.stale)
           : strstr(path, "watch=true")                    ? events_json()
           : strstr(path, "/pods")                         ? pods_json()
           : strstr(path, "/daemonsets")                   ? xstrdup("{\"items\":[]}")
                                                           : xstrdup("{}");
    return 200;
}

static inline int cluster_answer(void *context, const struct http_request *request,
                                 struct http_response *ret, struct error *err) {
    const char *path = request->url + strlen("https://k"),
               *method = request->method ? request->method : "GET";

    (void)context;
    text_list_add(&c.paths, path);
    if (c.before)
        c.before(method, path);
    if (c.dead)
        return error_set(err, ERROR_NETWORK, "connection refused");
    c.takes_ms = c.wait_us = 0;
    if (text_equal(method, "POST")) {
        ret->status = posted(path, request->body, &ret->body);
    } else if (text_equal(method, "DELETE")) {
        text_addf(&c.log, "DELETE %s\n", path);
        ret->status = c.deletions ? 500 : 200;
        c.deletions -= c.deletions > 0;
        ret->body = xstrdup("{}");
    } else {
        ret->status = got(path, &ret->body);
    }
    ret->body_len = strlen(ret->body);
    ret->wait_us = c.wait_us;
    if (request->timeout_ms && c.takes_ms > request->timeout_ms) {
        host_memory_advance(c.host, request->timeout_ms);
        http_response_free(ret);
        return error_set(err, ERROR_TIMED_OUT, "no complete answer");
    }
    host_memory_advance(c.host, c.takes_ms);
    if (strstr(path, "watch=true"))
        host_memory_advance(c.host, 5000); /* the stream lives for a while */
    return 0;
}

static inline int open_cluster(void **state) {
    struct kubeconfig config = {.server = (char *)"https://k", .token = (char *)"t"};

    (void)state;
    c = (struct cluster_scene){.host = host_memory_new(),
                               .asked = json_object(),
                               .nodes = NODES,
                               .stale = "{\"items\":[]}",
                               .suffixes = "x.svc.cluster.local,svc.cluster.local,cluster.local"};
    c.http = http_memory_new(cluster_answer, NULL);
    assert_int_equal(kube_client_open(c.http, c.host, &config, &c.client, NULL), 0);
    return 0;
}

static inline int close_cluster(void **state) {
    (void)state;
    diag_report_free(&c.report);
    json_decref(c.grant);
    json_decref(c.asked);
    text_free(&c.log);
    text_list_free(&c.paths);
    kube_client_close(&c.client);
    http_free(c.http);
    host_free(c.host);
    return 0;
}

static inline int diagnose(struct error *err) {
    *err = (struct error){0};
    return cluster_run(&c.client, &c.options, &c.report, &c.grant, err);
}

/* The first cell of a flow from a node, or its number-th. */
static inline const struct diag_cell *cell_of(const char *flow, bool udp, const char *from,
                                              unsigned number) {
    for (size_t i = 0; i < c.report.cells.count; i++) {
        const struct diag_cell *cell = &c.report.cells.items[i];

        if (text_equal(cell->flow->name, flow) && cell->udp == udp &&
            text_equal(cell->from, from) && number-- == 0)
            return cell;
    }
    fail_msg("no cell %s from %s", flow, from);
    return NULL;
}

static inline size_t cells_with(enum diag_outcome outcome) {
    size_t count = 0;

    for (size_t i = 0; i < c.report.cells.count; i++)
        count += c.report.cells.items[i].outcome == outcome;
    return count;
}
