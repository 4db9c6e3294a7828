"""Judges every case (cases.py, odd_files.py, odd_lines.py) with winjoin and, where it is built, with upstream's kubeadm.

    verdicts.py [WORD]    only the cases whose name holds WORD
KUBEADM names another program, "none" asks none; WINJOIN another winjoin ("wine64 winjoin.exe"); EVERY=5
takes every fifth case.
"""
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "tests/cluster"), str(ROOT / "tests")]
import cases  # noqa: E402
import document_schemas  # noqa: E402
import odd_files  # noqa: E402
import odd_lines  # noqa: E402
import paths  # noqa: E402
import programs  # noqa: E402
from case import GOOD, LINUX, SAME, SECRET, TOKEN  # noqa: E402

WINJOIN = shlex.split(os.environ.get("WINJOIN", str(ROOT / "build/native/winjoin")))
WINDOWS = WINJOIN[-1].endswith(".exe")
ALONE = os.environ.get("KUBEADM") == "none"
EVERY = int(os.environ.get("EVERY", "1"))
PHASES = ("preflight,control-plane-prepare,check-etcd,kubelet-start,etcd-join,"
          "kubelet-wait-bootstrap,control-plane-join,wait-control-plane")


def upstream():
    """kubeadm where it is ready, or None; nothing is built here."""
    given = os.environ.get("KUBEADM")
    if given:
        return None if given == "none" else given
    sections = programs.versions()
    name = programs.owner("kubeadm", sections)
    path = programs.place_of("kubeadm", name, sections[name])
    return path if os.path.exists(path) else None


def place(path):
    """A path as winjoin takes it; Wine shows this machine's root as drive Z:."""
    return "Z:" + str(path).replace("/", "\\") if WINDOWS else str(path)


def chosen(listed, wanted):
    return [case for case in listed if wanted in case.name][::EVERY]


class Judge:
    """Runs both programs in a folder of its own."""

    def __init__(self, folder, kubeadm):
        self.folder, self.kubeadm = pathlib.Path(folder), kubeadm
        self.good = self.folder / "good.yaml"
        self.good.write_text(GOOD)
        self.token = self.folder / "token"
        self.token.write_text(TOKEN + "\r\n")
        self.rootfs = self.folder / "rootfs"
        self.rootfs.mkdir()
        listed = self.run([*WINJOIN, "join", "phase", "list"])[1]
        self.all_phases = ",".join(line.split()[0] for line in listed.splitlines() if line)
        self.passed = self.failed = self.skipped = 0

    @staticmethod
    def run(words, environment=None, folder=None):
        clean = {k: v for k, v in os.environ.items() if not k.startswith("WINJOIN")}
        try:
            done = subprocess.run(words, capture_output=True, timeout=60, check=False,
                                  stdin=subprocess.DEVNULL, env={**clean, **(environment or {})}, cwd=folder)
        except subprocess.TimeoutExpired:
            return -1, "", "no end after 60 s"
        out = done.stdout.decode(errors="replace")
        if words[:len(WINJOIN)] == WINJOIN:
            document_schemas.check_output(out)
        return done.returncode, out, done.stderr.decode(errors="replace")

    def check(self, name, right, why):
        if right:
            self.passed += 1
        else:
            self.failed += 1
            print("FAIL %s: %s" % (name, why.strip()))

    def winjoin(self, name, words, says, environment=None, warns="", folder=None):
        """Exit code 0 and no word, or 3 and one line that holds the words; no secret anywhere."""
        code, out, err = self.run([*WINJOIN, *words], environment, folder)
        errors = [line for line in err.splitlines() if line.startswith("error: ")]
        other = [line for line in err.splitlines()
                 if not line.startswith(("error: ", "hint: ", "warning: "))]
        if "Sanitizer" in err or "runtime error:" in err:
            self.check(name, False, err)
        elif SECRET in out + err:
            self.check(name, False, "the token's secret is shown")
        elif says:
            self.check(name, code == 3 and len(errors) == 1 and says in errors[0] and not other,
                       "%d %s" % (code, err))
        else:
            self.check(name, code == 0 and not errors and warns in err, "%d %s" % (code, err))

    def upstream(self, name, words, accepted, folder=None):
        if not self.kubeadm:
            self.skipped += not ALONE
            return
        code, _, err = self.run([self.kubeadm, *words], folder=folder)
        self.check("kubeadm " + name, (code == 0) == accepted,
                   "says %d, expected %s: %s" % (code, "ok" if accepted else "refused", err))

    def join_words(self, words):
        put = {"FILE": place(self.good), "TOKENFILE": place(self.token)}
        return [put.get(word, word) for word in words]

    def winjoin_join(self, words):
        stage = [] if WINDOWS else ["--rootfs", str(self.rootfs)]
        return ["join", *stage, "--skip-phases", self.all_phases, "--progress", "none", *self.join_words(words)]

    def linux(self, text):
        for windows, there in LINUX:
            text = text.replace(windows, there)
        return text

    def file(self, case):
        data = case.text if isinstance(case.text, bytes) else case.text.encode()
        ours, theirs = self.folder / "file.yaml", self.folder / "linux.yaml"
        ours.write_bytes(data)
        theirs.write_bytes(self.linux(case.text).encode() if isinstance(case.text, str) else data)
        self.winjoin("validate " + case.name, ["config", "validate", "--config", place(ours)],
                     case.says)
        said = case.says if case.join_says is None else case.join_says
        self.winjoin("join " + case.name, self.winjoin_join(["--config", place(ours)]), said)
        verdict = not case.says if case.kubeadm == SAME else case.kubeadm == "ok"
        self.upstream("validate " + case.name, ["config", "validate", "--config", str(theirs)],
                      verdict)
        joins = case.join == "ok" if case.join else verdict
        self.upstream("join " + case.name, ["join", "--config", str(theirs), "--skip-phases", PHASES],
                      joins)
        looser = not case.says and not verdict
        stricter = case.says and (verdict or joins)
        if looser or stricter:
            self.check("reason " + case.name, bool(case.why), "verdicts differ without a reason")

    def migrated(self, number, text):
        """Both programs write the same."""
        if not self.kubeadm:
            self.skipped += not ALONE
            return
        ours, theirs = self.folder / "file.yaml", self.folder / "linux.yaml"
        ours.write_text(text)
        theirs.write_text(self.linux(text))
        code, out, err = self.run([*WINJOIN, "config", "migrate", "--old-config", str(ours)])
        _, wanted, why = self.run([self.kubeadm, "config", "migrate", "--old-config", str(theirs)])
        for plain, quoted in cases.QUOTED:
            wanted = wanted.replace(plain, quoted)
        self.check("migrate %d" % number, code == 0 and wanted and self.linux(out) == wanted,
                   "winjoin: %s%s\nkubeadm: %s%s" % (out, err, wanted, why))

    def line(self, case, both):
        self.winjoin("line " + case.name, self.winjoin_join(case.words), case.says,
                     case.environment, case.warns)
        if both:
            put = {"FILE": str(self.good), "TOKENFILE": str(self.token)}
            words = [self.linux(put.get(word, word)) for word in case.words]
            verdict = not case.says if case.kubeadm == SAME else case.kubeadm == "ok"
            self.upstream("line " + case.name, ["join", "--skip-phases", PHASES, *words], verdict)


def main():
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    with tempfile.TemporaryDirectory() as folder:
        judge = Judge(folder, upstream())
        for case in chosen([*cases.FILES, *odd_files.FILES], wanted):
            judge.file(case)
        for number, text in enumerate(cases.MIGRATED, 1):
            if wanted in "migrate":
                judge.migrated(number, text)
        for lines, both in ((cases.LINES + odd_lines.LINES, True), (cases.OWN_LINES + odd_lines.OWN_LINES, False)):
            for case in chosen(lines, wanted):
                if not (case.posix and WINDOWS):
                    judge.line(case, both)
        if wanted in "path":
            paths.Judge(judge, WINDOWS).all((GOOD, TOKEN, paths.DISCOVERY), EVERY)
        if not judge.kubeadm and not ALONE:
            print("skipped: kubeadm is not built (tests/cluster/build.py)")
        print("%d passed, %d failed, %d skipped" % (judge.passed, judge.failed, judge.skipped))
        return 1 if judge.failed else 0


if __name__ == "__main__":
    sys.exit(main())
