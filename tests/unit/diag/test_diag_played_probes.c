/* The whole run over probes that are played here, in the place of diag/ask/mailbox.c: what diag
 * asks of them, and what it makes of probes that answer, fail, never start or die. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/rfc3339.h"
#include "diag/first_look.h"
#include "diag/run.h"
#include "tests/memory/host_memory.h"

/* Probes with other names, on two nodes, without a mailbox. */
static struct play {
    const char *silent;   /* the probe that never starts, NULL = both do */
    const char *why;      /* what keeps it from starting */
    const char *broken;   /* probes whose id begins so fail */
    const char *nxdomain; /* these have no name in DNS */
    bool old_run;         /* the heartbeats are those of an earlier run */
    bool deaf;            /* its echoes do not stand */
    bool dies, breaks;    /* while it measures: says nothing more; is known to be gone */
    bool mute;            /* the second one never answers */
    bool late;            /* answers at the second look */
    bool interrupts;      /* the user does, at the first pause */
    bool cannot_start, cannot_ask, cannot_remove;
    bool loses;        /* of those that fail one attempt succeeds */
    unsigned takes_ms; /* until it answers */
    uint64_t asked_ms;
    unsigned looks, started, removed;
    struct text asked; /* "left 18 probes\n" */
    struct probe_list lists[2];
} play;
static json_t *look; /* the first look, or NULL */

int diag_probes_start(struct diag_probes *probes, struct error *err) {
    play.started++;
    array_add(probes->items, probes->count, (struct diag_probe){.name = "left"});
    array_add(probes->items, probes->count, (struct diag_probe){.name = "right"});
    return play.cannot_start ? error_set(err, ERROR_DENIED, "no right to make pods") : 0;
}

int diag_probe_heartbeat(const struct diag_probes *probes, size_t i, struct probe_heartbeat *ret,
                         struct error *err) {
    const struct diag_probe *probe = &probes->items[i];

    if (text_equal(probe->name, play.silent))
        return error_set(err, ERROR_ABSENT, "no pod");
    *ret = (struct probe_heartbeat){
        .tcp_echo = true, .udp_echo = !play.deaf, .address_count = 1, .beat = 1};
    text_format(ret->name, sizeof ret->name, "%s", probe->name);
    text_format(ret->run, sizeof ret->run, "%s", play.old_run ? "old" : probes->options->run);
    text_format(ret->addresses[0], sizeof ret->addresses[0], "10.244.%zu.9", i + 1);
    return 0;
}

char *diag_probe_waiting(struct diag_probes *probes, size_t i) {
    if (play.silent)
        assert_string_equal(probes->items[i].name, play.silent);
    return xstrdup_null(play.why);
}

int diag_probe_ask(const struct diag_probes *probes, size_t i, const struct probe_list *list,
                   struct error *err) {
    if (play.cannot_ask)
        return error_set(err, ERROR_NETWORK, "the proxy is away");
    text_addf(&play.asked, "%s %u: %zu\n", probes->items[i].name, probes->items[i].asked,
              list->count);
    probe_list_free(&play.lists[i]);
    for (size_t at = 0; at < list->count; at++)
        array_add(play.lists[i].items, play.lists[i].count, list->items[at]);
    play.looks = 0;
    play.asked_ms = host_monotonic_ms(probes->host);
    return 0;
}

int diag_probe_read(const struct diag_probes *probes, size_t i, struct probe_results *ret,
                    struct error *err) {
    if (play.breaks)
        return error_set(err, ERROR_NETWORK, "the pod is gone");
    if (play.dies || (i && play.mute) || (play.late && !i && !play.looks++) ||
        host_monotonic_ms(probes->host) < play.asked_ms + play.takes_ms)
        return 0;
    for (size_t at = 0; at < play.lists[i].count; at++) {
        const struct probe *probe = &play.lists[i].items[at];
        struct probe_result result = {.attempts = probe->attempts, .succeeded = probe->attempts};

        memcpy(result.id, probe->id, sizeof result.id);
        if (play.nxdomain && text_starts_with(probe->id, play.nxdomain))
            result.outcome = PROBE_DNS_NXDOMAIN;
        if (play.broken && text_starts_with(probe->id, play.broken))
            result.outcome = PROBE_TIMEOUT;
        if (result.outcome != PROBE_OK)
            result.succeeded = play.loses;
        array_add(ret->items, ret->count, result);
    }
    return 1;
}

int diag_probes_remove(struct diag_probes *, struct error *err) {
    play.removed++;
    return play.cannot_remove ? error_set(err, ERROR_DENIED, "no right to delete pods") : 0;
}

/* ---- the run ---- */

struct run {
    struct host *host;
    struct text told;
    struct diag_report report;
    struct error err;
    int result;
};

static void tell(void *context, unsigned waited_ms, unsigned left_ms, const char *message) {
    struct run *run = context;

    if (!left_ms)
        text_addf(&run->told, "%s\n", message);
    else if (waited_ms >= 1000 && waited_ms / 1000 % 5 == 0)
        text_addf(&run->told, "%s (%u s)\n", message, waited_ms / 1000);
}

static void measure_ok(void *context, const struct probe *probe, struct probe_result *ret) {
    (void)context;
    *ret = (struct probe_result){.attempts = 3, .succeeded = 3, .median_us = 300};
    memcpy(ret->id, probe->id, sizeof ret->id);
}

static void run_open(struct run *run, struct play now) {
    static const char *const services[] = {"hns", "containerd", "kubelet", "kube-proxy"};
    const struct diag_options options = {
        .flow_input = {.node_name = "win-7k2",
                       .dns_domain = "cluster.local",
                       .kubernetes_ip = "10.96.0.1",
                       .dns_ip = "10.96.0.10",
                       .external_ip = "192.0.2.1:443",
                       .external_name = "example.com:443",
                       .external_dns = "192.0.2.53"},
        .evidence = {.network_name = "flannel.4096", .network_mode = "overlay"},
        .look = look,
        .start_timeout_ms = 20000,
        .settle_timeout_ms = 2000,
        .measure = measure_ok,
        .progress = tell,
        .progress_context = run,
    };

    play = now;
    *run = (struct run){.host = host_memory_new()};
    for (size_t i = 0; i < ARRAY_SIZE(services); i++) {
        const struct host_service service = {.name = (char *)services[i], .command = (char *)"x"};

        assert_int_equal(host_service_put(run->host, &service, NULL), 0);
        host_memory_set_service_state(run->host, services[i], HOST_SERVICE_RUNNING);
    }
    if (now.interrupts)
        host_memory_interrupt(run->host);
    run->result = diag_run(run->host, &options, &run->report, &run->err);
    assert_int_equal(play.started, 1);
    assert_int_equal(play.removed, 1); /* whatever happened */
}

static void run_close(struct run *run) {
    text_free(&run->told);
    text_free(&play.asked);
    probe_list_free(&play.lists[0]);
    probe_list_free(&play.lists[1]);
    diag_report_free(&run->report);
    host_free(run->host);
}

static const struct diag_cell *cell(const struct run *run, const char *flow, bool udp) {
    const struct diag_cell *found =
        diag_cells_find(&run->report.cells, diag_flow_find(flow)->id, udp, false);

    assert_non_null(found);
    return found;
}

static void assert_outcome(const struct run *run, const char *flow, bool udp,
                           enum diag_outcome outcome) {
    const struct diag_cell *found = cell(run, flow, udp);

    if (found->outcome != outcome)
        fail_msg("%s: %s (%s)", flow, diag_outcome_name(found->outcome), found->reason);
}

/* Nothing is written on this host, and names and addresses are those of the probes. */
static void green(void **state) {
    struct run run;

    (void)state;
    run_open(&run, (struct play){.late = true});
    assert_int_equal(run.result, 0);
    for (size_t i = 0; i < run.report.cells.count; i++) {
        const struct diag_cell *c = &run.report.cells.items[i];
        bool node = c->flow->id == FLOW_POD_NODE; /* its address is not known here */

        assert_outcome(&run, c->flow->name, c->udp, node ? DIAG_NOT_RUN : DIAG_PASS);
    }
    assert_string_equal(cell(&run, "pod-to-pod-ip", true)->from, "left");
    assert_string_equal(cell(&run, "pod-to-pod-ip", true)->to, "10.244.2.9:18080");
    assert_string_equal(cell(&run, "pod-to-pod-ip", true)->probe.expect, "right");
    assert_string_equal(cell(&run, "node-to-pod", false)->from, "win-7k2");
    assert_string_equal(cell(&run, "pod-to-pod-name", false)->probe.target,
                        "10-244-2-9.kube-system.pod.cluster.local");
    /* Without the node's address the report is not good, hence the evidence. */
    assert_string_equal(text_str(&run.told), "starting left and right\n"
                                             "measuring 9 flows\n");
    assert_string_equal(text_str(&play.asked), "left 1: 35\nright 1: 2\n");
    assert_int_equal(host_file_type(run.host, DIAG_PROBES_FOLDER), HOST_ABSENT);
    assert_string_equal(json_text_at(run.report.evidence, "pods.a.name"), "left");
    assert_string_equal(json_text_at(run.report.evidence, "pods.b.ip"), "10.244.2.9");
    run_close(&run);
}

static void red(void **state) {
    struct run run;

    (void)state;
    run_open(&run, (struct play){.broken = "pod-to-external"});
    assert_int_equal(run.result, 0);
    assert_outcome(&run, "pod-to-external-ip", false, DIAG_FAIL);
    assert_outcome(&run, "pod-to-pod-ip", false, DIAG_PASS);
    assert_false(diag_report_is_good(&run.report));
    /* By address, by the cluster's DNS, and what neither explains. */
    assert_int_equal(run.report.causes.count, 3);
    assert_string_equal(run.report.causes.items[2].id, DIAG_CAUSE_UNKNOWN);
    assert_string_equal(run.report.causes.items[0].id, "EXT-PODS");
    /* The red cells alone are asked again. */
    assert_string_equal(text_str(&play.asked), "left 1: 35\nright 1: 2\nleft 2: 4\nleft 3: 4\n");
    assert_non_null(strstr(text_str(&run.told), "measuring them again for up to 2 s\n"));
    run_close(&run);
}

/* Where nothing was started lately nothing is asked twice: a red matrix costs one time-out. */
static void a_red_matrix_costs_one_time_out(void **state) {
    static const struct {
        const char *since;
        unsigned limit_ms;
        const char *asked;
    } rows[] = {
        {"1970-01-01T00:00:00Z", 2500, "left 1: 35\nright 1: 2\n"},
        {"", 10000, "left 1: 35\nright 1: 2\nleft 2: 4\n"}, /* the red cells alone */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        char now[RFC3339_TEXT_MAX];
        struct run run;

        run.host = host_memory_new();
        rfc3339_format(host_now(run.host) - DIAG_YOUNG_SECONDS / 2, now);
        host_free(run.host);
        look = json_pack("{s:[{s:s, s:s, s:s}]}", "services", "name", "kube-proxy", "state",
                         "running", "since", *rows[i].since ? rows[i].since : now);
        run_open(&run, (struct play){.broken = "pod-to-external", .takes_ms = 2150});
        assert_int_equal(run.result, 0);
        assert_int_equal(run.report.causes.count, 3);
        assert_string_equal(text_str(&play.asked), rows[i].asked);
        assert_in_range(run.report.measured_ms, 2150, rows[i].limit_ms);
        run_close(&run);
        json_decref(take_ptr(look));
    }
}

/* One attempt that gets through does not make a flow well that loses others. */
static void loss_stays_red(void **state) {
    struct run run;

    (void)state;
    run_open(&run, (struct play){.broken = "pod-to-pod-ip", .loses = true});
    assert_int_equal(run.result, 0);
    assert_string_equal(text_str(&play.asked), "left 1: 35\nright 1: 2\nleft 2: 2\nright 2: 2\n");
    assert_int_equal(play.lists[0].items[0].attempts, 6);
    assert_outcome(&run, "pod-to-pod-ip", false, DIAG_FAIL);
    assert_string_equal(run.report.causes.items[0].id, "LOSS");
    run_close(&run);
}

/* A cluster whose DNS has no records of pods: so by design, not a red cell. */
static void no_pod_records_is_excused(void **state) {
    struct run run;

    (void)state;
    run_open(&run, (struct play){.nxdomain = "pod-to-pod-name"});
    assert_int_equal(run.result, 0);
    assert_outcome(&run, "pod-to-pod-name", false, DIAG_SKIP);
    assert_outcome(&run, "pod-to-pod-name", true, DIAG_SKIP);
    assert_string_equal(cell(&run, "pod-to-pod-name", true)->reason, "dns-no-pod-records");
    run_close(&run);
}

static void probes_that_never_start(void **state) {
    static const struct {
        struct play play;
        const char *told, *note;
        enum diag_outcome from_pod, from_node;
    } rows[] = {
        {{.silent = "left", .why = "ErrImagePull: not found"},
         "waiting for left to start: ErrImagePull: not found (5 s)\n",
         "left is waiting: ErrImagePull: not found",
         DIAG_NOT_RUN,
         DIAG_PASS},
        {{.silent = "right"},
         "waiting for right to start (10 s)\n",
         "right sent no results",
         DIAG_PASS,
         DIAG_NOT_RUN},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct run run;

        run_open(&run, rows[i].play);
        assert_int_equal(run.result, 0);
        assert_outcome(&run, "pod-to-service-ip", false, rows[i].from_pod);
        assert_outcome(&run, "node-to-pod", false, rows[i].from_node);
        assert_outcome(&run, "pod-to-pod-ip", false, DIAG_NOT_RUN);
        if (!strstr(text_str(&run.told), rows[i].told))
            fail_msg("'%s' lacks '%s'", text_str(&run.told), rows[i].told);
        assert_string_equal(run.report.causes.items[0].evidence.items[0], rows[i].note);
        assert_int_equal(play.asked.len > 0, rows[i].from_pod == DIAG_PASS);
        run_close(&run);
    }
}

/* The other direction is waited for no longer than three seconds. */
static void the_second_one_is_silent(void **state) {
    struct run run;

    (void)state;
    run_open(&run, (struct play){.mute = true});
    assert_int_equal(run.result, 0);
    assert_outcome(&run, "pod-to-pod-ip", false, DIAG_PASS);
    assert_int_equal(cell(&run, "pod-to-pod-ip", false)->one_way, DIAG_ONE_WAY_NONE);
    assert_non_null(strstr(text_str(&run.told), "right did not answer: after 3 s\n"));
    assert_in_range(run.report.measured_ms, 3000, 4000);
    run_close(&run);
}

/* Who speaks for another run, or does not listen, is not there. */
static void not_ours_or_not_ready(void **state) {
    static const struct play rows[] = {{.old_run = true}, {.deaf = true}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct run run;

        run_open(&run, rows[i]);
        assert_outcome(&run, "pod-to-pod-ip", false, DIAG_NOT_RUN);
        assert_int_equal(play.asked.len, 0);
        run_close(&run);
    }
}

/* It is waited for as long as its probes may take; one that is known to be gone ends the wait. */
static void one_dies_while_it_measures(void **state) {
    static const struct {
        struct play play;
        const char *told;
    } rows[] = {
        {{.dies = true}, "left did not answer: after 16 s\n"},
        {{.breaks = true}, "left did not answer: the pod is gone\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct run run;

        run_open(&run, rows[i].play);
        assert_int_equal(run.result, 0);
        assert_outcome(&run, "pod-to-pod-ip", false, DIAG_NOT_RUN);
        assert_string_equal(cell(&run, "pod-to-pod-ip", false)->reason, "left did not answer");
        assert_outcome(&run, "node-to-pod", false, DIAG_PASS);
        if (!strstr(text_str(&run.told), rows[i].told))
            fail_msg("'%s' lacks '%s'", text_str(&run.told), rows[i].told);
        assert_int_equal(strstr(text_str(&run.told),
                                "\nwaiting for left to measure 7 flows (5 s)\n"
                                "waiting for left to measure 7 flows (10 s)\n") != NULL,
                         rows[i].play.dies);
        run_close(&run);
    }
}

/* Ctrl-C ends a wait with its own kind, wherever it comes; the probes are taken away all the same.
 */
static void an_interruption_ends_it(void **state) {
    static const struct play rows[] = {
        {.interrupts = true, .silent = "left"},
        {.interrupts = true, .dies = true},
        {.interrupts = true, .late = true, .broken = "pod-to-service"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct run run;

        run_open(&run, rows[i]);
        assert_int_equal(run.result, -1);
        assert_int_equal(run.err.kind, ERROR_INTERRUPTED);
        run_close(&run);
    }
}

static void what_cannot_be_done(void **state) {
    struct run run;

    (void)state;
    run_open(&run, (struct play){.cannot_start = true});
    assert_int_equal(run.result, -1);
    assert_int_equal(run.err.kind, ERROR_DENIED);
    run_close(&run);
    run_open(&run, (struct play){.cannot_ask = true});
    assert_int_equal(run.result, -1);
    assert_int_equal(run.err.kind, ERROR_NETWORK);
    run_close(&run);
    /* The report is worth more than the clean-up's own trouble. */
    run_open(&run, (struct play){.cannot_remove = true});
    assert_int_equal(run.result, 0);
    assert_non_null(strstr(text_str(&run.told), "no right to delete pods\n"));
    run_close(&run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(green),
        cmocka_unit_test(red),
        cmocka_unit_test(a_red_matrix_costs_one_time_out),
        cmocka_unit_test(loss_stays_red),
        cmocka_unit_test(no_pod_records_is_excused),
        cmocka_unit_test(probes_that_never_start),
        cmocka_unit_test(the_second_one_is_silent),
        cmocka_unit_test(not_ours_or_not_ready),
        cmocka_unit_test(one_dies_while_it_measures),
        cmocka_unit_test(an_interruption_ends_it),
        cmocka_unit_test(what_cannot_be_done),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
