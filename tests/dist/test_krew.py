"""krew's manifest, filled as make dist fills it, held to what krew itself looks at before it installs a plugin
(kubernetes-sigs/krew, internal/index/validation); a fault is planted for each rule."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILLED = {"VERSION": "0.1.0", "TAR_URL": "https://example.org/winjoin.tar.gz", "TAR_SHA256": "0123456789abcdef" * 4,
          "ZIP_URL": "https://example.org/winjoin.zip", "ZIP_SHA256": "fedcba9876543210" * 4}
# The documented fields (krew.sigs.k8s.io/docs/developer-guide/plugin-manifest), by their depth: key -> what a value is.
RULES = {"apiVersion": r"krew\.googlecontainertools\.github\.com/v1alpha2", "kind": "Plugin", "metadata": "", "spec": "",
         "name": r"winjoin", "version": r"v\d+\.\d+\.\d+", "homepage": r"https://.+", "shortDescription": r".{1,50}",
         "description": r"\|", "caveats": r"\|", "platforms": "", "- selector": "", "matchLabels": "", "os": "linux|windows|darwin",
         "arch": "amd64|arm64", "uri": r"https://.+\.(zip|tar\.gz)", "sha256": r"[a-f0-9]{64}", "files": "", "- from": r"[^/].*",
         "to": r"\.|[A-Za-z]+", "bin": r"winjoin(\.exe)?"}
OF_A_PLATFORM = {"matchLabels", "os", "arch", "uri", "sha256", "files", "- from", "to", "bin"}


def filled(*change):
    text = (ROOT / "dist/packages/krew/winjoin.yaml").read_text(encoding="utf-8")
    for name, value in FILLED.items():
        text = text.replace("@%s@" % name, value)
    if change:
        assert change[0] in text, change
        text = text.replace(*change)
    return text


def wrong(text):
    """The lines that krew would refuse or that its index does not know, and the fields that are missing."""
    text = re.sub(r"^(  \w+: \|)\n(?:(?:    .*)?\n)+", r"\1\n", text, flags=re.M)  # what a block says is free
    found, seen = [], set()
    for line in text.splitlines():
        part = re.fullmatch(r" *((?:- )?\w+):(?: (.+))?", line)
        if not part or part[1] not in RULES or not re.fullmatch(RULES[part[1]], part[2] or ""):
            found.append(line)
        else:
            seen.add(part[1])
    platforms = text.split("  - selector:\n")[1:]
    for platform in platforms:
        found += ["from without to"] if platform.count(" from: ") != platform.count(" to: ") else []
        found += sorted(OF_A_PLATFORM - set(re.findall(r"^ *((?:- )?\w+):", platform, re.M)))
    return found + sorted(RULES.keys() - OF_A_PLATFORM - seen) + ([] if platforms else ["platforms"])


class Krew(unittest.TestCase):
    def test_the_manifest_is_taken(self):
        self.assertEqual(wrong(filled()), [])
        self.assertNotIn("@", filled())

    def test_each_planted_fault_is_found(self):
        for change in (("v1alpha2", "v1"), ("kind: Plugin", "kind: Plugins"), ("name: winjoin", "name: win join"), ("v0.1.0", "0.1.0"),
                       ("  shortDescription: ", "  shortDescription: " + "x" * 50), ("sha256: 0", "sha256: "), ("sha256: f", "sha256: F"),
                       ("    bin: winjoin.exe\n", ""), ("os: linux", "os: windows-server"), ("      to: .\n", ""),
                       ("    uri: https", "    url: https"), ("matchLabels:", "matchNames:"), ("  homepage:", "  home:")):
            with self.subTest(change=change):
                self.assertNotEqual(wrong(filled(*change)), [])


if __name__ == "__main__":
    unittest.main()
