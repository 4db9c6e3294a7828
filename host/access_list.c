/* Reads and writes Windows access lists in SDDL, and makes the restricted lists that winjoin
 * sets. */
#include "host/access_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

#define GENERIC_ALL 0x10000000u
#define GENERIC_EXECUTE 0x20000000u
#define GENERIC_WRITE 0x40000000u
#define GENERIC_READ 0x80000000u
enum {
    DELETE = 0x10000,
    READ_CONTROL = 0x20000,
    WRITE_DAC = 0x40000,
    WRITE_OWNER = 0x80000,
    FILE_EXECUTE = 0x1200a0,
    FILE_WRITE = 0x120116,
    FILE_READ = 0x120089,
};

/* SIDs that are the same on each machine. `alias` is the name in SDDL. `many` is the name of a
 * group that includes ordinary users, or NULL. */
static const struct {
    const char *alias, *sid, *many;
} sids[] = {
    {"SY", SID_SYSTEM, NULL},
    {"BA", SID_ADMINISTRATORS, NULL},
    {"BU", SID_USERS, "Users"},
    {"WD", SID_EVERYONE, "Everyone"},
    {"CO", SID_CREATOR_OWNER, NULL},
    {"OW", SID_OWNER_RIGHTS, NULL},
    {"IU", "S-1-5-4", "INTERACTIVE"},
    {"AU", "S-1-5-11", "Authenticated Users"},
    {"NU", "S-1-5-2", "NETWORK"},
    {"AN", "S-1-5-7", "ANONYMOUS LOGON"},
    {"LS", "S-1-5-19", NULL},
    {"NS", "S-1-5-20", NULL},
    {"BG", "S-1-5-32-546", "Guests"},
    {"PU", "S-1-5-32-547", "Power Users"},
    {"RD", "S-1-5-32-555", "Remote Desktop Users"},
    {"AC", "S-1-15-2-1", NULL},
};

/* A two-letter code of SDDL and the bits that it means. */
struct letters {
    const char name[3];
    uint32_t bits;
};
static const struct letters rights[] = {
    {"GA", GENERIC_ALL},   {"GX", GENERIC_EXECUTE},
    {"GW", GENERIC_WRITE}, {"GR", GENERIC_READ},
    {"FA", ACCESS_ALL},    {"FX", FILE_EXECUTE},
    {"FW", FILE_WRITE},    {"FR", FILE_READ},
    {"RC", READ_CONTROL},  {"SD", DELETE},
    {"WD", WRITE_DAC},     {"WO", WRITE_OWNER},
    {"CC", 0x1},           {"DC", 0x2},
    {"LC", 0x4},           {"SW", 0x8},
    {"RP", 0x10},          {"WP", 0x20},
    {"DT", 0x40},          {"LO", 0x80},
    {"CR", 0x100},
};
/* The inheritance flags of a DACL. The audit flags ("SA", "FA") occur only in a SACL. */
static const struct letters flags[] = {
    {"OI", ACCESS_OBJECT_INHERIT}, {"CI", ACCESS_CONTAINER_INHERIT}, {"NP", ACCESS_NO_PROPAGATE},
    {"IO", ACCESS_INHERIT_ONLY},   {"ID", ACCESS_INHERITED},
};

uint32_t access_list_of_files(uint32_t bits) {
    bits |= bits & GENERIC_ALL ? ACCESS_ALL : 0;
    bits |= bits & GENERIC_EXECUTE ? FILE_EXECUTE : 0;
    bits |= bits & GENERIC_WRITE ? FILE_WRITE : 0;
    bits |= bits & GENERIC_READ ? FILE_READ : 0;
    return bits & ~(GENERIC_ALL | GENERIC_EXECUTE | GENERIC_WRITE | GENERIC_READ);
}

/* ---- reading and writing SDDL ---- */

/* Returns the full SID for an alias or a SID, which has only letters, digits and '-'. NULL when the
 * text is neither. The caller frees it. */
static char *whole_sid(const char *text, size_t len) {
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";

    if (!len || strspn(text, allowed) < len)
        return NULL;
    for (size_t i = 0; i < ARRAY_SIZE(sids); i++)
        if (len == 2 && memcmp(text, sids[i].alias, 2) == 0)
            return xstrdup(sids[i].sid);
    return xstrndup(text, len);
}

static bool read_letters(const char *text, size_t len, const struct letters *table, size_t count,
                         uint32_t *ret) {
    for (*ret = 0; len >= 2; text += 2, len -= 2) {
        size_t i = 0;

        while (i < count && memcmp(text, table[i].name, 2) != 0)
            i++;
        if (i == count)
            return false;
        *ret |= table[i].bits;
    }
    return len == 0;
}

/* Reads an entry "(type;flags;rights;object;inherited object;who)", possibly with a condition at
 * the end that has parentheses of its own. Returns its length; 0 when it is incomplete or unknown.
 */
static size_t read_entry(const char *text, struct access_entry *ret) {
    size_t size[6], at = 1, depth = 0, len = 0;
    const char *part[6];
    bool quoted = false, good;

    for (; text[len] && (depth || !len); len++) {
        quoted ^= text[len] == '"';
        depth += !quoted && text[len] == '(';
        depth -= !quoted && text[len] == ')';
    }
    if (depth)
        return 0;
    for (size_t i = 0; i < ARRAY_SIZE(part); i++) {
        part[i] = text + at;
        size[i] = strcspn(part[i], ";)");
        at += size[i] + 1;
        if (at > len || (i + 1 < ARRAY_SIZE(part) && part[i][size[i]] != ';'))
            return 0;
    }
    ret->who = whole_sid(part[5], size[5]);
    if (!size[0] || !ret->who ||
        !read_letters(part[1], size[1], flags, ARRAY_SIZE(flags), &ret->flags))
        return 0;
    ret->refuses = memchr(part[0], 'D', size[0]) != NULL;
    if (size[0] != 1 || !strchr("AD", *part[0]) || size[3] || size[4] || at != len)
        ret->odd = xstrndup(text, len);
    if (size[2] >= 2 && *part[2] >= '0' && *part[2] <= '9') {
        _cleanup_(freep) char *number = xstrndup(part[2], size[2]);
        unsigned long long value;
        char *end;

        value = strtoull(number, &end, 0);
        ret->rights = (uint32_t)value;
        good = !*end && value <= UINT32_MAX;
    } else {
        good = read_letters(part[2], size[2], rights, ARRAY_SIZE(rights), &ret->rights);
    }
    return good || ret->odd ? len : 0;
}

static int read_list(const char **text, struct access_list *ret) {
    size_t control = strspn(*text, "PARI"), len;

    if (text_starts_with(*text, "NO_ACCESS_CONTROL")) {
        *text += strlen("NO_ACCESS_CONTROL");
        return 0;
    }
    ret->is_missing = false;
    ret->protected_ = memchr(*text, 'P', control) != NULL;
    for (*text += control; **text == '('; *text += len) {
        struct access_entry entry = {0};

        len = read_entry(*text, &entry);
        array_add(ret->entries, ret->count, entry);
        if (!len)
            return -1;
    }
    return 0;
}

/* Reads an owner or group, which may occur once, up to the letter of the next part. */
static bool read_who(const char **text, char **ret) {
    size_t len = strcspn(*text, ":");

    len -= (*text)[len] == ':' && len; /* The letter before the colon begins the next part. */
    if (!*ret)
        *ret = whole_sid(*text, len);
    else
        len = 0;
    *text += len;
    return *ret && len;
}

int access_list_read(const char *sddl, struct access_list *ret, struct error *err) {
    _cleanup_(freep) char *group = NULL;
    const char *at = sddl;

    ret->is_missing = true;
    while (*at && *at != 'S') { /* Stop at the SACL, which comes last. */
        const char part = *at;

        if (!strchr("OGD", part) || at[1] != ':')
            break;
        at += 2;
        if (part == 'D' ? !ret->is_missing || read_list(&at, ret) < 0
                        : !read_who(&at, part == 'O' ? &ret->owner : &group))
            break;
        if (!*at)
            return 0;
    }
    if (at != sddl && *at == 'S' && at[1] == ':')
        return 0;
    return error_set(err, ERROR_MALFORMED, "read an access list: '%.60s' is not understood", at);
}

char *access_list_write(const struct access_list *list) {
    struct text out = {0};

    if (list->owner)
        text_addf(&out, "O:%s", list->owner);
    text_add(&out, list->is_missing ? "D:NO_ACCESS_CONTROL" : list->protected_ ? "D:P" : "D:");
    for (size_t i = 0; i < list->count; i++) {
        const char *rest = list->entries[i].odd;

        if (rest)
            text_addf(&out, "%.*s;", (int)strcspn(rest, ";"), rest);
        else
            text_addf(&out, "(%c;", list->entries[i].refuses ? 'D' : 'A');
        for (size_t k = 0; k < ARRAY_SIZE(flags); k++)
            if (list->entries[i].flags & flags[k].bits)
                text_add(&out, flags[k].name);
        if (rest)
            text_add(&out, strchr(strchr(rest, ';') + 1, ';'));
        else if (list->entries[i].rights == ACCESS_ALL)
            text_addf(&out, ";FA;;;%s)", list->entries[i].who);
        else
            text_addf(&out, ";0x%x;;;%s)", (unsigned)list->entries[i].rights, list->entries[i].who);
    }
    return text_take(&out);
}

void access_list_free(struct access_list *list) {
    for (size_t i = 0; i < list->count; i++)
        free_all(list->entries[i].who, list->entries[i].odd);
    free_all(list->entries, list->owner);
    *list = (struct access_list){0};
}

/* ---- the access lists, which each write sets ---- */

/* The first %s of each entry are inheritance flags. S-1-5-93-2-1 and S-1-5-93-2-2 are
 * ContainerAdministrator and ContainerUser. The rights 0x1301bf mean "modify". */
#define OWNERS "D:P(A;%s;FA;;;SY)(A;%s;FA;;;BA)"
#define CONTAINERS "(A;%s;%s;;;S-1-5-93-2-1)(A;%s;%s;;;S-1-5-93-2-2)"
/* Rights for the volumes of Pods. Users may access the content of subfolders as in Windows' own
 * list of C:\, so that containers with any user can read and write their volumes. They may not list
 * the folder itself and so not see which Pods exist. */
#define VOLUMES "(A;OICIIO;0x1200a9;;;BU)(A;CIIO;0x6;;;BU)(A;OICIIO;GA;;;CO)"

char *access_list_of(enum host_access access, bool folder) {
    static const char *const container_rights[] = {
        [HOST_PROBE_MAILBOX] = "0x1301bf",
        [HOST_PROBE_PROGRAM] = "0x1200a9",
        /* HOST_POD_VOLUMES is the last value of the enum. Entries that are not listed are NULL. */
        [HOST_POD_VOLUMES] = NULL,
    };
    const char *inherits = folder ? "OICI" : "", *given = container_rights[access];
    struct text sddl = {0};

    if (access == HOST_PUBLIC)
        return NULL;
    if (access == HOST_READ_ONLY || access == HOST_POD_VOLUMES || (access == HOST_SECRET && folder))
        /* Set the owner: a user who created the folder first could otherwise change its list. */
        text_add(&sddl, "O:BA");
    text_addf(&sddl, OWNERS, inherits, inherits);
    if (access == HOST_READ_ONLY)
        text_addf(&sddl, "(A;%s;0x1200a9;;;BU)", inherits);
    if (access == HOST_POD_VOLUMES)
        text_add(&sddl, VOLUMES);
    if (given)
        text_addf(&sddl, CONTAINERS, inherits, given, inherits, given);
    return text_take(&sddl);
}

/* ---- restricting existing access lists ---- */

bool access_is_trusted(const char *sid) {
    return text_equal(sid, SID_SYSTEM) || text_equal(sid, SID_ADMINISTRATORS) ||
           text_equal(sid, SID_TRUSTED_INSTALLER);
}

/* Does the entry stay unchanged? It does for administrators, for the owner, who was checked before
 * and could restore the rights anyway, and for OWNER RIGHTS, because without that entry the owner
 * would have more rights. */
static bool stays(const struct access_entry *entry, const char *owner) {
    return access_is_trusted(entry->who) || text_equal(entry->who, owner) ||
           text_equal(entry->who, SID_OWNER_RIGHTS);
}

/* May somebody else list the folder itself, or add files to it? */
static bool is_open(const struct access_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        const struct access_entry *entry = &list->entries[i];

        if (!entry->refuses && !(entry->flags & ACCESS_INHERIT_ONLY) &&
            (entry->odd || !stays(entry, list->owner)))
            return true;
    }
    return false;
}

char *access_list_closed(const char *sddl, enum host_access access) {
    _cleanup_(access_list_free) struct access_list list = {0};
    bool changed = false;
    size_t kept = 0;

    if (access_list_read(sddl, &list, NULL) < 0 || list.is_missing ||
        access == HOST_PROBE_MAILBOX || access == HOST_PROBE_PROGRAM)
        return access_list_of(access, true);
    if (access == HOST_POD_VOLUMES)
        return list.protected_ && !is_open(&list) ? NULL : access_list_of(access, true);

    /* Remove the rights of others. Inherited entries become the folder's own. */
    for (size_t i = 0; i < list.count; i++) {
        struct access_entry *entry = &list.entries[i];
        const bool whole = entry->refuses || (!entry->odd && stays(entry, list.owner));
        const uint32_t left = whole ? entry->rights
                              : !entry->odd && access == HOST_READ_ONLY
                                  ? access_list_of_files(entry->rights) & ~(uint32_t)ACCESS_CHANGE
                                  : 0;

        changed |= left != entry->rights || (entry->flags & ACCESS_INHERITED);
        entry->rights = left;
        entry->flags &= ~(unsigned)ACCESS_INHERITED;
        if (whole || left)
            list.entries[kept++] = *entry;
        else
            free_all(entry->who, entry->odd);
    }
    list.count = kept;
    list.protected_ = true;
    if (!changed)
        return NULL;
    freep(&list.owner); /* The result has no owner part, so the owner does not change. */
    return access_list_write(&list);
}

/* ---- finding rights of ordinary users ---- */

const char *access_list_open_to(const struct access_list *list, bool folder) {
    const uint32_t changes = folder ? ACCESS_TAKE : ACCESS_CHANGE;

    for (size_t i = 0; i < list->count; i++) {
        const struct access_entry *entry = &list->entries[i];
        const bool gives = !entry->refuses && !(entry->flags & ACCESS_INHERIT_ONLY) &&
                           access_list_of_files(entry->rights) & changes;

        for (size_t k = 0; gives && k < ARRAY_SIZE(sids); k++)
            if (sids[k].many && text_equal(entry->who, sids[k].sid))
                return sids[k].many;
    }
    return list->is_missing ? "Everyone" : NULL;
}
