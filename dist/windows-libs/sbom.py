#!/usr/bin/env python3
"""Writes the bill of materials as SPDX 2.3 JSON: sbom.py built.json OUT.json PROGRAM...

Every library is listed with the version that was really built, its license, its configuration and the
Debian source it came from. The times come from SOURCE_DATE_EPOCH or the last commit, so that the
same tree gives the same file.
"""

import datetime
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import urllib.parse


def created():
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if not epoch:
        # A tree without git, or a machine without it, has no commit's time.
        done = subprocess.run(["sh", "-c", "git log -1 --format=%ct"], capture_output=True, text=True, check=False)
        epoch = done.stdout.strip() or "0"
    return datetime.datetime.fromtimestamp(int(epoch), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def upstream(version):
    """1:1.3.dfsg+really1.3.1-1 is 1.3.1: no epoch, no Debian revision."""
    return version.split(":", 1)[-1].rsplit("-", 1)[0].split("+really")[-1]


def library_package(row):
    purl = f"pkg:deb/debian/{row['source']}@{urllib.parse.quote(row['version'], safe='')}?arch=source"
    return {
        "SPDXID": f"SPDXRef-{row['name']}",
        "name": row["name"],
        "versionInfo": upstream(row["version"]),
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": row["licence"],
        "licenseDeclared": row["licence"],
        "copyrightText": "NOASSERTION",
        "comment": "configured with: " + " ".join(row["configuration"]),
        "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}],
    }


def program_package(path, version):
    package = {
        "SPDXID": f"SPDXRef-{path.name}",
        "name": path.name,
        "versionInfo": version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "Apache-2.0",
        "licenseDeclared": "Apache-2.0",
        "copyrightText": "The winjoin authors",
        "primaryPackagePurpose": "APPLICATION",
    }
    package["checksums"] = [{"algorithm": "SHA256", "checksumValue": hashlib.sha256(path.read_bytes()).hexdigest()}]
    return package


def document(built, programs, version):
    rows = [row for row in built["libraries"] if row["shipped"]]
    relations = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
                  "relatedSpdxElement": f"SPDXRef-{path.name}"} for path in programs]
    relations += [{"spdxElementId": f"SPDXRef-{path.name}", "relationshipType": "STATIC_LINK",
                   "relatedSpdxElement": f"SPDXRef-{row['name']}"} for path in programs for row in rows]
    packages = [program_package(path, version) for path in programs] + [library_package(row) for row in rows]
    digest = hashlib.sha256(json.dumps(packages, sort_keys=True).encode()).hexdigest()
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"winjoin-{version}",
        "documentNamespace": f"https://winjoin.io/spdx/winjoin-{version}-{digest[:32]}",
        "creationInfo": {"created": created(), "creators": ["Tool: winjoin-sbom"]},
        "packages": packages,
        "relationships": relations,
    }


def main():
    built = json.loads(pathlib.Path(sys.argv[1]).read_text())
    programs = [pathlib.Path(name) for name in sys.argv[3:]]
    version = pathlib.Path("dist/version").read_text().strip()
    out = pathlib.Path(sys.argv[2])
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(document(built, programs, version), indent=1) + "\n")


if __name__ == "__main__":
    main()
