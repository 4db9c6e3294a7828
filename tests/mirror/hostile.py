"""Hostile archives, each by its name and with the reason for which it is refused: as the release of containerd
(.tar.gz, .tar.zst), fetched by `winjoin join phase artifacts`, and as a bundle (.zip), by `winjoin bundle verify`. What is
refused leaves the host as it was. EVERY=N plays every Nth of those that are fetched."""
import bz2
import gzip
import io
import lzma
import os
import struct
import subprocess
import tarfile
import unittest
import warnings
import zipfile
import zlib

import mirror
import published
import releases
from mirror import odd
from releases import CONTAINERD, RUNTIME, info, sha256, zstd, zstd_header

UNTRUSTED = 4
OUT, STREAM = "leads out of the archive", "names a stream within a file"
DEVICE, DOT = "has a name that Windows gives to a device", "ends in a dot or blank"
LETTER, LONG = "has a character that Windows' file names cannot have", "has a longer path than Windows takes"
KIND, TWICE, SIZE = "is not a file", "duplicate entry", "longer than 2 GiB unpacked"

# name -> (path, reason)
PATHS = {
    "above": ("../x", OUT), "above twice": ("../../Windows/System32/x.dll", OUT), "above within": ("bin/../../x", OUT),
    "back again": ("x/../bin/y", OUT), "here": ("x/./y", OUT), "above behind a home": ("~/../x", OUT),
    "absolute": ("/x", OUT), "absolute on Windows": ("\\x", OUT), "a drive": ("C:/x", OUT),
    "a drive's folder": ("c:x", OUT), "a drive with backslashes": ("C:\\Windows\\x", OUT),
    "backslash": ("bin\\x", OUT), "above by backslash": ("..\\x", OUT), "above by both": ("bin/..\\..\\x", OUT),
    "a share": ("//server/share/x", OUT), "a share with backslashes": ("\\\\server\\share\\x", OUT),
    "a long path's prefix": ("\\\\?\\C:\\x", OUT), "a device's prefix": ("\\\\.\\C:\\x", OUT),
    "an empty part": ("bin//x", OUT),
    "a stream": ("bin/x:stream", STREAM), "the data stream": ("bin/ctr.exe::$DATA", STREAM),
    "a folder's stream": ("bin:x/y", STREAM), "a stream named Zone": ("bin/x:Zone.Identifier", STREAM),
    "CON": ("bin/CON", DEVICE), "nul.txt": ("bin/nul.txt", DEVICE), "com1.exe": ("bin/com1.exe", DEVICE),
    "LPT9": ("bin/LPT9", DEVICE), "aux.h": ("bin/aux.h", DEVICE), "prn": ("prn", DEVICE),
    "CONIN$": ("bin/CONIN$", DEVICE), "CONOUT$": ("bin/CONOUT$", DEVICE), "com9 with a blank": ("bin/com9 .x", DEVICE),
    "a folder NUL": ("nul/x", DEVICE),
    "a dot behind": ("bin/x.", DOT), "a blank behind": ("bin/x ", DOT), "three dots": ("bin/...", DOT),
    "a folder of dots": (".../x", DOT), "a folder with a blank": ("bin /x", DOT),
    "a tab": ("bin/a\tb", LETTER), "a line's end": ("bin/a\nb", LETTER), "control": ("bin/\x01", LETTER),
    "delete": ("bin/\x7f", LETTER), "question mark": ("bin/x?", LETTER), "star": ("bin/x*", LETTER),
    "angle brackets": ("bin/<x>", LETTER), "bar": ("bin/x|y", LETTER), "quotes": ("bin/\"x\"", LETTER),
    "300 letters": ("bin/" + "x" * 300, LONG),
}


def tars(compress):
    """name -> (the .tar that it compressed, exit code, reason)."""
    name = "bin/containerd.exe"

    def packed(*what):
        return releases.packed(*what, compress=compress)
    made = {what: (packed(RUNTIME, info(path)), UNTRUSTED, why) for what, (path, why) in PATHS.items()}
    for what, entry, why in (
            ("a symbolic link", info("bin/link", tarfile.SYMTYPE, "/etc/passwd"), KIND),
            ("a symbolic link of Windows", info("bin/link", tarfile.SYMTYPE, "..\\x"), KIND),
            ("a link to one of them", info("bin/link", tarfile.LNKTYPE, name), KIND),
            ("a link above", info("bin/link", tarfile.LNKTYPE, "../x"), KIND),
            ("a link of a program's name", info("bin/winjoin.exe", tarfile.SYMTYPE, "ctr.exe"), KIND),
            ("a pipe", info("bin/pipe", tarfile.FIFOTYPE), KIND),
            ("a character device", info("bin/chr", tarfile.CHRTYPE), KIND),
            ("a block device", info("bin/blk", tarfile.BLKTYPE), KIND),
            ("twice", info(name), TWICE), ("twice in other case", info("BIN/Containerd.EXE"), TWICE),
            ("the last in other case", info("bin/CTR.exe"), TWICE),
            ("twice with a dot before", info("./bin/ctr.exe"), TWICE),
            ("a terabyte", info("bin/huge", size=1 << 40), SIZE)):
        made[what] = (packed(RUNTIME, entry), UNTRUSTED, why)
    made["1100 entries"] = (packed({"%d" % i: b"" for i in range(1100)}), UNTRUSTED, "more than 1024 entries")
    made["cut off"] = (packed(RUNTIME)[:-200], UNTRUSTED, "read archive: [Tt]runcated")
    made["a text"] = (b"not an archive", 1, "read archive: ")
    made["without the program"] = (packed({"bin/ctr.exe": b"x"}), 1, "it has no 'bin/containerd")
    return made


def gzips():
    made = tars(gzip.compress)
    made["gzip of nothing"] = (b"\x1f\x8b\x08" + b"\0" * 50, 1, "read archive: ")
    made["bzip2"] = (releases.packed(RUNTIME, compress=bz2.compress), 1, "read archive: ")  # no upstream uses it
    made["xz"] = (releases.packed(RUNTIME, compress=lzma.compress), 1, "read archive: ")
    return made


def zstds():
    made = tars(zstd)
    good = releases.packed(RUNTIME, compress=zstd)
    # the frame says that a dictionary made it; the first block is longer than a block may be
    for what, data in (("zstd of nothing", zstd_header(0) + b"\0" * 50), ("a header alone", zstd_header(10240)),
                       ("half a header", good[:7]), ("a dictionary", good[:4] + b"\xa1\x07" + good[5:]),
                       ("a reserved bit", good[:4] + b"\xa8" + good[5:]),
                       ("a reserved block", good[:9] + b"\x07" + good[10:]),
                       ("a block of 2 MiB", good[:9] + b"\xff\xff\xff" + good[12:]),
                       ("a window of 2 GiB", releases.packed({**RUNTIME, "bin/x": bytes(1 << 18)},
                                                              compress=lambda tar: zstd(tar, window=31))),
                       ("lz4", b"\x04\x22\x4d\x18\x64\x40\xa7" + b"\0" * 50)):
        made[what] = (data, 1, "read archive: ")
    made["3 GiB of zeros"] = (
        zstd(releases.packed({}, info("bin/huge", size=3 << 30), compress=bytes)[:512]) +
        zstd(bytes(1 << 20), block=1 << 17) * 3072, UNTRUSTED, SIZE)
    return made


def entry(path, **changes):
    made = zipfile.ZipInfo("x")
    made.filename, made.create_system = path, 3
    made.external_attr = changes.pop("mode", 0o100644) << 16
    for key, value in changes.items():
        setattr(made, key, value)
    return made


def zipped(*entries, data=b"x"):
    out = io.BytesIO()
    warnings.simplefilter("ignore", UserWarning)  # names that are there twice
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("winjoin.lock", mirror.lock_of([]))
        for one in entries:
            archive.writestr(one, data)
    return out.getvalue()


def forged(data, at, form, value):
    """Both headers of the last entry with another number `at` so many bytes behind its CRC."""
    data = bytearray(data)
    for magic, crc in ((b"PK\x03\x04", 14), (b"PK\x01\x02", 16)):
        struct.pack_into(form, data, data.rindex(magic) + crc + at, value)
    return bytes(data)


def zips():
    """name -> (.zip, exit code, reason)."""
    made = {what: (zipped(entry(path)), UNTRUSTED, why) for what, (path, why) in PATHS.items()
            if path != "bin\\x"}  # what some programs for Windows write: libarchive reads bin/x
    for what, data, code, why in (
            ("a symbolic link", zipped(entry("bin/link", mode=0o120777), data=b"/etc/passwd"), UNTRUSTED, KIND),
            ("a character device", zipped(entry("bin/chr", mode=0o020644)), UNTRUSTED, KIND),
            ("a block device", zipped(entry("bin/blk", mode=0o060644)), UNTRUSTED, KIND),
            ("twice", zipped(entry("bin/x"), entry("bin/x")), UNTRUSTED, TWICE),
            ("twice in other case", zipped(entry("bin/x"), entry("BIN/X")), UNTRUSTED, TWICE),
            ("another lock", zipped(entry("Winjoin.LOCK")), UNTRUSTED, TWICE),
            ("3 GiB", forged(zipped(entry("bin/x")), 8, "<I", 3 << 30), UNTRUSTED, SIZE),
            ("encrypted", forged(zipped(entry("bin/x")), -8, "<H", 1), 3, "encrypted"),
            ("1100 entries", zipped(*[entry("%d" % i) for i in range(1100)]), UNTRUSTED, "more than 1024 entries"),
            ("cut off", zipped(entry("bin/x"))[:-30], 3, "read archive: "),
            ("no lock", zipped(entry("bin/x")).replace(b"winjoin.lock", b"winjoin.luck"), 3, "it has no 'winjoin.lock'"),
            ("a lock of another sum", zipped().replace(struct.pack("<I", zlib.crc32(mirror.lock_of([]))), b"\1\2\3\4"),
             UNTRUSTED, "read archive: "),
            ("a file beside the lock's", zipped(entry("bin/x")), UNTRUSTED, "its lock does not name 'bin/x'"),
            ("a text", b"PK\x03\x04 not an archive", 3, "read archive: ")):
        made[what] = (data, code, why)
    return made


def release(data):
    return {CONTAINERD: data, CONTAINERD + ".sha256sum": sha256(data).encode()}


class Hostile(unittest.TestCase):
    setUpClass = classmethod(mirror.Fetched.setUpClass.__func__)
    setUp, end, left, assert_installed = (mirror.Fetched.setUp, mirror.Fetched.end, mirror.Fetched.left,
                                          mirror.Fetched.assert_installed)
    serve, answer, command, run_it, assert_refused = (
        published.Published.serve, published.Published.answer, published.Published.command,
        published.Published.run_it, published.Published.assert_refused)

    def test_there_are_fifty_of_each(self):
        for what, cases in (("tar.gz", gzips()), ("tar.zst", zstds()), ("zip", zips())):
            print("hostile %s archives: %d" % (what, len(cases)))
            self.assertGreaterEqual(len(cases), 50)

    def assert_releases_refused(self, cases, first):
        for what, (data, code, why) in list(cases.items())[first::int(os.environ.get("EVERY", "1"))]:
            with self.subTest(what):
                self.setUp()
                self.assert_refused(release(data), code, "artifact 'containerd(-shim-runhcs-v1)?'.*" + why)

    def test_releases(self):
        self.assert_releases_refused(gzips(), 0)

    def test_releases_of_zstd(self):
        every = int(os.environ.get("EVERY", "1"))
        self.assert_releases_refused(zstds(), every // 2)

    def test_bundles(self):
        file = os.path.join(self.folder.name, "bundle.zip")
        for what, (data, code, why) in zips().items():
            with self.subTest(what):
                odd.write(self.folder.name, "bundle.zip", data)
                done = subprocess.run([mirror.WINJOIN, "bundle", "verify", file], capture_output=True, text=True,
                                      timeout=60, check=False)
                self.assertEqual(done.returncode, code, done.stderr)
                errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
                self.assertEqual(len(errors), 1, done.stderr)
                self.assertIn(why, errors[0])

    def test_good_ones_are_taken(self):
        """Else each could be refused for what it has in common with the others."""
        self.run_it(self.serve(), 0)
        for more in ({}, {"window": 27}):
            self.setUp()
            self.run_it(self.serve(release(releases.packed(
                RUNTIME, compress=lambda tar: zstd(tar, **more)))), 0)
            self.assert_installed()
        file = odd.write(self.folder.name, "good.zip", zipped(entry("bin/", mode=0o040755), data=b""))
        done = subprocess.run([mirror.WINJOIN, "bundle", "verify", file], capture_output=True, text=True, timeout=60,
                              check=False)
        self.assertEqual((done.returncode, done.stdout), (0, "ok\n"), done.stderr)


if __name__ == "__main__":
    mirror.run_counted()
