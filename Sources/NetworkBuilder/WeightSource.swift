import CoreMLModel
import Files
import TensorCore

/// One of a layer's weights.
public enum WeightKind: String, Sendable, CaseIterable {
  /// For a convolution `[channels, kernel height, kernel width, input channels /
  /// groups]`, for a dense layer `[neurons, input height, input width, input channels]`.
  case weights
  /// `[channels]`, or `[neurons]`.
  case bias

  /// The suffix of file names and keys after the layer's name.
  public var suffix: String {
    switch self {
    case .weights: "_W"
    case .bias: "_b"
    }
  }
}

/// The source of a network's weights.
///
/// Each weight is requested once, by the layer's name, the number of values and the kind, however
/// many tensors the layer is applied to.
///
/// Values are in an order with output channels first and input channels last: for a convolution
/// `[output, height, width, input]`, for a dense layer `[neuron, height, width, channel]` of
/// its input, for a bias one per channel. For Keras's kernels, `[height, width, input, output]`,
/// that is `kernel.transpose(3, 0, 1, 2)`; for a dense layer it is `kernel.T`.
public struct WeightSource {
  enum Origin {
    case closure((String, Int, WeightKind) throws -> [Float])
    case folder(String)
    case missing(MissingWeights)
  }

  let origin: Origin

  /// Weights from `values`, which gets a layer's name, the number of values and the kind.
  public init(
    _ values: @escaping (_ name: String, _ count: Int, _ kind: WeightKind) throws -> [Float]
  ) {
    origin = .closure(values)
  }

  private init(_ origin: Origin) { self.origin = origin }

  /// Weights from the files `NAME_W.bin` and `NAME_b.bin` in a folder, which contain only
  /// little-endian 32-bit floats. The files stay in place and are read on demand.
  public static func folder(_ path: String) -> WeightSource { WeightSource(.folder(path)) }

  /// Weights by key, which is the layer's name followed by `_W` or `_b`.
  public static func dictionary(_ values: [String: [Float]]) -> WeightSource {
    WeightSource { name, count, kind in
      let key = name + kind.suffix
      return try values[key].orThrow(
        ModelError(
          .mismatch, "the dictionary has no '\(key)'", field: kind.rawValue,
          hint: "\(count) values are needed"))
    }
  }

  /// Random weights, the same for the same seed, layer names and sizes: kernels uniform in ±√(6 /
  /// inputs per output), biases in ±0.1.
  public static func random(seed: UInt64 = 0) -> WeightSource {
    WeightSource(.missing(.random(RandomWeights(seed: seed))))
  }

  static var outline: WeightSource { WeightSource(.missing(.zeros)) }

  /// - Throws: `.mismatch` with both counts if the number of values does not match `shape`.
  func values(
    _ name: String, _ kind: WeightKind, _ shape: [Int], fanIn: Int
  ) throws -> FloatValues {
    let count = try checkedProduct(shape, limit: Limits.tensorElements)
    func require(_ found: Int, _ rest: Int = 0) throws {
      guard found == count, rest == 0 else {
        let sizes = shape.count > 1 ? shape.map(String.init).joined(separator: " × ") + " = " : ""
        throw ModelError(
          .mismatch,
          "\(found) values" + (rest > 0 ? " and \(rest) bytes" : "")
            + "; \(sizes)\(count) are needed", field: kind.rawValue)
      }
    }
    switch origin {
    case .closure(let values):
      let given = try values(name, count, kind)
      try require(given.count)
      return FloatValues(given).shaped(shape)
    case .folder(let folder):
      guard !name.contains("/"), !name.contains("\0") else {
        throw ModelError(
          .mismatch, "a layer name with a slash cannot be a file name",
          hint: "pass the weights with a closure, or rename the layer")
      }
      let path = "\(folder)/\(name)\(kind.suffix).bin"
      return try inFile(path) {
        let bytes = try MappedFile.read(path)
        try require(bytes.count / 4, bytes.count % 4)
        return FloatValues(bytes: bytes).shaped(shape)
      }
    case .missing(let missing):
      return try missing.values("\(name)/\(kind.rawValue)", shape: shape, fanIn: fanIn)
    }
  }
}
