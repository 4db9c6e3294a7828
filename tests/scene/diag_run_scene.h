/* A run of diag on a host in memory: a kubelet and probes that answer, fail, come late or never.
 * Shared by the tests of runs. */
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
#include "diag/evidence.h"
#include "diag/run.h"
#include "tests/memory/host_memory.h"
#include "tests/scene/echo_scene.h"

/* What the pretended kubelet and probes do, each time that winjoin sleeps. */
struct stage {
    bool start_a, start_b;
    bool lost_b;          /* b runs, and has no address */
    bool stale_a;         /* a probe of an earlier run is in a's mailbox */
    const char *broken;   /* probes whose id begins so fail */
    const char *lossy;    /* of those whose id begins so the first attempt alone succeeds, ... */
    const char *late;     /* those whose id begins so take a second */
    unsigned lossy_calls; /* in the first so many generations in which they are asked */
    unsigned lossy_asked, lossy_attempts; /* how often they were, and with how many at last */
    unsigned extras_asked;                /* questions of a beside the flows */
    unsigned broken_until;                /* in generations below this; 0 = always */
    unsigned generation;
    unsigned back_asked;  /* lists that b was asked */
    bool mute_b;          /* it never answers any */
    unsigned interrupted; /* in this generation Ctrl-C is pressed; 0 = never */
    bool garbage;         /* results are no results */
    struct text told;
};

static bool exists(struct host *host, const char *path) {
    return host_file_type(host, path) == HOST_FILE;
}

static void put(struct host *host, const char *path, const char *text) {
    assert_int_equal(host_write(host, path, text, strlen(text), HOST_PUBLIC, NULL), 0);
}

/* The probe as its manifest starts it: it beats until it is told to stop. */
static void heartbeat(struct host *host, char which, const char *ip) {
    _cleanup_(freep) char *manifest =
        xasprintf("C:\\etc\\kubernetes\\manifests\\winjoin-probe-%c.json", which);
    _cleanup_(freep) char *mailbox = xasprintf("C:\\ProgramData\\winjoin\\probe\\%c", which);
    _cleanup_(freep) char *path = xasprintf("%s\\heartbeat.txt", mailbox);
    _cleanup_(freep) char *stop = xasprintf("%s\\stop", mailbox);
    _cleanup_(freep) char *pod = NULL, *text = NULL;
    _cleanup_json_ json_t *json = NULL;
    const char *run;
    size_t len;

    if (exists(host, stop)) {
        assert_int_equal(host_remove(host, path, NULL), 0);
        return;
    }
    if (!exists(host, manifest) || exists(host, path))
        return;
    assert_int_equal(host_read(host, manifest, 100000, &pod, &len, NULL), 0);
    assert_int_equal(json_read(pod, len, "Pod", &json, NULL), 0);
    run = json_text_at(json, "spec.containers.0.command.11");
    assert_int_equal(strspn(run, "0123456789abcdef"), 16); /* or an earlier run's would be taken */
    text = xasprintf("winjoin-heartbeat 1\nname winjoin-probe-%c\nrun %s\nhost h\naddresses %s\n"
                     "beat 1\ntcp 1\nudp 1\nend\n",
                     which, run, ip);
    put(host, path, text);
}

/* `path`: of the mailbox. */
static void answer(struct stage *stage, struct host *host, const char *path,
                   const char *results_path) {
    _cleanup_(probe_results_free) struct probe_results results = {0};
    _cleanup_(probe_list_free) struct probe_list list = {0};
    _cleanup_(freep) char *text = NULL, *reply = NULL;
    _cleanup_(freep) char *questions = xasprintf("%s\\probes.txt", path);
    size_t len;

    assert_int_equal(host_read(host, questions, 100000, &text, &len, NULL), 0);
    assert_int_equal(probe_list_parse(text, len, &list, NULL), 0);
    for (size_t i = 0; i < list.count; i++) {
        bool broken = stage->broken && text_starts_with(list.items[i].id, stage->broken) &&
                      (!stage->broken_until || stage->generation < stage->broken_until);
        struct probe_result result = {.outcome = broken ? PROBE_TIMEOUT : PROBE_OK,
                                      .attempts = broken ? 2 : 3,
                                      .succeeded = broken ? 0 : 3,
                                      .min_us = broken ? 0 : 300,
                                      .median_us = broken ? 0 : 400,
                                      .max_us = broken ? 0 : 500};

        if (stage->late && text_starts_with(list.items[i].id, stage->late))
            result.median_us = result.max_us = 1000400;
        if (stage->lossy && text_starts_with(list.items[i].id, stage->lossy)) {
            stage->lossy_attempts = list.items[i].attempts;
            if (stage->lossy_asked++ < stage->lossy_calls)
                result = (struct probe_result){
                    .outcome = PROBE_NO_REPLY, .attempts = 3, .succeeded = 1, .median_us = 400};
        }
        stage->extras_asked +=
            !strchr(list.items[i].id, '.') && !text_starts_with(list.items[i].id, "x-back");
        memcpy(result.id, list.items[i].id, sizeof result.id);
        array_add(results.items, results.count, result);
    }
    reply = probe_results_write(&results);
    put(host, results_path, stage->garbage ? "winjoin-results 1\nerror disk\n" : reply);
}

/* What was asked in that mailbox, if anything was. */
static bool is_asked(struct host *host, const char *mailbox, unsigned generation, char go[80],
                     char results[80]) {
    snprintf(go, 80, "%s\\go-%u", mailbox, generation);
    snprintf(results, 80, "%s\\results-%u.txt", mailbox, generation);
    return exists(host, go);
}

static void play(void *context, struct host *host) {
    static const char a[] = "C:\\ProgramData\\winjoin\\probe\\a",
                      b[] = "C:\\ProgramData\\winjoin\\probe\\b";
    struct stage *stage = context;
    char go[80], results[80];

    if (stage->start_a)
        heartbeat(host, 'a', "10.244.3.4");
    if (stage->stale_a)
        put(host, "C:\\ProgramData\\winjoin\\probe\\a\\heartbeat.txt",
            "winjoin-heartbeat 1\nname winjoin-probe-a\nrun 1\nhost h\naddresses 10.244.3.4\nbeat "
            "9\ntcp 1\nudp 1\nend\n");
    if (stage->start_b)
        heartbeat(host, 'b', stage->lost_b ? "-" : "10.244.3.5");
    if (!stage->mute_b && is_asked(host, b, stage->back_asked + 1, go, results)) {
        answer(stage, host, b, results);
        stage->back_asked++;
    }
    if (!is_asked(host, a, stage->generation, go, results))
        return;
    if (stage->generation == stage->interrupted) {
        host_memory_interrupt(host);
        return;
    }
    answer(stage, host, a, results);
    stage->generation++;
}

static void measure_ok(void *context, const struct probe *probe, struct probe_result *ret) {
    (void)context;
    *ret = (struct probe_result){.attempts = 3, .succeeded = 3, .median_us = 300};
    memcpy(ret->id, probe->id, sizeof ret->id);
}

static void tell(void *context, unsigned waited_ms, unsigned left_ms, const char *message) {
    struct stage *stage = context;

    if (!left_ms)
        text_addf(&stage->told, "%s\n", message);
    else if (waited_ms >= 1000 && waited_ms / 1000 % 5 == 0)
        text_addf(&stage->told, "%s (%u s)\n", message, waited_ms / 1000);
}

static struct diag_options options_make(struct stage *stage) {
    return (struct diag_options){
        .probes = {.program = "MZ probe", .program_len = 8},
        .flow_input = {.node_name = "win-7k2",
                       .dns_domain = "cluster.local",
                       .kubernetes_ip = "10.96.0.1",
                       .dns_ip = "10.96.0.10",
                       .external_ip = "192.0.2.1:443",
                       .external_name = "example.com:443",
                       .external_dns = "192.0.2.53"},
        .evidence = {.network_name = "flannel.4096",
                     .network_mode = "overlay",
                     .external_ip = "192.0.2.1"},
        .measure = measure_ok,
        .progress = tell,
        .progress_context = stage,
    };
}

/* Nothing that the run wrote is there any more. */
static inline void assert_clean(struct host *host) {
    assert_int_equal(host_file_type(host, "C:\\ProgramData\\winjoin\\probe"), HOST_ABSENT);
    assert_int_equal(host_file_type(host, "C:\\etc\\kubernetes\\manifests\\winjoin-probe-a.json"),
                     HOST_ABSENT);
    assert_int_equal(host_file_type(host, "C:\\etc\\kubernetes\\manifests\\winjoin-probe-b.json"),
                     HOST_ABSENT);
}
