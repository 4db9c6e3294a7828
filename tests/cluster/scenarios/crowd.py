"""Many nodes that join in the same moment."""
import os
import pathlib
import sys
import time

import stages
from scenario import expect, expect_equal, scenario

sys.path.append(os.path.join(stages.ROOT, "tests", "bench"))
import load  # noqa: E402

NODES, CROWD = 20, 500


@scenario("twenty-at-once", "20 nodes join in the same moment; each gets its own certificate", ("ci", "load"))
def twenty(stage):
    begin = time.monotonic()
    names = ["crowd-%d" % i for i in range(NODES)]
    joins = [stage.start(*conversation(stage, name)) for name in names]
    for name, proc in zip(names, joins):
        done = stage.finish(proc)
        expect_equal(done.code, 0, name + ": " + done.said)
        expect(load.joined(rootfs(stage, name), name), "no certificate of " + name)
    rows = stage.requests("winjoin")
    expect_equal(len(stage.made("winjoin")), NODES, "certificate signing requests")
    hurt = [r for r in rows if r["responseStatus"]["code"] >= 500]
    expect(not hurt, "the server was hurt", hurt[:3])
    expect(time.monotonic() - begin < 90, "it took more than 90 s")


def rootfs(stage, name):
    return pathlib.Path(stage.scratch, name)


def conversation(stage, name):
    os.makedirs(rootfs(stage, name))
    return ["join", *stage.trust(), "--node-name", name, "--rootfs", str(rootfs(stage, name)), "--progress", "none",
            "--skip-phases", load.SKIPPED]


class NoCluster:
    """For what brings its own server."""

    def __init__(self, folder):
        self.folder = folder

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    begin = end = lambda self: None
    keep = lambda self, folder: None  # noqa: E731

    def describe(self):
        return "the tests' own API server, which refuses what is too much"


@scenario("load", "500 joins in the same moment against a server that refuses what is too much", ("load",),
          on=NoCluster)
def crowd(stage):
    seen = load.play(CROWD, rate=200, burst=100, backlog=64)
    print("      " + load.describe(seen), flush=True)
    wrong = load.judge(seen, 200)
    expect(not wrong, "; ".join(wrong))
