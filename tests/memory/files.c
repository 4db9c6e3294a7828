/* Files of the in-memory host: one sorted table of whole paths. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/memory.h"
#include "host/path.h"
#include "tests/memory/memory.h"

enum { LINKS_MAX = 8 };

static const char *const type_names[] = {
    [HOST_ABSENT] = "absent",
    [HOST_FILE] = "file",
    [HOST_FOLDER] = "folder",
    [HOST_LINK] = "link",
};

static int lower(char c) {
    return c >= 'A' && c <= 'Z' ? c + 32 : (unsigned char)c;
}

static int compare_paths(const char *a, const char *b) {
    while (*a && lower(*a) == lower(*b)) {
        a++;
        b++;
    }
    return lower(*a) - lower(*b);
}

/* The place of the path, or where it would be. */
static size_t position(const struct memory_host *memory, const char *path) {
    size_t low = 0, high = memory->file_count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (compare_paths(memory->files[middle].path, path) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct memory_file *memory_find(const struct memory_host *memory, const char *path) {
    size_t at = position(memory, path);

    if (at == memory->file_count || compare_paths(memory->files[at].path, path) != 0)
        return NULL;
    return &memory->files[at];
}

static struct memory_file *add_file(struct memory_host *memory, const char *path) {
    size_t at = position(memory, path);

    memory->files = xrealloc(memory->files, (memory->file_count + 1) * sizeof *memory->files);
    memmove(memory->files + at + 1, memory->files + at,
            (memory->file_count - at) * sizeof *memory->files);
    memory->file_count++;
    memory->files[at] = (struct memory_file){.path = xstrdup(path)};
    memory_access_made(memory, path);
    return &memory->files[at];
}

static void drop_file(struct memory_host *memory, size_t at) {
    memory_access_gone(memory, memory->files[at].path);
    free(memory->files[at].path);
    free(memory->files[at].data);
    access_list_free(&memory->files[at].own);
    memory->file_count--;
    memmove(memory->files + at, memory->files + at + 1,
            (memory->file_count - at) * sizeof *memory->files);
}

static bool is_root(const char *path) {
    return strlen(path) == 3;
}

bool memory_lies_in(const char *path, const char *folder) {
    const char *inside = folder;

    while (*inside && lower(*path) == lower(*inside)) {
        path++;
        inside++;
    }
    return !*inside && (*path == '\\' || (*path && is_root(folder)));
}

static int make_parents(struct memory_host *memory, const char *path, struct error *err) {
    _cleanup_(freep) char *parent = path_parent(path);
    struct memory_file *found;

    if (!parent || is_root(parent))
        return 0;
    found = memory_find(memory, parent);
    if (found && found->type == HOST_FILE)
        return error_set(err, ERROR_HOST, "make folder '%s': a file with that name exists", parent);
    if (found)
        return 0;
    if (make_parents(memory, parent, err) < 0)
        return -1;
    add_file(memory, parent)->type = HOST_FOLDER;
    return 0;
}

/* The file behind a path, links followed. */
static struct memory_file *follow(const struct memory_host *memory, const char *path) {
    struct memory_file *file = memory_find(memory, path);

    for (int i = 0; file && file->type == HOST_LINK && i < LINKS_MAX; i++) {
        _cleanup_(freep) char *parent = path_parent(file->path);
        _cleanup_(freep) char *joined = xasprintf("%s\\%s", parent ? parent : "", file->data);
        _cleanup_(freep) char *target = NULL;

        if (path_normalize(file->data, &target, NULL) < 0 &&
            path_normalize(joined, &target, NULL) < 0)
            return NULL;
        file = memory_find(memory, target);
    }
    return file;
}

int memory_read(struct host *host, const char *path, size_t max, char **ret, size_t *ret_len,
                struct error *err) {
    const struct memory_file *file;

    if (memory_call(host, err, "read %s", path) < 0)
        return -1;
    memory_access_read(host, path);
    file = follow(memory_of(host), path);
    if (!file)
        return error_set_os(err, ERROR_ABSENT, 2, "read '%s': it is absent", path);
    if (file->type != HOST_FILE)
        return error_set(err, ERROR_HOST, "read '%s': it is a folder", path);
    if (file->len > max)
        return error_set(err, ERROR_MALFORMED, "read '%s': longer than %zu bytes", path, max);
    *ret = xmemdup(file->data, file->len);
    *ret_len = file->len;
    return 0;
}

int memory_read_part(struct host *host, const char *path, uint64_t offset, size_t max, char **ret,
                     size_t *ret_len, uint64_t *ret_size, struct error *err) {
    _cleanup_(freep) char *all = NULL;
    size_t len, begin;

    if (memory_read(host, path, SIZE_MAX, &all, &len, err) < 0)
        return -1;
    begin = offset < len ? (size_t)offset : len;
    *ret_size = len;
    *ret_len = len - begin < max ? len - begin : max;
    *ret = xmemdup(all + begin, *ret_len);
    return 0;
}

static bool is_held(const struct memory_host *memory, const char *path) {
    for (size_t i = 0; i < memory->held.count; i++)
        if (compare_paths(memory->held.items[i], path) == 0)
            return true;
    return false;
}

static void move_held(struct memory_host *memory, const char *from, const char *to) {
    for (size_t i = 0; i < memory->held.count; i++)
        if (compare_paths(memory->held.items[i], from) == 0) {
            free(memory->held.items[i]);
            memory->held.items[i] = xstrdup(to);
        }
}

int memory_write(struct host *host, const char *path, const void *data, size_t len,
                 enum host_access access, struct error *err) {
    struct memory_host *memory = memory_of(host);
    struct memory_file *file;

    if (memory_call(host, err, "write %s %s %zu bytes", path, memory_access_names[access], len) < 0)
        return -1;
    memory_access_write(host, path);
    if (make_parents(memory, path, err) < 0)
        return -1;
    file = memory_find(memory, path);
    if (is_root(path) || (file && file->type == HOST_FOLDER))
        return error_set_os(err, ERROR_DENIED, 5, "write '%s': a folder with that name exists",
                            path);
    if (is_held(memory, path))
        return error_set_os(err, ERROR_DENIED, 5, "write '%s': a program runs from it", path);
    if (!file)
        file = add_file(memory, path);
    free(file->data);
    file->type = HOST_FILE; /* a link is replaced, not followed: written beside, renamed over */
    memory_list_give(file, access);
    file->data = xmemdup(data, len);
    file->len = len;
    memory_access_made(memory, path);
    return 0;
}

int memory_write_part(struct host *host, const char *path, uint64_t offset, const void *data,
                      size_t len, enum host_access access, struct error *err) {
    struct memory_file *file = memory_find(memory_of(host), path);
    _cleanup_(freep) char *all = NULL;
    struct access_list own = {0};
    int result;

    if (offset && !file)
        return error_set_os(err, ERROR_ABSENT, 2, "write '%s': it is absent", path);
    if (offset && (file->type != HOST_FILE || file->len < offset))
        return error_set(err, ERROR_HOST, "write '%s': it is shorter than %llu bytes", path,
                         (unsigned long long)offset);
    all = xmalloc((size_t)offset + len + 1);
    if (offset) {
        memcpy(all, file->data, (size_t)offset);
        own = take_struct(file->own);
    }
    memcpy(all + offset, data, len);
    result = memory_write(host, path, all, (size_t)offset + len, access, err);
    if (offset) { /* it is the same file */
        access_list_free(&file->own);
        file->own = own;
    }
    return result;
}

int memory_make_folder(struct host *host, const char *path, enum host_access access,
                       struct error *err) {
    struct memory_host *memory = memory_of(host);
    struct memory_file *file;

    if (memory_call(host, err, "make_folder %s %s", path, memory_access_names[access]) < 0 ||
        make_parents(memory, path, err) < 0)
        return -1;
    if (is_root(path))
        return 0;
    file = memory_find(memory, path);
    if (file && file->type != HOST_FOLDER)
        return error_set(err, ERROR_HOST, "make folder '%s': a file with that name exists", path);
    if (!file) {
        file = add_file(memory, path);
        file->type = HOST_FOLDER;
        memory_list_give(file, access);
    } else if (access != HOST_PUBLIC) {
        if (memory_users_add(memory, path))
            memory_access_closed(memory, path);
        memory_close(memory, file, access);
    }
    return 0;
}

static void note_looks(struct memory_host *memory, const char *path) {
    for (const char *end = path + 2; *end && end[1];) {
        _cleanup_(freep) char *part = NULL;

        end += 1 + strcspn(end + 1, "\\");
        part = xstrndup(path, (size_t)(end - path));
        memory_access_looked(memory, part);
        if (memory_find(memory, part))
            continue;
        memory_access_looked(memory, path);
        return;
    }
}

/* Of the few that are users' or links, the one that is nearest to the drive. */
int memory_find_untrusted(struct host *host, const char *path, struct host_untrusted *ret,
                          struct error *) {
    struct memory_host *memory = memory_of(host);
    const struct memory_file *found = NULL;

    if (memory->proved)
        note_looks(memory, path);
    for (size_t i = 0; i < memory->file_count; i++) {
        const struct memory_file *file = &memory->files[i];
        bool link = file->type == HOST_LINK;

        if ((memory_is_users(file) || link) &&
            ((memory_is_users(file) && compare_paths(file->path, path) == 0) ||
             memory_lies_in(path, file->path)) &&
            (!found || strlen(file->path) < strlen(found->path)))
            found = file;
    }
    if (found)
        *ret =
            (struct host_untrusted){.path = xstrdup(found->path),
                                    .owner = memory_is_users(found) ? xstrdup("SRV\\eve") : NULL};
    return 0;
}

static int remove_tree(struct host *host, const char *path, struct error *err) {
    struct memory_host *memory = memory_of(host);

    if (memory_call(host, err, "remove_tree %s", path) < 0)
        return -1;
    memory_access_write(host, path);
    for (size_t i = memory->file_count; i-- > 0;) {
        const char *found = memory->files[i].path;

        if (compare_paths(found, path) != 0 && !memory_lies_in(found, path))
            continue;
        if (is_held(memory, found)) /* what was removed before it stays so */
            return error_set_os(err, ERROR_CONFLICT, 32, "remove '%s': a program has it open",
                                path);
        drop_file(memory, i);
    }
    return 0;
}

int memory_remove(struct host *host, const char *path, bool tree, struct error *err) {
    struct memory_host *memory = memory_of(host);
    size_t at;

    if (tree)
        return remove_tree(host, path, err);
    if (memory_call(host, err, "remove %s", path) < 0)
        return -1;
    memory_access_write(host, path);
    if (!memory_find(memory, path))
        return 0;
    for (size_t i = 0; i < memory->file_count; i++)
        if (memory_lies_in(memory->files[i].path, path))
            return error_set_os(err, ERROR_CONFLICT, 145, "remove '%s': the folder is not empty",
                                path);
    if (is_held(memory, path))
        return error_set_os(err, ERROR_CONFLICT, 32, "remove '%s': a program has it open", path);
    at = position(memory, path);
    drop_file(memory, at);
    return 0;
}

/* Everything at and under `from` gets the new name; collected first, for the table is sorted. */
static void move_files(struct memory_host *memory, const char *from, const char *to) {
    struct memory_file *moved = xcalloc(memory->file_count, sizeof *moved);
    size_t count = 0;

    for (size_t i = memory->file_count; i-- > 0;) {
        struct memory_file *file = &memory->files[i];

        if (compare_paths(file->path, from) != 0 && !memory_lies_in(file->path, from))
            continue;
        moved[count] = *file;
        moved[count].path = xasprintf("%s%s", to, file->path + strlen(from));
        file->data = NULL;
        file->own = (struct access_list){0};
        drop_file(memory, i);
        count++;
    }
    for (size_t i = 0; i < count; i++) {
        struct memory_file *file = add_file(memory, moved[i].path);

        free(file->path);
        *file = moved[i];
    }
    free(moved);
}

int memory_rename(struct host *host, const char *from, const char *to, struct error *err) {
    struct memory_host *memory = memory_of(host);
    const struct memory_file *standing;

    if (memory_call(host, err, "rename %s %s", from, to) < 0)
        return -1;
    memory_access_read(host, from);
    memory_access_write(host, from);
    memory_access_write(host, to);
    if (!memory_find(memory, from))
        return error_set_os(err, ERROR_ABSENT, 2, "rename '%s': no such file", from);
    if (compare_paths(from, to) == 0)
        return 0;
    standing = memory_find(memory, to);
    if (standing && standing->type == HOST_FOLDER)
        return error_set_os(err, ERROR_DENIED, 5, "rename '%s': a folder is at '%s'", from, to);
    if (make_parents(memory, to, err) < 0)
        return -1;
    if (standing)
        drop_file(memory, position(memory, to));
    move_files(memory, from, to);
    move_held(memory, from, to);
    return 0;
}

int memory_link(struct host *host, const char *path, const char *target, struct error *err) {
    struct memory_host *memory = memory_of(host);
    struct memory_file *file;

    if (memory_call(host, err, "link %s %s", path, target) < 0)
        return -1;
    memory_access_write(host, path);
    if (make_parents(memory, path, err) < 0)
        return -1;
    file = memory_find(memory, path);
    if (file && file->type == HOST_FOLDER)
        return error_set_os(err, ERROR_DENIED, 5, "link '%s': a folder with that name exists",
                            path);
    if (!file)
        file = add_file(memory, path);
    free(file->data);
    file->type = HOST_LINK;
    file->data = xstrdup(target);
    file->len = strlen(target);
    return 0;
}

enum host_file_type memory_file_type(struct host *host, const char *path) {
    const struct memory_file *file = memory_find(memory_of(host), path);

    return file ? file->type : is_root(path) ? HOST_FOLDER : HOST_ABSENT;
}

int memory_list(struct host *host, const char *path, struct text_list *ret, struct error *err) {
    struct memory_host *memory = memory_of(host);
    const struct memory_file *folder = memory_find(memory, path);
    size_t skip = strlen(path) + (is_root(path) ? 0 : 1);

    if (memory_call(host, err, "list %s", path) < 0)
        return -1;
    memory_access_read(host, path);
    if (!is_root(path) && !folder)
        return error_set_os(err, ERROR_ABSENT, 3, "list '%s': no such folder", path);
    if (folder && folder->type != HOST_FOLDER)
        return error_set(err, ERROR_HOST, "list '%s': not a folder", path);
    for (size_t i = 0; i < memory->file_count; i++) {
        const char *name = memory->files[i].path;

        if (memory_lies_in(name, path) && !strchr(name + skip, '\\'))
            text_list_add(ret, name + skip);
    }
    return 0;
}

int memory_free_space(struct host *host, const char *path, uint64_t *ret, struct error *err) {
    if (memory_call(host, err, "free_space %s", path) < 0)
        return -1;
    if (*path == 'X')
        return error_set(err, ERROR_ABSENT, "free space of '%s': there is no such drive", path);
    *ret = memory_of(host)->free_space;
    return 0;
}

static json_t *content_json(const struct memory_file *file) {
    json_t *text = json_stringn(file->data ? file->data : "", file->len);

    if (!text || (file->data && memchr(file->data, '\0', file->len))) {
        _cleanup_(freep) char *encoded = base64_encode(file->data, file->len);

        json_decref(text);
        text = json_pack("{s:s}", "base64", encoded);
    }
    return text;
}

json_t *memory_files_json(const struct memory_host *memory) {
    json_t *files = json_object();

    for (size_t i = 0; i < memory->file_count; i++) {
        const struct memory_file *file = &memory->files[i];
        _cleanup_(freep) char *access = memory_access_name(memory, file);
        json_t *entry = json_pack("{s:s, s:s}", "type", type_names[file->type], "access", access);

        if (file->type == HOST_LINK)
            json_object_set_new(entry, "target", json_string(file->data));
        if (file->type == HOST_FILE)
            json_object_set_new(entry, "content", content_json(file));
        json_object_set_new(files, file->path, entry);
    }
    return files;
}

void memory_files_free(struct memory_host *memory) {
    memory_access_free(memory);
    text_list_free(&memory->held);
    while (memory->file_count)
        drop_file(memory, memory->file_count - 1);
    free(memory->files);
    memory->files = NULL;
}
