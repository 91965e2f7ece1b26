import CoreMLModel
import Files
import TensorCore

/// Which of a layer's weights is meant.
public enum WeightKind: String, Sendable, CaseIterable {
  /// Of a convolution `[channels, kernel height, kernel width, input channels / groups]`, of a dense
  /// layer `[neurons, input height, input width, input channels]`.
  case weights
  /// `[channels]`, or `[neurons]`.
  case bias

  /// What file names and keys end in after the layer's name.
  public var suffix: String {
    switch self {
    case .weights: "_W"
    case .bias: "_b"
    }
  }
}

/// Where a network's weights come from.
///
/// Each weight is asked for once, by the layer's name, the number of values and the kind, however
/// many tensors the layer is applied to.
///
/// Values lie output channels first and input channels last: for a convolution
/// `[output, height, width, input]`, for a dense layer `[neuron, height, width, channel]` of its
/// input, for a bias one per channel. Of Keras's kernels, `[height, width, input, output]`, that is
/// `kernel.transpose(3, 0, 1, 2)`, of a dense layer's `kernel.T`.
public struct WeightSource {
  enum Origin {
    case closure((String, Int, WeightKind) throws -> [Float])
    case folder(String)
    case missing(MissingWeights)
  }

  let origin: Origin

  /// Weights that `values` gives for a layer's name, a number of values and a kind.
  public init(
    _ values: @escaping (_ name: String, _ count: Int, _ kind: WeightKind) throws -> [Float]
  ) {
    origin = .closure(values)
  }

  private init(_ origin: Origin) { self.origin = origin }

  /// Weights of the files `NAME_W.bin` and `NAME_b.bin` in a folder: nothing but little-endian
  /// 32-bit floats. The files stay where they are and are read as they are needed.
  public static func folder(_ path: String) -> WeightSource { WeightSource(.folder(path)) }

  /// Weights by key, which is the layer's name with `_W` or `_b` behind it.
  public static func dictionary(_ values: [String: [Float]]) -> WeightSource {
    WeightSource { name, count, kind in
      let key = name + kind.suffix
      guard let found = values[key] else {
        throw ModelError(
          .mismatch, "the dictionary has no '\(key)'", field: kind.rawValue,
          hint: "\(count) values are needed")
      }
      return found
    }
  }

  /// Weights that are the same for the same seed, layer names and sizes: kernels equally distributed
  /// over ±√(6 / inputs of one output), biases over ±0.1.
  public static func random(seed: UInt64 = 0) -> WeightSource {
    WeightSource(.missing(.random(RandomWeights(seed: seed))))
  }

  static var outline: WeightSource { WeightSource(.missing(.zeros)) }

  /// - Throws: `.mismatch` with both counts if there are not as many values as `shape` says.
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
