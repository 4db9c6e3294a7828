"""What a join asks of a cluster that is full of others' objects: counted at the tests' own API server."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [HERE, os.path.dirname(HERE)]
import load  # noqa: E402
from controlplane import resources  # noqa: E402
from controlplane.cluster import Cluster  # noqa: E402
from controlplane.settings import Settings  # noqa: E402

SETS = 30  # DaemonSets do not come with Nodes or Services
NAMES = ["calico-node-windows", "antrea-agent-windows", "kube-flannel-ds-windows-amd64", "azure-cns-win", "calico-node",
         "antrea-agent", "canal", "rke2-canal", "kube-flannel-ds", "kube-flannel", "cilium", "weave-net", "kube-router",
         "kube-ovn-cni", "ovnkube-node", "aws-node", "kindnet", "terway-eniip", "kube-proxy-windows"]


def fill(store, count, sets):
    """So many Nodes, Services with their EndpointSlices and ConfigMaps of others, and so many DaemonSets."""
    for n in range(sets):
        store.create(resources.named("daemonsets"), "kube-system", {
            "metadata": {"name": "other-%d" % n}, "spec": {"template": {"spec": {"containers": []}}}})
    for n in range(count):
        address = "10.%d.%d.%d" % (100 + (n >> 16), n >> 8 & 255, n & 255)
        store.create(resources.named("nodes"), "", {
            "metadata": {"name": "other-%d" % n, "labels": {"kubernetes.io/os": "linux"}},
            "status": {"addresses": [{"type": "InternalIP", "address": address}]}})
        store.create(resources.named("services"), "default", {
            "metadata": {"name": "service-%d" % n}, "spec": {"clusterIP": address, "ports": [{"port": 80}]}})
        store.create(resources.named("endpointslices"), "default", {
            "metadata": {"name": "service-%d" % n, "labels": {"kubernetes.io/service-name": "service-%d" % n}},
            "addressType": "IPv4", "endpoints": [{"addresses": [address]}], "ports": [{"port": 8080}]})
        for namespace in ("default", "kube-system"):
            store.create(resources.named("configmaps"), namespace, {
                "metadata": {"name": "settings-%d" % n}, "data": {"text": "x" * 1000}})


def grant_by_name(store):
    """As older manifests of config cluster did: who joins may list each known DaemonSet by its name alone."""
    def narrow(role):
        for rule in role["rules"]:
            if rule["resources"] == ["daemonsets"]:
                rule["resourceNames"] = NAMES
        return role
    store.modify(resources.named("clusterroles"), "", "windows-network-agents", narrow)


def settle(traffic):
    """Until the server has seen that nobody asks any more: it writes down a watch when that ends."""
    end = time.monotonic() + 10
    while traffic.open and time.monotonic() < end:
        time.sleep(0.01)


def join(count, sets=SETS, by_name=False, **settings):
    """One join in a cluster with so many of each and so many DaemonSets: what the server was asked, [verb, path] in order, and what it
    answered, in bytes."""
    with tempfile.TemporaryDirectory() as folder:
        audit = os.path.join(folder, "audit")
        cluster = Cluster(Settings(state=os.path.join(folder, "server"), pods="10.128.0.0/9", **settings), audit)
        fill(cluster.store, count, sets)
        if by_name:
            grant_by_name(cluster.store)
        cluster.start()
        try:
            cluster.api.traffic.clear()
            facts = cluster.join_facts()
            rootfs = pathlib.Path(folder, "node")
            rootfs.mkdir()
            done = subprocess.run(load.command(facts, "win-1", rootfs, "0s"), capture_output=True, text=True, check=False)
            settle(cluster.api.traffic)
            bytes_ = cluster.api.traffic.facts()["answeredBytes"]
        finally:
            cluster.stop(save=False)
        if done.returncode or not load.joined(rootfs, "win-1"):
            raise RuntimeError(done.stderr)
        with open(audit, encoding="utf-8") as f:
            asked = [json.loads(line) for line in f]
        return [[r["verb"], r["path"].partition("?")[0]] for r in asked], bytes_
