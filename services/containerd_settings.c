/* Reads containerd's configuration as containerd does: the main file, then its imports. Values of
 * later files replace earlier ones. */
#include "services/containerd_settings.h"

#include "base/nearest.h"
#include "base/toml.h"
#include "host/command_line.h"
#include "host/path.h"
#include "services/service_table.h"

#define DEFAULT_PIPE "\\\\.\\pipe\\containerd-containerd"
#define MIRRORS "registry.mirrors"
enum { FILE_MAX_SIZE = 1024 * 1024, FILES_MAX = 64 };

void containerd_settings_free(struct containerd_settings *s) {
    free_all(s->config, s->conf_dir, s->sandbox_image, s->pipe, s->root, s->state, s->registries);
    text_list_free(&s->bin_dirs);
    text_list_free(&s->imports);
    text_list_free(&s->others);
    *s = (struct containerd_settings){0};
}

/* ---- where the values are in each version of the file ---- */

/* Names of the plugins in a version of the file. One without version may use both old names. */
struct places {
    const char *runtime, *images, *pipe;
};
static const struct places old_places[] = {
    {"plugins.cri", "plugins.cri", "grpc.address"},
    {"plugins.io\\.containerd\\.grpc\\.v1\\.cri", "plugins.io\\.containerd\\.grpc\\.v1\\.cri",
     "grpc.address"},
};
static const struct places new_places = {"plugins.io\\.containerd\\.cri\\.v1\\.runtime",
                                         "plugins.io\\.containerd\\.cri\\.v1\\.images",
                                         "grpc.address"};
#define SERVER_PIPE "plugins.io\\.containerd\\.server\\.v1\\.grpc.address"

/* Copies a path from a configuration to *ret; a path like "/x" is on C:. */
static int copy_path(char **ret, const char *what, const char *value, struct error *err) {
    _cleanup_(freep) char *rooted = NULL, *path = NULL;
    bool on_drive = value && strchr("\\/", *value) && *value && !strchr("\\/", value[1]);

    if (!value || !*value)
        return 0;
    rooted = on_drive ? xasprintf("C:%s", value) : xstrdup(value);
    if (path_normalize(rooted, &path, err) < 0)
        return error_prefix(err, "%s", what), error_as(err, ERROR_UNSUPPORTED);
    text_set(ret, take_ptr(path));
    return 0;
}

static void copy_text(char **ret, const char *value) {
    if (value && *value)
        text_set(ret, xstrdup(value));
}

/* Adds the names of settings of the file that winjoin neither takes over nor sets itself. */
static void name_others(const json_t *file, const json_t *images, const json_t *runtime,
                        struct text_list *ret) {
    static const char *const top[] = {"proxy_plugins", "stream_processors", "disabled_plugins"};
    static const char *const registry[] = {"mirrors", "configs", "auths", "headers"};

    for (size_t i = 0; i < ARRAY_SIZE(top); i++) {
        const json_t *value = json_object_get(file, top[i]);

        if (json_array_size(value) + json_object_size(value) && !text_list_has(ret, top[i]))
            text_list_add(ret, top[i]);
    }
    for (size_t i = 0; i < ARRAY_SIZE(registry); i++) {
        _cleanup_(freep) char *name = xasprintf("registry.%s", registry[i]);

        if (json_object_size(json_at(images, name)) && !text_list_has(ret, name))
            text_list_add(ret, name);
    }
    json_each_member(json_at(runtime, "containerd.runtimes"), name, value) {
        _cleanup_(freep) char *shown = xasprintf("runtimes.%.40s", name);

        if (!text_starts_with(name, "runhcs-wcow-") && !text_list_has(ret, shown))
            text_list_add(ret, shown);
    }
}

static int copy_places(const json_t *file, const struct places *places,
                       struct containerd_settings *ret, struct error *err) {
    const json_t *runtime = json_at(file, places->runtime), *images = json_at(file, places->images);
    const json_t *cni = json_object_get(runtime, "cni"), *dirs = json_object_get(cni, "bin_dirs");
    const char *dir = json_text_at(cni, "bin_dir");
    size_t count = json_array_size(dirs);

    copy_text(&ret->pipe, json_text_at(file, places->pipe));
    copy_text(&ret->sandbox_image, json_text_at(images, "sandbox_image"));
    name_others(file, images, runtime, &ret->others);
    copy_text(&ret->registries, json_text_at(images, "registry.config_path"));
    if (copy_path(&ret->conf_dir, "conf_dir", json_text_at(cni, "conf_dir"), err) < 0)
        return -1;

    /* Reads the folders of CNI programs: first bin_dirs, then bin_dir. */
    if (count || (dir && *dir))
        text_list_free(&ret->bin_dirs);
    for (size_t i = 0; i <= count; i++) {
        const char *given = i < count ? json_string_value(json_array_get(dirs, i)) : dir;
        _cleanup_(freep) char *path = NULL;

        if (copy_path(&path, "bin_dirs", given, err) < 0)
            return -1;
        if (path)
            text_list_add(&ret->bin_dirs, path);
    }
    return 0;
}

/* "cri", as in Docker's packages, and the plugin's names in the versions of the file. */
static const char *const cri_plugins[] = {"cri", "io.containerd.grpc.v1.cri",
                                          "io.containerd.cri.v1.runtime",
                                          "io.containerd.cri.v1.images", NULL};

static int copy_file(const json_t *file, struct containerd_settings *ret, struct error *err) {
    long long version = json_number_at(file, "version", 1);

    json_each(json_object_get(file, "disabled_plugins"), i, plugin)
        ret->without_cri |= name_find(cri_plugins, json_string_value(plugin)) != NULL;

    if (copy_path(&ret->root, "root", json_text_at(file, "root"), err) < 0 ||
        copy_path(&ret->state, "state", json_text_at(file, "state"), err) < 0)
        return -1;
    for (long long i = version < 2 ? 0 : 1; version < 3 && i < 2; i++)
        if (copy_places(file, &old_places[i], ret, err) < 0)
            return -1;
    if (version < 3)
        return 0;
    if (copy_places(file, &new_places, ret, err) < 0)
        return -1;
    copy_text(&ret->sandbox_image,
              json_text_at(json_at(file, new_places.images), "pinned_images.sandbox"));
    copy_text(&ret->pipe, json_text_at(file, SERVER_PIPE));
    return 0;
}

/* ---- imported files ---- */

/* Does a name match a pattern with stars, as in filepath.Glob? Case is ignored, as on Windows. When
 * the rest does not match, the last star takes one letter more. */
static bool matches(const char *name, const char *pattern) {
    const char *behind_star = NULL, *rest = NULL;

    while (*name) {
        char a[2] = {*name, '\0'}, b[2] = {*pattern, '\0'};

        if (*pattern == '*')
            behind_star = ++pattern, rest = name;
        else if (text_equal_nocase(a, b))
            name++, pattern++;
        else if (behind_star)
            pattern = behind_star, name = ++rest;
        else
            return false;
    }
    return !pattern[strspn(pattern, "*")];
}

/* Lists the files of an import. Its path is relative to the file that has it. */
static int find_imports(struct host *host, const char *parent, const char *import,
                        struct text_list *ret, struct error *err) {
    _cleanup_(freep) char *folder = path_parent(parent), *stars = NULL, *path = NULL;
    bool relative = !strchr("\\/", *import) && !strchr(import, ':');
    _cleanup_(freep) char *whole =
        relative ? xasprintf("%s\\%s", folder ? folder : "C:", import) : xstrdup(import);
    _cleanup_(text_list_free) struct text_list names = {0};
    const char *pattern;

    if (!*import)
        return error_set(err, ERROR_UNSUPPORTED, "imports: a path is empty");
    /* Stars are replaced for the check, since a path may not have them. */
    stars = text_replace(xstrdup(whole), "*", '~');
    if (copy_path(&path, "imports", stars, err) < 0)
        return -1;
    if (!strchr(whole, '*')) {
        text_list_add(ret, path);
        return 0;
    }
    pattern = path_base(whole);
    text_set(&folder, path_parent(path));
    if (!folder || strlen(pattern) == strlen(whole) ||
        memchr(whole, '*', (size_t)(pattern - whole)))
        return error_set(err, ERROR_UNSUPPORTED, "imports: '%s' has a star in a folder's name",
                         import);
    if (host_refuse_untrusted(host, folder, err) < 0)
        return -1;
    if (host_list(host, folder, &names, err) < 0)
        return error_forgive(err, ERROR_ABSENT);
    for (size_t i = 0; i < names.count; i++)
        if (matches(names.items[i], pattern))
            text_list_add_owned(ret, xasprintf("%s\\%s", folder, names.items[i]));
    return 0;
}

int containerd_settings_read(struct host *host, const char *path, bool imports,
                             struct containerd_settings *ret, struct error *err) {
    _cleanup_(text_list_free) struct text_list files = {0};
    bool mirrors = false;

    text_set(&ret->config, xstrdup(path));
    if (host_file_type(host, path) == HOST_ABSENT)
        return 0;
    text_list_add(&files, path);
    for (size_t i = 0; i < files.count; i++) {
        _cleanup_json_ json_t *file = NULL;
        _cleanup_(text_list_free) struct text_list names = {0}, found = {0};
        _cleanup_(freep) char *text = NULL;
        size_t len;

        if (files.count > FILES_MAX)
            return error_set(err, ERROR_UNSUPPORTED, "'%s' imports more than %d files", path,
                             FILES_MAX);
        /* The files must be an administrator's, because their settings are adopted. */
        if (host_refuse_untrusted(host, files.items[i], err) < 0 ||
            host_read(host, files.items[i], FILE_MAX_SIZE, &text, &len, err) < 0 ||
            toml_parse(text, len, files.items[i], &file, err) < 0)
            return -1;
        json_read_texts(json_object_get(file, "imports"), &names);
        if (i == 0)
            json_read_texts(json_object_get(file, "imports"), &ret->imports);
        for (size_t k = 0; imports && k < names.count; k++)
            if (find_imports(host, files.items[i], names.items[k], &found, err) < 0)
                return error_prefix(err, "read '%s'", files.items[i]);
        for (size_t k = 0; k < found.count; k++)
            if (!text_list_has(&files, found.items[k]))
                text_list_add(&files, found.items[k]);
        if (copy_file(file, ret, err) < 0)
            return error_prefix(err, "read '%s'", files.items[i]);
        if (i == 0)
            mirrors = text_list_has(&ret->others, MIRRORS);
        ret->imports_mirrors = !mirrors && text_list_has(&ret->others, MIRRORS);
    }
    return 0;
}

/* ---- the service containerd ---- */

/* Returns the last value of "--name value", "--name=value" or "-n value". Borrowed. */
static const char *flag_value(const struct text_list *words, const char *name, const char *letter) {
    const char *found = NULL;

    for (size_t i = 0; i < words->count; i++) {
        const char *word = words->items[i] + strspn(words->items[i], "-");
        size_t len = strcspn(word, "=");
        bool is =
            word != words->items[i] && ((len == strlen(name) && text_starts_with(word, name)) ||
                                        (len == 1 && *word == *letter));

        if (is && word[len])
            found = word + len + 1;
        else if (is && i + 1 < words->count)
            found = words->items[i + 1];
    }
    return found;
}

int containerd_settings_find(struct host *host, struct containerd_settings *ret,
                             struct error *err) {
    _cleanup_(host_service_free) struct host_service service = {0};
    _cleanup_(text_list_free) struct text_list words = {0};
    _cleanup_(freep) char *config = NULL;

    if (host_service_query(host, service_containerd.name, &service, err) < 0)
        return -1;
    ret->foreign = service.state != HOST_SERVICE_ABSENT && !service_is_ours(&service);
    if (!ret->foreign) {
        ret->config = xstrdup(CONTAINERD_CONFIG_PATH);
        ret->conf_dir = xstrdup(CNI_CONF_DIR);
        text_list_add(&ret->bin_dirs, CNI_BIN_DIR);
    } else {
        service_words(host, &service, &words);
        if (copy_path(&config, "--config", flag_value(&words, "config", "c"), err) < 0)
            return error_prefix(err, "service containerd");
        if (containerd_settings_read(host, config ? config : CONTAINERD_CONFIG_PATH, true, ret,
                                     err) < 0)
            return -1;
        copy_text(&ret->pipe, flag_value(&words, "address", "a"));
        if (!ret->conf_dir)
            ret->conf_dir = xstrdup(CONTAINERD_FOLDER "\\cni\\conf");
        if (!ret->bin_dirs.count)
            text_list_add(&ret->bin_dirs, CONTAINERD_FOLDER "\\cni\\bin");
    }
    if (!ret->pipe)
        ret->pipe = xstrdup(DEFAULT_PIPE);
    return 0;
}

char *containerd_cni_folder(struct host *host) {
    _cleanup_(containerd_settings_free) struct containerd_settings settings = {0};

    return containerd_settings_find(host, &settings, ERROR_IGNORED) == 0
               ? take_ptr(settings.conf_dir)
               : xstrdup(CNI_CONF_DIR);
}

int containerd_data_folder(struct host *host, const struct containerd_settings *settings,
                           char **ret, struct error *err) {
    _cleanup_(containerd_settings_free) struct containerd_settings all = {0};
    _cleanup_(text_list_free) struct text_list files = {0};
    const char *root = settings->root;

    if (!settings->foreign) {
        text_list_add(&files, CONTAINERD_CONFIG_PATH);
        if (find_imports(host, CONTAINERD_CONFIG_PATH, CONTAINERD_DROP_INS, &files, err) < 0)
            return -1;
        for (size_t i = 0; i < files.count; i++)
            if (containerd_settings_read(host, files.items[i], true, &all, err) < 0)
                return -1;
        root = all.root;
    }
    *ret = xstrdup(root ? root : CONTAINERD_DATA);
    return 0;
}

const char *containerd_cni_programs(const struct containerd_settings *settings) {
    for (size_t i = 0; i < settings->bin_dirs.count; i++)
        if (text_equal_nocase(settings->bin_dirs.items[i], CNI_BIN_DIR))
            return CNI_BIN_DIR;
    return settings->bin_dirs.count ? settings->bin_dirs.items[0] : CNI_BIN_DIR;
}
