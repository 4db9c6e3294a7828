/* One capped text builder, and the few string questions that the product asks. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/memory.h"

/* A growing, always NUL-terminated byte string. Zero-initialise; text_free() or _cleanup_. What it
 * held may be secret: it is overwritten before it is freed, also when the string grows. A builder
 * never grows past its cap (default TEXT_CAP_DEFAULT): more is dropped and `overflow` is set. */
struct text {
    char *data; /* never NULL after the first call; "" when empty */
    size_t len;
    size_t size;
    size_t cap; /* 0 = TEXT_CAP_DEFAULT */
    bool overflow;
};

enum { TEXT_CAP_DEFAULT = 16 * 1024 * 1024 };

void text_add(struct text *t, const char *s);
void text_add_bytes(struct text *t, const void *data, size_t len);
void text_add_char(struct text *t, char c);
void text_addf(struct text *t, const char *format, ...) __attribute__((format(gnu_printf, 2, 3)));
void text_addv(struct text *t, const char *format, va_list args);
/* Adds bytes from outside so that they can stand in one line: control characters, DEL and bytes
 * that are not UTF-8 become \n, \t, \x1b ...; what text_add_visible() replaces, too. */
void text_add_escaped(struct text *t, const void *data, size_t len);
/* Adds a text in which characters that show nothing but change how others look (controls of the
 * writing direction, zero width, line separators) become \u202e ...; all else stays. */
void text_add_visible(struct text *t, const void *data, size_t len);
/* Adds a text as a part of a URL (RFC 3986): all but letters, digits, "-._~" and the characters of
 * `kept` becomes %2F ... */
void text_add_url(struct text *t, const char *s, const char *kept);
/* The content so far ("" when empty); owned by the builder. */
const char *text_str(const struct text *t);
/* Hands the content to the caller (free()); the builder is empty afterwards. */
char *text_take(struct text *t);
void text_clear(struct text *t);
void text_free(struct text *t);

/* printf into a fresh string; the caller frees. */
char *xasprintf(const char *format, ...) __attribute__((format(gnu_printf, 1, 2)));

bool text_equal(const char *a, const char *b);        /* NULL equals NULL only */
bool text_equal_nocase(const char *a, const char *b); /* ASCII */
bool text_starts_with(const char *s, const char *prefix);
/* The end of a noun after a number: "1 file", "2 files". */
#define PLURAL(count) ((count) == 1 ? "" : "s")
bool text_ends_with(const char *s, const char *suffix);
/* Constant time for equal lengths; for signatures and secrets. */
bool text_equal_secret(const void *a, size_t a_len, const void *b, size_t b_len);
/* snprintf that refuses to cut: 0, or -1 when it did not fit (out is "" then). */
int text_format(char *out, size_t size, const char *format, ...)
    __attribute__((format(gnu_printf, 3, 4)));
/* A whole decimal number in [min, max]: 0, or -1 (no blanks, no sign but '-', no more). */
int text_to_number(const char *s, long long min, long long max, long long *ret);
/* "host", "host:80", "[fd00::1]:80", "[fd00::1]" or "fd00::1": the host without brackets, which the
 * caller frees, and the port, which stays as it was where none is named. -1 when what is behind the
 * host is not a port from 1 to 65535; the host itself is not looked at. */
int text_split_port(const char *text, char **ret_host, unsigned *ret_port);
/* Lower-case copy (ASCII); the caller frees. */
char *text_lower(const char *s);
/* Puts the new text, which it takes over, in the place of the old one, which it frees. */
void text_set(char **text, char *new_text);
/* Each byte of the text that is one of `these` becomes `to`; returns the text. */
char *text_replace(char *text, const char *these, char to);

/* The columns that a text takes on a terminal: UTF-8's continuation bytes and sequences that color
 * ("\x1b[32m") take none. */
size_t text_columns(const char *s);

/* A list of owned strings; zero-initialise; NULL-terminated in `items` once non-empty. They may be
 * the words of a call, with a token among them: text_list_free() overwrites each before it frees.
 */
struct text_list {
    char **items;
    size_t count;
};
void text_list_add(struct text_list *list, const char *s);
/* Takes ownership of s. */
void text_list_add_owned(struct text_list *list, char *s);
/* Adds each non-empty piece of s between separators. */
void text_list_split(struct text_list *list, const char *s, char separator);
bool text_list_has(const struct text_list *list, const char *s);
/* By bytes. */
void text_list_sort(struct text_list *list);
/* Joined with a separator; the caller frees. */
char *text_list_join(const struct text_list *list, const char *separator);
void text_list_free(struct text_list *list);

/* ---- many texts that are found quickly: a set, or values by their keys ---- */

/* Keys and values lie behind each other in one block; the keys are sorted at the first question
 * after something was added. Zero-initialise; text_table_free(). */
struct text_table {
    struct text texts; /* of each entry its key, its value, a NUL behind each */
    const char **keys; /* sorted, then each key once */
    size_t count;      /* of what was added */
    size_t found;      /* of `keys`; 0 = not sorted yet */
};
/* Copies both; the first value of a key counts. */
void text_table_add(struct text_table *table, const char *key, const char *value);
/* The value of a key ("" too), owned by the table until something is added; NULL: it is not there.
 * A key that is NULL never is. */
const char *text_table_get(struct text_table *table, const char *key);
void text_table_free(struct text_table *table);

/* ---- texts as Windows' programs write them into files ---- */

/* Makes the text plain UTF-8 when a byte order mark is before it: UTF-16, little or big endian
 * (PowerShell 5.1's ">" and Out-File, Notepad's "Unicode"), or UTF-8 with a mark. Without a mark
 * the bytes stay. *text is owned by the caller, may be replaced and stays NUL-terminated behind
 * *len bytes; what is replaced is zeroed first. Half a character is ERROR_MALFORMED, and the text
 * stays. */
int unicode_to_utf8(char **text, size_t *len, struct error *err);
/* The same of any bytes, so that what they say can be looked through: UTF-16 without a mark counts
 * where it is plain to see, half a character becomes U+FFFD, and a zero that is left, as of a text
 * that is UTF-16 in part, is taken out. */
void unicode_to_text(char **text, size_t *len);
