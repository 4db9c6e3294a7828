/* Objects in Protobuf beside the same in JSON, as kube-apiserver 1.37 answered (objects/). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "kube/event_stream.h"
#include "kube/request.h"

enum { FILE_MAX_BYTES = 8192 };

static char *load(const char *name, size_t *ret_len) {
    _cleanup_(freep) char *path = xasprintf("tests/unit/kube/objects/%s", name);
    FILE *file = fopen(path, "rb");
    char *data = xcalloc(1, FILE_MAX_BYTES + 1);

    assert_non_null(file);
    *ret_len = fread(data, 1, FILE_MAX_BYTES, file);
    assert_int_equal(fclose(file), 0);
    assert_in_range(*ret_len, 1, FILE_MAX_BYTES - 1);
    return data;
}

/* All that the one has, the other has, too: the same. */
static void assert_within(const json_t *part, const json_t *whole, const char *where) {
    const char *key;
    json_t *value;
    size_t i;

    if (json_is_object(part)) {
        json_object_foreach((json_t *)part, key, value)
            assert_within(value, json_object_get(whole, key), key);
    } else if (json_is_array(part)) {
        assert_int_equal(json_array_size(part), json_array_size(whole));
        json_array_foreach(part, i, value) assert_within(value, json_array_get(whole, i), where);
    } else if (!json_equal(part, whole)) {
        fail_msg("%s differs", where);
    }
}

/* The paths are what winjoin reads of such an object. */
static void assert_same(const char *name, const char *const *paths) {
    _cleanup_(freep) char *pb_name = xasprintf("%s.pb", name);
    _cleanup_(freep) char *json_name = xasprintf("%s.json", name);
    size_t len, json_len;
    _cleanup_(freep) char *data = load(pb_name, &len);
    _cleanup_(freep) char *text = load(json_name, &json_len);
    _cleanup_json_ json_t *seen = NULL, *wanted = NULL;

    assert_int_equal(kube_protobuf_read(data, len, &seen, NULL), 0);
    assert_int_equal(json_read(text, json_len, name, &wanted, NULL), 0);
    assert_within(seen, wanted, name);
    for (; *paths; paths++) {
        assert_non_null(json_at(wanted, *paths));
        if (!json_at(seen, *paths))
            fail_msg("%s lacks %s", name, *paths);
    }
}

static void it_says_what_json_says(void **state) {
    (void)state;
    assert_same("service",
                (const char *const[]){
                    "kind", "apiVersion", "metadata.name", "metadata.namespace",
                    "metadata.resourceVersion", "metadata.creationTimestamp", "metadata.labels",
                    "spec.clusterIP", "spec.clusterIPs[0]", "spec.externalIPs[0]", "spec.type",
                    "spec.internalTrafficPolicy", "spec.ports[0].name", "spec.ports[0].port",
                    "spec.ports[1].nodePort", "spec.ports[1].protocol",
                    "status.loadBalancer.ingress[0].ip", "status.loadBalancer.ingress[1]", NULL});
    assert_same("slice",
                (const char *const[]){"metadata.name", "metadata.namespace", "metadata.labels",
                                      "endpoints[0].addresses[0]", "endpoints[0].conditions.ready",
                                      "endpoints[1].conditions.ready", "endpoints[1].nodeName",
                                      "ports[0].name", "ports[0].port", NULL});
    assert_same("node",
                (const char *const[]){"metadata.name", "metadata.annotations", "spec.podCIDR",
                                      "spec.podCIDRs[1]", "status.addresses[0].address",
                                      "status.addresses[0].type", NULL});
    assert_same("status", (const char *const[]){"status", "message", "reason", "code", NULL});
}

static void a_refusal_reads_the_same(void **state) {
    size_t len, json_len;
    _cleanup_(freep) char *data = load("status.pb", &len);
    _cleanup_(freep) char *text = load("status.json", &json_len);
    struct error seen = {0}, wanted = {0};

    (void)state;
    (void)kube_status_error("GET", "/x", 404, data, len, &seen);
    (void)kube_status_error("GET", "/x", 404, text, json_len, &wanted);
    assert_string_equal(seen.message, wanted.message);
    assert_non_null(strstr(seen.message, "nodes \"absent\" not found"));
}

/* What is cut off is an error, or has all that came before. */
static void a_cut_is_seen(void **state) {
    static const char *const names[] = {"service.pb", "slice.pb", "node.pb"};

    (void)state;
    for (size_t n = 0; n < ARRAY_SIZE(names); n++) {
        size_t len, refused = 0;
        _cleanup_(freep) char *data = load(names[n], &len);

        for (size_t cut = 0; cut < len; cut++) {
            _cleanup_(freep) char *piece = xmalloc(cut + 1); /* its end is seen by the sanitizer */
            _cleanup_json_ json_t *seen = NULL;
            struct error err = {0};

            memcpy(piece, data, cut);
            if (kube_protobuf_read(piece, cut, &seen, &err) == 0)
                continue;
            assert_int_equal(err.kind, ERROR_MALFORMED);
            refused++;
        }
        assert_in_range(refused, len - 8, len - 1);
    }
}

static void assert_refused(const char *bytes, size_t len, const char *words) {
    _cleanup_(freep) char *object = xasprintf("k8s%c%c%c", 0, 0, 0);
    _cleanup_json_ json_t *seen = NULL;
    struct error err = {0};

    object = xrealloc(object, 4 + len);
    memcpy(object, "k8s", 4);
    memcpy(object + 4, bytes, len);
    assert_int_equal(kube_protobuf_read(object, 4 + len, &seen, &err), -1);
    assert_int_equal(err.kind, ERROR_MALFORMED);
    assert_non_null(strstr(err.message, words));
}

#define REFUSED(bytes, words) assert_refused(bytes, sizeof(bytes) - 1, words)

static void what_is_wrong_is_refused(void **state) {
    (void)state;
    REFUSED("\x0a\x05\x0a", "it is cut off");
    REFUSED("\x0b", "wire type 3 is not known");
    REFUSED("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", "a number does not end");
    REFUSED("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "it is cut off");
    REFUSED("\x0a\x03\x12\x01\xff", "kind is not UTF-8");
    REFUSED("\x0a\x02\x10\x01", "kind has another type");
}

/* ---- streams ---- */

static void assert_events(const char *name, size_t piece, struct text *seen) {
    size_t len;
    _cleanup_(freep) char *data = load(name, &len);
    struct event_stream stream = {0};

    event_stream_begin(&stream);
    for (size_t at = 0; at < len;) {
        _cleanup_json_ json_t *event = NULL;
        size_t most = len - at < piece ? len - at : piece;
        size_t n = event_stream_take(&stream, data + at, most, &event);

        assert_in_range(n, 1, most);
        at += n;
        if (event)
            text_addf(seen, "%s %s %s\n", json_text_at(event, "type"),
                      json_text_at(event, "object.metadata.name"),
                      json_text_at(event, "object.metadata.resourceVersion"));
        assert_false(stream.words);
    }
    text_free(&stream.piece);
}

static void a_stream_of_frames_is_one_of_lines(void **state) {
    (void)state;
    for (size_t piece = 1; piece < 40; piece++) {
        _cleanup_(text_free) struct text frames = {0}, lines = {0};

        assert_events("watch.pb", piece, &frames);
        assert_events("watch.json", piece, &lines);
        assert_string_equal(text_str(&frames), text_str(&lines));
        assert_non_null(strstr(text_str(&frames), "ADDED service-3-x "));
    }
}

static void take(struct event_stream *stream, const char *data, size_t len) {
    json_t *event;

    event_stream_begin(stream);
    for (size_t at = 0; at < len && !stream->piece.overflow;) {
        at += event_stream_take(stream, data + at, len - at, &event);
        assert_null(event);
    }
}

static void what_is_no_stream_is_said(void **state) {
    struct event_stream stream = {0};

    (void)state;
    take(&stream, "\0\x7f\xff\xff more", 9);
    assert_true(stream.piece.overflow);
    stream.piece.overflow = false;
    take(&stream, "\0\0\0\0more", 8); /* an event of no bytes */
    assert_true(stream.words);
    assert_non_null(strstr(stream.why.message, "it is not an object of Kubernetes"));
    take(&stream, "\0\0\0\2\x0b\x0b", 6);
    assert_true(stream.words);
    assert_non_null(strstr(stream.why.message, "wire type 3"));
    take(&stream, "k8s\0\n\n", 6); /* a Status: to the last byte */
    assert_true(stream.words);
    assert_int_equal(stream.piece.len, 6);
    assert_memory_equal(stream.piece.data, "k8s\0\n\n", 6);
    text_free(&stream.piece);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_says_what_json_says),
        cmocka_unit_test(a_refusal_reads_the_same),
        cmocka_unit_test(a_cut_is_seen),
        cmocka_unit_test(what_is_wrong_is_refused),
        cmocka_unit_test(a_stream_of_frames_is_one_of_lines),
        cmocka_unit_test(what_is_no_stream_is_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
