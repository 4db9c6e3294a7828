/* Archives: what is packed is read again, and what nobody should unpack is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/text.h"
#include "services/artifacts/bundle_archive.h"

static int check_zip(const char *const *paths, size_t count, struct error *err) {
    struct bundle_archive_file files[8];
    char *zip = NULL;
    size_t len = 0;
    for (size_t i = 0; i < count; i++)
        files[i] = (struct bundle_archive_file){paths[i], "abc", 3};
    assert_int_equal(bundle_archive_make(files, count, &zip, &len, err), 0);
    int result = bundle_archive_read_all(zip, len, NULL, 0, err);
    free(zip);
    return result;
}

static void hostile_names(void **state) {
    static const char *const bad[] = {"../a", "/a", "a/../../b", "C:/a", "..\\a", "a\n", "b./c"};
    static const char *const twice[] = {"a", "b", "a"};
    static const char *const good[] = {"winjoin.lock", "bin/kubelet.exe"};
    struct error err = {0};
    (void)state;
    assert_int_equal(check_zip(good, 2, &err), 0);
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        if (check_zip(&bad[i], 1, &err) == 0)
            fail_msg("taken: %s", bad[i]);
        assert_int_equal(err.kind, ERROR_UNTRUSTED);
    }
    assert_int_equal(check_zip(twice, 3, &err), -1);
    assert_int_equal(err.kind, ERROR_UNTRUSTED);
    assert_non_null(strstr(err.message, "duplicate entry"));
}

/* Offset of the first central directory header. */
static size_t central(const char *zip, size_t len) {
    for (size_t i = 0; i + 4 < len; i++) {
        if (memcmp(zip + i, "PK\1\2", 4) == 0)
            return i;
    }
    fail_msg("no central directory");
    return 0;
}

static void hostile_archives(void **state) {
    const struct bundle_archive_file file = {"a", "abcabcabcabcabcabc", 18};
    struct error err = {0};
    char *zip = NULL, *content = NULL;
    size_t len = 0, got = 0;
    (void)state;
    assert_int_equal(bundle_archive_make(&file, 1, &zip, &len, &err), 0);
    assert_int_equal(bundle_archive_read(zip, len, "a", 18, &content, &got, &err), 0);
    assert_int_equal(got, 18);
    free(content);
    assert_int_equal(bundle_archive_read(zip, len, "a", 17, &content, &got, &err), -1);
    assert_int_equal(err.kind, ERROR_UNTRUSTED);
    assert_int_equal(bundle_archive_read(zip, len, "b", 17, &content, &got, &err), -1);
    assert_int_equal(err.kind, ERROR_ABSENT);
    /* a symbolic link: external attributes of the central header, S_IFLNK */
    size_t at = central(zip, len);
    zip[at + 5] = 3; /* made on Unix */
    zip[at + 40] = (char)0xff;
    zip[at + 41] = (char)0xa1;
    assert_int_equal(bundle_archive_read_all(zip, len, NULL, 0, &err), -1);
    assert_int_equal(err.kind, ERROR_UNTRUSTED);
    assert_int_equal(bundle_archive_read_all("not an archive", 14, NULL, 0, &err), -1);
    assert_int_equal(err.kind, ERROR_MALFORMED);
    assert_int_equal(bundle_archive_read_all("", 0, NULL, 0, &err), -1);
    free(zip);
}

/* What Python's zipfile writes of the same: a bundle is the same wherever it was made. */
static void the_same_bytes_everywhere(void **state) {
    static const char wanted[] =
        "PK\3\4\n\0\0\0\0\0\0\0!\0\4\300&\334\x12\0\0\0\x12\0\0\0\t\0\0\0bin/"
        "a.exeabcabcabcabcabcabc"
        "PK\3\4\n\0\0\b\0\0\0\0!\0\0\0\0\0\0\0\0\0\0\0\0\0\2\0\0\0\303\251"
        "PK\1\2\n\3\n\0\0\0\0\0\0\0!\0\4\300&\334\x12\0\0\0\x12\0\0\0\t\0\0\0\0\0\0\0\0\0\0\0\244"
        "\201\0\0\0\0bin/a.exe"
        "PK\1\2\n\3\n\0\0\b\0\0\0\0!"
        "\0\0\0\0\0\0\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\0\0\0\0\244\2019\0\0\0"
        "\303\251"
        "PK\5\6\0\0\0\0\2\0\2\0g\0\0\0Y\0\0\0\0\0";
    const struct bundle_archive_file files[] = {{"bin/a.exe", "abcabcabcabcabcabc", 18},
                                                {"\303\251", "", 0}};
    _cleanup_(freep) char *zip = NULL;
    struct error err = {0};
    size_t len = 0;

    (void)state;
    assert_int_equal(bundle_archive_make(files, 2, &zip, &len, &err), 0);
    assert_int_equal(len, sizeof wanted - 1);
    assert_memory_equal(zip, wanted, len);
}

static int check_files(size_t count, struct error *err) {
    _cleanup_(freep) struct bundle_archive_file *files = xcalloc(count, sizeof *files);
    _cleanup_(freep) char *names = xcalloc(count, 8), *zip = NULL;
    size_t len = 0;

    for (size_t i = 0; i < count; i++) {
        char *name = names + 8 * i;
        (void)text_format(name, 8, "f%zu", i);
        files[i] = (struct bundle_archive_file){name, "x", 1};
    }
    assert_int_equal(bundle_archive_make(files, count, &zip, &len, NULL), 0);
    return bundle_archive_read_all(zip, len, NULL, 0, err);
}

static void archives_of_many_files(void **state) {
    struct error err = {0};
    (void)state;
    assert_int_equal(check_files(1024, &err), 0);
    assert_int_equal(check_files(1025, &err), -1);
    assert_int_equal(err.kind, ERROR_UNTRUSTED);
    assert_string_equal(err.message, "read archive: more than 1024 entries");
}

static void truncated(void **state) {
    const struct bundle_archive_file file = {"a", "abcabcabcabcabcabc", 18};
    char *zip = NULL;
    size_t len = 0;
    (void)state;
    assert_int_equal(bundle_archive_make(&file, 1, &zip, &len, NULL), 0);
    for (size_t cut = 0; cut < len; cut++) {
        char *content = NULL;
        size_t got = 0;
        /* a fresh block, so that the sanitizer sees any byte read past the cut */
        char *part = xmalloc(cut + 1);
        memcpy(part, zip, cut);
        if (bundle_archive_read(part, cut, "a", 18, &content, &got, NULL) == 0) {
            assert_memory_equal(content, file.data, file.len);
            free(content);
        }
        free(part);
    }
    free(zip);
}

/* libarchive ends some of its texts with a line's end. */
static void reasons_are_one_line(void **state) {
    const struct bundle_archive_file file = {"a", "abcabcabcabcabcabc", 18};
    char *zip = NULL, *content = NULL;
    size_t len = 0, got = 0;
    struct error err = {0};
    (void)state;
    assert_int_equal(bundle_archive_make(&file, 1, &zip, &len, NULL), 0);
    zip[22]++; /* the uncompressed size, in both headers */
    zip[central(zip, len) + 24]++;
    assert_int_equal(bundle_archive_read(zip, len, "a", 18, &content, &got, &err), -1);
    if (!strstr(err.message, "wrong size"))
        fail_msg("%s", err.message);
    assert_null(strchr(err.message, '\\'));
    free(zip);
}

/* `zstd -19 --check` of a .tar with bin/a.txt alone: lines as in_compressed() makes them. */
static const unsigned char COMPRESSED[] = {
    0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x68, 0x0d, 0x0b, 0x00, 0xe6, 0x5a, 0x3a, 0x14, 0xb0, 0x9b, 0x0e,
    0x00, 0xc9, 0x05, 0xe4, 0x7c, 0x98, 0xa9, 0x94, 0x52, 0x26, 0x99, 0x52, 0x02, 0x77, 0x65, 0xa8,
    0x16, 0x40, 0x00, 0x2f, 0x00, 0x30, 0x00, 0x31, 0xc1, 0x29, 0xd6, 0xa4, 0x4e, 0x49, 0x9b, 0xdc,
    0xc6, 0xb1, 0x3a, 0x55, 0x9e, 0x1c, 0x1e, 0x61, 0xe5, 0xe5, 0x43, 0x62, 0x6a, 0x2a, 0x19, 0x30,
    0x01, 0x06, 0x04, 0x81, 0x09, 0x1c, 0x28, 0x20, 0x24, 0x00, 0x6c, 0x00, 0x0b, 0x05, 0x0d, 0x0c,
    0x0e, 0x00, 0x13, 0x00, 0xd8, 0x3e, 0xe3, 0x75, 0x00, 0x11, 0xb2, 0x6d, 0x00, 0x0d, 0x0f, 0x0d,
    0x03, 0x05, 0x04, 0x0a, 0x08, 0x06, 0x01, 0x75, 0xcd, 0x9a, 0xa2, 0xb7, 0xcd, 0x5c, 0xe4, 0xa8,
    0xf6, 0xc5, 0x52, 0x4d, 0x52, 0x53, 0x99, 0x8f, 0xf4, 0x95, 0xbf, 0x51, 0x72, 0x74, 0x84, 0x75,
    0x29, 0x64, 0x6c, 0x29, 0x2d, 0x76, 0x1b, 0xad, 0x75, 0x92, 0x62, 0x4d, 0x27, 0x9a, 0x35, 0x94,
    0x5a, 0x08, 0x3f, 0xf6, 0x19, 0x01, 0xad, 0x8f, 0x14, 0x2e, 0x79, 0x9c, 0x10, 0x7b, 0x24, 0x5e,
    0xb2, 0x1e, 0x41, 0x3c, 0x45, 0xcc, 0x5e, 0x0e, 0xa2, 0xc5, 0x34, 0xd8, 0x22, 0xc6, 0xb6, 0x90,
    0x45, 0xd1, 0x55, 0xee, 0x50, 0x90, 0x7d, 0xd9, 0xc7, 0x72, 0x11, 0xf1, 0x87, 0x1a, 0x77, 0xcc,
    0x15, 0x1e, 0xd7, 0x6d, 0x92, 0x09, 0x00, 0x01, 0x13, 0xdb, 0x2d, 0x54, 0x93, 0x2b, 0xa4, 0x92,
    0x52, 0xb6, 0x09, 0x27, 0x35, 0xfe, 0x5a, 0x2f, 0xf9, 0xa2, 0xbb, 0x78, 0x9a, 0x0b, 0xe5, 0x23,
    0xff, 0x58, 0xe4, 0x0f, 0x89, 0x79, 0x7c, 0x86, 0xc8, 0xa7, 0xc9, 0xa2, 0xe7, 0xa5, 0xe6, 0xb7,
    0xbd, 0x7b, 0x85, 0x4c, 0x45, 0x80, 0x86, 0xa8, 0x20, 0x88, 0x9a, 0x33, 0x49, 0x1a, 0x03, 0xc0,
    0x25, 0x07, 0x12, 0x60, 0x13, 0xca, 0x27, 0x65, 0xd5, 0xff, 0xbf, 0xd2, 0x1a, 0xdd, 0x51, 0x55,
    0x5b, 0xde, 0x3a, 0x1e, 0xe4, 0xc3, 0xf5, 0xeb, 0x75, 0xe3, 0xfa, 0xf5, 0xba, 0x71, 0xef, 0xd5,
    0x75, 0xaf, 0x8d, 0xc2, 0x7b, 0xa0, 0xd4, 0x80, 0xd7, 0x5c, 0x3a, 0x7b, 0x34, 0xb6, 0xa0, 0x53,
    0x27, 0x0d, 0xfd, 0x12, 0xff, 0xc0, 0x1a, 0xa4, 0xd5, 0x49, 0x40, 0xcf, 0xbc, 0x8e, 0x73, 0xe4,
    0x52, 0x6b, 0x91, 0x6b, 0x2a, 0x6a, 0xd6, 0x4e, 0x92, 0x98, 0xc6, 0x75, 0x8f, 0x7d, 0xee, 0x5e,
    0x70, 0xe6, 0x88, 0x80, 0xb0, 0x9d, 0x6a, 0xe8, 0xdd, 0x4b, 0x73, 0xab, 0xdd, 0x00, 0x3a, 0x90,
    0x4d, 0xf8, 0x96, 0x40, 0x01, 0xf1, 0x3e, 0x1a, 0x90, 0x01, 0xbb, 0x27, 0x80, 0xa5,
};

static char *in_compressed(void) {
    struct text text = {0};

    for (int i = 0; i < 64; i++)
        text_addf(&text, "line %d is %d\n", i, i * i * i);
    return text_take(&text);
}

/* With the decoders that a compressor makes use of: the other tests pack without compression. */
static void zstd_is_read(void **state) {
    _cleanup_(freep) char *wanted = in_compressed(), *content = NULL;
    size_t got = 0;
    struct error err = {0};
    (void)state;
    if (bundle_archive_read((const char *)COMPRESSED, sizeof COMPRESSED, "bin/a.txt", 2048,
                            &content, &got, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(got, strlen(wanted));
    assert_string_equal(content, wanted);
}

static void truncated_zstd(void **state) {
    (void)state;
    for (size_t cut = 0; cut < sizeof COMPRESSED - 8; cut++) {
        char *content = NULL;
        size_t got = 0;
        /* a fresh block, so that the sanitizer sees any byte read past the cut */
        char *part = xmalloc(cut + 1);
        memcpy(part, COMPRESSED, cut);
        if (bundle_archive_read(part, cut, "bin/a.txt", 2048, &content, &got, NULL) == 0)
            fail_msg("taken: the first %zu bytes", cut);
        free(content);
        free(part);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_bytes_everywhere),
        cmocka_unit_test(hostile_names),
        cmocka_unit_test(hostile_archives),
        cmocka_unit_test(archives_of_many_files),
        cmocka_unit_test(truncated),
        cmocka_unit_test(reasons_are_one_line),
        cmocka_unit_test(zstd_is_read),
        cmocka_unit_test(truncated_zstd),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
