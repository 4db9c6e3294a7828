/* SECURITY.md's table of paths and access, held against what a join and a diagnosis write: each
 * file is in the table as it is, and each row is about something. */
#include "tests/scene/join_scene.h"

#include "diag/ask/mailbox.h"
#include "node/folders.h"

enum { ROWS_MAX = 64, TEXT_MAX_BYTES = 65536 };

/* The words of the table, and the access that the program asks for. */
static const struct {
    const char *words, *access;
} access_of[] = {
    {"SYSTEM and Administrators only", "secret"},
    {"SYSTEM and Administrators only list it; volumes in it are also for the users inside "
     "containers",
     "pod-volumes"},
    {"written by SYSTEM and Administrators only; users read and execute", "read-only"},
    {"also readable and writable by the users inside containers", "probe-mailbox"},
    {"also readable and executable by the users inside containers", "probe-program"},
};

static struct row {
    char *path, *what;
    const char *access;
    bool met;
} rows[ROWS_MAX];
static size_t count;

static void add_rows(const char *line) {
    const char *words = strrchr(line, '|');
    const char *access = NULL;

    while (words > line && words[-1] != '|')
        words--;
    for (size_t i = 0; i < ARRAY_SIZE(access_of); i++)
        if (strstr(words, access_of[i].words))
            access = access_of[i].access;
    if (!access)
        fail_msg("no access is called so: %s", words);
    for (const char *at = strstr(line, "`C:\\"), *column = strchr(line + 1, '|'); at && at < column;
         at = strstr(at, "`C:\\")) {
        size_t len = strcspn(at + 1, "`");

        assert_true(count < ROWS_MAX);
        rows[count++] =
            (struct row){xstrndup(at + 1, len),
                         xstrndup(column + 2, (size_t)(words - 2 - (column + 2))), access, false};
        at += len + 2;
    }
}

static int read_table(void **state) {
    _cleanup_(freep) char *text = xcalloc(1, TEXT_MAX_BYTES);
    FILE *file = fopen("SECURITY.md", "rb");

    (void)state;
    assert_non_null(file);
    assert_true(fread(text, 1, TEXT_MAX_BYTES - 1, file) > 0);
    (void)fclose(file);
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        if (text_starts_with(line, "| `C:\\"))
            add_rows(line);
    }
    assert_true(count > 8);
    return 0;
}

static int free_table(void **state) {
    (void)state;
    while (count)
        free_all(rows[--count].path, rows[count].what);
    return 0;
}

/* The row is of this file, or of a folder above it; "*" stands for the rest of a name. */
static bool is_about(const struct row *row, const char *path) {
    size_t len = strcspn(row->path, "*");

    return strncmp(row->path, path, len) == 0 &&
           (row->path[len] == '*' || !path[len] || path[len] == '\\');
}

static struct row *table_row(const char *path) {
    struct row *best = NULL;

    for (size_t i = 0; i < count; i++)
        if (is_about(&rows[i], path) && (!best || strlen(rows[i].path) > strlen(best->path)))
            best = &rows[i];
    return best;
}

/* What a file of its own without an access inherits from. */
static const char *access_with(const json_t *files, const char *path) {
    _cleanup_(freep) char *folder = xstrdup(path);
    const char *access =
        json_string_value(json_object_get(json_object_get(files, folder), "access"));
    char *end;

    while (text_equal(access, "public") && (end = strrchr(folder, '\\')) && end > folder + 2) {
        *end = '\0';
        access = json_string_value(json_object_get(json_object_get(files, folder), "access"));
        if (!access)
            return "public";
    }
    return access;
}

static void hold(struct host *host) {
    _cleanup_json_ json_t *state = host_memory_state(host);
    const json_t *files = json_object_get(state, "files");
    const char *path;
    json_t *file;

    json_object_foreach((json_t *)files, path, file) {
        const char *access = access_with(files, path);
        struct row *row = table_row(path);

        if (!text_equal(json_string_value(json_object_get(file, "type")), "file") &&
            !(row && (text_equal(row->path, path) || strchr(row->path, '*'))))
            continue; /* a folder counts where a row names it: others write in it, too */
        if (!row)
            fail_msg("%s (%s) is in no row", path, access);
        if (strcmp(row->access, access) != 0)
            fail_msg("%s is %s; the row of %s says %s", path, access, row->path, row->access);
        row->met = true;
    }
}

/* The kubelet's first credential is there while it is waited for, and goes. */
static void look_meanwhile(void *context, struct host *host) {
    static const char path[] = "C:\\etc\\kubernetes\\bootstrap-kubelet.conf";

    scene_on_sleep(context, host);
    if (!table_row(path)->met && host_file_type(host, path) == HOST_FILE)
        hold(host);
}

static void a_join(void **state) {
    static const struct {
        const char *plugin, *bootstrap;
    } joins[] = {{"win-overlay", "winjoin"}, {"flannel", "winjoin"}, {"flannel", "kubelet"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(joins); i++) {
        struct error err = {0};
        struct run r;

        open_run(&r, "overlay");
        r.options.network_plugin = xstrdup(joins[i].plugin);
        r.options.tls_bootstrap = xstrdup(joins[i].bootstrap);
        assert_int_equal(host_write(r.host, "C:\\k\\flanneld.exe", "MZ", 2, HOST_PUBLIC, NULL), 0);
        host_memory_on_sleep(r.host, look_meanwhile, &r.scene);
        (void)join_once(&r,
                        &err); /* as far as it comes: the kubelet of the scene asks for nothing */
        hold(r.host);
        close_run(&r);
    }
}

static void a_diagnosis(void **state) {
    const struct diag_probe_options options = {.program = "MZ", .program_len = 2};
    struct diag_probes probes = {.host = host_memory_new(), .options = &options};

    (void)state;
    assert_int_equal(host_make_folder(probes.host, "C:\\ProgramData\\winjoin", HOST_SECRET, NULL),
                     0);
    assert_int_equal(host_make_folder(probes.host, "C:\\etc\\kubernetes", HOST_READ_ONLY, NULL), 0);
    assert_int_equal(diag_probes_start(&probes, NULL), 0);
    assert_int_equal(host_write(probes.host, "C:\\ProgramData\\winjoin\\probe\\a\\go-1", "", 0,
                                HOST_PUBLIC, NULL),
                     0);
    assert_int_equal(host_write(probes.host, "C:\\ProgramData\\winjoin\\probe\\b\\go-1", "", 0,
                                HOST_PUBLIC, NULL),
                     0);
    hold(probes.host);
    free(probes.items);
    host_free(probes.host);
}

/* The document's first rows are those of the program, word for word. */
static void each_folder_is_in_the_table(void **state) {
    static const char *const access[] = {[HOST_SECRET] = "secret",
                                         [HOST_READ_ONLY] = "read-only",
                                         [HOST_POD_VOLUMES] = "pod-volumes"};

    (void)state;
    for (size_t i = 0; i < node_folder_count; i++) {
        const struct node_folder *folder = &node_folders[i];
        const struct row *row = table_row(folder->path);

        if (!row || !text_equal(row->path, folder->path) || !text_equal(row->what, folder->what) ||
            !text_equal(row->access, access[folder->access]))
            fail_msg("SECURITY.md lacks: | `%s` | %s | %s |", folder->path, folder->what,
                     access[folder->access]);
    }
}

static void each_row_is_about_something(void **state) {
    (void)state;
    for (size_t i = 0; i < count; i++)
        if (!rows[i].met && !node_folder_find(rows[i].path)) /* some are another network's */
            fail_msg("nothing is written there: %s", rows[i].path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_folder_is_in_the_table),
        cmocka_unit_test(a_join),
        cmocka_unit_test(a_diagnosis),
        cmocka_unit_test(each_row_is_about_something),
    };

    return cmocka_run_group_tests(tests, read_table, free_table);
}
