"""Makes the array files of this folder with NumPy and Python's zipfile.

expected.json holds, for each file, the arrays that NumPy reads from it: name, shape and the bits of
the nearest 32-bit floats in C order. Run: python3 make.py (numpy 2).
"""

import io
import json
import pathlib
import zipfile

import numpy as np
from numpy.lib import format as npy

here = pathlib.Path(__file__).parent
expected = {}


def described(array):
    values = np.ascontiguousarray(array).astype(np.float32).reshape(-1)
    return {"shape": list(array.shape), "bits": [int(v) for v in values.view(np.uint32)]}


def record(name):
    loaded = np.load(here / name)
    if isinstance(loaded, np.ndarray):
        expected[name] = [{"name": None, **described(loaded)}]
    else:
        expected[name] = [{"name": k, **described(loaded[k])} for k in loaded.files]


def save(name, array, version=None):
    with open(here / name, "wb") as file:
        npy.write_array(file, array, version=version)
    record(name)


numbers = np.array([[0, 1, 2.5], [-3.75, 1e-3, 100]])
whole = np.array([[0, 1, 2], [3, 100, 127]])
for kind in ["b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]:
    values = (numbers if kind[0] == "f" else whole).astype(kind)
    save(f"{kind}.npy", values)
    if values.itemsize > 1:
        save(f"{kind}_big.npy", values.astype(values.dtype.newbyteorder(">")))
save("fortran.npy", np.asfortranarray(np.arange(24, dtype="<f4").reshape(2, 3, 4)))
save("version2.npy", numbers.astype("<f4"), version=(2, 0))
save("version3.npy", numbers.astype("<f4"), version=(3, 0))
save("scalar.npy", np.float32(1.25).reshape(()))
save("empty.npy", np.zeros((0, 3), "<f4"))
save("long.npy", np.arange(1000, dtype="<f4"))
save("extremes.npy", np.array([np.nan, np.inf, -np.inf, -0.0, 1e-45, 3.4e38], "<f4"))

arrays = {
    "first": numbers.astype("<f4"),
    "block__SLASH__conv": np.arange(300, dtype="<f4").reshape(3, 100),
    "bytes": whole.astype("u1"),
}
np.savez(here / "numpy.npz", **arrays)
np.savez_compressed(here / "numpy_compressed.npz", **arrays)


def members():
    for name, array in arrays.items():
        contents = io.BytesIO()
        npy.write_array(contents, array)
        info = zipfile.ZipInfo(name + ".npy", (1980, 1, 1, 0, 0, 0))
        info.create_system = 0
        yield info, contents.getvalue()


def archive(name, compression, stream=None):
    target = stream or here / name
    with zipfile.ZipFile(target, "w", compression) as file:
        for info, contents in members():
            info.compress_type = compression
            with file.open(info, "w", force_zip64=zipfile.ZIP64_LIMIT < 1000) as member:
                member.write(contents)
    record(name)


class Unseekable(io.RawIOBase):
    """Makes zipfile put the sizes behind the contents."""

    def __init__(self, path):
        self.file = open(path, "wb")

    def writable(self):
        return True

    def write(self, data):
        return self.file.write(data)

    def flush(self):
        self.file.flush()


archive("descriptors.npz", zipfile.ZIP_DEFLATED, Unseekable(here / "descriptors.npz"))
record("numpy.npz")
record("numpy_compressed.npz")

# Exactly what a writer without dates and permissions makes of the same members.
with zipfile.ZipFile(here / "plain.npz", "w") as file:
    for info, contents in members():
        info.file_size = len(contents)
        file.writestr(info, contents)
raw = (here / "plain.npz").read_bytes()
for info, _ in members():
    at = raw.rindex(b"PK\x01\x02", 0, raw.rindex(info.filename.encode()))
    raw = raw[: at + 38] + b"\0\0\0\0" + raw[at + 42 :]
(here / "plain.npz").write_bytes(raw)
record("plain.npz")

zipfile.ZIP64_LIMIT = 10
zipfile.ZIP_FILECOUNT_LIMIT = 1
archive("wide.npz", zipfile.ZIP_STORED)

for entry in expected.values():
    for array in entry:
        if array["name"]:
            array["name"] = array["name"].replace("__SLASH__", "/")
lines = [f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in expected.items()]
(here / "expected.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
