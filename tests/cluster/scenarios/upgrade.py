"""A node of an older minor version takes the cluster's, killed on the way."""
import os
import time

import node_stage
import stage as rig
from node_stage import NodeStage
from scenario import expect, expect_equal, scenario

NEWER = r"C:\newer.zip"
# Phase, and seconds from its begin until the upgrade is killed.
KILLS = (("programs", 1.0), ("kubelet", 0.0), ("kubelet", 1.0), ("kube-proxy", 0.5), ("ready", 0.0))


def version(stage):
    return stage.expect_ready()["status"]["nodeInfo"]["kubeletVersion"]


@scenario("upgrade", "a node of one minor below is upgraded to the cluster's version, killed in its phases; its pods "
          "talk as before", ("upgrade",), on=NodeStage, kubelet="kubelet-1.36")
def upgrade(stage):
    node = stage.node
    stage.join()
    older = version(stage)
    expect(older != stage.cluster.version, "nothing to upgrade", older)
    node.programs = node_stage.upstream()
    node.host.put(node.bundle(), NEWER)
    words = ("upgrade", "--bundle", NEWER)
    code, plan = node.document(*words, "--dry-run")
    expect_equal(code, 0, repr(plan))
    expect_equal([(p["name"], p["from"], p["to"]) for p in plan["programs"]],
                 [("kubelet", older, stage.cluster.version)], repr(plan))
    expect_equal(version(stage), older, "a dry run changed the kubelet")
    for phase, after in KILLS:
        run = stage.follow(words=[rig.PROGRAM, *words])
        expect(run.until(lambda line, phase=phase: line["phase"] == phase and line["state"] == "started"),
               "%s was not reached" % phase, run.said())
        time.sleep(after)
        run.kill()
    code, result = node.document(*words, timeout=400)
    expect_equal(code, 0, repr(result))
    expect_equal({f["outcome"] for f in result["flows"]} - {"slow"}, {"pass"}, repr(result["flows"]))
    expect_equal(version(stage), stage.cluster.version, "the kubelet is of another version")
    code, again = node.document(*words)
    expect_equal((code, again["programs"]), (0, []), repr(again))
    os.unlink(node.host.path(NEWER))
    stage.reset()
