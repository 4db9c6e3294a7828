/* Provides a string builder with a size limit, string lists, and winjoin's string functions. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/memory.h"

/* A growing byte string, always NUL-terminated. Initialize it with zeros and free it with
 * text_free() or _cleanup_. The content may be secret, so memory is overwritten before it is freed,
 * also when the string grows. The content never exceeds the limit `cap` (TEXT_CAP_DEFAULT by
 * default): an addition that does not fit is dropped, and `overflow` is set. */
struct text {
    char *data; /* The content; never NULL after the first addition, "" when empty. */
    size_t len;
    size_t size;
    size_t cap; /* Largest allowed length; 0 means TEXT_CAP_DEFAULT. */
    bool overflow;
};

enum { TEXT_CAP_DEFAULT = 16 * 1024 * 1024 };

void text_add(struct text *t, const char *s);
void text_add_bytes(struct text *t, const void *data, size_t len);
void text_add_char(struct text *t, char c);
void text_addf(struct text *t, const char *format, ...) __attribute__((format(gnu_printf, 2, 3)));
void text_addv(struct text *t, const char *format, va_list args);
/* Adds bytes from outside in a form that fits in one line: control characters, DEL and bytes that
 * are not UTF-8 become \n, \t, \x1b and so on. Invisible characters are replaced as in
 * text_add_visible(). */
void text_add_escaped(struct text *t, const void *data, size_t len);
/* Adds text and replaces invisible characters that change how the others look (writing direction,
 * zero width, line separators) by escapes such as \u202e. All other bytes stay as they are. */
void text_add_visible(struct text *t, const void *data, size_t len);
/* Adds text as part of a URL (RFC 3986): letters, digits, "-._~" and the characters in `kept` stay,
 * all others become escapes such as %2F. */
void text_add_url(struct text *t, const char *s, const char *kept);
/* Returns the content so far, "" when empty. The builder owns it. */
const char *text_str(const struct text *t);
/* Returns the content and passes its ownership to the caller, who calls free(). The builder is
 * empty afterwards. */
char *text_take(struct text *t);
void text_clear(struct text *t);
void text_free(struct text *t);

/* Formats into a new string as printf does. The caller frees it. */
char *xasprintf(const char *format, ...) __attribute__((format(gnu_printf, 1, 2)));

/* Both arguments may be NULL; NULL equals only NULL. */
bool text_equal(const char *a, const char *b);
bool text_equal_nocase(const char *a, const char *b); /* Ignores the case of ASCII letters. */
bool text_starts_with(const char *s, const char *prefix);
/* The plural ending of a noun after a number: "1 file", "2 files". */
#define PLURAL(count) ((count) == 1 ? "" : "s")
bool text_ends_with(const char *s, const char *suffix);
/* Compares signatures and secrets. The time reveals nothing: it depends on the lengths only. */
bool text_equal_secret(const void *a, size_t a_len, const void *b, size_t b_len);
/* Formats as snprintf() does but never cuts. Returns 0, or -1 when the text does not fit; then
 * `out` is "". */
int text_format(char *out, size_t size, const char *format, ...)
    __attribute__((format(gnu_printf, 3, 4)));
/* Reads a text that is one decimal number in [min, max]. Returns 0, or -1 when it has blanks, a
 * sign other than '-', or any other character. */
int text_to_number(const char *s, long long min, long long max, long long *ret);
/* Splits "host", "host:80", "[fd00::1]:80", "[fd00::1]" or "fd00::1" into host and port. The caller
 * frees *ret_host, which has no brackets. *ret_port is unchanged when the text has no port. Returns
 * -1 when the text behind the host is not a port from 1 to 65535. The host is not checked. */
int text_split_port(const char *text, char **ret_host, unsigned *ret_port);
/* Returns a copy in lower case (ASCII only). The caller frees it. */
char *text_lower(const char *s);
/* Frees *text and puts `new_text` in its place. Takes ownership of `new_text`. */
void text_set(char **text, char *new_text);
/* Replaces each byte that is one of `these` by `to`, in place. Returns the text. */
char *text_replace(char *text, const char *these, char to);

struct text_value {
    const char *name, *text;
};
/* Returns a copy of `pattern` in which each name between `begin` and `end` ("{name}", "@NAME@") is
 * replaced by its text in `values`, whose last row has no name. A name that has no text there loses
 * only its two marks. The caller frees it. */
char *text_fill(const char *pattern, char begin, char end, const struct text_value *values);

/* Returns how many terminal columns a text takes. UTF-8 continuation bytes and color sequences
 * ("\x1b[32m") take none. */
size_t text_columns(const char *s);

/* A list of strings that it owns. Initialize it with zeros. When not empty, `items` ends with NULL.
 * The strings may be secret, e.g. command line arguments with a token, so text_list_free()
 * overwrites each before it frees it. */
struct text_list {
    char **items;
    size_t count;
};
void text_list_add(struct text_list *list, const char *s);
/* Adds a string to the list and takes ownership of it. */
void text_list_add_owned(struct text_list *list, char *s);
/* Splits `s` at each separator and adds the parts that are not empty. */
void text_list_split(struct text_list *list, const char *s, char separator);
bool text_list_has(const struct text_list *list, const char *s);
/* Sorts the list by bytes. */
void text_list_sort(struct text_list *list);
/* Joins the strings with a separator between them. The caller frees the result. */
char *text_list_join(const struct text_list *list, const char *separator);
void text_list_free(struct text_list *list);

/* ---- A set of strings, or a map from strings to strings, with fast lookup ---- */

/* A table of keys with values. All keys and values are stored in one block of memory. The keys are
 * sorted at the first lookup after an addition. Initialize it with zeros and free it with
 * text_table_free(). */
struct text_table {
    struct text texts; /* For each entry its key and its value, with a NUL behind each. */
    const char **keys; /* The keys in sorted order; each key occurs once. */
    size_t count;      /* Number of added entries. */
    size_t found;      /* Number of different keys in `keys`; 0 when they are not sorted yet. */
};
/* Adds copies of a key and its value. When a key is added twice, the first value counts. */
void text_table_add(struct text_table *table, const char *key, const char *value);
/* Returns the value of a key, which may be "", or NULL when the key is absent or NULL. The table
 * owns the value, which is valid until the next addition. */
const char *text_table_get(struct text_table *table, const char *key);
void text_table_free(struct text_table *table);

/* ---- text in the encodings of Windows programs ---- */

/* Converts text with a byte order mark to plain UTF-8: UTF-16 in both byte orders (PowerShell 5.1's
 * ">" and Out-File, Notepad's "Unicode"), or UTF-8. Text without a mark is unchanged. The caller
 * owns *text, which may be replaced and stays NUL-terminated behind *len bytes; an old text is
 * zeroed before it is freed. An incomplete UTF-16 character fails with ERROR_MALFORMED and leaves
 * the text unchanged. */
int unicode_to_utf8(char **text, size_t *len, struct error *err);
/* Converts any bytes to readable text, so that they can be searched. Works as unicode_to_utf8(),
 * but also recognizes UTF-16 without a mark when the position of the zero bytes is clear, replaces
 * an incomplete character by U+FFFD, and removes remaining zero bytes, e.g. of text that is only
 * partly UTF-16. */
void unicode_to_text(char **text, size_t *len);
