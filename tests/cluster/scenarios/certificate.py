"""The node's client certificate from the real signer: `winjoin join phase certificate`, rehearsed."""
import os
import subprocess
import time

import admin
import webhook
from scenario import expect, expect_equal, expect_in, scenario

CI = ("ci", "certificate")
CERTIFICATE = ("certificate",)


def stored(stage, node):
    """The stored certificate is this node's, of this cluster, and its key is beside it."""
    current = os.path.join(stage.scratch, node, "var/lib/kubelet/pki/kubelet-client-current.pem")
    expect(os.path.islink(current), "no link " + current)
    ca = stage.cluster.facts["ca"]
    said = subprocess.run(["openssl", "verify", "-purpose", "sslclient", "-CAfile", ca, current],
                          capture_output=True, text=True, check=False)
    expect_equal(said.returncode, 0, said.stdout + said.stderr)
    subject = openssl("x509", "-noout", "-subject", "-in", current)
    expect_in("O = system:nodes, CN = system:node:" + node, subject)
    expect_equal(openssl("pkey", "-pubout", "-in", current),
                 openssl("x509", "-noout", "-pubkey", "-in", current), "another key")


def openssl(*words):
    return subprocess.run(["openssl", *words], capture_output=True, text=True, check=True).stdout


@scenario("certificate-approved", "kubeadm's bindings approve, the controller signs", CI)
def approved(stage):
    stage.winjoin(*stage.rehearse("win-a", "certificate"), code=0)
    stored(stage, "win-a")
    row = stage.made("winjoin")
    expect_equal([r["objectRef"]["resource"] for r in row], ["certificatesigningrequests"],
                 "other objects are made")
    expect_equal(row[0]["user"]["username"], "system:bootstrap:abcdef", "not by the token")


@scenario("certificate-by-hand", "approved by kubectl after a while; winjoin says the command", CI)
def by_hand(stage):
    with admin.approval_by_hand(stage.cluster):
        proc = stage.start(*stage.rehearse("win-b", "certificate"))
        name = admin.request_of(stage.cluster, "win-b")
        time.sleep(4)
        stage.cluster.kubectl("certificate", "approve", name)
        done = stage.finish(proc)
    expect_equal(done.code, 0, done.said)
    expect_in("kubectl certificate approve " + name, done.said)
    stored(stage, "win-b")


@scenario("certificate-denied", "denied by kubectl: an error at once, and a new request next time", CI)
def denied(stage):
    with admin.approval_by_hand(stage.cluster):
        proc = stage.start(*stage.rehearse("win-c", "certificate"))
        name = admin.request_of(stage.cluster, "win-c")
        stage.cluster.kubectl("certificate", "deny", name)
        done = stage.finish(proc, 20)
    expect_equal(done.code, 1, done.said)
    expect_in("is denied", done.err)
    stage.winjoin(*stage.rehearse("win-c", "certificate"), code=0)
    stored(stage, "win-c")


@scenario("certificate-no-signer", "the controller has no CA key: approved, never signed, said so",
          CERTIFICATE)
def no_signer(stage):
    with admin.no_signer(stage.cluster):
        proc = stage.start(*stage.rehearse("win-d", "certificate"))
        time.sleep(12)
        expect(proc.poll() is None, "does not wait")
    done = stage.finish(proc, 90)  # the controller has its key again
    expect_equal(done.code, 0, done.said)
    expect_in("to be signed: it is approved", done.said)
    stored(stage, "win-d")


@scenario("certificate-server-restarts", "the API server is started again while winjoin waits",
          CERTIFICATE)
def server_restarts(stage):
    with admin.approval_by_hand(stage.cluster):
        proc = stage.start(*stage.rehearse("win-e", "certificate"))
        name = admin.request_of(stage.cluster, "win-e")
        stage.cluster.stop_api()
        time.sleep(2)
        stage.cluster.start_api()
        stage.cluster.kubectl("certificate", "approve", name)
        done = stage.finish(proc, 90)
    expect_equal(done.code, 0, done.said)
    stored(stage, "win-e")
    made = [r for r in admin.requests(stage.cluster) if admin.asks_for(r, "win-e")]
    expect_equal(len(made), 1, "asked more than once")


@scenario("certificate-slow-etcd", "etcd answers an eighth of the time", CERTIFICATE)
def slow_etcd(stage):
    with admin.slow_etcd(stage.cluster):
        stage.winjoin(*stage.rehearse("win-f", "certificate"), code=0, timeout=120)
    stored(stage, "win-f")


@scenario("certificate-slow-webhook", "an admission webhook that thinks for eight seconds", CERTIFICATE)
def slow_webhook(stage):
    with webhook.Webhook(stage.cluster, ["certificatesigningrequests"], seconds=8,
                         operations=["CREATE"]) as hook:
        stage.winjoin(*stage.rehearse("win-g", "certificate"), code=0, timeout=90)
    stored(stage, "win-g")
    mine = [row for row in hook.asked if row[2].startswith("system:bootstrap:")]
    expect_equal(len(mine), 1, "the request is not sent once")


@scenario("certificate-webhook-refuses", "a webhook refuses the request: its words are passed on",
          CERTIFICATE)
def webhook_refuses(stage):
    with webhook.Webhook(stage.cluster, ["certificatesigningrequests"], operations=["CREATE"],
                         refuse="not without a ticket"):
        done = stage.winjoin(*stage.rehearse("win-h", "certificate"), code=1)
    expect_in("not without a ticket", done.err)
