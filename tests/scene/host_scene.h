/* What the tests of the hosts share: the host under test, in memory or this platform's own (on
 * Linux in a folder, on Windows the machine itself), and how a call is expected to end. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "tests/memory/host_memory.h"

/* Each test program defines SCENE: the programs run side by side. */
#define FOLDER "C:\\winjoin-test-" SCENE
#define SERVICE "winjoin-test-" SCENE

static struct host *opened;
static bool opened_windows; /* the machine itself, which is one */

/* What Wine 8 cannot do is skipped there, and must work everywhere else. */
static inline bool on_wine(void) {
    return opened_windows && getenv("WINEPREFIX");
}

static inline int open_memory(void **state) {
    (void)state;
    opened = host_memory_new();
    opened_windows = false;
    return 0;
}

/* Without a rootfs where the machine itself is Windows. */
static inline int open_own(void **state) {
    const char *folder = "build/host-" SCENE;
    struct error err = {0};

    (void)state;
    opened_windows = !host_rehearses;
    if (host_open(opened_windows ? NULL : folder, &opened, &err) == 0)
        return 0;
    print_error("%s\n", err.message);
    return -1;
}

static inline int close_host(void **state) {
    (void)state;
    if (opened)
        (void)host_remove_tree(opened, FOLDER, NULL); /* what a failed test left */
    host_free(opened);
    opened = NULL;
    return 0;
}

static inline void expect_content(const char *path, const char *expected) {
    _cleanup_(freep) char *data = NULL;
    struct error err = {0};
    size_t len = 0;

    if (host_read(opened, path, 1 << 20, &data, &len, &err) < 0)
        fail_msg("%s", err.message);
    assert_string_equal(data, expected);
    assert_int_equal(len, strlen(expected));
}

#define SUCCEEDS(call)                                                                             \
    do {                                                                                           \
        struct error err_ = {0};                                                                   \
        struct error *err = &err_;                                                                 \
        if ((call) < 0)                                                                            \
            fail_msg("%s", err_.message);                                                          \
    } while (0)

#define FAILS_WITH(kind_, call)                                                                    \
    do {                                                                                           \
        struct error err_ = {0};                                                                   \
        struct error *err = &err_;                                                                 \
        assert_int_equal((call), -1);                                                              \
        if (err_.kind != (kind_))                                                                  \
            print_error("%s\n", err_.message);                                                     \
        assert_int_equal(err_.kind, (kind_));                                                      \
    } while (0)

static inline void expect_service(const char *name, enum host_service_state state,
                                  const char *command) {
    struct host_service found = {0};

    SUCCEEDS(host_service_query(opened, name, &found, err));
    assert_int_equal(found.state, state);
    if (command)
        assert_string_equal(found.command, command);
    host_service_free(&found);
}
