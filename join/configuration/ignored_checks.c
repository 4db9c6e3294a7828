/* Names of preflight checks as people write them. */
#include "join/configuration/ignored_checks.h"

/* Ids as they are compared: lower case; a path with '-' for its separators and without its drive,
 * as kubeadm makes ids of paths on Linux. */
char *ignored_check_canonical(const char *id) {
    char *name = text_lower(id), *to = name;

    for (const char *from = name; *from; from++) {
        bool drive = from > name && from[-1] == '-' && *from >= 'a' && *from <= 'z' &&
                     from[1] == ':' && strchr("-\\/", from[2]) && from[2];

        if (drive)
            from++;
        else
            *to++ = *from == '\\' || *from == '/' ? '-' : *from;
    }
    *to = '\0';
    return name;
}

bool ignored_checks_have(const struct text_list *ignored, const char *id) {
    _cleanup_(freep) char *wanted = ignored_check_canonical(id);

    for (size_t i = 0; i < ignored->count; i++) {
        _cleanup_(freep) char *name = ignored_check_canonical(ignored->items[i]);

        if (text_equal(name, wanted) || text_equal(name, "all"))
            return true;
    }
    return false;
}
