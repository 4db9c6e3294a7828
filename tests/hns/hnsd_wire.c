/* The frames between hnsd and its DLLs. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "tests/hns/hnsd.h"

static const uint32_t none = 0xffffffff;

static int read_all(int fd, void *data, size_t len) {
    char *at = data;

    while (len) {
        ssize_t n = read(fd, at, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return -1;
        at += n;
        len -= (size_t)n;
    }
    return 0;
}

static uint32_t number(const char *bytes) {
    const unsigned char *b = (const unsigned char *)bytes;

    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* The next field as a NUL-terminated text: its NUL overwrites the length of the one behind it,
 * which has been read by then. */
static int next_field(char **at, size_t *left, uint32_t *len, const char **ret) {
    uint32_t now = *len;

    if (now != none && now > *left)
        return -1;
    *ret = now == none ? NULL : *at;
    if (now != none) {
        *at += now;
        *left -= now;
    }
    if (*left >= 4) {
        uint32_t next = number(*at);

        **at = '\0';
        *at += 4;
        *left -= 4;
        *len = next;
        return 0;
    }
    **at = '\0';
    return *left ? -1 : 1; /* 1: that was the last one */
}

static int take_fields(struct hnsd_request *r, size_t size) {
    const char *field[6 + HNSD_ARGS_MAX] = {0};
    char *at = r->bytes + 4;
    size_t left, n = 0;
    uint32_t len;
    int more = 0;

    if (size < 4)
        return -1;
    left = size - 4;
    len = number(r->bytes);
    while (!more && n < 6 + HNSD_ARGS_MAX) {
        more = next_field(&at, &left, &len, &field[n++]);
        if (more < 0)
            return -1;
    }
    for (size_t i = 0; i < 6; i++)
        if (!field[i])
            return -1;
    r->exe = field[0];
    r->pid = field[1];
    r->tid = field[2];
    r->dll = field[3];
    r->function = field[4];
    r->signature = field[5];
    r->n_args = n - 6;
    for (size_t i = 0; i < r->n_args; i++)
        r->args[i] = field[6 + i];
    return 0;
}

int hnsd_read(int fd, struct hnsd_request *ret) {
    char head[4];
    uint32_t size;

    memset(ret, 0, sizeof(*ret));
    if (read_all(fd, head, sizeof(head)))
        return -1;
    size = number(head);
    if (size > HNSD_FRAME_MAX)
        return -1;
    ret->bytes = xcalloc(1, (size_t)size + 1);
    if (read_all(fd, ret->bytes, size))
        return -1;
    return take_fields(ret, size);
}

void hnsd_request_free(struct hnsd_request *request) {
    free(request->bytes);
    request->bytes = NULL;
}

size_t hnsd_outputs(const char *signature) {
    size_t n = 0;

    for (; *signature; signature++)
        n += strchr("oHUG", *signature) != NULL;
    return n;
}

static void put(char **at, uint32_t value) {
    for (int i = 0; i < 4; i++)
        *(*at)++ = (char)(value >> 8 * i);
}

void hnsd_write(int fd, const struct hnsd_request *request, const struct hns_answer *answer) {
    size_t n = hnsd_outputs(request->signature), size = 8;
    char *bytes, *at;

    for (size_t i = 0; i < n; i++)
        size += 4 + (i < HNS_MODEL_OUTPUTS && answer->out[i] ? strlen(answer->out[i]) : 0);
    at = bytes = xmalloc(size);
    put(&at, (uint32_t)(size - 4));
    put(&at, answer->hresult);
    for (size_t i = 0; i < n; i++) {
        const char *out = i < HNS_MODEL_OUTPUTS ? answer->out[i] : NULL;
        size_t len = out ? strlen(out) : 0;

        put(&at, out ? (uint32_t)len : none);
        if (len)
            memcpy(at, out, len);
        at += len;
    }
    for (at = bytes; size;) {
        ssize_t sent = write(fd, at, size);

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            break; /* the caller is gone: nobody to tell */
        at += sent;
        size -= (size_t)sent;
    }
    free(bytes);
}
