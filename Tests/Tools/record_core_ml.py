"""Runs the scripts that `assay record` prints for Core ML models, with Assay in place of Core ML.

    python3 -m venv venv && venv/bin/pip install coremltools==9.0 'numpy<2' pillow
    export ASSAY_LIBRARY=.build/debug/libAssayLibrary.so PYTHONPATH=Sources/Python
    venv/bin/python Tests/Tools/record_core_ml.py .build/debug/assay [MODEL INPUT…]

Converts each network of Fixtures/corpus, takes some models of Fixtures/on-device, runs their scripts in
this Python, and runs the commands that these print. This shows that the scripts run, that they
name every layer, and that arrays have the axes that `diff` expects. On a Mac, Core ML predicts.
"""

import contextlib
import io
import json
import os
import runpy
import shlex
import subprocess
import sys
import tempfile
import warnings

warnings.filterwarnings("ignore")

import assay.coremltools  # noqa: E402
import numpy as np  # noqa: E402

binary = os.path.abspath(sys.argv[1])
fixtures = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "Fixtures")
failures = []


def run(*words):
    return subprocess.run([binary] + list(words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def check(name, model, inputs):
    """Runs the script and the command that it prints; they stand in this folder."""
    recorded = run("record", model, *inputs, "-o", "record.py")
    if recorded.returncode:
        return failures.append("%s: %s" % (name, recorded.stderr.strip()))
    output = io.StringIO()
    try:
        with contextlib.redirect_stdout(output):
            runpy.run_path("record.py", run_name="__main__")
    except (Exception, SystemExit) as error:
        return failures.append("%s: %s: %s" % (name, type(error).__name__, error))
    lines = output.getvalue().strip().split("\n")
    compared = run(*shlex.split(lines[-1])[1:])
    refused = [line for line in lines if line.startswith("not saved")]
    if compared.returncode or refused:
        return failures.append("%s: %s%s%s" % (name, refused, compared.stdout, compared.stderr))
    print("%s: %d arrays agree" % (name, compared.stdout.count("  agrees  ")), flush=True)


def convert(name, network, inputs, options=()):
    converted = run("convert", *network, "-o", "model.mlmodel", "-q", *options)
    if converted.returncode:
        return failures.append("%s: %s" % (name, converted.stderr.strip()))
    if inputs[0].endswith(".npz"):
        features = json.loads(run("inspect", "model.mlmodel", "--json").stdout)["inputs"]
        arrays = np.load(inputs[0])
        np.savez("inputs.npz", **{
            feature["name"]: arrays[array] for feature, array in zip(features, arrays.files)})
        inputs = ["inputs.npz"]
    check(name, "model.mlmodel", inputs)
    upgraded = run("upgrade", "model.mlmodel", "-o", "model.mlpackage", "-q")
    if upgraded.returncode:
        print("%s: no ML Program: %s" % (name, upgraded.stderr.strip()))
    else:
        check(name + ", as an ML Program", "model.mlpackage", inputs)


def main():
    corpus = os.path.join(fixtures, "corpus")
    for folder, _, files in sorted(os.walk(corpus)):
        if "inputs.npz" not in files:
            continue
        network = ["model.h5"] if "model.h5" in files else ["deploy.prototxt", "model.caffemodel"]
        inputs = [os.path.join(folder, "inputs.npz")]
        convert(os.path.basename(folder).split("__")[0], [os.path.join(folder, file) for file in network], inputs)
    demo = os.path.join(fixtures, "demo")
    picture = [os.path.join(demo, "picture.png")]
    convert("swish", [os.path.join(demo, "swish.h5")], picture, [
        "--preset", "keras-tf", "--image-input", "image", "--input-name", "image",
        "--class-labels", os.path.join(demo, "labels.txt")])
    for name in sorted(os.listdir(os.path.join(fixtures, "on-device"))):
        folder = os.path.join(fixtures, "on-device", name)
        if name.startswith(("flexible", "image", "pipeline")):
            files = sorted(os.listdir(folder))
            model = next(file for file in files if file.startswith("model"))
            inputs = [file for file in files if file.startswith("inputs") or file.endswith(".png")]
            check(name, os.path.join(folder, model), [os.path.join(folder, file) for file in inputs])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        models = [os.path.abspath(path) for path in sys.argv[2:]]
        os.chdir(folder)
        if models:
            check(os.path.basename(models[0]), models[0], models[1:])
        else:
            main()
    print("\n".join(failures))
    sys.exit(bool(failures))
