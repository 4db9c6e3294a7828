"""winjoin diag --kubeconfig against a real API server, CoreDNS, kube-proxy and agnhost, with packets."""
from played_nodes import PlayedStage
from scenario import expect, expect_equal, scenario

GROUPS = ("cluster-diag",)


def cells(report, outcome):
    return ["%s %s %s -> %s (%s): %s" % (f["id"], f["protocol"], f["from"], f["to"], f.get("toNode", ""),
                                         f.get("reason", ""))
            for f in report["flows"] if f["outcome"] == outcome]


@scenario("cluster-diag", "four nodes of three kinds: every cell is green, nothing stays", GROUPS, on=PlayedStage)
def healthy(stage):
    report, done = stage.diag("-o", "json")
    expect(report, "no report", done.said)
    expect_equal(cells(report, "fail") + cells(report, "not-run"), [], "red cells")
    expect_equal(done.code, 0, done.err)
    expect_equal({n["name"] for n in report["nodes"]}, {"cp", "l1", "w1", "w2"}, "nodes")
    expect_equal(stage.left(), [], "namespaces that stay")
