/* Reads a few values of large JSON. The caller names paths and gets the values there while the text
 * is read. The rest is skipped, and no tree is made. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum json_scan_kind {
    SCAN_BEGINS, /* of an object or an array: before what is in it */
    SCAN_ENDS,   /* and behind it */
    SCAN_TEXT,
    SCAN_NUMBER,
    SCAN_BOOL,
    SCAN_NULL
};
/* Where a value stands, below what the scan is of: "spec.ports.*.name" ("*": each item of an array,
 * "\\." a dot in a key); `what`: the caller's name for it. */
struct json_place {
    const char *path;
    int what;
};
/* What stands there. The text is the scan's own for the call, without a NUL. */
struct json_found {
    int what;
    enum json_scan_kind kind;
    const char *text; /* of SCAN_TEXT */
    size_t len;
    long long number;  /* of SCAN_NUMBER: a whole one, else 0; of SCAN_BOOL 1 or 0 */
    const char *whole; /* of SCAN_ENDS: all of it, as it is spelled */
    size_t whole_len;
};
struct json_scan {
    const char *name;   /* of the text in the message: "Services" */
    const char *prefix; /* the places are below it: "items.*"; "" = the text itself */
    const struct json_place *places;
    size_t count; /* at most SCAN_PLACES_MAX */
    void (*found)(void *context, const struct json_found *found);
    void *context;
};
enum { SCAN_PLACES_MAX = 20 };

/* Tells what is found, in the order of the text. Of a member that an object has twice, both. What
 * stands at no place has to end, and is not looked at otherwise. ERROR_MALFORMED: "decode Services:
 * byte 17 is not JSON"; what came before has been told. More than 256 values in each other are
 * refused. */
int json_scan(const char *text, size_t len, const struct json_scan *scan, struct error *err);

/* A text's copy, which the caller frees; NULL where something else is found. */
char *json_found_text(const struct json_found *found);
bool json_found_is(const struct json_found *found, const char *text);
