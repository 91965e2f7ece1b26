"""Small models of what real files seldom have: write(FOLDER) puts them there for edits.py.

Pipelines of networks, with a classifier or a regressor at the end and in one another; a network with
a branch and a loop; an updatable classifier; custom layers with a parameter of each type; and one
model of each other type of the format, no more than its message.
"""

import os

import numpy
from coremltools.proto import FeatureTypes_pb2, Model_pb2

ARRAY, IMAGE = FeatureTypes_pb2.ArrayFeatureType, FeatureTypes_pb2.ImageFeatureType
EXACT = 1


def values(*shape):
    count = int(numpy.prod(shape))
    return [float(numpy.float32(x)) for x in numpy.sin(numpy.arange(count) + count) / 4]


def array(features, name, *shape, kind=ARRAY.DOUBLE):
    feature = features.add()
    feature.name = name
    feature.type.multiArrayType.shape.extend(shape)
    feature.type.multiArrayType.dataType = kind


def image(features, name, side, color=IMAGE.RGB):
    feature = features.add()
    feature.name = name
    feature.type.imageType.width = feature.type.imageType.height = side
    feature.type.imageType.colorSpace = color


def layer(network, name, kind, inputs, outputs):
    result = network.layers.add()
    result.name = name
    result.input.extend(inputs)
    result.output.extend(outputs)
    getattr(result, kind).SetInParent()
    return getattr(result, kind)


def dense(network, name, inputs, outputs, source, target):
    result = layer(network, name, "innerProduct", [source], [target])
    result.inputChannels, result.outputChannels, result.hasBias = inputs, outputs, True
    result.weights.floatValue.extend(values(outputs, inputs))
    result.bias.floatValue.extend(values(outputs))


def convolution(network, name, inputs, outputs, source, target):
    result = layer(network, name, "convolution", [source], [target])
    result.outputChannels, result.kernelChannels, result.hasBias = outputs, inputs, True
    result.kernelSize.extend([3, 3])
    result.same.SetInParent()
    result.weights.floatValue.extend(values(outputs, inputs, 3, 3))
    result.bias.floatValue.extend(values(outputs))


def model(version=1):
    result = Model_pb2.Model()
    result.specificationVersion = version
    return result


def pictures():
    """An image [3, 8, 8] → planes → 'between' [2, 8, 8]."""
    first = model()
    image(first.description.input, "picture", 8)
    array(first.description.output, "between", 2, 8, 8)
    network = first.neuralNetwork
    scaler = network.preprocessing.add()
    scaler.featureName = "picture"
    scaler.scaler.channelScale = 1 / 64
    convolution(network, "wide", 3, 4, "picture", "hidden")
    layer(network, "relu", "activation", ["hidden"], ["positive"]).ReLU.SetInParent()
    convolution(network, "narrow", 4, 2, "positive", "between")
    return first


def planes(name="out"):
    """'between' [2, 8, 8] → three values."""
    second = model()
    array(second.description.input, "between", 2, 8, 8)
    array(second.description.output, name, 3)
    network = second.neuralNetwork
    layer(network, "curve", "activation", ["between"], ["hidden"]).tanh.SetInParent()
    dense(network, "sum", 128, 3, "hidden", name)
    return second


def classifier(source="between", labels=("one", "two", "three")):
    third = model()
    array(third.description.input, source, 2, 8, 8)
    network = third.neuralNetworkClassifier
    dense(network, "sum", 128, len(labels), source, "logits")
    layer(network, "softmax", "softmax", ["logits"], ["probabilities"])
    network.labelProbabilityLayerName = "probabilities"
    label, probabilities = third.description.output.add(), third.description.output.add()
    label.name, probabilities.name = "label", "probabilities"
    if isinstance(labels[0], str):
        network.stringClassLabels.vector.extend(labels)
        label.type.stringType.SetInParent()
        probabilities.type.dictionaryType.stringKeyType.SetInParent()
    else:
        network.int64ClassLabels.vector.extend(labels)
        label.type.int64Type.SetInParent()
        probabilities.type.dictionaryType.int64KeyType.SetInParent()
    third.description.predictedFeatureName = "label"
    third.description.predictedProbabilitiesName = "probabilities"
    return third


def regressor():
    third = model()
    array(third.description.input, "between", 2, 8, 8)
    array(third.description.output, "value", 1)
    third.description.predictedFeatureName = "value"
    dense(third.neuralNetworkRegressor, "first", 128, 4, "between", "hidden")
    dense(third.neuralNetworkRegressor, "sum", 4, 1, "hidden", "value")
    return third


def pipeline(kind, members, names):
    whole = model(max(member.specificationVersion for member in members))
    inner = getattr(whole, kind)
    inner = inner if kind == "pipeline" else inner.pipeline
    inner.models.extend(members)
    inner.names.extend(names)
    whole.description.input.extend(members[0].description.input)
    whole.description.output.extend(members[-1].description.output)
    for field in ("predictedFeatureName", "predictedProbabilitiesName"):
        if kind != "pipeline":
            setattr(whole.description, field, getattr(members[-1].description, field))
    whole.description.metadata.author = "the author"
    whole.description.metadata.userDefined["a key"] = "a value"
    return whole


def nested():
    """A pipeline in a pipeline."""
    last = model()
    array(last.description.input, "out", 3)
    array(last.description.output, "end", 2)
    dense(last.neuralNetwork, "more", 3, 4, "out", "deep")
    dense(last.neuralNetwork, "sum", 4, 2, "deep", "end")
    inner = pipeline("pipeline", [pictures(), planes()], ["first", "second"])
    return pipeline("pipeline", [inner, last], ["inner", "last"])


def picture_chain():
    """A picture passes from one network to the next, red and blue exchanged on the way."""
    first, second = model(), model()
    image(first.description.input, "picture", 8)
    image(first.description.output, "bright", 8)
    linear = layer(first.neuralNetwork, "scale", "activation", ["picture"], ["bright"]).linear
    linear.alpha, linear.beta = 0.8, 3.3
    image(second.description.input, "bright", 8, IMAGE.BGR)
    array(second.description.output, "end", 2, 8, 8)
    convolution(second.neuralNetwork, "narrow", 3, 4, "bright", "deep")
    convolution(second.neuralNetwork, "last", 4, 2, "deep", "end")
    return pipeline("pipeline", [first, second], ["", ""])


def control_flow():
    """A branch inside a loop; both name blobs of the network around them."""
    whole = model(4)
    array(whole.description.input, "x", 2)
    array(whole.description.output, "y", 2)
    network = whole.neuralNetwork
    network.arrayInputShapeMapping = EXACT
    layer(network, "start", "copy", ["x"], ["y"])
    loop = layer(network, "loop", "loop", [], [])
    loop.maxLoopIterations = 3
    branch = layer(loop.bodyNetwork, "branch", "branch", ["x"], [])
    layer(branch.ifBranch, "more", "add", ["y", "x"], ["y"])
    layer(branch.elseBranch, "less", "copy", ["x"], ["y"])
    return whole


def updatable():
    """A classifier with a dense layer that a device trains."""
    whole = classifier("x")
    whole.specificationVersion = 4
    whole.isUpdatable = True
    network = whole.neuralNetworkClassifier
    network.layers[0].isUpdatable = True
    network.layers[0].innerProduct.weights.isUpdatable = True
    network.layers[0].innerProduct.bias.isUpdatable = True
    whole.description.trainingInput.extend(whole.description.input)
    target = whole.description.trainingInput.add()
    target.CopyFrom(whole.description.output[0])
    loss = network.updateParams.lossLayers.add()
    loss.name = "loss"
    loss.categoricalCrossEntropyLossLayer.input = "probabilities"
    loss.categoricalCrossEntropyLossLayer.target = "label"
    rate = network.updateParams.optimizer.sgdOptimizer.learningRate
    rate.defaultValue = 0.01
    rate.range.minValue, rate.range.maxValue = 0, 1
    batch = network.updateParams.optimizer.sgdOptimizer.miniBatchSize
    batch.defaultValue = 8
    batch.set.values.extend([8, 16])
    network.updateParams.epochs.defaultValue = 3
    network.updateParams.epochs.set.values.extend([3])
    network.updateParams.shuffle.defaultValue = True
    return whole


def custom():
    """Two custom layers, the second with a weight and a parameter of each type."""
    whole = model(2)
    array(whole.description.input, "x", 3, 4, 4)
    array(whole.description.output, "y", 3, 4, 4)
    first = layer(whole.neuralNetwork, "first", "custom", ["x"], ["hidden"])
    first.className, first.description = "Mish", "a smooth function"
    second = layer(whole.neuralNetwork, "second", "custom", ["hidden"], ["y"])
    second.className = "Swish"
    second.parameters["beta"].doubleValue = 1.5
    second.parameters["text"].stringValue = "one = two.three"
    second.parameters["int"].intValue = -4
    second.parameters["long"].longValue = 1 << 40
    second.parameters["bool"].boolValue = True
    second.weights.add().floatValue.extend([1, 2, 0.5])
    return whole


def exact():
    """Arrays of the ranks that they declare."""
    whole = model(4)
    array(whole.description.input, "x", 2, 6, kind=ARRAY.FLOAT32)
    array(whole.description.output, "y", 2, 4, kind=ARRAY.FLOAT32)
    whole.neuralNetwork.arrayInputShapeMapping = EXACT
    dense(whole.neuralNetwork, "first", 6, 5, "x", "hidden")
    dense(whole.neuralNetwork, "second", 5, 4, "hidden", "y")
    return whole


def painter():
    """Planes [3, 6, 6] to planes, which may both be pictures."""
    whole = model()
    array(whole.description.input, "x", 3, 6, 6)
    array(whole.description.output, "y", 3, 6, 6)
    convolution(whole.neuralNetwork, "first", 3, 4, "x", "hidden")
    convolution(whole.neuralNetwork, "second", 4, 3, "hidden", "y")
    return whole


SAMPLES = {
    "pipeline": lambda: pipeline("pipeline", [pictures(), planes()], ["first", "second"]),
    "pipelineClassifier": lambda: pipeline(
        "pipelineClassifier", [pictures(), classifier()], ["planes", "classes"]
    ),
    "pipelineRegressor": lambda: pipeline("pipelineRegressor", [pictures(), regressor()], []),
    "pipelineInPipeline": nested,
    "pipelineOfPictures": picture_chain,
    "numberedClasses": lambda: classifier("x", (4, 5, -6, 1 << 40)),
    "controlFlow": control_flow,
    "updatable": updatable,
    "custom": custom,
    "exact": exact,
    "painter": painter,
}


def others():
    """The names of the types that are no networks and no pipelines of them."""
    names = [field.name for field in Model_pb2.Model.DESCRIPTOR.oneofs_by_name["Type"].fields]
    return [name for name in names if "neuralNetwork" not in name and "ipeline" not in name]


def other(name):
    """A model of this type with an interface and nothing else."""
    whole = model(1)
    array(whole.description.input, "in", 2)
    array(whole.description.output, "out", 2)
    getattr(whole, name).SetInParent()
    return whole


def write(folder):
    for name, make in SAMPLES.items():
        with open(os.path.join(folder, name + ".mlmodel"), "wb") as file:
            file.write(make().SerializeToString())
    for name in others():
        with open(os.path.join(folder, "other_" + name + ".mlmodel"), "wb") as file:
            file.write(other(name).SerializeToString())
