/* What reads the table of network modes. */
#include "netsetup/modes/mode.h"
#include "netsetup/names.h"

#define ROW(mode) &network_mode_##mode,
static const struct network_mode *const modes[] = {NETWORK_MODES(ROW)};

const struct network_mode *const *network_modes(size_t *ret_count) {
    *ret_count = ARRAY_SIZE(modes);
    return modes;
}

const struct network_mode *network_mode_by_name(const char *name) {
    for (size_t i = 0; i < ARRAY_SIZE(modes); i++)
        if (text_equal_nocase(modes[i]->name, name))
            return modes[i];
    return NULL;
}

const struct network_mode *network_mode_by_cni(const char *plugin, const char *hns_type) {
    const struct network_mode *found = NULL;
    for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
        if (!name_find(modes[i]->cni_plugins, plugin))
            continue;
        if (!found || (hns_type && text_equal_nocase(modes[i]->hns_type, hns_type)))
            found = modes[i];
    }
    return found;
}

void network_mode_names(struct text_list *ret) {
    for (size_t i = 0; i < ARRAY_SIZE(modes); i++)
        text_list_add(ret, modes[i]->name);
}
