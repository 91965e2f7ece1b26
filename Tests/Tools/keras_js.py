#!/usr/bin/env python3
"""Compares Assay with the layer outputs that keras-js stored in 2017.

    python3 Tests/Tools/keras_js.py ASSAY CHECKOUT [--only TEXT] [--jobs N] [--keep FOLDER]

CHECKOUT is a work tree of github.com/transcranial/keras-js (MIT license), which is read and never executed: the weights,
inputs and outputs come from test/data/**/*.json, the layers from the code of the notebooks that made them, of which
assignments, loops over lists, and calls of layers are evaluated. Each becomes a network as Keras 2.0 saved it, a .json
and a .h5. All values are stored with 6 decimals; an output may differ by 1e-5, multiplied by the largest if that exceeds 1.
The outputs of stateful layers are those of the second of two equal inputs.

Prints a line for each failure, and totals:

  match      the outputs agree
  wrong      they do not
  refused    exit code 2 and an `error:` line
  broken     anything else: a crash, another exit code, more than 60 s, or values without a network

Exit code 1 unless all match. Needs h5py.
"""
import argparse, ast, concurrent.futures, glob, json, os, subprocess, sys, tempfile
import h5py, numpy as np

# positional arguments of the layers; those of a convolution start with these two
POSITIONAL = {"Dense": ["units"], "Embedding": ["input_dim", "output_dim"], "Activation": ["activation"],
              "Dropout": ["rate"], "GaussianDropout": ["rate"], "GaussianNoise": ["stddev"], "Permute": ["dims"],
              "RepeatVector": ["n"], "Reshape": ["target_shape"], "Bidirectional": ["layer"], "TimeDistributed": ["layer"],
              "SimpleRNN": ["units"], "LSTM": ["units"], "GRU": ["units"]}
WEIGHTS = {"Embedding": ["embeddings"], "PReLU": ["alpha"], "SeparableConv2D": ["depthwise_kernel", "pointwise_kernel", "bias"],
           "BatchNormalization": ["gamma", "beta", "moving_mean", "moving_variance"], "Dense": ["kernel", "bias"],
           **{name: ["kernel", "bias"] for name in ("Conv1D", "Conv2D", "Conv3D", "Conv2DTranspose")},
           **{name: ["kernel", "recurrent_kernel", "bias"] for name in ("SimpleRNN", "LSTM", "GRU")}}


class Layer:
    """A layer with its arguments, and its inputs once it is called."""
    def __init__(self, kind, arguments, keywords):
        names = POSITIONAL.get(kind, ["filters", "kernel_size"])
        self.kind, self.config, self.inputs = kind, {**dict(zip(names, arguments)), **keywords}, []

    def __call__(self, tensors):
        self.inputs = tensors if isinstance(tensors, list) else [tensors]
        return self

    def weights(self):
        if "layer" in self.config:
            inner = self.config["layer"].weights()
            return inner if self.kind == "TimeDistributed" else [f"{d}/{w}" for d in ("forward", "backward") for w in inner]
        missing = [w for w, flag in (("bias", "use_bias"), ("gamma", "scale"), ("beta", "center")) if not self.config.get(flag, True)]
        return [w for w in WEIGHTS.get(self.kind, []) if w not in missing]

    def description(self, name):
        config = {k: v.description(f"{name}_layer") if isinstance(v, Layer) else v for k, v in self.config.items()}
        config["name"] = name
        if self.kind == "InputLayer":
            config.update(dtype="float32", sparse=False)
        return {"class_name": self.kind, "config": config}


class Notebook:
    """Evaluates what describes networks; anything else has no value."""
    def __init__(self, path):
        self.names, self.networks, self.function = {}, {}, None
        with open(path, encoding="utf-8") as f:
            cells = json.load(f)["cells"]
        for cell in cells:
            if cell["cell_type"] == "code":
                self.names.pop("model", None)
                self.run(ast.parse("".join(cell["source"])).body)

    def run(self, statements):
        for s in statements:
            if isinstance(s, ast.For):
                for item in self.value(s.iter) or []:
                    self.assign(s.target, item)
                    self.run(s.body)
            elif isinstance(s, ast.Assign):
                self.assign(s.targets[0], self.value(s.value), s.value)

    def assign(self, target, value, expression=None):
        if isinstance(target, ast.Tuple):
            for t, v in zip(target.elts, value):
                self.assign(t, v)
        elif isinstance(target, ast.Name):
            self.names[target.id] = value
        elif isinstance(target, ast.Subscript) and ast.unparse(target.value) == "DATA":
            self.networks[self.value(target.slice)] = self.names.get("model")

    def value(self, e):
        try:
            return self.evaluate(e)
        except Exception:  # code that computes with arrays
            return None

    def evaluate(self, e):
        if isinstance(e, ast.Call):
            return self.call(e)
        if isinstance(e, ast.Name):
            return self.names[e.id]
        if isinstance(e, ast.List):
            return [self.evaluate(x) for x in e.elts]
        if isinstance(e, ast.Tuple):
            return tuple(y for x in e.elts for y in (self.evaluate(x.value) if isinstance(x, ast.Starred) else [self.evaluate(x)]))
        if isinstance(e, ast.Subscript):
            values = self.evaluate(e.value)
            if isinstance(e.slice, ast.Slice):
                return values[slice(*(x and self.evaluate(x) for x in (e.slice.lower, e.slice.upper)))]
            return values[self.evaluate(e.slice)]
        if isinstance(e, ast.JoinedStr):
            return "".join(str(self.evaluate(x.value if isinstance(x, ast.FormattedValue) else x)) for x in e.values)
        return ast.literal_eval(e)

    def call(self, e):
        keywords = {k.arg: self.evaluate(k.value) for k in e.keywords}
        if isinstance(e.func, ast.Attribute):  # activations.softmax(…) and the like
            if ast.unparse(e.func.value) == "activations":
                inputs = Layer("InputLayer", [], {"batch_input_shape": (None, *self.names["data_in_shape"])})
                name = e.func.attr
                layer = Layer("Activation", [name], {})
                if "max_value" in keywords or name == "elu" and keywords: layer = Layer({"relu": "ReLU", "elu": "ELU"}[name], [], keywords)
                elif keywords: layer = Layer("LeakyReLU", [], keywords)
                self.names["model"] = [inputs], layer(inputs)
            return None
        if isinstance(e.func, ast.Name) and e.func.id not in self.names:
            kind = e.func.id
            if kind == "enumerate": return list(enumerate(self.evaluate(e.args[0])))
            if kind == "Input":
                return Layer("InputLayer", [], {"batch_input_shape": keywords.get("batch_shape") or (None, *keywords["shape"])})
            if kind == "Model":
                inputs = keywords["inputs"]
                return inputs if isinstance(inputs, list) else [inputs], keywords["outputs"]
            if kind[0].isupper(): return Layer(kind, [self.evaluate(x) for x in e.args], keywords)
        return self.evaluate(e.func)(self.evaluate(e.args[0]))


def in_order(output):
    """The layers as Keras numbers them: the deepest first, at the same depth in the order of the search from the output."""
    depth = {}
    def visit(layer, d):
        depth[layer] = max(d, depth.get(layer, 0))
        for x in layer.inputs: visit(x, d + 1)
    visit(output, 0)
    return sorted(depth, key=lambda layer: -depth[layer])


def write(network, case, folder):
    inputs, output = network
    layers = in_order(output)
    names = {layer: f"{layer.kind.lower()}_{i}" for i, layer in enumerate(layers)}
    described = [{**layer.description(names[layer]), "name": names[layer],
                  "inbound_nodes": [[[names[x], 0, 0, {}] for x in layer.inputs]] if layer.inputs else []} for layer in layers]
    config = {"name": "model_1", "layers": described, "input_layers": [[names[x], 0, 0] for x in inputs],
              "output_layers": [[names[output], 0, 0]]}
    with open(f"{folder}/model.json", "w") as f:
        json.dump({"class_name": "Model", "config": config, "keras_version": "2.0.8", "backend": "tensorflow"}, f)
    arrays = [array(w) for w in case.get("weights", [])]
    with h5py.File(f"{folder}/model.h5", "w") as f:
        f.attrs.update(layer_names=[names[x].encode() for x in layers], backend=b"tensorflow", keras_version=b"2.0.8")
        for layer in layers:
            weights = [f"{names[layer]}/{w}:0" for w in layer.weights()]
            group = f.create_group(names[layer])
            group.attrs["weight_names"] = [w.encode() for w in weights]
            for w in weights: group[w] = arrays.pop(0)
    if arrays: raise ValueError(f"{len(arrays)} weights are left")
    data = case.get("inputs") or [case["input"]]
    arrays = {f"input{1 + i}": array(d)[None] for i, d in enumerate(data)}
    np.savez(f"{folder}/inputs.npz", **arrays)
    np.savez(f"{folder}/expected.npz", output1=array(case["expected"])[None])
    return arrays if any(x.config.get("stateful") for x in layers) else None


def array(stored):
    return np.array(stored["data"], np.float32).reshape(stored["shape"])


def compare(assay, network, case, folder):
    try:
        stateful = write(network, case, folder)
        model, inputs, outputs, expected = [f"{folder}/model.json", f"{folder}/model.h5"], *(
            f"{folder}/{name}.npz" for name in ("inputs", "outputs", "expected"))
        if stateful:  # the states that the first input leaves become inputs
            subprocess.run([assay, "run", *model, inputs, "-o", outputs], check=True, capture_output=True, timeout=60)
            with np.load(outputs) as z:
                states = {name.removesuffix("_out") + "_in": z[name] for name in z.files if name.endswith("_out")}
            np.savez(inputs, **stateful, **states)
        tolerance = ["--rtol", "0", "--atol", str(1e-5 * max(1, *np.abs(case["expected"]["data"])))]
        r = subprocess.run([assay, "diff", *model, inputs, "--expected", expected, *tolerance], capture_output=True, text=True,
                           timeout=60)
    except Exception as e:
        return "broken", f"{type(e).__name__}: {e}"
    lines = [line for line in (r.stderr + r.stdout).splitlines() if line.strip()] or ["no message"]
    text = next((line for line in lines if line.startswith("error:") or "DIFFERS" in line), lines[0])
    return {0: "match", 1: "wrong", 2: "refused" if text.startswith("error:") else "broken"}.get(r.returncode, "broken"), text


def without_network(name, case):
    """What the notebook could not compute with TensorFlow: the layer without arguments."""
    inputs = Layer("InputLayer", [], {"batch_input_shape": (None, *case["input"]["shape"])})
    return [inputs], Layer(name.split(".")[1], [], {})(inputs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("assay"); parser.add_argument("checkout")
    parser.add_argument("--only", action="append", default=[], help="cases whose name contains this text; repeatable")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", help="write the networks here")
    a = parser.parse_args()
    cases, networks = {}, {}
    for path in sorted(glob.glob(f"{a.checkout}/test/data/**/*.json", recursive=True)):
        with open(path) as f: cases.update(json.load(f))
    for path in sorted(glob.glob(f"{a.checkout}/notebooks/**/*.ipynb", recursive=True)):
        networks.update(Notebook(path).networks)
    chosen = [name for name in cases if not a.only or any(text in name for text in a.only)]
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        def judge(name):
            folder = os.path.join(a.keep or scratch, name)
            os.makedirs(folder, exist_ok=True)
            return compare(os.path.abspath(a.assay), networks.get(name) or without_network(name, cases[name]),
                           cases[name], folder)
        results = list(pool.map(judge, chosen))
    totals = {}
    for name, (kind, text) in zip(chosen, results):
        totals[kind] = totals.get(kind, 0) + 1
        if kind != "match": print(f"{kind:8} {name}  {text}")
    print(f"{len(chosen)} layers: " + ", ".join(f"{totals.get(k, 0)} {k}" for k in ("match", "wrong", "refused", "broken")))
    sys.exit(0 if chosen and totals.get("match", 0) == len(chosen) else 1)


main()
