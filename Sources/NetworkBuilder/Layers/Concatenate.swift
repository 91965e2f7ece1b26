import CoreMLModel
import TensorCore

/// Concatenates the channels of several tensors with the same height and width.
///
///     let module = Concatenate([
///       x --> Convolution(kernel: (1, 1), channels: 64),
///       x --> Convolution(kernel: (1, 1), channels: 48) --> Convolution(kernel: (5, 5), channels: 64),
///     ])
public final class Concatenate: NetworkTensor, @unchecked Sendable {
  /// - Parameter tensors: one or more, in the order of their channels in the result.
  public init(_ tensors: [NetworkTensor], name: String? = nil) {
    super.init(.layer(Layer(name, ConcatenateDefinition()), tensors))
  }
}

/// The elementwise sum of several tensors with the same shape.
public final class Add: NetworkTensor, @unchecked Sendable {
  /// - Parameters:
  ///   - tensors: two or more.
  ///   - activation: applied to the sum.
  public init(_ tensors: [NetworkTensor], activation: Activation = .linear, name: String? = nil) {
    super.init(.layer(Layer(name, AddDefinition(activation: activation)), tensors))
  }
}

struct ConcatenateDefinition: LayerDefinition {
  static let typeName = "Concatenate"

  func write(_ inputs: [WrittenTensor], _ scope: LayerScope) throws -> WrittenTensor {
    let first = try inputs.first.orThrow(
      ModelError(.mismatch, "no tensors; at least one is needed"))
    let shape = try first.knownShape()
    for input in inputs.dropFirst() {
      let other = try input.knownShape()
      try require(
        other[3] == shape[3] && other[4] == shape[4], .mismatch,
        "'\(first.blob)' is \(first.shape) and '\(input.blob)' is \(input.shape): height and "
          + "width must be the same")
    }
    return try scope.add(Concat(), inputs)
  }
}

struct AddDefinition: LayerDefinition {
  static let typeName = "Add"

  var activation: Activation

  func write(_ inputs: [WrittenTensor], _ scope: LayerScope) throws -> WrittenTensor {
    guard let first = inputs.first, inputs.count > 1 else {
      throw ModelError(.mismatch, "\(inputs.count) tensors; at least two are needed")
    }
    _ = try first.knownShape()
    for input in inputs.dropFirst() {
      _ = try input.knownShape()
      try require(
        input.shape == first.shape, .mismatch,
        "'\(first.blob)' is \(first.shape) and '\(input.blob)' is \(input.shape): they must be "
          + "the same")
    }
    let sum = try scope.add(CoreMLModel.Add(), inputs, isLast: activation == .linear)
    return try scope.activate(activation, sum)
  }
}
