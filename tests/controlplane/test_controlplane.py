#!/usr/bin/python3
"""Tests of the test API server: what it sends is what kubeadm's cluster sends."""

import base64
import hashlib
import hmac
import json
import os
import ssl
import sys
import tempfile
import threading
import time
import unittest

sys.path[0] = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))

from cryptography import x509  # noqa: E402
from cryptography.hazmat.primitives import hashes  # noqa: E402

from controlplane import controllers, faults, pki  # noqa: E402
from controlplane.client import Client, Refused  # noqa: E402
from controlplane.cluster import Cluster  # noqa: E402
from controlplane.settings import Settings  # noqa: E402

TOKEN = "abcdef.0123456789abcdef"
BARE_TOKEN = "nogrps.0123456789abcdef"
CSRS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
SYSTEM = "/api/v1/namespaces/kube-system/configmaps/"
USAGES = ["digital signature", "client auth"]


def request_pem(key, node, organization="system:nodes"):
    return (x509.CertificateSigningRequestBuilder()
            .subject_name(pki.name_of("system:node:" + node, [organization]))
            .sign(key, hashes.SHA256()).public_bytes(pki.serialization.Encoding.PEM))


def csr_body(pem, **meta):
    return {"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest",
            "metadata": meta or {"generateName": "csr-"},
            "spec": {"request": base64.b64encode(pem).decode(), "usages": USAGES,
                     "signerName": controllers.CLIENT_SIGNER}}


class Case(unittest.TestCase):
    settings = {}
    authority = pki.Authority.create()  # made once: an RSA key takes its time

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        keys = os.path.join(self.folder.name, "pki")
        pki.write_private(os.path.join(keys, "ca.key"), pki.key_pem(self.authority.key))
        pki.write_private(os.path.join(keys, "ca.crt"), self.authority.pem)
        self.audit = os.path.join(self.folder.name, "audit")
        self.cluster = Cluster(Settings(state=self.folder.name, tokens=[TOKEN], **self.settings),
                               self.audit)
        self.cluster.start()
        self.url = self.cluster.setup.server
        self.ca = self.cluster.authority.pem.decode()
        self.anonymous, self.joiner = Client(self.url, self.ca), self.client(token=TOKEN)
        self.admin = Client.of_kubeconfig(self.cluster.kubeconfig())

    def tearDown(self):
        self.cluster.stop(save=False)
        self.folder.cleanup()

    def client(self, **identity):
        return Client(self.url, self.ca, **identity)

    def node(self, name):
        """A client with a node's certificate."""
        return self.client(pair=b"".join(self.cluster.authority.issue_client(
            "system:node:" + name, ["system:nodes"])))

    def register(self, name):
        node = self.node(name)
        node.call("POST", "/api/v1/nodes", {"kind": "Node", "apiVersion": "v1",
                                            "metadata": {"name": name}, "status": {}})
        return node

    def refused(self, code, act, *args):
        with self.assertRaises(Refused) as caught:
            act(*args)
        self.assertEqual(caught.exception.code, code)
        return caught.exception.status

    def eventually(self, predicate, seconds=5):
        found = controllers.wait_for(predicate, seconds)
        self.assertTrue(found)
        return found


class Discovery(Case):
    def test_cluster_info_is_signed_as_the_facts_say(self):
        data = self.anonymous.call("GET", faults.CLUSTER_INFO + "?timeout=10s")["data"]
        header = base64.urlsafe_b64encode(b'{"alg":"HS256","kid":"abcdef"}').rstrip(b"=")
        payload = base64.urlsafe_b64encode(data["kubeconfig"].encode()).rstrip(b"=")
        mac = hmac.new(b"0123456789abcdef", header + b"." + payload, hashlib.sha256).digest()
        wanted = header + b".." + base64.urlsafe_b64encode(mac).rstrip(b"=")
        self.assertEqual(data["jws-kubeconfig-abcdef"], wanted.decode())
        self.assertIn('  name: ""\n', data["kubeconfig"])
        self.assertIn("server: " + self.url, data["kubeconfig"])

    def test_pin_is_the_hash_of_the_key(self):
        self.assertRegex(self.cluster.join_facts()["caCertHash"], r"^sha256:[0-9a-f]{64}$")

    def test_signature_follows_the_tokens(self):
        secret = "/api/v1/namespaces/kube-system/secrets/bootstrap-token-abcdef"
        self.admin.call("DELETE", secret)
        self.eventually(lambda: "jws-kubeconfig-abcdef" not in
                        self.anonymous.call("GET", faults.CLUSTER_INFO)["data"])
        self.refused(401, self.joiner.call, "GET", SYSTEM + "kubeadm-config")

    def test_expired_token_is_cleaned(self):
        self.cluster.control.act({"op": "token", "token": "expire.0123456789abcdef",
                                  "expiration": "2001-01-01T00:00:00Z"})
        self.refused(401, self.client(token="expire.0123456789abcdef").call, "GET", "/version")
        self.eventually(lambda: len(self.admin.call(
            "GET", "/api/v1/namespaces/kube-system/secrets")["items"]) == 1)

    def test_anonymous_sees_cluster_info_only(self):
        for path in (SYSTEM + "kubeadm-config", "/api/v1/nodes",
                     "/api/v1/namespaces/kube-public/configmaps/other"):
            self.refused(403, self.anonymous.call, "GET", path)
        self.assertEqual(self.anonymous.call("GET", "/healthz"), "ok")
        self.assertEqual(self.anonymous.call("GET", "/version")["gitVersion"], "v1.37.1")


class Rights(Case):
    def test_joiner_reads_what_kubeadm_grants(self):
        for name, key in (("kubeadm-config", "ClusterConfiguration"), ("kubelet-config", "kubelet"),
                          ("kube-proxy", "config.conf")):
            self.assertIn(key, self.joiner.call("GET", SYSTEM + name)["data"])
        self.refused(404, self.joiner.call, "GET", "/api/v1/nodes/absent")

    def test_refusal_is_written_as_upstream_writes_it(self):
        status = self.refused(403, self.joiner.call, "GET", SYSTEM + "coredns")
        self.assertEqual(status, {
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": 'configmaps "coredns" is forbidden: User "system:bootstrap:abcdef" cannot '
                       'get resource "configmaps" in API group "" in the namespace "kube-system"',
            "reason": "Forbidden", "details": {"name": "coredns", "kind": "configmaps"},
            "code": 403})

    def test_token_without_the_group_has_no_rights(self):
        self.cluster.control.act({"op": "token", "token": BARE_TOKEN, "groups": ""})
        self.refused(403, self.client(token=BARE_TOKEN).call, "GET", SYSTEM + "kubeadm-config")

    def test_wrong_secret_is_401(self):
        status = self.refused(401, self.client(token="abcdef." + "f" * 16).call, "GET", "/version")
        self.assertEqual(status["message"], "Unauthorized")

    def test_expired_client_certificate_is_401(self):
        pair = self.cluster.authority.issue_client(
            "system:node:w1", ["system:nodes"], pki.now() - 2 * pki.DAY, pki.now() - pki.DAY)
        self.refused(401, self.client(pair=b"".join(pair)).call, "GET", "/version")

    def test_node_writes_only_itself(self):
        w1 = self.register("w1")
        self.refused(403, w1.call, "POST", "/api/v1/nodes", {"metadata": {"name": "w2"}})
        self.refused(403, w1.call, "PATCH", "/api/v1/nodes/cp/status", {"status": {}},
                     "application/merge-patch+json")
        self.refused(403, w1.call, "DELETE", "/api/v1/nodes/w1")

    def test_reviews(self):
        body = {"spec": {"resourceAttributes": {"verb": "get", "resource": "nodes"}}}
        path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
        self.assertTrue(self.joiner.call("POST", path, body)["status"]["allowed"])
        body["spec"]["resourceAttributes"]["verb"] = "delete"
        self.assertFalse(self.joiner.call("POST", path, body)["status"]["allowed"])

    def test_a_review_of_rules(self):
        path = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"
        answer = self.joiner.call("POST", path, {"spec": {"namespace": "none"}})["status"]
        self.assertTrue(answer["incomplete"])
        self.assertIn({"verbs": ["get"], "apiGroups": [""], "resources": ["nodes"]}, answer["resourceRules"])
        self.assertFalse([r for r in answer["resourceRules"] if "configmaps" in r["resources"]
                          and not r.get("resourceNames")])
        self.refused(400, self.joiner.call, "POST", path, {"spec": {}})


class StrictNodes(Case):
    settings = {"node_services": False}

    def test_node_reads_only_itself(self):
        w1 = self.register("w1")
        self.assertEqual(w1.call("GET", "/api/v1/nodes/w1")["metadata"]["name"], "w1")
        listed = w1.call("GET", "/api/v1/nodes?fieldSelector=metadata.name%3Dw1")
        self.assertEqual(len(listed["items"]), 1)
        status = self.refused(403, w1.call, "GET", "/api/v1/nodes/cp")
        self.assertIn("only its own Node object", status["message"])
        self.refused(403, w1.call, "GET", "/apis/discovery.k8s.io/v1/endpointslices")


class Signing(Case):
    def post(self, client, **meta):
        key = pki.new_ec_key()
        return client.call("POST", CSRS, csr_body(request_pem(key, "w1"), **meta)), key

    def certificate_of(self, name):
        return self.admin.call("GET", CSRS + "/" + name).get("status", {}).get("certificate")

    def test_bootstrap_csr_is_approved_and_signed(self):
        item, _ = self.post(self.joiner)
        name = item["metadata"]["name"]
        self.assertRegex(name, r"^csr-[a-z0-9]{5}$")
        self.assertEqual(item["spec"]["username"], "system:bootstrap:abcdef")
        seen = None
        for _, seen in self.joiner.watch(
                CSRS + "?watch=true&fieldSelector=metadata.name%3D" + name + "&timeoutSeconds=5"):
            if seen.get("status", {}).get("certificate"):
                break
        self.assertEqual(seen["status"]["conditions"][0]["reason"], "AutoApproved")
        cert = x509.load_pem_x509_certificate(base64.b64decode(seen["status"]["certificate"]))
        self.assertEqual(cert.subject.rfc4514_string(), "CN=system:node:w1,O=system:nodes")
        self.cluster.authority.cert.public_key().verify(
            cert.signature, cert.tbs_certificate_bytes, pki_padding(), hashes.SHA256())

    def test_same_name_twice_conflicts(self):
        self.post(self.joiner, name="node-csr-x")
        with self.assertRaises(Refused) as caught:
            self.post(self.joiner, name="node-csr-x")
        status = caught.exception.status
        self.assertEqual(status["reason"], "AlreadyExists")
        self.assertIn('certificatesigningrequests.certificates.k8s.io "node-csr-x" already exists',
                      status["message"])

    def test_manual_deny_and_unsigned(self):
        for mode, kinds in (("manual", []), ("deny", ["Denied"]), ("unsigned", ["Approved"]),
                            ("fail", ["Approved", "Failed"])):
            self.cluster.control.act({"op": "csr", "mode": mode})
            name = self.post(self.joiner)[0]["metadata"]["name"]
            time.sleep(0.3)
            item = self.admin.call("GET", CSRS + "/" + name)
            self.assertEqual([c["type"] for c in item["status"].get("conditions", [])], kinds)
            self.assertNotIn("certificate", item["status"])

    def test_approval_by_hand(self):
        self.cluster.control.act({"op": "csr", "mode": "manual"})
        item, _ = self.post(self.joiner)
        path = CSRS + "/" + item["metadata"]["name"]
        item["status"]["conditions"] = [{"type": "Approved", "status": "True", "reason": "Me"}]
        self.refused(403, self.joiner.call, "PUT", path + "/approval", item)
        self.admin.call("PUT", path + "/approval", item)
        self.eventually(lambda: self.certificate_of(item["metadata"]["name"]))

    def test_request_that_is_none_is_refused(self):
        status = self.refused(422, self.joiner.call, "POST", CSRS, csr_body(b"rubbish"))
        self.assertEqual(status["reason"], "Invalid")

    def test_wrong_organization_fails_in_signing(self):
        body = csr_body(request_pem(pki.new_ec_key(), "w1", "system:masters"))
        name = self.joiner.call("POST", CSRS, body)["metadata"]["name"]
        self.eventually(lambda: [c for c in self.admin.call("GET", CSRS + "/" + name)["status"].get(
            "conditions", []) if c["type"] == "Failed"])

    def test_thirty_joins_at_once(self):
        failures = []

        def join(n):
            try:
                pem = request_pem(pki.new_ec_key(), "w%d" % n)
                name = self.joiner.call("POST", CSRS, csr_body(pem))["metadata"]["name"]
                self.eventually(lambda: self.certificate_of(name), 20)
                self.register("w%d" % n)
            except Exception as e:  # noqa: BLE001 - whatever it is, the test reports it
                failures.append(e)
        threads = [threading.Thread(target=join, args=(n,)) for n in range(30)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(failures, [])
        self.eventually(lambda: len({n.get("spec", {}).get("podCIDR") for n in self.admin.call(
            "GET", "/api/v1/nodes")["items"]} - {None}) == 31)


def pki_padding():
    from cryptography.hazmat.primitives.asymmetric import padding
    return padding.PKCS1v15()


class Objects(Case):
    def test_node_gets_a_pod_subnet_and_keeps_status(self):
        w1 = self.register("w1")
        cidr = self.eventually(lambda: w1.call("GET", "/api/v1/nodes/w1").get("spec", {}).get(
            "podCIDR"))
        self.assertRegex(cidr, r"^10\.244\.\d+\.0/24$")
        for status in ("False", "True"):
            w1.call("PATCH", "/api/v1/nodes/w1/status", {"status": {"conditions": [
                {"type": "Ready", "status": status}]}}, "application/strategic-merge-patch+json")
        w1.call("PATCH", "/api/v1/nodes/w1/status", {"status": {"conditions": [
            {"type": "Other", "status": "True"}]}}, "application/strategic-merge-patch+json")
        node = w1.call("GET", "/api/v1/nodes/w1")
        self.assertEqual([(c["type"], c["status"]) for c in node["status"]["conditions"]],
                         [("Ready", "True"), ("Other", "True")])
        self.assertEqual(node["spec"]["podCIDR"], cidr)

    def test_silent_node_is_marked(self):
        self.register("w1").call("PATCH", "/api/v1/nodes/w1/status", {"status": {"conditions": [
            {"type": "Ready", "status": "True"}]}}, "application/merge-patch+json")
        self.node("w1").call("POST", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases",
                             {"metadata": {"name": "w1"},
                              "spec": {"renewTime": "2001-01-01T00:00:00.000000Z"}})
        self.eventually(lambda: self.admin.call("GET", "/api/v1/nodes/w1")["status"][
            "conditions"][0]["status"] == "Unknown")

    def test_put_with_an_old_version_conflicts(self):
        path = SYSTEM + "coredns"
        item = self.admin.call("GET", path)
        item["data"]["a"] = "b"
        self.admin.call("PUT", path, item)
        status = self.refused(409, self.admin.call, "PUT", path, item)
        self.assertEqual(status["reason"], "Conflict")

    def test_watch_continues_from_a_version(self):
        version = self.admin.call("GET", "/api/v1/nodes")["metadata"]["resourceVersion"]
        self.register("w1")
        self.admin.call("DELETE", "/api/v1/nodes/w1")
        seen = [(t, o["metadata"]["name"]) for t, o in self.admin.watch(
            "/api/v1/nodes?watch=1&timeoutSeconds=1&resourceVersion=" + version)]
        self.assertEqual((seen[0], seen[-1]), (("ADDED", "w1"), ("DELETED", "w1")))

    def test_watch_from_a_lost_version_is_410(self):
        self.cluster.store.version = 50000
        self.register("w1")
        self.cluster.store.log = type(self.cluster.store.log)(
            list(self.cluster.store.log)[-1:], maxlen=5)
        status = self.refused(410, list, self.admin.watch("/api/v1/nodes?watch=1&resourceVersion=7"))
        self.assertEqual(status["reason"], "Expired")

    def test_services_of_a_fresh_cluster(self):
        found = {s["metadata"]["name"]: s["spec"]["clusterIP"] for s in
                 self.node("w1").call("GET", "/api/v1/services")["items"]}
        self.assertEqual(found, {"kubernetes": "10.96.0.1", "kube-dns": "10.96.0.10"})
        slices = self.node("w1").call("GET", "/apis/discovery.k8s.io/v1/endpointslices?labelSelector"
                                      "=kubernetes.io%2Fservice-name%3Dkube-dns")["items"]
        self.assertEqual([(p["port"], p["protocol"]) for p in slices[0]["ports"]],
                         [(53, "UDP"), (53, "TCP")])

    def test_service_follows_its_pods(self):
        space = "/api/v1/namespaces/default/"
        self.admin.call("POST", space + "services", {"metadata": {"name": "echo"}, "spec": {
            "selector": {"app": "echo"}, "ports": [{"port": 80, "targetPort": 8080}]}})
        self.admin.call("POST", space + "pods", {"metadata": {"name": "e", "labels": {
            "app": "echo"}}, "spec": {"nodeName": "cp", "containers": []}})
        self.admin.call("PATCH", space + "pods/e/status", {"status": {
            "podIP": "10.244.1.7", "conditions": [{"type": "Ready", "status": "True"}]}},
            "application/merge-patch+json")
        path = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/echo-pods"
        self.eventually(lambda: [e["addresses"] for e in self.admin.call("GET", path)["endpoints"]]
                        == [["10.244.1.7"]])

    def test_mirror_pods(self):
        w1, path = self.register("w1"), "/api/v1/namespaces/kube-system/pods"
        pod = {"metadata": {"name": "probe-w1"}, "spec": {"nodeName": "w1", "containers": []}}
        self.refused(403, w1.call, "POST", path, pod)
        pod["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "x"}
        w1.call("POST", path, pod)
        w1.call("PATCH", path + "/probe-w1/status", {"status": {"podIP": "10.244.1.9"}},
                "application/strategic-merge-patch+json")
        listed = w1.call("GET", "/api/v1/pods?fieldSelector=spec.nodeName%3Dw1")["items"]
        self.assertEqual(listed[0]["status"]["podIP"], "10.244.1.9")
        w1.call("DELETE", path + "/probe-w1", {"gracePeriodSeconds": 0})
        self.refused(404, w1.call, "GET", path + "/probe-w1")

    def test_pods_go_with_their_node(self):
        w1, path = self.register("w1"), "/api/v1/namespaces/kube-system/pods"
        w1.call("POST", path, {"metadata": {"name": "p", "annotations": {
            "kubernetes.io/config.mirror": "x"}}, "spec": {"nodeName": "w1", "containers": []}})
        self.admin.call("DELETE", "/api/v1/nodes/w1")
        self.eventually(lambda: not self.admin.call("GET", path)["items"])


class Faults(Case):
    def test_each_named_fault_changes_the_answer(self):
        """Every fault is visible to a client that looks as closely as a join must."""
        kubeconfig = self.anonymous.call("GET", faults.CLUSTER_INFO)["data"]["kubeconfig"]
        for name, fault in faults.NAMED.items():
            if name in ("hang", "drip", "slow", "slow-clock", "long-answer"):
                continue  # seen by the clock, below, or too slow to see here
            with self.subTest(name):
                self.cluster.control.act({"op": "named", "name": name})
                self.assertNotEqual([self.look() for _ in range(2)],
                                    [("ok", kubeconfig, True)] * 2, fault.title)
                self.cluster.control.act({"op": "clear"})
        self.assertEqual(self.look(), ("ok", kubeconfig, True))

    def look(self):
        """What a verifying client finds: an error, or the kubeconfig and whether it is signed."""
        try:
            answer = self.anonymous.call("GET", faults.CLUSTER_INFO)
            data = answer["data"]
            signature = faults.tokens.detached_jws("abcdef", "0123456789abcdef",
                                                   data.get("kubeconfig", ""))
            good = data.get("jws-kubeconfig-abcdef") == signature
            return "ok", data.get("kubeconfig"), good
        except (Refused, OSError, ssl.SSLError, TypeError, ValueError) as e:
            return type(e).__name__, str(e), False
        except RecursionError:
            return "RecursionError", "", False
        except Exception as e:  # noqa: BLE001 - http.client has its own family
            return type(e).__name__, "", False

    def test_clock_is_in_the_date_header(self):
        self.cluster.control.act({"op": "named", "name": "slow-clock"})
        _, response = self.anonymous.send("GET", "/version")
        self.assertNotIn(time.strftime("%d %b", time.gmtime()), response.headers["Date"])

    def test_count_skip_and_retry_after(self):
        self.cluster.control.act({"op": "fault", "path": "/version", "code": 503, "skip": 1,
                                  "count": 1, "retryAfter": 7})
        self.anonymous.call("GET", "/version")
        _, response = self.anonymous.send("GET", "/version")
        self.assertEqual((response.status, response.headers["Retry-After"]), (503, "7"))
        self.anonymous.call("GET", "/version")

    def test_delay(self):
        self.cluster.control.act({"op": "fault", "path": "/version", "delay": 0.3})
        started = time.monotonic()
        self.anonymous.call("GET", "/version")
        self.assertGreaterEqual(time.monotonic() - started, 0.3)

    def test_audit_names_the_request_and_no_token(self):
        self.joiner.call("GET", SYSTEM + "kubelet-config")
        self.eventually(lambda: os.path.getsize(self.audit))
        with open(self.audit, encoding="utf-8") as f:
            text = f.read()
        line = json.loads(text.splitlines()[-1])
        self.assertEqual((line["user"], line["verb"], line["code"], line["userAgent"]),
                         ("system:bootstrap:abcdef", "get", 200, "kc"))
        self.assertNotIn("0123456789abcdef", text)

    def test_bad_requests_do_not_hurt(self):
        for method, path, body, code in (
                ("POST", CSRS, {"kind": "Pod"}, 400), ("POST", CSRS, [], 400),
                ("PATCH", SYSTEM + "coredns", {}, 415), ("POST", "/api/v1/nodes", {}, 422),
                ("GET", "/api/v1/nodes?fieldSelector=spec.no%3Dx", None, 400),
                ("GET", "/nowhere", None, 404)):
            with self.subTest(path):
                self.refused(code, self.admin.call, method, path, body)


class Traffic(Case):
    settings = {"rate": 2.0, "burst": 3, "backlog": 5}

    def test_what_is_too_much_is_told_to_come_again(self):
        answers = [self.anonymous.send("GET", "/version")[1] for _ in range(5)]
        self.assertEqual([a.status for a in answers], [200, 200, 200, 429, 429])
        self.assertEqual(answers[-1].headers["Retry-After"], "1")
        self.assertEqual(json.loads(answers[-1].read())["reason"], "TooManyRequests")
        self.anonymous.call("GET", "/healthz")
        time.sleep(0.6)
        self.anonymous.call("GET", "/version")

    def test_it_is_counted(self):
        held = [self.anonymous.send("GET", "/version")[0] for _ in range(4)]
        facts = self.cluster.control.act({"op": "traffic", "clear": True})
        self.assertEqual([facts[k] for k in ("tlsConnections", "requests", "peakConnections",
                                             "refusedRequests")], [4, 4, 4, 1])
        self.assertEqual(sum(facts["slots"]), 4)
        for connection in held:
            connection.close()
        self.eventually(lambda: self.cluster.api.traffic.open == 0)
        self.assertEqual(self.cluster.control.act({"op": "traffic"})["requests"], 0)


class Restart(unittest.TestCase):
    def test_keys_and_objects_outlive_a_restart(self):
        with tempfile.TemporaryDirectory() as folder:
            first = Cluster(Settings(state=folder))
            first.start()
            admin = Client.of_kubeconfig(first.kubeconfig())
            admin.call("POST", "/api/v1/nodes", {"metadata": {"name": "w9"}})
            first.stop()
            second = Cluster(Settings(state=folder, port=first.setup.port))
            second.start()
            self.assertEqual(admin.call("GET", "/api/v1/nodes/w9")["metadata"]["name"], "w9")
            self.assertEqual(second.authority.pin, first.authority.pin)
            second.stop()


if __name__ == "__main__":
    unittest.main()
