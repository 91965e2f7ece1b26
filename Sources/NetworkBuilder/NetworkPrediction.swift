import ModelPrediction
import TensorCore

/// What a network answers.
public struct NetworkPrediction: Sendable {
  /// In the order in which the network has them.
  public let outputs: [NetworkValue]
  private let values: [String: NetworkValue]
  private let names: [Int: String]

  /// - Parameter outputCount: of the values, how many are outputs; the others are kept tensors.
  init(_ prediction: Prediction, outputCount: Int, names: [Int: String]) {
    let values = prediction.outputs.map { NetworkValue(name: $0.name, value: $0.value) }
    outputs = Array(values.prefix(outputCount))
    self.values = Dictionary(values.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    self.names = names
  }

  /// The first output, which is the only one of most networks.
  public var output: NetworkValue { outputs[0] }

  /// The value of an output, or of a tensor that has been kept.
  ///
  /// - Throws: `.mismatch` for any other.
  public func value(of tensor: NetworkTensor) throws -> NetworkValue {
    guard let value = names[tensor.id].flatMap({ values[$0] }) else {
      throw ModelError(
        .mismatch, "the tensor was not kept",
        hint: "call keep(tensor) before compiling the network")
    }
    return value
  }
}

/// The value of a tensor.
public struct NetworkValue: Sendable {
  /// The name of the layer that made it.
  public let name: String
  private let value: Tensor

  init(name: String, value: Tensor) {
    self.name = name
    self.value = value
  }

  /// Height, width and channels.
  public var shape: TensorShape { TensorShape(array: value.shape) }

  /// The elements `[height, width, channels]`, copied on each access.
  public var floats: [Float] { value.elements }

  /// An element and its place.
  public struct Score: Sendable, Equatable {
    /// The place among ``NetworkValue/floats``, from 0; of a classifier, the class.
    public let index: Int
    /// The element.
    public let value: Float
  }

  /// The `count` greatest elements, the lower index first among equals, what is not a number last.
  public func top(_ count: Int) -> [Score] {
    let scores = floats.enumerated().map { Score(index: $0.offset, value: $0.element) }
    let sorted = scores.sorted { a, b in
      if a.value.isNaN || b.value.isNaN {
        return a.value.isNaN == b.value.isNaN ? a.index < b.index : b.value.isNaN
      }
      return a.value != b.value ? a.value > b.value : a.index < b.index
    }
    return Array(sorted.prefix(max(0, count)))
  }
}
