"""Drives `winjoin discover` against the test API server and odd ones: one row a case.

Each row: what the server does, how the program is called, its exit code, and words that must stand
on stderr. Everywhere: no secret in any output, nothing on stdout but the proven bytes, bounded time,
no credentials to a server that is not proven. With --compare upstream's kubeadm is asked the same
(upstream.py). WINJOIN names another program ("wine build/windows/winjoin.exe"), JOBS says how many
run at a time, PATIENCE how much longer than here a call may take, EVERY=5 plays every fifth case; words
on the command line choose the cases whose names have them.
"""
import concurrent.futures
import contextlib
import hashlib
import http.client
import json
import os
import pathlib
import queue
import re
import shlex
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

import call_cases
import certificate_cases
import discovery_file
import field_cases
import file_cases
import http_cases
import name_cases
import odd
import odd_cases
import proxy_cases
import secret_cases
import text_cases
import tls_cases
import upstream
from case import SECRET, TOKEN, Case

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = shlex.split(os.environ.get("WINJOIN", str(ROOT / "build/native/winjoin")))
PATIENCE = float(os.environ.get("PATIENCE", "1"))
EVERY = int(os.environ.get("EVERY", "1"))
SERVER = ROOT / "tests/controlplane/run"
COMPARE = "--compare" in sys.argv
UPSTREAM = upstream.find() if COMPARE else None
WINDOWS = PROGRAM[-1].endswith(".exe")
MEASURED = "WINJOIN" not in os.environ  # sanitizers and Wine need more of everything
CLUSTER_INFO = "/api/v1/namespaces/kube-public/configmaps/cluster-info"
STRANGE_PIN = "sha256:" + "3b" * 32


JWS = ("failed to verify JWS signature",)
# How a wait of three seconds and more is told where there is no terminal.
WAITS = re.compile(r"^  \.\. .*(; next try in \d+ s|(asking|fetching) \S+) \(.*\)$")
NOT_TRUSTED = "cannot trust"
NEW_TOKEN = "hint: make a new one: kubeadm token create --print-join-command"


def banner(connection):
    connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")
    connection.recv(1024)


def silence(connection):
    connection.settimeout(10)
    with contextlib.suppress(OSError):
        while connection.recv(1024):
            pass


def plain_http(connection):
    connection.recv(1024)
    connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")


def faulty(name, code, *says, **more):
    return Case(name, fault=name, code=code, says=says, **more)


CASES = [
    Case("right"),
    Case("right, the pin in upper case", pins=("{PIN}",)),
    Case("right, one pin of two", pins=(STRANGE_PIN, "{pin}")),
    Case("right, pins with a comma", pins=(STRANGE_PIN + ",{pin}",)),
    Case("right, by name", endpoint="localhost:{port}"),
    Case("no pin but the flag", pins=(), more=("--discovery-token-unsafe-skip-ca-verification",),
         says=("warning: no CA certificate hash",)),
    Case("by file", token="", pins=(), endpoint="",
         more=("--discovery-file", "{state}/admin.conf")),
    Case("by file and token", token="", pins=(), endpoint="",
         more=("--discovery-file", "{state}/public.conf", "--tls-bootstrap-token", TOKEN)),
    # before any packet
    Case("file without credentials", code=3, token="", pins=(), endpoint="",
         more=("--discovery-file", "{state}/public.conf"),
         says=("could not find authentication credentials", "--tls-bootstrap-token")),
    Case("file and endpoint", code=3, pins=(), more=("--discovery-file", "{state}/public.conf")),
    Case("token of another form", code=3, token="ABCDEF." + SECRET, says=("upper-case letters",)),
    Case("token too short", code=3, token="abcdef.0123", says=("6 and 4 characters",)),
    Case("pin of another form", code=3, pins=("sha256:12",), says=("64 hexadecimal digits",)),
    Case("pin of another kind", code=3, pins=("sha512:" + "3b" * 64,), says=("64 hexadecimal digits",)),
    Case("no pin", code=3, pins=(), says=("--discovery-token-ca-cert-hash is missing",)),
    Case("no port", code=3, endpoint="127.0.0.1", says=("missing port",)),
    Case("URL for an endpoint", code=3, endpoint="https://{endpoint}", says=("too many colons",)),
    Case("file that is not there", code=3, token="", pins=(), endpoint="",
         more=("--discovery-file", "{state}/none.conf"), says=("none.conf",)),
    # untrusted: at once, exit code 4
    Case("wrong pin", code=4, pins=(STRANGE_PIN,),
         says=(NOT_TRUSTED, "hint: it presented {pin} (CN=kubernetes, valid from",
               "hint: you gave " + STRANGE_PIN)),
    Case("wrong pin with the flag", code=4, pins=(STRANGE_PIN,), says=(NOT_TRUSTED,),
         more=("--discovery-token-unsafe-skip-ca-verification",)),
    Case("wrong secret", code=4, token="abcdef.0123456789abcdee", says=JWS),
    faulty("wrong-secret", 4, *JWS),
    faulty("signature-padded", 4, *JWS),
    faulty("signature-newline", 4, *JWS),
    faulty("signature-attached", 4, *JWS),
    faulty("signature-two-parts", 4, *JWS),
    faulty("signature-flipped", 4, *JWS),
    faulty("header-order", 4, *JWS),
    faulty("header-spaces", 4, *JWS),
    faulty("header-extra", 4, *JWS),
    faulty("header-alg-none", 4, *JWS),
    faulty("header-other-kid", 4, *JWS),
    faulty("changed-kubeconfig", 4, *JWS),
    faulty("second-answer-differs", 4, "was different from the first"),
    faulty("second-server-differs", 4, "was different from the first"),
    faulty("ca-stranger", 4, "no public key of its CA certificates", "hint: if the cluster was rebuilt"),
    faulty("expired-certificate", 4, "has expired or is not yet valid", "is after",
           "certificate must be renewed"),
    faulty("future-certificate", 4, "has expired or is not yet valid", "is before"),
    faulty("wrong-san", 4, "valid for other.example, 192.0.2.77, not 127.0.0.1", "certSANs"),
    faulty("no-san", 4, "valid for no name, not 127.0.0.1"),
    faulty("other-ca", 4, "not signed by the cluster's CA"),
    faulty("other-ca-later", 4, "not signed by the cluster's CA"),
    # it says no
    Case("unknown token", code=1, token="zzzzzz." + SECRET,
         says=('for token ID "zzzzzz"', "has signatures for: abcdef", NEW_TOKEN)),
    faulty("no-signature", 1, 'for token ID "abcdef"', "has no tokens", NEW_TOKEN),
    faulty("empty-signature", 1, "is invalid for this cluster or it has expired", NEW_TOKEN),
    faulty("no-kubeconfig", 1, "there is no kubeconfig key", "kubeadm init phase bootstrap-token"),
    faulty("empty-kubeconfig", 1, "there is no kubeconfig key"),
    faulty("unauthorized", 1, "401", "--anonymous-auth"),
    faulty("forbidden", 1, "403", "--anonymous-auth"),
    faulty("not-found", 1, "404", "is this the API server"),
    faulty("redirect", 1, "302", "redirects are not followed"),
    # it does not parse
    faulty("kubeconfig-no-yaml", 1, "the kubeconfig in the cluster-info ConfigMap: line"),
    faulty("kubeconfig-no-cluster", 1, "it has no cluster"),
    faulty("ca-garbage", 1, "failed to parse cluster CA"),
    faulty("ca-no-base64", 1, "the kubeconfig in the cluster-info ConfigMap: line"),
    faulty("ca-missing", 1, "no certificate-authority-data"),
    faulty("no-json", 1, "decode the cluster-info ConfigMap: line 1 column 1"),
    faulty("json-nested", 1, "maximum parsing depth"),
    faulty("json-array", 1, "not a JSON object"),
    faulty("long-answer", 1, "longer than"),
    faulty("cut", 1, "failed to request the cluster-info ConfigMap"),
    # the way there is broken: tried again until the time is over
    faulty("broken", 1, "tried ", "500"),
    faulty("reset", 1, "tried "),
    faulty("drip", 1, "no complete answer"),
    faulty("hang", 1, "no complete answer"),
    Case("nobody listens", code=1, endpoint="127.0.0.1:{closed}", says=("tried ",)),
    Case("no such name", code=1, endpoint="no-such-host.invalid:6443",
         says=("no-such-host.invalid",)),
    Case("SSH instead of TLS", code=1, plain=banner, says=("failed to request",)),
    Case("HTTP instead of TLS", code=1, plain=plain_http, says=("failed to request",)),
    Case("silence instead of TLS", code=1, plain=silence, says=("failed to request",)),
    # passing trouble, no fault
    faulty("starting", 0, timeout="10s", seconds=15),
    faulty("throttled", 0, timeout="10s", seconds=15),
    faulty("cut-once", 0, timeout="10s", seconds=15),
    faulty("slow", 0, timeout="20s", seconds=15),
    faulty("ca-rotation", 0),
    faulty("kubeconfig-long", 0),
    faulty("slow-clock", 0, "warning: this machine's clock is"),
]


class Plain:
    """A TCP server that speaks no TLS."""

    def __init__(self, serve):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.serve = serve
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        with contextlib.suppress(OSError):
            while True:
                connection = self.socket.accept()[0]
                threading.Thread(target=self.one, args=(connection,), daemon=True).start()

    def one(self, connection):
        with contextlib.suppress(OSError), connection:
            self.serve(connection)


class Forward(Plain):
    """A proxy: reads the head of a request unless it is `raw`, the case does the rest."""

    def __init__(self, serve, port):
        self.to = port
        super().__init__(serve)

    def one(self, connection):
        head = b""
        with contextlib.suppress(OSError), connection:
            while b"\r\n\r\n" not in head and not getattr(self.serve, "raw", False):
                more = connection.recv(4096)
                if not more:
                    return
                head += more
            self.serve(connection, head, self.to)


class Server:
    """A test API server of its own for each worker."""

    def __init__(self, folder):
        self.state = folder
        self.process = subprocess.Popen(
            [SERVER, "--listen", "127.0.0.1:0", "--san", "localhost", "--state", folder,
             "--print-join"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.facts = json.loads(self.process.stdout.readline())
        self.control = socket.socket(socket.AF_UNIX)
        self.control.connect(self.facts["control"])
        self.answers = self.control.makefile()
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.closed = free.getsockname()[1]
        pathlib.Path(folder, "public.conf").write_bytes(self.published())

    def ask(self, **message):
        self.control.sendall(json.dumps(message).encode() + b"\n")
        answer = json.loads(self.answers.readline())
        if not answer["ok"]:
            raise RuntimeError(answer["error"])

    def published(self):
        """The bytes that discovery must print; none when the server does not tell them."""
        url = "https://%s%s" % (self.facts["endpoint"], CLUSTER_INFO)
        trust = ssl._create_unverified_context()
        with contextlib.suppress(OSError, http.client.HTTPException), \
                urllib.request.urlopen(url, context=trust, timeout=10) as answer:
            return json.load(answer)["data"]["kubeconfig"].encode()
        return b""

    def stop(self):
        self.control.close()
        self.process.terminate()
        self.process.wait(10)


class Stage:
    """What one case runs against: the worker's API server, or a server of its own."""

    def __init__(self, case, server, folder):
        self.case, self.server, self.folder = case, server, folder
        self.slow = 1
        self.plain = Plain(case.plain) if case.plain else None
        self.odd = odd.Server(case.odd) if case.odd else None
        self.proxy = Forward(case.proxy, self.odd.port) if case.proxy else None
        for name, make in case.files.items():
            odd.write(folder, name, make(self.odd))
        if case.prepare:
            case.prepare(folder)
        if case.change:
            self.change(*case.change)
        self.again()

    def change(self, name, old, new):
        path = pathlib.Path(self.folder, name)
        path.write_text(path.read_text().replace(old, self.fill(new)))

    def again(self):
        """The server as it is for a caller that never called before."""
        if self.odd:
            self.odd.connections = self.odd.answers = 0
        if self.case.fault:
            self.server.ask(op="clear")
            self.server.ask(op="named", name=self.case.fault)

    def fill(self, text):
        endpoint, pin, der = self.server.facts["endpoint"], self.server.facts["caCertHash"], b""
        if self.plain:
            endpoint = "127.0.0.1:%d" % self.plain.port
        if self.odd:
            endpoint, pin, der = self.odd.endpoint, self.odd.pin, self.odd.ca.der
        return text.format(endpoint=endpoint, port=endpoint.rpartition(":")[2], pin=pin,
                           PIN=pin.upper(), state=self.server.state, closed=self.server.closed,
                           folder=self.folder, fingerprint=hashlib.sha256(der).hexdigest(),
                           proxy=self.proxy.port if self.proxy else 0)

    def command(self):
        case = self.case
        words = [*PROGRAM, "discover"]
        words += [self.fill(case.endpoint)] if case.endpoint else []
        words += ["--token", case.token] if case.token else []
        for pin in case.pins:
            words += ["--discovery-token-ca-cert-hash", self.fill(pin)]
        words += [self.fill(word) for word in case.more]
        seconds = int(case.timeout[:-1])
        if case.code == 0 or seconds > 1:  # what must come to pass on a slow machine too
            seconds = int(seconds * max(1, min(PATIENCE, 3)))
        seconds *= self.slow
        if case.code in (0, 3, 4):  # it ends at once, however long it might last
            seconds = max(seconds, 10)
        return [*words, "--timeout", "%ds" % seconds, "-o", "kubeconfig"]

    def environment(self):
        more = {name: self.fill(value) for name, value in self.case.environment.items()}
        return {**os.environ, **more}

    def expected(self):
        """What stdout must be after success; None when any will do."""
        if self.case.code or not self.case.token:
            return None
        return self.odd.kubeconfig().encode() if self.odd else self.server.published()

    def credentials_went(self):
        return bool(self.odd and self.odd.authorized)

    def end(self):
        if self.odd:
            self.odd.stop()
        if self.case.fault:
            self.server.ask(op="clear")


def problems(case, stage, done, seconds):
    """Everything that is not as the row says, one line each."""
    expected = stage.expected()
    err, out = done.stderr.decode(errors="replace"), done.stdout
    if done.returncode != case.code:
        yield "exit code %s, not %d" % (done.returncode, case.code)
    for words in case.says:
        if stage.fill(words) not in err:
            yield "stderr lacks '%s'" % stage.fill(words)
    if seconds > case.seconds * PATIENCE * stage.slow:
        yield "took %.1f s" % seconds
    secret = case.token.partition(".")[2]
    for word in [*case.hidden, *([secret] if secret else [])]:
        if word.encode() in done.stderr + (out if case.token else b""):
            yield "a secret is shown: " + word
    if MEASURED and done.mebibytes > case.memory:
        yield "took %d MiB" % done.mebibytes
    lines = err.splitlines()
    if sum(line.startswith("error: ") for line in lines) != (case.code != 0):
        yield "not exactly one error line"
    if not all(line.startswith(("error: ", "hint: ", "warning: ")) or WAITS.search(line) for line in lines):
        yield "stderr has other lines"
    if case.code and out:
        yield "stdout is not empty"
    if expected is not None and out != expected:
        yield "stdout is not the published kubeconfig"
    if stage.credentials_went() and not case.secret_may_go:
        yield "credentials went to a server that was not proven"


def run(case, server):
    with tempfile.TemporaryDirectory() as folder:
        stage = Stage(case, server, folder)
        try:
            return run_on(case, stage)
        finally:
            stage.end()


class Done:
    """How a call ended: exit code, what it said, the memory that it took."""

    def __init__(self, words, stdin, seconds, environment):
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, \
                tempfile.TemporaryFile() as err:
            given.write(stdin)
            given.seek(0)
            process = subprocess.Popen(words, stdin=given, stdout=out, stderr=err, env=environment)
            self.mebibytes = 0
            self.ended = self.wait(process, seconds)
            self.returncode = process.returncode
            out.seek(0)
            err.seek(0)
            self.stdout, self.stderr = out.read(), err.read()

    def wait(self, process, seconds):
        """False when it had to be killed; on the way, the most memory that it had."""
        end = time.monotonic() + seconds
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.02)
                return True
            with contextlib.suppress(OSError, AttributeError):
                status = pathlib.Path("/proc/%d/status" % process.pid).read_text()
                found = re.search(r"VmHWM:\s+(\d+) kB", status)
                self.mebibytes = max(self.mebibytes, int(found.group(1)) // 1024)
            if time.monotonic() > end:
                process.kill()
                process.wait()
                return False


TWICE = []  # names of the cases that failed at first: told at the end, whatever the second time showed


def run_on(case, stage):
    found = run_once(case, stage)
    if found:  # a machine that is busy answers late: once more, with much more time
        TWICE.append(case.name)
        stage.slow = 8
        stage.again()
        found = run_once(case, stage)
    if not found and UPSTREAM and case.kubeadm:
        found += upstream.compare(UPSTREAM, case, stage)
    return found


def run_once(case, stage):
    start = time.monotonic()
    done = Done(stage.command(), case.stdin, 60 * PATIENCE, stage.environment())
    if not done.ended:
        return ["no end after %d s" % (60 * PATIENCE)]
    found = list(problems(case, stage, done, time.monotonic() - start))
    found += ["stderr: " + line for line in done.stderr.decode(errors="replace").splitlines()
              if found]
    return found


ALL = [*CASES, *secret_cases.CASES, *odd_cases.CASES, *certificate_cases.CASES, *call_cases.CASES, *discovery_file.CASES, *tls_cases.CASES,
       *name_cases.CASES, *http_cases.CASES, *text_cases.CASES, *field_cases.CASES, *file_cases.CASES,
       *proxy_cases.CASES]


def main():
    if not shutil.which(PROGRAM[0]):
        print("skipped: %s is not built\n0 passed, 0 failed, %d skipped" % (
            PROGRAM[0], len(ALL)))
        return 0
    alone = int(COMPARE and not UPSTREAM)
    if alone:
        print("skipped: kubeadm is not built, its verdicts are not compared")
    failed, chosen = 0, [case for case in ALL
                         if all(word in case.name for word in sys.argv[1:] if word != "--compare")]
    if WINDOWS:  # it has its own store of roots: machine.py asks about it
        chosen = [case for case in chosen
                  if not case.posix and "SSL_CERT_FILE" not in case.environment]
    else:
        chosen = [case for case in chosen if not case.windows]
    chosen = [case for n, case in enumerate(chosen) if n % EVERY == 0 or case.library or case.windows]
    jobs = int(os.environ.get("JOBS", "3"))
    servers = queue.Queue()
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        started = [Server(os.path.join(folder, str(i))) for i in range(jobs)]
        for server in started:
            servers.put(server)

        def one(case):
            server = servers.get()
            try:
                return run(case, server)
            finally:
                servers.put(server)
        try:
            for case, found in zip(chosen, pool.map(one, chosen)):
                failed += bool(found)
                for line in found:
                    print("%s: %s" % (case.name, line), flush=True)
        finally:
            for server in started:
                server.stop()
    if UPSTREAM and len(chosen) == sum(not case.windows for case in ALL):
        for line in upstream.unused():
            failed += 1
            print(line)
    if TWICE:
        print("played twice: %d: %s" % (len(TWICE), ", ".join(sorted(TWICE))))
    print("%d passed, %d failed, %d skipped" % (len(chosen) - failed, failed, alone))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
