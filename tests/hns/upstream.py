"""Tests by others, meant for a real HNS, against our model: Microsoft's of package hcn in hcsshim and in hnslib, kube-proxy's own.

Played under Wine, with the rig's DLLs, at three versions of HNS. What the model does at a version must pass; the rest is
LISTED with the words by which it fails there and why. A test that passes although it is listed has failed, too.
Last line: N passed, N failed, N skipped. upstream.py [NAME...]: those tests alone.
"""
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(ROOT, "tests", "wine"), os.path.join(ROOT, "tests", "cluster")]
import hnsctl  # noqa: E402  (beside this file)
import prefix as prefixes  # noqa: E402
import programs  # noqa: E402

# Program -> its tests that are asked, where the others never come to HNS (kube-proxy's have a mock of it).
PROGRAMS = {
    "hcsshim.test.exe": (),
    "hnslib.test.exe": (),
    "kube-proxy.test.exe": ("TestGetNetworkByName", "TestGetAllEndpointsByNetwork", "TestGetEndpointByID",
                            "TestGetEndpointByIpAddressAndName", "TestCreateEndpointLocal", "TestCreateEndpointRemote",
                            "TestDeleteEndpoint", "TestGetLoadBalancerExisting", "TestGetLoadBalancerNew",
                            "TestDeleteLoadBalancer", "TestHashEndpoints"),
}
VERSIONS = ((15, 5), (13, 2), (9, 5))
# What Go's programs need of Wine, and what the tests call.
DLLS = ("bcryptprimitives.dll", "computenetwork.dll", "vmcompute.dll")
NEVER = (99, 0)
# Test -> (the version from which it passes, what it says before, why).
LISTED = {
    "TestAddL4WfpProxyPolicyOnEndpoint": ((13, 2), "L4WFPPROXY needs HNS 13.2", "the policy came with that version"),
    "TestApplyTierAclPolicyOnEndpoint": ((14, 0), "TierAcl needs HNS 14.0", "the policy came with that version"),
    "TestAddRemoveNetworACLPolicy": ((15, 0), "Could not find NetworkACL policy", "networks have no such policies before"),
    "TestCreateUpdateDeleteLoadBalancer": ((15, 5), "HcnModifyLoadBalancer needs HNS 15.5",
                                           "load balancers are not changed in place before"),
    "TestAccelnetNnvManagementMacAddresses": (NEVER, "Element not found", "no program of a Kubernetes node asks for /accelnet, "
                                              "which Azure's own agents set: the model lacks it"),
    "TestGetAllEndpointsByNetwork": (NEVER, "192::3 is in no subnet", "the test's network has no IPv6 subnet; upstream skips it"),
    "TestGetEndpointByIpAddressAndName": (NEVER, "cannot handle unexported field", "the test compares what its library of "
                                          "comparison refuses; upstream skips it"),
}


class Machine:
    """hnsd at one version on a port of its own, and a prefix whose programs call it."""

    def __init__(self, folder):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        prefix = prefixes.copy(os.path.join(folder, "wine"), names=DLLS)
        self.environment = dict(prefixes.surroundings(prefix), HNS_PORT=str(self.port))
        self.hnsd = None
        # Wine ends with the last program: one stays throughout.
        self.stays = subprocess.Popen([prefixes.WINE, os.path.join(prefixes.DLLS, "hold.exe")], env=self.environment,
                                      stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def start(self, version):
        self.stop()
        start = {"version": version, "outageMs": 0}
        self.hnsd = subprocess.Popen([os.path.join(ROOT, "build/native/hnsd"), "--port", str(self.port), "--set", json.dumps(start)])
        for _ in range(500):
            try:
                return hnsctl.control({"op": "dump"}, port=self.port)
            except OSError:
                time.sleep(0.02)
        raise RuntimeError("hnsd does not listen")

    def stop(self):
        if self.hnsd:
            self.hnsd.terminate()
            self.hnsd.wait(20)

    def close(self):
        self.stop()
        subprocess.run([prefixes.WINESERVER, "-k"], env=self.environment, check=False)
        self.stays.wait(30)

    def run(self, program, *words):
        """(exit code, output). Through a file: what Wine leaves running would hold a pipe open."""
        with tempfile.TemporaryFile() as out:
            done = subprocess.run([prefixes.WINE, program, *words], env=self.environment, stdin=subprocess.DEVNULL, stdout=out,
                                  stderr=out, timeout=300, check=False)
            out.seek(0)
            return done.returncode, out.read().decode(errors="replace")

    def names(self, program):
        return re.findall(r"^Test\w+", self.run(program, "-test.list", ".")[1], re.M)

    def go_test(self, program, names):
        """Test -> (PASS, FAIL or SKIP, what it printed), in their order; and how the program ended where that is no test's fault."""
        code, output = self.run(program, "-test.v", "-test.run", "^(%s)$" % "|".join(names))
        parts = re.split(r"^=== RUN   (\w+)\n", output, flags=re.M)
        found = {}
        for name, text in zip(parts[1::2], parts[2::2]):
            verdict = re.search(r"^--- (PASS|FAIL|SKIP): %s " % name, text, re.M)
            found[name] = (verdict[1] if verdict else "no end", text)
        well = code == 0 or any(verdict != "PASS" for verdict, _ in found.values())
        return found, "" if well else "ended with %d: %s" % (code, output[-500:])


def wrong(name, version, played):
    """What is wrong with what a test came to, or None."""
    verdict, text = played.get(name, ("not played", ""))
    since, words, why = LISTED.get(name, ((0, 0), "", ""))
    if version >= since:
        return None if verdict == "PASS" else "%s\n%s" % (verdict, text)
    if verdict == "PASS":
        return "passes, but is listed as failing: %s" % why
    return None if words in text else "%s without the words '%s'\n%s" % (verdict, words, text)


def judge(machine, program, names, version):
    """(passed, failed) of one program's tests at one version. Each that is to fail is played apart: it leaves things behind, or panics."""
    label = os.path.basename(program).removesuffix(".test.exe")
    listed = [name for name in names if version < LISTED.get(name, ((0, 0),))[0]]
    played, failed = {}, 0
    for part in ([name for name in names if name not in listed], *([name] for name in listed)):
        machine.start(version)
        found, ended = machine.go_test(program, part) if part else ({}, "")
        played.update(found)
        if ended:
            failed += 1
            print("%s at HNS %d.%d %s" % (label, *version, ended))
    for name in names:
        why = wrong(name, version, played)
        if why:
            failed += 1
            print("%s at HNS %d.%d: %s: %s" % (label, *version, name, why))
    print("%s at HNS %d.%d: %d tests, %d of them listed" % (label, *version, len(names), len(listed)), flush=True)
    return max(len(names) - failed, 0), failed


def main():
    try:
        found = programs.ensure(PROGRAMS)
    except programs.NoGo as why:
        print("skipped: %s\n0 passed, 0 failed, 1 skipped" % why)
        return 0
    folder = tempfile.mkdtemp()
    machine = Machine(folder)
    try:
        counts = []
        for leaf, program in found.items():
            names = [name for name in PROGRAMS[leaf] or machine.names(program) if name in sys.argv[1:] or not sys.argv[1:]]
            counts += [judge(machine, program, names, version) for version in VERSIONS]
    finally:
        machine.close()
        shutil.rmtree(folder, ignore_errors=True)
    passed, failed = (sum(column) for column in zip(*counts))
    print("%d passed, %d failed, 0 skipped" % (passed, failed))
    return int(failed > 0 or passed == 0)


if __name__ == "__main__":
    sys.exit(main())
