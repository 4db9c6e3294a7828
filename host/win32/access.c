/* Who may read what: SDDL texts become security attributes for creation. */
#include "host/win32/win32.h"

#include <aclapi.h>
#include <sddl.h>

/* SY LocalSystem, BA Administrators; S-1-5-93-2-1 and -2 are ContainerAdministrator and
 * ContainerUser, BU Users. 0x1301bf is modify, 0x1200a9 read and execute; the first %s are
 * inheritance flags. */
#define OWNERS "D:P(A;%s;FA;;;SY)(A;%s;FA;;;BA)"
#define CONTAINERS "(A;%s;%s;;;S-1-5-93-2-1)(A;%s;%s;;;S-1-5-93-2-2)"
static const char *const container_rights[] = {
    [HOST_SECRET] = NULL,
    [HOST_PROBE_MAILBOX] = "0x1301bf",
    [HOST_PROBE_PROGRAM] = "0x1200a9",
    [HOST_READ_ONLY] = NULL,
};

static char *make_sddl(enum host_access access, bool folder) {
    const char *flags = folder ? "OICI" : "";
    const char *rights = container_rights[access];
    struct text sddl = {0};

    if (access == HOST_READ_ONLY || (access == HOST_SECRET && folder))
        text_add(&sddl, "O:BA"); /* whoever made the folder first could change its list */
    text_addf(&sddl, OWNERS, flags, flags);
    if (access == HOST_READ_ONLY)
        text_addf(&sddl, "(A;%s;0x1200a9;;;BU)", flags);
    if (rights)
        text_addf(&sddl, CONTAINERS, flags, rights, flags, rights);
    return text_take(&sddl);
}

int win32_access_make(enum host_access access, bool folder, SECURITY_ATTRIBUTES **ret,
                      struct error *err) {
    SECURITY_ATTRIBUTES *attributes;
    _cleanup_(freep) char *sddl = NULL;
    PSECURITY_DESCRIPTOR descriptor;

    if (access == HOST_PUBLIC) {
        *ret = NULL;
        return 0;
    }
    sddl = make_sddl(access, folder);
    if (!ConvertStringSecurityDescriptorToSecurityDescriptorA(sddl, SDDL_REVISION_1, &descriptor,
                                                              NULL))
        return win32_fail(err, GetLastError(), "create an access control list");
    attributes = xcalloc(1, sizeof *attributes);
    attributes->nLength = sizeof *attributes;
    attributes->lpSecurityDescriptor = descriptor;
    *ret = attributes;
    return 0;
}

void win32_access_free(SECURITY_ATTRIBUTES *attributes) {
    if (attributes)
        LocalFree(attributes->lpSecurityDescriptor);
    free(attributes);
}

int win32_access_apply(const wchar_t *path, void *descriptor, struct error *err) {
    SECURITY_INFORMATION what = DACL_SECURITY_INFORMATION;
    SECURITY_DESCRIPTOR_CONTROL control = 0;
    BOOL present = FALSE, defaulted = FALSE;
    DWORD revision, code;
    PSID owner = NULL;
    PACL list = NULL;

    if (!GetSecurityDescriptorDacl(descriptor, &present, &list, &defaulted) ||
        !GetSecurityDescriptorOwner(descriptor, &owner, &defaulted) ||
        !GetSecurityDescriptorControl(descriptor, &control, &revision))
        return win32_fail(err, GetLastError(), "read an access control list");
    what |= control & SE_DACL_PROTECTED ? PROTECTED_DACL_SECURITY_INFORMATION
                                        : UNPROTECTED_DACL_SECURITY_INFORMATION;
    code = owner ? SetNamedSecurityInfoW((wchar_t *)path, SE_FILE_OBJECT,
                                         what | OWNER_SECURITY_INFORMATION, owner, NULL, list, NULL)
                 : ERROR_INVALID_OWNER;
    if (code == ERROR_INVALID_OWNER)
        code = SetNamedSecurityInfoW((wchar_t *)path, SE_FILE_OBJECT, what, NULL, NULL, list, NULL);
    return code ? win32_fail(err, code, "set an access control list") : 0;
}

int win32_access_get(struct host *, const char *path, char **ret, struct error *err) {
    enum { PARTS = OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION };
    _cleanup_wide_ wchar_t *wide = win32_wide_path(path);
    PSECURITY_DESCRIPTOR descriptor = NULL;
    wchar_t *sddl = NULL;
    DWORD code =
        GetNamedSecurityInfoW(wide, SE_FILE_OBJECT, PARTS, NULL, NULL, NULL, NULL, &descriptor);

    if (code)
        return win32_fail(err, code, "read the access of '%s'", path);
    if (!ConvertSecurityDescriptorToStringSecurityDescriptorW(descriptor, SDDL_REVISION_1, PARTS,
                                                              &sddl, NULL))
        code = GetLastError();
    LocalFree(descriptor);
    if (!sddl)
        return win32_fail(err, code, "read the access of '%s'", path);
    *ret = win32_narrow(sddl);
    LocalFree(sddl);
    return 0;
}

int win32_access_set(struct host *, const char *path, const char *access, struct error *err) {
    _cleanup_wide_ wchar_t *wide = win32_wide_path(path), *sddl = win32_wide(access);
    PSECURITY_DESCRIPTOR descriptor;
    int result;

    if (!ConvertStringSecurityDescriptorToSecurityDescriptorW(sddl, SDDL_REVISION_1, &descriptor,
                                                              NULL))
        return win32_fail(err, GetLastError(), "set the access of '%s'", path);
    result = win32_access_apply(wide, descriptor, err);
    LocalFree(descriptor);
    return result < 0 ? error_prefix(err, "set the access of '%s'", path) : 0;
}

/* The user of this process. */
static bool is_own(PSID owner) {
    union {
        TOKEN_USER user;
        char room[sizeof(TOKEN_USER) + SECURITY_MAX_SID_SIZE];
    } own;
    DWORD len = 0;

    return GetTokenInformation(GetCurrentProcessToken(), TokenUser, &own, sizeof own, &len) &&
           EqualSid(owner, own.user.User.Sid);
}

int win32_is_admins(struct host *, const char *path, bool *ret, struct error *err) {
    _cleanup_wide_ wchar_t *wide = win32_wide_path(path);
    HANDLE file = CreateFileW(
        wide, READ_CONTROL, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
        OPEN_EXISTING, FILE_FLAG_OPEN_REPARSE_POINT | FILE_FLAG_BACKUP_SEMANTICS, NULL);
    PSECURITY_DESCRIPTOR descriptor = NULL;
    PSID owner = NULL;
    DWORD code;

    if (file == INVALID_HANDLE_VALUE)
        return win32_fail(err, GetLastError(), "read the owner of '%s'", path);
    code = GetSecurityInfo(file, SE_FILE_OBJECT, OWNER_SECURITY_INFORMATION, &owner, NULL, NULL,
                           NULL, &descriptor);
    CloseHandle(file);
    if (code)
        return win32_fail(err, code, "read the owner of '%s'", path);
    *ret = IsWellKnownSid(owner, WinLocalSystemSid) ||
           IsWellKnownSid(owner, WinBuiltinAdministratorsSid) || is_own(owner);
    LocalFree(descriptor);
    return 0;
}
