"""`winjoin diag --kubeconfig` of a cluster of so many nodes, of a sample, over HTTPS from the tests' own API server."""
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [HERE, os.path.dirname(HERE)]
import load  # noqa: E402
from controlplane import probes  # noqa: E402
from controlplane.cluster import Cluster  # noqa: E402
from controlplane.settings import Settings  # noqa: E402

IMAGES = "x" * 8500  # as long as the 50 images that a kubelet names; one text, as the server copies all Nodes for each page
# A process begins with the most memory that its parent ever had: a small one between tells what it used.
USED = ("import json, resource, subprocess, sys; code = subprocess.call(sys.argv[2:]); u = resource.getrusage(resource.RUSAGE_CHILDREN); "
        "json.dump([u.ru_utime + u.ru_stime, u.ru_maxrss / 1024], open(sys.argv[1], 'w')); sys.exit(code)")


def node(n):
    """Each second one is a Windows server; no two have the same address."""
    made = probes.node("node-%d" % n, "windows" if n % 2 else "linux")
    made["status"]["addresses"][0]["address"] = "10.64.%d.%d" % (n >> 8, n & 255)
    made["metadata"]["annotations"]["images"] = IMAGES
    made["spec"]["podCIDR"] = "10.%d.%d.0/24" % (128 + (n >> 8), n & 255)
    return made


def diagnose(count):
    """{what: number}; it must find nothing wrong."""
    with tempfile.TemporaryDirectory() as folder:
        cluster = Cluster(Settings(state=os.path.join(folder, "server"), node="", backlog=512))
        cluster.start()
        model = probes.Model(cluster.api, nodes=[node(n) for n in range(count)])
        used = os.path.join(folder, "used")
        try:
            cluster.api.traffic.clear()
            begin = time.monotonic()
            done = subprocess.run([sys.executable, "-c", USED, used, load.WINJOIN, "diag", "--kubeconfig", cluster.kubeconfig()],
                                  capture_output=True, text=True, check=False)
            wall, facts = time.monotonic() - begin, cluster.api.traffic.facts()
        finally:
            model.over.set()
            cluster.stop(save=False)
        if done.returncode:
            raise RuntimeError(done.stdout + done.stderr)
        with open(used, encoding="utf-8") as f:
            cpu, peak = json.load(f)
    return {"wall": wall, "cpu": cpu, "peak": peak, "requests": facts["requests"], "bytes": facts["answeredBytes"]}
