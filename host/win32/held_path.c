/* Checks the folders above a file and holds them open, so that nobody can replace one by a junction
 * until the operation on the file is done. */
#include "host/win32/win32.h"

#include <aclapi.h>
#include <sddl.h>

#include "host/access_list.h"
#include "host/path.h"

enum { LOOK = READ_CONTROL | FILE_READ_ATTRIBUTES };

/* Is the owner SYSTEM, Administrators, TrustedInstaller, or the user of this process? */
static bool is_trusted(PSID owner) {
    union {
        TOKEN_USER user;
        char room[sizeof(TOKEN_USER) + SECURITY_MAX_SID_SIZE];
    } own;
    _cleanup_(freep) char *text = NULL;
    wchar_t *sid = NULL;
    DWORD len = 0;

    if (ConvertSidToStringSidW(owner, &sid)) {
        text = win32_narrow(sid);
        LocalFree(sid);
    }
    return (text && access_is_trusted(text)) ||
           (GetTokenInformation(GetCurrentProcessToken(), TokenUser, &own, sizeof own, &len) &&
            EqualSid(owner, own.user.User.Sid));
}

/* Returns the owner's name, such as "SRV\eve", or the SID when no name is known; free() it. */
static char *owner_name(PSID owner) {
    wchar_t name[256], domain[256];
    DWORD name_len = ARRAY_SIZE(name), domain_len = ARRAY_SIZE(domain);
    _cleanup_(freep) char *first = NULL, *last = NULL;
    SID_NAME_USE use;
    wchar_t *sid = NULL;

    if (owner && LookupAccountSidW(NULL, owner, name, &name_len, domain, &domain_len, &use)) {
        first = win32_narrow(domain);
        last = win32_narrow(name);
        return xasprintf("%s%s%s", first, *first ? "\\" : "", last);
    }
    if (!owner || !ConvertSidToStringSidW(owner, &sid))
        return xstrdup("nobody");
    first = win32_narrow(sid);
    LocalFree(sid);
    return take_ptr(first);
}

bool win32_is_link(HANDLE file) {
    FILE_ATTRIBUTE_TAG_INFO info = {0};

    return GetFileInformationByHandleEx(file, FileAttributeTagInfo, &info, sizeof info) &&
           (info.FileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) &&
           IsReparseTagNameSurrogate(info.ReparseTag);
}

/* Checks one part of the path; `path` ends with that part. *ret_more is false when the check ends
 * here: the part is absent, a link, or an untrusted user's. */
static int look_at_one(const char *path, bool last, struct win32_held_path *held,
                       struct host_untrusted *found, bool *ret_more, struct error *err) {
    const DWORD flags = FILE_FLAG_OPEN_REPARSE_POINT | FILE_FLAG_BACKUP_SEMANTICS;
    _cleanup_wide_ wchar_t *wide = win32_wide_path(path);
    PSECURITY_DESCRIPTOR descriptor = NULL;
    PSID owner = NULL;
    DWORD code = 0;
    HANDLE file;
    bool link;

    /* FILE_LIST_DIRECTORY takes part in Windows' sharing rules, unlike attribute access alone:
     * while the folder is open in this manner, it cannot be renamed or removed. */
    file = CreateFileW(wide, LOOK | FILE_LIST_DIRECTORY, FILE_SHARE_READ | FILE_SHARE_WRITE, NULL,
                       OPEN_EXISTING, flags, NULL);
    if (file == INVALID_HANDLE_VALUE)
        file = CreateFileW(wide, LOOK, WIN32_SHARE_ALL, NULL, OPEN_EXISTING, flags, NULL);
    if (file == INVALID_HANDLE_VALUE)
        code = GetLastError();

    *ret_more = !code;
    if (code == ERROR_FILE_NOT_FOUND || code == ERROR_PATH_NOT_FOUND)
        return 0;
    if (code)
        return win32_fail(err, code, "look at '%s'", path);
    held->folders[held->count++] = file;
    code = GetSecurityInfo(file, SE_FILE_OBJECT, OWNER_SECURITY_INFORMATION, &owner, NULL, NULL,
                           NULL, &descriptor);
    if (code)
        return win32_fail(err, code, "read the owner of '%s'", path);
    if (!owner || !is_trusted(owner))
        found->owner = owner_name(owner);
    LocalFree(descriptor);
    link = win32_is_link(file);
    if (found->owner || (link && !last))
        found->path = xstrdup(path);
    *ret_more = !link && !found->path;
    return 0;
}

int win32_path_check(const char *path, struct win32_held_path *ret, struct host_untrusted *found,
                     struct error *err) {
    const char *end = path + 2;
    bool more = path[1] == ':';

    while (more && *end && end[1]) {
        _cleanup_(freep) char *part = NULL;

        if (ret->count == ARRAY_SIZE(ret->folders))
            return error_set(err, ERROR_HOST, "look at '%s': it is nested too deeply", path);
        end += 1 + strcspn(end + 1, "\\");
        part = xstrndup(path, (size_t)(end - path));
        if (look_at_one(part, !*end, ret, found, &more, err) < 0)
            return -1;
    }
    return 0;
}

int win32_path_hold(const char *path, struct win32_held_path *ret, struct error *err) {
    _cleanup_(host_untrusted_free) struct host_untrusted found = {0};
    _cleanup_(freep) char *parent = path_parent(path), *text = NULL;

    if (!parent)
        return 0;
    if (win32_path_check(parent, ret, &found, err) < 0)
        return -1;
    if (!found.path && !(ret->count && win32_is_link(ret->folders[ret->count - 1])))
        return 0;
    if (!found.path)
        found.path = xstrdup(parent);
    text = host_untrusted_text(&found);
    return error_set(err, ERROR_DENIED, "use '%s': %s", path, text);
}

void win32_held_path_free(struct win32_held_path *held) {
    while (held->count)
        CloseHandle(held->folders[--held->count]);
}

int win32_find_untrusted(struct host *, const char *path, struct host_untrusted *ret,
                         struct error *err) {
    _cleanup_(win32_held_path_free) struct win32_held_path held = {0};

    return win32_path_check(path, &held, ret, err);
}
