"""Reports as others read them: the page in a real browser (where there is one), its colors, Prometheus' text, JUnit.

The browser is Chromium (package chromium, 300 MB: nobody must have it). Screenshots are left in build/pages.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
WINJOIN = ROOT / "build/native/winjoin"
WIDTHS = (360, 768, 1280)
# A line of Prometheus' text format: https://prometheus.io/docs/instrumenting/exposition_formats/
NAME, LABEL = r"[a-zA-Z_:][a-zA-Z0-9_:]*", r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"'
SAMPLE = re.compile(r"(%s)\{((?:%s)(?:,%s)*)\} ([-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|Inf|NaN))$" % (NAME, LABEL, LABEL))
# What Jenkins' junit-10.xsd and GitLab take.
JUNIT = {"testsuites": ({"tests", "failures", "errors", "time"}, {"testsuite"}),
         "testsuite": ({"name", "timestamp", "tests", "failures", "errors", "skipped", "time"}, {"testcase"}),
         "testcase": ({"name", "classname", "time"}, {"failure", "error", "skipped"}),
         "failure": ({"message", "type"}, set()), "error": ({"message", "type"}, set()), "skipped": ({"message"}, set())}


def report():
    """A node with each outcome: red within and outside, not run, slow, skipped; two families."""
    def cell(flow, protocol, outcome, reason="", family="IPv4", to="10.244.3.5:18080"):
        return {"id": flow, "protocol": protocol, "outcome": outcome, "reason": reason, "family": family, "from": "winjoin-probe-a",
                "to": to, "attempts": 3, "succeeded": 0 if outcome in ("fail", "not-run", "skip") else 3,
                "latencyMs": {"min": 0.4, "median": 0.5, "p95": 0.6, "max": 0.7},
                "evidence": {"probe": "timeout" if outcome == "fail" else "ok"}}
    flows = [cell(flow, protocol, "pass") for flow in ("pod-to-pod-ip", "pod-to-pod-name", "pod-to-service-ip", "pod-to-service-pqdn",
                                                      "pod-to-service-fqdn") for protocol in ("TCP", "UDP")]
    flows += [cell("pod-to-external-ip", "TCP", "fail", "timeout, 2 attempts", to="192.0.2.1:443"),
              cell("pod-to-external-ip", "UDP", "fail", "dns-timeout, 2 attempts", to="192.0.2.53:53"),
              cell("pod-to-external-dns", "TCP", "fail", "timeout, 2 attempts", to="example.com:443"),
              cell("pod-to-external-dns", "UDP", "slow", "failed at first, then succeeded"),
              cell("node-to-pod", "TCP", "pass"), cell("node-to-pod", "UDP", "not-run", "winjoin-probe-a did not answer"),
              cell("pod-to-node", "TCP", "pass"), cell("pod-to-node", "UDP", "skip", "no-udp-listener"),
              cell("node-to-pod", "TCP", "pass", family="IPv6"), cell("node-to-pod", "UDP", "fail", "timeout, 2 attempts", "IPv6")]
    return {"kind": "DiagReport", "node": "win-7k2", "network": "overlay flannel.4096", "time": "2026-11-21T10:00:04Z", "flows": flows,
            "evidence": {"pods": {"a": {"ip": "10.244.3.4", "name": "winjoin-probe-a"}}, "expected": {"externalIP": "192.0.2.1"},
                         "extra": {"node-external": {"outcome": "ok"}},
                         "endpoints": [{"ID": "6f3c2a10-77aa-4f0e-9b1c-0123456789ab", "IpConfigurations": [{"IpAddress": "10.244.3.4"}],
                                        "Policies": [{"Type": "SDNRoute"}, {"Type": "ProviderAddress"}]}]}}


def luminance(color):
    parts = [int(color[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    return sum(weight * (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4)
               for weight, c in zip((0.2126, 0.7152, 0.0722), parts))


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


class Reports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.source = os.path.join(cls.folder, "report.json")
        with open(cls.source, "w", encoding="utf-8") as out:
            json.dump(report(), out)

    def shown(self, form):
        done = subprocess.run([WINJOIN, "diag", "--replay", self.source, "-o", form], capture_output=True, text=True, check=False)
        self.assertEqual(5, done.returncode, done.stderr)
        return done.stdout

    def test_prometheus(self):
        """As a strict reader of the format takes it: a family's lines together, its type before, no series twice."""
        families, series, last = {}, set(), None
        lines = self.shown("metrics").split("\n")
        self.assertEqual("", lines.pop())
        for line in lines:
            if line.startswith("# "):
                _, what, name, rest = line.split(" ", 3)
                self.assertIn(what, ("HELP", "TYPE"))
                if what == "TYPE":
                    self.assertNotIn(name, families)
                    self.assertEqual("gauge", rest)
                    last = families[name] = []
                continue
            found = SAMPLE.match(line)
            self.assertTrue(found, line)
            self.assertIs(last, families[found.group(1)], line)
            self.assertNotIn(found.group(1, 2), series)
            series.add(found.group(1, 2))
            last.append(float(found.group(3)))
        self.assertTrue(all(families.values()))
        self.assertEqual((19, [0.0]), (len(families["winjoin_diag_flow_up"]), families["winjoin_diag_up"]))

    def test_junit(self):
        """Elements and attributes that Jenkins and GitLab know, and counts that are right."""
        def check(element):
            attributes, children = JUNIT[element.tag]
            self.assertLessEqual(set(element.attrib), attributes, element.tag)
            for child in element:
                self.assertIn(child.tag, children)
                check(child)
        top = xml.etree.ElementTree.fromstring(self.shown("junit"))
        self.assertEqual("testsuites", top.tag)
        check(top)
        cases = top.findall("testsuite/testcase")
        for tag, count in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
            self.assertEqual(int(top.find("testsuite").get(count)), len([case for case in cases if case.find(tag) is not None]), tag)
        self.assertEqual(int(top.get("tests")), len(cases))
        self.assertEqual(len(cases), len({(case.get("classname"), case.get("name")) for case in cases}))

    def test_page_loads_nothing(self):
        page = self.shown("html")
        self.assertFalse(re.search(r"""(?:src|href)\s*=\s*["'](?!#)|@import|url\(|<script|<link""", page))
        ids = re.findall(r' id="([^"]+)"', page)
        self.assertEqual(len(ids), len(set(ids)))
        self.assertLessEqual(set(re.findall(r'href="#([^"]+)"', page)), set(ids))
        self.assertEqual(page.count("<details"), page.count("</details>"))
        self.assertEqual(5, page.count("<td class=\"fail\"") + page.count("<td class=\"not-run\""))

    def test_contrast(self):
        """At least 7 to 1, light and dark (WCAG 2.2, AAA)."""
        page = self.shown("html")
        schemes = re.findall(r":root\{([^}]*)\}", page)
        self.assertEqual(2, len(schemes))
        for scheme in schemes:
            colors = dict(pair.split(":") for pair in scheme.split(";"))
            for name in colors:
                if name.endswith("text"):
                    ground = colors[name.removesuffix("text") + "ground"]
                    self.assertGreaterEqual(contrast(colors[name], ground), 7, (name, scheme))

    @unittest.skipUnless(shutil.which("chromium"), "no browser")
    def test_in_a_browser(self):
        """No word on the console, nothing wider than the screen, and on paper all of it; screenshots to look at."""
        out = ROOT / "build/pages"
        out.mkdir(parents=True, exist_ok=True)
        path = os.path.join(self.folder, "page.html")
        # Measured by a script that only this copy has: is anything wider than the window?
        probe = ("<script>addEventListener('load',()=>{document.title='wide '+(document.documentElement.scrollWidth>innerWidth)"
                 "+' cells '+document.querySelectorAll('td details').length})</script></body>")
        with open(path, "w", encoding="utf-8") as page:
            page.write(self.shown("html").replace("</body>", probe))
        def chromium(*words):
            return subprocess.run(["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr",
                                   "--user-data-dir=" + os.path.join(self.folder, "profile"), *words, "file://" + path],
                                  capture_output=True, text=True, timeout=120, check=True)
        for width in WIDTHS:
            for dark in (False, True):
                picture = out / ("diag-%d%s.png" % (width, "-dark" if dark else ""))
                done = chromium("--window-size=%d,1600" % width, "--screenshot=%s" % picture,
                                *(["--force-dark-mode", "--blink-settings=preferredColorScheme=0"] if dark else []))
                self.assertNotIn("CONSOLE", done.stderr)
                self.assertGreater(picture.stat().st_size, 10000)
            done = chromium("--window-size=%d,1600" % width, "--dump-dom")
            self.assertIn("<title>wide false cells 5</title>", done.stdout)
        chromium("--print-to-pdf=%s" % (out / "diag.pdf"), "--no-pdf-header-footer")
        self.assertGreater((out / "diag.pdf").stat().st_size, 10000)


if __name__ == "__main__":
    unittest.main()
