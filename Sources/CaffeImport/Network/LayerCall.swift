import CoreMLModel
import ImportSupport
import TensorCore

/// A layer of a Caffe network.
struct LayerCall: LayerErrors, Sendable {
  var name: String
  /// The type, such as `Convolution`.
  let type: String
  let bottoms: [String]
  let tops: [String]
  /// Its index among the layers of the file.
  let index: Int
  /// The complete `LayerParameter`.
  let message: CaffeMessage
  /// Its position in the text.
  let position: TextPosition?
  /// One tensor per bottom.
  var inputs: [CaffeTensor] = []
  /// Its weights in Caffe's order, from the weights file.
  var blobs: [CaffeBlob] = []
  /// The source of weights when there is no weights file.
  var missingWeights: MissingWeights?
  /// The weights file, if any.
  var weightsPath: String?
  /// The types of the layers that read each top; empty for an output.
  var topReaders: [[String]] = []
  /// The settings and weights that the conversion has read.
  let usage = LayerUsage()

  /// The first bottom.
  var input: CaffeTensor { inputs[0] }

  /// The settings in field `name`, such as `convolution_param`; all defaults if it is missing.
  func parameters(_ name: String) -> CaffeParameters {
    CaffeParameters(layer: self, path: "", message: message).message(name)
  }

  /// Weight `index`, with the given shape.
  ///
  /// - Parameters:
  ///   - name: its name, such as `weight` or `bias`, which determines random values
  ///     (`RandomWeights`).
  ///   - fanIn: inputs per output; by default the product of all sizes except the first.
  /// - Throws: `ModelError` if the file lacks it or stores another shape.
  func weight(_ index: Int, _ name: String, shape: [Int], fanIn: Int? = nil) throws -> FloatValues {
    usage.use(index)
    let count = try checkedProduct(shape, limit: Limits.tensorElements)
    if let missingWeights {
      return try missingWeights.values(
        "\(self.name)/\(name)", shape: shape,
        fanIn: fanIn ?? (shape.first.map { count / max(1, $0) } ?? 1))
    }
    guard let weightsPath else {
      throw error(
        "it needs weights, but there is no weights file",
        hint: "add the .caffemodel after the .prototxt")
    }
    return try inFile(weightsPath) { try stored(index, name, shape, count: count) }
  }

  private func stored(
    _ index: Int, _ name: String, _ shape: [Int], count: Int
  ) throws -> FloatValues {
    func error(_ message: String) -> ModelError {
      ModelError(.mismatch, message, layer: self.name, layerClass: type)
    }
    guard blobs.indices.contains(index) else {
      throw error(
        blobs.isEmpty
          ? "the weights file contains none for it"
          : "the weights file has \(blobs.count) blobs for it; its \(name) is missing")
    }
    let blob = blobs[index]
    guard blob.fits(shape) else {
      throw error(
        "its \(name) has the shape \(blob.shape) in the weights file, but the network requires \(shape)"
      )
    }
    let values = try blob.values()
    guard values.count == count else {
      throw error(
        "its \(name) has \(values.count) values in the weights file, \(shape) needs \(count)")
    }
    return values.shaped(shape)
  }

  /// Weight `index` in the shape stored in the file; random weights have `shape`.
  func weight(_ index: Int, _ name: String, randomShape shape: [Int]) throws -> FloatValues {
    if missingWeights == nil, blobs.indices.contains(index) {
      return try weight(index, name, shape: blobs[index].shape)
    }
    return try weight(index, name, shape: shape)
  }

  /// Throws if the number of bottoms is out of range.
  func requireBottoms(_ range: ClosedRange<Int>) throws {
    guard range.contains(bottoms.count) else {
      let needed =
        range.upperBound == .max
        ? "\(range.lowerBound) or more"
        : range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
      throw error("it has \(bottoms.count) bottoms; \(needed) are needed", field: "bottom")
    }
  }

  var layerClass: String { type }

  func located(_ message: String) -> String { message + (position.map { " (\($0))" } ?? "") }

  /// - Throws: `.malformed` unless a bottom has the axes (N, C, H, W).
  func requireImages(_ bottom: CaffeTensor) throws {
    guard bottom.shape.count == 4 else {
      throw error("its bottom \(bottom.shapeText) must have four axes")
    }
  }
}
