/* A node that has joined, and the two pods of a diagnosis played while winjoin sleeps: shared by
 * the tests of `winjoin diag`. */
#pragma once

#include "tests/scene/joining_scene.h"
#include "tests/scene/echo_scene.h"

#include "diag/probe/probe.h"
#include "node/chosen.h"

/* What the kubelet and the probes do, each time that winjoin sleeps. */
static struct stage {
    unsigned tests;        /* begun */
    unsigned asked[2];     /* lists of this test, by pod */
    bool runs;             /* a test's pods are there */
    const char *broken[5]; /* probes that fail in each test; NULL = none */
    unsigned last;         /* after this one Ctrl-C is pressed */
    unsigned left_after;   /* after this one the node leaves the cluster; 0 = it does not */
    unsigned gone;         /* pauses since then */
} stage;

static inline bool is_there(const char *path) {
    return host_file_type(program->host, path) == HOST_FILE;
}

static inline void heartbeat(char which, const char *mailbox) {
    _cleanup_(freep) char *manifest =
        xasprintf("C:\\etc\\kubernetes\\manifests\\winjoin-probe-%c.json", which);
    _cleanup_(freep) char *path = xasprintf("%s\\heartbeat.txt", mailbox);
    _cleanup_(freep) char *stop = xasprintf("%s\\stop", mailbox), *pod = NULL, *text = NULL;
    _cleanup_json_ json_t *json = NULL;
    size_t len;

    if (is_there(stop)) {
        assert_int_equal(host_remove(program->host, path, NULL), 0);
        return;
    }
    if (!is_there(manifest) || is_there(path))
        return;
    assert_int_equal(host_read(program->host, manifest, 100000, &pod, &len, NULL), 0);
    assert_int_equal(json_read(pod, len, "Pod", &json, NULL), 0);
    /* Nobody can be reached there: the node's own probes fail at once, also under Wine, where one
     * that is refused waits for two seconds. */
    text = xasprintf("winjoin-heartbeat 1\nname winjoin-probe-%c\nrun %s\nhost h\naddresses "
                     "255.255.255.255\nbeat 1\ntcp 1\nudp 1\nend\n",
                     which, json_text_at(json, "spec.containers.0.command.11"));
    put(path, text);
}

static inline void answer(const char *mailbox, unsigned *asked) {
    _cleanup_(freep) char *go = xasprintf("%s\\go-%u", mailbox, *asked + 1);
    _cleanup_(freep) char *path = xasprintf("%s\\results-%u.txt", mailbox, *asked + 1);
    _cleanup_(freep) char *questions = xasprintf("%s\\probes.txt", mailbox);
    _cleanup_(freep) char *text = NULL, *reply = NULL;
    _cleanup_(probe_results_free) struct probe_results results = {0};
    _cleanup_(probe_list_free) struct probe_list list = {0};
    const char *broken = stage.broken[stage.tests - 1];
    size_t len;

    if (!is_there(go))
        return;
    ++*asked;
    assert_int_equal(host_read(program->host, questions, 100000, &text, &len, NULL), 0);
    assert_int_equal(probe_list_parse(text, len, &list, NULL), 0);
    for (size_t i = 0; i < list.count; i++) {
        bool fails = broken && text_starts_with(list.items[i].id, broken);
        struct probe_result result = {.outcome = fails ? PROBE_TIMEOUT : PROBE_OK,
                                      .attempts = 3,
                                      .succeeded = fails ? 0 : 3,
                                      .median_us = fails ? 0 : 400};

        memcpy(result.id, list.items[i].id, sizeof result.id);
        array_add(results.items, results.count, result);
    }
    reply = probe_results_write(&results);
    put(path, reply);
}

static inline void play(void *context, struct host *host) {
    bool there = is_there("C:\\etc\\kubernetes\\manifests\\winjoin-probe-a.json");

    (void)context;
    if (there && !stage.runs) {
        stage.tests++;
        stage.asked[0] = stage.asked[1] = 0;
    }
    stage.runs = there;
    if (!there && stage.tests == stage.left_after && stage.left_after && !stage.gone++) {
        assert_int_equal(host_remove(host, CHOSEN_FILE, NULL), 0);
        assert_int_equal(host_remove(host, "C:\\etc\\kubernetes\\kubelet.conf", NULL), 0);
    }
    if (!there && (stage.tests == stage.last || stage.gone == 4))
        host_memory_interrupt(host);
    if (!stage.tests)
        return;
    for (unsigned i = 0; i < 2; i++) {
        _cleanup_(freep) char *mailbox =
            xasprintf("C:\\ProgramData\\winjoin\\probe\\%c", (char)('a' + i));

        heartbeat((char)('a' + i), mailbox);
        answer(mailbox, &stage.asked[i]);
    }
}

static inline int open_diag(void **state) {
    static const char *const started[] = {"containerd", "kubelet", "kube-proxy"};
    int result = open_joining(state);

    words("10.0.0.10:6443");
    succeeds(verb_join);
    freep(&program->options.join.verify);
    text_list_free(&program->words);
    for (size_t i = 0; i < ARRAY_SIZE(started); i++)
        host_memory_set_service_state(program->host, started[i], HOST_SERVICE_RUNNING);
    host_memory_advance(program->host, 3600 * 1000);
    program->verb = verb_find(verbs, "diag");
    stage = (struct stage){.last = 1};
    host_memory_on_sleep(program->host, play, NULL);
    return result;
}
