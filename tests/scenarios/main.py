#!/usr/bin/env python3
"""Plays the scenarios, two classes at a time: main.py [CLASS[.TEST]...]; `--list` names them.

Last line: N passed, N failed, N skipped.
"""
import concurrent.futures
import os
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "rig")]
import adapter_kinds  # noqa: E402

# The longest ones first.
CLASSES = [("killed", "Killed"), ("killed", "KilledTransparent"), ("killed", "KilledNat"),
           ("killed", "KilledL2tunnel"), ("refused", "Refused"), ("strangers", "Strangers"), ("looking", "Looking"),
           ("joins", "Trouble"), ("joins", "Whole"), ("configured", "Configured"), ("owner", "Owner"),
           ("diagnosed", "Diagnosed"), ("mirrored", "Mirrored"),
           ("kept", "Kept"), ("kept", "KeptJoin"), ("kept", "OwnRoutes"), ("kept", "Booted"),
           ("kept", "KeptWithoutAgent"), ("restarted", "Restarted"),
           ("joins", "L2bridge"), ("joins", "L2tunnel"), ("joins", "Transparent"), ("joins", "Nat"),
           ("joins", "Sdnbridge"), ("joins", "Sdnoverlay"), ("joins", "External"), ("dual", "DualStack"),
           ("agents", "CalicoVxlan"), ("agents", "CalicoBgp"), ("agents", "Antrea"),
           ("ovn", "OvnKubernetes"), ("ovn", "KilledOvn"), ("azure", "AzureCni"), ("killed", "KilledAzure"),
           *(("nics", "Nic" + kind) for kind in adapter_kinds.KINDS)]


class Result(unittest.TestResult):
    """Prints a line a test when it ends."""

    def __init__(self):
        super().__init__()
        self.words, self.begin = [], {}

    def startTest(self, test):
        super().startTest(test)
        self.begin[test] = time.monotonic()

    def say(self, word, test, text=""):
        self.words.append(word)
        seconds = time.monotonic() - self.begin.get(test, time.monotonic())
        print("%-4s %s (%.1f s)%s" % (word, test.id(), seconds, text and "\n" + text), flush=True)

    def addSuccess(self, test):
        self.say("ok", test)

    def addSkip(self, test, reason):
        self.say("skip", test, "skipped: " + reason)

    def addFailure(self, test, err):
        self.say("FAIL", test, self._exc_info_to_string(err, test))

    def addSubTest(self, test, subtest, err):
        if err:
            self.say("FAIL", subtest, self._exc_info_to_string(err, test))

    def addError(self, test, err):
        text = self._exc_info_to_string(err, test) if isinstance(test, unittest.TestCase) else \
            repr(err[1])
        self.say("FAIL", test, text)


def play(suite):
    result = Result()
    suite.run(result)
    return result.words


def suites(names):
    load = unittest.defaultTestLoader
    for module, name in CLASSES:
        wanted = [n for n in names if n.split(".")[0] == name]
        if not names or wanted:
            yield load.loadTestsFromNames(["%s.%s" % (module, n) for n in wanted or [name]])


def main():
    chosen = list(suites([n for n in sys.argv[1:] if not n.startswith("-")]))
    if "--list" in sys.argv:
        for suite in chosen:
            print("\n".join(test.id() for part in suite for test in part))
        return 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        words = [word for some in pool.map(play, chosen) for word in some]
    print("%d passed, %d failed, %d skipped" % tuple(map(words.count, ("ok", "FAIL", "skip"))))
    return 1 if "FAIL" in words or not words else 0


if __name__ == "__main__":
    sys.exit(main())
