"""What is in the cluster beyond what kubeadm creates: the agents' roles, flannel's settings, the
Linux machines of the fabric and the pods that run there without a kubelet."""
import json
import time

import fabric as fabrics
from controlplane import seed
from controlplane.client import Refused
from controlplane.settings import Peer, Settings

CLUSTER_INFO = "/api/v1/namespaces/kube-public/configmaps/cluster-info"
RBAC = "rbac.authorization.k8s.io"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
SETS = "/apis/apps/v1/namespaces/kube-system/daemonsets"
LINUX_NODES = ("cp", "l1")
CP_SUBNET = "10.244.1.0/24"


def create(cluster, path, kind, name, api="v1", **fields):
    """Creates an object; one that is there already stays."""
    metadata = {**fields.pop("metadata", {}), "name": name}
    try:
        cluster.call("POST", path, {"apiVersion": api, "kind": kind, "metadata": metadata, **fields})
    except Refused as why:
        if why.code != 409:
            raise


def daemon_set(cluster, name, **variables):
    """By which a network agent of Windows nodes is found; its container has these variables."""
    labels = {"app": name}
    create(cluster, SETS, "DaemonSet", name, "apps/v1", spec={
        "selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": {
            "nodeSelector": {"kubernetes.io/os": "windows"}, "containers": [
                {"name": "c", "image": "rig/agent:1",
                 "env": [{"name": k, "value": v} for k, v in variables.items()]}]}}})


def create_all(cluster):
    """Everything, into a cluster that kubeadm's phases have been through."""
    _roles(cluster)
    _flannel(cluster)
    if cluster.defaults:
        _configmap(cluster, "kube-system", "winjoin", {"NodeConfiguration": cluster.defaults})
    _slice(cluster, "kube-system", "kube-dns", [("dns", "UDP", 53), ("dns-tcp", "TCP", 53)],
           fabrics.DNS_POD)
    ports = [("p" + port, "TCP", int(port)) for port in fabrics.ECHO_PORTS]
    create(cluster, "/api/v1/namespaces/default/services", "Service", "echo", spec={
        "clusterIP": "None", "ports": [{"name": name, "port": port} for name, _, port in ports]})
    _slice(cluster, "default", "echo", ports, fabrics.ECHO_POD)
    _nodes(cluster)


def _configmap(cluster, namespace, name, data):
    create(cluster, "/api/v1/namespaces/%s/configmaps" % namespace, "ConfigMap", name, data=data)


def _flannel(cluster):
    create(cluster, "/api/v1/namespaces", "Namespace", "kube-flannel")
    backend = {"Type": "host-gw"} if cluster.fabric.mode != "overlay" else \
        {"Type": "vxlan", "VNI": fabrics.VNI, "Port": fabrics.VXLAN_PORT}
    conf = {"Network": fabrics.POD_RANGE, "EnableNFTables": False, "Backend": backend}
    _configmap(cluster, "kube-flannel", "kube-flannel-cfg",
               {"net-conf.json": json.dumps(conf, indent=2) + "\n"})


def _roles(cluster):
    """For the agents that run under the node's identity, and who may read winjoin's defaults."""
    at, api = "/apis/%s/v1" % RBAC, RBAC + "/v1"
    rules = {name: rules for _, name, rules in seed.ROLES}
    rows = [("", "kubeadm:cluster-admins", "ClusterRole", "cluster-admin",
             [(seed.GROUP, "kubeadm:cluster-admins")])]
    if cluster.agents:
        create(cluster, at + "/clusterroles", "ClusterRole", "flannel", api, rules=rules["flannel"])
        create(cluster, at + "/clusterroles", "ClusterRole", "windows-network-agents", api,
               rules=rules["windows-network-agents"])
        create(cluster, at + "/namespaces/kube-system/roles", "Role", "windows-defaults", api,
               rules=rules["windows-defaults"])
        rows += seed.NODE_SERVICE_BINDINGS
    if cluster.defaults:
        create(cluster, at + "/namespaces/kube-system/roles", "Role", "winjoin", api,
               rules=[seed.rule("get", "", "configmaps", ["winjoin"])])
        rows.append(("kube-system", "winjoin", "Role", "winjoin",
                     [(seed.GROUP, seed.BOOTSTRAPPERS), (seed.GROUP, seed.NODES)]))
    for namespace, name, kind, role, subjects in rows:
        path = "/namespaces/%s/rolebindings" % namespace if namespace else "/clusterrolebindings"
        create(cluster, at + path, "RoleBinding" if namespace else "ClusterRoleBinding", name, api,
               roleRef={"apiGroup": RBAC, "kind": kind, "name": role},
               subjects=[{"apiGroup": RBAC, "kind": k, "name": n} for k, n in subjects])


def _slice(cluster, namespace, service, ports, address):
    """The pods behind a Service, of which no kubelet tells."""
    create(cluster, "/apis/discovery.k8s.io/v1/namespaces/%s/endpointslices" % namespace,
           "EndpointSlice", service + "-rig", "discovery.k8s.io/v1", addressType="IPv4",
           metadata={"labels": {"kubernetes.io/service-name": service,
                                "endpointslice.kubernetes.io/managed-by": "rig"}},
           endpoints=[{"addresses": [address], "conditions": {"ready": True}}],
           ports=[{"name": name, "protocol": protocol, "port": port}
                  for name, protocol, port in ports])


def _nodes(cluster):
    """The Linux machines of the fabric; renew() keeps them Ready. Both come with their subnets: what the
    controller manager gives in the moment when it hears of both could be the other's."""
    setup = Settings(host=fabrics.CP, version=cluster.version,
                     flannel="vxlan" if cluster.fabric.mode == "overlay" else "host-gw")
    peer = Peer("l1", fabrics.L1, fabrics.L1_SUBNET, fabrics.L1_MAC)
    first = seed.control_plane_node(setup)
    first["spec"].update(podCIDR=CP_SUBNET, podCIDRs=[CP_SUBNET])
    for node in (seed.peer_node(setup, peer), first):
        name, status = node["metadata"]["name"], node.pop("status")
        create(cluster, "/api/v1/nodes", "Node", name, metadata=node["metadata"], spec=node["spec"])
        cluster.call("PATCH", "/api/v1/nodes/%s/status" % name, {"status": status},
                     "application/merge-patch+json")
        create(cluster, LEASES, "Lease", name, "coordination.k8s.io/v1",
               spec={"holderIdentity": name, "leaseDurationSeconds": 40})
    renew(cluster)


def renew(cluster):
    """The heartbeat of the machines that have no kubelet."""
    now = time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime())
    for name in LINUX_NODES:
        cluster.call("PATCH", LEASES + "/" + name, {"spec": {"renewTime": now}},
                     "application/merge-patch+json")
