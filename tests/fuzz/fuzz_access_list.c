/* An access list from a folder that somebody else made: what is read is written and read the same;
 * closed to administrators, nobody else has a right in it, and nothing is left to close. */
#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/text.h"
#include "tests/memory/access_rules.h"

static void reads_the_same(const struct access_list *list) {
    _cleanup_(access_list_free) struct access_list again = {0};
    _cleanup_(freep) char *written = access_list_write(list), *twice = NULL;

    if (access_list_read(written, &again, NULL) < 0)
        abort();
    twice = access_list_write(&again);
    if (!text_equal(written, twice))
        abort();
}

/* Everyone's rights: nobody's own. */
static uint32_t left(const char *sddl) {
    static const char *const others[] = {SID_USERS, "S-1-5-11", NULL};
    _cleanup_(access_list_free) struct access_list list = {0};

    if (access_list_read(sddl, &list, NULL) < 0)
        abort();
    return access_list_rights(&list, others);
}

static void closes(const char *sddl, const struct access_list *list, enum host_access access) {
    _cleanup_(freep) char *closed = access_list_closed(sddl, access);
    _cleanup_(freep) char *again = closed ? access_list_closed(closed, access) : NULL;
    const char *now = closed ? closed : sddl;
    const uint32_t rights = left(now);

    if (list->owner && !access_is_trusted(list->owner))
        return; /* keeps what he has: such a folder is refused before */
    if (again || rights & ACCESS_CHANGE || (access == HOST_SECRET && rights))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    _cleanup_(freep) char *text = xmemdup(data, size);
    _cleanup_(access_list_free) struct access_list list = {0}, below = {0};

    if (access_list_read(text, &list, NULL) < 0)
        return 0;
    reads_the_same(&list);
    below.owner = xstrdup_null(list.owner);
    access_list_inherit(&below, size % 2, &list);
    reads_the_same(&below);
    closes(text, &list, HOST_SECRET);
    closes(text, &list, HOST_READ_ONLY);
    return 0;
}
