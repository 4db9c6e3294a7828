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
                              ("netsetup/a.c", '"services/table.h"'),
                              ("host/win32/win32.h", "<windows.h>"), ("host/win32/a.c", '"host/win32/scm.h"'),
                              ("host/posix/a.c", "<unistd.h>"), ("pki/a.c", "<openssl/evp.h>"),
                              ("cmd/main_win32.c", '"host/win32/scm.h"'), ("host/curl/http_curl.c", "<curl/curl.h>"),
                              ("kube/a.c", '"pki/token.h"'), ("base/b.c", "<time.h>"),
                              ("join/a.c", '"join/discovery/discovery.h"'), ("host/posix/b.c", '"host/model/model.h"'),
                              ("join/kubelet/a.c", '"join/configuration/schema.h"')):
            self.assertEqual(self.refused(path, include), [], (path, include))

    def test_against_the_order(self):
        for path, include in (("base/a.c", '"host/host.h"'), ("netsetup/a.c", '"join/join.h"'),
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

    def circles(self, **files):
        for name, text in files.items():
            path = self.root / (name.replace("__", "/").replace("_dot_", "."))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return list(includes.check_circles(self.root))

    def test_headers_in_a_circle(self):
        self.assertEqual(self.circles(base__a_dot_h='#include "base/b.h"\n', base__b_dot_h='/* b */\n'), [])
        found = self.circles(base__b_dot_h='#include "base/a.h"\n')
        self.assertEqual(found, ["headers include each other: base/a.h base/b.h"])

    def test_files_of_rooms_in_a_circle(self):
        files = {"join__files__a_dot_h": "", "join__files__a_dot_c": '#include "join/found/b.h"\n', "join__found__b_dot_h": ""}
        self.assertEqual(self.circles(**files), [])
        found = self.circles(join__found__b_dot_c='#include "join/files/a.h"\n')
        self.assertEqual(found, ["files of several rooms include each other: join/files/a join/found/b"])

    def test_rooms_that_call_each_other(self):
        one = {"join__files__a_dot_c": "int put(void) {\n    return find();\n}\n"}
        self.assertEqual(self.circles(join__found__b_dot_c="int find(void) {\n    return 0;\n}\n", **one), [])
        found = self.circles(join__found__c_dot_c="int look(int a,\n         int b) {\n    return a + put();\n}\n", **one)
        self.assertEqual(found, ["rooms call each other: join/files join/found"])
        # a static of its own, a member and a comment are no calls
        (self.root / "join/found/c.c").write_text("static int put(void) {\n    return 0;\n}\n/* put() */\nint look(void) {\n"
                                                   "    return put() + o->put();\n}\n")
        self.assertEqual(list(includes.check_circles(self.root)), [])

    def test_a_hub_is_no_room_beside_its_own(self):
        call = "int %s(void) {\n    return %s();\n}\n"
        self.assertEqual(self.circles(netsetup__a_dot_c=call % ("one", "two"), netsetup__nic__b_dot_c=call % ("two", "one")), [])
        found = self.circles(netsetup__nic__c_dot_c=call % ("three", "four"), netsetup__hns__d_dot_c=call % ("four", "three"))
        self.assertEqual(found, ["rooms call each other: netsetup/hns netsetup/nic"])

    def test_not_from_the_root(self):
        for include in ('"error.h"', '"../host/host.h"', '"tests/hns/hns.h"', '"base/gone.h"'):
            self.assertTrue(self.refused("base/a.c", include), include)


if __name__ == "__main__":
    unittest.main()
