#!/usr/bin/env python3
"""Who calls `winjoin diag --kubeconfig`, and what that one may do: contexts, rights, programs that give credentials."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:1] = [str(ROOT / "tests")]

from controlplane import resources  # noqa: E402
from controlplane.cluster_case import WINJOIN, ClusterDiag  # noqa: E402

ROLE, BINDING = resources.named("clusterroles"), resources.named("clusterrolebindings")
RIGHTS = [("list", "nodes"), ("create", "namespaces"), ("list", "namespaces"), ("delete", "namespaces"),
          ("create", "pods"), ("list", "pods"), ("watch", "pods"), ("get", "pods/proxy"), ("create", "services")]


class Contexts(ClusterDiag):
    """Which kubeconfig, and which of its contexts."""

    def contexts(self):
        """A kubeconfig whose current context leads nowhere, and "good" to the cluster."""
        with open(self.kubeconfig, encoding="utf-8") as f:
            lines = f.read().split("\n")
        text = "\n".join("current-context: bad" if x.startswith("current-context:") else x for x in lines)
        field = {n: next(x for x in lines if x.strip().startswith(n)).split(":", 1)[1].strip() for n in ("cluster", "user")
                 for n in (n + ":",) if any(x.strip().startswith(n) and x.strip() != n for x in lines)}
        add = "contexts:\n- {name: good, context: {cluster: %s, user: %s}}\n- {name: bad, context: {cluster: none, user: none}}" % (
            field["cluster:"], field["user:"])
        path = os.path.join(self.folder, "contexts.conf")
        with open(path, "w", encoding="utf-8") as f:
            f.write(text.replace("contexts:", add, 1))
        return path

    def test_context(self):
        path = self.contexts()
        _, err = self.diag(code=3, kubeconfig=path)
        self.assertIn("--kubeconfig: ", err)
        _, err = self.diag("--context", "other", code=3, kubeconfig=path)
        self.assertIn("other", err)
        self.assertEqual(self.model.started, 0)
        self.diag("--context", "good", kubeconfig=path)

    def without_flag(self, code, *words, **environment):
        done = subprocess.run([WINJOIN, "diag", *words], capture_output=True, text=True, timeout=60, check=False,
                              env={"PATH": os.environ["PATH"], **environment})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stderr

    def test_environment(self):
        words = ("--nodes", "win-000,lin-001")
        self.without_flag(0, *words, KUBECONFIG=self.kubeconfig)
        home = os.path.join(self.folder, "home")
        os.makedirs(os.path.join(home, ".kube"))
        shutil.copy(self.kubeconfig, os.path.join(home, ".kube", "config"))
        self.without_flag(0, *words, HOME=home)
        self.without_flag(0, *words, HOME=home, KUBECONFIG="")
        err = self.without_flag(3, *words, HOME=home, KUBECONFIG="%s:%s" % (self.kubeconfig, home))
        self.assertIn("KUBECONFIG names several files, which are not merged", err)
        self.assertIn("use --kubeconfig FILE", err)


class Rights(ClusterDiag):
    def user(self, rights):
        rules = [{"verbs": [verb], "apiGroups": [""], "resources": [what]} for verb, what in rights]
        rules.append({"verbs": ["create"], "apiGroups": ["authorization.k8s.io"],
                      "resources": ["selfsubjectaccessreviews"]})
        for kind, item in ((ROLE, {"metadata": {"name": "some"}, "rules": rules}), (BINDING, {
                "metadata": {"name": "some"}, "roleRef": {"kind": "ClusterRole", "name": "some"},
                "subjects": [{"kind": "User", "name": "jane"}]})):
            if self.cluster.store.find(kind, "", "some"):
                self.cluster.store.delete(kind, "", "some")
            self.cluster.store.create(kind, "", item)
        return self.cluster.kubeconfig("jane", ("users",))

    def test_all_are_enough(self):
        self.diag(kubeconfig=self.user(RIGHTS))

    def test_one_by_one(self):
        for right in RIGHTS:
            out, err = self.diag(code=1, kubeconfig=self.user([r for r in RIGHTS if r != right]))
            self.assertIn("is not allowed to: %s %s\n" % right, err)
            self.assertEqual(self.left(), [])
            rules = json.loads(out)["items"][0]["rules"]
            self.assertIn({"apiGroups": [""], "resources": [right[1]], "verbs": [right[0]]}, rules)

    def test_all_missing_are_told_at_once(self):
        _, err = self.diag(code=1, kubeconfig=self.user([]))
        for right in RIGHTS:
            self.assertIn("%s %s" % right, err)


class Plugin(ClusterDiag):
    """Credentials that a program gives, as kubectl runs it."""

    def kubeconfig_of(self, script, **more):
        """A kubeconfig whose user runs a script with the administrator's pair as $CERT and $KEY."""
        with open(self.kubeconfig, encoding="utf-8") as f:
            lines = [line.strip() for line in f]
        field = {n: next(x for x in lines if x.startswith(n)).split()[1] for n in (
            "client-certificate-data:", "client-key-data:", "certificate-authority-data:", "server:")}
        program = os.path.join(self.folder, "plugin")
        with open(program, "w", encoding="utf-8") as f:
            f.write("#!/usr/bin/python3\nimport base64, json, os, sys, time\n"
                    "cert, key = (base64.b64decode(x).decode() for x in (%r, %r))\n"
                    "info = json.loads(os.environ['KUBERNETES_EXEC_INFO'])\n%s" % (
                        field["client-certificate-data:"], field["client-key-data:"], script))
        os.chmod(program, 0o700)
        path = os.path.join(self.folder, "plugin.conf")
        run = {"apiVersion": "client.authentication.k8s.io/v1", "command": "./plugin", "args": ["a"],
               "env": [{"name": "HELLO", "value": "there"}], "provideClusterInfo": True,
               "interactiveMode": "IfAvailable", **more}
        with open(path, "w", encoding="utf-8") as f:
            json.dump({"current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
                       "clusters": [{"name": "k", "cluster": {
                           "server": field["server:"],
                           "certificate-authority-data": field["certificate-authority-data:"]}}],
                       "users": [{"name": "u", "user": {"exec": run}}]}, f)
        return path

    GIVES = ("assert sys.argv[1:] == ['a'] and os.environ['HELLO'] == 'there'\n"
             "assert info['spec']['cluster']['server'].startswith('https://')\n"
             "print(json.dumps({'kind': 'ExecCredential', 'apiVersion': info['apiVersion'],\n"
             "                  'status': {'clientCertificateData': cert, 'clientKeyData': key}}))\n")

    def test_certificate(self):
        for version in ("v1", "v1beta1"):
            self.diag(kubeconfig=self.kubeconfig_of(self.GIVES, apiVersion="client.authentication.k8s.io/" + version))

    def test_refusals(self):
        for words, script, more in (
                ("it ended with exit code 3", "sys.exit(3)", {}),
                ("its output is not an ExecCredential", "print('s3cr3t')", {}),
                ("exec of apiVersion 'client.authentication.k8s.io/v1alpha1' is not supported", "",
                 {"apiVersion": "client.authentication.k8s.io/v1alpha1"}),
                ("interactiveMode Always is not supported", "", {"interactiveMode": "Always"}),
                ("hint: install it", "", {"command": "no-such-program", "installHint": "install it"})):
            proc = self.start(kubeconfig=self.kubeconfig_of(script, **more))
            out, err = proc.communicate(timeout=60)
            self.assertNotEqual(proc.returncode, 0)
            self.assertIn(words, err)
            self.assertNotIn("s3cr3t", out + err)

    def test_hangs(self):
        """A program that never ends is ended after a minute; Ctrl-C ends it at once."""
        path = self.kubeconfig_of("time.sleep(600)")
        proc = self.start(kubeconfig=path)
        time.sleep(1)
        proc.send_signal(signal.SIGINT)
        proc.communicate(timeout=10)
        self.assertEqual(proc.returncode, 130)
        begin = time.monotonic()
        proc = self.start(kubeconfig=path)
        _, err = proc.communicate(timeout=90)
        self.assertIn(proc.returncode, (1, 2, 3, 4), err)
        self.assertIn("run './plugin' of the kubeconfig", err)
        self.assertTrue(55 < time.monotonic() - begin < 75, err)


if __name__ == "__main__":
    unittest.main()
