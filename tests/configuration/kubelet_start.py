"""Upstream's kubelet.exe, started again and again on a played Windows host, as far as it comes.

No API server answers it; its container runtime is the rig's, on the pipe that winjoin names. Needs root:
the host has a network of its own.
"""
import ctypes
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "tests" / part) for part in ("wine", "rig", "cluster")]
import prefix as prefixes  # noqa: E402
import programs  # noqa: E402
import sandbox  # noqa: E402

CLONE_NEWNET = 0x40000000
PATIENCE = 60
# The last thing that depends on a configuration: everything that can end the kubelet lies before it.
STARTED = '"Starting Kubelet Plugin Manager"'
LENIENT = "Using lenient decoding as strict decoding failed"
EXECUTABLE = r"C:\k\kubelet.exe"
CERTIFICATE = r"C:\var\lib\kubelet\pki\kubelet-client-current.pem"


def built(program, of=None):
    """Where a program of upstream is ready, or None; nothing is built here."""
    sections = programs.versions()
    name = programs.owner(program, sections, of)
    path = programs.place_of(program, name, sections[name])
    return path if os.path.exists(path) else None


@dataclasses.dataclass
class Start:
    """How far the kubelet came."""
    runs: bool
    said: str       # why it ended, else ""
    unknown: str    # what it says of fields that it does not know
    log: str


def read(log, runs):
    lines = [line for line in log.splitlines() if line]
    ends = [line for line in lines if re.match(r'[EF]\d{4} .*("command failed"|"Failed to start|fatal)', line)
            or line.startswith(("Error: ", "panic: ", "F1"))]
    unknown = [line for line in lines if LENIENT in line]
    said = "" if runs else (ends or lines or ["it said nothing"])[-1]
    return Start(runs, said, unknown[0] if unknown else "", log)


class Machine:
    """The host; a process has one at most, because the process goes into the host's network."""

    def __init__(self, folder, kubelet, runtime):
        self.folder = pathlib.Path(folder)
        self.prefix = self.folder / "wine"
        self.drive = self.prefix / "drive_c"
        self.kubelet, self.runtime, self.cri = kubelet, runtime, None
        self.environment = {**os.environ, **sandbox.wine_env(str(self.prefix))}

    def __enter__(self):
        if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), "cannot make a network")
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        prefixes.copy(str(self.prefix))
        for program, name in ((self.kubelet, "k/kubelet.exe"), (self.runtime, "k/cri.exe")):
            (self.drive / "k").mkdir(exist_ok=True)
            os.symlink(program, self.drive / name)
        self.certificate = self.make_certificate()
        self.cri = self.spawn(["C:\\k\\cri.exe", "--config", "C:\\none"], "cri.log")
        self.until(lambda: "successfully booted" in (self.folder / "cri.log").read_text(errors="replace"))
        return self

    def __exit__(self, *_):
        prefixes.settle(str(self.prefix))
        if self.cri:
            self.cri.wait(PATIENCE)

    def make_certificate(self):
        """A client certificate for the kubelet's kubeconfig; none will look at it."""
        key, crt = self.folder / "client.key", self.folder / "client.crt"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-days", "30", "-subj", "/O=system:nodes/CN=system:node:win-7k2", "-keyout", str(key), "-out",
                        str(crt)], check=True, capture_output=True)
        return crt.read_text() + key.read_text()

    def spawn(self, words, log):
        with open(self.folder / log, "wb") as out:
            return subprocess.Popen([prefixes.WINE, *words], cwd=self.drive, env=self.environment, stdin=subprocess.DEVNULL,
                                    stdout=out, stderr=out)

    @staticmethod
    def until(done):
        end = time.monotonic() + PATIENCE
        while not done():
            if time.monotonic() > end:
                raise RuntimeError("no end after %d s" % PATIENCE)
            time.sleep(0.02)

    def write(self, windows, text):
        path = pathlib.Path(sandbox.host_path(str(self.drive), windows))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, newline="")

    def start(self, files, command):
        """Lays the files (path -> text) on a host without any of a kubelet, and starts it with these words."""
        for folder in ("var", "etc"):
            shutil.rmtree(self.drive / folder, ignore_errors=True)
        for path, text in {**files, CERTIFICATE: self.certificate}.items():
            self.write(path, text)
        (self.drive / "etc/kubernetes/manifests").mkdir(parents=True, exist_ok=True)
        log = self.folder / "kubelet.log"
        process = self.spawn([EXECUTABLE, *command[1:]], log.name)
        try:
            self.until(lambda: process.poll() is not None or STARTED in log.read_text(errors="replace"))
        except RuntimeError:
            pass  # it hangs: what it said last tells where
        runs = process.poll() is None and STARTED in log.read_text(errors="replace")
        process.kill()
        process.wait()
        return read(log.read_text(errors="replace"), runs)

    def ask(self, files, words, good):
        """Runs the kubelet to its end with the words of a question; `good` is how it ends when it likes what it is shown."""
        for path, text in files.items():
            self.write(path, text)
        log = self.folder / "asked.log"
        process = self.spawn([EXECUTABLE, *words], log.name)
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        text = log.read_text(errors="replace")
        return read(text, good in text)
