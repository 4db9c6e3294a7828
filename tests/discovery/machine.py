"""What winjoin.exe takes from the machine itself, under Wine: its store of roots for a discovery file
that is fetched, and its WinHTTP proxy where the environment names none.

machine.py WINE WINJOIN.EXE MACHINE.EXE, with WINEPREFIX set."""
import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

import discovery_file
import odd
import odd_cases
from case import TOKEN

WINE, WINJOIN, MACHINE = sys.argv[1:4] if len(sys.argv) > 3 else ("", "", "")
PROXIES = ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy")
NAME = "api.test"


class Proxy:
    """An HTTP proxy whose every CONNECT leads to one port of this machine."""

    def __init__(self, port):
        self.to, self.asked = port, []
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self.one, args=(self.socket.accept()[0],),
                                 daemon=True).start()

    def one(self, client):
        head = b""
        with contextlib.suppress(OSError), client:
            while b"\r\n\r\n" not in head:
                head += client.recv(4096)
            self.asked.append(head.split(b"\r\n")[0].decode())
            with socket.create_connection(("127.0.0.1", self.to)) as server:
                client.sendall(b"HTTP/1.1 200 Go\r\n\r\n")
                back = threading.Thread(target=self.pump, args=(server, client), daemon=True)
                back.start()
                self.pump(client, server)
                back.join(5)

    @staticmethod
    def pump(source, to):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                to.sendall(data)
            to.shutdown(socket.SHUT_WR)


def run(*words, **environment):
    env = {**{k: v for k, v in os.environ.items() if k not in PROXIES}, **environment}
    return subprocess.run([WINE, WINJOIN, "discover", *words, "--timeout", "10s", "-o",
                           "kubeconfig"], capture_output=True, text=True, timeout=120, env=env,
                          stdin=subprocess.DEVNULL, check=False)


def machine(*words):
    subprocess.run([WINE, MACHINE, *words], check=True, timeout=120, stdin=subprocess.DEVNULL)


class Machine(unittest.TestCase):
    """One server each."""

    def test_roots(self):
        ca = odd.authority("p256", "roots of this machine")
        server = odd.Server(odd.Odd(ca=lambda: ca, paths={
            "/d.conf": lambda s: odd.http(discovery_file.text_of()(s).encode())}))
        words = ("--discovery-file", "https://%s/d.conf" % server.endpoint)
        before = run(*words)
        self.assertEqual(before.returncode, 4, before.stderr)
        with tempfile.TemporaryDirectory() as folder:
            file = "Z:" + odd.write(folder, "ca.crt", ca.pem)
            machine("user-root", file)
            self.assertEqual(run(*words).returncode, 4, "trusted by who runs it alone")
            machine("root", file)
        after = run(*words)
        self.assertEqual(after.returncode, 0, after.stderr)
        self.assertIn("token: a-token", after.stdout)
        server.stop()

    def test_proxy(self):
        server = odd.Server(odd.Odd(leaf=odd_cases.leaf(names=(NAME,))))
        proxy = Proxy(server.port)
        words = (NAME + ":6443", "--token", TOKEN, "--discovery-token-ca-cert-hash", server.pin)
        machine("proxy", "127.0.0.1:%d" % proxy.port, "<local>;*.else")
        done = run(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("CONNECT %s:6443 HTTP/1.1" % NAME, proxy.asked)
        self.assertIn("through the proxy http://127.0.0.1:%d" % proxy.port, done.stderr)
        self.assertEqual(done.stdout, server.kubeconfig())
        proxy.asked.clear()
        self.assertEqual(run(*words, NO_PROXY=NAME).returncode, 1)
        machine("proxy", "127.0.0.1:%d" % proxy.port, "*.test")
        self.assertEqual(run(*words).returncode, 1)
        self.assertEqual(proxy.asked, [])
        machine("proxy")
        done = run(*words, HTTPS_PROXY="http://me:hidden@127.0.0.1:%d" % proxy.port)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("hidden", done.stderr)
        server.stop()


if __name__ == "__main__":
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=1).run(
        unittest.defaultTestLoader.loadTestsFromTestCase(Machine))
    failed = len(result.failures) + len(result.errors)
    print("%d passed, %d failed, 0 skipped" % (result.testsRun - failed, failed))
    sys.exit(1 if failed else 0)
