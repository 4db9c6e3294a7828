"""winget's manifests and the nuspec, filled as make dist fills them: held to a list of the rules of their published
schemas, and to the schemas themselves where these can be downloaded. Faults are planted for each rule: both find them."""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "tests/provision"), str(ROOT / "tests/dist")]
import ansible_tools  # noqa: E402
import schemas  # noqa: E402

PACKAGES = ROOT / "dist/packages"
FILLED = {"VERSION": "0.1.0", "DATE": "2026-11-23", "PRODUCT_CODE": "{12345678-ABCD-ABCD-ABCD-1234567890AB}",
          "MSI_URL": "https://example.org/winjoin.msi", "MSI_SHA256": "0123456789ABCDEF" * 4}
FILES = {"version": "winget/winjoin.winjoin.yaml", "installer": "winget/winjoin.winjoin.installer.yaml",
         "defaultLocale": "winget/winjoin.winjoin.locale.en-US.yaml", "nuspec": "chocolatey/winjoin.nuspec"}

# --- the rules, of those fields that the manifests have: microsoft/winget-cli, schemas/JSON/manifests/v1.6.0 ------

NUMBERS = r"\d{1,5}(\.\d{1,5}){2}"
EVERY = {"PackageIdentifier": r"[^.\s\\/:*?\"<>|]{1,32}(\.[^.\s\\/:*?\"<>|]{1,32}){1,7}", "PackageVersion": r"[^\\/:*?\"<>|]{1,128}",
         "ManifestVersion": NUMBERS}
LOCALE = r"[a-zA-Z]{2,3}(-[a-zA-Z]{1,8})*"
RULES = {
    "version": {**EVERY, "DefaultLocale": LOCALE, "ManifestType": "version"},
    "defaultLocale": {**EVERY, "PackageLocale": LOCALE, "Publisher": r".{2,256}", "PackageName": r".{2,256}", "License": r".{3,512}",
                      "ShortDescription": r".{3,256}", "Moniker": r".{1,40}", "Tags": r".{1,40}", "ManifestType": "defaultLocale"},
    "installer": {**EVERY, "Platform": r"Windows\.(Desktop|Universal)", "MinimumOSVersion": r"\d{1,5}(\.\d{1,5}){0,3}",
                  "InstallerType": "msix|msi|appx|exe|zip|inno|nullsoft|wix|burn|pwa|portable", "Scope": "user|machine",
                  "UpgradeBehavior": "install|uninstallPrevious", "Commands": r".{1,40}", "ReleaseDate": r"\d{4}-\d\d-\d\d",
                  "Installers": r"", "Architecture": "x86|x64|arm|arm64|neutral", "InstallerUrl": r"[Hh][Tt][Tt][Pp][Ss]?://.{1,2000}",
                  "InstallerSha256": r"[A-Fa-f0-9]{64}", "ProductCode": r".{1,255}", "ManifestType": "installer"}}
REQUIRED = {"version": {*EVERY, "DefaultLocale", "ManifestType"},
            "defaultLocale": {*EVERY, "PackageLocale", "Publisher", "PackageName", "License", "ShortDescription", "ManifestType"},
            "installer": {*EVERY, "Installers", "Architecture", "InstallerUrl", "InstallerSha256", "ManifestType"}}
# NuGet/NuGet.Client, nuspec.xsd: the elements of metadata, each at most once, and who must be there.
NUSPEC = set("""id version title authors owners licenseUrl projectUrl iconUrl requireLicenseAcceptance developmentDependency
description summary releaseNotes copyright language tags serviceable repository license packageTypes dependencies
frameworkAssemblies frameworkReferences references contentFiles""".split())
NEEDED = {"id", "version", "authors", "description"}


def filled(kind, *change):
    """The file as make dist writes it, with one text exchanged."""
    text = (PACKAGES / FILES[kind]).read_text(encoding="utf-8")
    for name, value in FILLED.items():
        text = text.replace("@%s@" % name, value)
    if change:
        assert change[0] in text, change
        text = text.replace(*change)
    return text


def wrong_by_rules(kind, text):
    """What our list says against a manifest."""
    if kind == "nuspec":
        metadata, = (child for child in xml.etree.ElementTree.fromstring(text) if child.tag.endswith("}metadata"))
        names = [child.tag.rpartition("}")[2] for child in metadata]
        wrong = [name for name in names if name not in NUSPEC or names.count(name) > 1]
        accepted = metadata.findtext("{*}requireLicenseAcceptance")
        return [*wrong, *(NEEDED - set(names)), *([] if accepted in ("true", "false") else ["requireLicenseAcceptance"])]
    wrong, seen, field = [], set(), ""
    for line in text.splitlines():
        part = re.fullmatch(r"(?:[- ] )?([A-Za-z0-9]+):(?: (.*))?", line)
        if line.startswith("#"):
            continue
        field, value = (part[1], (part[2] or "").strip("'")) if part else (field, line.removeprefix("- "))
        seen.add(field)
        if field not in RULES[kind] or value and not re.fullmatch(RULES[kind][field], value):
            wrong.append(line)
    return wrong + sorted(REQUIRED[kind] - seen)


PLANTED = [
    ("version", "DefaultLocale: en-US\n", ""), ("version", "ManifestType: version", "ManifestType: versions"),
    ("version", "en-US", "english_US"), ("version", "PackageIdentifier: winjoin.winjoin", "PackageIdentifier: winjoin"),
    ("installer", "Windows.Desktop", "Windows.Server"), ("installer", "InstallerType: wix", "InstallerType: wixl"),
    ("installer", "Architecture: x64", "Architecture: amd64"), ("installer", FILLED["MSI_SHA256"], FILLED["MSI_SHA256"][1:]),
    ("installer", "Scope: machine", "Scope: all"), ("installer", "https://", "ftp://"), ("installer", "10.0.17763.0", "10.0.177630"),
    ("installer", "UpgradeBehavior: install", "UpgradeBehavior: replace"), ("installer", "  InstallerUrl", "  Url"),
    ("defaultLocale", "License: Apache-2.0\n", ""), ("defaultLocale", "kubernetes", "k" * 41),
    ("defaultLocale", "ShortDescription: ", "ShortDescription: " + "x" * 256), ("defaultLocale", "1.6.0\n", "1.6\n"),
    ("nuspec", "<authors>The winjoin authors</authors>", ""), ("nuspec", "summary>", "brief>"),
    ("nuspec", ">false<", ">never<"), ("nuspec", "<title>", "<title>winjoin</title><title>")]


class Rules(unittest.TestCase):
    def test_the_manifests_keep_them(self):
        for kind in FILES:
            self.assertEqual(wrong_by_rules(kind, filled(kind)), [], kind)

    def test_each_planted_fault_is_found(self):
        for kind, *change in PLANTED:
            with self.subTest(kind=kind, change=change):
                self.assertNotEqual(wrong_by_rules(kind, filled(kind, *change)), [])


class Published(unittest.TestCase):
    def setUp(self):
        try:
            self.schemas = {kind: schemas.schema(kind) for kind in FILES}
            self.python = ansible_tools.tools() / "python"
        except (schemas.Missing, ansible_tools.Missing, OSError, subprocess.TimeoutExpired) as why:
            self.skipTest(str(why))

    def wrong(self, kind, texts):
        """The files' numbers against which the published schema says something, and what it says."""
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for number, text in enumerate(texts):
                paths.append(pathlib.Path(folder, "%d.%s" % (number, "nuspec" if kind == "nuspec" else "yaml")))
                paths[-1].write_text(text, encoding="utf-8")
            done = subprocess.run([self.python, ROOT / "tests/dist/judge_manifest.py", self.schemas[kind], *paths],
                                  capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {int(line.split(".")[0]) for line in done.stdout.splitlines()}, done.stdout

    def test_the_published_schemas_take_the_manifests_and_refuse_what_is_planted(self):
        for kind in FILES:
            planted = [filled(kind, *change) for name, *change in PLANTED if name == kind]
            found, said = self.wrong(kind, [filled(kind), *planted])
            # A field that a schema does not know is allowed by it, not by winget.
            self.assertEqual(found, set(range(1, len(planted) + 1)), "%s:\n%s" % (kind, said))


if __name__ == "__main__":
    unittest.main()
