/* What kubeadm prints of its phases, and which of winjoin's they are. */
#include "cmd/kubeadm.h"

#include "join/kubelet/kubelet_files.h"

/* From kubernetes/cmd/kubeadm/app/cmd/join.go. */
const char kubeadm_joined_text[] =
    "\nThis node has joined the cluster:\n"
    "* Certificate signing request was sent to apiserver and a response was received.\n"
    "* The Kubelet was informed of the new secure connection details.\n\n"
    "Run 'kubectl get nodes' on the control-plane to see this node join the cluster.\n\n";

static const struct {
    const char *id, *phase, *begin;
} phases[] = {
    {"preflight", "preflight", "[preflight] Running pre-flight checks\n"},
    {"discovery", "preflight", ""},
    {"configuration", "preflight",
     "[preflight] Reading configuration from the \"kubeadm-config\" ConfigMap in namespace "
     "\"kube-system\"...\n"},
    {"artifacts", "kubelet-start", ""},
    {"certificate", "kubelet-start", ""},
    {"vswitch", "kubelet-start", ""},
    {"files", "kubelet-start",
     "[kubelet-start] Writing kubelet configuration to file \"" KUBELET_CONFIG_FILE "\"\n"
     "[kubelet-start] Writing kubelet environment file with flags to file \"" KUBELET_FLAGS_FILE
     "\"\n"},
    {"containerd", "kubelet-start", ""},
    {"kubelet", "kubelet-start", "[kubelet-start] Starting the kubelet\n"},
    {"node", "kubelet-wait-bootstrap",
     "[kubelet-start] Waiting for the kubelet to perform the TLS Bootstrap\n"},
};

const char *kubeadm_phase(const struct join_phase *phase) {
    for (size_t i = 0; i < ARRAY_SIZE(phases); i++)
        if (text_equal(phases[i].id, phase->id))
            return phases[i].phase;
    return phases[ARRAY_SIZE(phases) - 1].phase;
}

const char *kubeadm_begin_text(const struct join_phase *phase) {
    for (size_t i = 0; i < ARRAY_SIZE(phases); i++)
        if (text_equal(phases[i].id, phase->id))
            return phases[i].begin;
    return "";
}
