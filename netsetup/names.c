/* Names that tables offer. */
#include "netsetup/names.h"

#include "base/nearest.h"

const char *name_find(const char *const *names, const char *name) {
    for (; names && *names; names++)
        if (text_equal(*names, name))
            return *names;
    return NULL;
}

char *name_list(const struct text_list *names) {
    struct text t = {0};
    for (size_t i = 0; i < names->count; i++)
        text_addf(&t, "%s%s", i == 0 ? "" : i + 1 < names->count ? ", " : " or ", names->items[i]);
    return text_take(&t);
}

int name_check(const char *what, const char *name, const struct text_list *names,
               struct error *err) {
    _cleanup_(freep) char *list = name_list(names);
    if (text_list_has(names, name))
        return 0;
    (void)error_set(err, ERROR_USAGE, "unknown %s '%.60s': use %s", what, name, list);
    return nearest_hint(err, "", name, (const char *const *)names->items, names->count);
}
