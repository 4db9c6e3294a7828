/* What a containerd is told, by its service and its files of every version. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "services/containerd_settings.h"
#include "services/service_table.h"
#include "tests/memory/host_memory.h"

#define OTHER "C:\\containerd\\config.toml"

static struct host *host;
static struct containerd_settings settings;

static int open_host(void **state) {
    (void)state;
    host = host_memory_new();
    return 0;
}

static int close_host(void **state) {
    (void)state;
    containerd_settings_free(&settings);
    host_free(host);
    return 0;
}

static void put(const char *path, const char *text) {
    assert_int_equal(host_write(host, path, text, strlen(text), HOST_PUBLIC, NULL), 0);
}

static void put_service(const char *command, const char *description) {
    struct host_service service = {.name = (char *)"containerd",
                                   .command = (char *)command,
                                   .description = (char *)description};

    assert_int_equal(host_service_put(host, &service, NULL), 0);
}

static void find(void) {
    struct error err = {0};

    containerd_settings_free(&settings);
    if (containerd_settings_find(host, &settings, &err) < 0)
        fail_msg("%s", err.message);
}

static void assert_places(const char *conf, const char *programs, const char *pipe) {
    _cleanup_(freep) char *bin = text_list_join(&settings.bin_dirs, " + ");

    assert_string_equal(settings.conf_dir, conf);
    assert_string_equal(bin, programs);
    assert_string_equal(settings.pipe, pipe);
}

/* Of winjoin's own nothing is read. */
static void ours(void **state) {
    (void)state;
    put(CONTAINERD_CONFIG_PATH, "[plugins.cri.cni]\nconf_dir = 'C:\\x'\n");
    for (int i = 0; i < 2; i++) {
        find();
        assert_false(settings.foreign);
        assert_places(CNI_CONF_DIR, CNI_BIN_DIR, "\\\\.\\pipe\\containerd-containerd");
        put_service("\"C:\\Program Files\\containerd\\containerd.exe\"", "winjoin: x");
    }
}

#define DEFAULT_BIN CONTAINERD_FOLDER "\\cni\\bin"
#define DEFAULT_CONF CONTAINERD_FOLDER "\\cni\\conf"
#define CRI2 "[plugins.\"io.containerd.grpc.v1.cri\""
#define RUNTIME3 "[plugins.'io.containerd.cri.v1.runtime'"
#define IMAGES3 "[plugins.'io.containerd.cri.v1.images'"

static void of_every_version(void **state) {
    static const struct {
        const char *text, *conf, *bin, *pipe, *image, *registries;
    } rows[] = {
        {"version = 2\n", DEFAULT_CONF, DEFAULT_BIN, "\\\\.\\pipe\\containerd-containerd", NULL,
         NULL},
        {"[plugins.cri]\nsandbox_image = 'a/pause:1'\n[plugins.cri.cni]\nconf_dir = 'C:/c'\n",
         "C:\\c", DEFAULT_BIN, "\\\\.\\pipe\\containerd-containerd", "a/pause:1", NULL},
        {"version = 2\n[grpc]\naddress = '\\\\.\\pipe\\own'\n" CRI2
         "]\nsandbox_image = 'b/pause:2'\n" CRI2 ".registry]\nconfig_path = 'C:\\certs'\n" CRI2
         ".cni]\nconf_dir = \"/etc/cni/net.d\"\nbin_dir = \"C:/opt/cni/bin/\"\n",
         "C:\\etc\\cni\\net.d", "C:\\opt\\cni\\bin", "\\\\.\\pipe\\own", "b/pause:2", "C:\\certs"},
        {"version = 3\n" RUNTIME3 ".cni]\nbin_dirs = ['D:\\bin', 'c:\\opt\\cni\\bin']\n" IMAGES3
         ".pinned_images]\nsandbox = 'c/pause:3'\n" CRI2 ".cni]\nconf_dir = 'C:\\unread'\n",
         DEFAULT_CONF, "D:\\bin + C:\\opt\\cni\\bin", "\\\\.\\pipe\\containerd-containerd",
         "c/pause:3", NULL},
        {"version = 4\n[plugins.'io.containerd.server.v1.grpc']\naddress = "
         "'\\\\.\\pipe\\four'\n" RUNTIME3
         "]\ncni = { conf_dir = 'D:\\conf', bin_dirs = ['D:\\bin'] }\n",
         "D:\\conf", "D:\\bin", "\\\\.\\pipe\\four", NULL, NULL},
    };

    (void)state;
    put_service("\"C:\\Program Files\\containerd\\containerd.exe\" --run-service", "of an image");
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        put(CONTAINERD_CONFIG_PATH, rows[i].text);
        find();
        assert_true(settings.foreign);
        assert_places(rows[i].conf, rows[i].bin, rows[i].pipe);
        if (!text_equal(settings.sandbox_image, rows[i].image) ||
            !text_equal(settings.registries, rows[i].registries))
            fail_msg("%zu: %s, %s", i, settings.sandbox_image, settings.registries);
    }
    assert_string_equal(containerd_cni_programs(&settings), "D:\\bin");
}

/* A later file's word counts; containerd's own way to find them. */
static void imports(void **state) {
    _cleanup_(freep) char *folder = NULL;

    (void)state;
    put_service("containerd.exe --log-level debug -c=C:/containerd/config.toml", "of an image");
    put(OTHER, "version = 2\nimports = ['conf.d\\*.toml', 'last.toml']\n" CRI2
               ".cni]\nconf_dir = 'C:\\one'\nbin_dir = 'C:\\bin'\n");
    put("C:\\containerd\\last.toml",
        "version = 3\nimports = ['" OTHER "']\n" RUNTIME3 ".cni]\nconf_dir = 'C:\\three'\n");
    find();
    assert_places("C:\\three", "C:\\bin", "\\\\.\\pipe\\containerd-containerd");
    put("C:\\containerd\\conf.d\\10-x.TOML",
        "version = 3\n" RUNTIME3 ".cni]\nbin_dirs = ['C:\\two']\n");
    put("C:\\containerd\\conf.d\\10-x.toml.old", "no TOML");
    put("C:\\containerd\\conf.d\\.tom", "no TOML");
    find();
    assert_places("C:\\three", "C:\\two", "\\\\.\\pipe\\containerd-containerd");
    folder = containerd_cni_folder(host);
    assert_string_equal(folder, "C:\\three");
}

/* A star takes any letters, none, too; what is around it is taken whole. */
static void stars(void **state) {
    static const char *const take[] = {"*", "*.toml", "a*.TOML", "*ab*b.t*", "aabb.toml*"};
    static const char *const leave[] = {"*.tom", "b*.toml", "*bbb*", "a*x", "*aabb"};

    (void)state;
    put_service("containerd.exe", "of an image");
    put(CONTAINERD_FOLDER "\\d\\aabb.toml", "version = 2\n" CRI2 ".cni]\nconf_dir = 'C:\\d'\n");
    for (size_t i = 0; i < ARRAY_SIZE(take) + ARRAY_SIZE(leave); i++) {
        bool takes = i < ARRAY_SIZE(take);
        const char *pattern = takes ? take[i] : leave[i - ARRAY_SIZE(take)];
        _cleanup_(freep) char *text = xasprintf("imports = ['d\\%s']\nversion = 2\n", pattern);

        put(CONTAINERD_CONFIG_PATH, text);
        find();
        if (text_equal(settings.conf_dir, "C:\\d") != takes)
            fail_msg("'%s': %s", pattern, settings.conf_dir);
    }
}

static void the_command_line_counts(void **state) {
    (void)state;
    put("D:\\c.toml", "version = 2\n[grpc]\naddress = '\\\\.\\pipe\\file'\n");
    put_service("C:\\nssm.exe", "of an image");
    host_memory_set_registry(host, "SYSTEM\\CurrentControlSet\\Services\\containerd\\Parameters",
                             "AppParameters", "--config D:\\c.toml --address \\\\.\\pipe\\line");
    find();
    assert_string_equal(settings.config, "D:\\c.toml");
    assert_places(DEFAULT_CONF, DEFAULT_BIN, "\\\\.\\pipe\\line");
}

/* Their word would be taken for an administrator's. */
static void files_of_users(void **state) {
    static const char *const paths[] = {OTHER, "C:\\containerd\\d", "C:\\containerd\\d\\a.toml"};

    for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
        struct error err = {0};

        put(OTHER, "version = 2\nimports = ['d\\*.toml']\n");
        put("C:\\containerd\\d\\a.toml", "version = 2\n");
        host_memory_give_to_user(host, paths[i]);
        assert_int_equal(containerd_settings_read(host, OTHER, true, &settings, &err), -1);
        assert_int_equal(err.kind, ERROR_DENIED);
        assert_non_null(strstr(err.message, paths[i]));
        assert_non_null(strstr(err.message, "' belongs to SRV\\eve"));
        close_host(state);
        open_host(state);
        settings = (struct containerd_settings){0};
    }
    put(OTHER, "version = 2\nimports = ['d\\*.toml']\n"); /* a folder without a file that fits */
    assert_int_equal(host_make_folder(host, "C:\\containerd\\d", HOST_PUBLIC, NULL), 0);
    host_memory_give_to_user(host, "C:\\containerd\\d");
    assert_int_equal(containerd_settings_read(host, OTHER, true, &settings, NULL), -1);
}

static void what_cannot_be_told(void **state) {
    static const struct {
        const char *text, *says;
        enum error_kind kind;
    } rows[] = {
        {"version = 2\n[x", "config.toml: line 2:", ERROR_MALFORMED},
        {"version = 2\n" CRI2 ".cni]\nconf_dir = 'etc\\cni'\n", "conf_dir: path 'etc\\cni'",
         ERROR_UNSUPPORTED},
        {"imports = ['C:\\*\\a.toml']", "a star in a folder's name", ERROR_UNSUPPORTED},
        {"imports = ['\\\\server*x']", "a star in a folder's name", ERROR_UNSUPPORTED},
        {"imports = ['C:\\none.toml']", "C:\\none.toml", ERROR_ABSENT},
        {"imports = ['']", "a path is empty", ERROR_UNSUPPORTED},
    };
    _cleanup_(freep) char *folder = NULL;

    (void)state;
    put_service("containerd.exe", "of an image");
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct error err = {0};

        put(CONTAINERD_CONFIG_PATH, rows[i].text);
        assert_int_equal(containerd_settings_find(host, &settings, &err), -1);
        containerd_settings_free(&settings);
        if (!strstr(err.message, rows[i].says) || err.kind != rows[i].kind)
            fail_msg("'%s' does not say '%s'", err.message, rows[i].says);
    }
    folder = containerd_cni_folder(host);
    assert_string_equal(folder, CNI_CONF_DIR);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(ours, open_host, close_host),
        cmocka_unit_test_setup_teardown(of_every_version, open_host, close_host),
        cmocka_unit_test_setup_teardown(imports, open_host, close_host),
        cmocka_unit_test_setup_teardown(stars, open_host, close_host),
        cmocka_unit_test_setup_teardown(the_command_line_counts, open_host, close_host),
        cmocka_unit_test_setup_teardown(files_of_users, open_host, close_host),
        cmocka_unit_test_setup_teardown(what_cannot_be_told, open_host, close_host),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
