"""`winjoin discover` against the real API server: tokens, pins, names and addresses."""
import time

import admin
import fabric as fabrics
import objects
import stages
from scenario import expect, expect_equal, expect_in, scenario

CI = ("ci", "discovery")
DISCOVERY = ("discovery",)
STRANGE_PIN = "sha256:" + "3b" * 32


@scenario("discover-token", "the proven kubeconfig is cluster-info's, byte for byte", CI)
def by_token(stage):
    published = stage.cluster.call("GET", objects.CLUSTER_INFO)["data"]["kubeconfig"]
    done = stage.discover("-o", "kubeconfig")
    expect_equal(done.out, published, "not the proven bytes")
    seen = [r["requestURI"].partition("?")[0] for r in stage.requests("winjoin")]
    expect_equal(seen, [objects.CLUSTER_INFO] * 2, "other requests than the two passes")


@scenario("discover-wrong-pin", "another CA's pin: untrusted, at once", CI)
def wrong_pin(stage):
    begin = time.monotonic()
    done = stage.discover(pin=STRANGE_PIN, code=4)
    expect_in(stage.cluster.facts["caCertHash"], done.err, "the hash that was found is not told")
    expect(time.monotonic() - begin < 3, "a wrong pin is tried again")


@scenario("discover-wrong-secret", "a right token id with a wrong secret: untrusted", CI)
def wrong_secret(stage):
    done = stage.discover(token="abcdef.0123456789abcdef", code=4)
    expect_in("failed to verify JWS signature", done.err)


@scenario("discover-expired-token", "a token that expired: said so, and how to make a new one", CI)
def expired_token(stage):
    made = admin.token(stage.cluster, ttl="3s")
    stage.discover(token=made)
    admin.wait_unsigned(stage.cluster, made)
    done = stage.discover(token=made, code=1, timeout="2s")
    expect_in('for token ID "%s"' % made[:6], done.err)
    expect_in("kubeadm token create --print-join-command", done.err)
    expect(made[7:] not in done.said, "the token's secret is printed")


@scenario("discover-deleted-token", "a token that was deleted", DISCOVERY)
def deleted_token(stage):
    made = admin.token(stage.cluster)
    stage.discover(token=made)
    admin.delete_token(stage.cluster, made)
    done = stage.discover(token=made, code=1, timeout="2s")
    expect_in('for token ID "%s"' % made[:6], done.err)


@scenario("discover-token-comes-later", "a token made while winjoin asks is found", DISCOVERY)
def token_comes_later(stage):
    made = admin.token(stage.cluster)
    admin.delete_token(stage.cluster, made)
    proc = stage.start("discover", *stage.trust(token=made), "--timeout", "40s")
    time.sleep(1)
    stage.cluster.kubeadm("token", "create", made, "--kubeconfig", stage.cluster.kubeconfig,
                          log="tokens", secret=True)
    done = stage.finish(proc)
    expect_equal(done.code, 0, done.said)
    admin.delete_token(stage.cluster, made)


@scenario("discover-two-names", "reached by address, by a name in the certificate, by a foreign one", CI)
def two_names(stage):
    stage.discover(endpoint="%s:6443" % fabrics.CP)
    stage.discover(endpoint="%s:6443" % stages.NAME)
    done = stage.discover(endpoint="%s:6443" % stages.OTHER_NAME, code=4)
    expect_in("not " + stages.OTHER_NAME, done.err, "the names that are valid are not told")


@scenario("discover-two-addresses", "one of the name's two addresses is dead, in either order", CI)
def two_addresses(stage):
    live, dead = (fabrics.CP, stages.NAME), (stages.DEAD, stages.NAME)
    try:
        for rows in ([dead, live], [live, dead]):
            stage.hosts(rows)
            stage.discover(endpoint="%s:6443" % stages.NAME, timeout="20s")
    finally:
        stage.hosts([(fabrics.CP, stages.NAME), (fabrics.CP, stages.OTHER_NAME)])


@scenario("discover-server-hangs", "an API server that hangs for a while is waited for", DISCOVERY)
def server_hangs(stage):
    with admin.hanging(stage.cluster, "kube-apiserver"):
        proc = stage.start("discover", *stage.trust(), "--timeout", "60s")
        time.sleep(3)
    done = stage.finish(proc)
    expect_equal(done.code, 0, done.said)


@scenario("discover-server-starts", "an API server that is started again meanwhile", DISCOVERY)
def server_starts(stage):
    cluster = stage.cluster
    cluster.stop_api()
    done = stage.discover(code=1, timeout="2s")
    expect_in("refused", done.err.lower())
    proc = stage.start("discover", *stage.trust(), "--timeout", "90s")
    cluster.start_api()
    done = stage.finish(proc, 100)
    expect_equal(done.code, 0, done.said)
