"""A modelled cluster, and `winjoin diag --kubeconfig` called for it."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from . import probes, resources
from .cluster import Cluster
from .settings import Settings

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests"))
import document_schemas  # noqa: E402

WINJOIN = str(ROOT / "build/native/winjoin")
# A process begins with the most that its parent ever had: counted by a small one between.
MEASURED = ("import resource, subprocess, sys; code = subprocess.call(sys.argv[2:]); "
            "open(sys.argv[1], 'w').write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)); sys.exit(code)")
NAMESPACES = resources.named("namespaces")


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

    def change_node(self, name, change):
        """`change` is given the Node and changes it."""
        def changed(node):
            change(node)
            return node
        self.cluster.store.modify(probes.NODE, "", name, changed)

    def start(self, *words, kubeconfig=None, measured=False, **keywords):
        count = [sys.executable, "-c", MEASURED, os.path.join(self.folder, "memory")] if measured else []
        return subprocess.Popen([*count, WINJOIN, "diag", "--kubeconfig", kubeconfig or self.kubeconfig, *words],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env={"PATH": os.environ["PATH"]}, **keywords)

    def diag(self, *words, code=0, **keywords):
        proc = self.start(*words, **keywords)
        out, err = proc.communicate(timeout=120)
        self.assertEqual(proc.returncode, code, out + err)
        document_schemas.check_output(out)
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
