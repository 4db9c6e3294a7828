/* Who may read what: SDDL texts become security attributes for creation. */
#include "host/win32/win32.h"

#include <aclapi.h>
#include <sddl.h>
#include <stdlib.h>

/* SY LocalSystem, BA Administrators; S-1-5-93-2-1 and -2 are ContainerAdministrator and
 * ContainerUser. 0x1301bf is modify, 0x1200a9 read and execute; the first %s are inheritance flags.
 */
#define OWNERS "D:P(A;%s;FA;;;SY)(A;%s;FA;;;BA)"
#define CONTAINERS "(A;%s;%s;;;S-1-5-93-2-1)(A;%s;%s;;;S-1-5-93-2-2)"
static const char *const container_rights[] = {
    [HOST_SECRET] = NULL,
    [HOST_PROBE_MAILBOX] = "0x1301bf",
    [HOST_PROBE_PROGRAM] = "0x1200a9",
};

static char *make_sddl(enum host_access access, bool folder) {
    const char *flags = folder ? "OICI" : "";
    const char *rights = container_rights[access];
    struct text sddl = {0};

    text_addf(&sddl, OWNERS, flags, flags);
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

int win32_access_apply(const wchar_t *path, SECURITY_ATTRIBUTES *attributes, struct error *err) {
    BOOL present = FALSE, defaulted = FALSE;
    PACL list = NULL;
    DWORD code;

    if (!GetSecurityDescriptorDacl(attributes->lpSecurityDescriptor, &present, &list, &defaulted))
        return win32_fail(err, GetLastError(), "read an access control list");
    code = SetNamedSecurityInfoW((wchar_t *)path, SE_FILE_OBJECT,
                                 DACL_SECURITY_INFORMATION | PROTECTED_DACL_SECURITY_INFORMATION,
                                 NULL, NULL, list, NULL);
    return code ? win32_fail(err, code, "set an access control list") : 0;
}
