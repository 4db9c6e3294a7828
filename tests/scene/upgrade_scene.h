/* A node of 1.36 in a cluster of 1.37 on a host in memory, with a bundle of 1.37: shared by the
 * tests of the upgrade. */
#pragma once

#include "tests/scene/join_scene.h"

#include "join/upgrade/upgrade.h"
#include "pki/digest.h"
#include "services/artifacts/artifacts.h"

#define BUNDLE "D:\\bundle"
#define IMAGE "C:\\k\\pause.tar"
#define CTR "C:\\Program Files\\containerd\\ctr.exe"

static inline void assert_hint(const struct error *err, const char *text) {
    for (size_t i = 0; i < ARRAY_SIZE(err->hints); i++)
        if (strstr(err->hints[i], text))
            return;
    fail_msg("%s: no hint '%s'", err->message, text);
}

static inline void put(struct run *r, const char *path, const char *text) {
    assert_int_equal(host_write(r->host, path, text, strlen(text), HOST_PUBLIC, NULL), 0);
}

static inline char *get(struct run *r, const char *path) {
    char *text = NULL;
    size_t len;

    return host_read(r->host, path, 1 << 20, &text, &len, NULL) < 0 ? NULL : text;
}

static inline void assert_text(struct run *r, const char *path, const char *wanted) {
    _cleanup_(freep) char *text = get(r, path);

    if (!text_equal(text, wanted))
        fail_msg("%s: '%s', not '%s'", path, text ? text : "absent", wanted ? wanted : "absent");
}

/* What ctr gave to containerd last, which an upgrade that goes back leaves there. */
static char *imported;

/* A program says the version that its file holds: "MZ v1.36.2"; ctr imports images. */
static inline bool say_version(void *context, struct host *host, const struct host_process *process,
                               int *ret_code, struct text *ret_said, struct error *err) {
    _cleanup_(freep) char *text = NULL;
    size_t len;

    (void)context;
    if (text_equal(process->argv[0], CTR)) {
        assert_string_equal(process->argv[6], "import");
        freep(&imported);
        *ret_code = 0;
        if (host_read(host, process->argv[7], 1000, &imported, &len, err) == 0)
            text_add(ret_said, "unpacking\n");
        return true;
    }
    if (!process->argv[1] || !text_equal(process->argv[1], "--version") ||
        host_read(host, process->argv[0], 1000, &text, &len, NULL) < 0 ||
        !text_starts_with(text, "MZ v"))
        return false;
    *ret_code = 0;
    text_addf(ret_said, "Kubernetes %s\n", text + 3);
    return true;
}

/* The Node reports what runs: the file that lies there. */
static inline void report_version(void *context, struct host *host) {
    struct run *r = context;
    static char version[32];
    _cleanup_(freep) char *text = get(r, "C:\\k\\kubelet.exe");

    if (text && text_starts_with(text, "MZ v") && scene_runs(&r->scene, "kubelet")) {
        (void)text_format(version, sizeof version, "%.20s", text + 3);
        r->scene.kubelet_version = version;
    }
    scene_on_sleep(&r->scene, host);
}

static inline void add_artifact(struct run *r, json_t *list, const char *name, const char *version,
                                const char *text) {
    _cleanup_(freep) char *path = xasprintf("%s.exe", name);
    _cleanup_(freep) char *file = xasprintf(BUNDLE "\\%s", path);
    char digest[DIGEST_TEXT_MAX];

    put(r, file, text);
    digest_sha256(text, strlen(text), digest);
    json_array_append_new(list,
                          json_pack("{s:s, s:s, s:s, s:i, s:s}", "name", name, "version", version,
                                    "sha256", digest, "size", (int)strlen(text), "path", path));
}

/* Takes over the list. */
static inline void put_lock(struct run *r, json_t *list) {
    json_t *lock = json_pack("{s:s, s:s, s:o}", "apiVersion", "winjoin.io/v1alpha1", "kind",
                             "BundleLock", "artifacts", list);
    _cleanup_(freep) char *text = json_write(lock);

    put(r, BUNDLE "\\winjoin.lock", text);
    json_decref(lock);
}

static inline void put_bundle(struct run *r, const char *version) {
    json_t *list = json_array();
    _cleanup_(freep) char *program = xasprintf("MZ %s", version);

    add_artifact(r, list, "kubelet", version, program);
    add_artifact(r, list, "kube-proxy", version, program);
    add_artifact(r, list, "win-overlay", "v1.9.1", "MZ newer plugin");
    add_artifact(r, list, "pause", "3.10.2", "a newer image");
    add_artifact(r, list, "flanneld", "v0.28.0", "MZ not of this node");
    put_lock(r, list);
}

/* A node of 1.36 in a cluster of 1.37, with a bundle of 1.37; *ret_before: the host before the
 * join. */
static inline void open_node(struct run *r, json_t **ret_before) {
    struct error err = {0};

    open_run(r, "overlay");
    host_memory_on_run(r->host, say_version, NULL);
    host_memory_on_sleep(r->host, report_version, r);
    put(r, "C:\\k\\kubelet.exe", "MZ v1.36.2");
    put(r, "C:\\k\\kube-proxy.exe", "MZ v1.36.2");
    put(r, CTR, "MZ");
    put_bundle(r, "v1.37.1");
    *ret_before = state_of(r);
    if (join_once(r, &err) < 0)
        fail_msg("join: %s", err.message);
    r->scene.registered = true;
}

static inline void close_node(struct run *r, json_t *before) {
    json_decref(before);
    freep(&imported);
    close_run(r);
}

struct ran {
    json_t *document;
    char *text; /* of the plan */
};

static inline void ran_free(struct ran *ran) {
    json_decref(ran->document);
    free(ran->text);
}

/* ret may be NULL. */
static inline int upgrade_once(struct run *r, bool dry, bool drain, struct ran *ret,
                               struct error *err) {
    struct join_options options = {
        .bundle = xstrdup(BUNDLE), .verify = xstrdup("none"), .dry_run = dry};
    struct upgrade upgrade = {.drain = drain};
    struct join join = {
        .host = r->host, .http = r->http, .asked = &options, .progress.listener = note_event};
    int result = upgrade_open(&join, &upgrade, err);

    if (result == 0)
        result = dry ? join_run_phases(&join, true, err) : join_run(&join, err);
    if (ret && join.upgrade)
        *ret = (struct ran){dry ? upgrade_plan(&join) : upgrade_result(&join),
                            upgrade_plan_text(&join)};
    if (join.upgrade) {
        _cleanup_(freep) char *plan = upgrade_plan_text(&join);
        _cleanup_(text_list_free) struct text_list lines = {0};

        text_list_split(&lines, plan, '\n');
        for (size_t i = 0; i < lines.count; i++)
            tell_line("%s", lines.items[i]);
    }
    upgrade_close(&join);
    join_options_free(&options);
    note_end(err);
    return result;
}

static inline void assert_runs(struct run *r) {
    static const char *const names[] = {"winjoin-network", "containerd", "kubelet", "kube-proxy"};

    for (size_t i = 1; i < ARRAY_SIZE(names); i++)
        if (!scene_runs(&r->scene, names[i]))
            fail_msg("%s does not run", names[i]);
}

static inline void assert_new(struct run *r) {
    assert_text(r, "C:\\k\\kubelet.exe", "MZ v1.37.1");
    assert_text(r, "C:\\k\\kube-proxy.exe", "MZ v1.37.1");
    assert_text(r, "C:\\opt\\cni\\bin\\win-overlay.exe", "MZ newer plugin");
    assert_text(r, IMAGE, "a newer image");
    if (!text_equal(imported, "a newer image"))
        fail_msg("containerd has %s", imported ? imported : "no image");
    assert_text(r, "C:\\k\\flanneld.exe", NULL);
    assert_int_equal(host_file_type(r->host, UPGRADE_FOLDER), HOST_ABSENT);
    assert_int_equal(host_file_type(r->host, "C:\\k\\kubelet.exe.new"), HOST_ABSENT);
    assert_runs(r);
}

static inline void assert_old(struct run *r) {
    assert_text(r, "C:\\k\\kubelet.exe", "MZ v1.36.2");
    assert_text(r, "C:\\k\\kube-proxy.exe", "MZ v1.36.2");
    assert_text(r, "C:\\opt\\cni\\bin\\win-overlay.exe", "MZ");
    assert_text(r, IMAGE, NULL);
    assert_int_equal(host_file_type(r->host, "C:\\k\\kubelet.exe.new"), HOST_ABSENT);
    assert_runs(r);
}

static inline void reset_gives_back(struct run *r, const json_t *before, const char *when) {
    struct error err = {0};
    json_t *after;

    if (reset_once(r, &err) < 0)
        fail_msg("%s: reset: %s", when, err.message);
    after = state_of(r);
    assert_same(before, after, when);
    json_decref(after);
}
