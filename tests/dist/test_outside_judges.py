"""Reports of a node and of a cluster before judges of others: the Nu HTML checker, axe-core, Prometheus' lint of metrics,
Jenkins' schema of JUnit's XML. Each must also find a fault that is planted."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / folder) for folder in ("tests/dist", "tests/provision", "tests/cluster", "tests")]
import ansible_tools  # noqa: E402
import kept_files  # noqa: E402
import npm_files  # noqa: E402
import programs  # noqa: E402
import schemas  # noqa: E402
import test_page  # noqa: E402

CLUSTER = ROOT / "tests/fuzz/corpus/cluster_report/red"
# Rules of WCAG 2.2 to AAA and what axe-core calls best practice. It tells in the page's title, which Chromium prints.
AXE = """<script>%s</script><script>addEventListener("load", () => axe.run({runOnly: ["wcag2a", "wcag2aa", "wcag2aaa", "wcag21a",
"wcag21aa", "wcag22aa", "best-practice"]}).then(r => { document.title = JSON.stringify({passes: r.passes.length, wrong:
[...r.violations, ...r.incomplete].map(v => v.id + " at " + v.nodes.map(n => n.target.join(" ")).join(", "))}) }))</script></body>"""
CHROMIUM = ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
            "--disable-component-update", "--disable-sync", "--virtual-time-budget=20000", "--dump-dom"]


class Judges(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        return path

    def shown(self, form):
        """(what it is of, the report in this form)"""
        for what, source in (("node", self.write("node.json", json.dumps(test_page.report()))), ("cluster", CLUSTER)):
            done = subprocess.run([test_page.WINJOIN, "diag", "--replay", source, "-o", form], capture_output=True, text=True, check=False)
            self.assertEqual(5, done.returncode, done.stderr)
            yield what, done.stdout

    def tool(self, get, *words):
        try:
            return get(*words)
        except (kept_files.Missing, ansible_tools.Missing, programs.NoGo, OSError, subprocess.TimeoutExpired) as why:
            self.skipTest(str(why))

    def test_html(self):
        if not shutil.which("java"):
            self.skipTest("no Java to run the Nu HTML checker")
        checker = self.tool(npm_files.npm_file, "vnu-jar")
        pages = dict(self.shown("html"))
        pages["planted"] = pages["node"].replace("</main>", "<div><p></div></main>").replace('lang="en"', 'lang="no such"')
        done = subprocess.run(["java", "-jar", checker, "--format", "json", *(self.write(what + ".html", page) for what, page in pages.items())],
                              capture_output=True, text=True, check=False)
        found = {what: [] for what in pages}
        for message in json.loads(done.stderr)["messages"]:
            found[re.search(r"/(\w+)\.html$", message["url"])[1]].append(message["message"])
        self.assertNotEqual([], found.pop("planted"))
        self.assertEqual({"node": [], "cluster": []}, found)

    @unittest.skipUnless(shutil.which("chromium"), "no browser")
    def test_accessible(self):
        axe = self.tool(npm_files.npm_file, "axe-core").read_text(encoding="utf-8")

        def judged(page):
            path = self.write("page.html", page.replace("</body>", AXE % axe))
            done = subprocess.run([*CHROMIUM, "--user-data-dir=" + os.path.join(self.folder, "profile"), "file://" + path],
                                  capture_output=True, text=True, timeout=120, check=True)
            return json.loads(re.search(r"<title>(\{.*?\})</title>", done.stdout, re.S)[1].replace("&gt;", ">"))
        for what, page in self.shown("html"):
            verdict = judged(page)
            self.assertEqual(([], True), (verdict["wrong"], verdict["passes"] > 20), what)
            faulty = judged(page.replace('<html lang="en">', "<html>").replace("--text:#1b1b1b", "--text:#dddddd"))["wrong"]
            self.assertLessEqual({"html-has-lang", "color-contrast"}, {wrong.split()[0] for wrong in faulty}, what)

    def test_metrics(self):
        lint = self.tool(lambda: programs.ensure(["promlint"])["promlint"])

        def judged(text):
            done = subprocess.run([lint], input=text, capture_output=True, text=True, check=False)
            return done.returncode, done.stdout + done.stderr
        for what, text in self.shown("metrics"):
            self.assertEqual((0, ""), judged(text), what)
            self.assertEqual(1, judged(text.replace("winjoin_diag_up", "winjoin_diag_total"))[0], what)
            self.assertEqual(2, judged(text + "winjoin diag up 1\n")[0], what)

    def test_junit(self):
        schema, python = self.tool(schemas.schema, "junit"), self.tool(ansible_tools.tools) / "python"

        def judged(text):
            done = subprocess.run([python, ROOT / "tests/dist/judge_manifest.py", schema, self.write("junit.xml", text)],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(0, done.returncode, done.stderr)
            return done.stdout
        for what, text in self.shown("junit"):
            self.assertEqual("", judged(text), what)
            self.assertNotEqual("", judged(text.replace("<testsuites ", '<testsuites skipped="1" ')), what)


if __name__ == "__main__":
    unittest.main()
