/* Which paths a bundle may name, in it and on the node. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "services/artifacts/bundle_archive.h"

static void paths(void **state) {
    static const struct {
        const char *path;
        bool inside, target;
    } rows[] = {
        {"a", true, false},
        {"k/kubelet.exe", true, false},
        {"a..b/.c", true, false},
        {"", false, false},
        {"/a", false, false},
        {"a/", false, false},
        {"a//b", false, false},
        {"../a", false, false},
        {"a/../b", false, false},
        {"a/..", false, false},
        {"./a", false, false},
        {"C:\\a", false, false},
        {"a\\b", false, false},
        {"a\nb", false, false},
        {"CON", false, false},
        {"a/nul.txt/b", false, false},
        {"a/COM1 .x", false, false},
        {"k/lpt9", false, false},
        {"CONIN$", false, false},
        {"COM", true, false},
        {"COM10/console/xCON/lptx", true, false},
        {"C:\\k\\aux.exe", false, false},
        {"C:\\k\\a.exe", false, true},
        {"C:\\opt\\cni\\bin\\a.exe", false, true},
        {"C:\\Program Files\\containerd\\a.exe", false, true},
        {"C:\\k\\", false, false},
        {"C:\\k\\..\\a", false, false},
        {"C:\\k\\a\\..\\..\\b", false, false},
        {"C:\\kk\\a", false, false},
        {"C:\\opt\\cni\\a", false, false},
        {"D:\\k\\a", false, false},
        {"C:\\k\\a:b", false, false},
        {"C:\\k\\a/b", false, false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        if (!bundle_path_fault(rows[i].path) != rows[i].inside ||
            bundle_target_is_safe(rows[i].path) != rows[i].target)
            fail_msg("'%s'", rows[i].path);
}

/* Windows takes 259 letters, with the folder that a bundle is unpacked into. */
static void long_paths(void **state) {
    char path[242];

    (void)state;
    memset(path, 'a', sizeof path);
    path[240] = '\0';
    assert_null(bundle_path_fault(path));
    memcpy(path, "C:\\k\\", 5);
    assert_true(bundle_target_is_safe(path));
    path[240] = 'a';
    path[241] = '\0';
    assert_false(bundle_target_is_safe(path));
    memset(path, 'a', 5);
    assert_non_null(bundle_path_fault(path));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(paths), cmocka_unit_test(long_paths)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
