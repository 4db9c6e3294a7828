/* Owners of paths, component by component. */
#include "services/stranger.h"

#include "host/path.h"

#define MOVED ".before-winjoin"

void stranger_free(struct stranger *stranger) {
    free_all(stranger->path, stranger->why);
    *stranger = (struct stranger){0};
}

/* Windows' own, which belong to TrustedInstaller or SYSTEM. */
static bool is_windows_own(const char *path) {
    return text_equal_nocase(path, "C:\\Program Files") ||
           text_equal_nocase(path, "C:\\ProgramData");
}

/* The one place that asks whose something is: *ret stays NULL where it is no stranger's. What lies
 * in a folder may be a link of an administrator or of a service, as the kubelet's certificate is.
 */
static int ask(struct host *host, const char *path, enum host_file_type type, bool inside,
               char **ret, struct error *err) {
    struct error unasked = {0};
    bool is_admins = false;

    if (type == HOST_LINK && !inside)
        *ret = xasprintf("'%s' is a junction", path);
    if (type == HOST_ABSENT || *ret || is_windows_own(path))
        return 0;
    err = err ? err : &unasked; /* its kind is looked at */
    if (host_is_admins(host, path, &is_admins, err) < 0)
        return error_forgive(err, ERROR_ABSENT);
    if (!is_admins)
        *ret = xasprintf("'%s' belongs to a user who is not an administrator", path);
    return 0;
}

static int look(struct host *host, const char *path, bool inside, struct stranger *ret,
                struct error *err) {
    enum host_file_type type = host_file_type(host, path);
    char *why = NULL;

    if (ask(host, path, type, inside, &why, err) < 0)
        return -1;
    if (why)
        *ret = (struct stranger){.path = xstrdup(path),
                                 .why = why,
                                 .is_inside = inside,
                                 .is_folder = type == HOST_FOLDER,
                                 .is_link = type == HOST_LINK};
    return 0;
}

int stranger_in_path(struct host *host, const char *path, struct stranger *ret, struct error *err) {
    _cleanup_(freep) char *whole = NULL;

    if (path_normalize(path, &whole, err) < 0)
        return -1;
    for (char *end = strchr(whole, '\\'); end && !ret->path;) {
        end = strchr(end + 1, '\\');
        if (end)
            *end = '\0';
        if (look(host, whole, false, ret, err) < 0)
            return -1;
        if (end)
            *end = '\\';
    }
    return 0;
}

int stranger_in_folder(struct host *host, const char *folder, const struct text_list *but,
                       struct stranger *ret, struct error *err) {
    _cleanup_(text_list_free) struct text_list names = {0};
    struct error unasked = {0};

    err = err ? err : &unasked;
    if (stranger_in_path(host, folder, ret, err) < 0)
        return -1;
    if (ret->path || host_file_type(host, folder) != HOST_FOLDER)
        return 0;
    if (host_list(host, folder, &names, err) < 0)
        return error_forgive(err, ERROR_ABSENT);
    for (size_t i = 0; i < names.count && !ret->path; i++) {
        _cleanup_(freep) char *path = xasprintf("%s\\%s", folder, names.items[i]);

        if (but && text_list_has(but, path))
            continue;
        if (look(host, path, true, ret, err) < 0)
            return -1;
    }
    return 0;
}

static int refuse(struct stranger *stranger, struct error *err) {
    _cleanup_(freep) char *repair = stranger->path ? stranger_repair(stranger) : NULL;

    if (!stranger->path)
        return 0;
    (void)error_set(err, ERROR_DENIED, "%s", stranger->why);
    (void)error_hint(err, "%s", repair);
    stranger_free(stranger);
    return -1;
}

int stranger_refuse(struct host *host, const char *path, struct error *err) {
    struct stranger stranger = {0};

    return stranger_in_path(host, path, &stranger, err) < 0 ? -1 : refuse(&stranger, err);
}

int stranger_refuse_in(struct host *host, const char *folder, const struct text_list *but,
                       struct error *err) {
    struct stranger stranger = {0};

    return stranger_in_folder(host, folder, but, &stranger, err) < 0 ? -1 : refuse(&stranger, err);
}

/* A stranger chose the name: a shell may read more in it than a name. */
static bool is_plain(const char *path) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                " ._-:\\";

    return path[strspn(path, plain)] == '\0';
}

char *stranger_repair(const struct stranger *stranger) {
    _cleanup_(freep) char *folder = path_parent(stranger->path);
    const char *name = path_base(stranger->path);

    if (!is_plain(stranger->path))
        return xasprintf("cmd /c dir /a /q /x \"%s\"",
                         folder && is_plain(folder) ? folder : "C:\\");
    if (stranger->is_link)
        return xasprintf("cmd /c rmdir \"%s\"", stranger->path);
    if (!stranger->is_folder)
        return xasprintf("cmd /c del /f \"%s\"", stranger->path);
    if (stranger->is_inside)
        return xasprintf("cmd /c move \"%s\" \"C:\\%s" MOVED "\"", stranger->path, name);
    return xasprintf("cmd /c ren \"%s\" \"%s" MOVED "\"", stranger->path, name);
}
