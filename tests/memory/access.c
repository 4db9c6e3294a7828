/* What an ordinary user could have had a hand in, checked as winjoin calls the host.
 *
 * Who adds something owns it; what others made in the same folder he can neither change nor rename,
 * where the lists (lists.c) do not say so. So a thing is believed ("proved") that winjoin made,
 * that was there before in a folder where users do not add, or whose owner winjoin has asked. */
#include <string.h>

#include "base/memory.h"
#include "host/path.h"
#include "node/folders.h"
#include "tests/memory/memory.h"

bool memory_users_add(const struct memory_host *memory, const char *folder) {
    return memory_users_rights(memory, folder) &
           (ACCESS_ADD_FILE | ACCESS_ADD_FOLDER | ACCESS_TAKE);
}

/* ---- what is believed ---- */

static char *key_of(const char *path) {
    char *key = xstrdup(path);

    for (char *c = key; *c; c++)
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c + 32);
    return key;
}

/* true: it is there; a number: winjoin made it; false: it was not there when its owner was asked.
 */
static void believe(struct memory_host *memory, const char *path, json_t *how) {
    _cleanup_(freep) char *key = NULL;

    if (!memory->proved) {
        json_decref(how);
        return;
    }
    key = key_of(path);
    json_object_set_new(memory->proved, key, how);
}

static bool is_made(const struct memory_host *memory, const char *path) {
    _cleanup_(freep) char *key = key_of(path);

    return json_is_integer(json_object_get(memory->proved, key));
}

void memory_access_gone(struct memory_host *memory, const char *path) {
    _cleanup_(freep) char *key = NULL;

    if (!memory->proved)
        return;
    key = key_of(path);
    json_object_del(memory->proved, key);
}

/* Until now a user may have added to it: who owns what lies in it is to be asked again. */
void memory_access_closed(struct memory_host *memory, const char *folder) {
    for (size_t i = 0; memory->proved && i < memory->file_count; i++) {
        const char *path = memory->files[i].path;

        if (memory_lies_in(path, folder) && !strchr(path + strlen(folder) + 1, '\\') &&
            !is_made(memory, path))
            memory_access_gone(memory, path);
    }
}

void memory_access_made(struct memory_host *memory, const char *path) {
    _cleanup_(freep) char *folder = path_parent(path);

    if (!memory->proved)
        return;
    if (!memory->others_act || (folder && !memory_users_add(memory, folder)))
        believe(memory, path, json_integer(1));
    else
        memory_access_gone(memory, path);
}

void memory_access_looked(struct memory_host *memory, const char *path) {
    const struct memory_file *file = memory_find(memory, path);

    if (!(file && (memory_is_users(file) || is_made(memory, path))))
        believe(memory, path, json_boolean(file));
}

static void believe_with_parents(struct memory_host *memory, const char *folder) {
    _cleanup_(freep) char *parent = path_parent(folder);

    believe(memory, folder, json_true());
    if (parent && !memory_is_windows_own(parent))
        believe_with_parents(memory, parent);
}

void host_memory_check_access(struct host *host) {
    struct memory_host *memory = memory_of(host);

    json_decref(memory->proved);
    memory->proved = json_object();
    host->own_folder_closed = false; /* by an earlier process */
    for (size_t i = 0; i < memory->file_count; i++) {
        const struct memory_file *file = &memory->files[i];
        _cleanup_(freep) char *folder = path_parent(file->path);

        if (memory_is_users(file))
            continue;
        if (!memory_users_add(memory, folder))
            believe(memory, file->path, json_true());
        if (file->type == HOST_FOLDER && file->own.protected_)
            believe_with_parents(memory, file->path); /* an earlier command did that */
    }
}

const struct text_list *host_memory_openings(const struct host *host) {
    return &((const struct memory_host *)host)->openings;
}

void memory_access_free(struct memory_host *memory) {
    json_decref(memory->proved);
    memory->proved = NULL;
    text_list_free(&memory->openings);
}

/* ---- what is checked ---- */

__attribute__((format(gnu_printf, 2, 3))) static void note(struct host *host, const char *format,
                                                           ...) {
    struct memory_host *memory = memory_of(host);
    const char *line = text_str(&memory->log), *next;
    _cleanup_(text_free) struct text opening = {0};
    va_list args;

    if (memory->others_act)
        return;
    while ((next = strchr(line, '\n')) && next[1])
        line = next + 1;
    text_addf(&opening, "call %zu (%.*s): ", memory->calls, (int)strcspn(line, "\n"), line);
    va_start(args, format);
    text_addv(&opening, format, args);
    va_end(args);
    if (!text_list_has(&memory->openings, text_str(&opening)))
        text_list_add(&memory->openings, text_str(&opening));
}

/* 1: believed, 0: an ordinary user may have made it, -1: he may not have, when it was looked at. */
static int belief(const struct memory_host *memory, const char *path) {
    const json_t *known;
    _cleanup_(freep) char *key = key_of(path);

    if (memory_is_windows_own(path))
        return 1;
    known = json_object_get(memory->proved, key);
    return !known ? 0 : json_is_false(known) ? -1 : 1;
}

/* Its list lets an ordinary user do that, whosever it is; of a folder: remove it, or its list. */
static bool may_change(const struct memory_host *memory, const struct memory_file *file) {
    return memory_users_rights(memory, file->path) &
           (file->type == HOST_FOLDER ? ACCESS_TAKE : ACCESS_CHANGE);
}

/* Whether an ordinary user could be behind what is found at `path`: it, a folder above it, or,
 * where it is absent, what he could have put there. */
static bool check_path(struct host *host, const char *path, bool itself) {
    const struct memory_host *memory = memory_of(host);
    const char *end = path + 2;

    while (*end && end[1]) {
        _cleanup_(freep) char *part = NULL, *folder = NULL;
        const struct memory_file *file;

        end += 1 + strcspn(end + 1, "\\");
        if (!*end && !itself)
            return true;
        part = xstrndup(path, (size_t)(end - path));
        folder = path_parent(part);
        file = memory_find(memory, part);
        if (file && (memory_is_users(file) || (file->type == HOST_LINK && *end)))
            return note(host, "%s is a user's or a link", part), false;
        if (!file && (!memory_users_add(memory, folder) || belief(memory, path)))
            return true; /* could not be there, or would have been seen */
        if (file && may_change(memory, file))
            return note(host, "change %s", part), false;
        if (belief(memory, part) == 1)
            continue;
        return note(host, "%s %s, and nobody asked for its owner", file ? "make" : "add", part),
               false;
    }
    return true;
}

/* Not where users add; neither are folders above it that winjoin made. */
static void check_closed(struct host *host, const char *folder) {
    const struct memory_host *memory = memory_of(host);
    const char *end = folder + 2;

    while (*end && end[1]) {
        _cleanup_(freep) char *part = NULL;

        end += 1 + strcspn(end + 1, "\\");
        part = xstrndup(folder, (size_t)(end - folder));
        if ((!*end || is_made(memory, part)) && memory_users_add(memory, part)) {
            note(host, "add to %s", part);
            return;
        }
    }
    (void)check_path(host, folder, true);
}

/* What lies directly in it. */
static void check_inside(struct host *host, const char *folder) {
    const struct memory_host *memory = memory_of(host);

    for (size_t i = 0; i < memory->file_count; i++)
        if (memory_lies_in(memory->files[i].path, folder) &&
            !strchr(memory->files[i].path + strlen(folder) + 1, '\\'))
            (void)check_path(host, memory->files[i].path, true);
}

static bool is_nodes(const char *path) {
    for (size_t i = 0; i < node_folder_count; i++)
        if (memory_lies_in(path, node_folders[i].path))
            return true;
    return false;
}

void memory_access_read(struct host *host, const char *path) {
    if (memory_of(host)->proved && (is_nodes(path) || text_equal_nocase(path, HOST_OWN_FOLDER)))
        (void)check_path(host, path, true);
}

void memory_access_write(struct host *host, const char *path) {
    if (!memory_of(host)->proved)
        return;
    if (memory_lies_in(path, HOST_OWN_FOLDER) && memory_find(memory_of(host), path)) {
        check_closed(host, HOST_OWN_FOLDER);
        check_inside(host, HOST_OWN_FOLDER);
    }
    (void)check_path(host, path, false);
}

/* The program, and all that lies beside it: Windows loads libraries from there. */
void memory_access_program(struct host *host, const char *program) {
    const struct memory_host *memory = memory_of(host);
    _cleanup_(freep) char *folder = NULL, *path = NULL;

    if (!memory->proved)
        return;
    if (path_normalize(program, &path, NULL) < 0) {
        note(host, "%s is looked for in several folders", program);
        return;
    }
    folder = path_parent(path);
    check_closed(host, folder);
    check_inside(host, folder);
}

void memory_access_command(struct host *host, const char *command) {
    _cleanup_(freep) char *program = NULL;

    program = *command == '"' ? xstrndup(command + 1, strcspn(command + 1, "\""))
                              : xstrndup(command, strcspn(command, " "));
    if (memory_of(host)->proved && !text_equal(program, "svchost.exe"))
        memory_access_program(host, program);
}

/* ---- what services read, run and write ---- */

#define SETTINGS HOST_OWN_FOLDER "\\services"

/* Written here once more, so that a row that the node's own tables lose is missed. */
static const struct {
    const char *service, *folders[12];
} services[] = {
    {"kubelet",
     {"C:\\k", HOST_OWN_FOLDER, SETTINGS, "C:\\etc\\kubernetes", "C:\\etc\\kubernetes\\manifests",
      "C:\\var\\lib\\kubelet", "C:\\var\\lib\\kubelet\\pki", "C:\\var\\lib\\kubelet\\plugins",
      "C:\\var\\lib\\kubelet\\plugins_registry", "C:\\var\\lib\\kubelet\\device-plugins",
      "C:\\var\\lib\\kubelet\\pods", "C:\\var\\log\\kubelet"}},
    {"containerd",
     {"C:\\Program Files\\containerd", "C:\\ProgramData\\containerd", "C:\\etc\\cni\\net.d",
      "C:\\opt\\cni\\bin", "C:\\var\\log\\containerd"}},
    {"flanneld", {"C:\\k", HOST_OWN_FOLDER, SETTINGS, "C:\\run\\flannel", "C:\\etc\\kube-flannel"}},
    {"kube-proxy", {"C:\\k", HOST_OWN_FOLDER, SETTINGS}},
    {"winjoin-network", {HOST_OWN_FOLDER}},
    {"hybrid-overlay-node",
     {"C:\\k", "C:\\var\\lib\\ovn-kubernetes", "C:\\var\\lib\\ovn-kubernetes\\pki"}},
};

static void check_settings(struct host *host, const char *service) {
    _cleanup_(freep) char *path = xasprintf(SETTINGS "\\%s.json", service);
    const struct memory_file *file = memory_find(memory_of(host), path);
    _cleanup_json_ json_t *settings = NULL;
    const char *program;

    if (!file || json_read(file->data, file->len, path, &settings, NULL) < 0)
        return;
    (void)check_path(host, path, true);
    program = json_text_at(settings, "command.0");
    if (program)
        memory_access_program(host, program);
    else
        note(host, "%s names no program", path);
}

void memory_access_start(struct host *host, const char *service) {
    const struct memory_host *memory = memory_of(host);
    _cleanup_(host_service_free) struct host_service found = {0};

    if (!memory->proved)
        return;
    if (model_service_query(memory->state, service, &found, NULL) == 0 && found.command)
        memory_access_command(host, found.command);
    check_settings(host, service);
    for (size_t i = 0; i < ARRAY_SIZE(services); i++)
        for (size_t k = 0; k < ARRAY_SIZE(services[i].folders) && services[i].folders[k]; k++) {
            const char *folder = services[i].folders[k];

            if (!text_equal(services[i].service, service))
                break;
            check_closed(host, folder);
            if (!text_ends_with(folder, "\\pods"))
                check_inside(host, folder);
            if (!memory_find(memory, folder))
                note(host, "%s is not there", folder);
        }
}
