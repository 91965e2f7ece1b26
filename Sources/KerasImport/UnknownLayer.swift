import ImportSupport
import TensorCore

enum UnconvertedClasses {
  /// Classes of Keras that cannot be converted, and why.
  static let reasons: [(names: [String], reason: String)] = [
    (
      ["Lambda"],
      "Python code, which is never run; what can be read becomes layers ([formulas.md](formulas.md)), a rule makes the rest custom layers"
    ),
    (
      ["StringLookup", "TextVectorization", "Hashing", "HashedCrossing"],
      "texts: a Core ML network takes numbers"
    ),
    (
      ["Equalization", "ContrastLimitedAdaptiveHistogramEqualization"],
      "Core ML's networks have no histograms"
    ),
    (["MaxNumBoundingBoxes"], "boxes, which training alone has"),
    (["Pipeline", "DenseFeatures"], "apply its layers one by one in the model"),
    (
      ["STFTSpectrogram", "MelSpectrogram"],
      "Core ML's networks have no Fourier transform"
    ),
    (["ConvLSTM3D"], "steps of volumes have one axis more than Core ML's blobs"),
    (
      ["Wrapper", "TFSMLayer", "TorchModuleWrapper", "JaxLayer", "FlaxLayer"],
      "code that is not in the file"
    ),
    (
      ["QuantizeWrapperV2", "QuantizeLayer", "PruneLowMagnitude"],
      "made by tensorflow-model-optimization; strip them, or let a rule make them custom layers"
    ),
  ]
}

extension UnsupportedLayers {
  /// A layer of an unknown class; the hint shows a rule to paste.
  ///
  /// - Parameter reading: of a Lambda, what its code was found to be.
  static func error(
    for subject: CustomLayerSubject, reading: Result<PythonFormula, ModelError>? = nil,
    readsFormulas: Bool = false
  ) -> ModelError {
    var message = "this class of layers is not supported"
    let known = UnconvertedClasses.reasons.first { $0.names.contains(subject.layerClass) }
    if let reason = known?.reason { message += ": \(reason)" }
    if subject.layerClass == "Lambda" {
      message =
        subject.function.map { "its Python function '\($0)' is not known here and is never run" }
        ?? "its Python function cannot be read and is never run"
    }
    var hint = ""
    let name = subject.function.map { " '\($0)'" } ?? ""
    switch reading {
    case .success(let formula)?:
      message = "its Python function\(name) is the formula \(formula.expression) and is never run"
      hint = formulaHint + "; or "
    case .failure(let reason)? where readsFormulas:
      message =
        "its Python function\(name) is more than a formula (\(reason.message)) and is never run"
    default: break
    }
    return ModelError(
      .unsupported, message, layer: subject.layer, layerClass: subject.layerClass,
      hint: hint + "a rule makes it a custom layer: --custom-layers FILE.json with "
        + subject.suggestedRule)
  }
}
