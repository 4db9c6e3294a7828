/* Lookups in the table of network modes. */
#include "netsetup/modes/mode.h"
#include "base/nearest.h"

#define ROW(mode) &network_mode_##mode,
const struct network_mode *const network_modes[] = {NETWORK_MODES(ROW) NULL};

const struct network_mode *network_mode_by_name(const char *name) {
    for (size_t i = 0; network_modes[i]; i++)
        if (text_equal_nocase(network_modes[i]->name, name))
            return network_modes[i];
    return NULL;
}

const struct network_mode *network_mode_by_cni(const char *plugin, const char *hns_type) {
    const struct network_mode *found = NULL;
    for (size_t i = 0; network_modes[i]; i++) {
        if (!name_find(network_modes[i]->cni_plugins, plugin))
            continue;
        if (!found || (hns_type && text_equal_nocase(network_modes[i]->hns_type, hns_type)))
            found = network_modes[i];
    }
    return found;
}

void network_mode_names(struct text_list *ret) {
    for (size_t i = 0; network_modes[i]; i++)
        text_list_add(ret, network_modes[i]->name);
}
