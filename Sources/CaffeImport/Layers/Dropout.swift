import CoreMLModel
import ImportSupport

/// x, or (1 − dropout_ratio) · x if training does not scale the kept values: `scale_train: false`
/// of caffe-fast-rcnn, as in synopsys-caffe's `dropout_layer.cpp`
enum Dropout: SingleInputConverter {
  static let source = SourceLayer(
    "Dropout", becomes: "nothing; activation linear if `scale_train` is false",
    options: "`dropout_ratio`, `scale_train`; `sample_weights_test` becomes the mean of its samples"
  )

  /// Whether the layer changes its input.
  static func scales(_ layer: LayerCall) -> Bool {
    (try? layer.parameters("dropout_param").bool("scale_train", default: true)) != true
  }

  /// A note if the layer also drops random elements in the test phase, as in Bayesian SegNet.
  static func note(_ layer: LayerCall) throws -> String? {
    guard try layer.parameters("dropout_param").bool("sample_weights_test", default: false) else {
      return nil
    }
    return "layer '\(layer.name)' (Dropout) drops elements at random in Caffe's test phase "
      + "(sample_weights_test); the model uses their mean instead"
  }

  static func top(of layer: LayerCall, _ network: inout CaffeWriter) throws -> CaffeTensor {
    let parameters = layer.parameters("dropout_param")
    let ratio = try parameters.float("dropout_ratio")
    try parameters.require(
      ratio > 0 && ratio < 1, "dropout_ratio", "\(ratio) is not between 0 and 1")
    guard try !parameters.bool("scale_train", default: true) else { return layer.input }
    if let note = try note(layer) { network.notes.append(note) }
    return layer.input.with(
      network.affine(layer.input.blob, 1 - ratio, layer.name, to: layer.tops[0]))
  }
}
