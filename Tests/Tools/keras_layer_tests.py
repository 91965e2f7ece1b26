#!/usr/bin/env python3
"""Compares Assay with Keras 3 on the networks that Keras's own layer tests describe.

    python3 Tests/Tools/keras_layer_tests.py ASSAY [--format keras|h5] [--least N] [--only TEXT] [--keep FOLDER]

Runs the tests of the installed Keras that call run_layer_test, with that method replaced: each distinct call becomes a
network of one layer with random weights, which is saved with inputs and Keras's prediction, and `assay diff` compares.
An output may differ by 1e-4 of the largest, by 1e-2 if it is in half precision, and by 1/16 with float8, too. Nothing of Keras is copied.

Prints a line for each failure, the refusals by layer and reason, and totals:

  match      the outputs agree
  wrong      they do not
  refused    exit code 2 and an `error:` line
  broken     anything else: a crash, another exit code, or more than 60 s

Two kinds are counted apart: networks with a class or function that a test defines, whose code is not in the file, and
calls of which Keras makes no file. Exit code 1 if any is wrong or broken, or if less than N match.

    python3 -m venv keras3
    keras3/bin/pip install 'keras==3.15.1' 'tensorflow-cpu==2.21.*' h5py pytest scipy
    keras3/bin/python Tests/Tools/keras_layer_tests.py .build/release/assay
"""
import argparse, collections, glob, importlib, inspect, logging, os, re, sys, tempfile, types, unittest, warnings

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", TF_ENABLE_ONEDNN_OPTS="0", CUDA_VISIBLE_DEVICES="-1", KERAS_BACKEND="tensorflow")
import keras, numpy as np
from keras.src import testing, tree
from keras_js import judge
from wild import enliven

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)


def tests():
    """The tests of the installed Keras that call run_layer_test."""
    root = os.path.dirname(keras.__file__)
    for absent in ("grain", "conftest"):  # imported for other tests
        sys.modules.setdefault(absent, types.ModuleType(absent)).skip_if_backend = lambda *_: lambda test: test
    for path in sorted(glob.glob(f"{root}/src/layers/**/*_test.py", recursive=True)):
        with open(path) as f:
            if "run_layer_test" not in f.read(): continue
        module = importlib.import_module(os.path.relpath(path, os.path.dirname(root))[:-3].replace(os.sep, "."))
        for case in unittest.defaultTestLoader.loadTestsFromModule(module):
            for test in case:
                if "run_layer_test" in inspect.getsource(inspect.unwrap(getattr(type(test), test._testMethodName))):
                    yield test


def calls():
    """The calls of run_layer_test: name of the test, and arguments by name."""
    signature, found = inspect.signature(testing.TestCase.run_layer_test), []
    def record(*arguments, **keywords):
        found.append(signature.bind(*arguments, **keywords).arguments)
    testing.TestCase.run_layer_test = record
    for test in tests():
        test.run(unittest.TestResult())
        while found: yield test.id().split(".layers.")[1], found.pop(0)


def random(shape, kind, generator):
    values = generator.normal(0, 1, shape) if kind.startswith("float") else generator.integers(0, 3, shape)
    return values.astype(kind)


def network(call, fixed_batch):
    """A model of the layer, and its inputs."""
    keras.backend.clear_session()
    keras.utils.set_random_seed(1)
    generator = np.random.default_rng(2)
    data, shapes = call.get("input_data"), call.get("input_shape")
    if data is None:
        kinds = call.get("input_dtype") or tree.map_shape_structure(lambda _: "float32", shapes)
        data = testing.test_case.map_shape_dtype_structure(lambda s, k: random(s, k, generator), shapes, kinds)
        if isinstance(data, dict): data = {name.removesuffix("_shape"): x for name, x in data.items()}
    data = tree.map_structure(keras.ops.convert_to_numpy, data)
    def tensor(x):
        shape = {"batch_shape": x.shape} if fixed_batch else {"shape": x.shape[1:]}
        return keras.Input(dtype=str(x.dtype), sparse=bool(call.get("input_sparse")), ragged=bool(call.get("input_ragged")),
                           **shape)
    inputs = tree.map_structure(tensor, data)
    layer = call["layer_cls"](**(call.get("init_kwargs") or {}))
    options = call.get("call_kwargs") or {}
    outputs = layer(**inputs, **options) if isinstance(inputs, dict) else layer(inputs, **options)
    model = keras.Model(tree.flatten(inputs), outputs)
    enliven(model, generator)
    return model, tree.flatten(data)


def write(call, folder, kind):
    """Writes the network, its inputs and Keras's prediction; the configuration without names, and the tolerance."""
    try:
        model, data = network(call, False)
    except Exception:  # a stateful layer, for example
        model, data = network(call, True)
    outputs = [keras.ops.convert_to_numpy(x) for x in tree.flatten(model(data, training=False))]
    half = any(str(x.dtype) in ("float16", "bfloat16") for x in outputs)
    outputs = [x.astype("float32") if str(x.dtype) in ("float16", "bfloat16") else x for x in outputs]
    model.save(f"{folder}/model.{kind}")
    np.savez(f"{folder}/inputs.npz", **{f"input{i + 1}": x for i, x in enumerate(data)})
    np.savez(f"{folder}/expected.npz", **{f"output{i + 1}": x for i, x in enumerate(outputs)})
    largest = max((float(np.abs(x).max()) for x in outputs if x.size and x.dtype.kind in "fiu"), default=1)
    text = re.sub(r'"name": "[^"]*"|keras_tensor_?\d*', "", model.to_json())
    # Sums in half precision may round an input to the next number of 8 bits, 1/16 away.
    return text, largest * ((1 / 16 if "float8" in text else 1e-2) if half else 1e-4)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("assay")
    parser.add_argument("--format", choices=["keras", "h5"], default="keras")
    parser.add_argument("--least", type=int, default=1, help="how many must match")
    parser.add_argument("--only", action="append", default=[], help="tests whose name contains this text; repeatable")
    parser.add_argument("--keep", help="write the networks here")
    a = parser.parse_args()
    seen, totals, custom, unmade, refusals = set(), *(collections.Counter() for _ in range(3)), {}
    with tempfile.TemporaryDirectory() as scratch:
        for name, call in calls():
            if a.only and not any(text in name for text in a.only): continue
            layer = call["layer_cls"].__name__
            folder = os.path.join(a.keep or scratch, f"{layer}-{len(seen)}")
            os.makedirs(folder, exist_ok=True)
            try:
                configuration, tolerance = write(call, folder, a.format)
            except Exception as e:
                unmade[f"{layer}  {type(e).__name__}: {str(e).splitlines()[0][:120]}"] += 1
                continue
            if configuration in seen: continue
            seen.add(configuration)
            kind, text = judge(os.path.abspath(a.assay), [f"{folder}/model.{a.format}"], folder, tolerance)
            own = re.search(r'"module": "[^"]*_test"|"class_name": "function"', configuration)
            (custom if own else totals)[kind] += 1
            if kind == "refused":
                reason = re.sub(r"^error: .*?layer '[^']*'( \(.*?\))?: | \(vars/.*| \([a-z_\d]+/.*", "", text)
                refusals.setdefault((bool(own), layer, reason), []).append(os.path.basename(folder))
            elif kind != "match":
                print(f"{kind:8} {os.path.basename(folder)}  {name}  {text}", flush=True)
    for (own, layer, reason), folders in refusals.items():
        print(f"refused {len(folders):3} {'of a test ' if own else ''}{layer}  {reason}  ({folders[0]})")
    for text, count in unmade.items(): print(f"no file {count:3} {text}")
    def counts(c): return ", ".join(f"{c[k]} {k}" for k in ("match", "wrong", "refused", "broken"))
    print(f"with code of the tests: {custom.total()} networks: {counts(custom)}")
    print(f"{totals.total()} networks: {counts(totals)}")
    both = totals + custom
    sys.exit(1 if both["wrong"] or both["broken"] or totals["match"] < a.least else 0)


main()
