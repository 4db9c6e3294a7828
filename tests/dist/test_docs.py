"""What the documents say can be typed: every command line, make target and path in them exists.

A command line is asked with --help added: the program reads all of it, and does nothing.
"""
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import sys
import unittest
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from symptoms import OWN_SYMPTOMS, SYMPTOMS  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
WINJOIN = ROOT / "build/native/winjoin"
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [*DOCUMENTS, ROOT / "SECURITY.md", ROOT / "CHANGELOG.md"]
# Placeholders in a line that is shown, and what is taken in its place.
STANDS_FOR = [("...", ""), ("phase NAME", "phase list"), ("^\n", " "), ("json|junit|html|metrics", "json"), ("powershell|bash", "bash")]
PRODUCT = ("base", "host", "pki", "kube", "netsetup", "services", "diag", "join", "cmd")


def read(path):
    return path.read_text(encoding="utf-8")


def command_lines(text):
    """`winjoin ...` in backticks, and indented lines that begin with it (a note may follow)."""
    joined = text.replace("^\n", " ")
    for found in re.findall(r"`(winjoin(?: [^`\n]*)?)`", joined):
        yield found
    for found in re.findall(r"^    (?:\S*[>$] )?(winjoin .*)$", joined, re.M):
        yield re.split(r"  +(?=[a-zA-Z])", re.sub(r"  +--", " --", found))[0]


def typed(line):
    for shown, taken in STANDS_FOR:
        line = line.replace(shown, taken)
    return shlex.split(line.split("|")[0].split(">")[0].replace("\\", "\\\\"))[1:]


class Documents(unittest.TestCase):
    def test_command_lines(self):
        seen = 0
        for path in DOCUMENTS:
            for line in command_lines(read(path)):
                words = typed(line)
                if not words or not re.fullmatch(r"-?-?[a-z]+", words[0]) or words[0] in ("probe", "service"):
                    continue  # a sentence, or what takes its words as they are
                done = subprocess.run([WINJOIN, *words, "--help"], capture_output=True, text=True, check=False)
                with self.subTest(document=path.name, line=line):
                    self.assertEqual((0, ""), (done.returncode, done.stderr))
                seen += 1
        self.assertGreater(seen, 20)

    def test_hints_of_the_program(self):
        """`winjoin VERB --flag` in an error or a hint: the verb has that flag."""
        for path in sorted(p for folder in PRODUCT for p in (ROOT / folder).rglob("*.c")):
            text = re.sub(r'"\s*\n\s*"', "", read(path))
            for verb, flags in re.findall(r"winjoin ([a-z]+)((?: --[a-z-]+(?: [A-Zvw<%]\S*)?)+)", text):
                shown = subprocess.run([WINJOIN, verb, "--help"], capture_output=True, text=True, check=False).stdout
                for flag in re.findall(r"--[a-z-]+", flags):
                    with self.subTest(source=path.name, verb=verb, flag=flag):
                        self.assertRegex(shown, flag + r"\b")

    def test_codes(self):
        """Each code of a skipped cell that docs/diag.md tells is one of the program's."""
        told = read(ROOT / "docs/diag.md")
        source = "".join(read(p) for p in [*(ROOT / "diag").rglob("*.c"), ROOT / "netsetup/modes/mode.h"])
        for code in re.findall(r"^\| `([a-z-]+)` \|", told, re.M):
            with self.subTest(code=code):
                self.assertTrue('"%s"' % code in source, "no such code")

    def test_reference(self):
        """docs/reference is what the program's tables make of it: make docs."""
        made = ROOT / "build/native/reference-page"
        names = subprocess.run([made], capture_output=True, text=True, check=True).stdout.split()
        self.assertEqual({*names, "metrics"}, {path.stem for path in (ROOT / "docs/reference").glob("*.md")}, "run: make docs")
        for name, words in [*((name, [made, name]) for name in names), ("metrics", [sys.executable, "-B", ROOT / "dist/man/metrics.py"])]:
            with self.subTest(name):
                page = subprocess.run(words, capture_output=True, text=True, check=True).stdout
                self.assertEqual(page, read(ROOT / "docs/reference" / (name + ".md")), "run: make docs")
        ids = re.findall(r"^## ([A-Z][A-Z0-9-]+)$", read(ROOT / "docs/reference/causes.md"), re.M)
        self.assertGreater(len(ids), 50)
        self.assertEqual(len(ids), len(set(ids)))

    def test_causes_of_troubleshooting(self):
        known = set(re.findall(r"^##+ ([A-Z][A-Z0-9-]+)$", read(ROOT / "docs/reference/causes.md"), re.M))
        for row in re.findall(r"^\|[^|]+\| ([A-Z0-9-]+(?:, [A-Z0-9-]+)*) \|", read(ROOT / "docs/troubleshooting.md"), re.M):
            with self.subTest(row=row):
                self.assertLessEqual(set(row.split(", ")) - {"-"}, known)

    def test_symptoms(self):
        """Each text that people search for is in one row of docs/troubleshooting.md, with cause, remedy and a thread."""
        rows = [re.split(r" \| ", line.strip("| ")) for line in read(ROOT / "docs/troubleshooting.md").splitlines()
                if line.startswith("| `")]
        source = "".join(re.sub(r'"\s*\n\s*"', "", read(p)) for folder in PRODUCT for p in (ROOT / folder).rglob("*.c"))
        self.assertGreater(len(SYMPTOMS), 60)
        for text in SYMPTOMS + OWN_SYMPTOMS:
            with self.subTest(text=text):
                found = [row for row in rows if row[0] == "`%s`" % text]
                self.assertEqual(1, len(found))
                self.assertEqual(4, len(found[0]))
                self.assertTrue(all(found[0]))
                self.assertRegex(found[0][3], r"^[\w.-]+/[\w.-]+#\d+$")
        for text in OWN_SYMPTOMS:
            with self.subTest(own=text):
                self.assertIn(text.split(" or a blank")[0], source)

    def test_servers(self):
        """Each row of docs/servers.md names its folders of tests/servers, each folder has a row, and what it says of a join is its end."""
        ends = {p.parent.name: json.loads(read(p)) for p in (ROOT / "tests/servers").glob("*/end.json")}
        rows = [line.strip("| ").split(" | ") for line in read(ROOT / "docs/servers.md").splitlines() if line.startswith("| ")][1:]
        named = []
        for row in rows:
            with self.subTest(server=row[0]):
                self.assertEqual(4, len(row))
                names = re.findall(r"`([\w-]+)`", row[3])
                self.assertTrue(names)
                named += names
                for name in names:  # the first join is without words of its own, as a rule
                    codes = [join["exit"] for join in ends[name]]
                    self.assertEqual(re.split("[ ,]", row[1])[0], "no" if all(codes) else "yes" if not codes[0] else "with", name)
        self.assertEqual(sorted(ends), sorted(set(named)))

    def test_clusters(self):
        """Each row of docs/clusters.md names its folders of tests/zoo, each folder has a row, and what it says of a join is its end."""
        ends = {p.parent.name: json.loads(read(p)) for p in (ROOT / "tests/zoo").glob("*/end.json")}
        rows = [line.strip("| ").split(" | ") for line in read(ROOT / "docs/clusters.md").splitlines() if line.startswith("| ")][1:]
        named = []
        for row in rows:
            with self.subTest(cluster=row[0]):
                self.assertEqual(5, len(row))
                names = re.findall(r"`([\w-]+)`", row[4])
                self.assertTrue(names)
                named += names
                refused = [ends[name]["exit"] != 0 and "required programs" not in ends[name]["error"] for name in names]
                self.assertTrue(all(refused) if row[1].startswith("no") else not all(refused) or row[1] != "yes", "%s: %s" % (row[1], refused))
        self.assertEqual(sorted(ends), sorted(set(named)))

    def test_phases(self):
        """`winjoin join phase NAME` in a document, an error or a hint: there is that phase."""
        listed = subprocess.run([WINJOIN, "join", "phase", "list"], capture_output=True, text=True, check=True).stdout
        known = {"list", *re.findall(r"^([a-z-]+) ", listed, re.M)}
        self.assertGreater(len(known), 10)
        for path in [*DOCUMENTS, *sorted(p for folder in PRODUCT for p in (ROOT / folder).rglob("*.c"))]:
            text = re.sub(r'"\s*\n\s*"', "", read(path))
            for name in re.findall(r"winjoin join phase ([a-z-]+)", text):
                with self.subTest(file=path.name):
                    self.assertIn(name, known)

    def test_exit_codes(self):
        """README, --help and the manual page have the codes of base/error.c, and 0."""
        codes = {0, *map(int, re.findall(r'^    \[ERROR_[A-Z]+\] = \{"[a-z-]+", (\d+)', read(ROOT / "base/error.c"), re.M))}
        self.assertGreater(len(codes), 6)
        shown = subprocess.run([WINJOIN, "--help"], capture_output=True, text=True, check=True).stdout
        for name, text in (("README", read(ROOT / "README.md")), ("--help", shown)):
            told = re.search(r"Exit codes: (.*?)\.\s*\n", text, re.S).group(1)
            with self.subTest(name):
                self.assertEqual(codes, {int(n) for n in re.findall(r"(?:^|[,)] |,\n)(\d+) ", told)})

    def test_network_modes(self):
        """The documents' modes and plugins are those that --network-mode and --network-plugin offer."""
        shown = subprocess.run([WINJOIN, "join", "--help"], capture_output=True, text=True, check=True).stdout
        modes = set(re.search(r"--network-mode CHOICE[^:]*:[^:]*: ([^:]*?)\n +--", shown).group(1).replace(",", " ").split())
        plugins = set(re.search(r"--network-plugin CHOICE[^:]*: ([^:]*?)\n +--", shown).group(1).replace(",", " ").split())
        table = re.search(r"## Network modes and plugins\n(.*?)\n\n[A-Z]", read(ROOT / "docs/configuration.md"), re.S).group(1)
        rows = re.findall(r"^\| `([a-z0-9]+)` \|.*\| (.*) \|$", table, re.M)
        self.assertEqual(modes, {mode for mode, _ in rows})
        self.assertEqual(plugins, {name for _, cell in rows for name in re.findall(r"`([a-z0-9-]+)`", cell)})
        self.assertEqual(modes, set(re.findall(r"`([a-z0-9]+)` \(", re.search(r"^\| network modes \|.*$", read(ROOT / "docs/features.md"),
                                                                             re.M).group(0))))

    def test_firewall_rules(self):
        """SECURITY.md's table has each rule of the firewall that the program makes, and no other."""
        made = set()
        for path in sorted(p for folder in PRODUCT for p in (ROOT / folder).rglob("*.c")):
            text = read(path)
            names = dict(re.findall(r'^#define (\w+) "(.*)"$', text, re.M))
            for name in re.findall(r"(?:\.firewall = |host_firewall_rule \w+ = )\{\s*\.name = ([^,]+),", text):
                made.add(names.get(name, name.strip('"')))
        table = re.search(r"\| rule of Windows Firewall .*?\n\n", read(ROOT / "SECURITY.md"), re.S).group(0)
        self.assertEqual(made, set(re.findall(r"^\| `([^`]+)`", table, re.M)))

    def test_security(self):
        """docs/security.md: each file with secrets is closed in SECURITY.md's table; port and time of a cluster's probes are theirs."""
        told, ports = read(ROOT / "docs/security.md"), read(ROOT / "diag/cluster/probes/asking.h")
        secrets = re.findall(r"`(C:\\[^`]+)`", re.search(r"## Which files hold secrets\n(.*?)\n## ", told, re.S)[1])
        closed = {path for row in re.findall(r"^\|(.*)\| SYSTEM and Administrators only(?: list it;.*)? \|$", read(ROOT / "SECURITY.md"), re.M)
                  for path in re.findall(r"`(C:\\[^`]+)`", row)}
        self.assertGreater(len(secrets), 4)
        self.assertLessEqual(set(secrets), closed)
        self.assertEqual(re.search(r"PROBE_HTTP = (\d+)", ports)[1], re.search(r"Port (\d+) of each probe pod", told)[1])
        self.assertEqual(int(re.search(r"POD_LIFE_SECONDS = (\d+)", ports)[1]), 60 * int(re.search(r"by themselves (\d+) minutes", told)[1]))

    def test_counts(self):
        """How many checks there are, and flows."""
        with tempfile.TemporaryDirectory() as host:
            shown = subprocess.run([WINJOIN, "preflight", "--rootfs", host], capture_output=True, text=True, check=False).stdout
        checks = int(re.search(r"^(\d+) checks: ", shown, re.M).group(1))
        for path in (ROOT / "docs/features.md", ROOT / "CHANGELOG.md"):
            for count in re.findall(r"(\d+) checks", read(path)):
                with self.subTest(document=path.name):
                    self.assertEqual(checks, int(count))

    def test_rows_are_numbered(self):
        rows = re.findall(r"^\| (\d+) \|", read(ROOT / "docs/on-real-windows.md"), re.M)
        self.assertEqual([str(i + 1) for i in range(len(rows))], rows)

    def test_rows_say_who_settles_them(self):
        """The last column: rows of the acceptance kit, or what a person has to do."""
        for line in re.findall(r"^\| \d+ \|.*$", read(ROOT / "docs/on-real-windows.md"), re.M):
            with self.subTest(row=line[:60]):
                cells = line.strip("| ").split(" | ")
                self.assertEqual(5, len(cells))
                self.assertRegex(cells[4], r"^(`[a-z0-9-]+`|by hand: .)")

    def test_make_targets(self):
        makefiles = "".join(read(p) for p in [ROOT / "Makefile", *ROOT.glob("dist/make/*.mk")])
        targets = set(re.findall(r"^([a-z][a-z0-9-]*):(?!=)", makefiles, re.M))
        for path in DOCUMENTS:
            for target in re.findall(r"(?:`|^    )make ([a-z][a-z0-9-]*)", read(path), re.M):
                with self.subTest(document=path.name, target=target):
                    self.assertIn(target, targets)

    def test_paths(self):
        for path in DOCUMENTS:
            for name in re.findall(r"`((?:base|host|pki|kube|netsetup|services|diag|join|cmd|tests|dist|docs)/[\w./-]+)`",
                                   read(path)):
                with self.subTest(document=path.name, path=name):
                    self.assertTrue(list(ROOT.glob(re.sub("[A-Z]+(?=[./])", "*", name).rstrip("/") + "*")))

    def test_paragraphs(self):
        """None above six lines of a hundred characters, in any page but the list of changes."""
        for path in PAGES[:-1]:
            text = re.sub(r"^```.*?^```$", "", read(path), flags=re.M | re.S)
            for block in re.split(r"\n\s*\n|\n(?=[-*] |\d+\. |[|#])", text):
                with self.subTest(document=path.name, block=block[:60]):
                    plain = block.strip() if re.match(r"\s*[^|#>\s]", block) and not block.startswith("    ") else ""
                    self.assertLessEqual(len(plain.splitlines()), 6)
                    self.assertLessEqual(len(" ".join(plain.split())), 600)

    def test_pictures(self):
        """Each can be read out, and loads nothing; the picture of a join ends with one that was proved."""
        for path in (ROOT / "docs/pictures").glob("*.svg"):
            with self.subTest(path.name):
                root = xml.etree.ElementTree.parse(path).getroot()
                self.assertEqual("img", root.get("role"))
                self.assertEqual(["title", "desc"], [child.tag.rpartition("}")[2] for child in root[:2]])
                self.assertNotRegex(read(path), r"href=|url\(|<image|<script")
        words = "".join(xml.etree.ElementTree.parse(ROOT / "docs/pictures/join.svg").getroot().itertext())
        self.assertRegex(words, r"winjoin join 10\.0\.0\.10:6443 [\s\S]*9 of 9 flows work[\s\S]* is Ready and its pods can talk")

    def test_no_conflict_is_left(self):
        for path in PAGES:
            self.assertIsNone(re.search(r"^(<<<<<<<|>>>>>>>)", read(path), re.M), path.name)

    def test_links(self):
        for path in PAGES:
            for target in re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", read(path)):
                with self.subTest(document=path.name, link=target):
                    self.assertTrue((path.parent / target).exists())


@unittest.skipUnless(shutil.which("groff"), "no groff on this machine")
class ManualPages(unittest.TestCase):
    def test_roff_is_well_formed(self):
        overview = subprocess.run([WINJOIN, "help"], capture_output=True, text=True, check=True).stdout
        verbs = re.findall(r"^  ([a-z]+)  ", overview, re.M)
        self.assertIn("join", verbs)
        subprocess.run(["make", "-s", "man"], cwd=ROOT, check=True)
        for section in ("COMMANDS", "ENVIRONMENT", "FILES"):
            self.assertIn(f".SH {section}\n", read(ROOT / "build/man/winjoin.1"))
        for name in ["winjoin", *("winjoin-" + verb for verb in verbs)]:
            page = (ROOT / "build/man" / (name + ".1")).read_bytes()
            done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-P-c"], input=page, capture_output=True, check=False)
            text = re.sub("[^\n]\b", "", done.stdout.decode())
            with self.subTest(page=name):
                self.assertRegex(text, rf"(?m)^ +{name} +- ")
                self.assertEqual((0, ""), (done.returncode, done.stderr.decode()))
                for section in ("NAME", "SYNOPSIS", "OPTIONS", "EXIT STATUS"):
                    self.assertRegex(text, rf"(?m)^{section}$")


if __name__ == "__main__":
    unittest.main()
