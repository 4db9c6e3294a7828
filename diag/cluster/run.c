/* A cluster's diagnosis from start to end. */
#include <stdlib.h>

#include "base/memory.h"
#include "diag/cluster/by_exec.h"
#include "diag/cluster/causes.h"
#include "diag/cluster/dial.h"
#include "diag/cluster/objects.h"
#include "diag/cluster/pods.h"
#include "kube/many.h"
#include "kube/pages.h"

enum {
    ASK_MS = DIAL_TIMEOUT_MS + 3000, /* the probe's own time, and the API server's */
    ANSWER_MAX = 64 * 1024,          /* of a probe: a name, an address, an error */
    AGAIN_MS = 1000,
    SHOW_MS = 200,
    LISTEN_TRIES = 20, /* a container that runs does not listen yet */
    LISTEN_MS = 250,
    PROXIES_MS = 1500, /* kube-proxy writes what it hears of once a second */
    SOON_MS = 500,     /* a Service that is not written yet may not answer at all */
    LOOK_MS = 100,
    SETTLE_MS = 9000, /* red cells are asked again until then: with the last try less than three
                         time-outs */
};

void cluster_report_free(struct cluster_report *report) {
    free(report->server);
    free(report->namespace_);
    free(report->domain);
    free(report->pairs.items);
    free(report->cells.items);
    diag_causes_free(&report->causes);
    cluster_nodes_free(&report->nodes);
    *report = (struct cluster_report){0};
}

struct run {
    struct kube_client *client;
    const struct cluster_options *options;
    struct cluster_report *report;
    struct cluster_addresses addresses;
    uint64_t begin; /* of the measurement */
    bool shown;     /* the cells; and when */
    uint64_t shown_ms;
};

static void tell(const struct run *run, const char *message) {
    if (run->options->progress)
        run->options->progress(run->options->progress_context, 0, 0, message);
}

/* ---- nodes ---- */

static int find_nodes(struct run *run, struct error *err) {
    const char *selector = run->options->selector;
    _cleanup_(freep) char *escaped = kube_escape(selector ? selector : "");
    _cleanup_(freep) char *path =
        xasprintf("/api/v1/nodes%s%s", *escaped ? "?labelSelector=" : "", escaped);
    _cleanup_json_ json_t *list = NULL;
    struct cluster_report *report = run->report;

    if (kube_pages_get(run->client, path, &list, err) < 0 ||
        cluster_nodes_read(list, &report->nodes, err) < 0 ||
        cluster_nodes_choose(&report->nodes, run->options->names, err) < 0)
        return -1;
    for (size_t i = 0; i < report->nodes.count; i++)
        if (report->nodes.items[i].ready)
            report->nodes.items[i].pod = xasprintf("probe-%zu", i + 1);
        else
            report->nodes.items[i].waiting = xstrdup("the node is not Ready");
    return 0;
}

static int name_namespace(struct run *run, struct error *err) {
    unsigned char random[4];

    if (host_random(run->client->host, random, sizeof random, err) < 0)
        return -1;
    run->report->namespace_ = xasprintf(CLUSTER_MANAGER_NAME "-%02x%02x%02x%02x", random[0],
                                        random[1], random[2], random[3]);
    run->report->domain = xstrdup("cluster.local");
    return 0;
}

/* ---- sights ---- */

/* A node that each node can be asked about; itself where it is alone. */
static size_t peer_of(const struct cluster_report *report, size_t from) {
    for (size_t i = 0; i < report->pairs.count; i++)
        if (report->pairs.items[i].from == from)
            return report->pairs.items[i].to;
    return from;
}

static bool is_red(const struct cluster_cell *cell) {
    return cell->cell.outcome == DIAG_FAIL || cell->cell.outcome == DIAG_NOT_RUN;
}

/* Whether TCP fails between a node and others: what it would see costs a time-out more. */
static bool is_cut_off(const struct cluster_report *report, size_t node) {
    for (size_t i = 0; i < report->cells.count; i++) {
        const struct cluster_cell *cell = &report->cells.items[i];

        if (cell->cell.outcome == DIAG_FAIL && !cell->cell.udp &&
            (cell->from == node || cell->to == node))
            return true;
    }
    return false;
}

/* The API server's own words for a pod whose address it does not reach; 500 of older servers. */
static void note_unreached(struct cluster_node *node, const struct kube_many *item) {
    struct probe_result result;
    char why[300];

    free(take_ptr(node->unreached));
    if (!dial_is_refused(item->status, item->answer, item->answer_len))
        node->seen |= 1U << SIGHT_DNS; /* or it never will be */
    if ((item->kind == ERROR_TIMED_OUT || item->status / 10 == 50) &&
        dial_read(item->status, item->answer, item->answer_len, false, &result, why, sizeof why) ==
            DIAL_NOT_RUN)
        node->unreached = xstrdup(why);
}

/* What is not seen yet of all nodes at the same time, each for one or more sights. Returns how many
 * are to be asked again: probes that do not listen yet, Services that do not answer. */
static size_t see(struct run *run, enum cluster_sight first, enum cluster_sight last,
                  unsigned timeout_ms) {
    struct cluster_report *report = run->report;
    size_t max = report->nodes.count * SIGHTS, count = 0, again = 0;
    struct kube_many *items = xcalloc(max, sizeof *items);
    size_t *whose = xcalloc(max, sizeof *whose);
    char **paths = xcalloc(max, sizeof *paths);

    for (size_t i = 0; i < report->nodes.count; i++) {
        const struct cluster_node *node = &report->nodes.items[i];

        if (node->unreached ? first != SIGHT_DNS : is_cut_off(report, i))
            continue;
        for (enum cluster_sight s = first; s <= last; s++) {
            char *path = node->seen & 1U << s ? NULL
                                              : cluster_sight_path(report, s, i, peer_of(report, i),
                                                                   &run->addresses);

            if (!path)
                continue;
            items[count] = (struct kube_many){
                .method = "GET", .path = path, .timeout_ms = timeout_ms, .max_body = ANSWER_MAX};
            whose[count] = i * SIGHTS + s;
            paths[count++] = path;
        }
    }
    kube_perform_many(run->client, items, count);
    for (size_t i = 0; i < count; i++) {
        struct cluster_node *node = &report->nodes.items[whose[i] / SIGHTS];
        enum cluster_sight sight = (enum cluster_sight)(whose[i] % SIGHTS);

        cluster_sight_read(node, sight, items[i].status, items[i].answer, items[i].answer_len);
        if (sight == SIGHT_DNS)
            note_unreached(node, &items[i]);
        again += !(node->seen & 1U << sight);
    }
    kube_many_free(items, count);
    for (size_t i = 0; i < count; i++)
        free(paths[i]);
    free(items);
    free(whose);
    free(paths);
    return again;
}

/* Each probe's own view of the DNS; asked until it listens. */
static int see_dns(struct run *run, struct error *err) {
    for (unsigned i = 0; see(run, SIGHT_DNS, SIGHT_DNS, ASK_MS) && i < LISTEN_TRIES; i++)
        if (host_sleep(run->client->host, LISTEN_MS, err) < 0)
            return -1;
    return 0;
}

/* The Services are only looked at until each node's kube-proxy has written them, or had its time.
 */
static int see_services(struct run *run, struct error *err) {
    struct host *host = run->client->host;

    while (see(run, SIGHT_CLIENT, SIGHT_OWN, SOON_MS) &&
           host_monotonic_ms(host) - run->begin < PROXIES_MS)
        if (host_sleep(host, LOOK_MS, err) < 0)
            return -1;
    return 0;
}

/* "svc.cluster.local" among the suffixes that a pod has: what is behind "svc." */
static void find_domain(struct cluster_report *report) {
    for (size_t i = 0; i < report->nodes.count; i++) {
        struct text_list suffixes = {0};

        text_list_split(
            &suffixes, report->nodes.items[i].suffixes ? report->nodes.items[i].suffixes : "", ',');
        for (size_t k = 0; k < suffixes.count; k++)
            if (text_starts_with(suffixes.items[k], "svc.") && suffixes.items[k][4]) {
                free(report->domain);
                report->domain = xstrdup(suffixes.items[k] + 4);
                text_list_free(&suffixes);
                return;
            }
        text_list_free(&suffixes);
    }
}

/* ---- cells ---- */

/* A question, and which cell's it is. */
struct asked {
    struct run *run;
    struct cluster_cell *cell;
    bool again;
};

static void show_cells(struct run *run, bool at_last) {
    uint64_t now = host_monotonic_ms(run->client->host);

    if (!run->options->cells || (!at_last && run->shown && now - run->shown_ms < SHOW_MS))
        return;
    run->shown = true;
    run->shown_ms = now;
    run->options->cells(run->options->progress_context, run->report);
}

static void on_answer(void *context, const struct kube_many *item) {
    struct asked *asked = context;

    cluster_cell_judge(asked->run->report, asked->cell, item->status, item->answer,
                       item->answer_len, asked->again);
    show_cells(asked->run, false);
}

/* Asks every cell that is red; -1 when the user asked to stop. */
static size_t ask_red(struct run *run, bool again) {
    struct cluster_cells *cells = &run->report->cells;
    struct kube_many *items = xcalloc(cells->count, sizeof *items);
    struct asked *asked = xcalloc(cells->count, sizeof *asked);
    size_t count = 0, red = 0;
    char **paths = xcalloc(cells->count, sizeof *paths);

    for (size_t i = 0; i < cells->count; i++) {
        const struct cluster_node *from = &run->report->nodes.items[cells->items[i].from];
        char *path = is_red(&cells->items[i]) && !from->by_exec && (again || !from->unreached)
                         ? cluster_cell_path(run->report, &cells->items[i])
                         : NULL;

        if (!path)
            continue;
        asked[count] = (struct asked){run, &cells->items[i], again};
        items[count] = (struct kube_many){.method = "GET",
                                          .path = path,
                                          .timeout_ms = ASK_MS,
                                          .max_body = ANSWER_MAX,
                                          .ended = on_answer,
                                          .context = &asked[count]};
        paths[count++] = path;
    }
    kube_perform_many(run->client, items, count);
    show_cells(run, true);
    for (size_t i = 0; i < count; i++) {
        if (items[i].kind == ERROR_TIMED_OUT)
            cluster_cell_judge_late(run->report, asked[i].cell);
        red += is_red(asked[i].cell);
    }
    kube_many_free(items, count);
    for (size_t i = 0; i < count; i++)
        free(paths[i]);
    free(items);
    free(asked);
    free(paths);
    return red;
}

/* An API server that is away itself says nothing about pods. */
static void forget_unreached(struct run *run) {
    struct kube_client client = *run->client; /* the same texts */
    struct error why = {0};
    int answered;
    bool all = true;

    for (size_t i = 0; i < run->report->nodes.count; i++)
        all = all && !run->report->nodes.items[i].unreached;
    if (all)
        return;
    client.patience_ms = 0;
    answered = kube_get(&client, "/version", NULL, &why);

    run->client->requests = client.requests;
    if (answered == 0)
        return;
    for (size_t i = 0; i < run->report->nodes.count; i++)
        free(take_ptr(run->report->nodes.items[i].unreached));
}

static int ask_all(struct run *run, struct error *err) {
    struct host *host = run->client->host;
    uint64_t asked = host_monotonic_ms(host);
    bool early = asked - run->begin < PROXIES_MS; /* then it is no fault yet */
    size_t red = ask_red(run, false);

    cluster_ask_by_exec(run->client, run->report);
    for (; red && host_monotonic_ms(host) - run->begin < SETTLE_MS; early = false) {
        _cleanup_(freep) char *line = xasprintf("asking again for %zu cells that failed", red);
        uint64_t now = host_monotonic_ms(host);

        tell(run, line);
        if (now - asked < AGAIN_MS &&
            host_sleep(host, (unsigned)(AGAIN_MS - (now - asked)), err) < 0)
            return -1;
        asked = host_monotonic_ms(host);
        red = ask_red(run, !early);
    }
    return host_interrupted(host)
               ? error_set(err, ERROR_INTERRUPTED, "measure the cluster: interrupted")
               : 0;
}

static int measure(struct run *run, struct error *err) {
    struct host *host = run->client->host;
    struct cluster_report *report = run->report;

    run->begin = host_monotonic_ms(host);
    if (see_dns(run, err) < 0)
        return -1;
    find_domain(report);
    if (cluster_alias_make(run->client, report, err) < 0)
        return -1;
    cluster_pairs_make(&report->nodes, &report->pairs);
    cluster_cells_make(report, run->options, &run->addresses, &report->cells);
    tell(run, "asking the probes");
    forget_unreached(run);
    if (see_services(run, err) < 0 || ask_all(run, err) < 0)
        return -1;
    (void)see(run, SIGHT_CLIENT, SIGHT_STICKY, ASK_MS);
    if (cluster_pods_await_ready(run->client, report, run->begin, err) < 0)
        return -1;
    cluster_cells_judge_kubelets(report);
    cluster_causes_find(report);
    report->milliseconds = (unsigned)(host_monotonic_ms(host) - run->begin);
    return 0;
}

/* ---- the whole ---- */

static int work(struct run *run, struct error *err) {
    struct host *host = run->client->host;
    uint64_t begin = host_monotonic_ms(host);

    tell(run, "starting the probe pods");
    if (cluster_pods_start(run->client, run->options, run->report, &run->addresses, err) < 0 ||
        cluster_pods_await(run->client, run->options, run->report, err) < 0)
        return -1;
    run->report->start_ms = (unsigned)(host_monotonic_ms(host) - begin);
    return measure(run, err);
}

/* While the probes are there: their pods and events are evidence, too. */
static void collect(struct run *run) {
    if (!run->options->collection || host_interrupted(run->client->host))
        return;
    tell(run, "collecting evidence");
    cluster_evidence_add(run->client, run->report->namespace_, run->options->collection);
}

/* Also after Ctrl-C, and when the namespace was perhaps never made. */
static void clean(struct run *run, bool failed, struct error *err) {
    struct kube_client last = *run->client; /* the same texts */
    struct error why = {0};

    tell(run, "deleting the namespace");
    if (run->options->last)
        last.http = run->options->last;
    last.requests = 0;
    if (cluster_remove(&last, run->report->namespace_, &why) < 0) {
        run->report->left = true;
        if (failed)
            (void)error_hint(err, "kubectl delete namespace %s", run->report->namespace_);
    }
    run->client->requests += last.requests;
}

int cluster_run(struct kube_client *client, const struct cluster_options *options,
                struct cluster_report *ret, json_t **ret_grant, struct error *err) {
    struct cluster_report report = {.server = xstrdup(client->server),
                                    .time = host_now(client->host)};
    struct run run = {.client = client, .options = options, .report = &report};
    int result;

    result = cluster_rights_check(client, ret_grant, err);
    if (result == 0)
        result = find_nodes(&run, err);
    if (result == 0)
        result = name_namespace(&run, err);
    if (result == 0) {
        cluster_sweep(client);
        result = work(&run, err);
        collect(&run);
        clean(&run, result < 0, err);
    } else {
        collect(&run);
    }
    report.requests = client->requests;
    if (result == 0)
        *ret = report;
    else
        cluster_report_free(&report);
    return result;
}
