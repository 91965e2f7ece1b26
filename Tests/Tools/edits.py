#!/usr/bin/env python3
"""edits.py ASSAY FOLDER...: every edit on every .mlmodel below the folders, and on the small models
of edit_samples.py, that it fits.

Each edit is made by `assay edit` and, on the decoded protobuf message, here; the two must be the same
message, field by field, and the same size, unknown fields included. Then the file is inspected and,
where the model ran before the edit, run, with flexible shapes at their bounds. Blobs that become
features and parts that are cut out must give the numbers that the whole gives. Needs coremltools,
numpy and Pillow.
"""

import copy
import difflib
import json
import os
import re
import subprocess
import sys
import tempfile

import edit_samples
import numpy
from coremltools.proto import FeatureTypes_pb2, Model_pb2
from PIL import Image

# A size for axes that a model leaves open.
OPEN_SIZE = 96
SCRATCH = tempfile.TemporaryDirectory()

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


def networks(model, path=""):
    """Every network with its name as an option writes it, and all models that lead to it."""
    if network(model) is not None:
        return [(path, [model])]
    kind = model.WhichOneof("Type")
    if not members(model):
        return []
    names = getattr(model, kind)
    names = list((names if kind == "pipeline" else names.pipeline).names)
    found = []
    for index, member in enumerate(members(model)):
        name = names[index] if index < len(names) and names[index] else str(index + 1)
        found += [(p, [model] + chain) for p, chain in networks(member, path + name + "/")]
    return found


def array_features(model):
    """The array features of the model and of a pipeline's models, by name."""
    found = {}

    def one(message):
        for feature in features(message):
            if feature.type.HasField("multiArrayType"):
                found.setdefault(feature.name, []).append(feature.type.multiArrayType)

    everywhere(model, one)
    return found


def scratch_file(name, text):
    path = os.path.join(SCRATCH.name, name)
    with open(path, "w") as file:
        file.write(text)
    return path


# The edits: a name, and a function of a message that gives the options of `assay edit` and changes
# the message itself, or gives None where the edit does not fit.


def metadata(model):
    model.description.metadata.author = "somebody"
    model.description.metadata.userDefined["key of mine"] = "value"
    return ["--author", "somebody", "--metadata", "key of mine=value"]


def all_metadata(model):
    data = model.description.metadata
    data.license, data.shortDescription, data.versionString = "free", "a = b", "1.2"
    keys = sorted(data.userDefined)[:1]
    for key in keys:
        del data.userDefined[key]
    options = ["--license", "free", "--short-description", "a = b", "--version-string", "1.2"]
    return options + [word for key in keys for word in ("--remove-metadata", key)]


def descriptions(model):
    first, last = model.description.input[0], model.description.output[-1]
    first.shortDescription, last.shortDescription = "what it is", "what comes out"
    return [
        "--description", first.name + "=what it is",
        "--output-description", last.name + "=what comes out",
    ]  # fmt: skip


def rename(old, new):
    def change(model):
        def layers_of(inner):
            for layer in inner.layers:
                for blobs in (layer.input, layer.output):
                    blobs[:] = [new if blob == old else blob for blob in blobs]
                if layer.HasField("branch"):
                    layers_of(layer.branch.ifBranch)
                    layers_of(layer.branch.elseBranch)
                if layer.HasField("loop"):
                    layers_of(layer.loop.conditionNetwork)
                    layers_of(layer.loop.bodyNetwork)
                    if layer.loop.conditionVar == old:
                        layer.loop.conditionVar = new

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
            layers_of(inner)
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


def rename_between(model):
    """A feature that passes from one model of a pipeline to the next."""
    own = [feature.name for feature in features(model)]
    between = []
    everywhere(model, lambda message: between.extend(f.name for f in features(message)))
    between = [name for name in between if name not in own]
    return rename(between[0], "passed on")(model) if between else None


def array_type(kind, name=None):
    def change(model):
        arrays = array_features(model)
        if not arrays:
            return None
        chosen = None if name is None else next(iter(arrays))
        for feature, places in arrays.items():
            for array in places if chosen in (None, feature) else []:
                array.dataType = getattr(FeatureTypes_pb2.ArrayFeatureType, kind)
        if kind == "FLOAT16":
            # Where the data type stands, in the pipeline and in its models.
            def one(message):
                types = [f.type.multiArrayType.dataType for f in features(message)]
                inner = [m.specificationVersion for m in members(message)]
                if FeatureTypes_pb2.ArrayFeatureType.FLOAT16 in types:
                    inner.append(7)
                if inner:
                    version = max([message.specificationVersion] + inner)
                    message.specificationVersion = version

            for member in members(model):
                everywhere(member, one)
            one(model)
        prefix = "" if chosen is None else chosen + "="
        return ["--array-type", prefix + kind.lower()]

    return change


def single_arrays(model):
    return array_type("FLOAT32")(model)


def double_arrays(model):
    return array_type("DOUBLE")(model)


def integer_array(model):
    return array_type("INT32", "first")(model)


def half_arrays(model):
    return array_type("FLOAT16", "first")(model)


def optional(model):
    name = model.description.input[0].name

    def one(message):
        for feature in message.description.input:
            if feature.name == name:
                feature.type.isOptional = True

    everywhere(model, one)
    return ["--optional", name]


def required(model):
    """An input that may be left out, made so first, may not."""
    name = model.description.input[0].name
    model.description.input[0].type.isOptional = False
    return ["--required", name]


def image_output(model):
    if network(model) is None:
        return None
    for feature in model.description.output:
        shape = list(feature.type.multiArrayType.shape)
        if len(shape) == 3 and shape[0] in (1, 3) and all(shape):
            if feature.type.multiArrayType.WhichOneof("ShapeFlexibility"):
                continue
            image = feature.type.imageType
            image.height, image.width = shape[1:]
            gray, bgr = (
                FeatureTypes_pb2.ImageFeatureType.GRAYSCALE,
                FeatureTypes_pb2.ImageFeatureType.BGR,
            )
            image.colorSpace = bgr if shape[0] == 3 else gray
            color = ["--color", feature.name + "=bgr"] if shape[0] == 3 else []
            return ["--image-output", feature.name] + color
    return None


def normalized(model):
    """Another scaler, of a mean and one deviation for all colors: x / 64 − mean / 64."""
    inner = network(model)
    names = [f.name for f in model.description.input if f.type.HasField("imageType")]
    if inner is None or len(names) != 1:
        return None
    if model.description.input[0].type.imageType.colorSpace == 10:
        return None
    del inner.preprocessing[:]
    step = inner.preprocessing.add()
    step.featureName = names[0]
    step.scaler.channelScale = 1 / 64
    step.scaler.redBias, step.scaler.greenBias, step.scaler.blueBias = -2, -1, -0.5
    return ["--image-mean", "128,64,32", "--image-std", "64,64,64"]


def labels_of(model, labels):
    """Gives a classifier these labels, and its features their type."""
    inner = members(model)[-1] if members(model) else model
    classifier = inner.neuralNetworkClassifier
    strings = isinstance(labels[0], str)
    (classifier.stringClassLabels if strings else classifier.int64ClassLabels).ClearField("vector")
    (classifier.stringClassLabels if strings else classifier.int64ClassLabels).vector.extend(labels)
    for message in {id(model): model, id(inner): inner}.values():
        description = message.description
        for feature in list(description.output) + list(description.trainingInput):
            if feature.name == message.description.predictedFeatureName:
                kind = feature.type.stringType if strings else feature.type.int64Type
                kind.SetInParent()
            elif feature.name == message.description.predictedProbabilitiesName:
                dictionary = feature.type.dictionaryType
                kind = dictionary.stringKeyType if strings else dictionary.int64KeyType
                kind.SetInParent()
    text = "".join(f"{label}\n" for label in labels) if strings else json.dumps(labels)
    path = scratch_file("labels", text)
    return ["--labels", path]


def other_labels(make):
    def change(model):
        inner = members(model)[-1] if members(model) else model
        if inner.WhichOneof("Type") != "neuralNetworkClassifier":
            return None
        classifier = inner.neuralNetworkClassifier
        count = len(classifier.stringClassLabels.vector) + len(classifier.int64ClassLabels.vector)
        return labels_of(model, [make(index) for index in range(count)])

    return change


def string_labels(model):
    return other_labels(lambda index: f"class, {index}")(model)


def integer_labels(model):
    return other_labels(lambda index: 7 * index - 3)(model)


def becomes_classifier(model):
    outputs = model.description.output
    if model.WhichOneof("Type") != "neuralNetwork" or len(outputs) != 1 or model.isUpdatable:
        return None
    shape = list(outputs[0].type.multiArrayType.shape)
    if len(shape) != 1 or not 1 < shape[0] < 5000:
        return None
    old = copy.deepcopy(model.neuralNetwork)
    # What the two messages share they have under the same numbers.
    model.neuralNetworkClassifier.MergeFromString(old.SerializeToString())
    model.neuralNetworkClassifier.labelProbabilityLayerName = outputs[0].name
    model.description.predictedProbabilitiesName = outputs[0].name
    model.description.predictedFeatureName = "the label"
    outputs.add().name = "the label"
    options = labels_of(model, [f"class {index}" for index in range(shape[0])])
    return options + ["--predicted-feature-name", "the label"]


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
            if field in kind.DESCRIPTOR.fields_by_name and kind.HasField(field):
                getattr(kind, field).isUpdatable = False
    return ["--not-updatable"]


def later_version(model):
    if model.specificationVersion >= 8:
        return None
    model.specificationVersion = 8
    return ["--specification-version", "8"]


def fixed_shape(model):
    """A flexible feature with its own shape only."""
    feature = model.description.input[0]
    kind = feature.type.WhichOneof("Type")
    if kind not in ("imageType", "multiArrayType") or network(model) is None:
        return None
    flexible = getattr(feature.type, kind)
    field = "SizeFlexibility" if kind == "imageType" else "ShapeFlexibility"
    if flexible.WhichOneof(field) is None:
        return None
    flexible.ClearField(flexible.WhichOneof(field))
    return ["--fixed-shape", feature.name]


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


def custom_parameters(model):
    """Each parameter of a custom layer gets another value of its type; the last one goes."""
    inner = network(model)
    layers = [] if inner is None else [x for x in inner.layers if x.HasField("custom")]
    layers = [layer for layer in layers if layer.custom.parameters]
    if not layers:
        return None
    parameters = layers[-1].custom.parameters
    names, options = sorted(parameters), []
    values = {"doubleValue": 2, "stringValue": "7", "intValue": 5, "longValue": 6, "boolValue": 0}
    for name in names[:-1]:
        kind = parameters[name].WhichOneof("value")
        value = values[kind]
        setattr(parameters[name], kind, value)
        text = str(value) if kind != "boolValue" else "false"
        options += ["--custom-parameter", f"{layers[-1].name}.{name}={text}"]
    del parameters[names[-1]]
    return options + ["--remove-custom-parameter", f"{layers[-1].name}.{names[-1]}"]


def custom_weights(model):
    inner = network(model)
    layers = [] if inner is None else [x for x in inner.layers if x.HasField("custom")]
    for index, layer in enumerate(layers):
        if not layer.custom.weights or not layer.custom.weights[0].floatValue:
            continue
        values = numpy.linspace(0.5, 1.5, len(layer.custom.weights[0].floatValue)).astype("f4")
        layer.custom.weights[0].floatValue[:] = values.tolist()
        path = os.path.join(SCRATCH.name, "values.npy")
        numpy.save(path, values)
        return ["--custom-weights", f"#{index}:0={path}"]
    return None


EDITS = [
    metadata, all_metadata, descriptions, rename_input, rename_output, exchange_names,
    rename_between, single_arrays, double_arrays, integer_array, half_arrays, optional, required,
    bgr, scaler, normalized, image_as_array, array_as_image, image_output, string_labels,
    integer_labels, becomes_classifier, shape_range, allowed_shapes, fixed_shape, updatable,
    later_version, custom, custom_class, custom_parameters, custom_weights,
]  # fmt: skip


def inputs(model, folder, largest=False):
    """Files for `assay run`, of the features' own sizes or of the largest that they may have, where
    an open end is twice the own size; None where an input has no size at all."""
    words = []
    generator = numpy.random.default_rng(0)
    for feature in model.description.input:
        path = os.path.join(folder, f"input{len(words)}")
        if feature.type.HasField("imageType"):
            image = feature.type.imageType
            gray = image.colorSpace == FeatureTypes_pb2.ImageFeatureType.GRAYSCALE
            height, width = image.height, image.width
            if largest and image.HasField("imageSizeRange"):
                bounds = image.imageSizeRange
                height = upper(bounds.heightRange, height)
                width = upper(bounds.widthRange, width)
            elif largest and image.HasField("enumeratedSizes"):
                size = image.enumeratedSizes.sizes[-1]
                height, width = size.height, size.width
            shape = (height, width) if gray else (height, width, 3)
            path += ".png"
            Image.fromarray(generator.integers(0, 255, shape, dtype=numpy.uint8)).save(path)
        else:
            array = feature.type.multiArrayType
            shape = [size or OPEN_SIZE for size in array.shape]
            if not shape:
                return None
            if largest and array.HasField("shapeRange"):
                shape = [upper(*pair) for pair in zip(array.shapeRange.sizeRanges, shape)]
            elif largest and array.HasField("enumeratedShapes"):
                shape = list(array.enumeratedShapes.shapes[-1].shape)
            path += ".npy"
            numpy.save(path, generator.standard_normal(shape).astype("f4"))
        words.append(feature.name + "=" + path)
    return words


def upper(bounds, own):
    return 2 * own if bounds.upperBound < 0 else bounds.upperBound


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

    def runs(self, path, model, folder, largest=False):
        words = inputs(model, folder, largest)
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
        if name.startswith("other_") and (ran or "cannot run" not in reason):
            self.fault(path, "a model of another type runs", reason)
        result = self.assay("inspect", path)
        if result.returncode != 0 or (original.WhichOneof("Type") or "") not in result.stdout:
            self.fault(path, "inspect", result.stderr)
        print(f"{name}: {'runs' if ran else 'does not run: ' + reason.strip().splitlines()[0]}")
        done = []
        for edit in EDITS:
            expected = copy.deepcopy(original)
            options = edit(expected)
            if options is None:
                continue
            self.edited(path, edit.__name__, options, expected, ran, folder, done)
        self.versions(path, original, folder, done)
        self.weights(path, original, folder, done)
        self.parts(path, original, folder, ran, done)
        print("  " + ", ".join(done))

    def versions(self, path, original, folder, done):
        """The first version: either it is that, or each part that forbids it is named, and the
        latest version that one of them needs is possible."""
        out = os.path.join(folder, "out.mlmodel")
        words = ["edit", path, "-o", out, "--no-run", "--specification-version"]
        result = self.assay(*words, "1")
        version = 1
        if result.returncode != 0:
            reasons = re.findall(r"hint: .* needs version (\d+): it .", result.stderr)
            if result.returncode != 2 or not reasons or os.path.exists(out):
                return self.fault(path, "an earlier version", result.stderr)
            version = max(int(reason) for reason in reasons)
            done.append(f"version 1 refused for {len(reasons)} reasons")
            result = self.assay(*words, str(version))
        if result.returncode != 0:
            return self.fault(path, f"version {version}", result.stderr)
        expected = copy.deepcopy(original)
        expected.specificationVersion = version

        def lower(message):
            for member in members(message):
                member.specificationVersion = min(member.specificationVersion, version)
                lower(member)

        lower(expected)
        if load(out) != expected:
            self.fault(path, f"version {version}", "another message than expected")
        os.remove(out)
        self.counts["made"] += 1
        done.append(f"version {version}")

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
            both = str(expected).splitlines(), str(found).splitlines()
            if sum(map(len, both)) < 20000:
                print("\n".join(difflib.unified_diff(*both, "expected", "found", lineterm="")))
        if self.assay("inspect", out).returncode != 0:
            self.fault(path, name, "inspect fails")
        if ran and name != "custom_class":
            again, reason = self.runs(out, found, folder)
            if not again:
                self.fault(path, name, "runs no more: " + str(reason))
            self.counts["run"] += 1
            if name in ("shape_range", "allowed_shapes"):
                again, reason = self.runs(out, found, folder, largest=True)
                if not again:
                    self.fault(path, name, "does not run at its upper bounds: " + str(reason))
        os.remove(out)

    def weights(self, path, original, folder, done):
        """Weights out and in again, in every form: the same file."""
        if not networks(original):
            return
        plain = os.path.join(folder, "plain.mlmodel")
        self.assay("edit", path, "-o", plain, "--no-run")
        for per in ("parameter", "layer", "all"):
            for form, layout in (("npy", "coreml"), ("raw", "mps")):
                where = os.path.join(folder, f"weights-{per}-{form}")
                words = ["--weight-format", form, "--per", per, "--weight-layout", layout]
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

    def outputs(self, path, words, folder):
        """The outputs by name, or None where the model does not run."""
        where = os.path.join(folder, "outputs.npz")
        result = self.assay("run", path, *words, "--layout", "coreml", "-q", "-o", where)
        if result.returncode != 0:
            return None, result.stderr
        with numpy.load(where) as arrays:
            # A name in an archive has no folders.
            found = {name.replace("__SLASH__", "/"): arrays[name] for name in arrays.files}
        os.remove(where)
        return found, ""

    def parts(self, path, original, folder, ran, done):
        """A blob inside each network as an output; the network, or the pipeline, cut there in two,
        whose halves one after the other give what the whole gives."""
        for prefix, chain in networks(original) if ran else []:
            layers = network(chain[-1]).layers
            names = {feature.name for feature in features(original)}
            if len(layers) > 1:
                blob = layers[len(layers) // 2 - 1].output[0]
                if blob not in names:
                    self.part(path, original, prefix, blob, folder, done)

    def part(self, path, original, prefix, blob, folder, done):
        all_layers = {}
        for where, chain in networks(original):
            for layer in network(chain[-1]).layers:
                all_layers.setdefault(layer.name, []).append(layer)
        words = inputs(original, folder)
        more, first, rest = (
            os.path.join(folder, name + ".mlmodel") for name in ("more", "first", "rest")
        )
        for name, out in (("add-output", more), ("cut-to", first), ("cut-from", rest)):
            options = ["--" + name, prefix + blob]
            if original.isUpdatable and name != "add-output":
                options.append("--not-updatable")
            result = self.assay("edit", path, "-o", out, *options)
            if result.returncode != 0:
                return self.fault(path, f"{name} {prefix}{blob}", result.stderr)
            self.counts["made"] += 1
            self.counts["run"] += 1
            found = load(out)
            count = 0
            for _, chain in networks(found):
                count += len(network(chain[-1]).layers)
                for layer in network(chain[-1]).layers:
                    if layer not in all_layers[layer.name] and "--not-updatable" not in options:
                        self.fault(path, name, "another layer: " + layer.name)
            if name == "add-output":
                self.removed(out, found, original, blob, folder)
            done.append(f"{name} {prefix}{blob} ({count} layers)")
        given, reason = self.outputs(more, words, folder)
        if given is None or blob not in given:
            return self.fault(path, "add-output " + blob, "does not run: " + reason)
        inner = {feature.name: feature for feature in load(rest).description.input}
        half, reason = self.outputs(first, self.fitting(words, load(first)), folder)
        if half is None or not numpy.allclose(half[blob], given[blob], rtol=1e-4, atol=1e-5):
            self.fault(path, "cut-to " + blob, "other numbers than the whole: " + reason)
        value = os.path.join(folder, "blob.npy")
        shape = list(inner[blob].type.multiArrayType.shape)
        fits = given[blob].size == numpy.prod(shape)
        numpy.save(value, given[blob].reshape(shape) if fits else given[blob])
        words = self.fitting(words, load(rest)) + [blob + "=" + value]
        other, reason = self.outputs(rest, words, folder)
        wanted = {f.name for f in original.description.output} & set(given)
        for name in sorted(wanted):
            if other is None or not numpy.allclose(other[name], given[name], rtol=1e-3, atol=1e-4):
                self.fault(path, "cut-from " + blob, f"{name} is not that of the whole: {reason}")

    def fitting(self, words, model):
        names = [feature.name for feature in model.description.input]
        return [word for word in words if word.split("=")[0] in names]

    def removed(self, path, found, original, blob, folder):
        """Taking the new output away gives the model that there was, but for the output of a
        pipeline's model."""
        if blob not in [feature.name for feature in found.description.output]:
            self.fault(path, "add-output", "no such output")
        out = os.path.join(folder, "removed.mlmodel")
        result = self.assay("edit", path, "-o", out, "--remove-output", blob)
        if result.returncode != 0:
            return self.fault(path, "remove-output", result.stderr)
        back = load(out)

        def drop(message):
            for member in members(message):
                for index, feature in reversed(list(enumerate(member.description.output))):
                    if feature.name == blob and network(member) is not None:
                        del member.description.output[index]
                        return True
                if drop(member):
                    kept = [f for f in member.description.output if f.name != blob]
                    del member.description.output[:]
                    member.description.output.extend(kept)
                    return True
            return False

        drop(back)
        if back != original:
            self.fault(path, "remove-output", "another message than before")
        self.counts["made"] += 1


def main():
    checker = Checker(sys.argv[1])
    paths = []
    for folder in sys.argv[2:]:
        for root, _, files in os.walk(folder):
            paths += [os.path.join(root, f) for f in files if f.endswith(".mlmodel")]
    samples = os.path.join(SCRATCH.name, "samples")
    os.mkdir(samples)
    edit_samples.write(samples)
    paths = sorted(paths) + sorted(os.path.join(samples, f) for f in os.listdir(samples))
    for path in paths:
        with tempfile.TemporaryDirectory() as folder:
            checker.check(path, folder)
    counts = checker.counts
    print(
        f"{len(paths)} models, {counts['made']} edits made, {counts['run']} of them run, "
        f"{counts['refused']} refused, {checker.faults} faults"
    )
    sys.exit(1 if checker.faults else 0)


main()
