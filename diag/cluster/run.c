/* Runs a cluster's diagnosis from start to end. */
#include "diag/cluster/cluster.h"
#include "diag/cluster/probes/asking.h"
#include "kube/object.h"

enum {
    AGAIN_MS = 1000,
    /* The shortest and the longest pause before the probes are asked again whether they listen. */
    LISTEN_FIRST_MS = 20,
    LISTEN_LAST_MS = 250,
    LISTEN_MS = 5000,
    PROXIES_MS = 1500, /* kube-proxy programs changes of Services once a second. */
    /* A Service that is not programmed yet may not answer at all, so questions to it wait no longer
     * than this. */
    SOON_MS = 500,
    /* Such a question waits at least this long, plus three times what a probe's answer takes. */
    LOOK_FIRST_MS = 40,
    LOOK_MS = 30,
    LAST_LOOK_MS = 3000, /* Long enough for a busy machine, too. */
    /* An API server that takes longer than this to return its version is late. */
    VERSION_MS = 1000,
    /* Red cells are asked again for this time, which with the last try is less than three
     * time-outs. */
    SETTLE_MS = 9000,
    /* With more nodes, no pairs are added and no late answers are asked for again. */
    FEW_NODES = 40,
    /* With many nodes, more red cells than this are not asked again: not all would run at once. */
    RED_MAX = 80,
    /* How often pairs are added: new pairs that fail may need further pairs, too. */
    WIDENED_MAX = 2,
};

/* A diagnosis of a whole cluster that runs. */
struct cluster_run {
    struct kube_client *client;
    const struct cluster_options *options;
    struct diag_report *report;
    struct cluster_asking asking;
    /* The path at which the API server lists the nodes that the selector chooses. */
    char *nodes_path;
    uint64_t begin;   /* The beginning of the measurement, a time of host_monotonic_ms(). */
    bool few_nodes;   /* Asking so few nodes takes little time. */
    unsigned widened; /* How often pairs were added because some fail. */
    bool grew;        /* The pairs that were added last include new failures. */
    /* Each node's kube-proxy has programmed the Services. */
    bool written;
    unsigned look_ms; /* An existing Service has answered within this time. */
};

static void tell(const struct cluster_run *run, const char *message) {
    if (run->options->progress)
        run->options->progress(run->options->progress_context, 0, 0, message);
}

/* ---- choose the nodes ---- */

static int add_nodes(void *context, const json_t *items, struct error *err) {
    return cluster_nodes_add(context, items, err);
}

/* Lists and chooses the nodes, and names the run's namespace. */
static int prepare(struct cluster_run *run, struct error *err) {
    const struct cluster_options *options = run->options;
    const char *selector = options->selector ? options->selector : "";
    _cleanup_(freep) char *escaped = kube_escape(selector);
    struct diag_report *report = run->report;
    struct cluster_choice choice = {.names = options->names, .all = options->all};
    struct error why = {0};
    unsigned char random[4];

    run->nodes_path = xasprintf("/api/v1/nodes%s%s", *escaped ? "?labelSelector=" : "", escaped);
    if (kube_pages_each(run->client, run->nodes_path, add_nodes, &report->nodes, NULL, err) < 0)
        return -1;
    /* Events help to choose among many nodes. If they may not be read, the report says so. */
    if (cluster_choice_is_sample(&choice, &report->nodes) &&
        cluster_events_read(run->client, &report->nodes, &why) < 0)
        report->sample.unread = xstrdup(why.message);
    choice.now = host_now(run->client->host) + run->client->clock_difference;
    if (cluster_nodes_choose(&report->nodes, &choice, &report->sample, err) < 0)
        return -1;
    run->few_nodes = report->nodes.count <= FEW_NODES;
    for (size_t i = 0; i < report->nodes.count; i++)
        if (report->nodes.items[i].ready)
            report->nodes.items[i].pod = xasprintf(CLUSTER_PROBE_PREFIX "%zu", i + 1);
        else
            report->nodes.items[i].waiting = xstrdup("the node is not Ready");

    if (host_random(run->client->host, random, sizeof random, err) < 0)
        return -1;
    report->namespace_ = xasprintf(CLUSTER_MANAGER_NAME "-%02x%02x%02x%02x", random[0], random[1],
                                   random[2], random[3]);
    report->domain = xstrdup("cluster.local");
    return 0;
}

/* ---- while the Services are not programmed yet ---- */

/* Waits until each probe listens, because a container that runs may not listen yet. */
static int await_listening(struct cluster_run *run, struct error *err) {
    static const struct cluster_round round = {.observations = {[OBSERVE_CLIENT] = true},
                                               .soon_ms = SOON_MS};
    struct host *host = run->client->host;
    unsigned pause = LISTEN_FIRST_MS;

    for (;;) {
        size_t deaf = 0;

        run->look_ms = LOOK_FIRST_MS + 3 * cluster_ask(&run->asking, &round).wait_ms;
        if (run->look_ms > SOON_MS)
            run->look_ms = SOON_MS;
        for (size_t i = 0; i < run->report->nodes.count; i++)
            deaf += !run->report->nodes.items[i].waiting && !run->asking.probes[i].listens;
        if (!deaf || host_monotonic_ms(host) - run->begin > LISTEN_MS)
            return 0;
        if (host_sleep(host, pause, err) < 0)
            return -1;
        pause = 2 * pause < LISTEN_LAST_MS ? 2 * pause : LISTEN_LAST_MS;
    }
}

/* Takes the cluster's domain from the pods' DNS suffixes. The names were made for the domain that
 * most clusters have, and are changed if that was wrong. */
static int apply_domain(struct cluster_run *run, struct error *err) {
    struct diag_report *report = run->report;
    char *domain = NULL;

    /* A pod's suffix "svc.cluster.local" contains the domain, which follows "svc."; NULL means that
     * no pod has such a suffix. */
    for (size_t i = 0; i < report->nodes.count && !domain; i++) {
        struct text_list suffixes = {0};

        text_list_split(
            &suffixes, report->nodes.items[i].suffixes ? report->nodes.items[i].suffixes : "", ',');
        for (size_t k = 0; k < suffixes.count && !domain; k++)
            if (text_starts_with(suffixes.items[k], "svc.") && suffixes.items[k][4])
                domain = xstrdup(suffixes.items[k] + 4);
        text_list_free(&suffixes);
    }

    if (!domain || text_equal(domain, report->domain)) {
        free(domain);
        return 0;
    }
    cluster_cells_rename(&report->cells, report->domain, domain);
    free(report->domain);
    report->domain = domain;
    if (cluster_alias_start(run->client, report, err) < 0)
        return -1;
    /* Gives the DNS time to learn of the new Service. */
    return host_sleep(run->client->host, LOOK_MS, err);
}

/* Asks all that needs no Service, and observes the Services until each node's kube-proxy has
 * programmed them or has had enough time. */
static int ask_early(struct cluster_run *run, struct error *err) {
    struct host *host = run->client->host;
    struct cluster_round round = {
        .asks = {STRAIGHT},
        .observations = {[OBSERVE_DNS] = true,
                         [OBSERVE_CLIENT] = true,
                         [OBSERVE_SERVICE] = true,
                         [OBSERVE_LOCAL] = true,
                         [OBSERVE_OWN] = true},
        .soon_ms = SOON_MS,
        .look_ms = run->look_ms,
    };

    size_t unseen = cluster_ask(&run->asking, &round).unseen;

    if (apply_domain(run, err) < 0)
        return -1;
    round.asks.flows = 0;
    round.observations[OBSERVE_DNS] = false;
    for (; unseen && host_monotonic_ms(host) - run->begin < PROXIES_MS;
         unseen = cluster_ask(&run->asking, &round).unseen)
        if (host_sleep(host, LOOK_MS, err) < 0)
            return -1;
    run->written = !unseen;
    return 0;
}

/* ---- ask the cells ---- */

/* An API server that is itself unreachable or late proves nothing about the pods, so no node counts
 * as unreached then. */
static void forget_unreached(struct cluster_run *run) {
    uint64_t begin = host_monotonic_ms(run->client->host);
    /* A copy of the client that borrows the same texts. */
    struct kube_client client = *run->client;
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
    if (answered == 0 && host_monotonic_ms(client.host) - begin < VERSION_MS)
        return;
    for (size_t i = 0; i < run->report->nodes.count; i++)
        free(take_ptr(run->report->nodes.items[i].unreached));
}

/* When some attempts of a cell fail, and no cell between pods does, all cells of the same sort are
 * asked equally often: only then those without a loss prove anything. */
static void ask_alike(struct cluster_run *run) {
    static const struct cluster_selector like[] = {
        {.flows = SERVICES}, {.flows = NODE_PORTS}, {.flows = BY_NAME}, {.flows = OUTSIDE}};
    const struct diag_cells *cells = &run->report->cells;

    for (size_t i = 0; i < ARRAY_SIZE(like); i++)
        for (size_t k = 0; k < cells->count; k++)
            if (cluster_cell_is_lossy(&cells->items[k]) &&
                cluster_selects(&like[i], &cells->items[k])) {
                tell(run, "asking again for what fails now and then");
                (void)cluster_ask(&run->asking, &(struct cluster_round){.asks = like[i],
                                                                        .lossy = true,
                                                                        .again = true,
                                                                        .evenly = true});
                return;
            }
}

static int ask_all(struct cluster_run *run, struct error *err) {
    struct host *host = run->client->host;
    uint64_t asked = host_monotonic_ms(host);
    struct cluster_round round = {.asks = {ANY_FLOW},
                                  .observations = {[OBSERVE_CLIENT] = true,
                                                   [OBSERVE_SERVICE] = true,
                                                   [OBSERVE_LOCAL] = true,
                                                   [OBSERVE_STICKY] = true}};
    /* A failure so early is not counted, since Services may not be programmed yet. */
    bool early = asked - run->begin < PROXIES_MS;
    size_t red = cluster_ask(&run->asking, &round).red;

    /* Ask working cells again. They may work by chance, because a Service chooses a pod, and an
     * address translation a port, and only one of these may be broken. */
    if (run->few_nodes && !cluster_has_cut_pods(run->report, 0))
        red += cluster_ask(&run->asking,
                           &(struct cluster_round){.asks = {SERVICES | OUTSIDE, .fits = IS_GREEN},
                                                   .again = run->written || !early,
                                                   .evenly = true})
                   .red;
    red += cluster_ask_by_exec(run->client, run->report, EXEC_NODES);
    round = (struct cluster_round){.asks = {ANY_FLOW}, .closely = true};
    for (; red; early = false) {
        uint64_t now = host_monotonic_ms(host);
        bool soon = now - run->begin < SETTLE_MS, first = !run->widened;
        bool widens = first || (run->grew && run->widened < WIDENED_MAX);
        size_t cells = run->report->cells.count;
        _cleanup_(freep) char *line = NULL;

        /* Each failure costs a time-out, so with many nodes only as many cells are asked again as
         * can be asked at once. */
        if (run->few_nodes ? !soon && !widens : !soon || red > RED_MAX)
            break;
        line = xasprintf("asking again for %zu cells that failed", red);
        if (run->few_nodes && widens)
            cluster_asking_widen(&run->asking);
        run->widened += widens;
        tell(run, line);
        if (now - asked < AGAIN_MS &&
            host_sleep(host, (unsigned)(AGAIN_MS - (now - asked)), err) < 0)
            return -1;
        if (first)
            (void)cluster_ask_by_exec(run->client, run->report, EXEC_OPEN);
        asked = host_monotonic_ms(host);
        round.again = !early;
        red = cluster_ask(&run->asking, &round).red;
        run->grew = cluster_has_cut_pods(run->report, cells);
    }
    if (run->few_nodes && !cluster_has_cut_pods(run->report, 0))
        ask_alike(run);
    return cluster_check_interrupted(host, err);
}

/* Measures loss and latency. Loss that appears only now has no further pairs yet, so these are
 * added and counted, too. */
static int count(struct cluster_run *run, struct error *err) {
    const struct diag_cells *cells = &run->report->cells;
    bool delayed = false, lossy = false;

    /* Some answer between pods by TCP took as long as a packet that is sent again, while answers by
     * UDP did not: packets may be lost. */
    for (size_t i = 0; i < cells->count; i++)
        delayed |= run->asking.cells[i].delayed && !diag_cell_is_open(&cells->items[i]);
    if (!run->report->count && !(run->few_nodes && delayed))
        return 0;
    if (cluster_count(&run->asking, err) < 0)
        return -1;
    for (size_t i = 0; i < cells->count; i++)
        lossy |= cells->items[i].again || cluster_cell_is_lossy(&cells->items[i]);
    if (run->widened || !lossy)
        return 0;
    cluster_asking_widen(&run->asking);
    (void)cluster_ask(&run->asking,
                      &(struct cluster_round){.asks = {ANY_FLOW, .fits = IS_NOT_RUN}});
    (void)cluster_ask_by_exec(run->client, run->report, EXEC_NEW);
    return cluster_count(&run->asking, err);
}

static int ask(struct cluster_run *run, struct error *err) {
    if (await_listening(run, err) < 0)
        return -1;
    tell(run, "asking the probes");
    if (ask_early(run, err) < 0)
        return -1;
    forget_unreached(run);
    if (ask_all(run, err) < 0)
        return -1;
    /* The Services are asked a last time, because kube-proxy may have programmed some late. */
    (void)cluster_ask(
        &run->asking,
        &(struct cluster_round){
            .observations =
                {[OBSERVE_SERVICE] = true, [OBSERVE_LOCAL] = true, [OBSERVE_STICKY] = true},
            .soon_ms = run->few_nodes ? LAST_LOOK_MS : SOON_MS});
    cluster_ask_stopped(&run->asking, run->few_nodes);
    return count(run, err);
}

static int measure(struct cluster_run *run, struct error *err) {
    struct host *host = run->client->host;
    struct diag_report *report = run->report;
    struct cluster_asking *asking = &run->asking;
    uint64_t begin = host_monotonic_ms(host);
    int result;

    tell(run, "starting the probe pods");
    if (cluster_pods_start(run->client, run->options, report, &asking->addresses, err) < 0 ||
        cluster_pods_await(run->client, run->options, report, err) < 0)
        return -1;
    report->start_ms = (unsigned)(host_monotonic_ms(host) - begin);
    run->begin = host_monotonic_ms(host);

    cluster_twins_of_pods(&report->nodes);
    cluster_pairs_make(&report->nodes, &report->pairs);
    cluster_pairs_count(&report->nodes, &report->pairs, &report->sample.pairs,
                        &report->sample.pairs_asked);
    cluster_cells_make(report, run->options, &asking->addresses, &report->cells);
    asking->cells = xcalloc(report->cells.count, sizeof *asking->cells);
    asking->probes = xcalloc(report->nodes.count, sizeof *asking->probes);
    /* A pod without an IPv4 address cannot be asked whether it listens. */
    for (size_t i = 0; i < report->nodes.count; i++)
        asking->probes[i].listens = !report->nodes.items[i].pod_ip;

    result = ask(run, err);
    if (result == 0)
        result = cluster_pods_await_ready(run->client, report, run->begin, err);
    if (result == 0)
        cluster_look_for_gone(asking, run->nodes_path);
    free_all(asking->cells, asking->probes);
    if (result < 0)
        return -1;
    cluster_cells_judge_kubelets(report);
    cluster_causes_find(report);
    report->milliseconds = (unsigned)(host_monotonic_ms(host) - run->begin);
    return 0;
}

/* ---- the whole run ---- */

int cluster_run(struct kube_client *client, const struct cluster_options *options,
                struct diag_report *ret, json_t **ret_grant, struct error *err) {
    struct diag_report report = {.server = xstrdup(client->server),
                                 .count = options->count > 1 ? options->count : 0,
                                 .time = host_now(client->host)};
    struct cluster_run run = {.client = client,
                              .options = options,
                              .report = &report,
                              .asking = {.client = client, .options = options, .report = &report}};
    bool named = cluster_rights_check(client, ret_grant, err) == 0 && prepare(&run, err) == 0;
    int result = -1;

    if (named) {
        cluster_sweep(client);
        result = measure(&run, err);
    }
    /* The evidence is collected while the probes exist: it includes their pods and events. */
    if (options->collection && !host_interrupted(client->host)) {
        tell(&run, "collecting evidence");
        cluster_evidence_add(client, report.namespace_, options->collection);
    }
    /* The namespace is deleted after Ctrl-C, too, and even when it may never have been made. */
    if (named) {
        struct kube_client last = *client; /* A copy of the client that borrows the same texts. */
        struct error why = {0};

        tell(&run, "deleting the namespace");
        if (options->last)
            last.http = options->last;
        last.requests = 0;
        if (cluster_remove(&last, report.namespace_, &why) < 0) {
            report.left = true;
            if (result < 0)
                (void)error_hint(err, "kubectl delete namespace %s", report.namespace_);
        }
        client->requests += last.requests;
    }
    free(run.nodes_path);
    report.requests = client->requests;
    if (result == 0)
        *ret = report;
    else
        diag_report_free(&report);
    return result;
}
