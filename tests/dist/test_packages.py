"""make dist's packages: each is opened and compared with its list, made twice, and installed where that can
be done here (the MSI by Wine's msiexec, the Linux program by running it)."""
import functools
import gzip
import hashlib
import http.server
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import unittest
import urllib.parse
import urllib.request
import xml.etree.ElementTree
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/provision")]
import ansible_tools  # noqa: E402

WINE, SERVER = "/usr/lib/wine/wine64", "/usr/lib/wine/wineserver64"
WINDOWS = {"winjoin.exe", "winjoin.ps1", "winjoin.sbom.json", "LICENSE.txt", "README.md"}
LINUX = {"bin/winjoin", "share/bash-completion/completions/winjoin", "share/zsh/vendor-completions/_winjoin",
         "share/fish/vendor_completions.d/winjoin.fish", "share/doc/winjoin/copyright"}
NEEDED = ("build/native/winjoin", "build/windows/winjoin.exe", "build/windows/winjoin.sbom.json", "build/man",
          "build/windows/acceptance/check.cmd")
VERSION = (ROOT / "dist/version").read_text().strip()


def sha256(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


@unittest.skipUnless(all((ROOT / p).exists() for p in NEEDED) and shutil.which("wixl"), "not built")
class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.out = cls.make("one")

    @classmethod
    def make(cls, name, version=VERSION, *more):
        out = cls.folder / name
        done = subprocess.run([ROOT / "dist/packages/make.py", out, "--version", version, "--linux",
                               ROOT / "build/native/winjoin", *more], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return out

    def file(self, pattern, out=None):
        found = list((out or self.out).glob(pattern))
        self.assertEqual(len(found), 1, pattern)
        return found[0]

    def product_code(self):
        table = subprocess.run(["msiinfo", "export", self.file("*.msi"), "Property"], capture_output=True, text=True,
                               check=True).stdout
        return re.search(r"^ProductCode\t(\S+)", table, re.MULTILINE).group(1)

    def test_the_same_bytes_twice(self):
        again = self.make("two")
        files = {p.relative_to(self.out) for p in self.out.rglob("*") if p.is_file()}
        self.assertEqual(files, {p.relative_to(again) for p in again.rglob("*") if p.is_file()})
        for path in files:
            self.assertEqual(sha256(self.out / path), sha256(again / path), path)

    def test_sums(self):
        listed = dict(reversed(line.split("  ", 1)) for line in (self.out / "SHA256SUMS").read_text().splitlines())
        self.assertEqual(set(listed), {p.relative_to(self.out).as_posix() for p in self.out.rglob("*")
                                       if p.is_file() and p.name != "SHA256SUMS"})
        for path, digest in listed.items():
            self.assertEqual(sha256(self.out / path), digest, path)

    def test_zip(self):
        with zipfile.ZipFile(self.file("*windows-amd64.zip")) as archive:
            self.assertEqual(set(archive.namelist()), {"winjoin/" + name for name in WINDOWS})
            self.assertEqual(archive.read("winjoin/winjoin.exe"), (ROOT / "build/windows/winjoin.exe").read_bytes())
            self.assertIn(b"Register-ArgumentCompleter", archive.read("winjoin/winjoin.ps1"))

    def test_bill_of_materials_is_spdx(self):
        try:
            judge = ansible_tools.tools() / "pyspdxtools"
        except (ansible_tools.Missing, OSError, subprocess.TimeoutExpired) as why:
            self.skipTest(str(why))
        good = self.folder / "good.spdx.json"
        with zipfile.ZipFile(self.file("*windows-amd64.zip")) as archive:
            good.write_bytes(archive.read("winjoin/winjoin.sbom.json"))
        bad = good.with_name("bad.spdx.json")
        bad.write_text(good.read_text().replace("SPDXRef-curl", "curl"))
        codes = [subprocess.run([judge, "-i", path], capture_output=True, check=False).returncode for path in (good, bad)]
        self.assertEqual(codes, [0, 1])

    def test_acceptance_kit(self):
        with zipfile.ZipFile(self.file("*-acceptance.zip")) as archive:
            names = {name.removeprefix("winjoin-acceptance/") for name in archive.namelist()}
            self.assertEqual({name for name in names if "/" not in name},
                             {"acceptance.exe", "check.cmd", "winjoin.exe", "on-real-windows.md", "LICENSE.txt"})
            self.assertIn("units/test_host_contract.exe", names)
            self.assertIn(b"acceptance.exe\" %*\r\n", archive.read("winjoin-acceptance/check.cmd"))

    def test_linux(self):
        with tarfile.open(self.file("*.tar.gz")) as archive:
            names = {m.name.split("/", 1)[1]: m for m in archive.getmembers()}
            self.assertLessEqual(LINUX, set(names))
            self.assertEqual((names["bin/winjoin"].mode, names["bin/winjoin"].uid), (0o755, 0))
            pages = [name for name in names if name.startswith("share/man/man1/winjoin")]
            self.assertGreater(len(pages), 5)
            self.assertIn(b".TH", gzip.decompress(archive.extractfile(names[pages[0]]).read()))
        deb = self.file("*.deb")
        listed = subprocess.run(["dpkg-deb", "-c", deb], capture_output=True, text=True, check=True).stdout
        found = {line.split("./usr/", 1)[1]: line for line in listed.splitlines() if "./usr/" in line}
        self.assertEqual({name for name in found if not name.endswith("/") and name}, set(names))
        self.assertTrue(all("root/root" in line for line in found.values()), listed)
        field = subprocess.run(["dpkg-deb", "-f", deb, "Package", "Version", "Architecture"], capture_output=True,
                               text=True, check=True).stdout
        self.assertEqual(field, "Package: winjoin\nVersion: %s\nArchitecture: amd64\n" % VERSION)
        subprocess.run(["dpkg-deb", "-x", deb, self.folder / "root"], check=True)
        said = subprocess.run([self.folder / "root/usr/bin/winjoin", "version"], capture_output=True, text=True,
                              check=True).stdout
        self.assertIn(VERSION, said)

    def test_install_script_and_manifests(self):
        script = (self.out / "install.ps1").read_text()
        self.assertIn('$expected = "%s"' % sha256(self.file("*windows-amd64.zip")), script)
        self.assertIn("/v%s/%s" % (VERSION, self.file("*windows-amd64.zip").name), script)
        installer = (self.out / "winget/winjoin.winjoin.installer.yaml").read_text()
        self.assertIn("InstallerSha256: %s\n" % sha256(self.file("*.msi")).upper(), installer)
        code = self.product_code()
        self.assertIn("ProductCode: '%s'\n" % code, installer)
        for path in (self.out / "winget").iterdir():
            said = path.read_text()
            self.assertIn("PackageVersion: %s\n" % VERSION, said)
            self.assertNotIn("@", said.replace("@echo", ""))
        xml.etree.ElementTree.parse(self.out / "chocolatey/winjoin.nuspec")
        tools = (self.out / "chocolatey/tools/chocolateyInstall.ps1").read_text()
        self.assertIn(sha256(self.file("*.msi")).upper(), tools)
        self.assertIn(code, (self.out / "chocolatey/tools/chocolateyUninstall.ps1").read_text())

    def test_krew_finds_its_files(self):
        platforms = (self.out / "krew/winjoin.yaml").read_text().split("  - selector:\n")[1:]
        archives = {"linux": self.file("*.tar.gz"), "windows": self.file("*windows-amd64.zip")}
        for platform in platforms:
            path = archives.pop(re.search("os: (.*)", platform)[1])
            self.assertIn("/v%s/%s\n" % (VERSION, path.name), platform)
            self.assertIn("sha256: %s\n" % sha256(path), platform)
            if path.suffix == ".zip":
                with zipfile.ZipFile(path) as archive:
                    names = archive.namelist()
            else:
                with tarfile.open(path) as archive:
                    names = archive.getnames()
            froms = re.findall("from: (.*)", platform)
            self.assertEqual(len(froms), 2)
            self.assertLessEqual(set(froms), set(names))
        self.assertEqual(archives, {})

    def test_scripts_are_powershell(self):
        """As far as a grammar tells; CI asks Windows PowerShell itself. It does not know names with digits, which Chocolatey has."""
        try:
            python = ansible_tools.tools() / "python"
        except (ansible_tools.Missing, OSError, subprocess.TimeoutExpired) as why:
            self.skipTest(str(why))

        def judged(*paths):
            return subprocess.run([python, ROOT / "tests/dist/judge_powershell.py", *paths], capture_output=True, text=True, check=True).stdout
        with zipfile.ZipFile(self.file("*windows-amd64.zip")) as archive:
            archive.extract("winjoin/winjoin.ps1", self.folder / "scripts")
        script = self.out / "install.ps1"
        self.assertEqual("", judged(script, self.folder / "scripts/winjoin/winjoin.ps1", self.out / "chocolatey/tools/chocolateyUninstall.ps1"))
        for good, bad in (("try {", "try"), ("-ne $expected)", "-ne $expected")):
            self.assertIn(good, script.read_text())
            planted = self.folder / "planted.ps1"
            planted.write_text(script.read_text().replace(good, bad))
            self.assertNotEqual("", judged(planted), bad)

    def test_a_played_host_has_what_is_named_and_nothing_else_is_taken(self):
        """The addresses and digests in install.ps1 and the manifests, at a host that serves the folder as GitHub serves a release."""
        named = {"install.ps1": (r'\$Url = "(.*)"', r'\$expected = "(.*)"'),
                 "winget/winjoin.winjoin.installer.yaml": ("InstallerUrl: (.*)", "InstallerSha256: (.*)"),
                 "chocolatey/tools/chocolateyInstall.ps1": ('-Url64bit "(.*?)"', '-Checksum64 "(.*?)"')}
        place = self.folder / "host/winjoin/winjoin/releases/download"
        place.mkdir(parents=True)
        shutil.copytree(self.out, place / ("v" + VERSION))
        handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=self.folder / "host")
        handler.func.log_message = lambda *_: None
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            self.addCleanup(server.shutdown)

            def follow(name):
                """What install.ps1 does first, and the two installers: the file, and whether its digest is the named one."""
                text = (place / ("v" + VERSION) / name).read_text()
                url, digest = (re.search(pattern, text)[1] for pattern in named[name])
                self.assertTrue(url.startswith("https://github.com/"), url)
                at = "http://127.0.0.1:%d%s" % (server.server_port, urllib.parse.urlparse(url).path)
                with urllib.request.urlopen(at, timeout=20) as answer:
                    data = answer.read()
                return data, hashlib.sha256(data).hexdigest() == digest.lower()
            for name in named:
                data, right = follow(name)
                self.assertTrue(right, name)
                if name == "install.ps1":
                    with zipfile.ZipFile(io.BytesIO(data)) as archive:
                        self.assertIn("winjoin/winjoin.exe", archive.namelist())
            for path in place.rglob("winjoin-*-windows-amd64.*"):
                with open(path, "r+b") as changed:
                    changed.seek(5000)
                    changed.write(b"planted")
            self.assertEqual([False] * 3, [follow(name)[1] for name in named])

    def test_signed_by_a_key_of_the_test(self):
        key, certificate, signer = (self.folder / name for name in ("key.pem", "cert.pem", "sign"))
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate,
                        "-days", "2", "-subj", "/CN=winjoin test", "-addext", "extendedKeyUsage=codeSigning"],
                       check=True, capture_output=True)
        signer.write_text('#!/bin/sh\nexec osslsigncode sign -certs "%s" -key "%s" -h sha256 -in "$1" -out "$2"\n'
                          % (certificate, key))
        signer.chmod(0o755)
        out = self.make("signed", VERSION, "--sign", signer)
        with zipfile.ZipFile(self.file("*windows-amd64.zip", out)) as archive:
            archive.extract("winjoin/winjoin.exe", self.folder)
        for path in (self.folder / "winjoin/winjoin.exe", self.file("*.msi", out)):
            said = subprocess.run(["osslsigncode", "verify", "-CAfile", certificate, "-in", path], capture_output=True,
                                  text=True, check=False).stdout
            self.assertIn("CN=winjoin test", said.replace("CN = ", "CN="))
            self.assertNotIn("No signature found", said)
        self.assertIn(sha256(self.file("*.msi", out)).upper(),
                      (out / "winget/winjoin.winjoin.installer.yaml").read_text())

    @unittest.skipUnless(os.path.exists(WINE), "Wine is missing")
    def test_msi_installs_repairs_upgrades_and_goes(self):
        prefix = self.folder / "prefix"
        prefix.mkdir()
        env = {**os.environ, "WINEPREFIX": str(prefix), "HOME": str(prefix), "WINEARCH": "win64", "WINEDEBUG": "-all",
               "DISPLAY": "", "WINEDLLOVERRIDES": "mscoree,mshtml="}
        self.addCleanup(subprocess.run, [SERVER, "-k"], env=env, check=False)

        def wine(*words, code=0):
            done = subprocess.run([WINE, *words], env=env, capture_output=True, text=True, timeout=300, check=False,
                                  errors="replace")
            self.assertEqual(done.returncode, code, done.stderr)
            return done.stdout

        def msi(out):
            return "Z:" + str(self.file("*.msi", out)).replace("/", "\\")

        def query(key, value):
            return subprocess.run([WINE, "reg", "query", key, "/v", value], env=env, capture_output=True, text=True,
                                  timeout=60, check=False, errors="replace").stdout
        folder = prefix / "drive_c/Program Files/winjoin"
        environment = r"HKLM\SYSTEM\CurrentControlSet\Control\Session Manager\Environment"
        events = r"HKLM\SYSTEM\CurrentControlSet\Services\EventLog\Application\winjoin"
        wine("msiexec", "/i", msi(self.out), "/qn")
        self.assertEqual({p.name for p in folder.iterdir()}, WINDOWS)
        self.assertEqual(sha256(folder / "winjoin.exe"), sha256(ROOT / "build/windows/winjoin.exe"))
        # What the bill of materials lists is what the program says of itself.
        said = json.loads(wine(str(folder / "winjoin.exe"), "version", "-o", "json"))
        listed = {p["name"]: p for p in json.loads((folder / "winjoin.sbom.json").read_text())["packages"]}
        self.assertEqual(listed.pop("winjoin.exe")["versionInfo"], said["version"])
        sources = {name: urllib.parse.unquote(p["externalRefs"][0]["referenceLocator"]).split("@")[1].split("?")[0].split(":")[-1]
                   for name, p in listed.items()}
        self.assertEqual(sources, {library["name"]: library["version"] for library in said["libraries"]})
        self.assertIn("Program Files\\winjoin", query(environment, "PATH"))
        self.assertIn("winjoin\\winjoin.exe", query(events, "EventMessageFile"))
        (folder / "winjoin.exe").unlink()
        wine("msiexec", "/i", msi(self.out), "REINSTALL=ALL", "REINSTALLMODE=amus", "/qn")  # what /fa stands for
        self.assertTrue((folder / "winjoin.exe").is_file())
        newer = self.make("newer", "9.8.7")
        wine("msiexec", "/i", msi(newer), "/qn")
        self.assertEqual({p.name for p in folder.iterdir()}, WINDOWS)
        self.assertEqual(query(environment, "PATH").count("Program Files\\winjoin"), 1)
        wine("msiexec", "/x", msi(newer), "/qn")
        self.assertFalse((folder / "winjoin.exe").exists())
        self.assertNotIn("winjoin", query(environment, "PATH"))
        self.assertNotIn("winjoin.exe", query(events, "EventMessageFile"))


if __name__ == "__main__":
    unittest.main()
