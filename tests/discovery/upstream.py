"""Upstream's kubeadm on the same cases: where the verdicts differ, docs/design/kubeadm-parity.md must give the
reason in the table of the stricter or of the wider verdicts."""
import json
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
PARITY = ROOT / "docs/design/kubeadm-parity.md"
USED = set()


def find():
    """kubeadm's path: KUBEADM, or what tests/cluster has built; None when there is none."""
    if "KUBEADM" in os.environ:
        return os.environ["KUBEADM"] or None
    cache = os.environ.get("WINJOIN_CACHE", os.path.expanduser("~/.cache/winjoin"))
    found = sorted(pathlib.Path(cache, "upstream").glob("kubernetes-*/bin/linux/kubeadm"))
    return str(found[-1]) if found else None


def reasons():
    """(case name -> reason) of what winjoin alone refuses, and of what it alone takes."""
    section = PARITY.read_text().partition("## Discovery: ")[2].partition("\n## ")[0]
    tables = [dict(re.findall(r"^\| `([^`]+)` \| (.+) \|$", part, re.M))
              for part in section.partition("### Where winjoin takes more")[::2]]
    if not all(tables):
        raise LookupError(f"{PARITY.name}: a table of the cases that differ is not where it was")
    return tables


REASONS = reasons()


def configuration(case, stage):
    """The case as a JoinConfiguration: flags have no place for short times."""
    discovery = {}
    more = [stage.fill(word) for word in case.more]
    given = dict(zip(more, more[1:]))
    if case.token or case.endpoint:
        discovery["bootstrapToken"] = {
            "token": case.token, "apiServerEndpoint": stage.fill(case.endpoint),
            "caCertHashes": [pin for text in case.pins for pin in stage.fill(text).split(",")],
            "unsafeSkipCAVerification": "--discovery-token-unsafe-skip-ca-verification" in more}
    if "--discovery-file" in given:
        path = given["--discovery-file"]
        discovery["file"] = {"kubeConfigPath": path}
    bootstrap = given.get("--tls-bootstrap-token", case.token)
    if bootstrap:
        discovery["tlsBootstrapToken"] = bootstrap
    return {"apiVersion": "kubeadm.k8s.io/v1beta4", "kind": "JoinConfiguration",
            "nodeRegistration": {"name": "win-9", "criSocket": "unix:///nonexistent",
                                 "ignorePreflightErrors": ["all"]},
            "timeouts": {"discovery": case.timeout, "kubernetesAPICall": "500ms"},
            "discovery": discovery}


def accepts(kubeadm, case, stage):
    """(whether kubeadm believes the server, what it says); None when it finds no end."""
    path = os.path.join(stage.folder, "join.yaml")
    with open(path, "w", encoding="utf-8") as f:
        json.dump(configuration(case, stage), f, ensure_ascii=False)
    try:
        done = subprocess.run([kubeadm, "join", "phase", "preflight", "--config", path],
                              capture_output=True, stdin=subprocess.DEVNULL, timeout=60, check=False,
                              env=stage.environment(), cwd=stage.folder)
    except subprocess.TimeoutExpired:
        return False, "no end after 60 s"
    said = (done.stdout + done.stderr).decode(errors="replace")
    return done.returncode == 0 or "Reading configuration from the" in said, said


def compare(kubeadm, case, stage):
    """Lines that say what is wrong about the two verdicts."""
    stage.again()
    believed, said = accepts(kubeadm, case, stage)
    stricter, wider = [case.name in rows for rows in REASONS]
    if stricter or wider:
        USED.add(case.name)
    if believed == (case.code == 0):
        return ["docs/design/kubeadm-parity.md: kubeadm decides as winjoin does"] if stricter or wider else []
    if not believed:
        return [] if wider else ["kubeadm refuses what winjoin takes: " + said.strip().splitlines()[-2]]
    return [] if stricter else ["kubeadm takes it: docs/design/kubeadm-parity.md has no reason"]


def unused():
    """Rows of the table that stand for no case."""
    return ["docs/design/kubeadm-parity.md: there is no case '%s'" % name
            for name in sorted({name for rows in REASONS for name in rows} - USED)]

