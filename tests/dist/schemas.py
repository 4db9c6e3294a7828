"""The published schemas of winget's manifests and of a nuspec: downloaded once, held to their digest, kept in the cache.

They are their publishers' files and are not in the tree. A machine that reaches neither GitHub nor its cache has none:
tests/dist/test_manifests.py then has its own list of rules alone.
"""
import hashlib
import os
import pathlib
import urllib.error
import urllib.request

CACHE = pathlib.Path(os.environ.get("WINJOIN_CACHE", pathlib.Path.home() / ".cache/winjoin")) / "schemas"
WINGET = ("https://raw.githubusercontent.com/microsoft/winget-cli/fa3d9e511d1bd9bed2f1b72e9f0fa25323e7f3eb/"
          "schemas/JSON/manifests/v1.6.0/manifest.%s.1.6.0.json")
NUGET = ("https://raw.githubusercontent.com/NuGet/NuGet.Client/fac35579c8c3c92799361e5695e9f7539b4fd5a2/"
         "src/NuGet.Core/NuGet.Packaging/compiler/resources/nuspec.xsd")
PUBLISHED = {
    "version": (WINGET % "version", "4747c3d5daf7e5844b7f319548b834db55ecc80d5b9760bd2fc0d462e9f1e295"),
    "installer": (WINGET % "installer", "9d96343f8094fee12a767265eacc0a332b0dcfa1aa6431460130da760ae007b3"),
    "defaultLocale": (WINGET % "defaultLocale", "e2c405a3de4074579289b5bd229097e8f1f2c01bd87127b0163d341fb384aa96"),
    "nuspec": (NUGET, "5d4226dd761e3854ed02d33de390713c4c9846238a1d16f4b5f38192545ea417")}


class Missing(Exception):
    """It cannot be downloaded on this machine."""


def schema(name):
    """The path of a published schema."""
    url, digest = PUBLISHED[name]
    path = CACHE / name
    if not path.exists():
        try:
            with urllib.request.urlopen(url, timeout=20) as answer:
                data = answer.read(1 << 20)
        except (urllib.error.URLError, OSError) as why:
            raise Missing("%s: %s" % (url, why)) from why
        if hashlib.sha256(data).hexdigest() != digest:
            raise AssertionError("%s has another digest than %s" % (url, digest))
        CACHE.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(".%d" % os.getpid())
        fresh.write_bytes(data)
        fresh.replace(path)
    assert hashlib.sha256(path.read_bytes()).hexdigest() == digest, "%s is damaged: remove it" % path
    return path
