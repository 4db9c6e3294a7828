"""The network agents of Windows nodes, found in a real cluster; and the taint that keeps pods away until an agent's
network stands, which the control plane keeps after a condition that a node may write."""
import json

import objects
from controlplane.client import Refused
from scenario import expect, expect_equal, expect_in, scenario

AGENTS = ("agents",)
NODE = "win-agent"
TAINT = "node.kubernetes.io/network-unavailable"
AS_NODE = ("--as=system:node:" + NODE, "--as-group=system:nodes", "--as-group=system:authenticated")


NAMES = ["calico-node-windows", "antrea-agent-windows", "kube-flannel-ds-windows-amd64", "kube-proxy-windows"]


def said(stage, *more, code=0):
    return stage.winjoin(*stage.rehearse(NODE, "configuration"), *more, code=code).said


def by_name(stage):
    """The rights of an earlier manifest, each DaemonSet by its name, are enough."""
    role = "/apis/rbac.authorization.k8s.io/v1/clusterroles/winjoin:network-agents"
    rules = stage.cluster.call("GET", role)["rules"]
    narrow = [r | {"resourceNames": NAMES} if r["resources"] == ["daemonsets"] else r for r in rules]
    stage.cluster.call("PATCH", role, {"rules": narrow}, "application/merge-patch+json")
    expect_in("--vni 4096 does not fit: the cluster's Calico uses 4097", said(stage, "--vni", "4096", code=3))
    stage.cluster.call("PATCH", role, {"rules": rules}, "application/merge-patch+json")


@scenario("agent-found", "Calico is found by its DaemonSet with the rights of config cluster, and what does not fit is "
          "refused", ("ci",) + AGENTS, agents=False)
def found(stage):
    bare = said(stage, "--network-plugin", "external")
    expect("Calico" not in bare, "seen without the right", bare)
    text = stage.winjoin("config", "cluster", code=0).out
    objects.daemon_set(stage.cluster, "calico-node-windows", CALICO_NETWORKING_BACKEND="vxlan", VXLAN_VNI="4097")
    objects.daemon_set(stage.cluster, "kube-proxy-windows")
    try:
        stage.cluster.kubectl("apply", "-f", "-", stdin=text)
        expect_in("plugin: external", stage.winjoin("config", "cluster", "--kubeconfig", stage.cluster.kubeconfig,
                                                    code=0).out, "the cluster's agent is not written down")
        expect_in("external", said(stage, "-o", "json", "-v", "1"), "not found")
        expect_in("network plugin 'flannel' does not fit: DaemonSet kube-system/calico-node-windows makes the pod "
                  "network of Windows nodes (Calico)", said(stage, "--network-plugin", "flannel", code=3))
        expect_in("--vni 4096 does not fit: the cluster's Calico uses 4097", said(stage, "--vni", "4096", code=3))
        expect_in("network mode 'l2bridge' does not fit", said(stage, "--network-mode", "l2bridge", code=3))
        asked = [r for r in stage.requests("winjoin") if "/daemonsets" in r["requestURI"]]
        expect_equal({r["responseStatus"]["code"] for r in asked}, {200}, "answers about DaemonSets")
        by_name(stage)
    finally:
        for name in ("calico-node-windows", "kube-proxy-windows"):
            stage.cluster.call("DELETE", objects.SETS + "/" + name)
        stage.cluster.kubectl("delete", "--ignore-not-found", "-f", "-", stdin=text)


def taints(stage):
    return [t["key"] for t in stage.cluster.call("GET", "/api/v1/nodes/" + NODE)["spec"].get("taints", ())]


def condition(stage, status):
    """As winjoin writes it, with the node's own rights (kubectl patch would read the status first, which it may not);
    again when the control plane has changed the Node meanwhile."""
    def write():
        node = stage.cluster.call("GET", "/api/v1/nodes/" + NODE)
        node["status"]["conditions"] = [{"type": "NetworkUnavailable", "status": status,
                                         "reason": "WinjoinNetworkPending"}]
        stage.cluster.kubectl(*AS_NODE, "replace", "--raw", "/api/v1/nodes/%s/status" % NODE, "-f", "-",
                              stdin=json.dumps(node))
        return True
    stage.cluster.wait_for(write, 20, what_for="written condition")


@scenario("agent-taint", "a node may not change its taints, but the condition after which the control plane does",
          ("ci",) + AGENTS, agents=False)
def taint(stage):
    objects.create(stage.cluster, "/api/v1/nodes", "Node", NODE)
    try:
        try:
            refusal = ""
            stage.cluster.kubectl(*AS_NODE, "patch", "node", NODE, "-p", json.dumps(
                {"spec": {"taints": [{"key": TAINT, "effect": "NoSchedule"}]}}))
        except (RuntimeError, Refused) as why:
            refusal = str(why)
        expect_in("is not allowed to modify taints", refusal)
        condition(stage, "True")
        stage.cluster.wait_for(lambda: TAINT in taints(stage), 30, what_for="taint")
        condition(stage, "False")
        stage.cluster.wait_for(lambda: TAINT not in taints(stage), 30, what_for="end of the taint")
    finally:
        stage.cluster.call("DELETE", "/api/v1/nodes/" + NODE)
