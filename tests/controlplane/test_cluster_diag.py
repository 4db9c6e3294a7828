#!/usr/bin/env python3
"""`winjoin diag --kubeconfig` against a modelled cluster: pairs, causes of red cells, the page, 200 nodes."""
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:1] = [str(ROOT / "tests")]

import patience  # noqa: E402
from controlplane import pod_exec, probes  # noqa: E402
from controlplane.cluster_case import ClusterDiag  # noqa: E402


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

    def test_late_answers(self):
        """Of a busy API server, or machine: what comes late is not lost."""
        chance = random.Random(3)
        for low, high, share, expected in ((3, 6, 1, set()), (10, 12, 0.3, {"CL-LATE"})):
            self.cluster.api.late = lambda l=low, h=high, s=share: chance.uniform(l, h) if chance.random() < s else 0
            proc = self.start("-o", "json")
            report = json.loads(proc.communicate(timeout=120)[0])
            self.assertLessEqual({c["id"] for c in report["causes"]}, expected, report["causes"])
            self.assertEqual(report["summary"]["fail"], 0)

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
            self.assertFalse(spec["automountServiceAccountToken"] or spec.get("hostNetwork"))
            self.assertEqual([set(v) - {"name"} for v in spec.get("volumes", [])], [{"emptyDir"}] * (spec["os"]["name"] == "linux"))
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


class ByExec(ClusterDiag):
    """The API server does not reach the pods of win-001 by their address."""
    def setUp(self):
        super().setUp()
        proxy, self.pods = self.model.proxy, pod_exec.Pods(self.model.proxy, shutil.which("curl"))
        self.addCleanup(self.pods.close)
        self.cluster.api.pods = self.pods
        self.cluster.api.pod_proxy = lambda pod, path, query: self.model.unreached(pod) \
            if self.model.pods.get(pod, ("",))[0] == "win-001" else proxy(pod, path, query)

    def test_loss(self):
        """Each fourth datagram to one node is lost; a name of another is not known each third time."""
        asked = {"udp": 0, "name": 0}

        def fault(d):
            what = "udp" if d.place == "pod" and d.udp and d.node == "lin-000" else "name" if d.place == "pod-name" and d.udp and \
                d.node == "lin-001" else None
            if d.source != "win-001" or d.large or not what:
                return None
            asked[what] += 1
            return "no answer: i/o timeout" if what == "udp" and asked[what] % 4 == 0 else \
                "lookup %s: no such host" % d.host if what == "name" and asked[what] % 11 == 10 else None
        self.model.fault = fault
        report = self.report("--count", "27", code=5)
        cells = {(f["id"], f["protocol"], f.get("toNode")): f for f in report["flows"] if f["from"] == "win-001" and f["id"] != "node-to-pod"}
        self.assertEqual({f["attempts"] for f in cells.values()}, {27}, cells)
        self.assertIn(cells["pod-to-pod-ip", "UDP", "lin-000"]["succeeded"], (20, 21))
        self.assertIn(cells["pod-to-pod-name", "UDP", "lin-001"]["succeeded"], range(1, 27))
        self.assertFalse([f for f in cells.values() if "latencyMs" in f or f["succeeded"] < 27 and f["toNode"] not in ("lin-000", "lin-001")])
        self.assertTrue(all("latencyMs" in f for f in report["flows"] if f["from"] == "win-000" and f["id"] != "node-to-pod"))
        self.assertIn(("CL-API-POD", "win-001"), [(c["id"], c["message"].partition(":")[0]) for c in report["causes"]])
        self.assertIn(("CL-LOSS-PAIR", "win-001 to lin-000"), [(c["id"], c["message"].partition(":")[0]) for c in report["causes"]])
        self.assertLessEqual(len(self.pods.runs), 1 + 3 + 1)  # once, --count as 20 and 6 and 1, what was red once more
        self.assertEqual(set(self.pods.runs), {next(p for p, (on, _) in self.model.pods.items() if on == "win-001")})


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


class Many(ClusterDiag):
    nodes = {"windows": 150, "linux": 50}

    def test_two_hundred_nodes(self):
        """Some nodes are cut off."""
        cut = {"win-%03d" % i for i in range(0, 150, 30)}
        self.model.broken = lambda source, target, udp: probes.SLOW if source != target and cut & {source, target} else None
        report = self.bounded()
        self.assertTrue(cut <= {f["from"] for f in report["flows"] if f["outcome"] == "fail"})

    def test_two_hundred_nodes_of_which_some_die(self):
        """Their probes do not even say their own names any more."""
        dead = {"win-%03d" % i for i in range(0, 150, 30)}
        self.model.broken = lambda source, target, udp: probes.SLOW if dead & {source, target} else None
        report = self.bounded()
        self.assertEqual([c["id"] for c in report["causes"]], ["CL-GONE"])
        self.assertTrue(report["causes"][0]["message"].startswith(", ".join(sorted(dead)) + ": "))

    def test_a_sample(self):
        """Of many nodes some, the same each time; and one that says that something is wrong with it."""
        self.change_node("win-077", lambda node: node["status"]["conditions"].append(
            {"type": "PodNetworkProved", "status": "False", "reason": "SVC-LOST", "message": "m"}))
        first, second = self.report(), self.report()
        names = [n["name"] for n in first["nodes"]]
        self.assertEqual(names, [n["name"] for n in second["nodes"]])
        self.assertEqual((len(names), first["sample"]["of"], first["sample"]["sayWrong"]), (121, 200, 1))
        self.assertEqual([n["says"] for n in first["nodes"] if "says" in n], ["PodNetworkProved is False: SVC-LOST: m"])
        out, _ = self.diag()
        self.assertIn("a sample: 121 of 200 nodes.", out)
        self.assertIn("win-077 says: PodNetworkProved is False", out)
        _, err = self.diag("--all-nodes", "--nodes", "win-001", code=3)
        self.assertIn("use either --nodes or --all-nodes", err)

    def bounded(self):
        """A report under 64 MB, at most two of the probes' time-outs later than one of healthy nodes: those who
        do not answer are not waited for one after the other."""
        arguments = ("--node-selector", "kubernetes.io/os", "--all-nodes")
        broken, self.model.broken = self.model.broken, lambda source, target, udp: None
        healthy = self.report(*arguments)["durationSeconds"]
        self.model.broken = broken
        report = self.report(*arguments, code=5, measured=True)
        self.assertEqual(len(report["nodes"]), 200)
        used = self.memory()
        print("200 nodes: %d pairs, %.1f s (healthy: %.1f s), %d requests, at most %d at once, %.0f MB" % (
            report["pairs"], report["durationSeconds"], healthy, report["requests"], self.model.most, used))
        self.assertLess(used, 64)
        self.assertLess(report["durationSeconds"], 1.5 * healthy + 2 * probes.TIMEOUT * patience.factor())
        self.assertLess(report["pairs"], 250)
        self.assertEqual(self.left(), [])
        return report


if __name__ == "__main__":
    unittest.main()
