#!/usr/bin/env python3
"""edits.py ASSAY FOLDER...: every edit on every .mlmodel below the folders that it fits.

Each edit is made by `assay edit` and, on the decoded protobuf message, here; the two must be the same
message, field by field, and the same size, unknown fields included. Then the file is inspected and,
where the model ran before the edit, run. Needs coremltools, numpy and Pillow.
"""

import copy
import os
import subprocess
import sys
import tempfile

import numpy
from coremltools.proto import FeatureTypes_pb2, Model_pb2
from PIL import Image

NETWORKS = ("neuralNetwork", "neuralNetworkClassifier", "neuralNetworkRegressor")


def load(path):
    message = Model_pb2.Model()
    with open(path, "rb") as file:
        message.ParseFromString(file.read())
    return message


def network(model):
    kind = model.WhichOneof("Type")
    return getattr(model, kind) if kind in NETWORKS else None


def members(model):
    kind = model.WhichOneof("Type")
    if kind == "pipeline":
        return list(model.pipeline.models)
    if kind in ("pipelineClassifier", "pipelineRegressor"):
        return list(getattr(model, kind).pipeline.models)
    return []


def everywhere(model, change):
    change(model)
    for member in members(model):
        everywhere(member, change)


def features(model):
    return list(model.description.input) + list(model.description.output)


# The edits: a name, and a function of a message that gives the options of `assay edit` and changes
# the message itself, or gives None where the edit does not fit.


def metadata(model):
    model.description.metadata.author = "somebody"
    model.description.metadata.userDefined["key of mine"] = "value"
    return ["--author", "somebody", "--metadata", "key of mine=value"]


def description(model):
    model.description.input[0].shortDescription = "what it is"
    return ["--input-description", model.description.input[0].name + "=what it is"]


def rename(old, new):
    def change(model):
        def one(message):
            for feature in features(message) + list(message.description.trainingInput):
                if feature.name == old:
                    feature.name = new
            for field in ("predictedFeatureName", "predictedProbabilitiesName"):
                if getattr(message.description, field) == old:
                    setattr(message.description, field, new)
            inner = network(message)
            if inner is None:
                return
            for layer in inner.layers:
                for blobs in (layer.input, layer.output):
                    blobs[:] = [new if blob == old else blob for blob in blobs]
            for step in inner.preprocessing:
                if step.featureName == old:
                    step.featureName = new
            if inner.HasField("updateParams"):
                for loss in inner.updateParams.lossLayers:
                    kind = getattr(loss, loss.WhichOneof("LossLayerType"))
                    for field in ("input", "target"):
                        if getattr(kind, field) == old:
                            setattr(kind, field, new)
            if message.WhichOneof("Type") == "neuralNetworkClassifier":
                if inner.labelProbabilityLayerName == old:
                    inner.labelProbabilityLayerName = new

        everywhere(model, one)
        return ["--rename", old + "=" + new]

    return change


def rename_input(model):
    return rename(model.description.input[0].name, "renamed input")(model)


def rename_output(model):
    return rename(model.description.output[0].name, "renamed output")(model)


def exchange_names(model):
    """An input and an output change names, by way of no third."""
    a, b = model.description.input[0].name, model.description.output[0].name
    for old, new in ((a, "\0"), (b, a), ("\0", b)):
        rename(old, new)(model)
    return ["--rename", a + "=" + b, "--rename", b + "=" + a]


def array_type(model):
    arrays = [f for f in features(model) if f.type.HasField("multiArrayType")]
    if not arrays:
        return None
    for feature in arrays:
        feature.type.multiArrayType.dataType = FeatureTypes_pb2.ArrayFeatureType.FLOAT32
    return ["--array-type", "float32"]


def half_arrays(model):
    arrays = [f for f in features(model) if f.type.HasField("multiArrayType")]
    if not arrays:
        return None
    name = arrays[0].name
    for feature in arrays:
        if feature.name == name:
            feature.type.multiArrayType.dataType = FeatureTypes_pb2.ArrayFeatureType.FLOAT16
    model.specificationVersion = max(model.specificationVersion, 7)
    return ["--array-type", name + "=float16"]


def optional(model):
    name = model.description.input[0].name

    def one(message):
        for feature in message.description.input:
            if feature.name == name:
                feature.type.isOptional = True

    everywhere(model, one)
    return ["--optional", name]


def bgr(model):
    names = [f.name for f in model.description.input if f.type.HasField("imageType")]
    if not names:
        return None

    def one(message):
        for feature in features(message):
            if feature.name == names[0]:
                feature.type.imageType.colorSpace = FeatureTypes_pb2.ImageFeatureType.BGR

    everywhere(model, one)
    return ["--color", names[0] + "=bgr"]


def scaler(model):
    inner = network(model)
    if inner is None or not inner.preprocessing:
        return None
    name = [f.name for f in model.description.input if f.type.HasField("imageType")][0]
    inner.preprocessing[0].scaler.channelScale = numpy.float32(1 / 255)
    inner.preprocessing[0].scaler.redBias = -1.5
    return ["--image-scale", name + "=1/255", "--red-bias", name + "=-1.5"]


def image_as_array(model):
    inner = network(model)
    names = [f.name for f in model.description.input if f.type.HasField("imageType")]
    if inner is None or not names:
        return None
    for feature in model.description.input:
        if feature.name == names[0]:
            image = copy.deepcopy(feature.type.imageType)
            array = feature.type.multiArrayType
            channels = 1 if image.colorSpace == FeatureTypes_pb2.ImageFeatureType.GRAYSCALE else 3
            array.shape.extend([channels, image.height, image.width])
            array.dataType = FeatureTypes_pb2.ArrayFeatureType.DOUBLE
    del inner.preprocessing[:]
    return ["--array", names[0]]


def array_as_image(model):
    inner = network(model)
    if inner is None:
        return None
    for feature in model.description.input:
        shape = list(feature.type.multiArrayType.shape)
        if len(shape) == 3 and shape[0] in (1, 3) and all(shape):
            image = feature.type.imageType
            image.height, image.width = shape[1:]
            gray, rgb = (
                FeatureTypes_pb2.ImageFeatureType.GRAYSCALE,
                FeatureTypes_pb2.ImageFeatureType.RGB,
            )
            image.colorSpace = rgb if shape[0] == 3 else gray
            step = inner.preprocessing.add()
            step.featureName = feature.name
            step.scaler.channelScale = 1
            return ["--image-input", feature.name]
    return None


def shape_range(model):
    if network(model) is None:
        return None
    feature = model.description.input[0]
    if feature.type.HasField("imageType"):
        image = feature.type.imageType
        size = image.imageSizeRange
        size.widthRange.lowerBound, size.widthRange.upperBound = image.width, 2 * image.width
        size.heightRange.lowerBound, size.heightRange.upperBound = image.height, -1
        text = f"{image.width}:{2 * image.width},{image.height}:"
    else:
        array = feature.type.multiArrayType
        if 0 in array.shape or array.WhichOneof("ShapeFlexibility"):
            return None
        bounds = []
        for axis, size in enumerate(array.shape):
            is_inner = axis > 0 and len(array.shape) > 2
            bounds.append((size, 2 * size if is_inner else size))
        for low, high in bounds:
            item = array.shapeRange.sizeRanges.add()
            item.lowerBound, item.upperBound = low, high
        text = ",".join(str(low) if low == high else f"{low}:{high}" for low, high in bounds)
    model.specificationVersion = max(model.specificationVersion, 3)
    return ["--shape-range", feature.name + "=" + text]


def allowed_shapes(model):
    if network(model) is None:
        return None
    feature = model.description.input[0]
    if feature.type.HasField("imageType"):
        image = feature.type.imageType
        own = [image.width, image.height]
        other = [2 * image.width, 2 * image.height]
        for size in (own, other):
            item = image.enumeratedSizes.sizes.add()
            item.width, item.height = size
    else:
        array = feature.type.multiArrayType
        if 0 in array.shape or len(array.shape) < 3:
            return None
        own = list(array.shape)
        other = own[:-2] + [2 * own[-2], 2 * own[-1]]
        for shape in (own, other):
            array.enumeratedShapes.shapes.add().shape.extend(shape)
    model.specificationVersion = max(model.specificationVersion, 3)
    return ["--allow-shape", feature.name + "=" + ",".join(map(str, other))]


def updatable(model):
    if not model.isUpdatable:
        return None
    model.isUpdatable = False
    del model.description.trainingInput[:]
    inner = network(model)
    inner.ClearField("updateParams")
    for layer in inner.layers:
        layer.isUpdatable = False
        kind = getattr(layer, layer.WhichOneof("layer"))
        for field in ("weights", "bias"):
            if kind.HasField(field):
                getattr(kind, field).isUpdatable = False
    return ["--not-updatable"]


def later_version(model):
    if model.specificationVersion >= 8:
        return None
    model.specificationVersion = 8
    return ["--specification-version", "8"]


def custom(model):
    inner = network(model)
    layers = [] if inner is None else [x for x in inner.layers if x.HasField("custom")]
    if not layers:
        return None
    layer = layers[-1]
    layer.custom.description = "another description"
    layer.custom.parameters["a new one"].intValue = 7
    layer.custom.parameters["a text"].stringValue = "7"
    return [
        "--custom-description", f"#{len(layers) - 1}=another description",
        "--custom-parameter", f"{layer.name}.a new one=7",
        "--custom-parameter", f"#{len(layers) - 1}.a text=string:7",
    ]  # fmt: skip


def custom_class(model):
    inner = network(model)
    layers = [] if inner is None else [x for x in inner.layers if x.HasField("custom")]
    if not layers:
        return None
    layers[0].custom.className = layers[0].custom.className + "Another"
    return ["--custom-class", f"{layers[0].name}={layers[0].custom.className}"]


EDITS = [
    metadata, description, rename_input, rename_output, exchange_names, array_type, half_arrays,
    optional, bgr, scaler, image_as_array, array_as_image, shape_range, allowed_shapes, updatable,
    later_version, custom, custom_class,
]  # fmt: skip


def inputs(model, folder):
    """Files for `assay run`; None where one would have no size."""
    words = []
    generator = numpy.random.default_rng(0)
    for feature in model.description.input:
        path = os.path.join(folder, f"input{len(words)}")
        if feature.type.HasField("imageType"):
            image = feature.type.imageType
            gray = image.colorSpace == FeatureTypes_pb2.ImageFeatureType.GRAYSCALE
            shape = (image.height, image.width) if gray else (image.height, image.width, 3)
            path += ".png"
            Image.fromarray(generator.integers(0, 255, shape, dtype=numpy.uint8)).save(path)
        else:
            shape = list(feature.type.multiArrayType.shape)
            if not shape or 0 in shape:
                return None
            path += ".npy"
            numpy.save(path, generator.standard_normal(shape).astype("f4"))
        words.append(feature.name + "=" + path)
    return words


class Checker:
    def __init__(self, binary):
        self.binary = binary
        self.faults = 0
        self.counts = {"made": 0, "refused": 0, "run": 0}

    def assay(self, *words):
        return subprocess.run([self.binary, *words], capture_output=True, text=True)

    def fault(self, path, what, detail=""):
        self.faults += 1
        print(f"FAULT {path}: {what}: {detail.strip()[:400]}")

    def runs(self, path, model, folder):
        words = inputs(model, folder)
        if words is None:
            return None, "an input without a size"
        result = self.assay("run", path, *words, "--layout", "coreml", "-q")
        return result.returncode == 0, result.stderr

    def check(self, path, folder):
        original = load(path)
        ran, reason = self.runs(path, original, folder)
        if ran is False and reason.count("error:") != 1:
            self.fault(path, "run is not refused in one line", reason)
        name = os.path.basename(path)
        print(f"{name}: {'runs' if ran else 'does not run: ' + reason.strip().splitlines()[0]}")
        done = []
        for edit in EDITS:
            expected = copy.deepcopy(original)
            options = edit(expected)
            if options is None:
                continue
            self.edited(path, edit.__name__, options, expected, ran, folder, done)
        self.weights(path, original, folder, done)
        self.parts(path, original, folder, ran, done)
        print("  " + ", ".join(done))

    def edited(self, path, name, options, expected, ran, folder, done):
        out = os.path.join(folder, "out.mlmodel")
        result = self.assay("edit", path, "-o", out, *options)
        if result.returncode != 0:
            self.counts["refused"] += 1
            done.append(f"{name} refused ({result.stderr.strip().splitlines()[-1][:110]})")
            if result.returncode != 2 or os.path.exists(out):
                self.fault(path, name, result.stderr)
            return
        self.counts["made"] += 1
        done.append(name)
        found = load(out)
        if found != expected or found.ByteSize() != expected.ByteSize():
            self.fault(path, name, "another message than expected")
            for field, value in found.ListFields():
                if field.name == "description" and value != expected.description:
                    print(value, "EXPECTED", expected.description)
        if self.assay("inspect", out).returncode != 0:
            self.fault(path, name, "inspect fails")
        if ran and name != "custom_class":
            again, reason = self.runs(out, found, folder)
            if not again:
                self.fault(path, name, "runs no more: " + str(reason))
            self.counts["run"] += 1
        os.remove(out)

    def weights(self, path, original, folder, done):
        """Weights out and in again, in every form: the same file."""
        if network(original) is None:
            return
        plain = os.path.join(folder, "plain.mlmodel")
        self.assay("edit", path, "-o", plain, "--no-run")
        for per in ("parameter", "layer", "all"):
            for form, layout in (("npy", "coreml"), ("raw", "mps")):
                where = os.path.join(folder, f"weights-{per}-{form}")
                words = ["--format", form, "--per", per, "--layout", layout]
                result = self.assay("inspect", path, "--export-weights", where, *words)
                if result.returncode != 0:
                    self.fault(path, "export " + per, result.stderr)
                    continue
                back = os.path.join(folder, "back.mlmodel")
                result = self.assay("edit", path, "-o", back, "--weights", where, "--no-run")
                same = result.returncode == 0 and open(back, "rb").read() == open(plain, "rb").read()
                if not same:
                    self.fault(path, f"weights per {per}, {form}, {layout}", result.stderr)
                self.counts["made"] += 1
        done.append("weights out and in")

    def parts(self, path, original, folder, ran, done):
        """A blob inside as an output; the network cut there in two."""
        inner = network(original)
        if inner is None or len(inner.layers) < 2 or not ran:
            return
        blob = inner.layers[len(inner.layers) // 2 - 1].output[0]
        out = os.path.join(folder, "out.mlmodel")
        for name, options in (
            ("add-output", ["--add-output", blob]),
            ("cut-to", ["--cut-to", blob]),
            ("cut-from", ["--cut-from", blob]),
        ):
            result = self.assay("edit", path, "-o", out, *options)
            if result.returncode != 0:
                self.fault(path, name, result.stderr)
                continue
            found = load(out)
            layers = {layer.name: layer for layer in inner.layers}
            for layer in network(found).layers:
                if layer != layers[layer.name]:
                    self.fault(path, name, "another layer: " + layer.name)
            if name == "add-output":
                if blob not in [f.name for f in found.description.output]:
                    self.fault(path, name, "no such output")
                del found.description.output[-1]
                if found != original:
                    self.fault(path, name, "another message than expected")
            again, reason = self.runs(out, load(out), folder)
            if not again:
                self.fault(path, name, "does not run: " + str(reason))
            self.counts["made"] += 1
            self.counts["run"] += 1
            done.append(f"{name} ({len(network(found).layers)} of {len(inner.layers)} layers)")
            os.remove(out)


def main():
    checker = Checker(sys.argv[1])
    paths = []
    for folder in sys.argv[2:]:
        for root, _, files in os.walk(folder):
            paths += [os.path.join(root, f) for f in files if f.endswith(".mlmodel")]
    for path in sorted(paths):
        with tempfile.TemporaryDirectory() as folder:
            checker.check(path, folder)
    counts = checker.counts
    print(
        f"{len(paths)} models, {counts['made']} edits made, {counts['run']} of them run, "
        f"{counts['refused']} refused, {checker.faults} faults"
    )
    sys.exit(1 if checker.faults else 0)


main()
