/* Owners and access lists of the played Windows' files. A file keeps what is its own; what its
 * folder gives it is worked out when somebody asks, so a folder that is closed closes what is in
 * it. */
#include <string.h>

#include "base/memory.h"
#include "host/path.h"
#include "tests/memory/access_rules.h"
#include "tests/memory/memory.h"

#define TRUSTED_INSTALLER "O:" SID_TRUSTED_INSTALLER
#define ADMINISTRATORS "(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)"
#define PROGRAMS TRUSTED_INSTALLER "D:PAI" ADMINISTRATORS "(A;OICI;0x1200a9;;;BU)(A;OICIIO;GA;;;CO)"

/* As Get-Acl shows them on a fresh Windows Server; of C:\Windows and C:\Program Files without the
 * entries of TrustedInstaller and of app packages. */
static const struct {
    const char *path, *list;
} fresh[] = {
    {"C:",
     TRUSTED_INSTALLER "D:PAI" ADMINISTRATORS
                       "(A;OICI;0x1200a9;;;BU)(A;CI;LC;;;BU)(A;CIIO;DC;;;BU)(A;OICIIO;GA;;;CO)"},
    {"C:\\ProgramData",
     "O:SYD:PAI" ADMINISTRATORS "(A;OICIIO;GA;;;CO)(A;OICI;0x1200a9;;;BU)(A;CI;DCLCRPCR;;;BU)"},
    {"C:\\Program Files", PROGRAMS},
    {"C:\\Program Files (x86)", PROGRAMS},
    {"C:\\Users", "O:SYD:PAI" ADMINISTRATORS "(A;OICI;0x1200a9;;;BU)(A;OICI;0x1200a9;;;WD)"},
    {"C:\\Windows", PROGRAMS},
    {"C:\\Windows\\Temp", "O:SYD:PAI" ADMINISTRATORS "(A;CI;0x100026;;;BU)(A;OICIIO;GA;;;CO)"},
};

#define EVE "S-1-5-21-1-2-3-1001"
static const char *const ordinary[] = {EVE, SID_USERS, "S-1-5-11", "S-1-5-4", NULL};

static const char *fresh_list(const char *path) {
    if (strlen(path) <= 3) /* each drive */
        return fresh[0].list;
    for (size_t i = 0; i < ARRAY_SIZE(fresh); i++)
        if (text_equal_nocase(path, fresh[i].path))
            return fresh[i].list;
    return NULL;
}

bool memory_is_windows_own(const char *path) {
    return fresh_list(path);
}

/* Without what it inherited. `ret` is empty before, or that of a file whose owner stays. */
static int take_own(const char *sddl, struct access_list *ret, struct error *err) {
    _cleanup_(access_list_free) struct access_list list = {0};
    size_t kept = 0;

    if (access_list_read(sddl, &list, err) < 0)
        return -1;
    for (size_t i = 0; i < list.count; i++) {
        const struct access_entry entry = list.entries[i];

        list.entries[i] = (struct access_entry){0};
        if (entry.flags & ACCESS_INHERITED)
            free_all(entry.who, entry.odd);
        else
            list.entries[kept++] = entry;
    }
    list.count = kept;
    if (!list.owner) {
        list.owner = ret->owner;
        ret->owner = NULL;
    }
    access_list_free(ret);
    *ret = list;
    list = (struct access_list){0};
    return 0;
}

void memory_list_give(struct memory_file *file, enum host_access access) {
    _cleanup_(freep) char *sddl = access_list_of(access, file->type == HOST_FOLDER);

    access_list_free(&file->own);
    (void)take_own(sddl ? sddl : "D:", &file->own, NULL);
}

/* A list that everybody may do everything by comes from no folder. */
static void work_out(const struct memory_host *memory, const char *path, struct access_list *ret) {
    _cleanup_(access_list_free) struct access_list above = {0};
    const struct memory_file *file = memory_find(memory, path);
    _cleanup_(freep) char *folder = path_parent(path), *own = NULL;
    const char *sddl = fresh_list(path);

    if (file && (file->own.count || file->own.protected_ || file->own.owner || !sddl))
        sddl = own = access_list_write(&file->own);
    (void)access_list_read(sddl ? sddl : "D:", ret, NULL);
    if (!ret->owner)
        ret->owner = xstrdup(SID_ADMINISTRATORS);
    if (!folder || strlen(path) <= 3 || ret->is_missing || ret->protected_)
        return; /* it inherits nothing */
    work_out(memory, folder, &above);
    access_list_inherit(ret, !file || file->type == HOST_FOLDER, &above);
}

uint32_t memory_users_rights(const struct memory_host *memory, const char *path) {
    _cleanup_(access_list_free) struct access_list list = {0};

    work_out(memory, path, &list);
    return access_list_rights(&list, ordinary);
}

bool memory_is_users(const struct memory_file *file) {
    return text_equal(file->own.owner, EVE);
}

void memory_close(struct memory_host *memory, struct memory_file *file, enum host_access access) {
    _cleanup_(access_list_free) struct access_list list = {0};
    _cleanup_(freep) char *found = NULL, *closed = NULL;

    work_out(memory, file->path, &list);
    found = access_list_write(&list);
    closed = access_list_closed(found, access);
    if (closed)
        (void)take_own(closed, &file->own, NULL);
}

int memory_access_get(struct host *host, const char *path, char **ret, struct error *err) {
    _cleanup_(access_list_free) struct access_list list = {0};

    if (memory_call(host, err, "access_get %s", path) < 0)
        return -1;
    if (!memory_find(memory_of(host), path))
        return error_set_os(err, ERROR_ABSENT, 2, "read the access of '%s': it is absent", path);
    work_out(memory_of(host), path, &list);
    *ret = access_list_write(&list);
    return 0;
}

int memory_access_set(struct host *host, const char *path, const char *access, struct error *err) {
    struct memory_file *file;

    if (memory_call(host, err, "access_set %s %s", path, access) < 0)
        return -1;
    file = memory_find(memory_of(host), path);
    if (!file)
        return error_set_os(err, ERROR_ABSENT, 2, "set the access of '%s': it is absent", path);
    return take_own(access, &file->own, err);
}

void host_memory_give_to_user(struct host *host, const char *path) {
    struct memory_file *file = memory_find(memory_of(host), path);

    free(file->own.owner);
    file->own.owner = xstrdup(EVE);
}

/* ---- what it comes down to ---- */

/* What users may do in it, and with what is in it. */
static bool gives(const struct memory_host *memory, const struct memory_file *file,
                  uint32_t rights) {
    _cleanup_(freep) char *below = xasprintf("%s\\*", file->path);
    const uint32_t here = memory_users_rights(memory, file->path);

    return here == rights &&
           (file->type != HOST_FOLDER || memory_users_rights(memory, below) == rights);
}

const char *const memory_access_names[] = {
    [HOST_PUBLIC] = "public",
    [HOST_SECRET] = "secret",
    [HOST_PROBE_MAILBOX] = "probe-mailbox",
    [HOST_PROBE_PROGRAM] = "probe-program",
    [HOST_READ_ONLY] = "read-only",
    [HOST_POD_VOLUMES] = "pod-volumes",
};

char *memory_access_name(const struct memory_host *memory, const struct memory_file *file) {
    _cleanup_(freep) char *own = access_list_write(&file->own);

    if (!file->own.protected_ && !file->own.count)
        return xstrdup(memory_access_names[HOST_PUBLIC]);
    for (size_t i = HOST_SECRET; i < ARRAY_SIZE(memory_access_names); i++) {
        struct memory_file given = {.type = file->type};
        _cleanup_(freep) char *wanted = NULL;

        memory_list_give(&given, (enum host_access)i);
        wanted = access_list_write(&given.own);
        access_list_free(&given.own);
        if (text_ends_with(own, strchr(wanted, 'D')))
            return xstrdup(memory_access_names[i]);
    }
    if (file->own.protected_ && gives(memory, file, 0))
        return xstrdup(memory_access_names[HOST_SECRET]);
    if (file->own.protected_ && gives(memory, file, ACCESS_READ_AND_EXECUTE))
        return xstrdup(memory_access_names[HOST_READ_ONLY]);
    return take_ptr(own);
}

char *host_memory_access(struct host *host, const char *path) {
    return memory_access_name(memory_of(host), memory_find(memory_of(host), path));
}
