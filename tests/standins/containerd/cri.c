/* CRI's gRPC, as much as winjoin speaks: ListPodSandbox, StopPodSandbox, RemovePodSandbox,
 * ImageStatus (of what the rig's ctr has imported), one call a connection. */
#include "tests/standins/containerd/cri.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "tests/memory/http2_request.h"
#include "tests/standins/containerd/pods.h"

enum { DATA = 0, HEADERS = 1, SETTINGS = 4, END_STREAM = 1, END_HEADERS = 4, PREFIX_LEN = 5 };

static void add_number(struct text *t, size_t value, unsigned bytes) {
    while (bytes--)
        text_add_char(t, (char)(value >> 8 * bytes & 0xff));
}

static void add_frame(struct text *t, int type, int flags, int stream, const void *data,
                      size_t len) {
    add_number(t, len, 3);
    add_number(t, (size_t)type, 1);
    add_number(t, (size_t)flags, 1);
    add_number(t, (size_t)stream, 4);
    text_add_bytes(t, data, len);
}

/* A field of bytes: its number, their length (below 2^14), they. */
static void add_field(struct text *t, unsigned number, const char *data, size_t len) {
    text_add_char(t, (char)(number << 3 | 2));
    if (len >= 0x80)
        text_add_char(t, (char)((len & 0x7f) | 0x80));
    text_add_char(t, (char)(len >= 0x80 ? len >> 7 : len));
    text_add_bytes(t, data, len);
}

static void add_pod(struct text *list, const json_t *pod) {
    _cleanup_(text_free) struct text item = {0}, metadata = {0}, label = {0};
    const char *uid = json_text_at(pod, "uid"), *name = json_text_at(pod, "name"),
               *space = json_text_at(pod, "namespace");

    add_field(&metadata, 1, name ? name : "", name ? strlen(name) : 0);
    add_field(&metadata, 3, space ? space : "", space ? strlen(space) : 0);
    add_field(&label, 1, "io.kubernetes.pod.uid", strlen("io.kubernetes.pod.uid"));
    add_field(&label, 2, uid, strlen(uid));
    add_field(&item, 1, uid, strlen(uid)); /* this runtime's pods are known by their uid */
    add_field(&item, 2, metadata.data, metadata.len);
    add_field(&item, 5, label.data, label.len);
    add_field(list, 1, item.data, item.len);
}

static void list_pods(struct text *ret) {
    _cleanup_json_ json_t *answer = pods_list();
    json_t *pod;
    size_t i;

    json_array_foreach(json_object_get(answer, "pods"), i, pod) add_pod(ret, pod);
}

/* `request`: PodSandboxId, field 1, shorter than 128 bytes. */
static bool stop_pod(const char *request, size_t len) {
    _cleanup_(freep) char *uid = len > 2 ? xstrndup(request + 2, len - 2) : NULL;
    _cleanup_json_ json_t *asked = json_pack("{s:s*}", "uid", uid);
    _cleanup_json_ json_t *answer = pods_stop(asked);

    return json_bool_at(answer, "ok", false);
}

/* Is it a line of what ctr has written? `request`: ImageStatusRequest with an ImageSpec, field 1 in
 * field 1, shorter than 128 bytes. */
static void tell_image(const char *request, size_t len, struct text *ret) {
    static const char there[] = "\x0a\3\x0a\1x"; /* an Image with an id */
    FILE *list = fopen(IMPORTED_IMAGES, "r");
    char line[256];

    while (list && len > 4 && fgets(line, sizeof line, list))
        if (strlen(line) == len - 4 + 1 && memcmp(line, request + 4, len - 4) == 0) {
            text_add_bytes(ret, there, sizeof there - 1);
            break;
        }
    if (list)
        (void)fclose(list); /* only read */
}

static bool calls(const struct http2_request *request, const char *method) {
    return strstr(text_str(&request->headers), method) != NULL;
}

static void answer(const struct http2_request *request, struct text *out) {
    static const char said[] = "\x88\0\x0c"
                               "content-type\x10"
                               "application/grpc",
                      fine[] = "\0\x0b"
                               "grpc-status\1"
                               "0",
                      refused[] = "\x88\0\x0b"
                                  "grpc-status\1"
                                  "2\0\x0c"
                                  "grpc-message\x10"
                                  "it%20cannot%20be",
                      unknown[] = "\x88\0\x0b"
                                  "grpc-status\2"
                                  "12";
    _cleanup_(text_free) struct text message = {0}, data = {0};
    bool done = true, known = true;

    if (calls(request, "/ListPodSandbox"))
        list_pods(&message);
    else if (calls(request, "/StopPodSandbox"))
        done = stop_pod(request->body.data + PREFIX_LEN, request->body.len - PREFIX_LEN);
    else if (calls(request, "/ImageStatus"))
        tell_image(request->body.data + PREFIX_LEN, request->body.len - PREFIX_LEN, &message);
    else
        known = calls(request, "/RemovePodSandbox");
    add_frame(out, SETTINGS, 0, 0, "", 0);
    if (!done || !known) {
        add_frame(out, HEADERS, END_HEADERS | END_STREAM, 1, known ? refused : unknown,
                  known ? sizeof refused - 1 : sizeof unknown - 1);
        return;
    }
    add_number(&data, message.len, 5); /* not compressed, and its length */
    text_add_bytes(&data, message.data, message.len);
    add_frame(out, HEADERS, END_HEADERS, 1, said, sizeof said - 1);
    add_frame(out, DATA, 0, 1, data.data, data.len);
    add_frame(out, HEADERS, END_HEADERS | END_STREAM, 1, fine, sizeof fine - 1);
}

bool cri_answer(struct text *input, struct text *output) {
    _cleanup_(http2_request_free) struct http2_request request = {0};

    http2_request_read(text_str(input), input->len, &request);
    if (!request.whole || request.body.len < PREFIX_LEN)
        return true;
    answer(&request, output);
    return false;
}
