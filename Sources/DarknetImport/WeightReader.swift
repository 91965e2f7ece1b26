import CoreMLModel
import TensorCore

/// Reads the weights layer by layer.
struct WeightReader {
  enum Source {
    case file(WeightsFile)
    case missing(MissingWeights)
    /// No file: an error if a layer has weights.
    case none
  }

  let source: Source
  /// Bytes read so far, not counting the header.
  private var position = 0
  /// The number of values read so far.
  private var count = 0
  /// The last layer that read weights.
  private var lastLayer: String?

  init(_ source: Source) { self.source = source }

  /// The file's path, if there is a file.
  var path: String? { if case .file(let file) = source { file.path } else { nil } }

  /// The next values as an array of `shape`, without copying them.
  ///
  /// - Parameter fanIn: inputs per output, for random weights.
  /// - Throws: an error with the layer if the file has too few values.
  mutating func take(
    _ name: String, _ shape: [Int], fanIn: Int = 1, layer: String
  ) throws -> FloatValues {
    let count = try checkedProduct(shape, limit: Limits.tensorElements)
    self.count += count
    try require(
      self.count <= Limits.modelBytes / 4, .limitExceeded,
      "with the \(count) values of its \(name), the network exceeds the size limit of an .mlmodel")
    switch source {
    case .none:
      throw ModelError(
        .mismatch, "the network needs weights",
        hint: "add the .weights file after the .cfg")
    case .missing(let missing):
      return try missing.values("\(layer)/\(name)", shape: shape, fanIn: fanIn)
    case .file(let file):
      let left = file.values.count - position
      try require(
        count * 4 <= left,
        "its \(name) take \(count) numbers from byte \(file.headerBytes + position) on, but the file "
          + "has \(left / 4) more", file: file.path,
        hint: "the file is truncated or belongs to another .cfg")
      lastLayer = layer
      defer { position += count * 4 }
      return FloatValues(bytes: file.values[position..<position + count * 4]).shaped(shape)
    }
  }

  /// Throws if there are values left.
  func finish() throws {
    guard case .file(let file) = source, position != file.values.count else { return }
    let left = file.values.count - position
    let last = lastLayer.map { "the last layer with weights" + ", '\($0)'," } ?? "the network"
    throw ModelError(
      .malformed,
      "\(left / 4) numbers" + (left % 4 == 0 ? "" : " and \(left % 4) bytes")
        + " are left over: \(last) ends at byte \(file.headerBytes + position) of "
        + "\(file.headerBytes + file.values.count)", file: file.path, layer: lastLayer,
      hint: "use the weights that belong to this .cfg")
  }

  /// Whether the file says that Alexey Bochkovskiy's Darknet (revision 5) wrote it, which stores
  /// the matrices of gated layers in a different order than Joseph Redmon's (revision 0).
  var isOfBochkovskiy: Bool {
    if case .file(let file) = source { file.version.revision >= 5 } else { false }
  }

  /// Whether matrices of connected layers are `[inputs, outputs]`.
  var storesTransposedMatrices: Bool {
    if case .file(let file) = source { file.isTransposed } else { false }
  }
}
