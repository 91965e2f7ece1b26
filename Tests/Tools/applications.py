#!/usr/bin/env python3
"""Converts the networks of keras.applications at full size and compares them with Keras.

    applications.py ASSAY [--framework keras3|tfkeras] [--keep FOLDER] [NAME ...]

For each network, from Keras 3 (saved as .keras) and from tf_keras (saved as .h5): random weights,
with the statistics of one batch in the normalizations so that no layer's output vanishes, a
prediction in Keras without the last softmax, `assay convert`, `assay diff`. A network matches where
no output is off by more than 1e-4 of the largest. Needs tensorflow, keras and tf_keras; exits with 1
where something does not match."""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

# Name, input's side, range of the input.
NETWORKS = {
    "MobileNet": (224, "unit"), "MobileNetV2": (224, "unit"), "MobileNetV3Small": (224, "byte"),
    "MobileNetV3Large": (224, "byte"), "ResNet50": (224, "unit"), "ResNet50V2": (224, "unit"),
    "InceptionV3": (299, "unit"), "InceptionResNetV2": (299, "unit"), "Xception": (299, "unit"),
    "DenseNet121": (224, "unit"), "NASNetMobile": (224, "unit"), "EfficientNetB0": (224, "byte"),
    "EfficientNetV2B0": (224, "byte"), "ConvNeXtTiny": (224, "byte"), "VGG16": (224, "unit"),
}


def make(name, framework, folder):
    """Saves one network; runs in a process of its own, so that its memory is given back."""
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
    import numpy as np
    keras = __import__({"keras3": "keras", "tfkeras": "tf_keras"}[framework])
    side, scale = NETWORKS[name]
    keras.utils.set_random_seed(1)
    model = getattr(keras.applications, name)(
        weights=None, input_shape=(side, side, 3), classifier_activation=None)
    generator = np.random.default_rng(2)

    def batch(count):
        shape = (count, side, side, 3)
        if scale == "byte":
            return generator.uniform(0, 255, shape).astype("float32")
        return generator.uniform(-1, 1, shape).astype("float32")
    layers = list(model._flatten_layers()) if hasattr(model, "_flatten_layers") else model.layers
    normalizations = [l for l in layers if "BatchNormalization" in type(l).__name__]
    for layer in normalizations:
        layer.momentum = 0.0
    if normalizations:
        model(batch(2), training=True)
    for layer in normalizations:
        layer.momentum = 0.99
    for weight in model.weights:
        path = getattr(weight, "path", weight.name)
        # ConvNeXt scales its branches by 1e-6, which would hide them.
        if "layer_scale" in path:
            weight.assign(generator.uniform(0.1, 0.5, weight.shape).astype("float32"))
        elif path.split("/")[-1].startswith(("bias", "beta")):
            weight.assign(generator.normal(0, 0.05, weight.shape).astype("float32"))
    image = batch(1)
    np.savez(os.path.join(folder, "inputs.npz"), input1=image)
    np.savez(os.path.join(folder, "expected.npz"), output1=model.predict(image, verbose=0))
    model.save(os.path.join(folder, "model.keras" if framework == "keras3" else "model.h5"))


def check(name, framework, folder, assay):
    """The verdict on one network, and the largest error relative to the largest output."""
    import numpy as np
    process = subprocess.run([sys.executable, __file__, "--make", name, framework, folder],
                             capture_output=True, text=True)
    if process.returncode:
        return "NOT MADE", (process.stderr.strip().splitlines() or [""])[-1]
    source = [f for f in os.listdir(folder) if f in ("model.keras", "model.h5")][0]
    model = os.path.join(folder, "model.mlmodel")
    start = time.time()
    process = subprocess.run([assay, "convert", os.path.join(folder, source), "-o", model],
                             capture_output=True, text=True)
    if process.returncode:
        return "REFUSED", process.stderr.strip()[:1500]
    converted = time.time() - start
    with np.load(os.path.join(folder, "expected.npz")) as arrays:
        largest = float(np.abs(arrays["output1"]).max())
    process = subprocess.run(
        [assay, "diff", model, os.path.join(folder, "inputs.npz"), "--expected",
         os.path.join(folder, "expected.npz"), "--atol", repr(1e-4 * largest), "--rtol", "0", "--json"],
        capture_output=True, text=True)
    if process.returncode not in (0, 1):
        return "BROKEN", process.stderr.strip()[:1500]
    report = json.loads(process.stdout.strip().splitlines()[0])
    error = max(float(o["largestAbsoluteError"]) for o in report["outputs"]) / largest
    verdict = "match" if process.returncode == 0 else "DIFFERS"
    return verdict, f"{error:.1e} of {largest:.3g}, converted in {converted:.1f} s"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("assay")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--framework", choices=["keras3", "tfkeras"])
    parser.add_argument("--keep")
    options = parser.parse_intermixed_args()
    failed = 0
    for name in options.names or NETWORKS:
        for framework in [options.framework] if options.framework else ["keras3", "tfkeras"]:
            with tempfile.TemporaryDirectory() as folder:
                if options.keep:
                    folder = os.path.join(options.keep, f"{framework}-{name}")
                    os.makedirs(folder, exist_ok=True)
                verdict, detail = check(name, framework, folder, os.path.abspath(options.assay))
                failed += verdict != "match"
                print(f"{name:18s} {framework:8s} {verdict:8s} {detail}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--make"]:
        make(*sys.argv[2:5])
    else:
        sys.exit(main())
