#!/usr/bin/env python3
"""Compares Assay with the outputs of layers that keras-js stored in 2017.

    python3 Tests/Tools/keras_js.py ASSAY CHECKOUT [--only TEXT] [--jobs N] [--keep FOLDER]

CHECKOUT is a work tree of github.com/transcranial/keras-js (MIT license). It is read and never executed, and nothing of it
is copied: weights, inputs and outputs come from test/data/**/*.json, and the layers from the notebooks that computed them
(keras_js_notebooks.py). Each becomes a network as Keras 2.0 saved it, a .json and a .h5, for `assay diff`. All values are
stored with 6 decimals, weights and inputs too, so an output may differ by 1e-5, multiplied by the largest if that exceeds 1.
A stateful layer's outputs are those of the second of two equal inputs.

Prints a line for each failure, and totals:

  match      the outputs agree
  wrong      they do not
  refused    exit code 2 and an `error:` line
  broken     anything else: a crash, another exit code, more than 60 s, or code that cannot be evaluated

Exit code 1 unless all match. Needs h5py.
"""
import argparse, concurrent.futures, glob, json, os, subprocess, sys, tempfile
import h5py, numpy as np
from keras_js_notebooks import Layer, Notebook, load, model


def in_order(output):
    """The layers as Keras numbers them: the deepest first, those of the same depth as a search from the output meets them."""
    depth = {}
    def visit(layer, d):
        depth[layer] = max(d, depth.get(layer, 0))
        for x in layer.inputs: visit(x, d + 1)
    visit(output, 0)
    return sorted(depth, key=lambda layer: -depth[layer])


def array(stored):
    return np.array(stored["data"], np.float32).reshape(stored["shape"])


def write(inputs, output, case, folder):
    """Writes the network and its arrays. The inputs of a stateful network are returned."""
    layers = in_order(output)
    names = {layer: f"{layer.kind.lower()}_{i}" for i, layer in enumerate(layers)}
    described = [{**x.description(names[x]), "inbound_nodes": [[[names[y], 0, 0, {}] for y in x.inputs]] if x.inputs else []}
                 for x in layers]
    config = {"name": "model_1", "layers": described, "input_layers": [[names[x], 0, 0] for x in inputs],
              "output_layers": [[names[output], 0, 0]]}
    with open(f"{folder}/model.json", "w") as f:
        json.dump({"class_name": "Model", "config": config, "keras_version": "2.0.8", "backend": "tensorflow"}, f)
    weights = [array(w) for w in case.get("weights", [])]
    with h5py.File(f"{folder}/model.h5", "w") as f:
        f.attrs.update(layer_names=[names[x].encode() for x in layers], backend=b"tensorflow", keras_version=b"2.0.8")
        for layer in layers:
            group = f.create_group(names[layer])
            group.attrs["weight_names"] = [f"{names[layer]}/{w}:0".encode() for w in layer.weights()]
            for w in group.attrs["weight_names"]: group[w] = weights.pop(0)
    if weights: raise ValueError(f"{len(weights)} weights are left")
    arrays = {f"input{i + 1}": array(x)[None] for i, x in enumerate(case.get("inputs") or [case["input"]])}
    np.savez(f"{folder}/inputs.npz", **arrays)
    np.savez(f"{folder}/expected.npz", output1=array(case["expected"])[None])
    return arrays if any(x.config.get("stateful") for x in layers) else None


def judge(assay, files, folder, tolerance):
    """What `assay diff` says of a network, with the arrays in the folder."""
    command = [assay, "diff", *files, f"{folder}/inputs.npz", "--expected", f"{folder}/expected.npz", "--rtol", "0"]
    try:
        r = subprocess.run([*command, "--atol", str(tolerance)], capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        return "broken", "more than 60 s"
    lines = [line for line in (r.stderr + r.stdout).splitlines() if line.strip()] or ["no message"]
    text = next((line for line in lines if line.startswith("error:") or "DIFFERS" in line), lines[0])
    return {0: "match", 1: "wrong", 2: "refused" if text.startswith("error:") else "broken"}.get(r.returncode, "broken"), text


def compare(assay, name, network, case, folder):
    os.makedirs(folder, exist_ok=True)
    files, inputs, outputs = [f"{folder}/model.json", f"{folder}/model.h5"], f"{folder}/inputs.npz", f"{folder}/outputs.npz"
    try:  # Flatten of a vector, which TensorFlow did not compute, has no network.
        stateful = write(*(network or model(case["input"]["shape"], Layer(name.split(".")[1]))), case, folder)
        if stateful:  # the states that the first input leaves are inputs, too
            subprocess.run([assay, "run", *files, inputs, "-o", outputs], check=True, capture_output=True, timeout=60)
            with np.load(outputs) as z:
                states = {name.removesuffix("_out") + "_in": z[name] for name in z.files if name.endswith("_out")}
            np.savez(inputs, **stateful, **states)
    except Exception as e:
        return "broken", f"{type(e).__name__}: {e}"
    return judge(assay, files, folder, 1e-5 * max(1, *np.abs(case["expected"]["data"])))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("assay")
    parser.add_argument("checkout")
    parser.add_argument("--only", action="append", default=[], help="cases whose name contains this text; repeatable")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", help="write the networks here")
    a = parser.parse_args()
    cases, networks, totals = {}, {}, {}
    for path in sorted(glob.glob(f"{a.checkout}/test/data/**/*.json", recursive=True)):
        cases.update(load(path))
    for path in sorted(glob.glob(f"{a.checkout}/notebooks/**/*.ipynb", recursive=True)):
        if "/demos/" not in path: networks.update(Notebook(path).networks)
    names = [name for name in cases if any(text in name for text in a.only or [""])]
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        results = pool.map(lambda name: compare(os.path.abspath(a.assay), name, networks.get(name), cases[name],
                                                os.path.join(a.keep or scratch, name)), names)
        for name, (kind, text) in zip(names, results):
            totals[kind] = totals.get(kind, 0) + 1
            if kind != "match": print(f"{kind:8} {name}  {text}", flush=True)
    print(f"{len(names)} layers: " + ", ".join(f"{totals.get(k, 0)} {k}" for k in ("match", "wrong", "refused", "broken")))
    sys.exit(0 if names and totals.get("match") == len(names) else 1)


if __name__ == "__main__":
    main()
