/* What reads the table of network modes. */
#include "base/memory.h"
#include "netsetup/agents/agent.h"
#include "netsetup/modes/mode.h"
#include "netsetup/names.h"

#define ROW(mode) &network_mode_##mode,
static const struct network_mode *const modes[] = {NETWORK_MODES(ROW)};

const struct network_mode *const *network_modes(size_t *ret_count) {
    *ret_count = ARRAY_SIZE(modes);
    return modes;
}

const struct network_mode *network_mode_by_name(const char *name) {
    for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
        if (text_equal_nocase(modes[i]->name, name))
            return modes[i];
    }
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

/* The mode that agents ("vxlan") or CNI plugins ("win-bridge") call by this word. */
static const struct network_mode *mode_called(const char *word) {
    _cleanup_(freep) char *lower = text_lower(word);
    size_t count;
    const struct network_agent *const *agents = network_agents(&count);
    for (size_t a = 0; a < count; a++)
        for (size_t i = 0; agents[a]->backend && i < ARRAY_SIZE(modes); i++)
            if (text_equal(agents[a]->backend(modes[i]), lower))
                return modes[i];
    return network_mode_by_cni(lower, NULL);
}

int network_mode_check(const char *name, struct error *err) {
    _cleanup_(text_list_free) struct text_list names = {0};
    network_mode_names(&names);
    if (name_check("network mode", name, &names, err) == 0)
        return 0;
    const struct network_mode *meant = mode_called(name);
    bool said = err && err->hints[0][0]; /* by a word that is near */
    return meant && !said ? error_hint(err, "did you mean %s?", meant->name) : -1;
}
