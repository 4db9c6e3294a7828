"""A Node of the wanted name that is there already: rehearsed with the phase that reads the cluster."""
import objects
from scenario import expect_in, scenario

NAMES = ("names",)
NODE = "win-taken"


def node(stage, ready):
    """A Windows Node whose kubelet reports, or has ceased to."""
    objects.create(stage.cluster, "/api/v1/nodes", "Node", NODE)
    condition = {"type": "Ready", "status": "True" if ready else "Unknown", "reason": "Test",
                 "message": "played"}
    stage.cluster.call("PATCH", "/api/v1/nodes/%s/status" % NODE, {"status": {
        "conditions": [condition]}}, "application/merge-patch+json")


@scenario("name-taken-ready", "a Node of this name is Ready: refused, and the way out is told",
          ("ci",) + NAMES)
def ready(stage):
    node(stage, True)
    try:
        done = stage.winjoin(*stage.rehearse(NODE, "configuration"), code=1)
    finally:
        stage.cluster.call("DELETE", "/api/v1/nodes/" + NODE)
    expect_in('a Node with that name and status "Ready" already exists', done.err)
    expect_in("kubectl delete node " + NODE, done.err)


@scenario("name-taken-gone", "a Node of this name that is not Ready is taken over", NAMES)
def gone(stage):
    node(stage, False)
    try:
        stage.winjoin(*stage.rehearse(NODE, "configuration"), code=0)
    finally:
        stage.cluster.call("DELETE", "/api/v1/nodes/" + NODE)
