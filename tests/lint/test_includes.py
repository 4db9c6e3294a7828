"""The include lint refuses what it must refuse and lets pass what architecture.md allows."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import includes  # noqa: E402


class Includes(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        for path in ("base/error.h", "host/host.h", "host/win32/scm.h", "host/model/model.h", "netsetup/hns.h", "services/table.h",
                     "pki/token.h", "join/join.h", "join/configuration/schema.h", "join/discovery/discovery.h"):
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_text("/* A header. */\n")

    def refused(self, path, include):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"/* A file. */\n#include {include}\n")
        return [line for line in includes.check_tree(self.root) if line.startswith(path + ":2:")]

    def test_allowed(self):
        for path, include in (("join/a.c", '"netsetup/hns.h"'), ("base/a.c", "<jansson.h>"),
                              ("host/win32/win32.h", "<windows.h>"), ("host/win32/a.c", '"host/win32/scm.h"'),
                              ("host/posix/a.c", "<unistd.h>"), ("pki/a.c", "<openssl/evp.h>"),
                              ("cmd/main_win32.c", '"host/win32/scm.h"'), ("host/http_curl.c", "<curl/curl.h>"),
                              ("kube/a.c", '"pki/token.h"'), ("base/b.c", "<time.h>"),
                              ("join/a.c", '"join/discovery/discovery.h"'), ("host/posix/b.c", '"host/model/model.h"'),
                              ("join/kubelet/a.c", '"join/configuration/schema.h"')):
            self.assertEqual(self.refused(path, include), [], (path, include))

    def test_against_the_order(self):
        for path, include in (("base/a.c", '"host/host.h"'), ("netsetup/a.c", '"services/table.h"'),
                              ("services/a.c", '"netsetup/hns.h"'), ("pki/a.c", '"host/host.h"'),
                              ("diag/a.c", '"join/join.h"'), ("host/a.c", '"pki/token.h"'),
                              ("join/discovery/a.c", '"join/join.h"'),
                              ("join/configuration/a.c", '"join/discovery/discovery.h"')):
            self.assertTrue(self.refused(path, include), (path, include))

    def test_away_from_home(self):
        for path, include in (("kube/a.c", "<openssl/ssl.h>"), ("kube/a.c", "<curl/curl.h>"),
                              ("join/a.c", "<jansson.h>"), ("services/a.c", "<windows.h>"),
                              ("host/win32/a.c", "<windows.h>"), ("cmd/main_win32.c", "<windows.h>"),
                              ("cmd/a.c", "<unistd.h>"), ("base/a.c", "<sys/socket.h>"),
                              ("join/a.c", "<archive.h>"), ("host/host.c", '"host/win32/scm.h"'),
                              ("host/hcn.c", '"host/model/model.h"'), ("host/win32/b.c", '"host/model/model.h"'),
                              ("base/a.c", "<unheard_of.h>")):
            self.assertTrue(self.refused(path, include), (path, include))

    def test_not_from_the_root(self):
        for include in ('"error.h"', '"../host/host.h"', '"tests/hns/hns.h"', '"base/gone.h"'):
            self.assertTrue(self.refused("base/a.c", include), include)


if __name__ == "__main__":
    unittest.main()
