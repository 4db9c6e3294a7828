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

/* The file's path and, unless it is written, its text; free() both. */
static inline char *expected_read(const char *name, char **ret_path) {
    struct text wanted = {.cap = 1 << 20};
    FILE *file;
    int byte;

    *ret_path = xasprintf("tests/unit/expected/%s.txt", name);
    file = fopen(*ret_path, "rb");
    if (!file)
        fail_msg("%s is missing", *ret_path);
    while ((byte = fgetc(file)) != EOF)
        text_add_char(&wanted, (char)byte);
    (void)fclose(file);
    return wanted.data ? wanted.data : xstrdup("");
}

/* What is the same in each run as it is; assert_expected() takes the rest out. */
static inline void assert_expected_exactly(const char *name, const char *is) {
    _cleanup_(freep) char *path = NULL, *wanted = NULL;
    FILE *file;

    if (!getenv("EXPECTED")) {
        wanted = expected_read(name, &path);
        if (!text_equal(wanted, is))
            say_first_difference(path, wanted, is);
        return;
    }
    path = xasprintf("tests/unit/expected/%s.txt", name);
    file = fopen(path, "wb");
    assert_non_null(file);
    (void)fwrite(is, 1, strlen(is), file);
    (void)fclose(file);
}

static inline void assert_expected(const char *name, const char *text) {
    _cleanup_(text_free) struct text is = {.cap = 1 << 20};

    add_steady(&is, text);
    assert_expected_exactly(name, text_str(&is));
}

/* ---- a file of many runs, of which the sanitizers play a part ---- */

/* With TESTS_PART=part the sanitizers, which take eight times as long, play every seventh run. */
static inline size_t next_run(void) {
#ifdef __SANITIZE_ADDRESS__
    return text_equal(getenv("TESTS_PART"), "part") ? 7 : 1;
#else
    return 1;
#endif
}

/* Adds what a run said to `all`, or looks for it in the file where not all runs are played. */
static inline void expect_run(const char *name, struct text *all, const char *said) {
    _cleanup_(freep) char *path = NULL, *wanted = NULL;
    _cleanup_(text_free) struct text is = {0};

    if (next_run() == 1) {
        text_add(all, said);
        return;
    }
    add_steady(&is, said);
    wanted = expected_read(name, &path);
    if (!strstr(wanted, text_str(&is)))
        fail_msg("%s lacks '%s' (EXPECTED=write)", path, text_str(&is));
}

/* All runs are played: the file has no other. */
static inline void expect_no_other_run(const char *name, const struct text *all) {
    if (next_run() == 1)
        assert_expected(name, text_str(all));
}
