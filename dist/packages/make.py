#!/usr/bin/env python3
"""Makes every package from what the Makefile has built: make.py OUT [--version V] [--linux PROGRAM] [--sign PROGRAM].

    winjoin-V-windows-amd64.zip    winjoin.exe, completion, bill of materials
    winjoin-V-windows-amd64.msi    the same, installed to C:\\Program Files\\winjoin (wixl)
    winjoin-V-linux-amd64.tar.gz   the Linux program, completions, manual pages
    winjoin_V_amd64.deb            the same as a Debian package
    winjoin-V-acceptance.zip       the acceptance kit: check.cmd, its program, the unit tests, winjoin.exe
    winjoin.sbom.json              the bill of materials of winjoin.exe (SPDX)
    install.ps1                    downloads the zip, compares its SHA-256, installs it
    winget/, chocolatey/, krew/    manifests for winget, Chocolatey and krew, with the digests of the above
    SHA256SUMS                     of all files above

--sign PROGRAM is run as `PROGRAM IN OUT` for winjoin.exe before it is packed, and for the MSI.

The same tree makes the same bytes: times come from SOURCE_DATE_EPOCH or the last commit, GUIDs from the
files, and every list is sorted.
"""

import argparse
import datetime
import gzip
import hashlib
import io
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile
import time
import uuid
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "dist/packages"
# Never changes: Windows Installer knows by it which product an MSI replaces.
UPGRADE_CODE = uuid.UUID("5d0f6e0a-3a53-4f6e-9d5c-7a1f5f0c2b9e")
# PATH of the machine: "=-*" sets it at install and takes it back at uninstall (Microsoft: Environment Table).
PATH_QUERIES = (
    "CREATE TABLE `Environment` (`Environment` CHAR(72) NOT NULL, `Name` CHAR(255) NOT NULL LOCALIZABLE,"
    " `Value` CHAR(255) LOCALIZABLE, `Component_` CHAR(72) NOT NULL PRIMARY KEY `Environment`)",
    "INSERT INTO `Environment` (`Environment`, `Name`, `Value`, `Component_`)"
    " VALUES ('Path', '=-*PATH', '[~];[INSTALLDIR]', 'Program')",
    "INSERT INTO `InstallExecuteSequence` (`Action`, `Sequence`) VALUES ('RemoveEnvironmentStrings', 3300)",
    "INSERT INTO `InstallExecuteSequence` (`Action`, `Sequence`) VALUES ('WriteEnvironmentStrings', 5200)")
URL = "https://github.com/winjoin/winjoin/releases/download/v{version}/{file}"
LATEST_URL = "https://github.com/winjoin/winjoin/releases/latest/download/install.ps1"


def epoch():
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given:
        return int(given)
    done = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=False)
    return int(done.stdout.strip() or 315532800)


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def run(*words, **how):
    done = subprocess.run(words, capture_output=True, text=True, check=False, **how)
    if done.returncode:
        sys.exit("error: %s: %s" % (words[0], done.stderr.strip() or done.stdout.strip()))
    return done.stdout


def completion(shell):
    return run(str(ROOT / "build/native/winjoin"), "completion", shell).encode()


def manual_pages():
    folder = ROOT / "build/man"
    return {"man1/" + page.name: gzip.compress(page.read_bytes(), mtime=0) for page in sorted(folder.iterdir())}


def signed(by, path):
    """The file's content, signed where a signer is given."""
    if not by:
        return path.read_bytes()
    with tempfile.TemporaryDirectory() as work:
        out = pathlib.Path(work, path.name)
        run(str(by.resolve()), str(path), str(out))
        return out.read_bytes()


def windows_files(signer):
    """name -> content, of the zip and the MSI."""
    return {"winjoin.exe": signed(signer, ROOT / "build/windows/winjoin.exe"),
            "winjoin.ps1": completion("powershell"),
            "winjoin.sbom.json": (ROOT / "build/windows/winjoin.sbom.json").read_bytes(),
            "LICENSE.txt": (ROOT / "LICENSE").read_bytes(), "README.md": (ROOT / "README.md").read_bytes()}


def acceptance_files(windows):
    """name -> content, of the kit that a real server is asked by (docs/on-real-windows.md)."""
    folder = ROOT / "build/windows/acceptance"
    files = {path.relative_to(folder).as_posix(): path.read_bytes()
             for path in (folder / "acceptance.exe", folder / "check.cmd", *(folder / "units").glob("*.exe"))}
    files["on-real-windows.md"] = (ROOT / "docs/on-real-windows.md").read_bytes()
    return {**files, **{name: windows[name] for name in ("winjoin.exe", "LICENSE.txt")}}


def linux_files(program):
    """path below /usr -> (content, mode)."""
    files = {"bin/winjoin": (program.read_bytes(), 0o755),
             "share/bash-completion/completions/winjoin": (completion("bash"), 0o644),
             "share/zsh/vendor-completions/_winjoin": (completion("zsh"), 0o644),
             "share/fish/vendor_completions.d/winjoin.fish": (completion("fish"), 0o644),
             "share/doc/winjoin/copyright": ((ROOT / "LICENSE").read_bytes(), 0o644)}
    files.update({"share/man/" + name: (data, 0o644) for name, data in manual_pages().items()})
    return dict(sorted(files.items()))


def make_zip(files, out, when, folder="winjoin"):
    stamp = datetime.datetime.fromtimestamp(max(when, 315532800), datetime.timezone.utc).timetuple()[:6]
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            info = zipfile.ZipInfo(folder + "/" + name, stamp)
            info.external_attr = (0o644 << 16)
            archive.writestr(info, files[name], zipfile.ZIP_DEFLATED)


def make_tar(files, out, when, version):
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, (data, mode) in files.items():
            info = tarfile.TarInfo("winjoin-%s/%s" % (version, name))
            info.size, info.mode, info.mtime, info.uname, info.gname = len(data), mode, when, "root", "root"
            archive.addfile(info, io.BytesIO(data))
    out.write_bytes(gzip.compress(raw.getvalue(), mtime=0))


def make_deb(files, out, when, version):
    with tempfile.TemporaryDirectory() as work:
        tree = pathlib.Path(work, "tree")
        for name, (data, mode) in files.items():
            path = tree / "usr" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            path.chmod(mode)
        control = tree / "DEBIAN/control"
        control.parent.mkdir()
        size = sum(len(data) for data, _ in files.values()) // 1024
        control.write_text((HERE / "control").read_text().replace("@VERSION@", version).replace("@SIZE@", str(size)))
        for path in [tree, *tree.rglob("*")]:
            if path.is_dir():
                path.chmod(0o755)
            os.utime(path, (when, when))
        run("dpkg-deb", "--root-owner-group", "-Zxz", "--build", str(tree), str(out),
            env={**os.environ, "SOURCE_DATE_EPOCH": str(when)})


def settle_summary(path, code, when):
    """wixl writes the clock's time and a package code of chance into the summary (VT_FILETIME, a GUID)."""
    code = b"{%s}" % str(code).upper().encode()
    data = path.read_bytes()
    given = run("msiinfo", "suminfo", str(path))
    chance = re.search(r"\{[0-9A-F-]{36}\}", given).group().encode()
    filetime = struct.pack("<Q", (when + 11644473600) * 10 ** 7)
    assert data.count(chance) == 1, given
    data = data.replace(chance, code)
    now = time.time()
    for match in re.finditer(rb"\x40\x00\x00\x00(.{8})", data, re.DOTALL):
        if abs(struct.unpack("<Q", match.group(1))[0] / 10 ** 7 - 11644473600 - now) < 3600:
            data = data[:match.start(1)] + filetime + data[match.end(1):]
    path.write_bytes(data)


def make_msi(files, out, when, version):
    everything = hashlib.sha256(b"".join(name.encode() + files[name] for name in sorted(files))).hexdigest()
    words = {"VERSION": version, "UPGRADE_CODE": UPGRADE_CODE,
             "PRODUCT_CODE": uuid.uuid5(UPGRADE_CODE, "product " + version),
             "PACKAGE_CODE": uuid.uuid5(UPGRADE_CODE, "package %s %s" % (version, everything))}
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work)
        for name, data in files.items():
            (folder / name).write_bytes(data)
            os.utime(folder / name, (when, when))
        text = (HERE / "winjoin.wxs").read_text()
        for name, value in words.items():
            text = text.replace("@%s@" % name, str(value).upper() if name != "VERSION" else value)
        (folder / "winjoin.wxs").write_text(text)
        run("wixl", "--arch", "x64", "-o", str(out), "winjoin.wxs", cwd=folder,
            env={**os.environ, "SOURCE_DATE_EPOCH": str(when)})
        run("msibuild", str(out), *[word for query in PATH_QUERIES for word in ("-q", query)])
    settle_summary(out, words["PACKAGE_CODE"], when)
    return str(words["PRODUCT_CODE"]).upper()


def fill(source, out, words):
    text = source.read_text(encoding="utf-8")
    for name, value in words.items():
        text = text.replace("@%s@" % name, value)
    left = [line for line in text.splitlines() if "@" in line and any("@%s@" % n in line for n in words)]
    assert not left, left
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(text, encoding="utf-8", newline="\r\n" if out.suffix == ".ps1" else "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--version", default=(ROOT / "dist/version").read_text().strip())
    parser.add_argument("--sign", type=pathlib.Path)
    parser.add_argument("--linux", type=pathlib.Path, default=ROOT / "build/static/winjoin")
    given = parser.parse_args()
    version, out, when = given.version, given.out.resolve(), epoch()
    if out.exists():
        shutil.rmtree(out)
    out.mkdir(parents=True)
    names = {kind: name.format(version) for kind, name in (
        ("zip", "winjoin-{}-windows-amd64.zip"), ("msi", "winjoin-{}-windows-amd64.msi"),
        ("kit", "winjoin-{}-acceptance.zip"), ("tar", "winjoin-{}-linux-amd64.tar.gz"),
        ("deb", "winjoin_{}_amd64.deb"))}
    windows, linux = windows_files(given.sign), linux_files(given.linux)
    make_zip(windows, out / names["zip"], when)
    make_zip(acceptance_files(windows), out / names["kit"], when, "winjoin-acceptance")
    product = make_msi(windows, out / names["msi"], when, version)
    (out / names["msi"]).write_bytes(signed(given.sign, out / names["msi"]))
    make_tar(linux, out / names["tar"], when, version)
    make_deb(linux, out / names["deb"], when, version)
    words = {"VERSION": version, "PRODUCT_CODE": "{%s}" % product,
             "DATE": datetime.datetime.fromtimestamp(when, datetime.timezone.utc).strftime("%Y-%m-%d"),
             "LATEST_URL": LATEST_URL, "ZIP_URL": URL.format(version=version, file=names["zip"]), "ZIP_SHA256": sha256(out / names["zip"]),
             "TAR_URL": URL.format(version=version, file=names["tar"]), "TAR_SHA256": sha256(out / names["tar"]),
             "MSI_URL": URL.format(version=version, file=names["msi"]),
             "MSI_SHA256": sha256(out / names["msi"]).upper()}
    (out / "winjoin.sbom.json").write_bytes(windows["winjoin.sbom.json"])
    fill(HERE / "install.ps1", out / "install.ps1", words)
    for folder in ("winget", "chocolatey", "krew"):
        for source in sorted((HERE / folder).rglob("*")):
            if source.is_file():
                fill(source, out / source.relative_to(HERE), words)
    files = sorted(path for path in out.rglob("*") if path.is_file())
    (out / "SHA256SUMS").write_text("".join("%s  %s\n" % (sha256(path), path.relative_to(out).as_posix())
                                            for path in files))
    for path in files:
        print("%9d  %s" % (path.stat().st_size, path.relative_to(out)))


if __name__ == "__main__":
    main()
