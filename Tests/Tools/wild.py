#!/usr/bin/env python3
"""Builds networks with packages of PyPI, converts them, and compares the predictions.

    wild.py ASSAY [--packages A,B] [--networks TEXT] [--keep FOLDER] [--table FILE.tsv]

Builds the networks whose package this Python has, each with random weights that no activation
hides: biases, scales and statistics are random, and the normalizations get the statistics of a
batch. A network is saved with its inputs and its prediction, and `assay diff` converts and compares. Networks in the folder of
`--keep` are not built again, and are compared even without their package.
It matches where no output is off by more than 1e-4 of the largest; `dead` means that another input
gives the same prediction, which proves nothing. Networks are listed in `wild_networks.py`.
Exits with 1 where a network differs or breaks the program.

    python3.11 -m venv keras2
    keras2/bin/pip install 'tensorflow-cpu==2.15.*' 'numpy<2' efficientnet segmentation-models \\
        image-classifiers keras-unet-collection keras-tcn keras-resnet keras-retinanet 'vit-keras<0.2' \\
        qkeras tensorflow-addons pyparsing imgaug
    keras2/bin/pip install --no-deps hgq keras-cv-attention-models keras-self-attention \\
        keras-multi-head keras-octave-conv keras-unet keras-segmentation keras-efficientnets \\
        mlp-mixer-keras keras-wrn keras-layer-normalization keras-pos-embd \\
        keras-position-wise-feed-forward keras-ocr essential-generators
    python3.11 -m venv keras3
    keras3/bin/pip install tensorflow-cpu keras keras-hub hgq2 keras-cv-attention-models \\
        keras-vision classification-models-3d keras-tcn
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import traceback

TOLERANCE = 1e-4


def enliven(model, generator):
    """Weights that no zero, one or tiny number hides."""
    import numpy as np
    for weight in model.weights:
        name = getattr(weight, "path", weight.name).split("/")[-1].split(":")[0]
        value = np.asarray(weight)
        if value.dtype.kind != "f" or not value.size or name == "beta_factor":  # never saved
            continue
        if "variance" in name:
            new = generator.uniform(0.5, 1.5, value.shape)
        elif "gamma" in name or "scale" in name:
            new = generator.uniform(0.5, 1.2, value.shape)
        elif "bw" in name or name in ("b", "i", "f", "k"):  # bits of quantizers
            continue
        elif np.all(value == value.flat[0]) or "bias" in name or "beta" in name:
            new = value.flat[0] + generator.normal(0, 0.1, value.shape)
        elif value.ndim > 1 and "depthwise" not in name and value.std() < 0.5 * np.prod(value.shape[:-1]) ** -0.5:
            new = generator.normal(0, 1.2 * np.prod(value.shape[:-1]) ** -0.5, value.shape)
        else:
            continue
        weight.assign(new.astype(value.dtype))
    for layer in model.layers:
        if hasattr(layer, "finalize_state"):  # It computes with numbers made of its weights.
            layer.finalize_state()


def settle(model, batch, damping, floor):
    """Normalizations get the statistics of a batch, so that no layer's output vanishes."""
    import keras
    flatten = getattr(model, "_flatten_layers", None)
    layers = [layer for layer in (flatten() if flatten else model.layers)
              if "BatchNorm" in type(layer).__name__ and hasattr(layer, "momentum")]
    kept = [layer.momentum for layer in layers]
    for layer in layers:
        layer.momentum = 0.0
    try:
        if layers:
            model(batch, training=True)
    except Exception:
        pass  # Random statistics do as well.
    for layer, momentum in zip(layers, kept):
        layer.momentum = momentum
        # A channel that hardly varies in the batch would grow without bounds on another input.
        variance = layer.moving_variance.numpy()
        layer.moving_variance.assign(variance + damping * variance.mean() + floor)
    for layer in model.layers:
        # Behind softmax or sigmoid, most errors could not be seen.
        name = getattr(getattr(layer, "activation", None), "__name__", "")
        if name in ("softmax", "sigmoid") and layer.output is model.outputs[0]:
            layer.activation = keras.activations.linear


def make(package, name, folder):
    import keras
    import numpy as np
    from wild_networks import NETWORKS
    keras.backend.clear_session()
    keras.utils.set_random_seed(1)
    generator = np.random.default_rng(2)
    model, kinds = NETWORKS[package][name]()
    enliven(model, generator)

    def batch(count, contrast):
        arrays = []
        for index, tensor in enumerate(model.inputs):
            kind = kinds[index] if index < len(kinds) else "unit"
            if kinds and isinstance(kinds[0], dict):
                kind = kinds[0][tensor.name]
            shape = (count,) + tuple(tensor.shape[1:])
            if any(size is None for size in shape):
                raise ValueError(f"input of shape {shape}")
            if isinstance(kind, int):
                array = generator.integers(1, kind, shape)
            elif kind == "ones":
                array = np.ones(shape)
            else:
                low, high = (0, 255) if kind == "byte" else (-1, 1)
                array = generator.uniform(low, high, shape)
                if contrast:
                    # Averages of noise are alike. Each item gets its own gray, and half of the noise.
                    array = (array + generator.uniform(low, high, (count,) + (1,) * (array.ndim - 1))) / 2
            arrays.append(array.astype("float32"))
        return arrays if len(arrays) > 1 else arrays[0]

    def predict(arrays):
        outputs = model(arrays, training=False)
        if isinstance(outputs, dict):
            outputs = list(outputs.values())
        return [np.asarray(a) for a in (outputs if isinstance(outputs, (list, tuple)) else [outputs])]

    # In a deep network the damping of all its normalizations hides the input; without it, rounding
    # errors grow.
    for contrast, damping, floor in (False, 0.3, 1e-3), (True, 0.3, 1e-3), (True, 0.03, 1e-8):
        settle(model, batch(4, contrast), damping, floor)
        inputs, others = batch(1, contrast), batch(1, contrast)
        outputs = predict(inputs)
        lively = any(np.abs(a - b).max() > 1e-3 * np.abs(a).max() for a, b in zip(outputs, predict(others)))
        if lively:
            break
    finite = all(np.isfinite(a).all() for a in outputs)
    listed = inputs if isinstance(inputs, list) else [inputs]
    np.savez(os.path.join(folder, "inputs.npz"), **{f"input{i + 1}": a for i, a in enumerate(listed)})
    np.savez(os.path.join(folder, "expected.npz"), **{f"output{i + 1}": a for i, a in enumerate(outputs)})
    source = "model.keras" if keras.__version__ >= "3" else "model.h5"
    settings = dict(include_optimizer=False) if source.endswith(".h5") else {}
    model.save(os.path.join(folder, source), **settings)
    return {"source": source, "parameters": int(model.count_params()), "dead": not (lively and finite)}


def check(assay, folder, made):
    """The verdict on one network, and the largest error relative to the largest output."""
    import numpy as np
    with np.load(os.path.join(folder, "expected.npz")) as arrays:
        largest = max(float(np.abs(arrays[name]).max()) for name in arrays)
    process = subprocess.run(
        [assay, "diff", os.path.join(folder, made["source"]), os.path.join(folder, "inputs.npz"), "--expected",
         os.path.join(folder, "expected.npz"), "--atol", repr(TOLERANCE * largest), "--rtol", "0", "--json"],
        capture_output=True, text=True, timeout=600)
    text = " ".join(line for line in process.stderr.splitlines() if not line.startswith(("note", "warning")))
    if process.returncode == 2:
        return "refused", text.strip()
    if process.returncode not in (0, 1):
        return "BROKEN", f"exit code {process.returncode}: {text.strip()}"
    report = json.loads(process.stdout.strip().splitlines()[0])
    error = max(float(output["largestAbsoluteError"]) for output in report["outputs"]) / largest
    verdict = "DIFFERS" if process.returncode else "dead" if made["dead"] else "match"
    return verdict, f"{error:.1e}"


def place(folder, package, name):
    return os.path.join(folder, f"{package}-{name}".replace("/", "_"))


def serve(package, folder):
    """Makes the networks of one package that are asked for on standard input."""
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
    os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # What packages print is no answer.
    for name in sys.stdin:
        name = name.strip()
        try:
            target = place(folder, package, name)
            os.makedirs(target, exist_ok=True)
            answer = make(package, name, target)
            with open(os.path.join(target, "made.json"), "w") as file:
                json.dump(answer, file)
        except Exception as error:
            traceback.print_exc()
            answer = {"problem": f"{type(error).__name__}: {error}".replace("\n", " ")[:300]}
        print(json.dumps(answer), file=answers, flush=True)


class Maker:
    """The Python that makes the networks of one package, started when the first is missing."""

    def __init__(self, package, folder):
        self.package, self.folder, self.process = package, folder, None

    def made(self, name):
        try:
            with open(os.path.join(place(self.folder, self.package, name), "made.json")) as file:
                return json.load(file)
        except FileNotFoundError:
            pass
        if self.process is None:
            log = open(os.path.join(self.folder, self.package + ".log"), "w")
            self.process = subprocess.Popen(
                [sys.executable, __file__, "--serve", self.package, self.folder],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)
        print(name, file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        if not line:
            self.close()
        return json.loads(line) if line else {"problem": "the package ended Python"}

    def close(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()
            self.process = None


def main():
    from wild_networks import MODULES, NETWORKS
    import importlib.util
    parser = argparse.ArgumentParser()
    parser.add_argument("assay")
    parser.add_argument("--packages")
    parser.add_argument("--networks", default="")
    parser.add_argument("--keep")
    parser.add_argument("--table")
    options = parser.parse_args()
    counts, rows = {}, []
    wanted = options.packages.split(",") if options.packages else NETWORKS
    with tempfile.TemporaryDirectory() as scratch:
        folder = os.path.abspath(options.keep or scratch)
        os.makedirs(folder, exist_ok=True)
        for package in wanted:
            names = [name for name in NETWORKS[package] if options.networks in name]
            if importlib.util.find_spec(MODULES[package]) is None:
                names = [name for name in names if os.path.exists(
                    os.path.join(place(folder, package, name), "made.json"))]
            maker = Maker(package, folder)
            for name in names:
                made, target = maker.made(name), place(folder, package, name)
                if "problem" in made:
                    verdict, detail = "not made", made["problem"]
                else:
                    verdict, detail = check(os.path.abspath(options.assay), target, made)
                counts[verdict] = counts.get(verdict, 0) + 1
                rows.append((package, name, str(made.get("parameters", "")), verdict, detail))
                print(f"{package:26s} {name:28s} {verdict:9s} {detail[:400]}", flush=True)
                if not options.keep and "source" in made:
                    os.remove(os.path.join(target, made["source"]))
            maker.close()
    if options.table:
        with open(options.table, "w") as file:
            file.write("package\tnetwork\tparameters\tresult\terror\n")
            file.writelines("\t".join(row) + "\n" for row in rows)
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())))
    return 1 if counts.get("DIFFERS") or counts.get("BROKEN") else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(*sys.argv[2:4])
    else:
        sys.exit(main())
