/* Edits the machine's Path variable as text, so that entries like %SystemRoot% stay as written. */
#include "host/machine_path.h"

#include "host/host_ops.h"

static int read_list(struct host *host, char **ret, struct error *err) {
    struct error why = {0};

    if (host->ops->registry_get(host, MACHINE_PATH_KEY, MACHINE_PATH_VALUE, true, ret, &why) == 0)
        return 0;
    if (why.kind != ERROR_ABSENT)
        return error_pass(err, &why);
    *ret = xstrdup("");
    return 0;
}

/* Returns the last entry of the list that names the folder, or NULL. */
static const char *find(const char *list, const char *folder, size_t *ret_len) {
    const char *found = NULL;

    for (const char *entry = list;; entry++) {
        size_t len = strcspn(entry, ";"), from = strspn(entry, " \""), to = len;
        _cleanup_(freep) char *name = NULL;

        while (to > from && strchr(" \"\\", entry[to - 1]))
            to--;
        name = xstrndup(entry + from, to - from);
        if (text_equal_nocase(name, folder)) {
            found = entry;
            *ret_len = len;
        }
        entry += len;
        if (!*entry)
            return found;
    }
}

/* Appends the folder to the list. When the list ends in ';', the new list does too, so that a later
 * removal takes out exactly what was added. */
static char *with(const char *list, const char *folder) {
    bool ends = text_ends_with(list, ";");

    return xasprintf("%s%s%s%s", list, ends || !*list ? "" : ";", folder, ends ? ";" : "");
}

int machine_path_check(struct host *host, const char *folder, enum machine_path *ret,
                       struct error *err) {
    _cleanup_(freep) char *list = NULL, *longer = NULL;
    size_t len;

    if (read_list(host, &list, err) < 0)
        return -1;
    longer = with(list, folder);
    *ret = find(list, folder, &len)            ? MACHINE_PATH_HAS
           : strlen(longer) > MACHINE_PATH_MAX ? MACHINE_PATH_FULL
                                               : MACHINE_PATH_LACKS;
    return 0;
}

int machine_path_set(struct host *host, const char *folder, bool on, struct error *err) {
    _cleanup_(freep) char *list = NULL, *changed = NULL;
    const char *entry, *end;
    size_t len = 0;

    if (read_list(host, &list, err) < 0)
        return -1;
    entry = find(list, folder, &len);
    if (on == (entry != NULL))
        return 0;
    if (on) {
        changed = with(list, folder);
    } else { /* Remove the entry with one of the two ';' around it. */
        end = entry + len + (entry[len] == ';');
        entry -= !entry[len] && entry > list;
        changed = xasprintf("%.*s%s", (int)(entry - list), list, end);
    }
    return host_registry_set(host, MACHINE_PATH_KEY, MACHINE_PATH_VALUE, false,
                             *changed ? changed : NULL, err);
}
