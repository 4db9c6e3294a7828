/* Makes CRI calls. Requests have one text field; answers are read field by field. */
#include "services/cri.h"

#define SERVICE "/runtime.v1.RuntimeService/"
#define IMAGES "/runtime.v1.ImageService/"
#define CONTENT "/containerd.services.content.v1.Content/"
#define KUBELET_LABEL "io.kubernetes.pod.uid"

enum { REMOVE_TIMEOUT_MS = 60000, ID_MAX = 256 };
enum { VARINT, FIXED64, BYTES, FIXED32 = 5 }; /* Wire types of protobuf. */
/* Field numbers of runtime.v1: ListPodSandboxResponse, PodSandbox, PodSandboxMetadata, map entries,
 * and the request field of StopPodSandbox and RemovePodSandbox. */
enum { LIST_ITEMS = 1, POD_ID = 1, POD_METADATA = 2, POD_LABELS = 5 };
enum { METADATA_NAME = 1, METADATA_NAMESPACE = 3, ENTRY_KEY = 1, REQUEST_POD = 1 };
/* Field numbers of ImageSpec, the requests that contain one, and ImageStatusResponse; below, of
 * ListStatusesResponse and Status. */
enum { SPEC_IMAGE = 1, REQUEST_SPEC = 1, STATUS_IMAGE = 1 };
/* Larger sizes are ignored, which prevents an overflow of sums. */
#define DOWNLOAD_MAX (1ull << 44)
enum { STATUSES = 1, STATUS_REF = 3, STATUS_OFFSET = 4, STATUS_TOTAL = 5 };

char *cri_pipe_path(const char *socket) {
    const char *path = text_starts_with(socket, "npipe://") ? socket + 8 : socket;

    return text_replace(xstrdup(path), "/", '\\');
}

bool cri_socket_is_local(const char *socket) {
    static const char local[] = "\\\\.\\pipe\\";
    _cleanup_(freep) char *path = cri_pipe_path(socket);

    return strncasecmp(path, local, sizeof local - 1) == 0 && path[sizeof local - 1] &&
           !strpbrk(path + sizeof local - 1, "\\ ");
}

void cri_pods_free(struct cri_pods *pods) {
    for (size_t i = 0; i < pods->count; i++)
        free_all(pods->items[i].id, pods->items[i].name);
    free(pods->items);
    *pods = (struct cri_pods){0};
}

/* ---- decoding protobuf ---- */

struct span {
    const char *at;
    size_t len;
    uint64_t number; /* Value of a field that has no bytes. */
};

static int cut(struct error *err) {
    return error_set(err, ERROR_MALFORMED, "decode the runtime's answer: it ends within a field");
}

static int read_varint(struct span *in, uint64_t *ret, struct error *err) {
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 64 && in->len; shift += 7) {
        unsigned char byte = (unsigned char)*in->at;

        in->at++;
        in->len--;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            *ret = value;
            return 0;
        }
    }
    return cut(err);
}

/* Reads the next field: its number, and its bytes or value. */
static int read_field(struct span *in, uint64_t *ret_number, struct span *ret, struct error *err) {
    uint64_t key, len = 0;
    unsigned type;

    if (read_varint(in, &key, err) < 0)
        return -1;
    type = key & 7;
    *ret = (struct span){0};
    *ret_number = key >> 3;
    if (type == VARINT)
        return read_varint(in, &ret->number, err);
    if (type == BYTES && read_varint(in, &len, err) < 0)
        return -1;
    if (type == FIXED32 || type == FIXED64)
        len = type == FIXED64 ? 8 : 4;
    else if (type != BYTES)
        return error_set(err, ERROR_MALFORMED, "decode the runtime's answer: field of type %u",
                         type);
    if (len > in->len)
        return cut(err);
    *ret = (struct span){.at = in->at, .len = type == BYTES ? (size_t)len : 0};
    in->at += len;
    in->len -= (size_t)len;
    return 0;
}

/* Reads the fields 1 to count - 1. The last value of a field counts; an absent field is empty. */
static int read_fields(struct span in, struct span *ret, size_t count, struct error *err) {
    struct span value;
    uint64_t number;

    for (size_t i = 0; i < count; i++)
        ret[i] = (struct span){0};
    while (in.len) {
        if (read_field(&in, &number, &value, err) < 0)
            return -1;
        if (number < count)
            ret[number] = value;
    }
    return 0;
}

static int read_pod(struct span in, struct cri_pod *pod, bool *ret_ours, struct error *err) {
    struct span value;
    uint64_t number;

    while (in.len) {
        if (read_field(&in, &number, &value, err) < 0)
            return -1;
        if (number == POD_LABELS) {
            struct span label[ENTRY_KEY + 1];
            const struct span *key = &label[ENTRY_KEY];

            if (read_fields(value, label, ARRAY_SIZE(label), err) < 0)
                return -1;
            *ret_ours |=
                key->len == strlen(KUBELET_LABEL) && memcmp(key->at, KUBELET_LABEL, key->len) == 0;
        }
        if (number == POD_ID)
            text_set(&pod->id, value.len ? xstrndup(value.at, value.len) : NULL);
        if (number == POD_METADATA) {
            struct span fields[METADATA_NAMESPACE + 1];
            const struct span *name = &fields[METADATA_NAME], *space = &fields[METADATA_NAMESPACE];

            if (read_fields(value, fields, ARRAY_SIZE(fields), err) < 0)
                return -1;
            text_set(&pod->name, xasprintf("%.*s/%.*s", (int)space->len, space->at ? space->at : "",
                                           (int)name->len, name->at ? name->at : ""));
        }
    }
    if (!pod->id || strlen(pod->id) > ID_MAX)
        return error_set(err, ERROR_MALFORMED, "decode the list of pods: a pod has no ID");
    return 0;
}

int cri_pods_parse(const char *data, size_t len, struct cri_pods *ret, struct error *err) {
    _cleanup_(cri_pods_free) struct cri_pods pods = {0};
    struct span in = {.at = data, .len = len}, value;
    uint64_t number;

    while (in.len) {
        bool ours = false;

        if (read_field(&in, &number, &value, err) < 0)
            return -1;
        if (number != LIST_ITEMS)
            continue;
        array_add(pods.items, pods.count, (struct cri_pod){0});
        if (read_pod(value, &pods.items[pods.count - 1], &ours, err) < 0)
            return -1;
        if (!ours) {
            pods.count--;
            free_all(pods.items[pods.count].id, pods.items[pods.count].name);
        }
    }
    *ret = take_struct(pods);
    return 0;
}

/* ---- calls of the container runtime ---- */

int cri_pods(struct host *host, const char *pipe, unsigned timeout_ms, struct cri_pods *ret,
             struct error *err) {
    _cleanup_(text_free) struct text answer = {0};
    const struct text all = {0};

    if (grpc_call(host, pipe, SERVICE "ListPodSandbox", &all, timeout_ms, &answer, err) < 0 ||
        cri_pods_parse(text_str(&answer), answer.len, ret, err) < 0)
        return error_prefix(err, "ask the container runtime for its pods");
    return 0;
}

static void add_field(struct text *out, unsigned field, const void *data, size_t len) {
    text_add_char(out, (char)(field << 3 | BYTES));
    for (; len >= 0x80; len >>= 7)
        text_add_char(out, (char)((len & 0x7f) | 0x80));
    text_add_char(out, (char)len);
    text_add_bytes(out, data, len);
}

int cri_pod_remove(struct host *host, const char *pipe, const struct cri_pod *pod,
                   struct error *err) {
    static const struct {
        const char *method, *what;
    } calls[] = {{SERVICE "StopPodSandbox", "stop"}, {SERVICE "RemovePodSandbox", "remove"}};
    _cleanup_(text_free) struct text request = {0};

    add_field(&request, REQUEST_POD, pod->id, strlen(pod->id));
    for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
        _cleanup_(text_free) struct text answer = {0};

        if (grpc_call(host, pipe, calls[i].method, &request, REMOVE_TIMEOUT_MS, &answer, err) < 0)
            return error_prefix(err, "%s pod '%s'", calls[i].what, pod->name ? pod->name : pod->id);
    }
    return 0;
}

static void add_image(struct text *request, const char *image) {
    _cleanup_(text_free) struct text spec = {0};

    add_field(&spec, SPEC_IMAGE, image, strlen(image));
    add_field(request, REQUEST_SPEC, text_str(&spec), spec.len);
}

int cri_image_has(struct host *host, const char *pipe, const char *image, bool *ret,
                  struct error *err) {
    _cleanup_(text_free) struct text request = {0}, status = {0};

    add_image(&request, image);
    if (grpc_call(host, pipe, IMAGES "ImageStatus", &request, CRI_LIST_MS, &status, err) < 0)
        return error_prefix(err, "ask the container runtime for image '%s'", image);
    *ret = status.len && text_str(&status)[0] == (STATUS_IMAGE << 3 | BYTES);
    return 0;
}

int cri_image_pull(struct host *host, const char *pipe, const char *image, unsigned timeout_ms,
                   struct grpc_call **ret, struct error *err) {
    _cleanup_(text_free) struct text request = {0};
    bool there = false;

    if (cri_image_has(host, pipe, image, &there, err) < 0)
        return -1;
    if (there)
        return 0;
    add_image(&request, image);
    return grpc_begin(host, pipe, IMAGES "PullImage", &request, timeout_ms, ret, err);
}

int cri_downloads(struct host *host, const char *pipe, struct cri_downloads *ret,
                  struct error *err) {
    static const char layer[] = "layer-";
    _cleanup_(text_free) struct text answer = {0};
    struct span in, value, fields[STATUS_TOTAL + 1];
    const struct span *ref = &fields[STATUS_REF];
    uint64_t number;

    *ret = (struct cri_downloads){0};
    if (grpc_call(host, pipe, CONTENT "ListStatuses", &(struct text){0}, CRI_LIST_MS, &answer,
                  err) < 0)
        return -1;
    in = (struct span){.at = text_str(&answer), .len = answer.len};
    while (in.len) {
        unsigned long long there, total;

        if (read_field(&in, &number, &value, err) < 0)
            return -1;
        if (number != STATUSES)
            continue;
        if (read_fields(value, fields, ARRAY_SIZE(fields), err) < 0)
            return -1;
        there = fields[STATUS_OFFSET].number;
        total = fields[STATUS_TOTAL].number;
        /* Manifests are downloaded, too, but say nothing about the remaining time. */
        if (ref->len < sizeof layer - 1 || memcmp(ref->at, layer, sizeof layer - 1) != 0 ||
            total > DOWNLOAD_MAX || there > total)
            continue;
        ret->count++;
        ret->there += there;
        ret->total += total;
    }
    return 0;
}
