#!/usr/bin/env python3
"""make.py — small models with the inputs and outputs of public models beside which a repository has the
class that Xcode generated. Needs coremltools 9 and numpy. The models only have their interface: each array
output is the mean of the first input, times 1, 2, …; the regressors add their inputs, times 1, 2, ….

SSDOcr                  github.com/stripe/stripe-ios 75ebfd20a5cd, StripeCardScan/StripeCardScan
best                    github.com/tugjabg/mlcore_detect_card f5f92568352b, build/…/CoreMLGenerated/best
MNIST                   github.com/omaralbeik/mnist-coreml 59270f3812b8, Jupyter/MNIST.mlmodel
FindFit                 github.com/shengyuan-lu/CollegePal 5d9345c08270, CollegePal.swiftpm/Resources
MarsHabitatPricer       github.com/adib/Core-ML-Playgrounds e666bc7807ff, Mars-Habitat/…/Resources
coreml_decoder_base_en  github.com/KaraevFan/Glint_mobile_POC 0cd00ecbb19c, Glint_mobile_POC/Resources
all-MiniLM-L6-v2        github.com/timur-losev/WaxTorch 2c7e7f1d630e, Sources/WaxVectorSearchMiniLM

The eighth is Ultralytics's yolov8m, github.com/ultralytics/yolo-ios-app f298a9411642, YOLO/Models, whose
interface is that of ../detection/vision/ultralytics.mlmodel.
"""
import os, shutil
import coremltools as ct
import numpy as np
from coremltools.converters.mil import Builder as mb
from coremltools.models.datatypes import Array
from coremltools.models.neural_network import NeuralNetworkBuilder

os.chdir(os.path.dirname(os.path.abspath(__file__)))


def network(name, image, outputs, version, gray=False, labels=None):
    channels = 1 if gray else 3
    b = NeuralNetworkBuilder([(image, Array(channels, 4, 4))], [(o, None) for o in outputs],
                             mode="classifier" if labels else None, disable_rank5_shape_mapping=False)
    b.add_reduce("mean", image, "mean", "CHW", "avg")
    if labels:
        b.add_inner_product("scores", np.arange(1, 1 + len(labels)) / 100, np.zeros(len(labels)), 1, len(labels), True,
                            "mean", "scores")
        b.add_softmax("softmax", "scores", outputs[0])
        b.set_class_labels(labels, "classLabel", outputs[0])
    else:
        for place, output in enumerate(outputs):
            b.add_activation(output, "LINEAR", "mean", output, [place + 1, 0])
    b.set_pre_processing_parameters([image], is_bgr=False)
    b.spec.specificationVersion = version
    feature = b.spec.description.input[0].type.imageType
    feature.width = feature.height = 4
    feature.colorSpace = ct.proto.FeatureTypes_pb2.ImageFeatureType.ColorSpace.Value("GRAYSCALE" if gray else "RGB")
    for feature in b.spec.description.output:
        if feature.type.WhichOneof("Type") == "multiArrayType":
            feature.type.multiArrayType.dataType = ct.proto.FeatureTypes_pb2.ArrayFeatureType.FLOAT32
    ct.models.utils.save_spec(b.spec, name + ".mlmodel")


def regressor(name, inputs, output):
    spec = ct.proto.Model_pb2.Model(specificationVersion=1)
    spec.description.predictedFeatureName = output
    vectorizer, linear = [spec.pipelineRegressor.pipeline.models.add(specificationVersion=1) for _ in range(2)]
    for input in inputs:
        for description in (spec.description, vectorizer.description):
            description.input.add(name=input).type.doubleType.SetInParent()
        vectorizer.featureVectorizer.inputList.add(inputColumn=input, inputDimensions=1)
    features = vectorizer.description.output.add(name="features").type.multiArrayType
    features.shape.append(len(inputs))
    features.dataType = ct.proto.FeatureTypes_pb2.ArrayFeatureType.DOUBLE
    linear.description.input.add().CopyFrom(vectorizer.description.output[0])
    linear.description.predictedFeatureName = output
    for description in (spec.description, linear.description):
        description.output.add(name=output).type.doubleType.SetInParent()
    linear.glmRegressor.weights.add(value=range(1, len(inputs) + 1))
    linear.glmRegressor.offset.append(0)
    ct.models.utils.save_spec(spec, name + ".mlmodel")


def program(name, main, target, precision):
    model = ct.convert(main, convert_to="mlprogram", minimum_deployment_target=target, skip_model_load=True,
                       compute_precision=precision)
    shutil.rmtree(name + ".mlpackage", ignore_errors=True)
    model.save(name + ".mlpackage")


int32, single = ct.converters.mil.mil.types.int32, ct.converters.mil.mil.types.fp32


@mb.program(input_specs=[mb.TensorSpec((1, 1), int32), mb.TensorSpec((1, 4, 8), single)], opset_version=ct.target.iOS15)
def decoder(token_data, audio_data):
    return mb.add(x=mb.cast(x=token_data, dtype="fp32"), y=audio_data, name="cast_112")


@mb.program(input_specs=[mb.TensorSpec((1, 32), int32) for _ in range(2)], opset_version=ct.target.iOS18)
def embedding(input_ids, attention_mask):
    return mb.cast(x=mb.mul(x=input_ids, y=attention_mask), dtype="fp16", name="var_554")


network("SSDOcr", "0", ["scores", "boxes", "filter"], 2)
network("best", "image", ["937", "950", "963"], 4)
network("MNIST", "image", ["output"], 1, gray=True, labels=["0", "1", "2"])
regressor("FindFit", ["normalized_score"], "admissions_rate")
regressor("MarsHabitatPricer", ["solarPanels", "greenhouses", "size"], "price")
program("coreml_decoder_base_en", decoder, ct.target.iOS15, ct.precision.FLOAT32)
program("all-MiniLM-L6-v2", embedding, ct.target.iOS18, ct.precision.FLOAT16)
