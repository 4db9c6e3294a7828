/* What phases are called: winjoin's names, and kubeadm's for one or several of them. */
#include "join/phases/phase_names.h"

#include "base/nearest.h"
#include "join/join.h"
#include "join/phases/phases.h"

/* kubeadm's preflight, which discovers as well, is winjoin's preflight; discovery runs whenever a
 * phase needs it, as in kubeadm when preflight is skipped. */
static const struct phase_group groups[] = {
    {"kubelet-start",
     {"certificate", "files", "kubelet"},
     "kubeadm's name for certificate, files, kubelet"},
    {"kubelet-wait-bootstrap", {"node"}, "kubeadm's name for node"},
    {"control-plane-prepare", {NULL}, "of a control plane"},
    {"check-etcd", {NULL}, "of a control plane"},
    {"etcd-join", {NULL}, "of a control plane"},
    {"control-plane-join", {NULL}, "of a control plane"},
    {"wait-control-plane", {NULL}, "of a control plane"},
};

const struct phase_group *phase_groups(size_t *ret_count) {
    *ret_count = ARRAY_SIZE(groups);
    return groups;
}

static bool is_phase(const char *name) {
    size_t count;
    const struct join_phase *phases = join_phases(&count);

    for (size_t i = 0; i < count; i++)
        if (text_equal(phases[i].id, name))
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
    for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
        size_t len = strlen(groups[i].name);

        if (part ? text_starts_with(name, groups[i].name) && name[len] == '/'
                 : text_equal(groups[i].name, name))
            return &groups[i];
    }
    return NULL;
}

static int unknown(const char *name, struct error *err) {
    size_t count, n = 0;
    const struct join_phase *phases = join_phases(&count);
    _cleanup_(freep) const char **names = xcalloc(count + ARRAY_SIZE(groups) + 1, sizeof *names);

    for (size_t i = 0; i < count; i++)
        names[n++] = phases[i].id;
    for (size_t i = 0; i < ARRAY_SIZE(groups); i++)
        if (groups[i].phases[0])
            names[n++] = groups[i].name;
    names[n++] = "list";
    (void)error_set(err, ERROR_USAGE, "invalid phase name: %.60s", name);
    (void)nearest_hint(err, "", name, names, n);
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
