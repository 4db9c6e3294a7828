"""`winjoin bundle create` beside `curl --parallel` of the same files: one HTTPS server with upstream's layout, one
line, in turns of one run. The server sends as fast as its line is, to both; the programs have about upstream's
sizes."""
import os
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path += [os.path.join(ROOT, "tests", folder) for folder in ("mirror", "discovery", "controlplane")]
import figures  # noqa: E402
import machine as machines  # noqa: E402
import odd  # noqa: E402
import published  # noqa: E402

GOAL = 1.1
LINE = 12.5e6  # bytes a second: 100 Mbit/s
MEMORY = "/dev/shm" if os.path.isdir("/dev/shm") else None  # what is measured is the program, not the disk
PIECE = 64 * 1024
SIZES = {"kubelet.exe": 60, "kube-proxy.exe": 40, "containerd.exe": 50, "containerd-shim-runhcs-v1.exe": 20,
         "ctr.exe": 20, "win-overlay.exe": 5, "win-bridge.exe": 5, "host-local.exe": 5, "flanneld.exe": 30}  # MB
PROGRAM = os.path.join(ROOT, "build", "windows", "winjoin.exe")


class Line:
    """Bytes leave it one after the other, whoever gets them."""

    def __init__(self, rate):
        self.rate, self.free, self.lock, self.sent = rate, 0.0, threading.Lock(), 0

    def wait(self, length):
        with self.lock:
            now = time.monotonic()
            self.free = max(self.free, now) + length / self.rate
            self.sent += length
            pause = self.free - now
        time.sleep(max(0.0, pause))

    def answer(self, data):
        def give(_server):
            yield b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(data)
            for at in range(0, len(data), PIECE):
                self.wait(len(data[at:at + PIECE]))
                yield data[at:at + PIECE]
        return give


def releases(megabytes):
    """Upstream's layout of programs of so many parts of the usual sizes; a program is one many times over."""
    with open(PROGRAM, "rb") as f:
        program = f.read()
    return published.releases({name: program * max(1, round(size * megabytes * 1e6 / len(program)))
                               for name, size in SIZES.items()})


def timed(words, env=None):
    begin = time.monotonic()
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=600, env=env)
    if done.returncode:
        raise machines.Failed("%s: %s" % (os.path.basename(words[0]), done.stderr))
    return time.monotonic() - begin


def play(rounds, rate=LINE, megabytes=1):
    """The rows."""
    files, line = releases(megabytes), Line(rate)
    server = odd.Server(odd.Odd(paths={"/" + path: line.answer(data) for path, data in files.items()}))
    base, sizes = "https://" + server.endpoint, []
    try:
        with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
            roots = odd.write(folder, "roots.pem", odd.shared().pem)
            file = os.path.join(folder, "bundle.zip")
            ours = [machines.WINJOIN, "bundle", "create", "--kubernetes-version", "v1.37.1", "--network-plugin",
                    "flannel", "--source-base", base, file]
            theirs = ["curl", "--parallel", "--parallel-max", "16", "--no-progress-meter", "--cacert", roots]
            for number, path in enumerate(files):
                theirs += ["-o", os.path.join(folder, str(number)), "%s/%s" % (base, path)]
            samples = ([], [])
            for _ in range(rounds):
                for words, times in ((ours, samples[0]), (theirs, samples[1])):
                    line.sent = 0
                    times.append(timed(words, {**os.environ, "SSL_CERT_FILE": roots}))
                    sizes.append(line.sent)
    finally:
        server.stop()
    title = "bundle of %d files, %.0f MB" % (len(files), sum(map(len, files.values())) / 1e6)
    return [figures.row(title + ": wall", "s", samples[0], samples[1], GOAL, "curl --parallel"),
            figures.row(title + ": received", "bytes", sizes[0::2], sizes[1::2], 1.0, "curl --parallel")]
