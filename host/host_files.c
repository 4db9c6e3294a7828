/* Implements the file functions of host.h for all hosts: refuses paths that an untrusted user could
 * have prepared, then calls the functions in the host's table. */
#include "base/log.h"
#include "base/text.h"
#include "host/access_list.h"
#include "host/host_ops.h"
#include "host/path.h"

/* Is the path inside HOST_OWN_FOLDER? Windows ignores the letter case of names. */
static bool is_own(const char *at) {
    _cleanup_(freep) char *head = xstrndup(at, sizeof HOST_OWN_FOLDER);

    return text_equal_nocase(head, HOST_OWN_FOLDER "\\");
}

/* Counts a successful change of a file outside winjoin's own folder, and returns `result`. */
static int file_changed(struct host *host, const char *path, int result) {
    return is_own(path) ? result : host_changed(host, result);
}

static int look(struct host *host, const char *at, struct host_untrusted *ret, struct error *err) {
    if (host->ops->find_untrusted(host, at, ret, err) < 0)
        return -1;
    if (ret->path)
        ret->type = host->ops->file_type(host, ret->path);
    return 0;
}

int host_find_untrusted(struct host *host, const char *path, struct host_untrusted *ret,
                        struct error *err) {
    _cleanup_(freep) char *at = NULL;

    return path_normalize(path, &at, err) < 0 ? -1 : look(host, at, ret, err);
}

/* Checks one entry of a folder: its owner, whether it is a link, and whether its access list lets
 * users change it. */
static int look_inside(struct host *host, const char *path, struct host_untrusted *ret,
                       struct error *err) {
    _cleanup_(access_list_free) struct access_list list = {0};
    _cleanup_(freep) char *text = NULL;
    struct error why = {0};

    if (look(host, path, ret, err) < 0)
        return -1;
    if (!ret->path && host->ops->access_get(host, path, &text, &why) < 0)
        return why.kind == ERROR_ABSENT ? 0 : error_set(err, why.kind, "%s", why.message);
    /* A text without a colon is a POSIX mode and not SDDL. */
    if (text && strchr(text, ':') && access_list_read(text, &list, err) < 0)
        return error_prefix(err, "look at '%s'", path);
    if (text) {
        const enum host_file_type type = host->ops->file_type(host, path);
        const char *open_to = access_list_open_to(&list, type == HOST_FOLDER);

        if (open_to)
            *ret = (struct host_untrusted){
                .path = xstrdup(path), .owner = xstrdup(open_to), .open = true, .type = type};
    }
    ret->inside = ret->path;
    return 0;
}

int host_find_untrusted_in(struct host *host, const char *folder, struct host_untrusted *ret,
                           struct error *err) {
    _cleanup_(text_list_free) struct text_list names = {0};
    _cleanup_(freep) char *at = NULL;

    if (path_normalize(folder, &at, err) < 0 || look(host, at, ret, err) < 0)
        return -1;
    if (!ret->path && host->ops->file_type(host, at) == HOST_LINK)
        *ret = (struct host_untrusted){.path = take_ptr(at), .type = HOST_LINK};
    if (ret->path || host->ops->file_type(host, at) != HOST_FOLDER)
        return 0;
    if (host->ops->list(host, at, &names, err) < 0)
        return -1;
    for (size_t i = 0; i < names.count && !ret->path; i++) {
        _cleanup_(freep) char *path = xasprintf("%s\\%s", at, names.items[i]);

        if (look_inside(host, path, ret, err) < 0)
            return -1;
    }
    return 0;
}

void host_untrusted_free(struct host_untrusted *untrusted) {
    free_all(untrusted->path, untrusted->owner);
    *untrusted = (struct host_untrusted){0};
}

char *host_untrusted_text(const struct host_untrusted *untrusted) {
    return untrusted->open
               ? xasprintf("'%s' can be changed by %s", untrusted->path, untrusted->owner)
           : untrusted->owner ? xasprintf("'%s' belongs to %s", untrusted->path, untrusted->owner)
                              : xasprintf("'%s' is a junction or a link", untrusted->path);
}

/* Does the path have only harmless characters? An untrusted user chose the name, and a shell could
 * interpret other characters. */
static bool is_plain(const char *path) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                " ._-:\\";

    return path[strspn(path, plain)] == '\0';
}

char *host_untrusted_remedy(const struct host_untrusted *untrusted) {
    _cleanup_(freep) char *folder = path_parent(untrusted->path);
    const char *name = path_base(untrusted->path);

    if (!is_plain(untrusted->path))
        return xasprintf("cmd /c dir /a /q /x \"%s\"",
                         folder && is_plain(folder) ? folder : "C:\\");
    if (!untrusted->owner || untrusted->type == HOST_LINK)
        return xasprintf("cmd /c rmdir \"%s\"", untrusted->path);
    if (untrusted->type != HOST_FOLDER)
        return xasprintf("cmd /c del /f \"%s\"", untrusted->path);
    if (untrusted->inside)
        return xasprintf("cmd /c move \"%s\" \"C:\\%s.before-winjoin\"", untrusted->path, name);
    return xasprintf("cmd /c ren \"%s\" \"%s.before-winjoin\"", untrusted->path, name);
}

int host_untrusted_refuse(const struct host_untrusted *found, struct error *err) {
    _cleanup_(freep) char *text = NULL, *remedy = NULL;

    if (!found->path)
        return 0;
    text = host_untrusted_text(found);
    remedy = host_untrusted_remedy(found);
    (void)error_set(err, ERROR_DENIED, "%s", text);
    return error_hint(err, "%s", remedy);
}

/* Refuses a path with something that an ordinary user could have created. The end of the path
 * itself is checked only when `whole` is true. */
static int refuse_untrusted(struct host *host, const char *at, bool whole, struct error *err) {
    _cleanup_(host_untrusted_free) struct host_untrusted found = {0};

    if (look(host, at, &found, err) < 0)
        return -1;
    if (found.path && !whole && strlen(found.path) == strlen(at))
        return 0;
    return host_untrusted_refuse(&found, err) < 0 ? error_prefix(err, "use '%s'", at) : 0;
}

int host_refuse_untrusted(struct host *host, const char *path, struct error *err) {
    _cleanup_(host_untrusted_free) struct host_untrusted found = {0};

    return host_find_untrusted(host, path, &found, err) < 0 ? -1
                                                            : host_untrusted_refuse(&found, err);
}

int host_refuse_untrusted_in(struct host *host, const char *folder, struct error *err) {
    _cleanup_(host_untrusted_free) struct host_untrusted found = {0};

    return host_find_untrusted_in(host, folder, &found, err) < 0
               ? -1
               : host_untrusted_refuse(&found, err);
}

/* Called before something is created or written at `at`. Refuses untrusted files and folders above
 * it, and closes winjoin's own folder to users when `at` is in it. */
static int ready_parents(struct host *host, const char *at, struct error *err) {
    bool stands;

    if (refuse_untrusted(host, at, false, err) < 0)
        return -1;
    if (!is_own(at))
        return 0;
    stands = host->ops->file_type(host, HOST_OWN_FOLDER) != HOST_ABSENT;
    if (stands && host->own_folder_closed)
        return 0;
    if (host->ops->make_folder(host, HOST_OWN_FOLDER, HOST_SECRET, err) < 0 ||
        host_refuse_untrusted_in(host, HOST_OWN_FOLDER, err) < 0)
        return -1;
    host->own_folder_closed = true;
    return 0;
}

int host_read(struct host *host, const char *path, size_t max, char **ret, size_t *ret_len,
              struct error *err) {
    _cleanup_(freep) char *at = NULL;
    size_t len;

    if (path_normalize(path, &at, err) < 0)
        return -1;
    if (text_ends_with(path, "\\") || text_ends_with(path, "/"))
        return error_set(err, ERROR_HOST, "read '%s': it is a folder", path);
    if (is_own(at) && refuse_untrusted(host, at, true, err) < 0)
        return -1;
    return host->ops->read(host, at, max, ret, ret_len ? ret_len : &len, err);
}

int host_read_of_others(struct host *host, const char *path, size_t max, char **ret,
                        size_t *ret_len, struct error *err) {
    _cleanup_(freep) char *at = NULL;

    if (path_normalize(path, &at, err) < 0 || refuse_untrusted(host, at, false, err) < 0)
        return -1;
    if (host->ops->file_type(host, at) == HOST_LINK)
        return error_set(err, ERROR_DENIED, "read '%s': it is a junction or a link", at);
    return host->ops->read(host, at, max, ret, ret_len, err);
}

bool host_has(struct host *host, const char *path, const void *data, size_t len) {
    _cleanup_(secret_freep) char *there = NULL;
    size_t there_len;

    return host_read(host, path, len + 1, &there, &there_len, NULL) == 0 && there_len == len &&
           memcmp(there, data, len) == 0;
}

int host_read_part(struct host *host, const char *path, uint64_t offset, size_t max, char **ret,
                   size_t *ret_len, uint64_t *ret_size, struct error *err) {
    _cleanup_(freep) char *at = NULL;

    if (path_normalize(path, &at, err) < 0 ||
        (is_own(at) && refuse_untrusted(host, at, true, err) < 0))
        return -1;
    return host->ops->read_part(host, at, offset, max, ret, ret_len, ret_size, err);
}

int host_read_text(struct host *host, const char *path, size_t max, char **ret, size_t *ret_len,
                   struct error *err) {
    _cleanup_(secret_freep) char *text = NULL;
    size_t len;

    if (host_read(host, path, max, &text, &len, err) < 0)
        return -1;
    if (unicode_to_utf8(&text, &len, err) < 0)
        return error_prefix(err, "read '%s'", path);
    *ret = take_ptr(text);
    if (ret_len)
        *ret_len = len;
    return 0;
}

int host_read_json(struct host *host, const char *path, size_t max, json_t **ret,
                   struct error *err) {
    _cleanup_(freep) char *text = NULL;
    size_t len;

    return host_read(host, path, max, &text, &len, err) < 0 ? -1
                                                            : json_read(text, len, path, ret, err);
}

int host_write(struct host *host, const char *path, const void *data, size_t len,
               enum host_access access, struct error *err) {
    _cleanup_(freep) char *at = NULL;

    if (path_normalize(path, &at, err) < 0)
        return -1;
    log_message(LOG_CALL, "write '%s' (%zu bytes)", at, len);
    if (ready_parents(host, at, err) < 0)
        return error_prefix(err, "write");
    return file_changed(host, at, host->ops->write(host, at, data, len, access, err));
}

int host_write_part(struct host *host, const char *path, uint64_t offset, const void *data,
                    size_t len, enum host_access access, struct error *err) {
    _cleanup_(freep) char *at = NULL;

    if (path_normalize(path, &at, err) < 0)
        return -1;
    if (ready_parents(host, at, err) < 0 || (offset && refuse_untrusted(host, at, true, err) < 0))
        return error_prefix(err, "write");
    return file_changed(host, at, host->ops->write_part(host, at, offset, data, len, access, err));
}

int host_make_folder(struct host *host, const char *path, enum host_access access,
                     struct error *err) {
    _cleanup_(freep) char *at = NULL;

    if (path_normalize(path, &at, err) < 0)
        return -1;
    log_message(LOG_CALL, "make folder '%s'", at);
    if (ready_parents(host, at, err) < 0 || host->ops->make_folder(host, at, access, err) < 0)
        return -1;
    return refuse_untrusted(host, at, true, err);
}

int host_access_get(struct host *host, const char *path, char **ret, struct error *err) {
    _cleanup_(freep) char *at = NULL;

    if (path_normalize(path, &at, err) < 0)
        return -1;
    return host->ops->access_get(host, at, ret, err);
}

int host_access_set(struct host *host, const char *path, const char *access, struct error *err) {
    _cleanup_(freep) char *at = NULL;

    if (path_normalize(path, &at, err) < 0)
        return -1;
    log_message(LOG_CALL, "set the access of '%s' to %s", at, access);
    if (refuse_untrusted(host, at, false, err) < 0)
        return -1;
    return host->ops->access_set(host, at, access, err);
}

int host_remove(struct host *host, const char *path, struct error *err) {
    _cleanup_(freep) char *at = NULL;

    if (path_normalize(path, &at, err) < 0)
        return -1;
    log_message(LOG_CALL, "remove '%s'", at);
    if (refuse_untrusted(host, at, false, err) < 0)
        return -1;
    return host->ops->remove(host, at, false, err);
}

int host_remove_tree(struct host *host, const char *path, struct error *err) {
    _cleanup_(freep) char *at = NULL, *parent = NULL;

    if (path_normalize(path, &at, err) < 0)
        return -1;
    parent = path_parent(at);
    if (!parent)
        return error_set(err, ERROR_USAGE, "remove '%s': refusing to remove a whole volume", path);
    log_message(LOG_CALL, "remove '%s' and all in it", at);
    if (refuse_untrusted(host, at, false, err) < 0)
        return -1;
    return file_changed(host, at, host->ops->remove(host, at, true, err));
}

int host_rename(struct host *host, const char *from, const char *to, struct error *err) {
    _cleanup_(freep) char *at = NULL, *there = NULL;

    if (path_normalize(from, &at, err) < 0 || path_normalize(to, &there, err) < 0)
        return -1;
    log_message(LOG_CALL, "rename '%s' to '%s'", at, there);
    if (refuse_untrusted(host, at, false, err) < 0 || ready_parents(host, there, err) < 0)
        return -1;
    return file_changed(host, at, host->ops->rename(host, at, there, err));
}

int host_link(struct host *host, const char *path, const char *target, struct error *err) {
    _cleanup_(freep) char *at = NULL;

    if (path_normalize(path, &at, err) < 0)
        return -1;
    if (!*target)
        return error_set(err, ERROR_USAGE, "link '%s': the target is empty", path);
    log_message(LOG_CALL, "link '%s' to '%s'", at, target);
    if (ready_parents(host, at, err) < 0)
        return -1;
    return file_changed(host, at, host->ops->link(host, at, target, err));
}

enum host_file_type host_file_type(struct host *host, const char *path) {
    _cleanup_(freep) char *at = NULL;
    enum host_file_type type;

    if (path_normalize(path, &at, NULL) < 0)
        return HOST_ABSENT;
    type = host->ops->file_type(host, at);
    /* A path that ends in a separator names a folder, never a file. */
    return type == HOST_FILE && (text_ends_with(path, "\\") || text_ends_with(path, "/"))
               ? HOST_ABSENT
               : type;
}

int host_list(struct host *host, const char *path, struct text_list *ret, struct error *err) {
    _cleanup_(freep) char *at = NULL;
    struct text_list names = {0};

    if (path_normalize(path, &at, err) < 0 ||
        (is_own(at) && refuse_untrusted(host, at, true, err) < 0) ||
        host->ops->list(host, at, &names, err) < 0)
        return -1;
    text_list_sort(&names);
    *ret = names;
    return 0;
}

int host_free_space(struct host *host, const char *path, uint64_t *ret, struct error *err) {
    _cleanup_(freep) char *at = NULL;

    if (path_normalize(path, &at, err) < 0)
        return -1;
    return host->ops->free_space(host, at, ret, err);
}
