#!/usr/bin/env python3
"""Converts networks whose layers, model or builder function Assay reads from Python source, and compares.

    python3 Tests/Tools/layer_sources.py ASSAY FOLDER [--only TEXT] [--least N]

Each folder of FOLDER is a class: `model.keras` and `model.h5` (either may be missing), or for a function that builds
the network `call.txt` (`build_model(width=32)`) with `weights.h5` and `model.weights.h5`; `source.py`, or `sources` if
it imports other modules; and `inputs.npz` and `expected.npz`, what Keras predicts. Prints a table and totals:

  match      converted without a custom layer, and each output within 1e-5 of the largest
  custom     a layer stayed a custom layer, with the reason
  refused    exit code 2 and an `error:` line
  wrong      the outputs differ
  broken     anything else: a crash, another exit code, or more than 60 s

A class counts as the worst of its files. Exit code 1 if one is wrong or broken, or if fewer than N match. The classes
that are measured are those of Fixtures/keras/layer-sources/layers.tsv; layer_source_lists.py says how they were drawn.
"""
import argparse
import collections
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

ORDER = ["match", "custom", "refused", "wrong", "broken"]


def run(*command):
    try:
        r = subprocess.run([str(part) for part in command], capture_output=True, text=True, errors="replace", timeout=60)
    except subprocess.TimeoutExpired:
        return None, "more than 60 s"
    return r.returncode, r.stderr + r.stdout


def line(text, *starts):
    lines = [part.strip() for part in text.splitlines() if part.strip()]
    return next((part for start in starts for part in lines if start in part), lines[0] if lines else "no message")


def judge(assay, folder, file, scratch):
    call = folder / "call.txt"
    options = ["--model-source", f"{folder / 'source.py'}:{call.read_text().strip()}"] if call.exists() else []
    files = sorted((folder / "sources").rglob("*.py")) or ([] if options else [folder / "source.py"])
    options += [part for path in files for part in ("--layer-source", path)]
    converted = scratch / "converted.mlmodel"
    converted.unlink(missing_ok=True)
    code, text = run(assay, "convert", file, "-o", converted, *options)
    if code == 2 and "error:" in text:
        text = text.split("cannot be converted:\n", 1)[-1]
        return "refused", line(text, "error:").split("error: ", 1)[-1].replace(str(folder), "").lstrip("/")
    if code != 0:
        return "broken", f"exit code {code}: {line(text, 'error:')}"
    with np.load(folder / "expected.npz") as arrays:
        largest = max(float(np.abs(arrays[name]).max(initial=0)) for name in arrays.files)
    code, said = run(assay, "diff", converted, folder / "inputs.npz", "--expected", folder / "expected.npz", "--rtol", "0",
                     "--atol", 1e-5 * max(largest, 1e-3))
    if "custom layer" in said and code != 0:
        return "custom", line(text, "custom layer", "warning:")
    if code == 2 and "error:" in said:
        return "wrong", line(said, "error:").split("error: ", 1)[-1]
    return {0: ("match", ""), 1: ("wrong", line(said, "DIFFERS", "differ"))}.get(code, ("broken", f"exit code {code}"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("assay", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", default="", help="folders whose name contains this text")
    parser.add_argument("--least", type=int, default=0, help="how many must match")
    a = parser.parse_args()
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as scratch:
        for folder in sorted(a.folder.iterdir()):
            if not (folder / "expected.npz").exists() or a.only not in folder.name:
                continue
            names = ["model.keras", "model.h5", "weights.h5", "model.weights.h5"]
            found = [(*judge(a.assay, folder, folder / name, pathlib.Path(scratch)), name) for name in names if (folder / name).exists()]
            for outcome, reason, name in found:
                print(f"{outcome:8} {folder.name:42} {name:17} {reason[:300]}", flush=True)
            counts[max((outcome for outcome, _, _ in found), key=ORDER.index)] += 1
    total = sum(counts.values())
    print(f"\n{total} classes: " + ", ".join(f"{counts[outcome]} {outcome}" for outcome in ORDER))
    return int(counts["wrong"] + counts["broken"] > 0 or counts["match"] < a.least)


if __name__ == "__main__":
    sys.exit(main())
