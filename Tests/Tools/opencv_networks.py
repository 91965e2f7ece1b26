#!/usr/bin/env python3
"""opencv_networks.py ASSAY FOLDER — public networks as ONNX beside OpenCV 4's own importers.

FOLDER is what `public_networks.py collect` made. Each network gets random weights, written as a .caffemodel or .weights
file. Assay converts it to ONNX, ONNX Runtime runs that, OpenCV's Caffe or Darknet importer reads the same two files, and
the outputs are compared: it matches where none is off by more than 1e-3 of the largest value. A network that OpenCV
cannot read or run is not counted. Exits with 1 below 97 %.
Needs numpy, onnxruntime and "opencv-python-headless<5".

  --only TEXT     networks whose name contains it
  --count N       stop after N comparisons (default 200)
  --table FILE    one line a network: result, name, largest error or message
"""
import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "Fixtures", "darknet"))
TOLERANCE = 1e-3
FUNCTIONS = ("logistic", "relu", "leaky", "mish", "swish", "tanh", "elu")
LARGEST = 160 << 20  # parameters
GENERATOR = np.random.default_rng(20261127)


class Refused(Exception):
    """The network is not compared: who refuses it, and why."""


# Weights

def weights(kind, *shape):
    if kind == "variance":
        return GENERATOR.uniform(0.5, 1.5, shape).astype(np.float32)
    if kind == "factor":
        return GENERATOR.uniform(0.7, 1.3, shape).astype(np.float32)
    if kind == "offset":
        return GENERATOR.normal(0, 0.1, shape).astype(np.float32)
    spread = (1.3 / np.prod(shape[1:])) ** 0.5
    return (spread * GENERATOR.standard_normal(shape, np.float32)).astype(np.float32)


def parsed(text):
    """A .prototxt as a list of (field, text or list)."""
    tokens = iter(re.findall(r'"[^"]*"|\'[^\']*\'|[{}\[\],;:]|[^\s{}\[\],;:"\']+', re.sub(r"#.*", "", text)))

    def message():
        fields = []
        for name in tokens:
            if name == "}":
                break
            if name in ";,":
                continue
            token = next(tokens)
            if token == ":":
                token = next(tokens)
            if token == "{":
                fields.append((name, message()))
            elif token == "[":
                for token in tokens:
                    if token == "]":
                        break
                    if token != ",":
                        fields.append((name, token.strip("\"'")))
            else:
                fields.append((name, token.strip("\"'")))
        return fields
    return message()


def field(message, *path, default=None):
    for name in path:
        found = [value for key, value in message or [] if key == name]
        message = found[-1] if found else None
    return default if message is None else message


def every(message, name):
    return [value for key, value in message or [] if key == name]


def caffe_weights(network, layers):
    """The blobs of each layer, by its name. `layers` are those of `assay inspect`, for sizes that other layers change."""
    sizes = {layer["name"]: layer for layer in layers}
    channels, blobs = {}, {}
    dims = [int(dim) for dim in every(network, "input_dim")]
    shapes = [dims[i:i + 4] for i in range(0, len(dims), 4)] or [
        [int(dim) for dim in every(shape, "dim")] for shape in every(network, "input_shape")]
    channels.update({name: shape[1] for name, shape in zip(every(network, "input"), shapes) if len(shape) > 1})
    for layer in every(network, "layer") + every(network, "layers"):
        name, kind = field(layer, "name", default=""), field(layer, "type", default="").upper().replace("_", "")
        bottoms, tops = every(layer, "bottom"), every(layer, "top")
        count = channels.get(bottoms[0], 0) if bottoms else 0
        entry = (sizes.get(name, {}).get("inputShapes") or [[]])[0] or []
        if len(entry) > 2:
            count = entry[-3]
        if kind == "INPUT":
            dims = [int(dim) for dim in every(field(layer, "input_param", "shape"), "dim")]
            count = dims[1] if len(dims) > 1 else 0
        elif kind in ("CONVOLUTION", "DECONVOLUTION", "CONVOLUTIONDEPTHWISE", "DEPTHWISECONVOLUTION"):
            own = field(layer, "convolution_param")
            out, group = int(field(own, "num_output")), int(field(own, "group", default=1))
            if "DEPTHWISE" in kind:
                group = out
            kernel = [int(size) for size in every(own, "kernel_size")] or [
                int(field(own, "kernel_h")), int(field(own, "kernel_w"))]
            kernel = kernel * (2 if len(kernel) == 1 else 1)
            shape = (count, out // group) if kind == "DECONVOLUTION" else (out, count // group)
            blobs[name] = [weights("weight", *shape, *kernel)]
            if field(own, "bias_term", default="true") != "false":
                blobs[name].append(weights("offset", out))
            count = out
        elif kind == "INNERPRODUCT":
            own = field(layer, "inner_product_param")
            out = int(field(own, "num_output"))
            found = [stored["shape"] for stored in sizes.get(name, {}).get("weights", []) if stored["name"] == "weights"]
            if not found:
                raise Refused(f"the size of {name} is unknown")
            blobs[name] = [weights("weight", out, int(np.prod(found[0])) // out)]
            if field(own, "bias_term", default="true") != "false":
                blobs[name].append(weights("offset", out))
            count = out
        elif kind == "REORG":
            count *= int(field(layer, "reorg_param", "stride", default=2)) ** 2
        elif kind == "BATCHNORM":
            blobs[name] = [weights("offset", count), weights("variance", count), np.ones(1, np.float32)]
        elif kind == "SCALE" and len(bottoms) == 1:
            blobs[name] = [weights("factor", count)]
            if field(layer, "scale_param", "bias_term", default="false") == "true":
                blobs[name].append(weights("offset", count))
        elif kind == "BIAS":
            blobs[name] = [weights("offset", count)]
        elif kind == "PRELU":
            shared = field(layer, "prelu_param", "channel_shared", default="false") == "true"
            blobs[name] = [weights("offset", 1 if shared else count)]
        elif kind == "NORMALIZE":
            shared = field(layer, "norm_param", "channel_shared", default="true") == "true"
            blobs[name] = [10 * weights("factor", 1 if shared else count)]
        elif kind == "CONCAT":
            if int(field(layer, "concat_param", "axis", default=field(layer, "concat_param", "concat_dim", default=1))) == 1:
                count = sum(channels.get(bottom, 0) for bottom in bottoms)
        elif kind == "SLICE" and int(field(layer, "slice_param", "axis", default=1)) == 1:
            points = [0] + [int(point) for point in every(field(layer, "slice_param"), "slice_point")] + [count]
            if len(points) != len(tops) + 1:
                points = [count * i // len(tops) for i in range(len(tops) + 1)]
            for top, start, end in zip(tops, points, points[1:]):
                channels[top] = end - start
            continue
        for top in tops:
            channels[top] = count
    return blobs


def varint(value):
    data = b""
    while value > 127:
        data += bytes([value & 127 | 128])
        value >>= 7
    return data + bytes([value])


def chunk(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def write_caffe(blobs, path):
    """NetParameter: layer = 100; LayerParameter: name = 1, blobs = 7; BlobProto: data = 5, shape = 7."""
    with open(path, "wb") as file:
        for name, arrays in blobs.items():
            data = chunk(1, name.encode())
            for array in arrays:
                shape = chunk(1, b"".join(varint(size) for size in array.shape))
                data += chunk(7, chunk(7, shape) + chunk(5, array.tobytes()))
            file.write(chunk(100, data))


def write_darknet(sections, layers, path):
    """Of each convolution: biases, then scales, means and variances, then weights."""
    shapes = [stored["shape"] for layer in layers for stored in layer["weights"]
              if stored["name"] == "weights" and layer["type"] in ("convolution", "innerProduct")]
    with open(path, "wb") as file:
        file.write(np.array([0, 2, 0], "<i4").tobytes() + np.array([640], "<i8").tobytes())
        for kind, own in sections:
            if kind not in ("convolutional", "connected"):
                continue
            shape = shapes.pop(0)
            isNormalized = own.get("batch_normalize", "0") != "0"
            normal = [weights("factor", shape[0]), weights("offset", shape[0]), weights("variance", shape[0])]
            # Logits of hundreds would leave nothing to compare behind a sigmoid.
            factor = np.float32(1 if isNormalized else 0.1)
            parts = [weights("offset", shape[0])]
            if kind == "convolutional":
                parts += (normal if isNormalized else []) + [factor * weights("weight", *shape)]
            else:
                parts += [factor * weights("weight", *shape)] + (normal if isNormalized else [])
            for part in parts:
                file.write(part.tobytes())


# Outputs

def opencv_names(network, kind, path, outputs):
    """The layers of OpenCV that give our outputs."""
    known = set(network.getLayerNames())
    names = {}
    if kind == "deploy":
        with open(path, errors="replace") as file:
            message = parsed(file.read())
        layers = every(message, "layer") + every(message, "layers")
        for output in outputs:
            # Ours are before the layers that decode boxes, which are not in a model.
            made = [field(layer, "name") for layer in layers if output in every(layer, "top")]
            names[output] = next((name for name in reversed(made) if name in known), None)
    else:
        for output in outputs:
            number = int(re.findall(r"\d+", output)[-1])
            if output.startswith(("yolo", "region", "gaussian", "detection")):
                number -= 1  # The grid before the decoding.
            # OpenCV gives a function the number of the next layer.
            found = [f"{name}_{number + 1}" for name in FUNCTIONS if f"{name}_{number + 1}" in known]
            found += [name for name in network.getLayerNames() if re.fullmatch(rf"[a-z_]+_{number}", name)][::-1]
            names[output] = found[0] if found else None
    return names


def compare(assay, kind, path, folder):
    import cv2
    import onnxruntime
    stem = os.path.join(folder, "network")
    placed = stem + (".prototxt" if kind == "deploy" else ".cfg")
    with open(path, errors="replace") as file:
        text = file.read()
    with open(placed, "w") as file:
        file.write(text)
    options = []
    for _ in range(2):
        done = subprocess.run([assay, "inspect", "--json", placed, *options], capture_output=True, text=True)
        asked = re.search(r"input '([^']+)' is declared with 1", done.stderr)
        if not done.returncode or not asked:
            break
        options = ["--input-shape", asked[1] + "=1,3,368,368"]
    if done.returncode:
        raise Refused("assay: " + next((line for line in done.stderr.splitlines() if "error" in line), "?"))
    layers = json.loads(done.stdout)["layers"]
    count = sum(layer["parameters"] for layer in layers)
    if count > LARGEST:
        raise Refused(f"{count} parameters")
    stored = stem + (".caffemodel" if kind == "deploy" else ".weights")
    if kind == "deploy":
        write_caffe(caffe_weights(parsed(text), layers), stored)
    else:
        if re.search(r"^xnor *= *1", text, re.M):
            raise Refused("opencv: it ignores xnor")
        from reference import parse
        write_darknet(parse(text), layers, stored)
    done = subprocess.run([assay, "convert", placed, stored, "-o", stem + ".onnx", *options],
                          capture_output=True, text=True)
    if done.returncode:
        raise Refused("assay: " + next((line for line in done.stderr.splitlines() if "error" in line), "?"))
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(stem + ".onnx", settings, providers=["CPUExecutionProvider"])
    cv2.setNumThreads(1)
    inputs = {}
    for value in session.get_inputs():
        shape = [size if isinstance(size, int) else 1 for size in value.shape]
        inputs[value.name] = GENERATOR.uniform(-1 if kind == "deploy" else 0, 1, shape).astype(np.float32)
    outputs = [value.name for value in session.get_outputs()]
    try:
        network = cv2.dnn.readNetFromCaffe(placed, stored) if kind == "deploy" else \
            cv2.dnn.readNetFromDarknet(placed, stored)
        network.setPreferableBackend(cv2.dnn.DNN_BACKEND_OPENCV)
        network.enableWinograd(False)
        for name, array in inputs.items():
            network.setInput(array, name if len(inputs) > 1 else "")
        names = opencv_names(network, kind, path, outputs)
        common = [output for output in outputs if names[output]]
        if not common:
            raise Refused(f"opencv: no layer gives {', '.join(outputs)}")
        theirs = network.forward([names[output] for output in common])
    except cv2.error as error:
        raise Refused("opencv: " + " ".join(str(error).split())[:200]) from None
    ours = dict(zip(outputs, session.run(None, inputs)))
    worst = 0.0
    for output, array in zip(common, theirs):
        array = np.asarray(array)
        if array.size != ours[output].size:
            raise Refused(f"shape: {output}: {ours[output].shape}, {array.shape} of OpenCV")
        largest = float(np.abs(array).max())
        error = float(np.abs(ours[output].ravel() - array.ravel()).max())
        worst = max(worst, error / largest if largest else error)
    return worst, ours, dict(zip(common, theirs))


def single(assay, kind, path):
    """One network, in a process of its own, since any of the three may crash."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            worst, _, _ = compare(assay, kind, path, folder)
            print(f"{'match' if worst <= TOLERANCE else 'differs'}\t{worst:.1e}")
        except Refused as reason:
            who, _, why = str(reason).partition(": ")
            print(f"{who if why else 'skipped'}\t{why or who}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("assay")
    parser.add_argument("folder")
    parser.add_argument("--only")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--table", default=os.devnull)
    arguments = parser.parse_args()
    assay = os.path.abspath(arguments.assay)
    if os.path.isfile(arguments.folder):
        return single(assay, "cfg" if arguments.folder.endswith(".cfg") else "deploy", arguments.folder)
    files = [name for name in sorted(os.listdir(arguments.folder)) if name.endswith((".cfg", ".prototxt"))
             and (arguments.only or "") in name]
    random.Random(1).shuffle(files)
    counts = {}
    with open(arguments.table, "a") as table:
        for name in files:
            try:
                done = subprocess.run([sys.executable, __file__, assay, os.path.join(arguments.folder, name)],
                                      capture_output=True, text=True, timeout=240)
                result = done.stdout.strip() or "broken\t" + " ".join(done.stderr.split())[-300:]
            except subprocess.TimeoutExpired:
                result = "skipped\ttoo slow"
            kind = result.split("\t")[0]
            counts[kind] = counts.get(kind, 0) + 1
            print(f"{result}\t{name}", file=table, flush=True)
            if kind not in ("match", "skipped", "opencv"):
                print(result, name, flush=True)
            if counts.get("match", 0) + counts.get("differs", 0) + counts.get("shape", 0) >= arguments.count:
                break
    compared = sum(counts.get(kind, 0) for kind in ("match", "differs", "shape", "broken"))
    print(f"{compared} compared: {counts.get('match', 0)} match; not compared: {counts}")
    return 0 if counts.get("match", 0) >= 0.97 * compared else 1


if __name__ == "__main__":
    sys.exit(main())
