"""Makes the models in this folder with Assay, and what Assay computes from them.

    python3 Fixtures/on-device/make.py .build/debug/assay

Needs NumPy and Pillow. The inputs are those of the networks' own fixtures, in the order of axes that Core
ML takes. The values in `assay.npz` are Assay's: `run.py` compares them with Core ML's on a Mac.
"""

import json
import os
import shutil
import subprocess
import sys

import numpy as np
from PIL import Image

here = os.path.dirname(os.path.abspath(__file__))
fixtures = os.path.dirname(here)
corpus = os.path.join(fixtures, "corpus")
assay = os.path.abspath(sys.argv[1])
work = os.path.join(here, ".work")

# Networks of the corpus, by the name of their model here, with options for `convert`.
networks = {
    "convolution": "keras1/keras_numeric.KerasNumericCorrectnessStressTest.test_conv_layer_params__009_ef74ab",
    "depthwise": "keras/extra.conv2d_sep_dil__000_339c34",
    "deconvolution": "keras/extra.conv2d_t_outpad__000_027d71",
    "cropping": "keras/extra.conv1d_crop__000_e24f0a",
    "padding": "keras/extra.conv1d_zp_flat_dense__000_7ad9cc",
    "average-pooling": "keras/extra.conv2d_ap__000_353b6c",
    "maximum-pooling": "keras1/keras_numeric.KerasBasicNumericCorrectnessTest.test_max_pooling_overlap_odd__000_f1dcbe",
    "global-pooling": "keras/extra.conv2d_gmp_flat_dense__000_1a9558",
    "upsampling-bilinear": "keras/extra.conv2d_up_bilinear__000_65d6a4",
    "upsampling-nearest": "keras/extra.conv1d_up_flat_dense__000_987063",
    "permute": "keras/extra.permute_321__000_f6c713",
    "reshape": "caffe/layer_reshape",
    "lstm": "keras/extra.net_seq2seq__000_ab016a",
    "gru": "keras/simple_recurrent_single_layer.GRULayer.test_keras2_gru_layer_stress__002_b5aab2",
    "bidirectional-lstm": "keras/extra.bidir_sum_0__000_39048e",
    "simple-rnn": "keras/extra.simplernn_td_dense__000_db524f",
    "embedding": "keras/extra.embedding_conv1d__000_bbde5d",
    "batch-norm": "keras/extra.bn_after_conv_nobias_relu6__000_1bbe1f",
    "softmax": "keras/extra.adv_softmax__000_0170a0",
    "prelu": "caffe/layer_prelu",
    "lrn": "caffe/layer_lrn_alexnet",
    "mvn": "caffe/layer_mvn",
    "broadcast": "keras/extra.squeeze_excite_broadcast__000_fda925",
    "dot": "keras/extra.merge_dot__000_04a46b",
    "concat": "caffe/layer_concat",
}

# Models that are made from others.
variants = {
    "program": ["upgrade", "convolution"],
    "program-float16": ["upgrade", "convolution", "--precision", "float16"],
    "program-lstm": ["upgrade", "bidirectional-lstm"],
    "program-classifier": ["upgrade", "classifier"],
    "linear-8": ["compress", "classifier", "--bits", "8"],
    "palette-4": ["compress", "classifier", "--bits", "4", "--mode", "kmeans_lut"],
}


def run(*words):
    result = subprocess.run([assay] + list(words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if result.returncode:
        sys.exit("assay %s\n%s" % (" ".join(words), result.stderr))
    return result.stdout


def place(name, kind):
    """A new folder for a model, and the model's path."""
    folder = os.path.join(here, name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    return folder, os.path.join(folder, "model" + kind)


def finish(folder, model, inputs):
    """Saves the inputs as Core ML takes them, and the outputs that Assay computes from them."""
    script = run("record", model, *inputs)
    # What the script predicts from; the rest needs Core ML.
    start = script.split('"""', 2)[2].split("UNITS =")[0].replace("import coremltools as ct\n", "")
    found = {}
    exec(start, found)
    arrays, words = {}, [word for word in inputs if word.endswith(".json")]
    for name, value in found["INPUTS"].items():
        if isinstance(value, np.ndarray):
            arrays[name] = value
        elif hasattr(value, "save"):
            path = os.path.join(folder, name + ".png")
            value.save(path)
            words.append("%s=%s" % (name, path))
    if arrays:
        path = os.path.join(folder, "inputs.npz")
        np.savez_compressed(path, **arrays)
        words.append(path)
    interface = json.loads(run("inspect", model, "--json"))
    if interface["classLabels"]:
        write_json(interface["classLabels"], folder, "labels.json")
    for output in interface["outputs"]:
        if output["kind"] != "string":
            words += ["--feature", output["name"]]
    run("run", model, *words, "--layout", "coreml", "-q", "-o", os.path.join(folder, "assay.npz"))


def write_json(value, folder, name):
    with open(os.path.join(folder, name), "w") as file:
        json.dump(value, file)
        file.write("\n")


def renamed(path, features, result):
    """A copy of a file of arrays with the names of a model's features, in the order of both."""
    with np.load(path) as arrays:
        np.savez(result, **{feature["name"]: arrays[name] for feature, name in zip(features, arrays.files)})
    return result


def caffe(name, channels, layer):
    """The path of a network of one layer for images of 64 x 64."""
    path = os.path.join(work, name + ".prototxt")
    with open(path, "w") as file:
        file.write("""
            layer { name: "data" type: "Input" top: "data"
              input_param { shape { dim: 1 dim: %d dim: 64 dim: 64 } } }
            layer { name: "result" bottom: "data" top: "result" %s }
            """ % (channels, layer))
    return path


def main():
    os.makedirs(work, exist_ok=True)
    made = {}

    def make(name, command, inputs, kind=".mlmodel"):
        folder, model = place(name, kind)
        run(*command, "-o", model, "-q")
        finish(folder, model, inputs)
        made[name] = inputs

    for name, path in networks.items():
        source = os.path.join(corpus, path)
        network = ["model.h5"] if path.startswith("keras") else ["deploy.prototxt", "model.caffemodel"]
        command = ["convert"] + [os.path.join(source, file) for file in network]
        folder, model = place(name, ".mlmodel")
        run(*command, "-o", model, "-q")
        features = json.loads(run("inspect", model, "--json"))
        made[name] = [renamed(os.path.join(source, "inputs.npz"), features["inputs"], os.path.join(work, name + ".npz"))]
        # What Keras or Caffe computes.
        expected = os.path.join(source, "expected.npz")
        expected = renamed(expected, features["outputs"], os.path.join(work, "expected.npz"))
        run("diff", model, *made[name], "--expected", expected)
        finish(folder, model, made[name])

    demo = os.path.join(fixtures, "demo")
    picture = [os.path.join(demo, "picture.png")]
    swish = ["convert", os.path.join(demo, "swish.h5")]
    scale = ["--image-scale", "1/127.5", "--red-bias=-1", "--green-bias=-1", "--blue-bias=-1"]
    names = ["--image-input", "image", "--input-name", "image", "--output-name", "color"]
    make("classifier", swish + names + scale + ["--class-labels", os.path.join(demo, "labels.txt")], picture)
    make("image-bgr", swish + names + [
        "--color", "bgr", "--image-scale", "0.0125", "--red-bias=-1.5", "--green-bias=-1.25", "--blue-bias=0.5"], picture)
    blur = caffe("blur", 3, 'type: "Pooling" pooling_param { pool: AVE kernel_size: 3 stride: 1 pad: 1 }')
    make("image-output", ["convert", blur, "--image-input", "data", "--image-output", "result"], picture)
    largest = caffe("largest", 1, 'type: "Pooling" pooling_param { pool: MAX kernel_size: 5 stride: 3 }')
    make("image-gray", ["convert", largest, "--image-input", "data"], picture)
    for name, (command, base, *options) in variants.items():
        kind = ".mlpackage" if command == "upgrade" else ".mlmodel"
        make(name, [command, os.path.join(here, base, "model.mlmodel")] + options, made[base], kind)
        if base == "classifier":
            shutil.copy(os.path.join(here, base, "labels.json"), os.path.join(here, name))
    wide = os.path.join(work, "wide.png")
    Image.open(picture[0]).resize((96, 48)).save(wide)
    gray = os.path.join(here, "image-gray", "model.mlmodel")
    make("flexible-image", ["edit", gray, "--shape-range", "data=64:128,48:64"], [wide])
    folder, model = place("pipeline", ".mlmodel")
    source = os.path.join(fixtures, "feature-models", "pipeline")
    shutil.copy(os.path.join(source, "model.mlmodel"), model)
    with open(os.path.join(source, "cases.json")) as cases:
        write_json(json.load(cases)[0]["inputs"], folder, "inputs.json")
    finish(folder, model, [os.path.join(folder, "inputs.json")])
    shutil.rmtree(work)


main()
