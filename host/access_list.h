/* Windows' access lists as texts: the owner and the DACL of a security descriptor in SDDL
 * ("Security Descriptor String Format" and "ACE Strings" of Microsoft's documentation; [MS-DTYP]
 * 2.5.1). Nothing here asks Windows, so the same rules hold on a real server and on a played one.
 * A SID stands as SDDL has it or whole: "BU" and "S-1-5-32-545" are the same. */
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

/* Rights to files and folders (winnt.h). */
enum {
    ACCESS_ADD_FILE = 0x2,      /* of a file: FILE_WRITE_DATA */
    ACCESS_ADD_FOLDER = 0x4,    /* FILE_APPEND_DATA */
    ACCESS_DELETE_CHILD = 0x40, /* in a folder, whatever the lists of what is in it say */
    ACCESS_READ_AND_EXECUTE = 0x1200a9,
    ACCESS_ALL = 0x1f01ff,
    /* To remove or rename it, or to decide who may do so: DELETE, WRITE_DAC, WRITE_OWNER. */
    ACCESS_TAKE = 0x10000 | 0x40000 | 0x80000,
    /* All that changes it or what is in it: FILE_WRITE_EA and FILE_WRITE_ATTRIBUTES, too. */
    ACCESS_CHANGE =
        ACCESS_TAKE | ACCESS_ADD_FILE | ACCESS_ADD_FOLDER | 0x10 | ACCESS_DELETE_CHILD | 0x100,
};

enum access_flag {
    ACCESS_OBJECT_INHERIT = 1 << 0,    /* OI: files in the folder get it */
    ACCESS_CONTAINER_INHERIT = 1 << 1, /* CI: folders in it do */
    ACCESS_NO_PROPAGATE = 1 << 2,      /* NP: not what is in these */
    ACCESS_INHERIT_ONLY = 1 << 3,      /* IO: not the folder itself */
    ACCESS_INHERITED = 1 << 4,         /* ID: from the folder above */
};

struct access_entry {
    bool refuses;    /* "D" and its kinds; else it gives */
    uint32_t flags;  /* enum access_flag */
    uint32_t rights; /* generic ones (0x10000000 to 0x80000000) may be among them */
    char *who;       /* a SID, whole where this file knows it */
    char *odd;       /* its text, where it is neither a plain "A" nor a plain "D"; else NULL */
};
struct access_list {
    char *owner;     /* a SID; NULL: not said */
    bool is_missing; /* no list at all: everyone may do everything */
    bool protected_; /* nothing comes from the folder above */
    struct access_entry *entries;
    size_t count;
};

/* Reads "O:BAD:PAI(A;OICI;FA;;;SY)..."; a group and a SACL are passed over. ERROR_MALFORMED: it is
 * none, or a right or flag is unknown. `ret` is empty before; access_list_free(), also after a
 * failure. */
int access_list_read(const char *sddl, struct access_list *ret, struct error *err);
/* The same as SDDL, with the entries that were inherited marked so. The caller frees. */
char *access_list_write(const struct access_list *list);
void access_list_free(struct access_list *list);
/* What generic rights mean of a file. */
uint32_t access_list_of_files(uint32_t bits);

/* The list that winjoin gives a new file or folder. NULL: HOST_PUBLIC, it inherits. The caller
 * frees. */
char *access_list_of(enum host_access access, bool folder);

/* SYSTEM, Administrators and TrustedInstaller ("Security identifiers" of Microsoft's
 * documentation); `sid` is whole. */
bool access_is_trusted(const char *sid);

/* What a folder's list becomes when others lose what `access` would not give them; rights are taken
 * away, never added. The entries of those who are trusted, of the owner and of OWNER RIGHTS stay,
 * as do those that refuse something; what gives something under a condition goes.
 * HOST_PROBE_MAILBOX, HOST_PROBE_PROGRAM, a missing list, one that cannot be read and
 * HOST_POD_VOLUMES where others list or fill the folder itself: access_list_of(). NULL: it stays as
 * it is. The caller frees. */
char *access_list_closed(const char *sddl, enum host_access access);

/* Who of "Everyone", "Users", "Authenticated Users", ... may change a file; or remove a folder, or
 * give its list away. NULL: none. Borrowed. */
const char *access_list_open_to(const struct access_list *list, bool folder);
