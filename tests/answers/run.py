"""Plays the conversation after discovery with a server that is broken, in an upgrade, behind a bad balancer, or hostile.

One row a case: which answers are odd, which call meets them, its exit code, and words that must stand in
its error. Everywhere: bounded time and memory, one error line, nothing that steers a terminal, no secret, nothing
half done on the host, and the same call finishes once the server is well.

    run.py [WORD...]    only the cases whose names have all the words
WINJOIN names another winjoin ("wine64 winjoin.exe"), JOBS says how many run at a time, PATIENCE how much
longer than here a call may take, EVERY=5 plays every fifth case.
"""
import concurrent.futures
import contextlib
import json
import os
import pathlib
import queue
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

import api
import cluster_cases
import csr_cases
import diag_cases
import node_cases
from row import BAD

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import document_schemas  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = shlex.split(os.environ.get("WINJOIN", str(ROOT / "build/native/winjoin")))
PATIENCE = float(os.environ.get("PATIENCE", "1"))
EVERY = int(os.environ.get("EVERY", "1"))
MEASURED = "WINJOIN" not in os.environ  # sanitizers and Wine need more of everything
WINDOWS = PROGRAM[-1].endswith(".exe")  # one host for all: Wine's drive C:
CALLS = {
    "certificate": ("join", "phase", "certificate"),
    "configuration": ("join", "phase", "configuration"),
    "plan": ("join", "--dry-run", "--ignore-preflight-errors", "all"),
    "node": ("join", "phase", "node"),
    "ready": ("join", "phase", "ready"),
    "diag": ("diag",),
}
AS_NODE = ("node", "ready", "diag")
# What a join does not end without. Nothing starts them in a folder.
PROGRAMS_NEEDED = (
    *("Program Files/containerd/%s.exe" % name for name in ("containerd", "containerd-shim-runhcs-v1")),
    *("k/%s.exe" % name for name in ("kubelet", "flanneld", "kube-proxy")),
    *("opt/cni/bin/%s.exe" % name for name in ("win-overlay", "host-local")))
UNDER_WINE = ("certificate", "node", "ready")  # what winjoin.exe can do there
STEERS = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")
KUBELET_CONF = """apiVersion: v1
kind: Config
clusters: [{name: default-cluster, cluster: {server: "https://%s", certificate-authority-data: %s}}]
contexts: [{name: default-context, context: {cluster: default-cluster, user: default-auth, namespace: default}}]
current-context: default-context
users: [{name: default-auth, user: {client-certificate: 'C:\\var\\lib\\kubelet\\pki\\kubelet-client-current.pem',
  client-key: 'C:\\var\\lib\\kubelet\\pki\\kubelet-client-current.pem'}}]
"""


class Done:
    """How a call ended: exit code, what it said, the memory and the time that it took."""

    def __init__(self, words, seconds, environment):
        start = time.monotonic()
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                       env={**os.environ, **environment})
            self.mebibytes = 0
            self.ended = self.wait(process, seconds)
            self.code = process.returncode
            out.seek(0)
            err.seek(0)
            self.out, self.err = out.read(), err.read()
        self.seconds = time.monotonic() - start

    def wait(self, process, seconds):
        """False when it had to be killed; on the way, the most memory that it had."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with contextlib.suppress(OSError, AttributeError):
                status = pathlib.Path("/proc/%d/status" % process.pid).read_text()
                self.mebibytes = max(self.mebibytes, int(re.search(r"VmHWM:\s+(\d+) kB", status).group(1)) // 1024)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.02)
                return True
        process.kill()
        process.wait()
        return False


class Host:
    """The folder that plays Windows, before and after."""

    def __init__(self, folder, case, server):
        self.root = pathlib.Path(os.environ["WINEPREFIX"], "drive_c") if WINDOWS else pathlib.Path(folder)
        if WINDOWS:
            self.clean()
        if case.call in AS_NODE:
            self.join(server)
        if case.call == "plan":
            for path in PROGRAMS_NEEDED:
                api.odd.write(self.root, path, b"")
        if case.services:
            api.odd.write(self.root, ".winjoin-host/state.json", json.dumps(
                {"services": {name: {"state": "running"} for name in case.services}}))

    def clean(self):
        """As no join was ever there."""
        for name in ("var", "etc", "ProgramData/winjoin"):
            shutil.rmtree(self.root / name, ignore_errors=True)

    def join(self, server):
        """As the phases certificate and files leave it."""
        import base64
        pair = server.authority_of_nodes.issue_client("system:node:" + api.NODE, ("system:nodes",))
        odd = api.odd
        odd.write(self.root, "var/lib/kubelet/pki/kubelet-client-current.pem", b"".join(pair))
        odd.write(self.root, "etc/kubernetes/kubelet.conf",
                  KUBELET_CONF % (server.endpoint, base64.b64encode(server.ca.pem).decode()))

    def files(self):
        roots = [self.root / name for name in ("var", "etc", "ProgramData/winjoin")] if WINDOWS else [self.root]
        return {str(p.relative_to(self.root)): p for root in roots for p in root.rglob("*") if p.is_file() or p.is_symlink()}

    def problems(self, before):
        """What a call that failed must not leave."""
        for name, path in self.files().items():
            if name not in before and not re.search(r"ProgramData/|kubelet-client\.(key|csr)\.tmp$|\.winjoin-host/", name):
                yield "left on the host: " + name
            if api.SECRET.encode() in path.read_bytes():
                yield "the token is in " + name
            if not WINDOWS and name.endswith((".key.tmp", ".pem")) and path.stat().st_mode & 0o077 and name not in before:
                yield "others may read " + name


def command(case, server, host):
    joined = case.call in AS_NODE
    words = [*PROGRAM, *CALLS[case.call]]
    if not joined:
        words += [server.endpoint, "--token", api.TOKEN, "--discovery-token-ca-cert-hash", server.pin]
    words += ["--progress", case.progress, "-v", "5", *([] if case.call == "diag" else ["--node-name", api.NODE])]
    words += [] if WINDOWS else ["--rootfs", str(host.root)]
    return [*words, *(["--timeout", case.timeout] if case.timeout else []), *case.more]


def said(done):
    """Lines of the error and its hints."""
    lines = done.err.decode(errors="replace").splitlines()
    return "\n".join(line for line in lines if line.startswith(("error: ", "hint: ", "warning: ")) or line[:2] == "  ")


def problems(case, server, host, before, done, slow):
    if not done.ended:
        yield "no end after %d s" % done.seconds
    if done.code not in {None: (0, 1, 3), BAD: (1, 3)}.get(case.code, (case.code,)):
        yield "exit code %s, not %s" % (done.code, case.code)
    for words in case.says:
        if not re.search(words, said(done)):
            yield "the error lacks '%s'" % words
    for words in case.never:
        if words.encode() in done.out + done.err:
            yield "says '%s'" % words
    if done.seconds > case.seconds * PATIENCE * slow:
        yield "took %.1f s" % done.seconds
    if MEASURED and done.mebibytes > case.memory:
        yield "took %d MiB" % done.mebibytes
    if api.SECRET.encode() in done.out + done.err:
        yield "the token is shown"
    if b"PRIVATE KEY" in done.out + done.err:
        yield "a key is shown"
    found = STEERS.search(done.out + done.err)
    if found:
        at = found.start()
        yield "a terminal is steered: %r" % (done.out + done.err)[max(0, at - 60):at + 20]
    if b"Sanitizer" in done.err or b"runtime error" in done.err:
        yield "a sanitizer speaks"
    if sum(line.startswith(b"error: ") for line in done.err.splitlines()) != (done.code != 0):
        yield "not exactly one error line"
    for verb, path, least, most in case.asked:
        count = sum(r.verb == verb and bool(re.fullmatch(path, r.path)) for r in server.asked)
        if not least <= count <= most * slow:
            yield "%s %s was asked %d times" % (verb, path, count)
    if done.code and case.call != "diag":
        yield from host.problems(before)


def run_once(case, server, slow):
    with tempfile.TemporaryDirectory() as folder:
        host = Host(folder, case, server)
        before = host.files()
        server.again(case.answers)
        if case.ready:
            case.ready(server)
        words = command(case, server, host)
        done = Done(words, max(90, case.seconds * 3) * PATIENCE, case.environment)
        found = list(problems(case, server, host, before, done, slow))
        text = done.err.decode(errors="backslashreplace")
        try:
            document_schemas.check_output(done.out.decode(errors="replace"), done.err.decode(errors="replace"))
        except AssertionError as why:
            found.append(str(why))
        server.well()
        if case.again is not None:
            after = Done(words, 90 * PATIENCE, case.environment)
            if after.code != case.again:
                found.append("once the server is well: exit code %s: %s" % (
                    after.code, after.err.decode(errors="backslashreplace")[-600:]))
        if os.environ.get("SHOW"):
            print("--- %s: %d, %.1f s, %d MiB\n%s" % (case.name, done.code, done.seconds, done.mebibytes,
                                                    said(done)), flush=True)
        return found + (["said: " + line[:400] for line in text.splitlines()[-12:]] if found else [])


TWICE = []  # names of the cases that failed at first: told at the end, whatever the second time showed


def run(case, server):
    found = run_once(case, server, 1)
    if not found or os.environ.get("ONCE"):
        return found
    TWICE.append(case.name)  # a machine that is busy answers late: once more, with more time
    return run_once(case, server, 4)


ALL = [*csr_cases.CASES, *cluster_cases.CASES, *node_cases.CASES, *diag_cases.CASES]


def main():
    if not shutil.which(PROGRAM[0]):
        print("skipped: %s is not built\n0 passed, 0 failed, %d skipped" % (PROGRAM[0], len(ALL)))
        return 0
    chosen = [case for case in ALL if all(word in case.name for word in sys.argv[1:])]
    if WINDOWS:
        chosen = [case for case in chosen if case.call in UNDER_WINE and (EVERY == 1 or case.seconds < 40)]
    slow = [case for case in chosen if case.call == "diag"]  # ten seconds each and more
    rest = [case for case in chosen if case.call != "diag"]
    chosen = [*slow[::1 if sys.argv[1:] else 4], *rest[::EVERY]]
    jobs, failed, servers = 1 if WINDOWS else int(os.environ.get("JOBS", "8")), 0, queue.Queue()
    for _ in range(jobs):
        servers.put(api.Api())

    def one(case):
        server = servers.get()
        try:
            return run(case, server)
        finally:
            server.stop()
            servers.put(api.Api())  # streams of the last case may still be at it
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for case, found in zip(chosen, pool.map(one, chosen)):
            failed += bool(found)
            for line in found:
                print("%s: %s" % (case.name, line.encode("unicode_escape").decode()), flush=True)
    if TWICE:
        print("played twice: %d: %s" % (len(TWICE), ", ".join(sorted(TWICE))))
    print("%d passed, %d failed, 0 skipped" % (len(chosen) - failed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # threads of servers that answer for ever are not waited for
