import ImportSupport
import TensorCore

enum UnconvertedClasses {
  /// Keras classes that cannot be converted, and the reasons.
  static let reasons: [(names: [String], reason: String)] =
    ([
      ["Lambda"]:
        "Python code, which is never run; what can be read becomes layers ([formulas.md](formulas.md)), a rule makes the rest custom layers",
      ["StringLookup", "TextVectorization", "Hashing", "HashedCrossing"]:
        "works on text, but a Core ML network takes numbers",
      ["Equalization", "ContrastLimitedAdaptiveHistogramEqualization"]:
        "Core ML networks have no histograms",
      ["MaxNumBoundingBoxes"]: "works on boxes, which exist only in training",
      ["Pipeline", "DenseFeatures"]: "use its layers directly in the model",
      ["ConvLSTM3D"]: "sequences of volumes have more axes than Core ML supports",
      ["Wrapper", "TFSMLayer", "TorchModuleWrapper", "JaxLayer", "FlaxLayer"]:
        "its code is not in the file",
      ["QuantizeWrapperV2", "QuantizeLayer", "PruneLowMagnitude"]:
        "from tensorflow-model-optimization; strip them before saving, or make them custom layers with a rule",
      [
        "QDense", "QConv1D", "QConv2D", "QConv2DTranspose", "QConv2DBatchnorm", "QDepthwiseConv2D",
        "QDepthwiseConv2DBatchnorm", "QSeparableConv1D", "QSeparableConv2D", "QBatchNormalization",
        "QActivation", "QAveragePooling2D", "QGlobalAveragePooling2D",
      ]: "from QKeras or HGQ 2, which train networks for FPGAs; convert the network without them",
      [
        "HQuantize", "HDense", "HConv1D", "HConv2D", "HDenseBatchNorm", "HConv1DBatchNorm",
        "HConv2DBatchNorm", "HActivation", "HAdd",
      ]: "from HGQ, which trains networks for FPGAs; convert the network without them",
      ["KerasActivationQuantizationHolder", "KerasQuantizationWrapper"]:
        "from mct-quantizers, which quantizes for other runtimes; convert the network without them",
      ["ConvLayer", "InvertedResidualBlock", "MobileViT_v1_Block", "MobileViT_v2_Block"]:
        "from keras-vision; its inner layers are in its Python code, not in the file",
      ["FilterDetections"]:
        "from keras-retinanet; selects boxes: build the model without it (in retinanet_bbox), whose outputs are the boxes and the scores of the classes",
      ["DecodeDetections", "DecodeDetectionsFast"]:
        "from ssd_keras; selects boxes: build the model with mode='training', whose output has the scores of the classes, the offsets, the anchor boxes and their variances",
      ["PriorBox"]: "from SSD networks; its settings are not in the file",
    ] as KeyValuePairs).map { ($0, $1) }
}

extension UnsupportedLayers {
  /// The error for a layer of an unknown class; its hint contains a rule to paste.
  ///
  /// - Parameters:
  ///   - reading: the formula of a Lambda's code, or the reason why there is none.
  ///   - pseudocode: the Lambda's code as it may have been written.
  static func error(
    for subject: CustomLayerSubject, reading: Result<PythonFormula, ModelError>? = nil,
    pseudocode: String? = nil, readsFormulas: Bool = false, hasSource: Bool = false,
    searched: [String] = []
  ) -> ModelError {
    var message = "this layer class is not supported"
    let known = UnconvertedClasses.reasons.first { $0.names.contains(subject.layerClass) }
    message +=
      known.map { ": \($0.reason)" }
      ?? question(subject.layerClass, KerasImporter.supportedClasses.flatMap { $0 })
    if subject.layerClass == "Lambda" {
      message =
        subject.function.map { "its Python function '\($0)' is unknown and is never run" }
        ?? "its Python function cannot be read and is never run"
    }
    var hint =
      known == nil && subject.layerClass != "Lambda" && !hasSource
      ? UnsupportedLayers.sourceHint + "; or " : ""
    if let file = searched.first, !hint.isEmpty {
      message +=
        searched.count == 1 ? "; \(file) does not define it" : "; no source file defines it"
    }
    let name = subject.function.map { " '\($0)'" } ?? ""
    switch reading {
    case .success(let formula)?:
      message =
        "its Python function\(name)\(formulaMark.before)\(formula.expression)\(formulaMark.after)"
      hint = formulaHint + "; or "
    case .failure(let reason)? where readsFormulas:
      message =
        "its Python function\(name) cannot be converted: \(reason.message)"
        + (pseudocode.map { "; the function: \($0)" } ?? "")
      hint = reason.hint.map { $0 + "; or " } ?? ""
    default: break
    }
    return ModelError(
      .unsupported, message, layer: subject.layer, layerClass: subject.layerClass,
      hint: hint + "make it a custom layer with a rule: \(setting: "customLayers") FILE.json with "
        + subject.suggestedRule)
  }
}
