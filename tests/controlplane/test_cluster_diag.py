#!/usr/bin/env python3
"""`winjoin diag --kubeconfig` against a modelled cluster: pairs, causes of red cells, rights, interruptions."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:1] = [str(ROOT / "tests")]

import patience  # noqa: E402
from controlplane import access, probes, resources  # noqa: E402
from controlplane.cluster import Cluster  # noqa: E402
from controlplane.settings import Settings  # noqa: E402

WINJOIN = str(ROOT / "build/native/winjoin")
# A process begins with the most that its parent ever had: counted by a small one between.
MEASURED = ("import resource, subprocess, sys; code = subprocess.call(sys.argv[2:]); "
            "open(sys.argv[1], 'w').write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)); sys.exit(code)")
NAMESPACES = resources.named("namespaces")
ROLE, BINDING = resources.named("clusterroles"), resources.named("clusterrolebindings")
RIGHTS = [("list", "nodes"), ("create", "namespaces"), ("list", "namespaces"), ("delete", "namespaces"),
          ("create", "pods"), ("list", "pods"), ("watch", "pods"), ("get", "pods/proxy"), ("create", "services")]


class ClusterDiag(unittest.TestCase):
    nodes = {"windows": 2, "linux": 2}
    settings = {}

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="cluster-diag.")
        self.addCleanup(shutil.rmtree, self.folder)
        self.cluster = Cluster(Settings(state=self.folder, node="", backlog=512, **self.settings))
        self.cluster.start()
        self.addCleanup(self.cluster.stop, save=False)
        self.model = probes.Model(self.cluster.api, **self.nodes)
        self.addCleanup(self.model.over.set)
        self.kubeconfig = self.cluster.kubeconfig()

    def start(self, *words, kubeconfig=None, measured=False, **keywords):
        count = [sys.executable, "-c", MEASURED, os.path.join(self.folder, "memory")] if measured else []
        return subprocess.Popen([*count, WINJOIN, "diag", "--kubeconfig", kubeconfig or self.kubeconfig, *words],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env={"PATH": os.environ["PATH"]}, **keywords)

    def diag(self, *words, code=0, **keywords):
        proc = self.start(*words, **keywords)
        out, err = proc.communicate(timeout=120)
        self.assertEqual(proc.returncode, code, out + err)
        return out, err

    def report(self, *words, code=0, **keywords):
        return json.loads(self.diag("-o", "json", *words, code=code, **keywords)[0])

    def memory(self):
        """MB that the last run had at most, if it was started so."""
        with open(os.path.join(self.folder, "memory"), encoding="utf-8") as f:
            return int(f.read()) / 1024

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
        self.assertEqual(re.findall(r"(?m)^!!  (\S+)", out), ["CL-NODE", "win-000"], out)
        self.assertIn(": fails only with the nodes above", out)

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

    def test_namespace_and_pods(self):
        """What an admission of Pod Security and the taints of any node let pass."""
        made = {}
        create = self.cluster.store.create

        def watched(kind, namespace, item):
            made.setdefault(kind.plural, []).append(item)
            return create(kind, namespace, item)
        self.cluster.store.create = watched
        self.diag()
        [space] = [n for n in made["namespaces"] if n["metadata"]["name"].startswith("winjoin-diag-")]
        self.assertEqual(space["metadata"]["labels"]["pod-security.kubernetes.io/enforce"], "restricted")
        self.assertEqual(len(made["pods"]), 4)
        for pod in made["pods"]:
            spec = pod["spec"]
            self.assertEqual(spec["tolerations"], [{"operator": "Exists"}])
            self.assertTrue(spec["securityContext"]["runAsNonRoot"])
            self.assertFalse(spec["automountServiceAccountToken"] or spec.get("hostNetwork") or spec.get("volumes"))
            linux = spec["nodeSelector"]["kubernetes.io/os"] == "linux"
            self.assertEqual(linux, "seccompProfile" in spec["securityContext"])
            for container in spec["containers"]:
                self.assertEqual(linux, "securityContext" in container)

    def test_formats(self):
        out, _ = self.diag("-o", "junit")
        self.assertIn('classname="win-000"', out)
        out, _ = self.diag("-o", "html")
        self.assertIn('<th scope="row" title="win-000">win-000</th>', out)

    def test_refusals(self):
        """What cannot be is refused before anything is asked."""
        _, err = self.diag("--count", "101", code=3)
        self.assertIn('invalid value "101" for --count: at most 100', err)
        self.assertEqual(self.model.started, 0)

    def test_large_packets(self):
        """Short ones arrive everywhere, large ones neither there nor back: a cause, and which way."""
        self.model.large = lambda source, target, udp, echo: source == "win-000" or (target == "win-000" and echo)
        report = self.report(code=5)
        red = [f for f in report["flows"] if f["outcome"] == "fail"]
        self.assertEqual({f["id"] for f in red}, {"pod-to-pod-ip"})
        self.assertEqual({f["largePackets"] for f in red if f["from"] == "win-000"}, {"lost-there"})
        self.assertEqual({f["largePackets"] for f in red if f["toNode"] == "win-000"}, {"lost-back"})
        self.assertEqual([(c["id"], c["message"].partition(":")[0]) for c in report["causes"]], [("CL-MTU-NODE", "win-000")])
        self.assertLess(report["durationSeconds"], 3 * probes.TIMEOUT * patience.factor())

    def test_loss(self):
        """Each third datagram of one pair is lost: exactly so many of --count."""
        lost = {"n": 0}

        def broken(source, target, udp):
            if udp and (source, target) == ("win-000", "win-001"):
                lost["n"] += 1
                return "reading from udp connection failed. err:'read udp: i/o timeout'" if lost["n"] % 3 == 0 else None
            return None
        self.model.broken = broken
        report = self.report("--count", "30", code=5)
        [cell] = [f for f in report["flows"] if (f["id"], f["protocol"], f["from"], f.get("toNode")) == (
            "pod-to-pod-ip", "UDP", "win-000", "win-001")]
        self.assertEqual(cell["outcome"], "fail")
        self.assertEqual(cell["attempts"], 30)
        self.assertTrue(19 <= cell["succeeded"] <= 21, cell)
        self.assertAlmostEqual(cell["lossPercent"], 100 * (30 - cell["succeeded"]) / 30)
        self.assertEqual([(c["id"], c["message"].partition(":")[0]) for c in report["causes"]],
                         [("CL-LOSS-PAIR", "win-000 to win-001")])


class Page(ClusterDiag):
    """The matrix of nodes as a person sees it; pictures are left in build/pages."""

    def page(self):
        self.model.not_started = {"win-001": "ImagePullBackOff"}
        self.model.broken = lambda source, target, udp: \
            "connect: connection refused" if "win-000" in (source, target) and "lin-000" in (source, target) else None
        return self.diag("-o", "html", code=5)[0]

    def test_links(self):
        page = self.page()
        ids = re.findall(r' id="([^"]+)"', page)
        self.assertEqual(len(ids), len(set(ids)))
        links = set(re.findall(r'href="#([^"]+)"', page))
        self.assertLessEqual(links, set(ids))
        self.assertTrue(any(link.startswith("red-") for link in links) and any(link.startswith("CL-") for link in links))
        self.assertIn("winjoin diag --kubeconfig FILE --nodes win-000,lin-000", page)
        self.assertFalse(re.search(r"""(?:src|href)\s*=\s*["'](?!#)|@import|url\(|<script|<link""", page))

    @unittest.skipUnless(shutil.which("chromium"), "no browser")
    def test_in_a_browser(self):
        out, path = ROOT / "build/pages", os.path.join(self.folder, "page.html")
        out.mkdir(parents=True, exist_ok=True)
        probe = "<script>addEventListener('load',()=>{document.title='wide '+(document.documentElement.scrollWidth>innerWidth)})</script></body>"
        with open(path, "w", encoding="utf-8") as f:
            f.write(self.page().replace("</body>", probe))

        def chromium(*words):
            return subprocess.run(["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                                   "--enable-logging=stderr", "--user-data-dir=" + os.path.join(self.folder, "profile"), *words,
                                   "file://" + path], capture_output=True, text=True, timeout=120, check=True)
        for width, dark in ((360, False), (768, True), (1280, False)):
            picture = out / ("cluster-%d%s.png" % (width, "-dark" if dark else ""))
            done = chromium("--window-size=%d,1600" % width, "--screenshot=%s" % picture,
                            *(["--force-dark-mode", "--blink-settings=preferredColorScheme=0"] if dark else []))
            self.assertNotIn("CONSOLE", done.stderr)
            self.assertGreater(picture.stat().st_size, 10000)
            self.assertIn("<title>wide false</title>", chromium("--window-size=%d,1600" % width, "--dump-dom").stdout)
        chromium("--print-to-pdf=%s" % (out / "cluster.pdf"), "--no-pdf-header-footer")
        self.assertGreater((out / "cluster.pdf").stat().st_size, 10000)


class Contexts(ClusterDiag):
    """Which kubeconfig, and which of its contexts."""

    def contexts(self):
        """A kubeconfig whose current context leads nowhere, and "good" to the cluster."""
        with open(self.kubeconfig, encoding="utf-8") as f:
            lines = f.read().split("\n")
        text = "\n".join("current-context: bad" if x.startswith("current-context:") else x for x in lines)
        field = {n: next(x for x in lines if x.strip().startswith(n)).split(":", 1)[1].strip() for n in ("cluster", "user")
                 for n in (n + ":",) if any(x.strip().startswith(n) and x.strip() != n for x in lines)}
        add = "contexts:\n- {name: good, context: {cluster: %s, user: %s}}\n- {name: bad, context: {cluster: none, user: none}}" % (
            field["cluster:"], field["user:"])
        path = os.path.join(self.folder, "contexts.conf")
        with open(path, "w", encoding="utf-8") as f:
            f.write(text.replace("contexts:", add, 1))
        return path

    def test_context(self):
        path = self.contexts()
        _, err = self.diag(code=3, kubeconfig=path)
        self.assertIn("--kubeconfig: ", err)
        _, err = self.diag("--context", "other", code=3, kubeconfig=path)
        self.assertIn("other", err)
        self.assertEqual(self.model.started, 0)
        self.diag("--context", "good", kubeconfig=path)

    def without_flag(self, code, *words, **environment):
        done = subprocess.run([WINJOIN, "diag", *words], capture_output=True, text=True, timeout=60, check=False,
                              env={"PATH": os.environ["PATH"], **environment})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stderr

    def test_environment(self):
        words = ("--nodes", "win-000,lin-001")
        self.without_flag(0, *words, KUBECONFIG=self.kubeconfig)
        home = os.path.join(self.folder, "home")
        os.makedirs(os.path.join(home, ".kube"))
        shutil.copy(self.kubeconfig, os.path.join(home, ".kube", "config"))
        self.without_flag(0, *words, HOME=home)
        self.without_flag(0, *words, HOME=home, KUBECONFIG="")
        err = self.without_flag(3, *words, HOME=home, KUBECONFIG="%s:%s" % (self.kubeconfig, home))
        self.assertIn("KUBECONFIG names several files, which are not merged", err)
        self.assertIn("use --kubeconfig FILE", err)


class DualStack(ClusterDiag):
    settings = {"services": "10.96.0.0/12,fd00:10:96::/112"}

    def test_both_families(self):
        self.model.dual = True
        report = self.report()
        for flow in ("pod-to-pod-ip", "pod-to-service-ip"):
            six = [(f["protocol"], f["to"]) for f in report["flows"] if f["id"] == flow and f["family"] == "IPv6"]
            self.assertEqual({p for p, _ in six}, {"TCP", "UDP"}, flow)
            self.assertTrue(all(to.startswith("[fd00:10:") for _, to in six), six)
        self.assertTrue(all(n["podIPv6"].startswith("fd00:10:244::") for n in report["nodes"]))

    def test_ipv6_alone(self):
        """Packets of IPv6 are lost, all else is well."""
        self.model.dual = True
        named = self.model.named
        self.model.named = lambda pod, host: "six" if host.startswith("fd00:") else named(pod, host)
        self.model.broken = lambda source, target, udp: "connect: no route to host" if target == "six" else None
        report = self.report(code=5)
        red = {(f["id"], f["family"]) for f in report["flows"] if f["outcome"] == "fail"}
        self.assertEqual(red, {("pod-to-pod-ip", "IPv6"), ("pod-to-service-ip", "IPv6")})
        self.assertEqual([c["id"] for c in report["causes"]], ["CL-IPV6"], report["causes"])


class Hostile(ClusterDiag):
    """An API server, or somebody in its place, that answers anything: it ends, small and soon, and with words."""

    def ends(self, fault, codes, seconds):
        self.cluster.api.book.add(fault)
        begin = time.monotonic()
        proc = self.start(measured=True)
        out, err = proc.communicate(timeout=seconds + 20)
        self.assertLess(self.memory(), 64, fault)
        self.cluster.api.book.clear()
        self.assertIn(proc.returncode, codes, out + err)
        self.assertLess(time.monotonic() - begin, seconds, fault)
        return out + err

    def test_nodes(self):
        nodes = "/api/v1/nodes"
        for fault in ({"body": "{"}, {"body": "[1]"}, {"body": '{"items": 7}'}, {"body": '{"items": [1, null, {"metadata": []}]}'},
                      {"body": "<html>" * 1000}, {"bytes": 100 << 20}, {"truncate": 100}, {"code": 500}, {"body": '{"kind": "NodeList"}'}):
            said = self.ends({"path": nodes, "method": "GET", **fault}, (1, 2, 3, 4), 45)
            self.assertIn("error", said.lower(), fault)
            self.assertEqual(self.left(), [])

    def test_probes(self):
        """Answers in the name of pods: cells are red or not run, and nothing stays."""
        for fault in ({"body": '{"responses": [7, {}, null, "\\u001b[31m"]}'}, {"bytes": 64 << 20, "count": 8}, {"body": "{"},
                      {"truncate": 3}):
            self.ends({"path": ".*/proxy/.*", **fault}, (0, 1, 5) if "count" in fault else (1, 5), 90)
            self.assertEqual(self.left(), [])

    def test_services_without_addresses(self):
        said = self.ends({"path": ".*/services", "method": "POST", "body": "{}"}, (1, 2, 3, 4), 45)
        self.assertIn("create Services: the answer has no clusterIP", said)
        self.assertEqual(self.left(), [])

    def test_pods_that_never_come(self):
        """Pods are refused one and all, as by an admission webhook: said with the server's words, nothing stays."""
        said = self.ends({"path": ".*/pods", "method": "POST", "code": 403, "reason": "Forbidden"}, (1,), 60)
        self.assertIn("the test asked for 403", said)
        self.assertEqual(self.left(), [])



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

    def test_hangs(self):
        """A program that never ends is ended after a minute; Ctrl-C ends it at once."""
        path = self.kubeconfig_of("time.sleep(600)")
        proc = self.start(kubeconfig=path)
        time.sleep(1)
        proc.send_signal(signal.SIGINT)
        proc.communicate(timeout=10)
        self.assertEqual(proc.returncode, 130)
        begin = time.monotonic()
        proc = self.start(kubeconfig=path)
        _, err = proc.communicate(timeout=90)
        self.assertIn(proc.returncode, (1, 2, 3, 4), err)
        self.assertIn("run './plugin' of the kubeconfig", err)
        self.assertTrue(55 < time.monotonic() - begin < 75, err)


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
            ["win-%03d" % i for i in range(150)] + ["lin-%03d" % i for i in range(50)]), code=5, measured=True)
        self.assertEqual(len(report["nodes"]), 200)
        used = self.memory()
        print("200 nodes: %d pairs, %.1f s, %d requests, at most %d at once, %.0f MB" % (
            report["pairs"], report["durationSeconds"], report["requests"], self.model.most, used))
        self.assertLess(used, 64)
        self.assertLess(report["durationSeconds"], 3 * probes.TIMEOUT * patience.factor())
        self.assertLess(report["pairs"], 210)
        red = {f["from"] for f in report["flows"] if f["outcome"] == "fail"}
        self.assertTrue(dead <= red)
        self.assertEqual(self.left(), [])


if __name__ == "__main__":
    unittest.main()
