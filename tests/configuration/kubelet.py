"""Upstream's kubelet.exe as judge of the config.yaml that winjoin makes of a cluster's KubeletConfiguration.

    kubelet.py [WORD]     only the cases (kubelet_cases.py) that hold WORD
EVERY=5 takes every fifth case. KUBELET=kubelet-1.34 judges with another section of tests/cluster/versions.ini: the
tables are of the newest, so that there a kubelet may also refuse what is taken, when it says so if it is asked.

winjoin makes the files in a dry run against the test API server; kubelet.exe is started on them as its
service would start it, and with words that end it once it has judged its configuration (ASK). Cases that are taken are put together, as far as
they set different fields, and taken apart again when the kubelet does not start with all of them.
"""
import json
import multiprocessing
import os
import pathlib
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]
import cluster  # noqa: E402
import kubelet_cases as cases  # noqa: E402
import kubelet_start  # noqa: E402
import verdicts  # noqa: E402

SECTION = os.environ.get("KUBELET")
WORKERS = min(2, os.cpu_count() or 1)
TOGETHER = 12
CONFIG = r"C:\var\lib\kubelet\config.yaml"
SERVICE = r"C:\ProgramData\winjoin\services\kubelet.json"
SOCKET = "--container-runtime-endpoint=npipe:////./pipe/containerd-containerd"
# As join/kubelet/kubelet_question.c asks, behind the service's words: a kubelet that likes its configuration ends with GOOD.
ASK = [r"--cert-dir=C:\asked", "--exit-on-lock-contention"]
GAPS = ("Call not implemented", "File not found")  # of Wine, and of a machine without certificates
GOOD = "cannot exit on lock file contention"
# What winjoin understands of a refusal (join/kubelet/kubelet_question.c).
MARKS = ("failed to validate kubelet configuration", "failed to merge global and in-flight KubeletConfiguration",
         "failed to set feature gates from initial flags-based config:", "failed to construct kubelet dependencies:",
         "initialize logging:", "failed to decode:", "failed lenient decoding:", "failed to load kubelet config file",
         "failed to parse kubelet flag:", "failed to validate kubelet flags:", "unknown command ", "panic: ")


def lines(text):
    return text.strip().splitlines()


def fields(case):
    return case.split(" | ")


def names(case):
    return {line.split(":")[0] for line in fields(case)}


def changed(case, text):
    for line in fields(case):
        text = cluster.field(line)(text)
    return text


def batches(listed):
    """Lists of cases whose fields differ."""
    made = []
    for case in listed:
        for batch in made:
            if len(batch) < TOGETHER and not names(case) & set().union(*map(names, batch)):
                batch.append(case)
                break
        else:
            made.append([case])
    return made


class Writer:
    """winjoin before the test cluster."""

    def __init__(self, folder, there, served):
        self.judge = verdicts.Judge(folder, None)
        self.folder, self.served, self.there = pathlib.Path(folder), served, there
        self.base = there["data"]["kubelet"]

    def plan(self, text):
        """(exit code, files, the kubelet's words, what was said)"""
        self.served.ask("PUT", "kubelet-config", {
            **self.there, "data": {**self.there["data"], "kubelet": text},
            "metadata": {"name": "kubelet-config", "namespace": "kube-system"}})
        with tempfile.TemporaryDirectory(dir=self.folder) as rootfs:
            code, out, err = self.judge.run(self.served.plan(rootfs, "--progress", "plain"))
        if code:
            return code, None, None, err
        files = {f["path"]: f["content"] for f in json.loads(out)["files"] if "content" in f}
        return code, files, json.loads(files[SERVICE])["command"], err


    def validate(self, argument):
        """(exit code, what was said) of a NodeConfiguration that gives the kubelet an argument"""
        path = self.folder / "node.yaml"
        path.write_text("apiVersion: winjoin.io/v1alpha1\nkind: NodeConfiguration\nservices: {kubelet: {extraArgs: ['%s']}}\n" % argument)
        code, _, err = self.judge.run([*verdicts.WINJOIN, "config", "validate", "--config", str(path)])
        return code, err


def work(folder, kubelet, runtime, asked, answers):
    """A process of its own: starts kubelets for whoever asks."""
    with kubelet_start.Machine(folder, kubelet, runtime) as machine:
        answers.put(None)
        for key, files, words, asks in iter(asked.get, None):
            answers.put((key, machine.start(files, words), machine.ask(files, [*words[1:], *ASK], GOOD) if asks else None))


class Kubelets:
    def __init__(self, folder, kubelet, runtime):
        self.asked, self.answers, self.waiting = multiprocessing.Queue(), multiprocessing.Queue(), {}
        self.workers = []
        for number in range(WORKERS):
            place = pathlib.Path(folder) / ("machine%d" % number)
            place.mkdir()
            self.workers.append(multiprocessing.Process(target=work, args=(place, kubelet, runtime, self.asked, self.answers)))
            self.workers[-1].start()

    def __enter__(self):
        for _ in self.workers:
            self.answers.get(timeout=120)
        return self

    def __exit__(self, *_):
        for _ in self.workers:
            self.asked.put(None)
        for worker in self.workers:
            worker.join(60)

    def start(self, then, files, words, asks=False):
        """then(how far it came, the answer when asked)"""
        self.waiting[len(self.waiting)] = then
        self.asked.put((len(self.waiting) - 1, files, words, asks))

    def settle(self):
        done = 0
        while done < len(self.waiting):
            key, came, answer = self.answers.get(timeout=300)
            self.waiting[key](came, answer)
            done += 1


class Trial:
    """What is right of each kind of case."""

    def __init__(self, writer, kubelets):
        self.writer, self.kubelets, self.check = writer, kubelets, writer.judge.check
        self.judged = self.heard = 0
        _, self.files, self.words, _ = writer.plan(writer.base)

    def taken(self, batch):
        text = self.writer.base
        for case in batch:
            text = changed(case, text)
        code, files, words, said = self.writer.plan(text)
        if code and len(batch) > 1:
            return self.apart(batch)
        if code:
            return self.check(batch[0], False, "winjoin refuses it: " + said)
        return self.kubelets.start(lambda came, answer: self.came(batch, came, answer), files, words, asks=True)

    def apart(self, batch):
        for case in batch:
            self.taken([case])

    def came(self, batch, came, answer):
        right = came.runs and answer.runs and not came.unknown
        if SECTION and len(batch) == 1:
            right = came.runs or not answer.runs or any(gap in came.said for gap in GAPS)
        if not right and len(batch) > 1:
            return self.apart(batch)
        for case in batch:
            self.check(case, right, "the kubelet: %s %s; asked: %s" % (came.said, came.unknown, answer.said))
        return None

    def as_it_is(self, text):
        """The files with the cluster's own text for config.yaml; its paths get their drive, so that nothing else ends
        the kubelet."""
        return {**self.files, CONFIG: text.replace("/etc/kubernetes", r"C:\etc\kubernetes")}

    def own(self):
        """What kubeadm wrote starts."""
        self.kubelets.start(lambda came, _: self.check("kubeadm's own", came.runs, came.said),
                            self.as_it_is(self.writer.base), [*self.words, SOCKET])

    def wrong(self, case):
        """No kubelet starts with it; what it says when it is asked is understood."""
        code, files, command, said = self.writer.plan(changed(case, self.writer.base))
        if code:
            return self.check(case, False, "winjoin refuses it: " + said)

        def came(start, answer):
            self.judged += 1
            self.heard += not answer.runs
            heard = answer.runs or any(mark in answer.log for mark in MARKS)
            self.check(case, not start.runs and heard, (start.said or "it runs") + " asked: " + answer.said)
        return self.kubelets.start(came, files, command, asks=True)

    def late(self, case):
        """winjoin refuses it, and rightly: the kubelet does not start with it, and does not say so when it is asked."""
        code, _, _, said = self.writer.plan(changed(case, self.writer.base))
        self.check(case, code == 3 and "does not fit this kubelet: " in said, "winjoin: %d %s" % (code, said))
        self.kubelets.start(lambda came, answer: self.check("kubelet: " + case, not came.runs and answer.runs, came.said or "it runs"),
                            {**self.files, CONFIG: changed(case, self.files[CONFIG])}, self.words, asks=True)

    def stricter(self, case):
        code, _, _, said = self.writer.plan(changed(case, self.writer.base))
        self.check(case, code == 1 and "is not a folder of this machine" in said, "winjoin: %d %s" % (code, said))

    def argument(self, case):
        """The kubelet does not start with it; what it says when it is asked is understood."""
        self.kubelets.start(lambda came, answer: self.check(
            case, not came.runs and not answer.runs and any(mark in answer.log for mark in MARKS),
            (came.said or "it runs") + " asked: " + answer.said), self.files, [*self.words, case], asks=True)

    def late_argument(self, case):
        code, said = self.writer.validate(case)
        self.check(case, code == 3 and case.partition("=")[0] in said, "winjoin: %d %s" % (code, said))
        self.kubelets.start(lambda came, answer: self.check("kubelet: " + case, not came.runs and answer.runs, came.said or "it runs"),
                            self.files, [*self.words, case], asks=True)

    def ends(self, case, words, asks):
        """winjoin takes it, and the kubelet does not start."""
        code, files, command, said = self.writer.plan(changed(case, self.writer.base))
        if code:
            return self.check(case, False, "winjoin refuses it: " + said)

        def came(start, answer):
            if SECTION and asks:
                right = start.runs == answer.runs or any(gap in start.said for gap in GAPS)
                return self.check(case, right, start.said + " asked: " + answer.said)
            self.check(case, not start.runs and words in start.log, start.said or "it runs")
            if asks:
                self.check("asked: " + case, not answer.runs, "the kubelet says that it is right: " + answer.log[-400:])
            return None
        return self.kubelets.start(came, files, command, asks)

    def unknown(self, case):
        _, files, command, _ = self.writer.plan(changed(case, self.writer.base))
        self.kubelets.start(
            lambda came, answer: self.check(case, came.runs and came.unknown and "strict decoding error: " in answer.log,
                                            came.said or "it knows it"), files, command, asks=True)


def play(trial, wanted):
    def chosen(listed):
        return [row for row in listed if wanted in row[0]][::verdicts.EVERY]

    def cases_of(text):
        return [case for case in lines(text) if wanted in case][::verdicts.EVERY]
    trial.own()
    for batch in batches(cases_of(cases.TAKEN)):
        trial.taken(batch)
    for case in cases_of(cases.WRONG):
        trial.wrong(case)
    for case in cases_of(cases.ASKED):
        trial.ends(case, "", True)
    for case in cases_of(cases.LATE):
        trial.late(case)
    for case in cases_of(cases.STRICTER):
        trial.stricter(case)
    for case in cases_of(cases.ARGUMENTS):
        trial.argument(case)
    for case in cases_of(cases.ARGUMENTS_LATE):
        trial.late_argument(case)
    for case, words, _ in chosen(() if SECTION else cases.HOST):
        trial.ends(case, words, False)
    for case in cases_of(cases.UNKNOWN):
        trial.unknown(case)
    trial.kubelets.settle()
    trial.check("most of what is wrong is said when the kubelet is asked", trial.heard * 2 >= trial.judged,
                "%d of %d" % (trial.heard, trial.judged))


def main():
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    kubelet, runtime = kubelet_start.built("kubelet.exe", SECTION), kubelet_start.built("cri.exe")
    if os.geteuid() or not kubelet or not runtime or not os.path.exists(kubelet_start.prefixes.WINE):
        print("skipped: needs root, Wine, and kubelet.exe and cri.exe of upstream (make e2e builds them)")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        with Kubelets(folder, kubelet, runtime) as kubelets, cluster.Cluster(folder) as served:
            writer = Writer(folder, served.ask("GET", "kubelet-config"), served)
            play(Trial(writer, kubelets), wanted)
        print("%d passed, %d failed, 0 skipped" % (writer.judge.passed, writer.judge.failed))
    return 1 if writer.judge.failed else 0


if __name__ == "__main__":
    sys.exit(main())
