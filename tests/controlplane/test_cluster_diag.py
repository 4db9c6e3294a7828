#!/usr/bin/env python3
"""`winjoin diag --kubeconfig` against a modelled cluster: pairs, causes of red cells, rights, interruptions."""
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:1] = [str(ROOT / "tests")]

from controlplane import access, probes, resources  # noqa: E402
from controlplane.cluster import Cluster  # noqa: E402
from controlplane.settings import Settings  # noqa: E402

WINJOIN = str(ROOT / "build/native/winjoin")
NAMESPACES = resources.named("namespaces")
ROLE, BINDING = resources.named("clusterroles"), resources.named("clusterrolebindings")
RIGHTS = [("list", "nodes"), ("create", "namespaces"), ("list", "namespaces"), ("delete", "namespaces"),
          ("create", "pods"), ("list", "pods"), ("watch", "pods"), ("get", "pods/proxy"), ("create", "services")]


class ClusterDiag(unittest.TestCase):
    nodes = {"windows": 2, "linux": 2}

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="cluster-diag.")
        self.addCleanup(shutil.rmtree, self.folder)
        self.cluster = Cluster(Settings(state=self.folder, node="", backlog=512))
        self.cluster.start()
        self.addCleanup(self.cluster.stop, save=False)
        self.model = probes.Model(self.cluster.api, **self.nodes)
        self.addCleanup(self.model.over.set)
        self.kubeconfig = self.cluster.kubeconfig()

    def start(self, *words, kubeconfig=None, **keywords):
        return subprocess.Popen([WINJOIN, "diag", "--kubeconfig", kubeconfig or self.kubeconfig, *words],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env={"PATH": os.environ["PATH"]}, **keywords)

    def diag(self, *words, code=0, **keywords):
        proc = self.start(*words, **keywords)
        out, err = proc.communicate(timeout=120)
        self.assertEqual(proc.returncode, code, out + err)
        return out, err

    def report(self, *words, code=0, **keywords):
        return json.loads(self.diag("-o", "json", *words, code=code, **keywords)[0])

    def left(self):
        """Namespaces of diagnoses that are there."""
        return [n["metadata"]["name"] for n in self.cluster.store.list(NAMESPACES)[0]
                if n["metadata"]["name"].startswith("winjoin-diag-")]


class Whole(ClusterDiag):
    def test_healthy(self):
        report = self.report()
        self.assertEqual(report["summary"]["fail"] + report["summary"]["notRun"], 0, report)
        pairs = {(f["from"], f["toNode"]) for f in report["flows"] if "toNode" in f}
        self.assertEqual({a for a, _ in pairs}, {b for _, b in pairs})
        self.assertEqual(len({a for a, _ in pairs}), 4)
        self.assertEqual({(a[:3], b[:3]) for a, b in pairs},
                         {(a, b) for a in ("win", "lin") for b in ("win", "lin")})
        self.assertEqual(self.left(), [])
        self.assertTrue(all(n["sessionAffinity"] and n["dnsServers"] == "10.96.0.10" for n in report["nodes"]))

    def test_healthy_nodes_are_one_line(self):
        out, _ = self.diag()
        self.assertIn("ok  lin-000, lin-001, win-000, win-001: every flow works", out)
        self.assertRegex(out, r"with \d+ requests to the\s+API\s+server")

    def test_one_way(self):
        self.model.broken = lambda source, target, udp: \
            "dial tcp: connect: no route to host" if (source, target) == ("win-000", "win-001") else None
        report = self.report(code=5)
        red = [f for f in report["flows"] if f["outcome"] == "fail"]
        self.assertTrue(red)
        self.assertEqual({(f["from"], f["toNode"], f["evidence"]["probe"]) for f in red},
                         {("win-000", "win-001", "unreachable")})

    def test_worst_node_is_told_once(self):
        self.model.broken = lambda source, target, udp: \
            "connect: connection refused" if "win-000" in (source, target) else None
        out, _ = self.diag(code=5)
        self.assertRegex(out, r"(?m)^!!  win-000 ")
        self.assertEqual(out.count("!!  "), 1, out)
        self.assertIn(": nothing but with the nodes above", out)

    def test_pod_that_never_starts(self):
        self.model.not_started = {"win-001": "ImagePullBackOff"}
        out, _ = self.diag(code=5)
        self.assertRegex(out, r"win-001 \(windows 10\.0\.20348\): no probe runs there:\s+ImagePullBackOff")
        self.assertEqual(self.left(), [])

    def test_names_that_do_not_resolve(self):
        self.model.broken = lambda source, target, udp: \
            "lookup x on 10.96.0.10:53: no such host" if source == "lin-000" and target == "backend" else None
        report = self.report(code=5)
        red = [f for f in report["flows"] if f["outcome"] == "fail"]
        self.assertEqual({(f["id"], f["evidence"]["probe"]) for f in red}, {("pod-to-service-pqdn", "dns-nxdomain")})

    def test_slow_to_converge(self):
        begin = time.monotonic()
        self.model.broken = lambda source, target, udp: \
            "connect: connection refused" if target == "backend" and time.monotonic() < begin + 3 else None
        self.assertIn("slow", {f["outcome"] for f in self.report()["flows"]})

    def test_chosen_nodes(self):
        report = self.report("--nodes", "win-000,lin-001")
        self.assertEqual([n["name"] for n in report["nodes"]], ["lin-001", "win-000"])
        _, err = self.diag("--nodes", "win-9", code=3)
        self.assertIn("the cluster has no node 'win-9'", err)
        report = self.report("--node-selector", "kubernetes.io/os=windows")
        self.assertEqual({n["os"] for n in report["nodes"]}, {"windows"})

    def test_formats(self):
        out, _ = self.diag("-o", "junit")
        self.assertIn('classname="win-000"', out)
        out, _ = self.diag("-o", "html")
        self.assertIn('<th scope="row">win-000</th>', out)


class Rights(ClusterDiag):
    def user(self, rights):
        rules = [{"verbs": [verb], "apiGroups": [""], "resources": [what]} for verb, what in rights]
        rules.append({"verbs": ["create"], "apiGroups": ["authorization.k8s.io"],
                      "resources": ["selfsubjectaccessreviews"]})
        for kind, item in ((ROLE, {"metadata": {"name": "some"}, "rules": rules}), (BINDING, {
                "metadata": {"name": "some"}, "roleRef": {"kind": "ClusterRole", "name": "some"},
                "subjects": [{"kind": "User", "name": "jane"}]})):
            if self.cluster.store.find(kind, "", "some"):
                self.cluster.store.delete(kind, "", "some")
            self.cluster.store.create(kind, "", item)
        return self.cluster.kubeconfig("jane", ("users",))

    def test_all_are_enough(self):
        self.diag(kubeconfig=self.user(RIGHTS))

    def test_one_by_one(self):
        for right in RIGHTS:
            out, err = self.diag(code=1, kubeconfig=self.user([r for r in RIGHTS if r != right]))
            self.assertIn("is not allowed to: %s %s\n" % right, err)
            self.assertEqual(self.left(), [])
            rules = json.loads(out)["items"][0]["rules"]
            self.assertIn({"apiGroups": [""], "resources": [right[1]], "verbs": [right[0]]}, rules)

    def test_all_missing_are_told_at_once(self):
        _, err = self.diag(code=1, kubeconfig=self.user([]))
        for right in RIGHTS:
            self.assertIn("%s %s" % right, err)


class Plugin(ClusterDiag):
    """Credentials that a program gives, as kubectl runs it."""

    def kubeconfig_of(self, script, **more):
        """A kubeconfig whose user runs a script with the administrator's pair as $CERT and $KEY."""
        with open(self.kubeconfig, encoding="utf-8") as f:
            lines = [line.strip() for line in f]
        field = {n: next(x for x in lines if x.startswith(n)).split()[1] for n in (
            "client-certificate-data:", "client-key-data:", "certificate-authority-data:", "server:")}
        program = os.path.join(self.folder, "plugin")
        with open(program, "w", encoding="utf-8") as f:
            f.write("#!/usr/bin/python3\nimport base64, json, os, sys, time\n"
                    "cert, key = (base64.b64decode(x).decode() for x in (%r, %r))\n"
                    "info = json.loads(os.environ['KUBERNETES_EXEC_INFO'])\n%s" % (
                        field["client-certificate-data:"], field["client-key-data:"], script))
        os.chmod(program, 0o700)
        path = os.path.join(self.folder, "plugin.conf")
        run = {"apiVersion": "client.authentication.k8s.io/v1", "command": "./plugin", "args": ["a"],
               "env": [{"name": "HELLO", "value": "there"}], "provideClusterInfo": True,
               "interactiveMode": "IfAvailable", **more}
        with open(path, "w", encoding="utf-8") as f:
            json.dump({"current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
                       "clusters": [{"name": "k", "cluster": {
                           "server": field["server:"],
                           "certificate-authority-data": field["certificate-authority-data:"]}}],
                       "users": [{"name": "u", "user": {"exec": run}}]}, f)
        return path

    GIVES = ("assert sys.argv[1:] == ['a'] and os.environ['HELLO'] == 'there'\n"
             "assert info['spec']['cluster']['server'].startswith('https://')\n"
             "print(json.dumps({'kind': 'ExecCredential', 'apiVersion': info['apiVersion'],\n"
             "                  'status': {'clientCertificateData': cert, 'clientKeyData': key}}))\n")

    def test_certificate(self):
        for version in ("v1", "v1beta1"):
            self.diag(kubeconfig=self.kubeconfig_of(self.GIVES, apiVersion="client.authentication.k8s.io/" + version))

    def test_refusals(self):
        for words, script, more in (
                ("it ended with exit code 3", "sys.exit(3)", {}),
                ("its output is not an ExecCredential", "print('s3cr3t')", {}),
                ("exec of apiVersion 'client.authentication.k8s.io/v1alpha1' is not supported", "",
                 {"apiVersion": "client.authentication.k8s.io/v1alpha1"}),
                ("interactiveMode Always is not supported", "", {"interactiveMode": "Always"}),
                ("hint: install it", "", {"command": "no-such-program", "installHint": "install it"})):
            proc = self.start(kubeconfig=self.kubeconfig_of(script, **more))
            out, err = proc.communicate(timeout=60)
            self.assertNotEqual(proc.returncode, 0)
            self.assertIn(words, err)
            self.assertNotIn("s3cr3t", out + err)


class Interrupted(ClusterDiag):
    def test_ctrl_c(self):
        self.model.broken = lambda source, target, udp: probes.SLOW
        proc = self.start()
        self.until(lambda: self.model.dials)
        self.assertEqual(len(self.left()), 1)
        proc.send_signal(signal.SIGINT)
        out, err = proc.communicate(timeout=20)
        self.assertEqual(proc.returncode, 130, out + err)
        self.assertEqual(self.left(), [])

    def test_ctrl_c_while_pods_start(self):
        self.model.not_started = {"win-001": "ContainerCreating"}
        proc = self.start()
        self.until(self.left)
        time.sleep(0.5)
        proc.send_signal(signal.SIGINT)
        out, err = proc.communicate(timeout=20)
        self.assertEqual(proc.returncode, 130, out + err)
        self.assertEqual(self.left(), [])

    def test_killed_run_is_swept(self):
        self.cluster.store.create(NAMESPACES, "", {"metadata": {
            "name": "winjoin-diag-0ld", "labels": {"app.kubernetes.io/managed-by": "winjoin-diag"}}})
        self.cluster.store.modify(NAMESPACES, "", "winjoin-diag-0ld", lambda n: n)
        key = (NAMESPACES, ("", "winjoin-diag-0ld"))
        self.diag()
        self.assertEqual(self.left(), ["winjoin-diag-0ld"], "it is young: its run may go on")
        self.cluster.store.items[key[0]][key[1]]["metadata"]["creationTimestamp"] = "2020-01-01T00:00:00Z"
        self.diag()
        self.assertEqual(self.left(), [])

    def test_connection_cut(self):
        """The API server is away while probes are asked, and comes back: the namespace goes all the same."""
        self.model.broken = lambda source, target, udp: probes.SLOW
        proc = self.start()
        self.until(lambda: self.model.dials)
        self.cluster.api.book.add({"path": ".*/proxy/.*", "reset": True})
        proc.communicate(timeout=60)
        self.assertEqual(proc.returncode, 5)
        self.assertEqual(self.left(), [])

    def until(self, what, seconds=20):
        end = time.monotonic() + seconds
        while not what():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)


class Many(ClusterDiag):
    nodes = {"windows": 150, "linux": 50}

    def test_two_hundred_nodes(self):
        """Less than three probe time-outs beside the pods' start, under 64 MB, some nodes dead."""
        dead = {"win-%03d" % i for i in range(0, 150, 30)}
        self.model.broken = lambda source, target, udp: probes.SLOW if dead & {source, target} else None
        report = self.report("--node-selector", "kubernetes.io/os", "--nodes", ",".join(
            ["win-%03d" % i for i in range(150)] + ["lin-%03d" % i for i in range(50)]), code=5)
        self.assertEqual(len(report["nodes"]), 200)
        used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        print("200 nodes: %d pairs, %.1f s, %d requests, at most %d at once, %.0f MB" % (
            report["pairs"], report["durationSeconds"], report["requests"], self.model.most, used))
        self.assertLess(used, 64)
        self.assertLess(report["pairs"], 210)
        red = {f["from"] for f in report["flows"] if f["outcome"] == "fail"}
        self.assertTrue(dead <= red)
        self.assertEqual(self.left(), [])


if __name__ == "__main__":
    unittest.main()
