import CoreMLModel

/// A function of each element, or softmax.
struct ActivationLayer: KerasLayer {
  static let classNames = ["Activation"]

  private let function: ActivationFunction

  init(_ configuration: LayerConfiguration) throws {
    function = try ActivationFunction(configuration)
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    [try network.apply(function, call.input, name: call.name, call)]
  }
}

/// x > 0 ? x : alpha · x
struct LeakyReLU: KerasLayer {
  static let classNames = ["LeakyReLU"]

  private let alpha: Double

  init(_ configuration: LayerConfiguration) throws {
    alpha = try configuration.double("alpha", "negative_slope", default: 0.3)
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    var tensor = try call.input
    tensor.blob = network.add(
      call.name, Activation(.leakyReLU(alpha: Float(alpha))), [tensor.blob])
    return [tensor]
  }
}

/// x > 0 ? x : alpha · (eˣ − 1)
struct ELU: KerasLayer {
  static let classNames = ["ELU"]

  private let alpha: Double

  init(_ configuration: LayerConfiguration) throws {
    alpha = try configuration.double("alpha", default: 1)
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    var tensor = try call.input
    tensor.blob = network.add(call.name, Activation(.elu(alpha: Float(alpha))), [tensor.blob])
    return [tensor]
  }
}

/// x > theta ? x : 0
struct ThresholdedReLU: KerasLayer {
  static let classNames = ["ThresholdedReLU"]

  private let theta: Double

  init(_ configuration: LayerConfiguration) throws {
    theta = try configuration.double("theta", default: 1)
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    var tensor = try call.input
    tensor.blob = network.add(
      call.name, Activation(.thresholdedReLU(alpha: Float(theta))), [tensor.blob])
    return [tensor]
  }
}

/// exp(x) / Σ exp(x) over one axis.
struct SoftmaxLayer: KerasLayer {
  static let classNames = ["Softmax"]

  private let axis: Int

  init(_ configuration: LayerConfiguration) throws {
    let axes = try configuration.ints("axis") ?? [-1]
    guard axes.count == 1 else {
      throw configuration.unsupported("axis", "softmax over the axes \(axes) at once")
    }
    axis = axes[0]
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let tensor = try call.input
    let axis = try call.axis(axis, of: tensor)
    return [
      network.withChannelAxis(axis, of: [tensor], for: call.name) { network, tensors in
        var result = tensors[0]
        result.blob = network.add(call.name, Softmax(), [result.blob])
        return result
      }
    ]
  }
}

extension LayerCall {
  /// An axis counted from 0, of which negative ones count from the end; never the batch.
  func axis(_ axis: Int, of tensor: KerasTensor) throws -> Int {
    let index = axis < 0 ? tensor.rank + axis : axis
    guard index >= 0, index < tensor.rank else {
      throw error("axis \(axis) of a tensor \(tensor.shapeText)")
    }
    guard index > 0 else { throw unsupported("axis \(axis), the batch, is not supported") }
    return index
  }
}
