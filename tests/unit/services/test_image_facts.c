/* For which builds an image is, by the beginning of its archive. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "services/artifacts/image.h"
#include "tests/scene/image_archive.h"

#define PLATFORM(version)                                                                          \
    "\"platform\":{\"os\":\"windows\",\"architecture\":\"amd64\",\"os.version\":\"" version "\"}"

static struct text tar;

static int open_archive(void **state) {
    (void)state;
    text_clear(&tar);
    image_archive_add(&tar, "oci-layout", "{\"imageLayoutVersion\":\"1.0.0\"}");
    image_archive_add(&tar, "index.json", "{\"manifests\":[{\"digest\":\"sha256:i\"}]}");
    return 0;
}

static int close_archive(void **state) {
    (void)state;
    text_free(&tar);
    return 0;
}

static void put(const char *name, const char *text) {
    _cleanup_(freep) char *path = xasprintf("blobs/sha256/%s", name);

    image_archive_add(&tar, path, text);
}

static void put_two(void) {
    put("i", "{\"manifests\":[{\"digest\":\"sha256:new\"," PLATFORM(
                 "10.0.26100.1") "},"
                                 "{\"digest\":\"sha256:linux\",\"platform\":{\"os\":\"linux\","
                                 "\"architecture\":\"amd64\"}},"
                                 "{\"digest\":\"sha256:old\"," PLATFORM("10.0.20348.2340") "}]}");
    put("new", "{\"layers\":[{\"digest\":\"sha256:n\",\"size\":3}]}");
    put("old",
        "{\"layers\":[{\"digest\":\"sha256:o\",\"size\":5},{\"digest\":\"sha256:p\",\"size\":-1},"
        "{\"digest\":\"sha256:q\",\"size\":7}]}");
}

/* -1: it is not understood; else how many bytes its layers have. */
static long long look(unsigned build, bool runs, size_t versions) {
    _cleanup_(image_facts_free) struct image_facts facts = {0};
    struct error err = {0};
    uint64_t sum = 0;

    if (image_facts_of_archive(tar.data, tar.len, build, &facts, &err) < 0) {
        assert_string_not_equal(err.message, "");
        return -1;
    }
    assert_int_equal(facts.runs, runs);
    assert_int_equal(facts.versions.count, versions);
    for (size_t i = 0; i < facts.count; i++)
        sum += facts.layers[i].size;
    return (long long)sum;
}

static void the_newest_that_runs(void **state) {
    (void)state;
    put_two();
    assert_int_equal(look(17763, false, 2), 0);
    assert_int_equal(look(20348, true, 2), 12);
    assert_int_equal(look(25398, true, 2), 12);
    assert_int_equal(look(26100, true, 2), 3);
    assert_int_equal(look(0, false, 2), 0);
}

/* What lies behind the beginning is missed only where it is needed. */
static void a_beginning_is_enough(void **state) {
    size_t head;

    (void)state;
    put_two();
    head = tar.len;
    put("o", "a layer of which the half is here");
    tar.len -= 300;
    assert_int_equal(look(20348, true, 2), 12);
    tar.len = head - 700;
    assert_int_equal(look(20348, true, 2), -1);
    tar.len = 1000;
    assert_int_equal(look(20348, true, 2), -1);
}

/* By its configuration, where neither index nor descriptor says it. */
static void one_for_one_platform(void **state) {
    static const char config[] = "{\"os\":\"windows\",\"architecture\":\"amd64\","
                                 "\"os.version\":\"10.0.17763.9\"}";

    (void)state;
    put("i",
        "{\"config\":{\"digest\":\"sha256:c\"},\"layers\":[{\"digest\":\"sha256:o\",\"size\":5}]}");
    put("c", config);
    assert_int_equal(look(17763, true, 1), 5);
    assert_int_equal(look(20348, false, 1), 5);
    (void)open_archive(NULL);
    put("i", "{\"manifests\":[{\"digest\":\"sha256:m\"}]}");
    put("m",
        "{\"config\":{\"digest\":\"sha256:c\"},\"layers\":[{\"digest\":\"sha256:o\",\"size\":5}]}");
    put("c", config);
    assert_int_equal(look(17763, true, 1), 5);
    assert_int_equal(look(20348, false, 1), 0);
    (void)open_archive(NULL);
    put("i", "{\"config\":{\"digest\":\"sha256:c\"},\"layers\":[]}");
    put("c", "{\"os\":\"linux\",\"architecture\":\"amd64\"}");
    assert_int_equal(look(0, false, 0), 0);
}

static void archives_that_say_nothing(void **state) {
    static const char *const indexes[] = {
        "",
        "{}",
        "[]",
        "{\"manifests\":{}}",
        "{\"manifests\":[{}]}",
        "{\"manifests\":[{\"digest\":\"md5:m\"}]}",
        "{\"manifests\":[{\"digest\":\"sha256:../../index.json\"}]}",
        "{\"manifests\":[{\"digest\":\"sha256:none\"," PLATFORM("10.0.20348.1") "}]}",
    };
    _cleanup_(text_free) struct text many = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(indexes); i++) {
        (void)open_archive(NULL);
        put("i", indexes[i]);
        assert_int_equal(look(20348, true, 1), -1);
    }
    text_add(&many, "{\"manifests\":[{" PLATFORM("10.0.17763.1") "}");
    for (size_t i = 0; i < 64; i++)
        text_add(&many, ",{" PLATFORM("10.0.17763.1") "}");
    text_add(&many, "]}");
    (void)open_archive(NULL);
    put("i", text_str(&many));
    assert_int_equal(look(20348, true, 1), -1);
    text_clear(&tar);
    text_add(&tar, "no archive");
    assert_int_equal(look(20348, true, 1), -1);
}

static void builds(void **state) {
    static const struct {
        unsigned build, host;
        bool runs;
    } rows[] = {
        {17763, 17763, true},  {17763, 20348, false}, {20348, 17763, false}, {20348, 20348, true},
        {20347, 26100, false}, {20348, 26100, true},  {26100, 20348, false}, {25398, 26100, true},
        {0, 0, false},         {0, 26100, false},
    };
    static const char *const odd[] = {"",         "10.0.20348", "10.1.20348.1",
                                      "10.0.x.1", "10.0.-5.1",  "10.0.200000.1"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        if (image_build_runs(rows[i].build, rows[i].host) != rows[i].runs)
            fail_msg("%u on %u", rows[i].build, rows[i].host);
    for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
        json_t *platform = json_pack("{s:s, s:s, s:s}", "os", "windows", "architecture", "amd64",
                                     "os.version", odd[i]);

        assert_int_equal(image_build(platform), 0);
        json_decref(platform);
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_archive, close_archive)
    const struct CMUnitTest tests[] = {
        TEST(the_newest_that_runs),      TEST(a_beginning_is_enough), TEST(one_for_one_platform),
        TEST(archives_that_say_nothing), cmocka_unit_test(builds),
    };

    return cmocka_run_group_tests_name("image_facts", tests, NULL, NULL);
}
