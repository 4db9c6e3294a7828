/* Converts access lists from text (host/access_list.h) to security descriptors, and reads and sets
 * those of files and folders. */
#include "host/win32/win32.h"

#include <aclapi.h>
#include <sddl.h>

#include "host/access_list.h"

int win32_access_make(enum host_access access, bool folder, SECURITY_ATTRIBUTES **ret,
                      struct error *err) {
    _cleanup_(freep) char *sddl = access_list_of(access, folder);
    SECURITY_ATTRIBUTES *attributes;
    PSECURITY_DESCRIPTOR descriptor;

    if (!sddl) {
        *ret = NULL;
        return 0;
    }
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

enum { PARTS = OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION };

/* Reads owner and DACL as SDDL. *ret is NULL when Windows cannot express them as text. */
static int read_list(HANDLE file, char **ret, struct error *err) {
    PSECURITY_DESCRIPTOR descriptor = NULL;
    wchar_t *sddl = NULL;
    DWORD code = GetSecurityInfo(file, SE_FILE_OBJECT, PARTS, NULL, NULL, NULL, NULL, &descriptor);

    if (code)
        return win32_fail(err, code, "read an access control list");
    if (ConvertSecurityDescriptorToStringSecurityDescriptorW(descriptor, SDDL_REVISION_1, PARTS,
                                                             &sddl, NULL))
        *ret = win32_narrow(sddl);
    LocalFree(sddl);
    LocalFree(descriptor);
    return 0;
}

/* Sets owner and access list of an open file or folder. When this process may not set the owner,
 * the owner stays. */
static int set_list(HANDLE file, const char *sddl, struct error *err) {
    _cleanup_wide_ wchar_t *wide = win32_wide(sddl);
    SECURITY_DESCRIPTOR_CONTROL control = 0;
    BOOL present = FALSE, defaulted = FALSE;
    PSECURITY_DESCRIPTOR descriptor;
    SECURITY_INFORMATION what;
    DWORD revision, code;
    PSID owner = NULL;
    PACL list = NULL;

    if (!ConvertStringSecurityDescriptorToSecurityDescriptorW(wide, SDDL_REVISION_1, &descriptor,
                                                              NULL))
        return win32_fail(err, GetLastError(), "read an access control list");
    if (!GetSecurityDescriptorDacl(descriptor, &present, &list, &defaulted) ||
        !GetSecurityDescriptorOwner(descriptor, &owner, &defaulted) ||
        !GetSecurityDescriptorControl(descriptor, &control, &revision)) {
        (void)win32_fail(err, GetLastError(), "read an access control list");
        LocalFree(descriptor);
        return -1;
    }
    what = control & SE_DACL_PROTECTED ? PROTECTED_DACL_SECURITY_INFORMATION
                                       : UNPROTECTED_DACL_SECURITY_INFORMATION;
    if (owner) /* Setting the owner may fail, because this process may lack the right. Then the
                  owner stays. */
        (void)SetSecurityInfo(file, SE_FILE_OBJECT, OWNER_SECURITY_INFORMATION, owner, NULL, NULL,
                              NULL);
    code = SetSecurityInfo(file, SE_FILE_OBJECT, what | DACL_SECURITY_INFORMATION, NULL, NULL, list,
                           NULL);
    LocalFree(descriptor);
    return code ? win32_fail(err, code, "set an access control list") : 0;
}

int win32_access_clip(HANDLE folder, enum host_access access, struct error *err) {
    _cleanup_(freep) char *found = NULL, *closed = NULL;

    if (read_list(folder, &found, err) < 0)
        return -1;
    closed = access_list_closed(found ? found : "", access);
    /* Windows applies the list to everything in the folder, which can take a long time. */
    return closed ? set_list(folder, closed, err) : 0;
}

/* Opens a file or folder itself, never the target of a junction. Access is read and set through
 * this handle, so that no junction's target gets access rights that were meant for a folder. */
static int open_for(const char *path, DWORD rights, HANDLE *ret, struct error *err) {
    _cleanup_wide_ wchar_t *wide = win32_wide_path(path);
    DWORD code = 0;

    *ret = CreateFileW(wide, rights, WIN32_SHARE_ALL, NULL, OPEN_EXISTING,
                       FILE_FLAG_OPEN_REPARSE_POINT | FILE_FLAG_BACKUP_SEMANTICS, NULL);
    if (*ret == INVALID_HANDLE_VALUE)
        code = GetLastError();
    return code ? win32_fail(err, code, "open '%s'", path) : 0;
}

int win32_access_get(struct host *, const char *path, char **ret, struct error *err) {
    HANDLE file;
    int result;

    if (open_for(path, READ_CONTROL, &file, err) < 0)
        return error_prefix(err, "read the access of '%s'", path);
    result = read_list(file, ret, err);
    CloseHandle(file);
    if (result == 0 && !*ret)
        result = error_set(err, ERROR_HOST, "it has no text");
    return result < 0 ? error_prefix(err, "read the access of '%s'", path) : 0;
}

int win32_access_set(struct host *, const char *path, const char *access, struct error *err) {
    _cleanup_(win32_held_path_free) struct win32_held_path held = {0};
    HANDLE file;
    int result = win32_path_hold(path, &held, err);

    if (result == 0 && open_for(path, READ_CONTROL | WRITE_DAC | WRITE_OWNER, &file, NULL) < 0)
        result = open_for(path, READ_CONTROL | WRITE_DAC, &file, err);
    if (result == 0) {
        result = set_list(file, access, err);
        CloseHandle(file);
    }
    return result < 0 ? error_prefix(err, "set the access of '%s'", path) : 0;
}
