/* Access lists inherited and asked, as [MS-DTYP] 2.5.3 has it. */
#include "tests/memory/access_rules.h"

#include "base/memory.h"
#include "base/text.h"

enum { OWNERS_RIGHTS = 0x20000 | 0x40000 }; /* READ_CONTROL, WRITE_DAC */

static void add_entry(struct access_list *list, const struct access_entry *from, unsigned inherits,
                      uint32_t bits, const char *who) {
    list->entries = xrealloc(list->entries, (list->count + 1) * sizeof *list->entries);
    list->entries[list->count++] = (struct access_entry){.refuses = from->refuses,
                                                         .flags = inherits | ACCESS_INHERITED,
                                                         .rights = bits,
                                                         .who = xstrdup(who),
                                                         .odd = xstrdup_null(from->odd)};
}

void access_list_inherit(struct access_list *list, bool folder, const struct access_list *above) {
    enum { BELOW = ACCESS_OBJECT_INHERIT | ACCESS_CONTAINER_INHERIT };

    if (list->protected_)
        return;
    list->is_missing = false;
    for (size_t i = 0; i < above->count; i++) {
        const struct access_entry *from = &above->entries[i];
        const bool creator = text_equal(from->who, SID_CREATOR_OWNER);
        const bool here = from->flags & (folder ? ACCESS_CONTAINER_INHERIT : ACCESS_OBJECT_INHERIT);
        unsigned below = folder && !(from->flags & ACCESS_NO_PROPAGATE) ? from->flags & BELOW : 0;

        if (here && creator && list->owner)
            add_entry(list, from, 0, access_list_of_files(from->rights), list->owner);
        if (here && !creator)
            add_entry(list, from, below, from->rights, from->who);
        else if (below)
            add_entry(list, from, below | ACCESS_INHERIT_ONLY, from->rights, from->who);
    }
}

static bool is_one(const char *who, const char *const *these) {
    for (; *these; these++)
        if (text_equal(who, *these))
            return true;
    return text_equal(who, SID_EVERYONE);
}

uint32_t access_list_rights(const struct access_list *list, const char *const *these) {
    uint32_t given = 0, refused = 0;
    bool limited = false;
    const bool owns = list->owner && is_one(list->owner, these);

    if (list->is_missing)
        return ACCESS_ALL;
    for (size_t i = 0; i < list->count; i++) {
        const struct access_entry *entry = &list->entries[i];
        const bool rights_of_owner = text_equal(entry->who, SID_OWNER_RIGHTS);
        const uint32_t bits = access_list_of_files(entry->rights);

        if (entry->flags & ACCESS_INHERIT_ONLY)
            continue;
        limited |= rights_of_owner;
        if (!(rights_of_owner ? owns : is_one(entry->who, these)))
            continue;
        if (entry->refuses)
            refused |= entry->odd ? 0 : bits & ~given; /* perhaps it does not */
        else
            given |= bits & ~refused;
    }
    return owns && !limited ? given | OWNERS_RIGHTS : given;
}
