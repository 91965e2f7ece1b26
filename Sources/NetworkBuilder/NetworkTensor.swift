import Synchronization

/// A value of a network that is being described: an ``Input``, or what a layer makes of others.
///
/// It is symbolic: it stands for numbers but holds none. Layers are applied to it with `-->`:
///
///     let features = input --> Convolution(kernel: (3, 3), channels: 16) --> Pooling(kernel: (2, 2))
public class NetworkTensor: @unchecked Sendable {
  // `@unchecked`: subclasses have initializers only, and nothing changes.
  enum Source: Sendable {
    case input(name: String?, TensorShape)
    case layer(Layer, [NetworkTensor])
  }

  /// Never given twice, unlike an object's address.
  let id: Int
  let source: Source

  private static let count = Atomic(0)

  init(_ source: Source) {
    id = Self.count.wrappingAdd(1, ordering: .relaxed).newValue
    self.source = source
  }
}

/// Where values enter a network.
///
/// Without sizes it is an image of any size, which a ``Resize`` brings into the network's:
///
///     let input = Input()
///     let output = input --> Resize(width: 224, height: 224) --> …
///
/// With all three sizes it takes exactly that many numbers. A layer that needs a size which is still
/// unknown fails when the network is compiled, and its error names the layer.
public final class Input: NetworkTensor, @unchecked Sendable {
  /// - Parameter name: the name of the input in the model; `input` if there is only one and it has
  ///   no other.
  public init(
    width: Int? = nil, height: Int? = nil, channels: Int? = nil, name: String? = nil
  ) {
    super.init(.input(name: name, TensorShape(height: height, width: width, channels: channels)))
  }
}

precedencegroup LayerPrecedence {
  associativity: left
  higherThan: AssignmentPrecedence
  lowerThan: TernaryPrecedence
}

infix operator --> : LayerPrecedence

/// The tensor that `layer` makes of `tensor`.
///
/// One layer may be applied to several tensors; it has the same weights for all of them.
public func --> (tensor: NetworkTensor, layer: Layer) -> NetworkTensor {
  NetworkTensor(.layer(layer, [tensor]))
}

/// The tensor that `layer` makes of several: of a ``Custom`` layer with several inputs.
public func --> (tensors: [NetworkTensor], layer: Layer) -> NetworkTensor {
  NetworkTensor(.layer(layer, tensors))
}
