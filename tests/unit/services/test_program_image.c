/* Programs for Windows: which files are one, and what they say of their version. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "services/artifacts/program_image.h"
#include "tests/scene/program_image.h"

#define MOD(module, version) "path\tx\nmod\t" module "\t" version "\th1:abc=\n"
#define BUILD(flags) "build\t-buildmode=exe\nbuild\t-ldflags=" flags "\nbuild\tCGO_ENABLED=0\n"
#define REVISION "build\tvcs=git\nbuild\tvcs.revision="
#define CONTAINERD "github.com/containerd/containerd/v2"
#define STAGED "k8s.io/component-base/version.gitVersion"

static void assert_version(char *image, const char *version) {
    _cleanup_(freep) char *got = program_image_version(image, IMAGE_SIZE);

    if (!version)
        assert_null(got);
    else if (!got || strcmp(got, version) != 0)
        fail_msg("version '%s', not '%s'", got ? got : "(none)", version);
}

/* As `go version -m` shows them. */
static void versions_of_go_programs(void **state) {
    static const struct {
        const char *lines, *version;
    } cases[] = {
        {MOD("k8s.io/kubernetes", "v1.37.1"), "v1.37.1"},
        {MOD("k8s.io/kubernetes", "(devel)"), NULL},
        {"path\tcommand-line-arguments\n", NULL},
        {"", NULL},
        {MOD(CONTAINERD, "(devel)")
             BUILD("\"-s -w -X " CONTAINERD "/version.Version=v2.4.2 -X " CONTAINERD
                   "/version.Revision=abc\""),
         "v2.4.2"},
        {MOD("github.com/flannel-io/flannel", "(devel)")
             BUILD("\"-s -X github.com/flannel-io/flannel/pkg/version.Version=v0.28.4 "
                   "-extldflags \\\"-static\\\"\""),
         "v0.28.4"},
        {MOD("github.com/containernetworking/plugins", "(devel)")
             BUILD("\"-X github.com/containernetworking/plugins/pkg/utils/"
                   "buildversion.BuildVersion=v1.9.1\""),
         "v1.9.1"},
        {MOD("k8s.io/kubernetes", "(devel)")
             BUILD("\"all=-s -X 'k8s.io/kubernetes/vendor/k8s.io/client-go/pkg/"
                   "version.gitMajor=1' -X 'k8s.io/kubernetes/vendor/" STAGED "=v1.30.2+x'\""),
         "v1.30.2+x"},
        /* what the linker was told overrides the module's version */
        {MOD("k8s.io/kubernetes", "v0.0.0-2026") BUILD("\"-X " STAGED "=v1.37.1\""), "v1.37.1"},
        {MOD("k8s.io/kubernetes", "v1.37.0") BUILD("-X=" STAGED "=v1.37.1"), "v1.37.1"},
        /* the shim is built with containerd's flags, but is another module */
        {MOD("github.com/Microsoft/hcsshim", "v0.14.0")
             BUILD("\"-X " CONTAINERD "/version.Version=v2.4.2\""),
         "v0.14.0"},
        {MOD("github.com/x", "v1.0.0") BUILD("\"-X github.com/x.Version=$(TAG)\""), "v1.0.0"},
        {MOD("github.com/x", "v1.0.0") BUILD("\"-X github.com/x.Version=\""), "v1.0.0"},
        {"path\tx\n" BUILD("\"-X github.com/x.Version=v2\""), NULL},
        {MOD("github.com/x", "v1.0.0") BUILD("\"-X github.com/x.Other=v2\""), "v1.0.0"},
        /* a program that is built at no release, as hybrid-overlay-node */
        {MOD("github.com/x", "(devel)") REVISION "0123456789abcdef0123\n", "git-0123456789ab"},
        {MOD("github.com/x", "v1.0.0") REVISION "0123456789abcdef0123\n", "v1.0.0"},
        {MOD("github.com/x", "(devel)") REVISION "0123456789\n", NULL},
        {MOD("github.com/x", "(devel)") REVISION "../456789abcdef\n", NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_(freep) char *image = image_make(cases[i].lines);

        assert_version(image, cases[i].version);
    }
}

static void versions_of_other_programs(void **state) {
    _cleanup_(freep) char *image = image_make(NULL), *go = image_make(MOD("x", "v1.2.3")),
                          *commit = image_make(MOD("x", "(devel)") REVISION "0123456789abcdef\n");

    (void)state;
    assert_version(image, NULL);
    image_add_version(image, 10, 2, 30, NULL);
    assert_version(image, "10.2.30");
    image_add_version(image, 10, 2, 30, "v7.1.0-rc.1");
    assert_version(image, "v7.1.0-rc.1");
    image_add_version(image, 10, 2, 30, "manually");
    assert_version(image, "10.2.30");
    image_add_version(go, 1, 0, 0, "1.0.0.0");
    assert_version(go, "v1.2.3");
    image_add_version(commit, 1, 0, 0, "1.0.0.0");
    assert_version(commit, "1.0.0.0");
}

/* The directory of resources is the third one: a header that counts fewer has none, and what its
 * place holds is something else. */
static void a_program_without_a_directory_of_resources(void **state) {
    enum { DIRECTORY_COUNT = 0x80 + 24 + 108 };
    _cleanup_(freep) char *image = image_make(NULL);

    (void)state;
    image_add_version(image, 10, 2, 30, NULL);
    image_number(image, DIRECTORY_COUNT, 3, 4);
    assert_version(image, "10.2.30");
    image_number(image, DIRECTORY_COUNT, 2, 4);
    assert_version(image, NULL);
}

static void what_is_no_program(void **state) {
    static const struct {
        size_t at;
        unsigned number, size;
        const char *why;
    } cases[] = {
        {0, 'X', 1, "it is not a Windows program"},
        {0x3c, 0x7f0, 4, "it is not a Windows program"},
        {0x3c, 0xffffffff, 4, "it is not a Windows program"},
        {0x80, 'X', 1, "it is not a Windows program"},
        {0x84, 0xaa64, 2, "another processor (machine 0xaa64, not 0x8664)"},
        {0x84, 0x14c, 2, "another processor"},
        {0x96, 0x2022, 2, "it is a Windows library, not a program"},
        {0x96, 0x20, 2, "not a program"},
        {0x98, 0x10b, 2, "its header is broken or cut off"},
        {0x94, 111, 2, "its header is broken or cut off"},
        {0x94, 0xffff, 2, "its header is broken or cut off"},
        {0x86, 0xffff, 2, "its header is broken or cut off"},
        {0x80 + 264 + 16, 0x601, 4, "the file is cut off"},
        {0x80 + 264 + 20, 0xffffffff, 4, "the file is cut off"},
    };
    struct error err;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_(freep) char *image = image_make(MOD("x", "v1.2.3"));

        assert_int_equal(program_image_check(image, IMAGE_SIZE, &err), 0);
        image_number(image, cases[i].at, cases[i].number, cases[i].size);
        assert_int_equal(program_image_check(image, IMAGE_SIZE, &err), -1);
        assert_int_equal(err.kind, ERROR_MALFORMED);
        if (!strstr(err.message, cases[i].why))
            fail_msg("'%s' is not in '%s'", cases[i].why, err.message);
        assert_version(image, NULL);
    }
    assert_int_equal(program_image_check("", 0, &err), -1);
    assert_string_equal(err.message, "the file is empty");
}

/* Each number broken in turn, and each length: nothing is read behind the end. */
static void broken_programs(void **state) {
    static const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xff};
    _cleanup_(freep) char *image = image_make(MOD("x", "v1.2.3"));

    (void)state;
    image_add_version(image, 1, 2, 3, "v1");
    for (size_t len = 0; len < IMAGE_SIZE; len++) {
        _cleanup_(freep) char *part = xmemdup(image, len);

        assert_null(program_image_version(part, len));
    }
    for (size_t at = 0; at < IMAGE_SIZE; at++)
        for (size_t v = 0; v < sizeof values; v++) {
            _cleanup_(freep) char *copy = xmemdup(image, IMAGE_SIZE), *got = NULL;

            copy[at] = (char)values[v];
            got = program_image_version(copy, IMAGE_SIZE);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_of_go_programs),
        cmocka_unit_test(versions_of_other_programs),
        cmocka_unit_test(a_program_without_a_directory_of_resources),
        cmocka_unit_test(what_is_no_program),
        cmocka_unit_test(broken_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
