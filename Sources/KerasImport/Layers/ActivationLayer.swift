import CoreMLModel

/// A function of each element, or softmax.
struct ActivationLayer: KerasLayer {
  static let classNames = ["Activation"]
  static let maskPolicy = MaskPolicy.passes

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
  static let maskPolicy = MaskPolicy.passes

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
  static let maskPolicy = MaskPolicy.passes

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
  static let maskPolicy = MaskPolicy.passes

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

/// exp(x) / Σ exp(x) over one axis, or over several together.
struct SoftmaxLayer: KerasLayer {
  static let classNames = ["Softmax"]
  static let maskPolicy = MaskPolicy.passes

  private let axes: [Int]

  init(_ configuration: LayerConfiguration) throws {
    axes = try configuration.ints("axis") ?? [-1]
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    guard let given = call.tensor(0, "inputs") else { throw call.error("it has no inputs") }
    guard let mask = call.tensor(1, "mask") else {
      guard given.mask == nil else {
        throw call.unsupported(
          "a mask of its input: softmax over some of the steps is not supported")
      }
      return [try softmax(given, call.name, call, &network)]
    }
    // What does not count becomes as small as possible.
    let (inputs, result) = try network.merged(
      call.with(name: call.name, inputs: [given, mask]))
    let factor = network.counting(inputs[1].blob, call.name + "__counts__")
    var masked = result
    masked.mask = nil
    masked.blob = network.sum(
      [
        network.product(inputs[0].blob, factor, call.name + "__kept__"),
        network.affine(factor, 1e9, -1e9, call.name + "__offset__"),
      ], call.name + "__masked__")
    guard call.version.isAtLeast(3, 14) else {
      return [try softmax(masked, call.name, call, &network)]
    }
    var output = try softmax(masked, call.name + "__softmax__", call, &network)
    output = network.relaid(output, to: result.layout, for: call.name + "_softmax")
    output.blob = network.product(output.blob, factor, call.name)
    return [output]
  }

  private func softmax(
    _ input: KerasTensor, _ name: String, _ call: LayerCall, _ network: inout NetworkWriter
  ) throws -> KerasTensor {
    var tensor = input
    let indices = try axes.map { try call.axis($0, of: tensor) }.sorted()
    if indices.count == 1 { return network.softmax(tensor, axis: indices[0], name) }
    let layout = tensor.layout
    let axes = try ReducibleAxes(indices, of: tensor, call)
    tensor = network.relaid(tensor, to: axes.layout, for: name)
    let largest = network.reduced(.max, axes.reduction, tensor.blob, name + "__max__")
    let exponentials = network.unary(
      .exp, network.difference(tensor.blob, largest, name + "__difference__"),
      name + "__exp__")
    let sum = network.reduced(.sum, axes.reduction, exponentials, name + "__sum__")
    let inverse = network.unary(.power, sum, name + "__inverse__", alpha: -1)
    tensor.blob = network.product(exponentials, inverse, name)
    return network.relaid(tensor, to: layout, for: name + "_back")
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
