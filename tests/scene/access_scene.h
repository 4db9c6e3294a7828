/* What the played host has found an ordinary user to have a hand in (tests/memory/access.c): shared
 * by the tests that run commands with this check. */
#pragma once

#include <string.h>

#include "base/memory.h"
#include "tests/memory/host_memory.h"

/* What may stay open, and why. */
static const struct {
    const char *call, *words, *why;
} allowed_openings[] = {
    {"(run C:\\k\\", "): add to C:\\k",
     "what is installed is asked before the join changes anything: all beside it has an owner who "
     "may, and a user who adds a DLL at that moment is not excluded"},
    {"(run C:\\opt\\cni\\bin\\", "): add to C:\\opt\\cni\\bin", "the same"},
    {"(list C:\\etc\\kubernetes\\manifests)", "asked for its owner",
     "a preflight check, which ends the join when anything is in it, whosever it is"},
};

static inline bool is_allowed_opening(const char *line) {
    for (size_t i = 0; i < ARRAY_SIZE(allowed_openings); i++)
        if (strstr(line, allowed_openings[i].call) &&
            text_ends_with(line, allowed_openings[i].words))
            return true;
    return false;
}

static inline size_t print_openings(const struct host *host, const char *when) {
    const struct text_list *found = host_memory_openings(host);
    size_t lines = 0;

    for (size_t i = 0; i < found->count; i++)
        if (!is_allowed_opening(found->items[i])) {
            print_error("%s: %s\n", when, found->items[i]);
            lines++;
        }
    return lines;
}

static inline void assert_no_openings(const struct host *host, const char *when) {
    const size_t lines = print_openings(host, when);

    if (lines)
        fail_msg("%s: an ordinary user could have had a hand in it, %zu times", when, lines);
}

/* Folders that other software has made: they stay as they are, and users add to them. */
static inline void put_found_folders(struct host *host) {
    static const char *const folders[] = {"C:\\etc",      "C:\\opt",
                                          "C:\\run",      "C:\\var\\lib",
                                          "C:\\var\\log", "C:\\ProgramData\\containerd\\old"};

    for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
        assert_int_equal(host_make_folder(host, folders[i], HOST_PUBLIC, NULL), 0);
    assert_int_equal(host_make_folder(host, HOST_OWN_FOLDER "\\old", HOST_PUBLIC, NULL), 0);
    assert_int_equal(host_access_set(host, HOST_OWN_FOLDER, "D:", NULL), 0);
}
