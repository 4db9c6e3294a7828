/* What an ordinary user of the server tries: to put something into a node's folders, to exchange
 * them, to read what is secret, and to be containerd. All has to be refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <windows.h>

#include "base/memory.h"
#include "host/path.h"
#include "node/folders.h"
#include "tests/acceptance/acceptance.h"

#define FOLDER "C:\\winjoin-acceptance"
#define PIPE "\\\\.\\pipe\\containerd-containerd"

enum { INSIDE_MAX = 256, BUSY_TRIES = 20, BUSY_MS = 250 };

/* A folder that is attacked, or a file. */
struct target {
    char *path;
    bool folder, secret;
    bool above; /* of one: what is in it belongs to others, too */
};
struct attacks {
    struct target targets[1024];
    size_t count;
    unsigned tried;
    struct text done; /* what was not refused, "C:\\k: add a file, ..." */
};

static void was(struct attacks *a, const char *path, const char *what, DWORD code) {
    a->tried++;
    if (code == ERROR_ACCESS_DENIED)
        return;
    text_addf(&a->done, "%s%s: %s", a->done.len ? "; " : "", path, what);
    if (code)
        text_addf(&a->done, " (error %lu)", code);
}

/* What opening it for these rights says: no more is needed, and nothing is changed. */
static DWORD ask(const char *path, DWORD rights) {
    enum { ALL = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE };
    HANDLE file = CreateFileA(path, rights, ALL, NULL, OPEN_EXISTING,
                              FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT, NULL);
    DWORD code = file == INVALID_HANDLE_VALUE ? GetLastError() : 0;

    if (!code)
        CloseHandle(file);
    return code;
}

static void add_to(struct attacks *a, const char *folder) {
    _cleanup_(freep) char *file = xasprintf("%s\\winjoin-acceptance.dll", folder);
    _cleanup_(freep) char *below = xasprintf("%s\\winjoin-acceptance", folder);
    HANDLE made = CreateFileA(file, GENERIC_WRITE, 0, NULL, CREATE_NEW, 0, NULL);

    was(a, folder, "add a file", made == INVALID_HANDLE_VALUE ? GetLastError() : 0);
    if (made != INVALID_HANDLE_VALUE)
        CloseHandle(made);
    was(a, folder, "add a folder", CreateDirectoryA(below, NULL) ? 0 : GetLastError());
}

static void attack(struct attacks *a, const struct target *t) {
    static const struct {
        const char *what;
        DWORD rights;
        bool above;
    } tries[] = {
        {"rename or remove it", DELETE, true},
        {"change its list", WRITE_DAC, true},
        {"take it", WRITE_OWNER, true},
        {"make a junction of it", FILE_WRITE_ATTRIBUTES, false},
        {"remove what is in it", FILE_DELETE_CHILD, false},
    };

    for (size_t i = 0; i < ARRAY_SIZE(tries); i++)
        if (!t->above || tries[i].above)
            was(a, t->path, tries[i].what, ask(t->path, tries[i].rights));
    if (t->folder && !t->above)
        add_to(a, t->path);
    if (!t->folder)
        was(a, t->path, "write it", ask(t->path, FILE_WRITE_DATA));
    if (t->secret)
        was(a, t->path, t->folder ? "list it" : "read it", ask(t->path, FILE_READ_DATA));
}

static void attack_all(void *about) {
    struct attacks *a = about;

    for (size_t i = 0; i < a->count; i++)
        attack(a, &a->targets[i]);
}

/* What an attack that was not refused left there. */
static void take_back(struct kit *kit, const struct attacks *a, struct finding *f) {
    for (size_t i = 0; i < a->count; i++) {
        _cleanup_(freep) char *file = xasprintf("%s\\winjoin-acceptance.dll", a->targets[i].path);
        _cleanup_(freep) char *below = xasprintf("%s\\winjoin-acceptance", a->targets[i].path);
        struct error err = {0};

        if (a->targets[i].folder && !a->targets[i].above &&
            (host_remove(kit->host, file, &err) < 0 || host_remove(kit->host, below, &err) < 0))
            finding_fail(f, "not taken back: %s", err.message);
    }
}

static void add_target(struct attacks *a, const struct target *target) {
    for (size_t i = 0; i < a->count; i++)
        if (text_equal_nocase(a->targets[i].path, target->path))
            return;
    if (a->count == ARRAY_SIZE(a->targets))
        return;
    a->targets[a->count] = *target;
    a->targets[a->count++].path = xstrdup(target->path);
}

static void attacks_free(struct attacks *a) {
    for (size_t i = 0; i < a->count; i++)
        free(a->targets[i].path);
    text_free(&a->done);
    free(a);
}

/* The folder's own files and folders, which only administrators change either. */
static void add_inside(struct kit *kit, struct attacks *a, const char *folder, bool secret) {
    struct text_list names = {0};
    struct error err = {0};

    (void)host_list(kit->host, folder, &names, &err);
    for (size_t i = 0; i < names.count && i < INSIDE_MAX; i++) {
        _cleanup_(freep) char *path = xasprintf("%s\\%s", folder, names.items[i]);
        enum host_file_type type = host_file_type(kit->host, path);
        bool own = type == HOST_FOLDER && node_folder_find(path);

        if (!own && (type == HOST_FILE || type == HOST_FOLDER))
            add_target(a, &(const struct target){
                              .path = path, .folder = type == HOST_FOLDER, .secret = secret});
    }
    text_list_free(&names);
}

static void add_above(struct attacks *a, const char *folder) {
    for (char *path = path_parent(folder); path;) {
        char *next = path_parent(path);

        if (next && !node_folder_find(path)) /* the drive itself stands behind the last */
            add_target(a, &(const struct target){.path = path, .folder = true, .above = true});
        free(path);
        path = next;
    }
}

static void say(const struct attacks *a, struct finding *f) {
    if (a->done.len)
        finding_fail(f, "not refused: %s", text_str(&a->done));
    else if (a->tried)
        finding_note(f, "%u attempts at %u files and folders refused", a->tried,
                     (unsigned)a->count);
}

/* Where everybody may do everything, every attempt succeeds: so a refusal says something. */
static void control(struct kit *kit, const struct row *row, struct finding *f) {
    struct attacks *a = xcalloc(1, sizeof *a);
    struct text_list done = {0};
    struct error err = {0};

    (void)row;
    add_target(
        a, &(const struct target){.path = (char *)(size_t)FOLDER, .folder = true, .secret = true});
    if (host_make_folder(kit->host, FOLDER, HOST_PUBLIC, &err) < 0 ||
        host_access_set(kit->host, FOLDER, "D:P(A;OICI;FA;;;WD)", &err) < 0)
        finding_fail(f, "%s", err.message);
    else
        account_acts(kit, f, attack_all, a);
    text_list_split(&done, text_str(&a->done), ';');
    if (f->outcome == ROW_PASS && (done.count != a->tried || strstr(text_str(&a->done), "(error ")))
        finding_fail(f, "%u of %u succeed: %s", (unsigned)done.count, a->tried, text_str(&a->done));
    else if (f->outcome == ROW_PASS)
        finding_note(f, "%u attempts succeed", a->tried);
    if (host_remove_tree(kit->host, FOLDER, &err) < 0)
        finding_fail(f, "not taken back: %s", err.message);
    text_list_free(&done);
    attacks_free(a);
}

/* Folders as a join makes them, with a file in each. */
static void made(struct kit *kit, const struct row *row, struct finding *f) {
    static const enum host_access kinds[] = {HOST_SECRET, HOST_READ_ONLY, HOST_POD_VOLUMES};
    struct attacks *a = xcalloc(1, sizeof *a);
    struct error err = {0};

    (void)row;
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        _cleanup_(freep) char *folder = xasprintf(FOLDER "\\%u", (unsigned)i);
        _cleanup_(freep) char *file = xasprintf("%s\\file", folder);
        bool secret = kinds[i] != HOST_READ_ONLY;

        if (host_make_folder(kit->host, folder, kinds[i], &err) < 0 ||
            (kinds[i] != HOST_POD_VOLUMES &&
             host_write(kit->host, file, "x", 1, HOST_PUBLIC, &err) < 0))
            finding_fail(f, "%s", err.message);
        add_target(a, &(const struct target){.path = folder, .folder = true, .secret = secret});
        if (kinds[i] != HOST_POD_VOLUMES)
            add_target(a, &(const struct target){.path = file, .secret = secret});
    }
    if (f->outcome == ROW_PASS)
        account_acts(kit, f, attack_all, a);
    say(a, f);
    if (host_remove_tree(kit->host, FOLDER, &err) < 0)
        finding_fail(f, "not taken back: %s", err.message);
    attacks_free(a);
}

static void node(struct kit *kit, const struct row *row, struct finding *f) {
    struct attacks *a = xcalloc(1, sizeof *a);

    (void)row;
    for (size_t i = 0; i < node_folder_count; i++) {
        const struct node_folder *folder = &node_folders[i];
        bool secret = folder->access == HOST_SECRET || folder->access == HOST_POD_VOLUMES;

        if (host_file_type(kit->host, folder->path) != HOST_FOLDER)
            continue;
        finding_note(f, "%s", folder->path);
        add_target(a, &(const struct target){
                          .path = (char *)(size_t)folder->path, .folder = true, .secret = secret});
        add_above(a, folder->path);
        if (!folder->others_write)
            add_inside(kit, a, folder->path, secret);
    }
    account_acts(kit, f, attack_all, a);
    take_back(kit, a, f);
    say(a, f);
    attacks_free(a);
}

/* To talk to containerd is to run anything as LocalSystem; to be it, to hear the registries'
 * passwords. */
static void attack_pipe(void *about) {
    struct attacks *a = about;
    HANDLE pipe = INVALID_HANDLE_VALUE;
    DWORD code = ERROR_PIPE_BUSY;

    for (unsigned i = 0; i < BUSY_TRIES && code == ERROR_PIPE_BUSY; i++) {
        pipe = CreateFileA(PIPE, GENERIC_READ | GENERIC_WRITE, 0, NULL, OPEN_EXISTING, 0, NULL);
        code = pipe == INVALID_HANDLE_VALUE ? GetLastError() : 0;
        if (code == ERROR_PIPE_BUSY)
            Sleep(BUSY_MS);
    }
    was(a, PIPE, "open it", code);
    if (pipe != INVALID_HANDLE_VALUE)
        CloseHandle(pipe);
    pipe = CreateNamedPipeA(PIPE, PIPE_ACCESS_DUPLEX, PIPE_TYPE_BYTE, PIPE_UNLIMITED_INSTANCES, 0,
                            0, 0, NULL);
    was(a, PIPE, "serve it", pipe == INVALID_HANDLE_VALUE ? GetLastError() : 0);
    if (pipe != INVALID_HANDLE_VALUE)
        CloseHandle(pipe);
}

static void node_pipe(struct kit *kit, const struct row *row, struct finding *f) {
    struct attacks *a = xcalloc(1, sizeof *a);

    (void)row;
    if (!host_pipe_exists(kit->host, PIPE))
        finding_skip(f, "%s is not there: containerd does not run", PIPE);
    else
        account_acts(kit, f, attack_pipe, a);
    say(a, f);
    attacks_free(a);
}

int stranger_attacks(const char *folder) {
    struct attacks *a = xcalloc(1, sizeof *a);
    bool refused;

    add_target(
        a, &(const struct target){.path = (char *)(size_t)folder, .folder = true, .secret = true});
    attack_all(a);
    refused = !a->done.len;
    (void)printf("%s\n", refused ? "all refused" : text_str(&a->done));
    attacks_free(a);
    return refused ? 0 : 1;
}

const struct row stranger_rows[] = {
    {"stranger", "what the kit tries as an ordinary user succeeds where everybody may do it",
     "each attempt in a folder of everybody's", NEEDS_WINDOWS, control, NULL},
    {"stranger-folders", "folders as a join makes them refuse an ordinary user everything",
     "each attempt refused", NEEDS_WINDOWS, made, NULL},
    {0},
};
const struct row node_stranger_rows[] = {
    {"node-stranger",
     "an ordinary user adds nothing to the node's folders, exchanges none and reads no secret",
     "each attempt refused", NEEDS_NODE | NEEDS_WINDOWS, node, NULL},
    {"node-stranger-pipe", "an ordinary user neither opens containerd's pipe nor serves it",
     "both refused", NEEDS_NODE | NEEDS_WINDOWS, node_pipe, NULL},
    {0},
};
