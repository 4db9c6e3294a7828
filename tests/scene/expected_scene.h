/* What is compared as a whole with a file of tests/unit/expected: everything that a run does and
 * prints, so that no line of it changes unseen. EXPECTED=write writes the files; `git diff` shows
 * what has changed. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"

/* A run of letters that is another each time: a digest, also a cut one, a key, base64. */
static inline size_t random_run(const char *at) {
    static const char digest[] = "sha256:";
    size_t len;

    if (text_starts_with(at, digest))
        return strlen(digest) + strspn(at + strlen(digest), "0123456789abcdef.");
    len = strspn(at, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+/=");

    return len >= 40 ? len : 0;
}

/* The same whatever keys were made: without PEM, digests and base64, and without the lengths of
 * files that hold them; how often the node itself asks depends on the system's sockets. The
 * number of a call that was told to fail says nothing. */
static inline void add_steady(struct text *ret, const char *text) {
    static const char begin[] = "-----BEGIN ", end[] = "-----END ";

    while (*text) {
        const char *pem = text_starts_with(text, begin) ? strstr(text, end) : NULL;
        size_t number = strspn(text, "0123456789"), random = random_run(text);

        if (pem)
            text = pem + strlen(end);
        else if (random)
            text += random;
        else if (number && (text_starts_with(text + number, " bytes") ||
                            text_starts_with(text + number, " probes") ||
                            text_starts_with(text + number, " of the host: told to fail")))
            text += number;
        else if (number)
            for (; number; number--)
                text_add_char(ret, *text++);
        else
            text_add_char(ret, *text++);
        if (pem || random)
            text_add(ret, "...");
    }
}

/* A document with a line for each value; each line of a text is one. */
static inline void add_document(struct text *ret, const json_t *json) {
    _cleanup_(freep) char *text = json ? json_write_pretty(json) : NULL;

    for (const char *at = text; at && *at; at++)
        if (at[0] == '\\' && at[1] == 'n') {
            text_add(ret, "\n    | ");
            at++;
        } else if (at[0] == '\\' && at[1] == '\\') {
            text_add_char(ret, '\\');
            at++;
        } else {
            text_add_char(ret, *at);
        }
}

/* Those that change something: what is read, and how often, may change. */
static inline bool is_change(const char *line) {
    static const char *const kinds[] = {
        "write ",       "make_folder ", "remove",       "rename ",    "link ",
        "access_set ",  "service_put",  "service_st",   "service_d",  "firewall_put",
        "firewall_rem", "registry_set", "registry_rem", "route_",     "address_",
        "dns_set",      "event_",       "watcher_",     "HcnCreate",  "HcnDelete",
        "HcnModify",    "run ",         "metric",       "forwarding", "adapter_"};

    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
        if (text_starts_with(line, kinds[i]))
            return true;
    return false;
}

static inline void add_calls(struct text *ret, const char *title, const char *log) {
    text_addf(ret, "==== %s\n", title);
    for (const char *at = log; *at; at += strspn(at, "\n")) {
        size_t len = strcspn(at, "\n");

        if (is_change(at))
            text_addf(ret, "%.*s\n", (int)len, at);
        at += len;
    }
}

static inline void say_first_difference(const char *path, const char *wanted, const char *is) {
    size_t at = 0, line = 1, start = 0;

    for (; wanted[at] && wanted[at] == is[at]; at++)
        if (wanted[at] == '\n') {
            line++;
            start = at + 1;
        }
    fail_msg("%s:%zu differs: wanted '%.*s', is '%.*s' (EXPECTED=write)", path, line,
             (int)strcspn(wanted + start, "\n"), wanted + start, (int)strcspn(is + start, "\n"),
             is + start);
}

/* What is the same in each run as it is; assert_expected() takes the rest out. */
static inline void assert_expected_exactly(const char *name, const char *is) {
    _cleanup_(freep) char *path = xasprintf("tests/unit/expected/%s.txt", name);
    _cleanup_(text_free) struct text wanted = {.cap = 1 << 20};
    FILE *file = fopen(path, getenv("EXPECTED") ? "wb" : "rb");
    int byte;

    if (!file)
        fail_msg("%s is missing", path);
    if (getenv("EXPECTED"))
        (void)fwrite(is, 1, strlen(is), file);
    while (!getenv("EXPECTED") && (byte = fgetc(file)) != EOF)
        text_add_char(&wanted, (char)byte);
    (void)fclose(file);
    if (!getenv("EXPECTED") && !text_equal(text_str(&wanted), is))
        say_first_difference(path, text_str(&wanted), is);
}

static inline void assert_expected(const char *name, const char *text) {
    _cleanup_(text_free) struct text is = {.cap = 1 << 20};

    add_steady(&is, text);
    assert_expected_exactly(name, text_str(&is));
}
