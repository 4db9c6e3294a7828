/* Reads and writes Windows access lists as text: the owner and the DACL of a security descriptor in
 * SDDL ("Security Descriptor String Format" and "ACE Strings" in Microsoft's documentation;
 * [MS-DTYP] 2.5.1). Nothing here calls Windows, so the same rules apply on a real and on a
 * simulated server. A SID may be an SDDL alias or a full SID: "BU" and "S-1-5-32-545" are the same.
 * The caller frees each char * that a function returns or stores through a pointer. */
#pragma once

#include "base/error.h"
#include "host/host.h"

#define SID_EVERYONE "S-1-1-0"
#define SID_CREATOR_OWNER "S-1-3-0"
#define SID_OWNER_RIGHTS "S-1-3-4"
#define SID_SYSTEM "S-1-5-18"
#define SID_ADMINISTRATORS "S-1-5-32-544"
#define SID_USERS "S-1-5-32-545"
#define SID_TRUSTED_INSTALLER "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464"

/* Access rights for files and folders (winnt.h). */
enum {
    ACCESS_ADD_FILE = 0x2,   /* Add a file to a folder. For a file: FILE_WRITE_DATA. */
    ACCESS_ADD_FOLDER = 0x4, /* Add a folder to a folder. For a file: FILE_APPEND_DATA. */
    /* Delete what is in the folder, regardless of the access lists inside. */
    ACCESS_DELETE_CHILD = 0x40,
    ACCESS_READ_AND_EXECUTE = 0x1200a9,
    ACCESS_ALL = 0x1f01ff,
    /* Remove or rename the file or folder, or decide who may: DELETE, WRITE_DAC, WRITE_OWNER. */
    ACCESS_TAKE = 0x10000 | 0x40000 | 0x80000,
    /* All rights that change the file or folder or its content, including FILE_WRITE_EA and
       FILE_WRITE_ATTRIBUTES. */
    ACCESS_CHANGE =
        ACCESS_TAKE | ACCESS_ADD_FILE | ACCESS_ADD_FOLDER | 0x10 | ACCESS_DELETE_CHILD | 0x100,
};

enum access_flag {
    ACCESS_OBJECT_INHERIT = 1 << 0,    /* OI: files in the folder inherit the entry. */
    ACCESS_CONTAINER_INHERIT = 1 << 1, /* CI: subfolders inherit the entry. */
    ACCESS_NO_PROPAGATE = 1 << 2,      /* NP: only direct children inherit the entry. */
    ACCESS_INHERIT_ONLY = 1 << 3,      /* IO: the entry does not apply to the folder itself. */
    ACCESS_INHERITED = 1 << 4,         /* ID: the entry was inherited from the parent folder. */
};

struct access_entry {
    bool refuses;    /* The entry denies rights ("D" and its variants); else it allows them. */
    uint32_t flags;  /* Bits of enum access_flag. */
    uint32_t rights; /* Bits of rights; may include generic ones (0x10000000 to 0x80000000). */
    char *who;       /* SID of the user or group; the full SID when this file knows the alias. */
    char *odd; /* Source text of an entry that is neither a plain "A" nor a plain "D"; else NULL. */
};
struct access_list {
    char *owner;     /* SID of the owner; NULL when the text has none. */
    bool is_missing; /* There is no DACL, so everyone may do everything. */
    bool protected_; /* The list does not inherit entries from the parent folder. */
    struct access_entry *entries;
    size_t count;
};

/* Reads SDDL such as "O:BAD:PAI(A;OICI;FA;;;SY)...". A group and a SACL are ignored. Fails with
 * ERROR_MALFORMED when the text is not SDDL or has an unknown right or flag. `ret` must be empty;
 * call access_list_free() also after a failure. */
int access_list_read(const char *sddl, struct access_list *ret, struct error *err);
/* Writes an access list as SDDL. Inherited entries keep their mark. */
char *access_list_write(const struct access_list *list);
void access_list_free(struct access_list *list);
/* Replaces generic rights by the rights that they mean for files. */
uint32_t access_list_of_files(uint32_t bits);

/* Returns winjoin's access list for a new file or folder. NULL for HOST_PUBLIC, which inherits. */
char *access_list_of(enum host_access access, bool folder);

/* Is this SYSTEM, Administrators or TrustedInstaller ("Security identifiers" in Microsoft's
 * documentation)? `sid` must be a full SID. */
bool access_is_trusted(const char *sid);

/* Returns the list of an existing folder without the rights that `access` would not give to others.
 * Rights are never added. The entries of trusted SIDs, of the owner and of OWNER RIGHTS stay, and
 * so do entries that deny rights. Conditional entries that allow something are removed. The result
 * is access_list_of() for HOST_PROBE_MAILBOX, for HOST_PROBE_PROGRAM, for a missing or unreadable
 * list, and for HOST_POD_VOLUMES when others may list the folder itself or add to it. NULL when the
 * list needs no change. */
char *access_list_closed(const char *sddl, enum host_access access);

/* Returns the group of ordinary users ("Everyone", "Users", "Authenticated Users", ...) that may
 * change a file, or that may remove a folder or change its access list. NULL when no such group
 * may. Borrowed. */
const char *access_list_open_to(const struct access_list *list, bool folder);
