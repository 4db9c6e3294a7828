/* The head of an HTTP/1 answer: what libcurl lets pass and Go does not. */
#include "host/http_head.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "host/http_ops.h"

void http_head_free(struct http_head *head) {
    free(head->length);
    free(head->type);
    *head = (struct http_head){0};
}

char *http_head_value(const char *line, size_t len, const char *name) {
    size_t skip = strlen(name);
    _cleanup_(freep) char *head = NULL;

    if (len <= skip || line[skip] != ':')
        return NULL;
    head = xstrndup(line, skip);
    if (!text_equal_nocase(head, name))
        return NULL;
    for (skip++; skip < len && (line[skip] == ' ' || line[skip] == '\t');)
        skip++;
    while (len > skip && (unsigned char)line[len - 1] <= ' ')
        len--;
    return xstrndup(line + skip, len - skip);
}

/* "HTTP/1.1 200 OK", "HTTP/1.1 200" */
static bool is_status_line(const char *line, size_t len) {
    if (len < 12 || (memcmp(line, "HTTP/1.1 ", 9) != 0 && memcmp(line, "HTTP/1.0 ", 9) != 0))
        return false;
    for (size_t i = 9; i < 12; i++)
        if (line[i] < '0' || line[i] > '9')
            return false;
    return len == 12 || line[12] == ' ';
}

/* A token's characters, RFC 9110 section 5.6.2. */
static bool is_token(const char *text, size_t len) {
    static const char letters[] = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

    for (size_t i = 0; i < len; i++)
        if (!text[i] || !strchr(letters, text[i]))
            return false;
    return len > 0;
}

static const char *why_bad_line(const char *line, size_t len) {
    const char *colon = memchr(line, ':', len);

    for (size_t i = 0; i < len; i++)
        if (((unsigned char)line[i] < ' ' && line[i] != '\t') || line[i] == 0x7f)
            return "a header holds a control character";
    if (*line == ' ' || *line == '\t') /* goes on with the line before */
        return NULL;
    return colon && is_token(line, (size_t)(colon - line)) ? NULL : "a header has no proper name";
}

/* Keeps the first value; false when there was another. */
static bool keep(char **kept, char *value) {
    bool same = !*kept || text_equal(*kept, value);

    if (*kept)
        free(value);
    else
        *kept = value;
    return same;
}

static const char *why_bad_field(struct http_head *head, const char *line, size_t len) {
    _cleanup_(freep) char *transfer = http_head_value(line, len, "Transfer-Encoding");
    _cleanup_(freep) char *content = http_head_value(line, len, "Content-Encoding");
    char *length = http_head_value(line, len, "Content-Length");
    char *type = http_head_value(line, len, "Content-Type");
    long long number;

    head->decides = transfer || content || length || type;
    if (type && !keep(&head->type, type))
        return "it has two types";
    if (length && !keep(&head->length, length))
        return "it has two lengths";
    if (length && (*head->length == '-' || text_to_number(head->length, 0, INT64_MAX, &number) < 0))
        return "its length is no number";
    if (transfer && (head->chunked || head->old || !text_equal_nocase(transfer, "chunked")))
        return "its transfer encoding was not asked for";
    if (content && *content && !text_equal_nocase(content, "identity"))
        return "its content encoding was not asked for";
    head->chunked = head->chunked || transfer;
    return NULL;
}

/* Without the line's end. */
static size_t bare_length(const char *line, size_t len) {
    if (len && line[len - 1] == '\n')
        len--;
    if (len && line[len - 1] == '\r')
        len--;
    return len;
}

const char *http_head_check_trailer(const char *line, size_t len) {
    len = bare_length(line, len);
    return len ? why_bad_line(line, len) : NULL;
}

const char *http_head_read(struct http_head *head, const char *line, size_t len) {
    const char *why;

    len = bare_length(line, len);
    if (len >= 5 && memcmp(line, "HTTP/", 5) == 0)
        http_head_free(head);
    if (!head->began) {
        head->began = true;
        head->old = len > 7 && line[7] == '0';
        if (!is_status_line(line, len))
            return "its status line is not one of HTTP/1";
        head->status = (line[9] - '0') * 100 + (line[10] - '0') * 10 + (line[11] - '0');
        return NULL;
    }
    if (head->complete)
        return http_head_check_trailer(line, len);
    head->complete = !len;
    if (head->complete)
        return NULL;
    why = why_bad_line(line, len);
    if (!why && !head->has_field && (*line == ' ' || *line == '\t'))
        why = "its first header goes on with no other";
    head->has_field = true;
    if (!why && head->decides && (*line == ' ' || *line == '\t'))
        return "its length, type or encoding goes on in a second line";
    return why ? why : why_bad_field(head, line, len);
}

const char *http_head_check_redirect(const struct http_head *head, const char *line, size_t len) {
    static const int statuses[] = {301, 302, 303, 307, 308};
    _cleanup_(freep) char *location = http_head_value(line, len, "Location");
    const char *host = location ? strstr(location, "//") : NULL;
    bool known = false;

    if (!location || head->status < 300 || head->status > 399)
        return NULL;
    for (size_t i = 0; i < ARRAY_SIZE(statuses); i++)
        known = known || statuses[i] == head->status;
    if (!known)
        return "it redirects by another status";
    if (!host || (host > location && host[-1] != ':'))
        return NULL; /* a path */
    return http_authority_is_plain(host + 2) ? NULL : "it redirects to a host that is none for all";
}
