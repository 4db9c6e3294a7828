/* winjoin install: at its place, as kubeadm.exe, and back. */
#include "tests/scene/program_scene.h"

#include "cmd/program.h"

#define REAL "C:\\k\\kubeadm.exe"
#define KEPT "C:\\k\\kubeadm.exe.kept"
#define PLACE "C:\\k\\winjoin.exe"

/* This program, as it lies on the disk. */
static void open_self(void) {
    _cleanup_(freep) char *bytes = xasprintf("MZ %s of this version", kubeadm_mark);

    put(PLACE, bytes);
    program->options.to = NULL;
    program->options.as_kubeadm = true;
    program->options.yes = program->options.remove = false;
}

static int install(struct error *err) {
    json_decref(take_ptr(program->result));
    return verb(verb_install, err);
}

static void assert_holds(const char *path, const char *part) {
    _cleanup_(freep) char *data = NULL;
    size_t len;

    assert_int_equal(host_read(program->host, path, 1024, &data, &len, NULL), 0);
    assert_non_null(strstr(data, part));
}

static bool is_there(const char *path) {
    return host_file_type(program->host, path) != HOST_ABSENT;
}

static void copies(void **state) {
    struct error err;

    (void)state;
    open_self();
    assert_int_equal(host_make_folder(program->host, "D:\\image", HOST_PUBLIC, NULL), 0);
    assert_int_equal(host_make_folder(program->host, "C:\\other", HOST_PUBLIC, NULL), 0);
    program->options.to = (char *)"D:/image";
    assert_int_equal(install(&err), 0);
    assert_holds("D:\\image\\winjoin.exe", "of this version");
    assert_holds("D:\\image\\kubeadm.exe", "of this version");
    assert_string_equal(text_str(&out), "installed D:\\image\\winjoin.exe\n"
                                        "installed D:\\image\\kubeadm.exe\n");
    assert_int_equal(json_array_size(json_object_get(program->result, "files")), 2);
    assert_int_equal(install(&err), 0); /* over itself */
    program->options.as_kubeadm = false;
    program->options.to = (char *)"C:\\other";
    assert_int_equal(install(&err), 0);
    assert_true(is_there("C:\\other\\winjoin.exe"));
    assert_false(is_there("C:\\other\\kubeadm.exe"));
    program->options.to = NULL;
    host_memory_set_program_path(program->host, "");
    assert_int_equal(install(&err), -1);
    assert_string_equal(err.message, "install winjoin: its own path is not known");
    host_memory_set_program_path(program->host, NULL);
}

/* From its place: nothing to copy there; an older winjoin's kubeadm.exe is replaced. */
static void in_place(void **state) {
    struct error err;

    (void)state;
    open_self();
    put(REAL, kubeadm_mark);
    assert_int_equal(install(&err), 0);
    assert_string_equal(text_str(&out), "present   " PLACE "\ninstalled " REAL "\n");
    assert_holds(REAL, "of this version");
    assert_false(is_there(KEPT));
}

static void another_kubeadm_is_kept(void **state) {
    struct error err;

    (void)state;
    open_self();
    put(REAL, "MZ the real one");
    assert_int_equal(install(&err), -1);
    assert_int_equal(err.kind, ERROR_CONFLICT);
    assert_string_equal(err.message, "'" REAL "' exists and is not winjoin");
    assert_holds(REAL, "the real one");
    program->options.yes = true;
    assert_int_equal(install(&err), 0);
    assert_holds(REAL, "of this version");
    assert_holds(KEPT, "the real one");
    program->options.remove = true;
    assert_int_equal(install(&err), 0);
    assert_string_equal(text_str(&out), "removed   " REAL "\nrestored  " REAL "\n");
    assert_holds(REAL, "the real one");
    assert_false(is_there(KEPT));
    assert_int_equal(install(&err), -1); /* it is not ours */
    assert_int_equal(err.kind, ERROR_CONFLICT);
    assert_holds(REAL, "the real one");
}

/* Where users may add files, one may have kept a kubeadm.exe of his own for the day of --remove;
 * and a folder of the node is closed also where it is named. */
static void strangers(void **state) {
    struct error err;
    char *access;

    (void)state;
    open_self();
    put("D:\\image\\kubeadm.exe.kept", "MZ of eve");
    host_memory_give_to_user(program->host, "D:\\image\\kubeadm.exe.kept");
    program->options.to = (char *)"D:\\image";
    assert_int_equal(install(&err), 0);
    program->options.remove = true;
    assert_int_equal(install(&err), -1);
    assert_string_equal(err.message, "'D:\\image\\kubeadm.exe.kept' belongs to SRV\\eve");
    assert_false(is_there("D:\\image\\kubeadm.exe"));
    program->options.remove = program->options.as_kubeadm = false;
    program->options.to = (char *)"c:/k";
    assert_int_equal(install(&err), 0);
    access = host_memory_access(program->host, "C:\\k");
    assert_string_equal(access, "read-only");
    free(access);
}

static void nothing_to_remove(void **state) {
    struct error err;

    (void)state;
    open_self();
    program->options.remove = true;
    assert_int_equal(install(&err), 0);
    assert_string_equal(text_str(&out), "");
    program->options.as_kubeadm = false;
    assert_int_equal(install(&err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    program->options.remove = false;
    program->options.to = (char *)"C:\\misspelt";
    assert_int_equal(install(&err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    program->options.to = NULL;
}

/* Whatever the host refuses: an error, and the other kubeadm.exe is somewhere. */
static void failures(void **state) {
    struct error err;
    int result = -1;

    (void)state;
    for (size_t n = 1; n < 40 && result < 0; n++) {
        open_self();
        (void)host_remove(program->host, KEPT, NULL);
        put(REAL, "MZ the real one");
        program->options.yes = true;
        host_memory_fail(program->host, n);
        result = install(&err);
        host_memory_fail(program->host, 0);
        assert_holds(is_there(KEPT) ? KEPT : REAL, "the real one");
    }
    assert_int_equal(result, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(copies, open_program, close_program),
        cmocka_unit_test_setup_teardown(in_place, open_program, close_program),
        cmocka_unit_test_setup_teardown(another_kubeadm_is_kept, open_program, close_program),
        cmocka_unit_test_setup_teardown(strangers, open_program, close_program),
        cmocka_unit_test_setup_teardown(nothing_to_remove, open_program, close_program),
        cmocka_unit_test_setup_teardown(failures, open_program, close_program),
    };

    return cmocka_run_group_tests(tests, NULL, free_output);
}
