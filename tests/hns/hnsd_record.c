/* The record of calls: one JSON line each, in the order of their answers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/hns/hnsd.h"

static FILE *file;
static double start;
static int calls;

static double now(void) {
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t); /* cannot fail with this clock */
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static json_t *since(void) {
    return json_real((double)(long)((now() - start) * 1000) / 1000);
}

int hnsd_record_open(const char *path) {
    if (file)
        (void)fclose(file);
    file = path ? fopen(path, "w") : NULL;
    start = now();
    calls = 0;
    return path && !file ? -1 : 0;
}

static void line(json_t *json) {
    char *text = json_dumps(json, JSON_REAL_PRECISION(9));

    (void)fprintf(file, "%s\n", text);
    (void)fflush(file); /* a full disk is seen by who reads the record */
    free(text);
    json_decref(json);
}

void hnsd_record_mark(const char *text) {
    if (file)
        line(json_pack("{s:s, s:o}", "mark", text, "t", since()));
}

/* The name of an input in the record. */
static const char *name_of(const struct hnsd_request *r, char letter, size_t index) {
    static const char *const v1[] = {"Method", "Path", "Request"};
    static const char *const endpoint[] = {"NetworkHandle", "Id", "Document"};

    if (!strcmp(r->function, "HNSCall") && index < 3)
        return v1[index];
    if (!strcmp(r->function, "HcnCreateEndpoint") && index < 3)
        return endpoint[index];
    switch (letter) {
    case 's':
        return !strncmp(r->function, "HcnEnumerate", 12) || !strncmp(r->function, "HcnQuery", 8)
                   ? "Query"
                   : "Document";
    case 'h':
        return "Handle";
    case 'g':
        return "Id";
    case 'u':
        return "u32";
    default:
        return letter == 'd' ? "HomeDir" : "ptr";
    }
}

static json_t *arguments(const struct hnsd_request *r) {
    json_t *args = json_object();
    char name[24];
    size_t at = 0;

    for (const char *s = r->signature; *s && at < r->n_args; s++) {
        const char *base = name_of(r, *s, at);

        if (strchr("oHUG", *s))
            continue;
        (void)snprintf(name, sizeof(name), "%s", base);
        for (int n = 2; json_object_get(args, name); n++)
            (void)snprintf(name, sizeof(name), "%s%d", base, n);
        json_object_set_new(args, name, r->args[at] ? json_string(r->args[at]) : json_null());
        at++;
    }
    return args;
}

void hnsd_record_call(const struct hnsd_request *r, const char *object,
                      const struct hns_answer *answer) {
    json_t *out = json_array(), *call;
    char hr[16];

    if (!file) {
        json_decref(out);
        return;
    }
    for (size_t i = 0; i < hnsd_outputs(r->signature) && i < HNS_MODEL_OUTPUTS; i++)
        json_array_append_new(out, answer->out[i] ? json_string(answer->out[i]) : json_null());
    (void)snprintf(hr, sizeof(hr), "0x%08x", answer->hresult);
    call = json_pack("{s:i, s:o, s:s, s:i, s:i, s:s, s:s, s:o}", "n", ++calls, "t", since(), "exe",
                     r->exe, "pid", (int)strtol(r->pid, NULL, 10), "tid",
                     (int)strtol(r->tid, NULL, 10), "dll", r->dll, "fn", r->function, "args",
                     arguments(r));
    if (object)
        json_object_set_new(call, "object", json_string(object));
    json_object_set_new(call, "hr", json_string(hr));
    json_object_set_new(call, "out", out);
    line(call);
}
