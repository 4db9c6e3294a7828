"""A Windows node on the fabric: its namespace, its Wine prefix, its HNS and its data plane."""
import json
import os
import shlex
import socket
import subprocess
import sys
import tempfile
import time

import adapter_kinds
import fabric as fabrics
import netns
import sandbox

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path += [os.path.join(ROOT, "tests", "wine"), os.path.join(ROOT, "tests", "hns"), os.path.join(ROOT, "tests")]
import document_schemas  # noqa: E402
import hnsctl  # noqa: E402  (beside hnsd)
import prefix as prefixes  # noqa: E402  (beside the DLLs that are put into prefixes)

HNSD = os.path.join(ROOT, "build", "native", "hnsd")
HNS_PORT, NET_PORT = 17999, 17998


class Node:
    """The network side of a Windows node: enough where no Windows program runs on it."""

    def __init__(self, fabric, name="node-w1", origin="static", outage_ms=1500, hns=(13, 2),
                 adapter=adapter_kinds.PLAIN):
        self.fabric, self.name, self.origin, self.adapter = fabric, name, origin, adapter
        self.outage_ms, self.hns_version = outage_ms, hns
        self.address = fabrics.WINDOWS[name]
        self.ns = fabric.host(name.replace("node-", ""), self.address, "nic0")
        self.others = adapter_kinds.plug_in(fabric, self)
        self.folder = os.path.join(fabric.folder, name)
        os.makedirs(self.folder)
        self.prefix = os.path.join(self.folder, "wine")
        self.hnsd = None

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def addresses(self):
        own = [self.address + "/24", *self.adapter.addresses]
        return own + [fabrics.six(self.address) + "/64"] if self.fabric.dual else own

    def adapters(self):
        """As HNS sees them; it takes the first where nobody names one."""
        rows = [(o["nic"], o["alias"], [], False) for o in self.others]
        return [{"alias": alias, "mac": netns.mac(self.ns, nic), "addresses": addresses,
                 "dhcp": dhcp} for nic, alias, addresses, dhcp in
                [*rows, ("nic0", self.adapter.alias, self.addresses(), self.origin == "dhcp")]]

    def config(self):
        return {"netns": self.ns, "nic": "nic0", "alias": self.adapter.alias, "origin": self.origin,
                "addresses": self.addresses(), "gateway": fabrics.ROUTER,
                "dns": [fabrics.EXTERNAL_DNS, *self.adapter.dns], "metrics": self.adapter.metrics,
                "others": self.others, "advertised": [fabrics.six(self.address) + "/64"]
                if self.adapter.advertised else [], "folder": self.folder, "prefix": self.prefix,
                "podPrefix": os.path.join(self.folder, "pod"), "port": NET_PORT,
                "hnsPort": HNS_PORT}

    def start(self):
        """Starts HNS and, as its child, the data plane; waits until both answer."""
        path = os.path.join(self.folder, "node.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump(self.config(), f)
        plane = [sys.executable, os.path.join(HERE, "dataplane.py"), "--config", path]
        start = {"adapters": self.adapters(), "outageMs": self.outage_ms, "version": list(self.hns_version)}
        argv = [HNSD, "--port", str(HNS_PORT), "--set", json.dumps(start),
                "--apply", shlex.join(plane),
                "--record", os.path.join(self.fabric.folder, self.name + "-calls.jsonl")]
        with open(self.fabric.log(self.name + "-hnsd"), "ab") as log:
            self.hnsd = subprocess.Popen(netns.network_only(self.ns, argv), stdout=log, stderr=log,
                                         stdin=subprocess.DEVNULL, start_new_session=True)
        self._await(lambda: self.ask({"op": "facts"}))
        self._await(lambda: self.control({"op": "dump"}))

    def _await(self, question, seconds=60):
        end = time.monotonic() + seconds
        while True:
            try:
                return question()
            except OSError as why:
                if self.hnsd.poll() is not None or time.monotonic() > end:
                    raise RuntimeError("%s: HNS does not respond: %s" % (self.name, why)) from why
                time.sleep(0.02)

    def ask(self, request):
        """One request to the data plane (dataplane.py lists them); fails with its words."""
        answer = netns.within(self.ns, _ask, request)
        if not answer.get("ok"):
            raise RuntimeError("%s: %s" % (request.get("op", "state"), answer.get("error")))
        return answer

    def control(self, request):
        """One control operation of hnsd (tests/hns/hns.h lists them)."""
        return netns.within(self.ns, hnsctl.control, request, port=HNS_PORT)

    def hns(self, function, signature, *args):
        """One call of an export of computenetwork.dll or vmcompute.dll: (HRESULT, outputs)."""
        return netns.within(self.ns, hnsctl.call, function, signature, *args, port=HNS_PORT)

    def net(self, line):
        """One call of the iphlpapi stand-in; answers its rows, split; fails with the code."""
        lines = self.ask({"op": "net", "line": line})["lines"]
        if lines[-1] != "ok":
            raise RuntimeError("net %s: %s" % (line, lines[-1]))
        return [row.split("|") for row in lines[:-1]]

    def pod(self, guid):
        """The network namespace of a pod that holds an HNS namespace; made if need be."""
        return self.ask({"op": "sandbox", "namespace": guid})["netns"]

    def close(self):
        netns.stop(self.hnsd, 10)
        self.hnsd = None


def _ask(request):
    with socket.create_connection(("127.0.0.1", NET_PORT), 5) as conn:
        conn.settimeout(90)
        conn.sendall((json.dumps(request) + "\n").encode())
        with conn.makefile("r", encoding="utf-8") as stream:
            line = stream.readline()
    return json.loads(line) if line else {"ok": False, "error": "the data plane went away"}


class Host(Node):
    """A whole Windows node: beside its network a prefix in which programs and services run."""

    def __init__(self, fabric, name="node-w1", build="20348", dlls=prefixes.DLLS, **more):
        super().__init__(fabric, name, **more)
        self.build, self.resident = build, None
        self.clocks = []  # words that give a program clocks which began when this Windows was started last
        prefixes.copy(self.prefix, build, dlls)
        prefixes.copy(os.path.join(self.folder, "pod"), build, None)
        self.drive = os.path.join(self.prefix, "drive_c")

    def start(self):
        super().start()
        self.boot()

    def boot(self):
        """Starts Windows: its service manager starts what starts by itself, and stays."""
        holder = os.path.join(prefixes.DLLS, "hold.exe")
        with open(self.fabric.log(self.name + "-boot"), "ab") as log:
            self.resident = self.spawn([holder], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        for _ in range(3):  # on a busy machine Wine's second program may look for the server too early
            done = self.run(["cmd", "/c", "ver"])
            if done.returncode == 0:
                return
            time.sleep(1)
        raise RuntimeError("%s does not boot: %s%s" % (self.name, done.stdout, done.stderr))

    def reboot(self, just_started=False):
        """Everything ends and starts again: programs, services, HNS (which forgets what it does). Windows runs as
        long as the machine below, but with just_started, where it says by itself that it has just started."""
        self.shut_down()
        self.control({"op": "reboot"})
        self.clocks = netns.clocks_from_now() if just_started else []
        self.boot()

    def restart_hns(self):
        """HNS ends, as in a crash, and starts again: another process, and what is not persistent is gone."""
        self.sc("stop")
        self.control({"op": "restart"})
        self.sc("start")

    def sc(self, verb, service="hns"):
        done = self.run(["sc", verb, service])
        if done.returncode:
            raise RuntimeError("sc %s %s: %s%s" % (verb, service, done.stdout, done.stderr))

    def shut_down(self):
        """Ends every Windows program and service of the host."""
        prefixes.settle(self.prefix)
        netns.stop(self.resident)
        self.resident = None

    def environment(self, extra=None):
        # WINJOIN_* of whoever runs the tests must not reach the program under test.
        clean = {k: v for k, v in os.environ.items() if not k.startswith("WINJOIN_")}
        # Nor may it matter since when the machine below runs.
        return {**clean, "WINJOIN_START_SPREAD": "0s", **sandbox.wine_env(self.prefix), **(extra or {})}

    def path(self, windows):
        """A file of the host as a path of this machine."""
        return sandbox.host_path(self.drive, windows)

    def put(self, source, windows):
        """Puts a file of this machine onto the host."""
        target = self.path(windows)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        prefixes.put(source, target)
        return target

    def spawn(self, argv, env=None, **more):
        """Starts a Windows program on the host; the caller has the process."""
        return subprocess.Popen(netns.command(self.ns, [*self.clocks, prefixes.WINE, *argv]), cwd=self.drive,
                                env=self.environment(env), start_new_session=True, **more)

    def run(self, argv, env=None, timeout=60, stdin=""):
        """Runs it to its end: exit code, standard output, standard error.

        Through files: a pipe would stay open as long as Wine's own processes, which inherit it."""
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as given, \
                tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as out, \
                tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as err:
            given.write(stdin)
            given.seek(0)
            proc = self.spawn(argv, env, stdin=given, stdout=out, stderr=err)
            try:
                proc.wait(timeout)
            except subprocess.TimeoutExpired:
                proc.kill()
                proc.wait()
            for file in (out, err):
                file.seek(0)
            said = out.read(), err.read()
        if proc.returncode == -9:
            raise RuntimeError("%s: no end after %s s\n%s%s" % (argv[0], timeout, *said))
        if argv[0].endswith("winjoin.exe"):
            document_schemas.check_output(*said)
        return subprocess.CompletedProcess(argv, proc.returncode, *said)

    def close(self):
        self.shut_down()
        super().close()
