"""A node of an older minor version takes the cluster's, and another winjoin.exe, killed on the way."""
import json
import os
import time

import node_stage
import stage as rig
from node_stage import NodeStage
from scenario import expect, expect_equal, scenario

NEWER, PROGRAM = r"C:\newer.zip", r"C:\newer.exe"
# Phase, and seconds from its begin until the upgrade is killed.
KILLS = (("programs", 1.0), ("drain", 0.0), ("plugins", 0.0), ("winjoin", 0.0), ("winjoin", 1.0), ("containerd", 0.0),
         ("kubelet", 0.0), ("kubelet", 1.0), ("flanneld", 0.0), ("kube-proxy", 0.5), ("ready", 0.0), ("verify", 1.0))


def version(stage):
    return stage.expect_ready()["status"]["nodeInfo"]["kubeletVersion"]


def put_newer(node):
    """The cluster's programs, and a winjoin.exe that is not the node's."""
    node.programs = node_stage.upstream()
    node.host.put(node.bundle(), NEWER)
    node.host.put(rig.WINJOIN, PROGRAM)
    with open(node.host.path(PROGRAM), "ab") as f:
        f.write(b"newer")


def content(node, path):
    with open(node.host.path(path), "rb") as f:
        return f.read()


@scenario("upgrade", "a node of one minor below is upgraded to the cluster's version by another winjoin.exe, killed in each "
          "of its phases; its pods talk as before", ("upgrade",), on=NodeStage, kubelet="kubelet-1.36")
def upgrade(stage):
    node = stage.node
    stage.join()
    older = version(stage)
    expect(older != stage.cluster.version, "nothing to upgrade", older)
    put_newer(node)
    words = (PROGRAM, "upgrade", "--bundle", NEWER)

    def run(*more):
        done = node.host.run([*words, *more, "-o", "json"], timeout=400)
        expect_equal(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(done.stdout)
    plan = run("--dry-run")
    expect_equal({p["name"]: p["to"] for p in plan["programs"] if p["name"] != "winjoin"},
                 {"kubelet": stage.cluster.version}, repr(plan))
    expect_equal([p["from"] for p in plan["programs"] if p["name"] == "kubelet"], [older], repr(plan))
    expect("winjoin" in [p["name"] for p in plan["programs"]], "winjoin.exe stays", repr(plan))
    expect_equal(version(stage), older, "a dry run changed the kubelet")
    for phase, after in KILLS:
        run_on = stage.follow(words=[*words])
        expect(run_on.until(lambda line, phase=phase: line["phase"] == phase and line["state"] == "started"),
               "%s was not reached" % phase, run_on.said())
        time.sleep(after)
        run_on.kill()
    result = run()
    expect_equal({f["outcome"] for f in result["flows"]} - {"slow"}, {"pass"}, repr(result["flows"]))
    expect_equal(version(stage), stage.cluster.version, "the kubelet is of another version")
    expect(content(node, r"C:\k\winjoin.exe") == content(node, PROGRAM), "winjoin.exe was not replaced", repr(result))
    again = run()
    expect_equal(again["programs"], [], repr(again))
    for path in (NEWER, PROGRAM):
        os.unlink(node.host.path(path))
    stage.reset()
