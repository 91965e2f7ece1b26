import Synchronization

/// A value in the description of a network: an ``Input``, or the result of a layer.
///
/// It is symbolic: it represents numbers but contains none. Layers are applied to it with `-->`:
///
///     let features = input --> Convolution(kernel: (3, 3), channels: 16) --> Pooling(kernel: (2, 2))
public class NetworkTensor: @unchecked Sendable {
  // `@unchecked`: subclasses add only initializers, and nothing is mutable.
  enum Source: Sendable {
    case input(name: String?, TensorShape)
    case layer(Layer, [NetworkTensor])
  }

  /// Never reused, unlike an object's address.
  let id: Int
  let source: Source

  private static let count = Atomic(0)

  init(_ source: Source) {
    id = Self.count.wrappingAdd(1, ordering: .relaxed).newValue
    self.source = source
  }
}

/// An input of a network.
///
/// Without sizes, it is an image of any size, which a ``Resize`` resizes for the network:
///
///     let input = Input()
///     let output = input --> Resize(width: 224, height: 224) --> …
///
/// With all three sizes, it takes exactly that many numbers. A layer that needs an unknown size
/// fails when the network is compiled, and the error names the layer.
public final class Input: NetworkTensor, @unchecked Sendable {
  /// - Parameter name: the name of the input in the model; the default is `input` if it is the only
  ///   one.
  public init(width: Int? = nil, height: Int? = nil, channels: Int? = nil, name: String? = nil) {
    super.init(.input(name: name, TensorShape(height: height, width: width, channels: channels)))
  }
}

precedencegroup LayerPrecedence {
  associativity: left
  higherThan: AssignmentPrecedence
  lowerThan: TernaryPrecedence
}

infix operator --> : LayerPrecedence

/// The result of applying `layer` to `tensor`.
///
/// If a layer is applied to several tensors, it has the same weights for all of them.
public func --> (tensor: NetworkTensor, layer: Layer) -> NetworkTensor {
  NetworkTensor(.layer(layer, [tensor]))
}

/// The result of applying a ``Custom`` layer or ``CoreMLLayer`` with several inputs to `tensors`.
public func --> (tensors: [NetworkTensor], layer: Layer) -> NetworkTensor {
  NetworkTensor(.layer(layer, tensors))
}
