/* The program on a host and a cluster in memory, its verbs called one by one: shared by the tests
 * of join and of what runs leave. */
#pragma once

#include "tests/scene/program_scene.h"

#include "tests/scene/join_scene.h"
#include "services/artifacts/artifacts.h"

static struct run r;

static inline int open_joining(void **state) {
    int result = open_program(state);

    host_free(program->host);
    http_free(program->http);
    open_run(&r, "overlay");
    program->host = r.host;
    program->http = r.http;
    program->options.join = r.options;
    program->options.join.start_spread = -1;
    program->options.progress = (char *)"plain";
    program->verb = verb_find(verbs, "join");
    r.options = (struct join_options){0};
    return result;
}

static inline int close_joining(void **state) {
    program->host = NULL;
    program->http = http_memory_new(nobody_answers, NULL);
    (void)close_program(state);
    close_run(&r);
    return 0;
}

#define JOIN_TEST(name) cmocka_unit_test_setup_teardown(name, open_joining, close_joining)

static inline void words(const char *line) {
    freep(&program->options.join.endpoint);
    text_list_free(&program->words);
    text_list_split(&program->words, line, ' ');
}

static inline const char *result_text(const char *path) {
    const char *text = json_text_at(program->result, path);

    return text ? text : "";
}

static inline size_t events(const char *level, const char *text) {
    _cleanup_json_ json_t *state = host_memory_state(program->host);
    json_t *rows = json_object_get(state, "events"), *event;
    size_t i, n = 0;

    json_array_foreach(rows, i, event) n += text_equal(json_text_at(event, "level"), level) &&
                                            text_equal(json_text_at(event, "text"), text);
    return n;
}

/* A folder with a newer CNI plugin, to upgrade from. */
static inline void put_plugin_bundle(void) {
    static const char lock[] =
        "{\"apiVersion\":\"winjoin.io/v1alpha1\",\"kind\":\"BundleLock\",\"artifacts\":[{\"name\":"
        "\"win-overlay\",\"version\":\"v1.9.1\",\"sha256\":"
        "\"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\",\"size\":3,\"path\":"
        "\"win-overlay.exe\"}]}";

    put("D:\\b\\" ARTIFACT_LOCK_NAME, lock);
    put("D:\\b\\win-overlay.exe", "abc");
    free(program->options.join.bundle);
    program->options.join.bundle = xstrdup("D:\\b");
}

static inline void succeeds(int (*run)(struct program *program, struct error *err)) {
    struct error err;

    if (verb(run, &err) < 0)
        fail_msg("%s", err.message);
}
