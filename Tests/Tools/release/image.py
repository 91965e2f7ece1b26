"""Writes an OCI image with the programs, the C library that they need, and their licenses.

    image.py FOLDER IMAGE.tar VERSION NOTICES
"""

import datetime
import gzip
import hashlib
import io
import json
import os
import platform
import re
import subprocess
import sys
import tarfile

folder, destination, version, notices = sys.argv[1:]
moment = int(os.environ["SOURCE_DATE_EPOCH"])
created = datetime.datetime.fromtimestamp(moment, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def archive(files):
    """A tar archive of [path: (contents, mode)], with the folders above, in order."""
    buffer = io.BytesIO()
    folders = set()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for path in sorted(files):
            parts = path.split("/")[:-1]
            for count in range(1, len(parts) + 1):
                parent = "/".join(parts[:count])
                if parent not in folders:
                    folders.add(parent)
                    item = tarfile.TarInfo(parent)
                    item.type, item.mode, item.mtime = tarfile.DIRTYPE, 0o755, moment
                    if parent == "tmp":
                        item.mode = 0o1777
                    tar.addfile(item)
            contents, mode = files[path]
            item = tarfile.TarInfo(path)
            item.size, item.mode, item.mtime = len(contents), mode, moment
            tar.addfile(item, io.BytesIO(contents))
    return buffer.getvalue()


def read(path):
    with open(path, "rb") as file:
        return file.read()


layer_files = {"tmp/.keep": (b"", 0o644), "usr/share/doc/assay/NOTICES": (read(notices), 0o644)}
for name in sorted(os.listdir(folder)):
    program = os.path.join(folder, name)
    layer_files["usr/bin/" + name] = (read(program), 0o755)
    needed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    for library in re.findall(r"(/\S+) \(0x", needed):
        layer_files[library.lstrip("/")] = (read(library), 0o755)

blobs = {}


def blob(contents, kind):
    digest = hashlib.sha256(contents).hexdigest()
    blobs["blobs/sha256/" + digest] = (contents, 0o644)
    return {
        "mediaType": f"application/vnd.oci.image.{kind}",
        "digest": "sha256:" + digest, "size": len(contents),
    }


def document(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


plain = archive(layer_files)
layer = blob(gzip.compress(plain, 9, mtime=0), "layer.v1.tar+gzip")
architecture = {"x86_64": "amd64", "aarch64": "arm64"}[platform.machine()]
configuration = blob(document({
    "architecture": architecture, "os": "linux", "created": created,
    "config": {
        "Entrypoint": ["/usr/bin/assay"], "Env": ["PATH=/usr/bin"], "WorkingDir": "/",
        "Labels": {"org.opencontainers.image.version": version},
    },
    "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(plain).hexdigest()]},
    "history": [{"created": created, "comment": "assay " + version}],
}), "config.v1+json")
manifest = blob(document({
    "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
    "config": configuration, "layers": [layer],
}), "manifest.v1+json")
manifest["annotations"] = {"org.opencontainers.image.ref.name": version}
manifest["platform"] = {"architecture": architecture, "os": "linux"}
blobs["index.json"] = (document({
    "schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json",
    "manifests": [manifest],
}), 0o644)
blobs["oci-layout"] = (document({"imageLayoutVersion": "1.0.0"}), 0o644)
with open(destination, "wb") as file:
    file.write(archive(blobs))
