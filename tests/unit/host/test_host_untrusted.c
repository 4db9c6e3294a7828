/* What an ordinary user has put in the way is refused, by name and with the command that takes it
 * away: junctions and links in each place of a path, folders and files of another owner. */
#define SCENE "stranger"
#include <sys/stat.h>

#include "tests/scene/host_scene.h"

#define ROOT "build/host-stranger"

/* Another user's files are made by the one who may give them away. */
static void open_root(void) {
    if (!host_rehearses)
        skip();
    SUCCEEDS(host_open(ROOT, &opened, err));
    (void)host_remove_tree(opened, HOST_OWN_FOLDER, NULL);
    (void)host_remove_tree(opened, "C:\\own", NULL);
    SUCCEEDS(host_make_folder(opened, "C:\\own", HOST_PUBLIC, err));
}

static void shell(const char *command) {
    const char *const words[] = {"Z:\\bin\\sh", "-c", command, NULL};
    struct host_process process = {.argv = words, .timeout_ms = 10000};
    _cleanup_(freep) char *output = NULL;
    int code;

    if (host_run(opened, &process, &code, &output, NULL) < 0 || code)
        skip();
}

static void a_link_in_the_way_is_refused(void **state) {
    static const char *const paths[] = {"C:\\own\\way\\file", "C:\\own\\way\\in\\file"};
    const char *program[] = {"C:\\own\\way\\in\\tool.exe", NULL};
    struct host_process process = {.argv = program, .timeout_ms = 1000};
    _cleanup_(freep) char *output = NULL;
    struct error why = {0};
    int code;

    (void)state;
    open_root();
    SUCCEEDS(host_write(opened, "C:\\own\\far\\in\\tool.exe", "x", 1, HOST_PUBLIC, err));
    shell("ln -sfn far " ROOT "/own/way");
    for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
        FAILS_WITH(ERROR_DENIED, host_write(opened, paths[i], "x", 1, HOST_PUBLIC, err));
        FAILS_WITH(ERROR_DENIED, host_make_folder(opened, paths[i], HOST_SECRET, err));
        FAILS_WITH(ERROR_DENIED, host_link(opened, paths[i], "x", err));
        FAILS_WITH(ERROR_DENIED, host_rename(opened, "C:\\own\\far", paths[i], err));
        FAILS_WITH(ERROR_DENIED, host_rename(opened, paths[i], "C:\\own\\new", err));
        FAILS_WITH(ERROR_DENIED, host_remove(opened, paths[i], err));
        FAILS_WITH(ERROR_DENIED, host_remove_tree(opened, paths[i], err));
        FAILS_WITH(ERROR_DENIED, host_access_set(opened, paths[i], "777", err));
    }
    assert_int_equal(host_run(opened, &process, &code, &output, &why), -1);
    assert_non_null(strstr(why.message, "'C:\\own\\way' is a junction or a link"));
    assert_non_null(strstr(why.hints[0], "cmd /c rmdir \"C:\\own\\way\""));
    SUCCEEDS(host_remove(opened, "C:\\own\\way", err)); /* the link itself */
    assert_int_equal(host_file_type(opened, "C:\\own\\far\\in\\tool.exe"), HOST_FILE);
}

static void another_owner_is_refused(void **state) {
    struct host_untrusted found = {0};
    _cleanup_(freep) char *remedy = NULL;

    (void)state;
    open_root();
    SUCCEEDS(host_write(opened, "C:\\own\\hers\\file", "x", 1, HOST_PUBLIC, err));
    shell("chown 4711 " ROOT "/own/hers");
    FAILS_WITH(ERROR_DENIED, host_write(opened, "C:\\own\\hers\\new", "x", 1, HOST_SECRET, err));
    FAILS_WITH(ERROR_DENIED, host_make_folder(opened, "C:\\own\\hers", HOST_SECRET, err));
    SUCCEEDS(host_find_untrusted(opened, "C:\\own\\hers\\file", &found, err));
    assert_string_equal(found.path, "C:\\own\\hers");
    assert_string_equal(found.owner, "user 4711");
    remedy = host_untrusted_remedy(&found);
    assert_string_equal(remedy, "cmd /c ren \"C:\\own\\hers\" \"hers.before-winjoin\"");
    host_untrusted_free(&found);
    /* What is written over is gone, whoever had it. */
    SUCCEEDS(host_write(opened, "C:\\own\\file", "x", 1, HOST_PUBLIC, err));
    shell("chown 4711 " ROOT "/own/file");
    SUCCEEDS(host_write(opened, "C:\\own\\file", "mine", 4, HOST_PUBLIC, err));
    SUCCEEDS(host_find_untrusted(opened, "C:\\own\\file", &found, err));
    assert_null(found.path);
}

static unsigned mode_of(const char *path) {
    struct stat st;

    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 0777;
}

/* The first that is written below it finds it closed already. */
static void own_folder_is_closed_first(void **state) {
    static const char deep[] = HOST_OWN_FOLDER "\\downloads\\part";

    (void)state;
    open_root();
    SUCCEEDS(host_write(opened, deep, "x", 1, HOST_PUBLIC, err));
    assert_int_equal(mode_of(ROOT "/ProgramData/winjoin"), 0700);
    SUCCEEDS(host_remove_tree(opened, HOST_OWN_FOLDER, err));
    SUCCEEDS(host_make_folder(opened, HOST_OWN_FOLDER "\\tmp", HOST_PUBLIC, err));
    assert_int_equal(mode_of(ROOT "/ProgramData/winjoin"), 0700);
}

static void own_folder_with_a_strangers_things_is_refused(void **state) {
    static const char settings[] = HOST_OWN_FOLDER "\\services\\kubelet.json";
    struct text_list names = {0};
    struct error why = {0};
    char *data = NULL;
    size_t len;

    (void)state;
    open_root();
    shell("mkdir -p " ROOT "/ProgramData/winjoin/services && "
          "echo x >" ROOT "/ProgramData/winjoin/services/kubelet.json && "
          "chown 4711 " ROOT "/ProgramData/winjoin/services");
    FAILS_WITH(ERROR_DENIED, host_read(opened, settings, 10, &data, &len, err));
    FAILS_WITH(ERROR_DENIED, host_list(opened, HOST_OWN_FOLDER "\\services", &names, err));
    assert_int_equal(host_write(opened, HOST_OWN_FOLDER "\\x", "x", 1, HOST_SECRET, &why), -1);
    assert_non_null(strstr(why.message, "winjoin\\services' belongs to user 4711"));
    shell("chown 0 " ROOT "/ProgramData/winjoin/services && chown 4711 " ROOT
          "/ProgramData/winjoin/services/kubelet.json");
    FAILS_WITH(ERROR_DENIED, host_read(opened, settings, 10, &data, &len, err));
    shell("rm -r " ROOT "/ProgramData/winjoin");
}

/* Nothing is given to others that a folder kept from them. */
static void a_closed_folder_stays_closed(void **state) {
    (void)state;
    open_root();
    shell("chmod 700 " ROOT "/own");
    SUCCEEDS(host_make_folder(opened, "C:\\own", HOST_READ_ONLY, err));
    assert_int_equal(mode_of(ROOT "/own"), 0700);
    shell("chmod 777 " ROOT "/own");
    SUCCEEDS(host_make_folder(opened, "C:\\own", HOST_READ_ONLY, err));
    assert_int_equal(mode_of(ROOT "/own"), 0755);
}

/* Nobody can make the file beside before it is made: each write takes another name. */
static void names_beside_are_not_guessed(void **state) {
    (void)state;
    open_root();
    shell("mkdir " ROOT "/own/file.winjoin-new");
    SUCCEEDS(host_write(opened, "C:\\own\\file", "x", 1, HOST_SECRET, err));
    assert_int_equal(mode_of(ROOT "/own/file"), 0600);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_link_in_the_way_is_refused, close_host),
        cmocka_unit_test_teardown(another_owner_is_refused, close_host),
        cmocka_unit_test_teardown(own_folder_is_closed_first, close_host),
        cmocka_unit_test_teardown(own_folder_with_a_strangers_things_is_refused, close_host),
        cmocka_unit_test_teardown(a_closed_folder_stays_closed, close_host),
        cmocka_unit_test_teardown(names_beside_are_not_guessed, close_host),
    };

    (void)open_own, (void)open_memory;
    return cmocka_run_group_tests_name("host_untrusted", tests, NULL, NULL);
}
