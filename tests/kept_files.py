"""Files of others that tests need and the tree has not: downloaded once, held to their digest, kept in the cache."""
import hashlib
import os
import pathlib
import tempfile

CACHE = pathlib.Path(os.environ.get("WINJOIN_CACHE", pathlib.Path.home() / ".cache/winjoin"))


class Missing(Exception):
    """It cannot be downloaded on this machine."""


def digest_of(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def kept(name, digest, download):
    """The path of the file; download(folder) brings it into an empty folder and answers where, or raises Missing."""
    target = CACHE / name
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as work:
            found = pathlib.Path(download(work))
            if digest_of(found) != digest:
                raise AssertionError("%s was downloaded with another digest than %s" % (name, digest))
            found.replace(target)
    if digest_of(target) != digest:
        raise AssertionError("%s is damaged: remove it" % target)
    return target
