import CoreMLModel
import TensorCore

/// A convolution whose kernel differs from place to place.
///
/// A convolution with unit kernels gathers each window, and a grouped one multiplies each by the
/// matrix of its place.
struct LocallyConnected: Sendable {
  let filters: Int
  let kernelSize: [Int]
  let strides: [Int]
  let border: LayerConfiguration.Border
  let hasBias: Bool
  let activation: ActivationFunction
  let isChannelsFirst: Bool
  /// How the kernel is kept: by place, as a matrix of all elements, or the elements that are not 0.
  let implementation: Int

  private static let elementLimit = 1 << 28

  init(_ configuration: LayerConfiguration, kernelSize: [Int], strides: [Int]) throws {
    filters = try configuration.int("filters", "nb_filter")
    self.kernelSize = kernelSize
    self.strides = strides
    border = try configuration.border()
    hasBias = try configuration.bool("use_bias", "bias", default: true)
    activation = try ActivationFunction(configuration)
    isChannelsFirst = try configuration.dataFormat == .channelsFirst
    implementation = try configuration.int("implementation", default: 1)
    guard !isChannelsFirst || implementation == 1 else {
      throw configuration.unsupported(
        "implementation", "\(implementation) with data_format 'channels_first' is not supported")
    }
  }

  var slots: [WeightSlot] { [WeightSlot("kernel")] + (hasBias ? [WeightSlot("bias")] : []) }

  /// - Parameter rank: the number of the kernel's axes, 1 or 2.
  func convert(
    _ input: KerasTensor, rank: Int, _ call: LayerCall, into network: inout NetworkWriter
  ) throws -> KerasTensor {
    let places = [BlobAxis.height, .width]
    let sizes = places.map { place in input.index(of: place).map { input.shape[$0] } ?? 1 }
    guard let channels = input.size(of: .channel), let height = sizes[0], let width = sizes[1],
      !input.isGuess
    else {
      throw call.error(
        "its input \(input.shapeText) has an unknown size", code: .mismatch,
        hint: "fix it with --input-shape")
    }
    var output = input
    var lengths: [Int] = []
    for (axis, size) in [height, width].enumerated() {
      let length =
        border.length(size, extent: kernelSize[axis], stride: strides[axis]) ?? 0
      guard length > 0 else { throw call.error("its input \(input.shapeText) is too small") }
      lengths.append(length)
      if let index = input.index(of: places[axis]) { output.shape[index] = length }
    }
    if let index = input.index(of: .channel) { output.shape[index] = filters }
    let window = kernelSize[0] * kernelSize[1] * channels
    let count = lengths[0] * lengths[1]
    _ = try checkedProduct([count, window, filters], limit: Self.elementLimit)
    _ = try checkedProduct([window, window], limit: Self.elementLimit)
    let geometry = Geometry(
      input: [height, width], output: lengths, channels: channels, rank: rank)
    let kernel = try kernel(call, geometry)
    // Each channel of the result is one element of the window.
    var gather = Convolution()
    gather.outputChannels = window
    gather.kernelChannels = channels
    gather.nGroups = 1
    gather.kernelSize = kernelSize
    gather.stride = strides
    gather.dilationFactor = [1, 1]
    gather.padding = .valid(padding(geometry))
    var unit = [Float](repeating: 0, count: window * window)
    let area = kernelSize[0] * kernelSize[1]
    for position in 0..<area {
      for channel in 0..<channels {
        let row = isChannelsFirst ? channel * area + position : position * channels + channel
        unit[(row * channels + channel) * area + position] = 1
      }
    }
    gather.kernel = Weights(unit)
    let windows = network.add(call.name + "__windows__", gather, [input.blob])
    // C, H, W becomes H, W, C: the elements of one window lie side by side.
    var permute = Permute()
    permute.axis = [0, 2, 3, 1]
    let turned = network.add(call.name + "__places__", permute, [windows])
    var flatten = Flatten()
    flatten.mode = .channelFirst
    let flat = network.add(call.name + "__flat__", flatten, [turned])
    var product = Convolution.pointwise(
      Weights(kernel), inputs: window, outputs: count * filters, bias: try bias(call, lengths, rank)
    )
    product.nGroups = count
    let products = network.add(call.name, product, [flat], to: call.name + "_output__flat__")
    var reshape = Reshape()
    reshape.mode = .channelLast
    reshape.targetShape = [filters, lengths[0], lengths[1]]
    output.blob = network.add(
      call.name + "__reshape__", reshape, [products], to: call.name + "_output")
    return try network.activate(activation, output, call)
  }

  private func bias(_ call: LayerCall, _ lengths: [Int], _ rank: Int) throws -> Weights? {
    guard hasBias else { return nil }
    let shape: [Int?] = (rank == 1 ? [lengths[1]] : lengths.map { $0 }) + [filters]
    return Weights(try call.weight("bias", shape))
  }

  private struct Geometry {
    var input: [Int]
    var output: [Int]
    var channels: Int
    var rank: Int
  }

  /// `[place, filter, element of the window]`
  private func kernel(_ call: LayerCall, _ geometry: Geometry) throws -> [Float] {
    let window = kernelSize[0] * kernelSize[1] * geometry.channels
    let count = geometry.output[0] * geometry.output[1]
    if implementation == 1 {
      let stored = try call.weight("kernel", [count, window, filters])
      return stored.transposed([0, 2, 1]).array()
    }
    let inner = geometry.rank == 1 ? [geometry.input[1]] : geometry.input
    let outer = geometry.rank == 1 ? [geometry.output[1]] : geometry.output
    let isSparse = implementation == 3
    let shape: [Int?] =
      isSparse ? [nil] : (inner + [geometry.channels] + outer + [filters]).map { $0 }
    let stored = try call.weight("kernel", shape).array()
    var kernel = [Float](repeating: 0, count: count * window * filters)
    var next = 0
    for place in 0..<count {
      for filter in 0..<filters {
        for element in 0..<window {
          let channel = element % geometry.channels
          let position = element / geometry.channels
          guard let source = source(position, of: place, geometry) else { continue }
          let index: Int
          if isSparse {
            // Sorted by the output's element, then by the input's.
            index = next
            next += 1
          } else {
            index =
              ((source * geometry.channels + channel) * count + place) * filters + filter
          }
          guard index < stored.count else {
            throw call.error("the weight 'kernel' has \(stored.count) elements, which are too few")
          }
          kernel[(place * filters + filter) * window + element] = stored[index]
        }
      }
    }
    guard !isSparse || next == stored.count else {
      throw call.error(
        "the weight 'kernel' has \(stored.count) elements, the configuration implies \(next)")
    }
    return kernel
  }

  /// Before and after the input: Keras puts half a window in front, of even sizes the larger half.
  private func padding(_ geometry: Geometry) -> ValidPadding {
    var amounts: [[Int]] = []
    for axis in 0..<2 {
      let extent = (geometry.output[axis] - 1) * strides[axis] + kernelSize[axis]
      let before = border == .same ? kernelSize[axis] / 2 : 0
      amounts.append([before, max(extent - before - geometry.input[axis], 0)])
    }
    var padding = ValidPadding()
    padding.paddingAmounts = BorderAmounts(
      top: amounts[0][0], bottom: amounts[0][1], left: amounts[1][0], right: amounts[1][1])
    return padding
  }

  /// The input's place under a place of the window; nil outside.
  private func source(_ position: Int, of place: Int, _ geometry: Geometry) -> Int? {
    let steps = [position / kernelSize[1], position % kernelSize[1]]
    let origin = [place / geometry.output[1], place % geometry.output[1]]
    var source: [Int] = []
    for axis in 0..<2 {
      let before = border == .same ? kernelSize[axis] / 2 : 0
      let index = origin[axis] * strides[axis] + steps[axis] - before
      guard (0..<geometry.input[axis]).contains(index) else { return nil }
      source.append(index)
    }
    return source[0] * geometry.input[1] + source[1]
  }
}

/// A convolution whose kernel differs from place to place of an image.
struct LocallyConnected2D: KerasLayer {
  static let classNames = ["LocallyConnected2D"]

  private let connection: LocallyConnected
  private let format: LayerConfiguration.DataFormat

  init(_ configuration: LayerConfiguration) throws {
    let size: [Int]
    if configuration.field("nb_row") != nil {
      size = [try configuration.int("nb_row"), try configuration.int("nb_col")]
    } else {
      size = try configuration.pair("kernel_size")
    }
    connection = try LocallyConnected(
      configuration, kernelSize: size,
      strides: try configuration.pair("strides", "subsample", default: [1, 1]))
    format = try configuration.dataFormat ?? .channelsLast
  }

  var weights: [WeightSlot] { connection.slots }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let input = try network.image(call.input, format, call)
    return [try connection.convert(input, rank: 2, call, into: &network)]
  }
}

/// A convolution whose kernel differs from step to step.
struct LocallyConnected1D: KerasLayer {
  static let classNames = ["LocallyConnected1D"]

  private let connection: LocallyConnected
  private let steps: StepSettings

  init(_ configuration: LayerConfiguration) throws {
    connection = try LocallyConnected(
      configuration,
      kernelSize: [1, try configuration.single("kernel_size", "filter_length")],
      strides: [
        1, try configuration.single("strides", "subsample_length", default: 1),
      ])
    steps = try StepSettings(configuration)
  }

  var weights: [WeightSlot] { connection.slots }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let input = try steps.input(call, &network)
    return [try connection.convert(input, rank: 1, call, into: &network)]
  }
}
