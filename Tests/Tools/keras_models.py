#!/usr/bin/env python3
"""keras_models.py ASSAY FOLDER… — converts and runs every whole Keras model (.h5, .hdf5) of the folders.

A model with a twin `X_inputs_and_outputs.h5` is compared with Keras' own predictions: the twin's groups
`inputs` and `predictions` (or `activations/<last layer>`) are exported to .npz, and every output must lie
within 1e-4 of the largest value. The others must convert and run on random inputs, or be refused by name.
Needs numpy and h5py. Exit code 1 where anything is broken or differs.
"""
import json, os, subprocess, sys, tempfile
import h5py, numpy as np


def call(*arguments):
    return subprocess.run(arguments, capture_output=True, text=True)


def arrays(group):
    """The datasets of a group, whatever depth, by name."""
    found = {}
    group.visititems(lambda n, d: found.__setitem__(n, np.array(d, "f4")) if isinstance(d, h5py.Dataset) else None)
    return found


def twin(path):
    for ending in ("_model.h5", ".h5"):
        if path.endswith(ending):
            other = path[: -len(ending)] + "_inputs_and_outputs.h5"
            if os.path.exists(other):
                return other
    return None


def compare(assay, model, path, scratch):
    with h5py.File(path, "r") as file:
        if "predictions" in file:
            expected = arrays(file["predictions"])
        elif "activations" in file:
            last = list(file["outputs"])[-1]
            expected = {last: np.array(file["activations"][last], "f4")}
        else:
            return None
        inputs = arrays(file["inputs"])
    np.savez(scratch + "/in.npz", **{f"input{i + 1}": a for i, a in enumerate(inputs.values())})
    np.savez(scratch + "/out.npz", **{f"output{i + 1}": a for i, a in enumerate(expected.values())})
    largest = max(float(np.abs(a).max()) for a in expected.values())
    return call(assay, "diff", model, scratch + "/in.npz", "--expected", scratch + "/out.npz",
                "--rtol", "0", "--atol", str(1e-4 * largest))


def main():
    assay, *folders = sys.argv[1:]
    counts = dict(match=0, runs=0, refused=0, broken=0, differs=0)
    for folder in folders:
        for root, _, names in sorted(os.walk(folder)):
            for name in sorted(names):
                path = os.path.join(root, name)
                if not name.endswith((".h5", ".hdf5")) or "inputs_and_outputs" in name:
                    continue
                with h5py.File(path, "r") as file:
                    if "model_config" not in file.attrs:
                        continue
                with tempfile.TemporaryDirectory() as scratch:
                    model = scratch + "/m.mlmodel"
                    done = call(assay, "convert", path, "-o", model)
                    verdict = "refused" if done.returncode == 2 and done.stderr.startswith("error: ") else "broken"
                    if done.returncode == 0:
                        other = twin(path)
                        done = other and compare(assay, model, other, scratch)
                        if done:
                            verdict = {0: "match", 1: "differs"}.get(done.returncode, "broken")
                        else:
                            done = call(assay, "bench", model, "--warmup", "0", "--runs", "1", "--min-seconds", "0")
                            verdict = "runs" if done.returncode == 0 else "broken"
                    counts[verdict] += 1
                    if verdict not in ("match", "runs"):
                        text = (done.stderr or done.stdout).strip().replace("\n", " / ")
                        print(verdict, os.path.relpath(path, folder), text.split(name + ": ")[-1][:300])
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.items()))
    return 1 if counts["broken"] or counts["differs"] else 0


if __name__ == "__main__":
    sys.exit(main())
