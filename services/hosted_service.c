/* Reads the settings file of the service host strictly, and rotates its log. */
#include "services/hosted_service.h"

enum { SETTINGS_FILE_MAX = 256 * 1024, LOG_FILES_MAX = 100 };

void service_host_settings_free(struct service_host_settings *settings) {
    if (!settings)
        return;
    text_list_free(&settings->command);
    text_list_free(&settings->environment);
    free(settings->working_folder);
    free(settings->log_file);
    *settings = (struct service_host_settings){0};
}

/* Wipes the environment, which holds the token of a join that continues after a restart. */
static void forget_environment(json_t *json) {
    json_each(json_object_get(json, "environment"), i, item) {
        if (json_is_string(item))
            secret_wipe((char *)json_string_value(item), json_string_length(item));
    }
}

char *service_host_settings_make(const struct service_host_settings *settings) {
    _cleanup_json_ json_t *json = json_pack(
        "{s:o,s:o,s:s,s:s,s:I,s:I,s:I}", "command", json_texts(&settings->command), "environment",
        json_texts(&settings->environment), "workingFolder", settings->working_folder, "logFile",
        settings->log_file, "maxLogBytes", (json_int_t)settings->max_log_bytes, "maxLogFiles",
        (json_int_t)settings->max_log_files, "stopTimeoutMs",
        (json_int_t)settings->stop_timeout_ms);
    char *text = json_write_pretty(json);

    forget_environment(json);
    return text;
}

static int malformed(struct error *err, const char *key, const char *why) {
    return error_set(err, ERROR_MALFORMED, "decode service settings: '%s' %s", key, why);
}

/* Is the path "C:\..." without ".."? */
static bool is_absolute(const char *path) {
    bool letter = (path[0] >= 'A' && path[0] <= 'Z') || (path[0] >= 'a' && path[0] <= 'z');
    return letter && path[1] == ':' && path[2] == '\\' && !strstr(path, "..");
}

static int read_settings(json_t *json, struct service_host_settings *settings, struct error *err) {
    json_t *command, *environment;
    const struct {
        const char *key;
        json_t **list;
        struct text_list *ret;
    } lists[] = {{"command", &command, &settings->command},
                 {"environment", &environment, &settings->environment}};
    const char *folder, *log;
    json_int_t bytes, files, stop;
    json_error_t why;

    if (json_unpack_ex(json, &why, JSON_STRICT, "{s:o,s:o,s:s,s:s,s:I,s:I,s:I}", "command",
                       &command, "environment", &environment, "workingFolder", &folder, "logFile",
                       &log, "maxLogBytes", &bytes, "maxLogFiles", &files, "stopTimeoutMs",
                       &stop) < 0)
        return error_set(err, ERROR_MALFORMED, "decode service settings: %s", why.text);
    for (size_t k = 0; k < ARRAY_SIZE(lists); k++) {
        if (!json_is_array(*lists[k].list))
            return malformed(err, lists[k].key, "is not a list");
        json_each(*lists[k].list, i, item)
            if (!json_is_string(item))
                return malformed(err, lists[k].key, "has an item that is not a string");
        json_read_texts(*lists[k].list, lists[k].ret);
    }
    if (!is_absolute(folder) || !is_absolute(log))
        return malformed(err, is_absolute(folder) ? "logFile" : "workingFolder",
                         "is not an absolute path");
    if (bytes < 4096 || files < 1 || files > LOG_FILES_MAX || stop < 0 || stop > 600000)
        return malformed(err,
                         bytes < 4096                         ? "maxLogBytes"
                         : files < 1 || files > LOG_FILES_MAX ? "maxLogFiles"
                                                              : "stopTimeoutMs",
                         "is not a number in the allowed range");
    if (!settings->command.count || !is_absolute(settings->command.items[0]))
        return malformed(err, "command", "does not name a program by its absolute path");
    for (size_t i = 0; i < settings->environment.count; i++)
        if (strcspn(settings->environment.items[i], "=") == 0 ||
            !strchr(settings->environment.items[i], '='))
            return malformed(err, "environment", "has an item that is not NAME=value");
    settings->working_folder = xstrdup(folder);
    settings->log_file = xstrdup(log);
    settings->max_log_bytes = (uint64_t)bytes;
    settings->max_log_files = (unsigned)files;
    settings->stop_timeout_ms = (unsigned)stop;
    return 0;
}

int service_host_settings_parse(const char *text, size_t len, struct service_host_settings *ret,
                                struct error *err) {
    _cleanup_(service_host_settings_free) struct service_host_settings settings = {0};
    _cleanup_json_ json_t *json = NULL;
    int result;

    if (json_read(text, len, "service settings", &json, err) < 0)
        return -1;
    result = read_settings(json, &settings, err);
    forget_environment(json);
    if (result == 0)
        *ret = take_struct(settings);
    return result;
}

int service_host_settings_load(struct host *host, const char *name,
                               struct service_host_settings *ret, struct error *err) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";
    _cleanup_(freep) char *path = xasprintf("%s\\%s.json", SERVICE_SETTINGS_DIR, name);
    _cleanup_(secret_freep) char *text = NULL;
    size_t len = 0;
    if (!*name || name[strspn(name, letters)])
        return error_set(err, ERROR_USAGE, "service name '%s': not allowed", name);
    if (host_read(host, path, SETTINGS_FILE_MAX, &text, &len, err) < 0 ||
        service_host_settings_parse(text, len, ret, err) < 0)
        return error_prefix(err, "service '%s'", name);
    return 0;
}

/* Returns a rotated log's name, such as "kubelet.2.log" for "kubelet.log"; 0 is the file itself. */
static char *log_name(const char *path, unsigned number) {
    const char *dot = strrchr(path, '.');
    const char *slash = strrchr(path, '\\');
    size_t stem = dot && dot > slash ? (size_t)(dot - path) : strlen(path);
    if (!number)
        return xstrdup(path);
    return xasprintf("%.*s.%u%s", (int)stem, path, number, path + stem);
}

int service_log_rotate(struct host *host, const struct service_host_settings *settings,
                       struct error *err) {
    _cleanup_(freep) char *oldest = log_name(settings->log_file, settings->max_log_files - 1);
    if (host_remove(host, oldest, err) < 0)
        return error_prefix(err, "rotate log");
    for (unsigned i = settings->max_log_files - 1; i > 0; i--) {
        _cleanup_(freep) char *from = log_name(settings->log_file, i - 1);
        _cleanup_(freep) char *to = log_name(settings->log_file, i);
        if (host_file_type(host, from) != HOST_FILE)
            continue;
        if (host_rename(host, from, to, err) < 0)
            return error_prefix(err, "rotate log");
    }
    return 0;
}
