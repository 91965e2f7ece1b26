import CoreMLModel
import ImportSupport
import TensorCore

/// An LSTM over images with convolutions instead of products: the input's with the layer's padding
/// and strides, the state's with `same`. Its steps are unrolled.
struct ConvLSTM: KerasLayerSettings {
  static let classes = [SourceLayer](
    "ConvLSTM2D", "ConvLSTM1D", becomes: "convolutions, \(SourceLayer.unrolled)",
    options: "`strides`, `padding`, `dilation_rate`, `return_state`, `initial_state`; ConvLSTM1D",
    refused: "an unknown number of steps, a mask")
  static let maskPolicy = MaskPolicy.decides

  private let filters: Int
  private let settings: ConvolutionSettings
  private let activation: ActivationFunction
  private let gateActivation: ActivationFunction
  var path: RecurrentPath

  private static let stepLimit = 1024

  init(_ configuration: LayerConfiguration) throws {
    filters = try configuration.int("filters", "nb_filter")
    settings = try ConvolutionSettings(configuration)
    activation = try configuration.recurrentActivation("activation", default: "tanh")
    gateActivation = try configuration.recurrentActivation(
      "recurrent_activation", "inner_activation", default: "hard_sigmoid")
    path = try RecurrentPath(configuration)
  }

  var weights: [WeightSlot] { settings.slots("kernel", "recurrent_kernel") }

  /// The axes of one image of the sequence.
  private var imageAxes: [BlobAxis] { settings.axes.layout.axes }

  func convert(_ call: LayerCall, into network: inout KerasWriter) throws -> [KerasTensor] {
    try convert(call, "", reversesOutput: false, into: &network)
  }

  /// - Parameter prefix: prefix of the weights' names, for a nested layer.
  func convert(
    _ call: LayerCall, _ prefix: String, reversesOutput: Bool,
    into network: inout KerasWriter
  ) throws -> [KerasTensor] {
    guard let input = call.inputs.first else { throw call.error("it has no inputs") }
    let given = Array(call.inputs.dropFirst())
    try call.require(
      given.isEmpty || given.count == 2, "it takes two initial states but gets \(given.count)")
    guard input.rank == settings.axes.count + 3 else {
      throw call.error("its input \(input.shapeText) is not a sequence of images")
    }
    try call.require(input.mask == nil, unsupported: "its input has a mask, which is not supported")
    let layout = TensorLayout(axes: [.sequence] + imageAxes)
    network.fixesSequences = true
    var sequence = network.relaid(input, to: layout, for: call.name)
    guard let count = sequence.shape[1], let channels = sequence.size(of: .channel),
      !input.isShapeAssumed
    else {
      throw call.unsupported(
        "it must be unrolled, and a size of its input \(input.shapeText) is "
          + "unknown", hint: "fix it with \(setting: "inputShape")")
    }
    try call.require(count <= Self.stepLimit, "\(count) steps are too many", code: .limitExceeded)
    // Computes all gates of all steps at once, in the order i, f, c, o.
    sequence.blob = network.add(
      call.name + "__inputs__", try inputs(call, prefix, channels), [sequence.blob])
    sequence = try settings.output(sequence, filters: channels, call)
    let stored = try call.weight(
      prefix + "recurrent_kernel", settings.kernelSize + [filters, 4 * filters])
    let recurrent = try recurrence(stored)
    // After channels and sequence are swapped, a step is a slice of the channels.
    var swapped = sequence
    if let index = sequence.index(of: .channel) { swapped.shape[index] = 4 * filters }
    let flipped = layout.axes.map { axis -> BlobAxis in
      axis == .sequence ? .channel : axis == .channel ? .sequence : axis
    }
    let rows = network.relaid(swapped, to: TensorLayout(axes: flipped), for: call.name)
    let states = given.map { state in
      network.relaid(state, to: TensorLayout(axes: imageAxes), for: call.name).blob
    }
    var h = states.first
    var c = states.last
    var outputs: [String] = []
    for position in 0..<count {
      let time = path.isReversed ? count - 1 - position : position
      let name = "\(call.name)__step_\(position)__"
      var step = rows
      step.blob = network.slice(rows.blob, time..<time + 1, name + "slice")
      step.shape[1] = 1
      step = network.relaid(step, to: layout, for: name + "x")
      (h, c) = try self.step(step.blob, h, c, recurrent, name, call, &network)
      if let h { outputs.append(h) }
    }
    if reversesOutput { outputs.reverse() }
    return try results(sequence, outputs, h ?? "", c ?? "", call, &network)
  }

  private func results(
    _ sequence: KerasTensor, _ outputs: [String], _ h: String, _ c: String, _ call: LayerCall,
    _ network: inout KerasWriter
  ) throws -> [KerasTensor] {
    var all = sequence
    if let index = all.index(of: .channel) { all.shape[index] = filters }
    var image = all
    image.shape.remove(at: 1)
    image.layout = TensorLayout(axes: imageAxes)
    var result = path.returnsSequences ? all : image
    result.blob =
      path.returnsSequences ? network.joined(outputs, alongSequence: true, call.name) : h
    guard path.returnsState else { return [result] }
    return [result] + [h, c].map { blob in return image.with(blob) }
  }

  private func inputs(_ call: LayerCall, _ prefix: String, _ channels: Int) throws -> Convolution {
    let stored = try call.weight(prefix + "kernel", settings.kernelSize + [channels, 4 * filters])
    let bias =
      settings.hasBias ? Weights(try call.weight(prefix + "bias", [4 * filters])) : nil
    return try settings.convolution(kernel(stored), bias: bias)
  }

  private func recurrence(_ stored: FloatValues) throws -> Convolution {
    var convolution = Convolution(
      Weights(try kernel(stored)), inputs: filters, outputs: 4 * filters,
      size: settings.planar(settings.kernelSize))
    convolution.padding = .same(SamePadding())
    return convolution
  }

  /// The kernel as `[outputs, inputs, height, width]`.
  private func kernel(_ stored: FloatValues) throws -> FloatValues {
    try settings.flipped(stored)
      .shaped(settings.planar(settings.kernelSize) + stored.shape.suffix(2))
      .transposed([3, 2, 0, 1])
  }

  private func step(
    _ x: String, _ h: String?, _ c: String?, _ recurrent: Convolution, _ name: String,
    _ call: LayerCall, _ network: inout KerasWriter
  ) throws -> (String, String) {
    var sums = x
    if let h { sums = network.sum([x, network.add(name + "h", recurrent, [h])], name + "sums") }
    let gates = network.split(sums, into: 4, name + "split")
    func gate(_ index: Int, _ letter: String) throws -> String {
      try network.activate(gateActivation, gates[index], name + letter, call)
    }
    let i = try gate(0, "i")
    let f = try gate(1, "f")
    let o = try gate(3, "o")
    let block = try network.activate(activation, gates[2], name + "act", call)
    var next = network.product(i, block, name + "new")
    if let c { next = network.sum([network.product(f, c, name + "kept"), next], name + "c") }
    let activated = try network.activate(activation, next, name + "cact", call)
    return (network.product(o, activated, name + "out"), next)
  }
}
