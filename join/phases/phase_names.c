/* What phases are called: winjoin's names, and kubeadm's for one or several of them. */
#include "join/phases/phase_names.h"

#include "base/nearest.h"
#include "join/join.h"
#include "join/phases/phases.h"

/* kubeadm's preflight, which discovers as well, is winjoin's preflight; discovery runs whenever a
 * phase needs it, as in kubeadm when preflight is skipped. */
const struct phase_group phase_groups[] = {
    {"kubelet-start",
     {"certificate", "files", "kubelet"},
     "kubeadm's name for certificate, files, kubelet"},
    {"kubelet-wait-bootstrap", {"node"}, "kubeadm's name for node"},
    {"control-plane-prepare", {NULL}, "of a control plane"},
    {"check-etcd", {NULL}, "of a control plane"},
    {"etcd-join", {NULL}, "of a control plane"},
    {"control-plane-join", {NULL}, "of a control plane"},
    {"wait-control-plane", {NULL}, "of a control plane"},
    {0},
};

static bool is_phase(const char *name) {
    for (size_t i = 0; join_phases[i].id; i++)
        if (text_equal(join_phases[i].id, name))
            return true;
    return false;
}

/* Parts of kubeadm's phases (1.37), all of a control plane. */
static const char *const parts[] = {"control-plane-prepare/all",
                                    "control-plane-prepare/download-certs",
                                    "control-plane-prepare/certs",
                                    "control-plane-prepare/kubeconfig",
                                    "control-plane-prepare/control-plane",
                                    "control-plane-join/all",
                                    "control-plane-join/mark-control-plane"};

static const struct phase_group *group_of(const char *name) {
    bool part = false;

    for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
        part = part || text_equal(parts[i], name);
    for (size_t i = 0; phase_groups[i].name; i++) {
        size_t len = strlen(phase_groups[i].name);

        if (part ? text_starts_with(name, phase_groups[i].name) && name[len] == '/'
                 : text_equal(phase_groups[i].name, name))
            return &phase_groups[i];
    }
    return NULL;
}

static int unknown(const char *name, struct error *err) {
    _cleanup_(text_list_free) struct text_list names = {0};

    for (size_t i = 0; join_phases[i].id; i++)
        text_list_add(&names, join_phases[i].id);
    for (size_t i = 0; phase_groups[i].name; i++)
        if (phase_groups[i].phases[0])
            text_list_add(&names, phase_groups[i].name);
    text_list_add(&names, "list");
    (void)error_set(err, ERROR_USAGE, "invalid phase name: %.60s", name);
    (void)nearest_hint(err, "", name, (const char *const *)names.items, names.count);
    return error_hint(err, "winjoin join phase list prints them");
}

int phase_names_resolve(const char *name, struct text_list *ret_ids, struct error *err) {
    const struct phase_group *group = group_of(name);

    if (is_phase(name)) {
        text_list_add(ret_ids, name);
        return 0;
    }
    if (!group)
        return unknown(name, err);
    if (!group->phases[0])
        return error_set(err, ERROR_USAGE,
                         "run phase '%.60s': it is a control plane's, and winjoin joins workers",
                         name);
    for (size_t i = 0; i < ARRAY_SIZE(group->phases) && group->phases[i]; i++)
        text_list_add(ret_ids, group->phases[i]);
    return 0;
}

int phase_names_skipped(const struct text_list *names, struct text_list *ret_ids,
                        struct error *err) {
    for (size_t i = 0; i < names->count; i++) {
        const struct phase_group *group = group_of(names->items[i]);

        if (group && !group->phases[0])
            continue;
        if (phase_names_resolve(names->items[i], ret_ids, err) < 0)
            return -1;
    }
    return 0;
}
