/* The head of an HTTP/1 answer, line by line, as strictly as Go's net/http reads it: libcurl lets
 * much pass that two readers could take for two things. Only files in host/ include this. */
#ifndef HOST_HTTP_HEAD_H
#define HOST_HTTP_HEAD_H

#include <stdbool.h>
#include <stddef.h>

struct http_head {
    bool began;    /* the status line came */
    bool complete; /* the empty line came */
    bool old;      /* HTTP/1.0 */
    bool has_field;
    bool chunked;
    int status;
    bool decides;        /* the last line said a length, a type or an encoding */
    char *length, *type; /* of the last block, NULL when absent */
};

/* Reads one line with its line end; a status line begins anew (1xx, redirects). NULL, or why the
 * answer is not to be taken: lengths, encodings and types that are two, unasked or folded (RFC 9112
 * sections 5.2, 6.1, 6.3; RFC 9110 section 5.6.2), names and values with characters that they
 * cannot have. */
const char *http_head_read(struct http_head *head, const char *line, size_t len);
/* The same for a line of the trailers, which nobody asks; no head begins among them. */
const char *http_head_check_trailer(const char *line, size_t len);
/* NULL, or why the place that this line names, if it names one, must not be gone to: Go follows
 * 301, 302, 303, 307 and 308 alone, and the host must be one for every reader. */
const char *http_head_check_redirect(const struct http_head *head, const char *line, size_t len);
/* The value of a line with this name, without blanks around; NULL when it has another. The caller
 * frees. */
char *http_head_value(const char *line, size_t len, const char *name);
void http_head_free(struct http_head *head);

#endif
