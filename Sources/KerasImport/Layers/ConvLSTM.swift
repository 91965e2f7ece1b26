import CoreMLModel
import TensorCore

/// An LSTM of images, whose matrices are convolutions: the input's with the layer's border and
/// strides, the state's with `same`. Its steps are written out one by one.
struct ConvLSTM: KerasLayer {
  static let classNames = ["ConvLSTM2D", "ConvLSTM1D"]
  static let maskPolicy = MaskPolicy.decides

  private let filters: Int
  private let kernelSize: [Int]
  private let strides: [Int]
  private let dilation: [Int]
  private let border: LayerConfiguration.Border
  private let hasBias: Bool
  private let activation: ActivationFunction
  private let gateActivation: ActivationFunction
  private(set) var path: RecurrentPath
  private let format: LayerConfiguration.DataFormat
  private let isOneDimensional: Bool

  private static let stepLimit = 1024

  init(_ configuration: LayerConfiguration) throws {
    filters = try configuration.int("filters", "nb_filter")
    isOneDimensional = configuration.className.contains("ConvLSTM1D")
    if isOneDimensional {
      kernelSize = [1, try configuration.single("kernel_size")]
      strides = [1, try configuration.single("strides", default: 1)]
      dilation = [1, try configuration.single("dilation_rate", default: 1)]
    } else if configuration.field("nb_row") != nil {
      kernelSize = [try configuration.int("nb_row"), try configuration.int("nb_col")]
      strides = try configuration.pair("subsample", default: [1, 1])
      dilation = [1, 1]
    } else {
      kernelSize = try configuration.pair("kernel_size")
      strides = try configuration.pair("strides", default: [1, 1])
      dilation = try configuration.pair("dilation_rate", default: [1, 1])
    }
    border = try configuration.border()
    hasBias = try configuration.bool("use_bias", default: true)
    activation = try configuration.recurrentActivation("activation", default: "tanh")
    gateActivation = try configuration.recurrentActivation(
      "recurrent_activation", "inner_activation", default: "hard_sigmoid")
    path = try RecurrentPath(configuration)
    format = try configuration.dataFormat ?? .channelsLast
  }

  var weights: [WeightSlot] {
    [WeightSlot("kernel"), WeightSlot("recurrent_kernel")] + (hasBias ? [WeightSlot("bias")] : [])
  }

  /// The layer that runs the other way.
  var reversed: ConvLSTM {
    var other = self
    other.path.isReversed.toggle()
    return other
  }

  /// One image of the sequence, and the sequence itself.
  private var imageAxes: [BlobAxis] {
    let places: [BlobAxis] = isOneDimensional ? [.width] : [.height, .width]
    return format == .channelsLast ? places + [.channel] : [.channel] + places
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    try convert(call, "", reversesOutput: false, into: &network)
  }

  /// - Parameter prefix: before the names of the weights, of a layer in another one.
  func convert(
    _ call: LayerCall, _ prefix: String, reversesOutput: Bool,
    into network: inout NetworkWriter
  ) throws -> [KerasTensor] {
    guard let input = call.inputs.first else { throw call.error("it has no inputs") }
    let given = Array(call.inputs.dropFirst())
    guard given.isEmpty || given.count == 2 else {
      throw call.error("it takes two initial states, not \(given.count)")
    }
    let rank = isOneDimensional ? 4 : 5
    guard input.rank == rank else {
      throw call.error("its input \(input.shapeText) is no sequence of images")
    }
    guard input.mask == nil else {
      throw call.unsupported("a mask of its input is not supported")
    }
    let layout = TensorLayout(axes: [.sequence] + imageAxes)
    network.fixesSequences = true
    var sequence = network.relaid(input, to: layout, for: call.name)
    guard let count = sequence.shape[1], let channels = sequence.size(of: .channel),
      !input.isGuess
    else {
      throw call.unsupported(
        "its steps are written out one by one, and a size of its input \(input.shapeText) is "
          + "unknown", hint: "fix it with --input-shape")
    }
    guard count <= Self.stepLimit else {
      throw call.error("\(count) steps are too many", code: .limitExceeded)
    }
    // All gates of all steps at once: i, f, c, o.
    sequence.blob = network.add(
      call.name + "__inputs__", try inputs(call, prefix, channels), [sequence.blob])
    for (axis, place) in [BlobAxis.height, .width].enumerated() {
      guard let index = sequence.index(of: place) else { continue }
      let extent = (kernelSize[axis] - 1) * dilation[axis] + 1
      sequence.shape[index] = border.length(
        sequence.shape[index], extent: extent, stride: strides[axis])
    }
    guard !sequence.shape.contains(0) else {
      throw call.error("its input \(input.shapeText) is smaller than its kernel")
    }
    let size = kernelSize.map { $0 }
    let stored: [Int?] = (isOneDimensional ? [size[1]] : size) + [filters, 4 * filters]
    let recurrent = recurrence(try call.weight(prefix + "recurrent_kernel", stored))
    // A step is an element of the channels where these and the sequence change places.
    var swapped = sequence
    if let index = sequence.index(of: .channel) { swapped.shape[index] = 4 * filters }
    let turned = layout.axes.map { axis -> BlobAxis in
      axis == .sequence ? .channel : axis == .channel ? .sequence : axis
    }
    let rows = network.relaid(swapped, to: TensorLayout(axes: turned), for: call.name)
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
    _ network: inout NetworkWriter
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
    return [result]
      + [h, c].map { blob in
        var state = image
        state.blob = blob
        return state
      }
  }

  private func inputs(_ call: LayerCall, _ prefix: String, _ channels: Int) throws -> Convolution {
    let stored: [Int?] =
      (isOneDimensional ? [kernelSize[1]] : kernelSize) + [channels, 4 * filters]
    var convolution = recurrence(try call.weight(prefix + "kernel", stored))
    convolution.kernelChannels = channels
    convolution.stride = strides
    convolution.dilationFactor = dilation
    convolution.padding = border.convolutionPadding
    convolution.hasBias = hasBias
    if hasBias { convolution.bias = Weights(try call.weight(prefix + "bias", [4 * filters])) }
    return convolution
  }

  private func recurrence(_ stored: FloatValues) -> Convolution {
    let inner = stored.shape[stored.shape.count - 2]
    let kernel = stored.shaped(kernelSize + [inner, 4 * filters]).transposed([3, 2, 0, 1])
    var convolution = Convolution()
    convolution.outputChannels = 4 * filters
    convolution.kernelChannels = inner
    convolution.nGroups = 1
    convolution.kernelSize = kernelSize
    convolution.stride = [1, 1]
    convolution.dilationFactor = [1, 1]
    convolution.padding = .same(SamePadding())
    convolution.kernel = Weights(kernel)
    return convolution
  }

  private func step(
    _ x: String, _ h: String?, _ c: String?, _ recurrent: Convolution, _ name: String,
    _ call: LayerCall, _ network: inout NetworkWriter
  ) throws -> (String, String) {
    var sums = x
    if let h {
      sums = network.sum([x, network.add(name + "h", recurrent, [h])], name + "sums")
    }
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
