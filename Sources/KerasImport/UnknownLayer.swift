import ImportSupport
import TensorCore

extension UnsupportedLayers {
  /// A layer of an unknown class; the hint shows a rule to paste.
  static func error(for subject: CustomLayerSubject) -> ModelError {
    var message = "this class of layers is not supported"
    let known = LayerCatalog.impossible.first { $0.names.contains(subject.layerClass) }
    if let reason = known?.reason { message += ": \(reason)" }
    if subject.layerClass == "Lambda" {
      message =
        subject.function.map { "its Python function '\($0)' is not known here and is never run" }
        ?? "its Python function cannot be read and is never run"
    }
    return ModelError(
      .unsupported, message, layer: subject.layer, layerClass: subject.layerClass,
      hint: "a rule makes it a custom layer: --custom-layers FILE.json with "
        + subject.suggestedRule)
  }
}
