"""winjoin diag of a whole cluster beside `kubectl exec POD -- /agnhost connect` in a loop, for the same cells of one
real control plane: the scenario cluster-diag-peer, and a part of make bench."""
import contextlib
import time

import objects

CONNECTED = ("pod-to-pod-ip", "pod-to-node", "container-to-container-localhost")  # the others' Services are gone by then
SPACE = "peer"
PODS = "/api/v1/namespaces/%s/pods" % SPACE


@contextlib.contextmanager
def pods(cluster, nodes):
    """The same pods as diag's, which stay: the loop has its pods before its time begins."""
    objects.create(cluster, "/api/v1/namespaces", "Namespace", SPACE)
    for i, node in enumerate(nodes):
        objects.create(cluster, PODS, "Pod", "probe-%d" % (i + 1), spec={
            "nodeName": node["name"], "automountServiceAccountToken": False, "terminationGracePeriodSeconds": 0,
            "tolerations": [{"operator": "Exists"}], "containers": [
                {"name": "probe", "image": "agnhost", "args": ["netexec", "--http-port=8080", "--udp-port=8081"]},
                {"name": "neighbor", "image": "agnhost", "args": ["netexec", "--http-port=8082", "--udp-port=8083", "--http-override=/hostname"]},
                {"name": "settings", "image": "agnhost", "args": ["netexec", "--http-port=8084", "--udp-port=-1", "--http-override=/hostname"]}]})
    try:
        cluster.wait_for(lambda: cluster.kubectl("get", "pods", "-n", SPACE).count("Running") == len(nodes), 30,
                         what_for="running pods")
        yield
    finally:
        cluster.call("DELETE", "/api/v1/namespaces/" + SPACE)


def loop(cluster, report):
    """Seconds a cell, one after the other, and how many were asked."""
    places = {n["name"]: n for n in report["nodes"]}
    addresses = {p["metadata"]["name"]: p["status"]["podIP"] for p in cluster.call("GET", PODS)["items"]}
    names = {name: "probe-%d" % (i + 1) for i, name in enumerate(places)}
    begin, count = time.monotonic(), 0
    for flow in report["flows"]:
        if flow["id"] not in CONNECTED or flow["protocol"] == "UDP":
            continue
        host, _, port = flow["to"].rpartition(":")
        for name, node in places.items():
            if host == node["podIP"]:
                host = addresses[names[name]]
        cluster.kubectl("exec", "-n", SPACE, names[flow["from"]], "-c", "probe", "--", "/agnhost", "connect",
                        "%s:%s" % (host, port), "--timeout=5s")
        count += 1
    return (time.monotonic() - begin) / count, count


def measured(stage, rounds):
    """In turns: the reports of diag, and the seconds that the loop takes for a cell. Nothing is broken meanwhile."""
    reports, cells = [], []
    with contextlib.ExitStack() as stack:
        for _ in range(rounds):
            report, _ = stage.diag("-o", "json", code=0)
            if not reports:
                stack.enter_context(pods(stage.cluster, report["nodes"]))
            reports.append(report)
            cells.append(loop(stage.cluster, report))
    return reports, cells
