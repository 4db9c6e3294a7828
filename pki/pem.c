/* PEM blocks by the rules of Go's encoding/pem, which decide what a Kubernetes program sees. */
#include "pki/pem.h"

#include <string.h>

#include "base/base64.h"
#include "base/memory.h"
#include "base/text.h"

static const char begin_mark[] = "-----BEGIN ", end_mark[] = "-----END ", dashes[] = "-----";

/* A stretch of the text. */
struct span {
    const char *at;
    size_t len;
};

static bool starts(struct span s, const char *with) {
    return s.len >= strlen(with) && memcmp(s.at, with, strlen(with)) == 0;
}

static struct span skip(struct span s, size_t n) {
    return (struct span){s.at + n, s.len - n};
}

/* Where `mark` stands at the beginning of a line; NULL when nowhere. */
static const char *find_line(struct span s, const char *mark) {
    while (s.len) {
        const char *newline;

        if (starts(s, mark))
            return s.at;
        newline = memchr(s.at, '\n', s.len);
        if (!newline)
            return NULL;
        s = skip(s, (size_t)(newline - s.at) + 1);
    }
    return NULL;
}

/* The line at the beginning without trailing blanks; *rest is what follows its newline. */
static struct span take_line(struct span s, struct span *rest) {
    const char *newline = memchr(s.at, '\n', s.len);
    struct span line = {s.at, newline ? (size_t)(newline - s.at) : s.len};

    *rest = skip(s, newline ? line.len + 1 : line.len);
    while (line.len && strchr(" \t\r", line.at[line.len - 1]))
        line.len--;
    return line;
}

static struct span skip_headers(struct span s, bool *has) {
    struct span rest, line = take_line(s, &rest);

    *has = false;
    while (s.len && line.len && !starts(line, dashes) && memchr(line.at, ':', line.len)) {
        *has = true;
        s = rest;
        line = take_line(s, &rest);
    }
    return s;
}

static bool decode(struct span body, struct pem_block *ret) {
    _cleanup_(freep) char *packed = xmalloc(body.len);
    size_t len = 0;

    for (size_t i = 0; i < body.len; i++)
        if (body.at[i] != ' ' && body.at[i] != '\t')
            packed[len++] = body.at[i];
    return base64_decode(packed, len, &ret->der, &ret->der_len, NULL) == 0;
}

/* The block whose BEGIN line is at s; *rest is what follows it, or its first line when it is none.
 */
static bool read_block(struct span s, struct pem_block *ret, struct span *rest) {
    struct span line = take_line(s, rest), type, body, end;
    const char *end_at;

    if (line.len < strlen(begin_mark) + strlen(dashes) ||
        memcmp(line.at + line.len - strlen(dashes), dashes, strlen(dashes)) != 0)
        return false;
    type =
        (struct span){line.at + strlen(begin_mark), line.len - strlen(begin_mark) - strlen(dashes)};
    body = skip_headers(*rest, &ret->has_headers);
    /* Any line of dashes ends the body, so that a run of BEGIN lines costs no more than its length.
     */
    end_at = find_line(body, dashes);
    if (!end_at)
        return false;
    end = skip(body, (size_t)(end_at - body.at));
    if (!starts(end, end_mark))
        return false;
    body.len = (size_t)(end_at - body.at);
    line = skip(take_line(end, &end), strlen(end_mark));
    if (line.len != type.len + strlen(dashes) || memcmp(line.at, type.at, type.len) != 0 ||
        memcmp(line.at + type.len, dashes, strlen(dashes)) != 0 || !decode(body, ret))
        return false;
    if (type.len >= sizeof ret->type)
        type.len = sizeof ret->type - 1;
    memcpy(ret->type, type.at, type.len);
    ret->type[type.len] = '\0';
    *rest = end;
    return true;
}

bool pem_next(const char *text, size_t len, size_t *offset, struct pem_block *ret) {
    struct span s = {text + *offset, len - *offset};
    struct pem_block block = {0};
    const char *begin;

    while ((begin = find_line(s, begin_mark)) != NULL) {
        struct span rest;

        s = skip(s, (size_t)(begin - s.at));
        if (read_block(s, &block, &rest)) {
            *offset = len - rest.len;
            *ret = block;
            return true;
        }
        s = rest;
    }
    *offset = len;
    return false;
}

bool pem_is_certificate(const struct pem_block *block) {
    return text_equal(block->type, "CERTIFICATE") && !block->has_headers;
}
