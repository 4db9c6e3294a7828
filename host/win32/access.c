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
    [HOST_SECRET] = NULL,    [HOST_PROBE_MAILBOX] = "0x1301bf", [HOST_PROBE_PROGRAM] = "0x1200a9",
    [HOST_READ_ONLY] = NULL, [HOST_POD_VOLUMES] = NULL,
};
/* A pod's volumes, in their folders' folders: as Windows' own list of C:\ has it, so that
 * containers with any user read and fill them. Nobody lists which pods there are. */
#define VOLUMES "(A;OICIIO;0x1200a9;;;BU)(A;CIIO;0x6;;;BU)(A;OICIIO;GA;;;CO)"

static char *make_sddl(enum host_access access, bool folder) {
    const char *flags = folder ? "OICI" : "";
    const char *rights = container_rights[access];
    struct text sddl = {0};

    if (access == HOST_READ_ONLY || access == HOST_POD_VOLUMES || (access == HOST_SECRET && folder))
        text_add(&sddl, "O:BA"); /* whoever made the folder first could change its list */
    text_addf(&sddl, OWNERS, flags, flags);
    if (access == HOST_READ_ONLY)
        text_addf(&sddl, "(A;%s;0x1200a9;;;BU)", flags);
    if (access == HOST_POD_VOLUMES)
        text_add(&sddl, VOLUMES);
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

int win32_access_apply(HANDLE file, void *descriptor, struct error *err) {
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
    if (owner) /* whose owner this process may not set keeps it */
        (void)SetSecurityInfo(file, SE_FILE_OBJECT, OWNER_SECURITY_INFORMATION, owner, NULL, NULL,
                              NULL);
    code = SetSecurityInfo(file, SE_FILE_OBJECT, what, NULL, NULL, list, NULL);
    return code ? win32_fail(err, code, "set an access control list") : 0;
}

/* What changes a file or folder, what is in it, or who may do so. */
enum {
    CHANGE = FILE_WRITE_DATA | FILE_APPEND_DATA | FILE_WRITE_EA | FILE_DELETE_CHILD |
             FILE_WRITE_ATTRIBUTES | DELETE | WRITE_DAC | WRITE_OWNER,
    READ_AND_EXECUTE = 0x1200a9, /* FILE_GENERIC_READ and FILE_GENERIC_EXECUTE */
};

/* What is left of the rights of somebody else. */
static DWORD clip(DWORD rights, enum host_access access) {
    if (access != HOST_READ_ONLY)
        return 0;
    if (rights & (GENERIC_ALL | GENERIC_READ | GENERIC_EXECUTE))
        rights |= READ_AND_EXECUTE;
    return rights & ~(DWORD)(CHANGE | GENERIC_ALL | GENERIC_READ | GENERIC_WRITE | GENERIC_EXECUTE);
}

/* Whose entry stays as it is: an administrator's; the owner's, who was looked at and could give
 * himself the rights again; and one of the owner's rights, without which he would have more. */
static bool stays(ACCESS_ALLOWED_ACE *entry, PSID owner) {
    return win32_is_trusted(&entry->SidStart) || (owner && EqualSid(&entry->SidStart, owner)) ||
           IsWellKnownSid(&entry->SidStart, WinCreatorOwnerRightsSid);
}

static bool refuses(BYTE type) {
    return type == ACCESS_DENIED_ACE_TYPE || type == ACCESS_DENIED_OBJECT_ACE_TYPE ||
           type == ACCESS_DENIED_CALLBACK_ACE_TYPE ||
           type == ACCESS_DENIED_CALLBACK_OBJECT_ACE_TYPE;
}

/* The list without what others may do. Entries that came from the folder above stay as its own;
 * what refuses something stays; what gives something under a condition goes. *ret_changed is
 * whether it is another list. */
static bool copy_clipped(PACL from, PSID owner, enum host_access access, PACL to,
                         bool *ret_changed) {
    for (DWORD i = 0; i < from->AceCount; i++) {
        ACCESS_ALLOWED_ACE *entry;
        DWORD rights;

        if (!GetAce(from, i, (void **)&entry))
            return false;
        *ret_changed |= (entry->Header.AceFlags & INHERITED_ACE) != 0;
        entry->Header.AceFlags &= (BYTE)~INHERITED_ACE;
        if (entry->Header.AceType == ACCESS_ALLOWED_ACE_TYPE) {
            rights = stays(entry, owner) ? entry->Mask : clip(entry->Mask, access);
            *ret_changed |= rights != entry->Mask;
            if (rights && !AddAccessAllowedAceEx(to, ACL_REVISION_DS, entry->Header.AceFlags,
                                                 rights, &entry->SidStart))
                return false;
        } else if (!refuses(entry->Header.AceType)) {
            *ret_changed = true;
        } else if (!AddAce(to, ACL_REVISION_DS, MAXDWORD, entry, entry->Header.AceSize)) {
            return false;
        }
    }
    return true;
}

/* Somebody else may list the folder itself, or add to it. */
static bool is_open(PACL list, PSID owner) {
    ACCESS_ALLOWED_ACE *entry;

    for (DWORD i = 0; i < list->AceCount; i++)
        if (GetAce(list, i, (void **)&entry) && !refuses(entry->Header.AceType) &&
            !(entry->Header.AceFlags & INHERIT_ONLY_ACE) &&
            (entry->Header.AceType != ACCESS_ALLOWED_ACE_TYPE || !stays(entry, owner)))
            return true;
    return false;
}

/* The list of its own. */
static int give(HANDLE file, enum host_access access, struct error *err) {
    SECURITY_ATTRIBUTES *attributes = NULL;
    int result;

    if (win32_access_make(access, true, &attributes, err) < 0)
        return -1;
    if (!attributes) /* it inherits */
        return 0;
    result = win32_access_apply(file, attributes->lpSecurityDescriptor, err);
    win32_access_free(attributes);
    return result;
}

int win32_access_clip(HANDLE folder, enum host_access access, struct error *err) {
    enum { PARTS = OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION };
    PSECURITY_DESCRIPTOR descriptor = NULL;
    SECURITY_DESCRIPTOR_CONTROL control = 0;
    _cleanup_(freep) void *room = NULL;
    bool changed = false;
    PSID owner = NULL;
    PACL list = NULL;
    DWORD size, revision,
        code =
            GetSecurityInfo(folder, SE_FILE_OBJECT, PARTS, &owner, NULL, &list, NULL, &descriptor);

    if (code)
        return win32_fail(err, code, "read an access control list");
    (void)GetSecurityDescriptorControl(descriptor, &control, &revision); /* 0: it inherits */
    if (!list || access == HOST_PROBE_MAILBOX || access == HOST_PROBE_PROGRAM ||
        (access == HOST_POD_VOLUMES && (!(control & SE_DACL_PROTECTED) || is_open(list, owner)))) {
        LocalFree(descriptor);
        return give(folder, access, err);
    }
    size = list->AclSize + sizeof(ACL);
    room = xcalloc(1, size);
    if (access != HOST_POD_VOLUMES && (!InitializeAcl(room, size, ACL_REVISION_DS) ||
                                       !copy_clipped(list, owner, access, room, &changed)))
        code = GetLastError();
    if (!code && changed) /* Windows gives it to all that is in the folder, which takes its time */
        code = SetSecurityInfo(folder, SE_FILE_OBJECT,
                               DACL_SECURITY_INFORMATION | PROTECTED_DACL_SECURITY_INFORMATION,
                               NULL, NULL, room, NULL);
    LocalFree(descriptor);
    return code ? win32_fail(err, code, "set an access control list") : 0;
}

/* By handle, so that a junction gets nothing that was meant for a folder. */
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
    enum { PARTS = OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION };
    PSECURITY_DESCRIPTOR descriptor = NULL;
    wchar_t *sddl = NULL;
    HANDLE file;
    DWORD code;

    if (open_for(path, READ_CONTROL, &file, err) < 0)
        return error_prefix(err, "read the access of '%s'", path);
    code = GetSecurityInfo(file, SE_FILE_OBJECT, PARTS, NULL, NULL, NULL, NULL, &descriptor);
    CloseHandle(file);
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
    _cleanup_(win32_way_free) struct win32_way way = {0};
    _cleanup_wide_ wchar_t *sddl = win32_wide(access);
    PSECURITY_DESCRIPTOR descriptor;
    HANDLE file;
    int result;

    if (!ConvertStringSecurityDescriptorToSecurityDescriptorW(sddl, SDDL_REVISION_1, &descriptor,
                                                              NULL))
        return win32_fail(err, GetLastError(), "set the access of '%s'", path);
    result = win32_way_hold(path, &way, err);
    if (result == 0 && open_for(path, READ_CONTROL | WRITE_DAC | WRITE_OWNER, &file, NULL) < 0)
        result = open_for(path, READ_CONTROL | WRITE_DAC, &file, err);
    if (result == 0) {
        result = win32_access_apply(file, descriptor, err);
        CloseHandle(file);
    }
    LocalFree(descriptor);
    return result < 0 ? error_prefix(err, "set the access of '%s'", path) : 0;
}
