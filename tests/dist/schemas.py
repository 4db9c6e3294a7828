"""The published schemas of winget's manifests, of a nuspec and of JUnit's XML, in the cache (tests/kept_files.py).

They are their publishers' files and are not in the tree. A machine that reaches neither GitHub nor its cache has none:
the tests then have their own lists of rules alone.
"""
import os
import pathlib
import sys
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from kept_files import Missing, kept  # noqa: E402

WINGET = ("https://raw.githubusercontent.com/microsoft/winget-cli/fa3d9e511d1bd9bed2f1b72e9f0fa25323e7f3eb/"
          "schemas/JSON/manifests/v1.6.0/manifest.%s.1.6.0.json")
NUGET = ("https://raw.githubusercontent.com/NuGet/NuGet.Client/fac35579c8c3c92799361e5695e9f7539b4fd5a2/"
         "src/NuGet.Core/NuGet.Packaging/compiler/resources/nuspec.xsd")
JENKINS = ("https://raw.githubusercontent.com/jenkinsci/xunit-plugin/8c515de2804b3fd591a3b0f1ff8908a1b1a41887/"
           "src/main/resources/org/jenkinsci/plugins/xunit/types/model/xsd/junit-10.xsd")
PUBLISHED = {
    "version": (WINGET % "version", "4747c3d5daf7e5844b7f319548b834db55ecc80d5b9760bd2fc0d462e9f1e295"),
    "installer": (WINGET % "installer", "9d96343f8094fee12a767265eacc0a332b0dcfa1aa6431460130da760ae007b3"),
    "defaultLocale": (WINGET % "defaultLocale", "e2c405a3de4074579289b5bd229097e8f1f2c01bd87127b0163d341fb384aa96"),
    "nuspec": (NUGET, "5d4226dd761e3854ed02d33de390713c4c9846238a1d16f4b5f38192545ea417"),
    "junit": (JENKINS, "a1a816f58d1bf95ebabf371994df0b9246dee66ea9572fbec4f9296f1b2c0ff6")}


def schema(name):
    """The path of a published schema."""
    url, digest = PUBLISHED[name]

    def download(folder):
        path = os.path.join(folder, name)
        try:
            with urllib.request.urlopen(url, timeout=20) as answer, open(path, "wb") as out:
                out.write(answer.read(1 << 20))
        except (urllib.error.URLError, OSError) as why:
            raise Missing("%s: %s" % (url, why)) from why
        return path
    return kept("schemas/" + name, digest, download)
