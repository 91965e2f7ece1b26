"""Compares what Core ML computes from the models in this folder with what Assay computes. On a Mac:

    python3 -m pip install coremltools pillow
    python3 run.py

Assay itself is not needed: its values are in the files assay.npz. `--units ALL` also uses the GPU and the
Neural Engine, which compute with 16 bits; names of folders select models.
"""

import argparse
import json
import platform
import sys
from pathlib import Path

import coremltools as ct
import numpy as np
from PIL import Image


def inputs(folder):
    """The values of a model's inputs: pictures, numbers and arrays."""
    values = {}
    for path in sorted(folder.iterdir()):
        if path.name == "inputs.json":
            values.update(json.loads(path.read_text()))
        elif path.name == "inputs.npz":
            with np.load(path) as arrays:
                values.update({name: arrays[name] for name in arrays.files})
        elif path.suffix == ".png":
            values[path.stem] = Image.open(path)
    return values


def array(value, labels):
    """An output as an array in the order of Assay's."""
    if isinstance(value, dict):
        return np.array([value[label] for label in labels], float)
    if isinstance(value, Image.Image):
        return np.asarray(value.convert("RGB"), float)
    return np.asarray(value, float)


def labels(folder):
    """The classes of a classifier."""
    path = folder / "labels.json"
    return json.loads(path.read_text()) if path.exists() else []


def compare(folder, units):
    """The largest error, and whether all values are near enough; images may be rounded."""
    model = ct.models.MLModel(str(next(folder.glob("model.*"))), compute_units=units)
    outputs = model.predict(inputs(folder))
    largest, agrees = 0.0, True
    tolerance = 1e-2 if "float16" in folder.name or units != ct.ComputeUnit.CPU_ONLY else 1e-4
    with np.load(folder / "assay.npz") as expected:
        for name in expected.files:
            wanted = np.squeeze(expected[name].astype(float))
            found = np.squeeze(array(outputs[name], labels(folder)))
            if found.shape != wanted.shape:
                return None, "%s has the shape %s, but Assay's %s" % (name, found.shape, wanted.shape)
            error = np.abs(found - wanted)
            largest = max(largest, float(np.nan_to_num(error, nan=np.inf).max(initial=0)))
            scale = max(1.0, float(np.abs(wanted).max(initial=0)))
            limit = 1.0 if isinstance(outputs[name], Image.Image) else tolerance * (0.1 * scale + np.abs(wanted))
            agrees = agrees and bool((error <= limit).all())
    return largest, "agrees" if agrees else "DIFFERS"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="models; all if there are none")
    parser.add_argument("--units", default="CPU_ONLY", choices=[unit.name for unit in ct.ComputeUnit])
    arguments = parser.parse_args()
    if sys.platform != "darwin" and "assay.coremltools" not in sys.modules:
        sys.exit("Core ML predicts on a Mac only")
    here = Path(__file__).resolve().parent
    names = arguments.names or sorted(path.parent.name for path in here.glob("*/assay.npz"))
    print("macOS %s, %s, coremltools %s, %s" % (
        platform.mac_ver()[0] or "(none)", platform.machine(), ct.__version__, arguments.units))
    print("%-22s %14s  %s" % ("model", "largest error", "verdict"))
    others = 0
    for name in names:
        try:
            error, verdict = compare(here / name, ct.ComputeUnit[arguments.units])
        except Exception as problem:  # Core ML refuses the model
            error, verdict = None, "failed: " + " ".join(str(problem).split())
        print("%-22s %14s  %s" % (name, "" if error is None else "%.3g" % error, verdict))
        others += verdict != "agrees"
    print("%d of %d models agree" % (len(names) - others, len(names)))
    sys.exit(others > 0)


if __name__ == "__main__":
    main()
