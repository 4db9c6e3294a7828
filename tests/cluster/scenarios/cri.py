"""The CRI server that takes containerd's place (tests/cluster/cri): its own tests, and real pods."""
import os
import unittest

import pods
import programs
import stages
from scenario import Skip, expect, scenario

GROUPS = ("cri",)


class Alone:
    """No stage: these bring their own."""

    def __init__(self, folder):
        for path in (pods.PROBE, pods.winhost.prefixes.DLLS):
            if not os.path.exists(path):
                raise Skip("'%s' is not built: make windows rig" % path)
        self.folder = folder

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def describe(self):
        return "no cluster"

    def begin(self):
        """Nothing to prepare."""

    def end(self):
        """Nothing to take away."""

    def keep(self, folder):
        """What failed says everything in its words."""


def run(case):
    result = unittest.TestResult()
    case.run(result)
    if result.skipped:
        raise Skip(result.skipped[0][1])
    expect(not result.failures + result.errors, "\n".join(t for _, t in result.failures + result.errors))


@scenario("cri-unit", "configuration, state, logs, filters: go test", GROUPS, on=Alone)
def unit(_stage):
    programs.go(os.path.join(stages.ROOT, "tests", "cluster", "cri"), "test", "-mod=readonly", "./...")


@scenario("cri-overlay", "a pod by win-overlay.exe: reached across the fabric, outlives the service",
          GROUPS, on=Alone)
def overlay(_stage):
    run(pods.Overlay("test_a_pod_lives"))


@scenario("cri-bridge", "two pods by win-bridge.exe, and a command in one of them", GROUPS, on=Alone)
def bridge(_stage):
    run(pods.Bridge("test_two_pods"))
