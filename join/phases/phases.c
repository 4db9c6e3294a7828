/* The table of phases: their order, names and help. */
#include "join/phases/phases.h"

#include "base/nearest.h"
#include "join/found/need.h"
#include "join/join.h"

/* The phases in their order. The Pod subnet is known only when the Node has its podCIDR, so
 * pod-network comes after kubelet. vswitch interrupts the network once. It runs early, but only
 * after the cluster has accepted the node. */
const struct join_phase join_phases[] = {
    {"preflight", "preflight", "check that this machine can become a node", phase_preflight, 0,
     true},
    {"discovery", "discovery", "verify the cluster by token and CA hash, or by file",
     phase_discovery, NEED_CLIENT, true},
    {"configuration", "configuration", "read the cluster's ConfigMaps; plan the network",
     phase_configuration, NEED_CLUSTER, true},
    {"artifacts", "programs", "verify and install the programs", phase_artifacts, NEED_PLAN, false},
    {"certificate", "certificate", "get the node's client certificate signed", phase_certificate,
     NEED_CLIENT, false},
    {"vswitch", "vSwitch", "make the virtual switch and keep the adapter's addresses and routes",
     phase_vswitch, NEED_PLAN, false},
    {"files", "files", "write kubelet.conf, config.yaml, ca.crt and containerd's configuration",
     phase_files, NEED_PLAN | NEED_KUBELET_CONFIG, false},
    {"containerd", "containerd", "register and start containerd", phase_containerd, NEED_PLAN,
     false},
    {"kubelet", "kubelet", "register and start the kubelet; wait until it is healthy",
     phase_kubelet, NEED_PLAN, false},
    {"node", "node", "wait until the Node is registered and has its pod subnet", phase_node,
     NEED_NODE_CLIENT | NEED_PLAN, true},
    {"pod-network", "pod network", "make the HNS network, the CNI file and the source VIP",
     phase_pod_network, NEED_CLUSTER | NEED_NODE | NEED_PLAN, false},
    {"flanneld", "flanneld", "start flanneld where the cluster runs flannel; wait for its routes",
     phase_flanneld, NEED_NODE | NEED_PLAN, false},
    {"kube-proxy", "kube-proxy", "register and start kube-proxy; wait for its first Services",
     phase_kube_proxy, NEED_CLUSTER | NEED_NODE | NEED_PLAN, false},
    {"ready", "node Ready", "wait until the Node is Ready", phase_ready, NEED_NODE_CLIENT, true},
    {"verify", "verify", "test the pod network: nine flows, TCP and UDP", phase_verify, 0,
     /* This phase finds what it needs itself, because the API server may not answer. */
     false},
    {0},
};

/* ---- kubeadm's names of phases ---- */

/* kubeadm's phase preflight includes discovery; winjoin's phase preflight has the same name.
 * Discovery runs whenever a phase needs it, as in kubeadm when preflight is skipped. */
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

/* Sub-phases of kubeadm (1.37); all are for a control plane. */
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

int phase_names_resolve(const char *name, struct text_list *ret_ids, struct error *err) {
    const struct phase_group *group = group_of(name);
    _cleanup_(text_list_free) struct text_list known = {0};

    for (size_t i = 0; join_phases[i].id; i++) {
        if (text_equal(join_phases[i].id, name)) {
            text_list_add(ret_ids, name);
            return 0;
        }
        text_list_add(&known, join_phases[i].id);
    }
    if (!group) {
        for (size_t i = 0; phase_groups[i].name; i++)
            if (phase_groups[i].phases[0])
                text_list_add(&known, phase_groups[i].name);
        text_list_add(&known, "list");
        (void)error_set(err, ERROR_USAGE, "invalid phase name: %.60s", name);
        (void)nearest_hint(err, "", name, (const char *const *)known.items, known.count);
        return error_hint(err, "winjoin join phase list prints them");
    }
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
