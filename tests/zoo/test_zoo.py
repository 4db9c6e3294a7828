#!/usr/bin/python3
"""Clusters as distributions make them, each in a folder with the end that a join has there.

  cluster.json  source (repositories, files, versions), read (REPOSITORY@TAG-OR-COMMIT:FILE, with which it was
                compared), settings (of controlplane/settings.py), without (objects of
                kubeadm that this cluster has not: "services/kube-system/kube-dns"), edit (a text within a ConfigMap of
                kubeadm: [name, key, old, new]) and objects; a text may be a list of lines
  end.json      join (words besides the usual), services (of Windows, that run besides the usual), manifest (what
                `winjoin config cluster` says on standard error), exit, warnings (all that the cluster causes) and
                either network (its line of the plan) and plan (how other lines of it begin), or error and hints

An administrator applies what `winjoin config cluster --kubeconfig` prints; then `winjoin join --dry-run` is played on a
new Windows Server. Both are compared whole. ZOO="NAME ..." plays these alone; WRITE=1 writes end.json again: look at the difference.
"""
import concurrent.futures
import ipaddress
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from controlplane import resources  # noqa: E402
from controlplane.cluster import Cluster  # noqa: E402
from controlplane.settings import Settings  # noqa: E402

ZOO = pathlib.Path(__file__).resolve().parent
WINJOIN = str(ROOT / "build/native/winjoin")
ENVIRONMENT = {"PATH": os.environ["PATH"], "WINJOIN_SOURCE_BASE": "https://127.0.0.1:9/upstream", "LC_ALL": "C.UTF-8"}
BEFORE_CHANGES = ("preflight: ", "discovery: ", "configuration: ", "required programs are missing: ")
RUNNING = {"command": "C:\\Windows\\System32\\svchost.exe", "autoStart": True, "state": "running"}


def animals():
    return sorted(p.parent for p in ZOO.glob("*/cluster.json"))


def texts(value):
    """Lists of lines become texts where the API has a text."""
    return {key: "\n".join(item) + "\n" if isinstance(item, list) else item for key, item in value.items()}


class Zoo:
    """One cluster, served."""

    def __init__(self, folder, state):
        self.made = json.loads((folder / "cluster.json").read_text(encoding="utf-8"))
        self.cluster = Cluster(Settings(state=state, flannel="", node_services=False, **self.made.get("settings", {})))
        # what is absent is asked for again until the end
        self.patience = "2s" if "configmaps/kube-public/cluster-info" in self.made.get("without", []) else "1m"
        for path in self.made.get("without", []):
            plural, namespace, name = path.split("/")
            self.cluster.store.delete(resources.named(plural), namespace, name)
        for name, key, old, new in self.made.get("edit", []):
            self.edit(name, key, old, new)
        for item in self.made.get("objects", []):
            self.put({**item, "data": texts(item["data"])} if item.get("data") else item)

    def edit(self, name, key, old, new):
        def change(item):
            if old not in item["data"][key]:
                raise AssertionError("%s has no %r" % (name, old))
            item["data"][key] = item["data"][key].replace(old, new)
            return item
        self.cluster.store.modify(resources.named("configmaps"), "kube-system", name, change)

    def put(self, item):
        """As kubectl apply."""
        resource = resources.BY_KIND[item["apiVersion"], item["kind"]]
        namespace, name = item["metadata"].get("namespace", ""), item["metadata"]["name"]
        if self.cluster.store.find(resource, namespace, name):
            self.cluster.store.modify(resource, namespace, name, lambda old: {**old, **{k: v for k, v in item.items() if k != "metadata"}})
        else:
            self.cluster.store.create(resource, namespace, item)


def run(*words):
    return subprocess.run([WINJOIN, *words], capture_output=True, text=True, check=False, env=ENVIRONMENT, timeout=120)


def warnings_of(text, endpoint):
    """Those of the machine name their check in brackets."""
    said = re.findall(r"^(?:warning:|      !) (?!\[)(.*)$", text, re.M)
    return [line.replace(endpoint, "ENDPOINT") for line in dict.fromkeys(said)]


def play(folder, look=True):
    """What an administrator and a joining machine see, as end.json has it."""
    end = json.loads((folder / "end.json").read_text(encoding="utf-8")) if (folder / "end.json").exists() else {}
    with tempfile.TemporaryDirectory(prefix="zoo.") as state:
        zoo = Zoo(folder, state)
        zoo.cluster.start()
        try:
            facts = zoo.cluster.join_facts()
            made = run("config", "cluster", *(["--kubeconfig", facts["kubeconfig"]] if look else []), "-o", "json")
            for item in objects_in(made.stdout if made.returncode == 0 else ""):
                zoo.put(item)
            done = run("join", facts["endpoint"], "--token", facts["token"], "--discovery-token-ca-cert-hash", facts["caCertHash"],
                       "--dry-run", *prefix_of(zoo.cluster.setup.pods), "--timeout", zoo.patience, "--rootfs",
                       windows(os.path.join(state, "windows"), end.get("services", [])), *end.get("join", []))
        finally:
            zoo.cluster.stop(save=False)
    return seen(end, made, done, facts["endpoint"])


def prefix_of(pods):
    """This node's is the fourth of the cluster's first IPv4 prefix."""
    for whole in [ipaddress.ip_network(p) for p in pods.split(",") if ":" not in p][:1]:
        return ["--pod-cidr", str(next(itertools.islice(whole.subnets(new_prefix=24), 3, None)))]
    return []


def windows(folder, services):
    """A new Windows Server, whose services beside the usual these are."""
    if services:
        path = pathlib.Path(folder, ".winjoin-host/state.json")
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({"services": {name: RUNNING for name in ("hns", "vmcompute", *services)}}), encoding="utf-8")
    return folder


def objects_in(text):
    """JSON documents one behind the other, or the items of a list."""
    read, at = json.JSONDecoder(), 0
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        item, at = read.raw_decode(text, at)
        yield from item["items"] if item.get("kind") == "List" else [item]


def seen(end, made, done, endpoint):
    def of(kind):
        said = re.findall(r"^%s: (.*)$" % kind, done.stderr, re.M)
        return [re.sub(r"tried \d+ times in \d+ s: ", "", line.replace(endpoint, "ENDPOINT")) for line in said]

    ret = {key: end[key] for key in ("join", "services") if end.get(key)}
    if made.returncode or made.stderr:
        ret["manifest"] = [line.replace(endpoint, "ENDPOINT") for line in made.stderr.strip().splitlines()]
    ret |= {"exit": done.returncode, "warnings": warnings_of(done.stderr, endpoint)}
    if done.returncode:
        return ret | {"error": " ".join(of("error")), "hints": of("hint")}
    network = re.search(r"^network    (.*)$", done.stdout, re.M).group(1)
    return ret | {"network": network, "plan": [line for line in end.get("plan", []) if re.search("^" + re.escape(line), done.stdout, re.M)]}


class Ends(unittest.TestCase):
    maxDiff = None

    def test_each_cluster(self):
        if not os.path.exists(WINJOIN):
            self.skipTest("winjoin is not built")
        only = os.environ.get("ZOO", "").split()
        played = [folder for folder in animals() if not only or folder.name in only]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            ends = list(pool.map(play, played))
        for folder, end in zip(played, ends):
            with self.subTest(cluster=folder.name):
                if os.environ.get("WRITE"):
                    (folder / "end.json").write_text(json.dumps(end, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
                self.assertEqual(json.loads((folder / "end.json").read_text(encoding="utf-8")), end)
                self.assertTrue(end["exit"] == 0 or end["error"].startswith(BEFORE_CHANGES), "refused before anything is changed")
                self.assertTrue(end["exit"] == 0 or end["hints"], "with a remedy")

    def test_a_network_is_not_none_where_no_administrator_looked(self):
        """`winjoin config cluster` without --kubeconfig grants the rights alone: the join itself sees the network."""
        if not os.path.exists(WINJOIN):
            self.skipTest("winjoin is not built")
        for name in ("kilo", "weave-net"):
            with self.subTest(cluster=name):
                wanted, end = json.loads((ZOO / name / "end.json").read_text(encoding="utf-8")), play(ZOO / name, look=False)
                self.assertEqual({key: wanted[key] for key in ("exit", "error", "hints")}, {key: end[key] for key in ("exit", "error", "hints")})


class Sources(unittest.TestCase):
    def test_each_names_its_source(self):
        """A repository, a file and a version."""
        self.assertGreater(len(animals()), 20)
        for folder in animals():
            with self.subTest(cluster=folder.name):
                made = json.loads((folder / "cluster.json").read_text(encoding="utf-8"))
                self.assertRegex(made["source"], r"^[\w.-]+/[\w.-]+ v?\d[\w.]*: ")
                self.assertLessEqual(set(made), {"source", "read", "settings", "without", "edit", "objects"})
                for read in made.get("read", []):
                    self.assertRegex(read, r"^[\w.-]+/[\w.-]+@(v\d[\w.]*|[0-9a-f]{8}):[\w./-]+$")


if __name__ == "__main__":
    unittest.main()
