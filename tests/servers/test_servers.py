#!/usr/bin/python3
"""Servers as images, scripts and administrators leave them, each in a folder with the end that a join has there.

  server.json  source (repositories, files, versions, "learn.microsoft.com: its pages", or "from memory: what it is"),
               state (members of docs/rehearsal.md, besides a new server's), files (path and text: a list of lines, {"go": module, "version": its} for a program, or null for
               a folder), environment, cluster (a folder of
               tests/zoo; else kubeadm-flannel) and joins (words besides the usual, one list a join)
  end.json     of each join: exit, checks (warnings and errors that a new server has not, with their remedies) and either
               plan (what `winjoin join --dry-run` prints otherwise than on a new server) or error and hints

SERVERS="NAME ..." plays these alone; WRITE=1 writes end.json again: look at the difference.
"""
import concurrent.futures
import difflib
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/zoo")]

import test_zoo as zoo  # noqa: E402

SERVERS = pathlib.Path(__file__).resolve().parent
MEMBERS = {"source", "state", "files", "environment", "cluster", "joins"}
SYSTEM = {"C:\\Windows\\System32\\xcopy.exe": ""}  # of each Windows


def servers():
    return sorted(p.parent for p in SERVERS.glob("*/server.json"))


def read(folder, name):
    return json.loads((folder / name).read_text(encoding="utf-8"))


def program(module, version):
    """Headers of a Windows program, a section of data, and Go's build information in it."""
    said = b"0w\xaf\x0c\x92t\x08\x02A\xe1\xc1\x07\xe6\xd6\x18\xe6"
    said += b"mod\t%s\t%s\t\n" % (module.encode(), version.encode()) + said
    header = struct.pack("<2s58xI64x", b"MZ", 0x80) + struct.pack("<4sHHIIIHH", b"PE", 0x8664, 1, 0, 0, 0, 240, 0x22)
    header += struct.pack("<H106xI128x", 0x20B, 16) + struct.pack("<8sIIIIIIHHI", b".data", 0, 0x1000, 0x400, 0x200, 0, 0, 0, 0, 0xC0600040)
    go = b"\xff Go buildinf:\x08\x02".ljust(32, b"\0") + b"\x08go1.26.8" + bytes([len(said) & 0x7F | 0x80, len(said) >> 7]) + said
    return header.ljust(0x200, b"\0") + go.ljust(0x400, b"\0")


class Cluster:
    """One of tests/zoo, as an administrator prepared it."""

    def __init__(self, name, state):
        self.zoo = zoo.Zoo(zoo.ZOO / name, os.path.join(state, name))
        self.zoo.cluster.start()
        self.facts = self.zoo.cluster.join_facts()
        made = zoo.run("config", "cluster", "--kubeconfig", self.facts["kubeconfig"], "-o", "json")
        for item in zoo.objects_in(made.stdout):
            self.zoo.put(item)
        with tempfile.TemporaryDirectory() as folder:
            self.new = self.join(folder, {}, [])

    def join(self, rootfs, server, words):
        """(exit code, lines of the plan, lines that are said)"""
        place(rootfs, server)
        facts = self.facts
        done = subprocess.run([zoo.WINJOIN, "join", facts["endpoint"], "--token", facts["token"], "--discovery-token-ca-cert-hash",
                               facts["caCertHash"], "--dry-run", *zoo.prefix_of(self.zoo.cluster.setup.pods), "--rootfs", rootfs,
                               *words], capture_output=True, text=True, check=False, timeout=120,
                              env={**zoo.ENVIRONMENT, **server.get("environment", {})})
        said = done.stderr.replace(facts["endpoint"], "ENDPOINT")
        return done.returncode, done.stdout.replace(facts["endpoint"], "ENDPOINT").splitlines(), said.splitlines()


def place(rootfs, server):
    """A Windows in a folder: its files, and what no file shows."""
    for path, text in {**SYSTEM, **server.get("files", {})}.items():
        file = pathlib.Path(rootfs, path[3:].replace("\\", "/"))
        (file if text is None else file.parent).mkdir(parents=True, exist_ok=True)
        if isinstance(text, dict):
            file.write_bytes(program(text["go"], text["version"]))
        elif text is not None:
            file.write_text("\n".join([*text, ""]) if isinstance(text, list) else text, encoding="utf-8")
    state = pathlib.Path(rootfs, ".winjoin-host/state.json")
    state.parent.mkdir(exist_ok=True)
    state.write_text(json.dumps(server.get("state", {})), encoding="utf-8")


def seen(words, new, done):
    (_, new_plan, new_said), (code, plan, said) = new, done
    checks = [line.strip().removeprefix("! ") for line in said if line not in new_said and re.match(r" +! \S|error: \[|warning: ", line)]
    ret = {"join": words, "exit": code, "checks": list(dict.fromkeys(checks))}
    if code:
        told = [re.sub(r" of \d+ checks", " of all checks", line) for line in said if re.match("error: |hint: ", line)]
        return ret | {"said": told}
    changed = [line for line in difflib.unified_diff(new_plan, plan, n=0, lineterm="") if not re.match(r"---|\+\+\+|@@", line)]
    return ret | {"plan": changed}


def play(folder, clusters):
    server = read(folder, "server.json")
    cluster = clusters[server.get("cluster", "kubeadm-flannel")]
    ends = []
    for words in server.get("joins", [[]]):
        with tempfile.TemporaryDirectory(prefix="servers.") as rootfs:
            ends.append(seen(words, cluster.new, cluster.join(rootfs, server, words)))
    return ends


class Ends(unittest.TestCase):
    maxDiff = None

    def test_each_server(self):
        if not os.path.exists(zoo.WINJOIN):
            self.skipTest("winjoin is not built")
        only = os.environ.get("SERVERS", "").split()
        played = [folder for folder in servers() if not only or folder.name in only]
        with tempfile.TemporaryDirectory(prefix="servers.") as state, concurrent.futures.ThreadPoolExecutor(4) as pool:
            clusters = {name: Cluster(name, state) for name in {read(f, "server.json").get("cluster", "kubeadm-flannel") for f in played}}
            try:
                ends = list(pool.map(lambda folder: play(folder, clusters), played))
            finally:
                for cluster in clusters.values():
                    cluster.zoo.cluster.stop(save=False)
        for folder, end in zip(played, ends):
            with self.subTest(server=folder.name):
                if os.environ.get("WRITE"):
                    (folder / "end.json").write_text(json.dumps(end, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
                self.assertEqual(read(folder, "end.json"), end)
                for join in end:
                    self.assertTrue(join["exit"] == 0 or any(line.startswith("hint: ") for line in join["said"]), "with a remedy")


class Sources(unittest.TestCase):
    def test_each_names_its_source(self):
        """A repository, a version and a file; or that it is written from memory."""
        self.assertGreater(len(servers()), 2)
        for folder in servers():
            with self.subTest(server=folder.name):
                made = read(folder, "server.json")
                self.assertRegex(made["source"], r"^([\w.-]+/[\w.-]+ v?\w[\w.+-]*: |learn\.microsoft\.com: |from memory: )")
                self.assertLessEqual(set(made), MEMBERS)


if __name__ == "__main__":
    unittest.main()
