import CoreMLModel

/// The largest element of each window of steps.
struct MaxPooling1D: KerasLayer {
  static let classNames = ["MaxPooling1D", "MaxPool1D"]

  private let windows: StepWindows

  init(_ configuration: LayerConfiguration) throws { windows = try StepWindows(configuration) }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    [try windows.convert(.max, call, into: &network)]
  }
}

/// The mean of each window of steps, padding left out.
struct AveragePooling1D: KerasLayer {
  static let classNames = ["AveragePooling1D", "AvgPool1D"]

  private let windows: StepWindows

  init(_ configuration: LayerConfiguration) throws { windows = try StepWindows(configuration) }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    [try windows.convert(.average, call, into: &network)]
  }
}

/// The largest element of each channel over all steps.
struct GlobalMaxPooling1D: KerasLayer {
  static let classNames = ["GlobalMaxPooling1D", "GlobalMaxPool1D"]

  private let pooling: GlobalStepPooling

  init(_ configuration: LayerConfiguration) throws {
    pooling = try GlobalStepPooling(configuration)
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    [try pooling.convert(.max, call, into: &network)]
  }
}

/// The mean of each channel over all steps.
struct GlobalAveragePooling1D: KerasLayer {
  static let classNames = ["GlobalAveragePooling1D", "GlobalAvgPool1D"]

  private let pooling: GlobalStepPooling

  init(_ configuration: LayerConfiguration) throws {
    pooling = try GlobalStepPooling(configuration)
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    if let mask = try call.input.mask { return [try pooling.average(of: mask, call, &network)] }
    return [try pooling.convert(.average, call, into: &network)]
  }
}

private struct StepWindows {
  let size: Int
  let stride: Int
  let border: LayerConfiguration.Border
  let steps: StepSettings

  init(_ configuration: LayerConfiguration) throws {
    size = try configuration.single("pool_size", "pool_length", default: 2)
    stride = try configuration.single("strides", "stride", default: size)
    border = try configuration.border()
    steps = try StepSettings(configuration)
  }

  func convert(
    _ type: Pooling.PoolingType, _ call: LayerCall, into network: inout NetworkWriter
  ) throws -> KerasTensor {
    let input = try steps.input(call, &network)
    let pooling = Pooling.windows(type, [1, size], strides: [1, stride], border)
    var output = steps.output(input) { border.length($0, extent: size, stride: stride) }
    guard !output.shape.contains(0) || input.isGuess else {
      throw call.error("its input \(input.shapeText) is shorter than its window of \(size) steps")
    }
    output.blob = network.add(call.name, pooling, [input.blob])
    return output
  }
}

private struct GlobalStepPooling {
  let steps: StepSettings
  let keepsAxes: Bool

  init(_ configuration: LayerConfiguration) throws {
    steps = try StepSettings(configuration)
    keepsAxes = try configuration.bool("keepdims", default: false)
  }

  /// Σ of the steps that count, divided by their number.
  func average(
    of mask: StepMask, _ call: LayerCall, _ network: inout NetworkWriter
  ) throws -> KerasTensor {
    let layout = TensorLayout(axes: [.width, .channel])
    var result = network.relaid(try call.input, to: layout, for: call.name)
    let counts = network.relaid(network.steps(of: mask), to: layout, for: call.name).blob
    let kept = network.product(result.blob, counts, call.name + "__kept__")
    let sum = network.reduced(.sum, .w, kept, call.name + "__sum__")
    let inverse = network.unary(
      .power, network.reduced(.sum, .w, counts, call.name + "__count__"),
      call.name + "__inverse__", alpha: -1)
    result.blob = network.product(sum, inverse, call.name)
    result.shape[1] = 1
    result.mask = nil
    if keepsAxes { return result }
    result.shape.remove(at: 1)
    result.layout = .vector
    return result
  }

  func convert(
    _ type: Pooling.PoolingType, _ call: LayerCall, into network: inout NetworkWriter
  ) throws -> KerasTensor {
    let input = try steps.input(call, &network)
    var pooling = Pooling.global(type)
    if let length = input.size(of: .width), !input.isGuess {
      pooling.kernelSize = [1, length]
      pooling.stride = [1, length]
      pooling.globalPooling = false
    }
    var output = steps.output(input) { _ in 1 }
    output.blob = network.add(call.name, pooling, [input.blob])
    if keepsAxes { return output }
    // W has one element; the reference moves it back to the sequence all the same.
    var permute = Permute()
    permute.axis = TensorLayout.steps.permutation(to: .sequence)
    output.blob = network.add(call.name + "_permute_", permute, [output.blob])
    output.shape = [input.shape[0], input.size(of: .channel)]
    output.layout = .vector
    return output
  }
}
