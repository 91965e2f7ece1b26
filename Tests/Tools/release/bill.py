"""Prints the bill of materials of the binaries as SPDX 2.3, from the list of notices.sh.

    notices.sh --list | bill.py VERSION FOLDER
"""

import datetime
import hashlib
import json
import os
import re
import sys

version, folder = sys.argv[1:]
created = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
digests = {
    name: hashlib.sha256(open(os.path.join(folder, name), "rb").read()).hexdigest()
    for name in sorted(os.listdir(folder))
}


def package(name, version, origin=None):
    result = {
        "SPDXID": "SPDXRef-" + re.sub("[^A-Za-z0-9.-]", "-", name),
        "name": name,
        "versionInfo": version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "NOASSERTION",
        "copyrightText": "NOASSERTION",
    }
    if origin:
        result["externalRefs"] = [{
            "referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
            "referenceLocator": origin.replace("+", "%2B"),
        }]
    return result


own = package("assay", version) | {
    "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0",
    "copyrightText": "Copyright 2026 The Assay authors",
}
libraries = [package(*line.rstrip("\n").split("\t")) for line in sys.stdin]
document = {
    "spdxVersion": "SPDX-2.3",
    "dataLicense": "CC0-1.0",
    "SPDXID": "SPDXRef-DOCUMENT",
    "name": f"assay-{version}",
    "documentNamespace": f"https://spdx.org/spdxdocs/assay-{version}-{digests['assay'][:32]}",
    "creationInfo": {
        "created": created.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: assay-release"],
    },
    "packages": [own] + libraries,
    "files": [
        {
            "SPDXID": f"SPDXRef-File-{name}", "fileName": f"./bin/{name}",
            "checksums": [{"algorithm": "SHA256", "checksumValue": digest}],
            "licenseConcluded": "NOASSERTION", "copyrightText": "NOASSERTION",
        }
        for name, digest in digests.items()
    ],
    "relationships": [
        {
            "spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
            "relatedSpdxElement": own["SPDXID"],
        }
    ] + [
        {
            "spdxElementId": own["SPDXID"], "relationshipType": "STATIC_LINK",
            "relatedSpdxElement": library["SPDXID"],
        }
        for library in libraries
    ] + [
        {
            "spdxElementId": own["SPDXID"], "relationshipType": "GENERATES",
            "relatedSpdxElement": f"SPDXRef-File-{name}",
        }
        for name in digests
    ],
}
json.dump(document, sys.stdout, indent=2)
print()
