import ModelPrediction
import TensorCore

/// The result of a prediction.
public struct NetworkPrediction: Sendable {
  /// The values of the network's outputs, in order.
  public let outputs: [NetworkValue]
  private let values: [String: NetworkValue]
  private let names: [Int: String]

  /// - Parameter outputCount: how many of the values are outputs; the rest are kept tensors.
  init(_ prediction: Prediction, outputCount: Int, names: [Int: String]) {
    let values = prediction.outputs.map { NetworkValue(name: $0.name, value: $0.value) }
    outputs = Array(values.prefix(outputCount))
    self.values = Dictionary(first: values.map { ($0.name, $0) })
    self.names = names
  }

  /// The first output; most networks have only one.
  public var output: NetworkValue { outputs[0] }

  /// The value of an output or of a kept tensor.
  ///
  /// - Throws: `.mismatch` for any other tensor.
  public func value(of tensor: NetworkTensor) throws -> NetworkValue {
    return try names[tensor.id].flatMap({ values[$0] }).orThrow(
      ModelError(
        .mismatch, "the tensor was not kept", hint: "call keep(tensor) before compiling the network"
      ))
  }
}

/// The value of a tensor.
public struct NetworkValue: Sendable {
  /// The name of the layer that computed it.
  public let name: String
  let value: Tensor

  /// Height, width and channels.
  public var shape: TensorShape { TensorShape(array: value.shape) }

  /// The elements `[height, width, channels]`, copied on each access.
  public var floats: [Float] { value.elements }

  /// An element and its index.
  public struct Score: Sendable, Equatable {
    /// The index in ``NetworkValue/floats``, from 0; for a classifier, the class.
    public let index: Int
    /// The element.
    public let value: Float
  }

  /// The `count` largest elements; ties in order of index, NaN last.
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
