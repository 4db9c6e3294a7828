/* One piece of work at one size, and what it cost: growth WORK COUNT (works[]). Writes
 * {"wall", "cpu", "peak", "requests", "calls", "cells"} (seconds; MB above what was there before;
 * requests to the API server, calls of HNS, questions between pods). What the server and HNS answer
 * is made before. */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include <cmocka.h>

#include "base/memory.h"
#include "diag/evidence.h"
#include "netsetup/routes/routes.h"
#include "tests/memory/host_memory.h"
#include "tests/memory/http_memory.h"
#include "tests/scene/large_api.h"
#include "tests/scene/large_report.h"
#include "tests/scene/network_scene.h"

enum { PAGE = 500, CHANGES = 500, LIVED_SERVICES = 2000, LIVED_NODES = 500 };

static size_t calls;
static struct host *host;

/* ---- what was used ---- */

static double seconds(clockid_t clock) {
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* "VmHWM" or "VmRSS" of this process in MB. */
static double memory_mb(const char *what) {
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    double mb = 0;

    while (f && fgets(line, sizeof line, f))
        if (text_starts_with(line, what))
            mb = strtod(line + strlen(what) + 1, NULL) / 1024;
    if (f)
        fclose(f);
    return mb;
}

static void forget_peak(void) {
    FILE *f = fopen("/proc/self/clear_refs", "w");

    if (!f || fputs("5", f) < 0 || fclose(f) < 0)
        exit(1);
}

/* ---- HNS against Kubernetes ---- */

/* What is answered, as text. */
static char *endpoints_text, *balancers_text, *endpoint_ids, *balancer_ids;
static struct text_list services_pages, slices_pages, nodes_pages;
static struct text_list services_events, slices_events; /* of the next stream */

static void make_pages(json_t *list, struct text_list *ret) {
    json_t *items = json_object_get(list, "items");
    size_t count = json_array_size(items);

    for (size_t at = 0; at < count || !at; at += PAGE) {
        _cleanup_json_ json_t *page = json_pack("{s:{}, s:[]}", "metadata", "items");

        for (size_t i = at; i < at + PAGE && i < count; i++)
            json_array_append(json_object_get(page, "items"), json_array_get(items, i));
        if (at + PAGE < count) {
            _cleanup_(freep) char *next = xasprintf("%zu", at / PAGE + 1);

            json_object_set_new(json_object_get(page, "metadata"), "continue", json_string(next));
        }
        text_list_add_owned(ret, json_write(page));
    }
}

/* A stream, an event at a time. */
static void stream(const struct http_request *request, struct text_list *events) {
    struct text_list now = take_struct(*events);

    for (size_t i = 0; i < now.count; i++)
        if (request->on_data(request->on_data_context, now.items[i], strlen(now.items[i])))
            exit(1);
    text_list_free(&now);
}

/* All pages as one list, a piece each. */
static void send_list(const struct http_request *request, const struct text_list *pages) {
    for (size_t i = 0; i < pages->count; i++) {
        const char *begin = strstr(pages->items[i], "\"items\":[") + strlen("\"items\":[");
        _cleanup_(freep) char *piece =
            xasprintf("%s%.*s%s", i ? "," : "{\"items\":[", (int)strlen(begin) - 2, begin,
                      i + 1 < pages->count ? "" : "]}");

        if (request->on_data(request->on_data_context, piece, strlen(piece)))
            exit(1);
    }
}

static int answer(void *context, const struct http_request *request, struct http_response *ret,
                  struct error *err) {
    const char *mark = strstr(request->url, "continue=");
    size_t page = mark ? strtoul(mark + strlen("continue="), NULL, 10) : 0;
    const bool services = strstr(request->url, "/services"),
               slices = strstr(request->url, "/endpointslices"),
               nodes = strstr(request->url, "/nodes");

    (void)context, (void)err;
    ret->status = 200;
    if (strstr(request->url, "watch=true")) {
        stream(request, services ? &services_events : &slices_events);
        host_memory_advance(host, services ? 0 : 2000); /* behind the last stream */
        ret->body = xstrdup("");
    } else if (strstr(request->url, "resourceVersion=0")) {
        send_list(request, services ? &services_pages : slices ? &slices_pages : &nodes_pages);
        ret->body = xstrdup("");
    } else {
        ret->body = xstrdup(services ? services_pages.items[page]
                            : slices ? slices_pages.items[page]
                            : nodes  ? nodes_pages.items[page]
                                     : "{\"items\":[]}");
    }
    ret->body_len = strlen(ret->body);
    return 0;
}

static uint32_t hns(void *context, const char *function, const char *const *arguments, size_t count,
                    char **ret_result, char **ret_error_record) {
    bool v1 = text_equal(function, "HNSCall");
    const char *what = v1 ? arguments[1] : function;

    (void)context, (void)count;
    calls++;
    *ret_error_record = NULL;
    *ret_result = xstrdup(strstr(what, "/endpoints/")              ? endpoints_text
                          : strstr(what, "/policylists/")          ? balancers_text
                          : strstr(what, "HcnEnumerateEndpoints")  ? endpoint_ids
                          : strstr(what, "EnumerateLoadBalancers") ? balancer_ids
                                                                   : "[]");
    return 0;
}

static json_t *endpoint_v1(const json_t *v2) {
    return json_pack("{s:O, s:O, s:O, s:b}", "ID", json_object_get(v2, "ID"), "Name",
                     json_object_get(v2, "Name"), "IPAddress",
                     json_at(v2, "IpConfigurations.0.IpAddress"), "IsRemoteEndpoint", 1);
}

static json_t *balancer_v1(const json_t *v2) {
    json_t *references = json_array();

    json_each(json_object_get(v2, "HostComputeEndpoints"), i, id) {
        _cleanup_(freep) char *path = xasprintf("/endpoints/%s", json_string_value(id));

        json_array_append_new(references, json_string(path));
    }
    return json_pack("{s:O, s:o, s:[{s:s, s:i, s:i, s:i, s:O}]}", "ID", json_object_get(v2, "ID"),
                     "References", references, "Policies", "Type", "ELB", "Protocol", 6,
                     "ExternalPort", 80, "InternalPort", 8080, "VIPs",
                     json_object_get(v2, "FrontendVIPs"));
}

/* The list as version 1 tells it, and its ids. */
static void make_lists(const json_t *all, json_t *(*v1)(const json_t *v2), char **ret_text,
                       char **ret_ids) {
    _cleanup_json_ json_t *ids = json_array(),
                          *envelope = json_pack("{s:b, s:[]}", "Success", 1, "Output");

    json_each(all, i, v2) {
        json_array_append(ids, json_object_get(v2, "ID"));
        json_array_append_new(json_object_get(envelope, "Output"), v1(v2));
    }
    *ret_text = json_write(envelope);
    *ret_ids = json_write(ids);
}

struct work {
    struct http *http;
    struct kube_client client;
    struct drift_follow follow;
    struct pod_route *routes;
    json_t *nodes;
    size_t count, cells;
    size_t services; /* that are known in the end */
};

static void open_client(struct work *w) {
    static const struct kubeconfig config = {.server = (char *)"https://k", .token = (char *)"t"};

    w->http = http_memory_new(answer, NULL);
    if (kube_client_open(w->http, host, &config, &w->client, NULL) < 0)
        exit(1);
}

static void make_comparison(struct work *w) {
    struct large_cluster cluster;

    large_cluster_make(&cluster, w->count, 0, 0);
    make_lists(cluster.endpoints, endpoint_v1, &endpoints_text, &endpoint_ids);
    make_lists(cluster.balancers, balancer_v1, &balancers_text, &balancer_ids);
    make_pages(cluster.services, &services_pages);
    make_pages(cluster.slices, &slices_pages);
    large_cluster_free(&cluster);
    host_memory_set_hns(host, hns, NULL);
    open_client(w);
}

static void compare(struct work *w) {
    json_t *drift = drift_read(host, &w->client, "win-1", "net", NULL, NULL, NULL, NULL);

    if (json_object_size(drift)) /* all of it agrees */
        exit(1);
    json_decref(drift);
}

/* What a diagnosis of the node reads of HNS, with what its causes look into. */
static void read_evidence(struct work *w) {
    struct drift_cluster cluster = {0};
    const struct diag_evidence_options options = {
        .cluster = &cluster, .dns_ip = "10.96.0.1", .network_name = "net"};
    json_t *evidence = json_object();

    drift_ask(&w->client, NULL, NULL, &cluster);
    diag_evidence_add_hns(host, &options, evidence);
    if (json_array_size(json_object_get(evidence, "loadBalancers")) <
        (w->count < 1000 ? w->count : 1000))
        exit(1);
    json_decref(evidence);
    drift_cluster_free(&cluster);
}

/* ---- what winjoin-network follows ---- */

static void follow(struct work *w) {
    struct kube_watch watches[DRIFT_WATCHES];

    drift_follow_watches(&w->follow, watches);
    watches[0].timeout_ms = 1000;
    if (kube_watch(&w->client, watches, DRIFT_WATCHES, ERROR_IGNORED) == 0 ||
        w->follow.cluster.service_count != w->services ||
        w->follow.cluster.slice_count != w->services)
        exit(1);
}

static void make_followed(struct work *w) {
    make_comparison(w);
    w->services = w->count;
}

/* So many come, somewhere among the others, and then they go. */
static void make_events(json_t *list, size_t count, struct text_list *ret) {
    json_t *items = json_object_get(list, "items");

    for (size_t i = 0; i < 2 * count; i++) {
        json_t *item = json_array_get(items, i % json_array_size(items));
        _cleanup_(freep) char *name = xasprintf("service-%zu-x", i % count * 7919 % 10000);
        _cleanup_json_ json_t *event =
            json_pack("{s:s, s:O}", "type", i < count ? "ADDED" : "DELETED", "object", item);
        _cleanup_(freep) char *text = NULL;

        json_put(item, "metadata.name", json_string(name));
        text = json_write(event);
        text_list_add_owned(ret, xasprintf("%s\n", text));
    }
}

static void make_known(struct work *w, size_t services, size_t events) {
    struct large_cluster cluster;

    large_cluster_make(&cluster, services, 0, 0);
    make_pages(cluster.services, &services_pages);
    make_pages(cluster.slices, &slices_pages);
    make_events(cluster.services, events, &services_events);
    make_events(cluster.slices, events, &slices_events);
    large_cluster_free(&cluster);
    open_client(w);
    for (enum drift_what what = DRIFT_SERVICES; what <= DRIFT_SLICES; what++) {
        if (drift_cluster_list(&w->follow.cluster, what, &w->client, NULL, NULL) < 0)
            exit(1);
        w->follow.versions[what] = xstrdup("1");
    }
    w->services = services;
}

static void make_changes(struct work *w) {
    make_known(w, w->count, CHANGES);
}

/* ---- routes to other nodes' pods ---- */

/* The played machine's own cost of a route grows with their number, so they are written before. */
static void make_routes(struct work *w) {
    w->routes = xcalloc(w->count, sizeof *w->routes);
    for (unsigned i = 0; i < w->count; i++)
        if (text_format(w->routes[i].pod_cidr, CIDR_TEXT_MAX, "10.%u.%u.0/24", 128 + i / 256,
                        i % 256) < 0 ||
            text_format(w->routes[i].node_address, IP_TEXT_MAX, "10.0.%u.%u", i / 250,
                        2 + i % 250) < 0)
            exit(1);
    if (pod_routes_ensure(host, "10.0.0.21", w->routes, w->count - 1, NULL, NULL) < 0)
        exit(1);
}

/* All but one stand: a Node has come. */
static void write_routes(struct work *w) {
    size_t changed = 0;

    if (pod_routes_ensure(host, "10.0.0.21", w->routes, w->count, &changed, NULL) < 0 ||
        changed != 1)
        exit(1);
}

/* With the images that a kubelet names, which are most of a Node. */
static json_t *plain_node(size_t n) {
    json_t *node = played_node(n, true, NULL), *images = json_array();

    for (size_t i = 0; i < 50; i++) {
        _cleanup_(freep) char *image =
            xasprintf("registry.example.com/some/image/of/a/cluster-%zu@sha256:%064zx", i, i);

        json_array_append_new(images,
                              json_pack("{s:[s], s:i}", "names", image, "sizeBytes", 1 << 30));
    }
    json_put(node, "status.images", images);
    return node;
}

static int on_tick(void *, unsigned, struct error *err) {
    return error_set(err, ERROR_INTERRUPTED, "enough");
}

static void follow_nodes(struct work *w) {
    struct error err = {0};

    (void)node_routes_follow(host, w->http, NULL, 0, on_tick, NULL, &err);
    if (err.kind != ERROR_INTERRUPTED)
        exit(1);
}

/* The routes stand when it starts. */
static void make_nodes_pages(size_t count, struct text_list *ret) {
    json_t *list = json_pack("{s:[]}", "items");

    for (size_t n = 0; n < count; n++)
        json_array_append_new(json_object_get(list, "items"), plain_node(n));
    make_pages(list, ret);
    json_decref(list);
}

static void make_followed_nodes(struct work *w) {
    static struct scene scene;

    make_nodes_pages(w->count, &nodes_pages);
    scene_write_kubeconfig(host);
    scene_make_networks(&scene, host, "l2bridge", "win-bridge");
    scene_write_chosen(&scene, host, NULL);
    w->http = http_memory_new(answer, NULL);
    follow_nodes(w);
}

/* ---- years of it ---- */

static struct text_list more_nodes;

static void copy_texts(const struct text_list *from, struct text_list *ret) {
    for (size_t i = 0; i < from->count; i++)
        text_list_add(ret, from->items[i]);
}

/* Services and Nodes come and go once. */
static void live_once(struct work *w) {
    struct text_list services = {0}, slices = {0}, few = nodes_pages;

    copy_texts(&services_events, &services);
    copy_texts(&slices_events, &slices);
    follow(w); /* takes the events */
    services_events = services;
    slices_events = slices;
    nodes_pages = more_nodes;
    follow_nodes(w);
    nodes_pages = few;
    follow_nodes(w);
}

static void live(struct work *w) {
    for (size_t i = 0; i < w->count; i++)
        live_once(w);
}

/* One life is over already: what grows from now on would grow for ever. */
static void make_life(struct work *w) {
    struct work nodes = {.count = LIVED_NODES};

    make_followed_nodes(&nodes);
    make_nodes_pages(2 * LIVED_NODES, &more_nodes);
    make_known(w, LIVED_SERVICES, LIVED_SERVICES);
    live_once(w);
}

/* ---- a cluster's diagnosis ---- */

static void make_cluster(struct work *w) {
    large_api_open(w->count, plain_node);
    w->http = large.http;
}

/* From the list of the Nodes to the report's text. */
static void diagnose(struct work *w, bool all) {
    struct cluster_options options = {.all = all};
    struct diag_report report;
    json_t *grant = NULL;
    char *text;

    if (cluster_run(&large.client, &options, &report, &grant, NULL) < 0 ||
        !diag_report_is_good(&report))
        exit(1);
    text = diag_report_text(&report, &(struct diag_text_style){0});
    w->cells = report.cells.count;
    diag_report_free(&report);
    free(text);
}

static void diagnose_sample(struct work *w) {
    diagnose(w, false);
}

static void diagnose_all(struct work *w) {
    diagnose(w, true);
}

static void make_nodes(struct work *w) {
    w->nodes = large_nodes(w->count);
}

/* What it makes of the answers. */
static void judge(struct work *w) {
    struct diag_report report;

    if (large_report_make(w->nodes, &report) < 0)
        exit(1);
    cluster_causes_find(&report);
    w->cells = report.cells.count;
    diag_report_free(&report);
}

static const struct {
    const char *name;
    void (*make)(struct work *w);
    void (*run)(struct work *w);
} works[] = {{"comparison", make_comparison, compare},
             {"evidence", make_comparison, read_evidence},
             {"followed", make_followed, follow},
             {"changes", make_changes, follow},
             {"routes", make_routes, write_routes},
             {"nodes", make_followed_nodes, follow_nodes},
             {"life", make_life, live},
             {"sample", make_cluster, diagnose_sample},
             {"all-nodes", make_cluster, diagnose_all},
             {"causes", make_nodes, judge}};

static void measure(struct work *w, size_t which) {
    double wall, cpu, before;

    works[which].make(w);
    malloc_trim(0);
    forget_peak();
    before = memory_mb("VmRSS:");
    wall = seconds(CLOCK_MONOTONIC);
    cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    works[which].run(w);
    cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    wall = seconds(CLOCK_MONOTONIC) - wall;
    printf(
        "{\"wall\":%.6f,\"cpu\":%.6f,\"peak\":%.3f,\"requests\":%zu,\"calls\":%zu,\"cells\":%zu}\n",
        wall, cpu, memory_mb("VmHWM:") - before, w->http ? http_memory_requests(w->http) : 0, calls,
        w->cells);
}

int main(int argc, char **argv) {
    struct work work = {.count = argc == 3 ? strtoul(argv[2], NULL, 10) : 0};

    host = host_memory_new();
    for (size_t i = 0; work.count && i < ARRAY_SIZE(works); i++)
        if (text_equal(works[i].name, argv[1])) {
            measure(&work, i);
            return 0;
        }
    fprintf(stderr, "usage: growth WORK COUNT; see works[]\n");
    return 2;
}
