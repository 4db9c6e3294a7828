/* Files too large for memory, read and written piece by piece: what host.h promises of them, asked
 * of each host as in test_host_contract.c. */
#define SCENE "pieces"
#include "tests/scene/host_scene.h"

static void reads_a_part(void **state) {
    const char *path = FOLDER "\\part.log";
    static const struct {
        uint64_t offset;
        size_t max;
        const char *part;
    } parts[] = {{0, 100, "012345"}, {0, 0, ""}, {2, 3, "234"},
                 {4, 3, "45"},       {6, 3, ""}, {9, 3, ""}};
    uint64_t size;
    char *data = NULL;
    size_t len;

    (void)state;
    FAILS_WITH(ERROR_ABSENT, host_read_part(opened, path, 0, 1, &data, &len, &size, err));
    SUCCEEDS(host_write(opened, path, "012345", 6, HOST_PUBLIC, err));
    for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
        SUCCEEDS(
            host_read_part(opened, path, parts[i].offset, parts[i].max, &data, &len, &size, err));
        assert_string_equal(data, parts[i].part);
        assert_int_equal(len, strlen(data));
        assert_int_equal(size, 6);
        free(data);
    }
    SUCCEEDS(host_remove_tree(opened, FOLDER, err));
}

/* In pieces: a later one cuts what was behind it, the first makes a new file. */
static void files_in_pieces(void **state) {
    static const char path[] = FOLDER "\\deep\\large";
    static const struct {
        uint64_t offset;
        const char *piece, *whole;
    } steps[] = {{0, "0123", "0123"}, {4, "45", "012345"}, {2, "x", "01x"}, {0, "y", "y"}};
    struct error why = {0};

    (void)state;
    FAILS_WITH(ERROR_ABSENT, host_write_part(opened, path, 1, "a", 1, HOST_PUBLIC, err));
    for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
        SUCCEEDS(host_write_part(opened, path, steps[i].offset, steps[i].piece,
                                 strlen(steps[i].piece), HOST_PUBLIC, err));
        assert_true(host_has(opened, path, steps[i].whole, strlen(steps[i].whole)));
    }
    assert_int_equal(host_write_part(opened, path, 9, "a", 1, HOST_PUBLIC, &why), -1);
    assert_true(host_has(opened, path, "y", 1));
    SUCCEEDS(host_remove_tree(opened, FOLDER, err));
}

/* Its content stays, and that of a file too short for the piece, too. */
static void pieces_with_something_in_the_way(void **state) {
    static const char folder[] = FOLDER "\\folder", file[] = FOLDER "\\file";
    struct error why[5] = {0};

    (void)state;
    SUCCEEDS(host_write(opened, FOLDER "\\folder\\x", "x", 1, HOST_PUBLIC, err));
    SUCCEEDS(host_write(opened, file, "abc", 3, HOST_PUBLIC, err));
    assert_int_equal(host_write_part(opened, folder, 0, "a", 1, HOST_PUBLIC, &why[0]), -1);
    assert_int_equal(host_write_part(opened, folder, 1, "a", 1, HOST_PUBLIC, &why[1]), -1);
    assert_int_equal(host_write_part(opened, FOLDER "\\file\\x", 0, "a", 1, HOST_PUBLIC, &why[2]),
                     -1);
    assert_int_equal(host_write_part(opened, FOLDER "\\file\\x", 1, "a", 1, HOST_PUBLIC, &why[3]),
                     -1);
    assert_int_equal(host_write_part(opened, file, 4, "a", 1, HOST_PUBLIC, &why[4]), -1);
    assert_int_equal(why[4].kind, ERROR_HOST);
    for (size_t i = 0; i < ARRAY_SIZE(why); i++)
        if (!strstr(why[i].message, i < 2 ? folder : file) || strstr(why[i].message, "uccess"))
            fail_msg("%zu: %s", i, why[i].message);
    expect_content(FOLDER "\\folder\\x", "x");
    expect_content(file, "abc");
    SUCCEEDS(host_write_part(opened, file, 3, "d", 1, HOST_PUBLIC, err));
    SUCCEEDS(host_write_part(opened, file, 4, "", 0, HOST_PUBLIC, err));
    expect_content(file, "abcd");
    SUCCEEDS(host_remove_tree(opened, FOLDER, err));
}

/* On Windows this file is open, as a scanner has it that looks at the last piece. */
static void pieces_while_somebody_reads(void **state) {
    static const char path[] = FOLDER "\\large";
    FILE *reader;

    (void)state;
    SUCCEEDS(host_write_part(opened, path, 0, "abc", 3, HOST_PUBLIC, err));
    reader = fopen(path, "rb");
    SUCCEEDS(host_write_part(opened, path, 3, "d", 1, HOST_PUBLIC, err));
    expect_content(path, "abcd");
    if (reader)
        assert_int_equal(fclose(reader), 0);
    SUCCEEDS(host_remove_tree(opened, FOLDER, err));
}

/* A link is replaced by the first piece, and refused by the next; a folder's is not gone through.
 */
static void pieces_and_links(void **state) {
    static const char link[] = FOLDER "\\link", way[] = FOLDER "\\way";
    struct error why = {0};

    (void)state;
    SUCCEEDS(host_write(opened, FOLDER "\\real", "abc", 3, HOST_PUBLIC, err));
    SUCCEEDS(host_write(opened, FOLDER "\\folder\\x", "abc", 3, HOST_PUBLIC, err));
    if (on_wine() &&
        (host_link(opened, link, "real", &why) < 0 || host_file_type(opened, link) != HOST_LINK)) {
        (void)host_remove_tree(opened, FOLDER, NULL);
        skip();
    }
    SUCCEEDS(host_link(opened, link, "real", err));
    assert_int_equal(host_write_part(opened, link, 1, "x", 1, HOST_PUBLIC, &why), -1);
    expect_content(FOLDER "\\real", "abc");
    SUCCEEDS(host_write_part(opened, link, 0, "x", 1, HOST_PUBLIC, err));
    assert_int_equal(host_file_type(opened, link), HOST_FILE);
    expect_content(link, "x");
    expect_content(FOLDER "\\real", "abc");
    SUCCEEDS(host_link(opened, way, FOLDER "\\folder", err));
    if (!on_wine()) { /* where a folder's link looks like a folder */
        FAILS_WITH(ERROR_DENIED,
                   host_write_part(opened, FOLDER "\\way\\x", 0, "", 0, HOST_PUBLIC, err));
        FAILS_WITH(ERROR_DENIED,
                   host_write_part(opened, FOLDER "\\way\\x", 3, "d", 1, HOST_PUBLIC, err));
    }
    expect_content(FOLDER "\\folder\\x", "abc");
    SUCCEEDS(host_remove_tree(opened, FOLDER, err));
}

int main(void) {
    const struct CMUnitTest both[] = {
        cmocka_unit_test(reads_a_part),
        cmocka_unit_test(files_in_pieces),
        cmocka_unit_test(pieces_with_something_in_the_way),
        cmocka_unit_test(pieces_while_somebody_reads),
        cmocka_unit_test(pieces_and_links),
    };
    int failed = cmocka_run_group_tests_name("pieces_memory", both, open_memory, close_host);

    return failed + cmocka_run_group_tests_name("pieces_own", both, open_own, close_host);
}
