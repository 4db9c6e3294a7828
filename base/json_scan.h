/* Finds a few values in large JSON text. The caller names paths and gets the values at these paths
 * through a callback while the text is read. All other values are skipped, and no tree is built. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum json_scan_kind {
    SCAN_BEGINS, /* An object or array begins; its content follows. */
    SCAN_ENDS,   /* An object or array has ended. */
    SCAN_TEXT,
    SCAN_NUMBER,
    SCAN_BOOL,
    SCAN_NULL
};
/* A path that the caller is interested in, relative to the scan's prefix: "spec.ports.*.name". "*"
 * matches each item of an array; "\\." is a dot in a key. `what` is the caller's number for it. */
struct json_place {
    const char *path;
    int what;
};
/* One value that was found. Its texts belong to the scan, are valid during the callback only, and
 * have no NUL at the end. */
struct json_found {
    int what;
    enum json_scan_kind kind;
    const char *text; /* The string, for SCAN_TEXT. */
    size_t len;
    /* For SCAN_NUMBER: the integer, or 0 when the number is not an integer of the accepted
     * range. For SCAN_BOOL: 1 or 0. */
    long long number;
    const char *whole; /* For SCAN_ENDS: the complete source text of the object or array. */
    size_t whole_len;
};
struct json_scan {
    const char *name; /* Name of the text in messages, e.g. "Services". */
    /* Path to the part of the text that the places refer to, e.g. "items.*"; "" means all. */
    const char *prefix;
    const struct json_place *places;
    size_t count; /* Number of places, at most SCAN_PLACES_MAX. */
    void (*found)(void *context, const struct json_found *found);
    void *context;
};
enum { SCAN_PLACES_MAX = 20 };

/* Calls `found` for each value at one of the places, in the order of the text. When an object has a
 * member twice, both are reported. Values at other paths are only checked for where they end. At
 * most 256 levels of nesting are allowed. Fails with ERROR_MALFORMED: "decode Services: byte 17 is
 * not JSON"; the values before that byte were already reported. */
int json_scan(const char *text, size_t len, const struct json_scan *scan, struct error *err);

/* Returns a copy of a found string, which the caller frees; NULL when the value is not a string. */
char *json_found_text(const struct json_found *found);
/* Is the value a string that equals `text`? */
bool json_found_is(const struct json_found *found, const char *text);
