import CoreMLModel
import ImportSupport
import TensorCore

/// A convolution with a different kernel at each position of a sequence or an image.
///
/// A convolution with unit kernels gathers the windows, and a grouped convolution multiplies each
/// window by the matrix for its position.
struct LocallyConnected: KerasLayerSettings {
  static let classes = [SourceLayer](
    "LocallyConnected2D", "LocallyConnected1D",
    becomes: "a convolution with unit kernels, and one with a group per position",
    options: "`implementation` 1, 2, 3", refused: "`channels_first` with implementation 2 or 3")

  private let filters: Int
  private let settings: ConvolutionSettings
  /// How the kernel is stored: 1 by position, 2 as a matrix of all elements, 3 as the nonzero
  /// elements.
  private let implementation: Int
  private var isChannelsFirst: Bool { settings.axes.format == .channelsFirst }

  private static let elementLimit = 1 << 28

  init(_ configuration: LayerConfiguration) throws {
    filters = try configuration.int("filters", "nb_filter")
    settings = try ConvolutionSettings(configuration)
    implementation = try configuration.int("implementation", default: 1)
    try configuration.require(
      !isChannelsFirst || implementation == 1, "implementation",
      unsupported: "\(implementation) with data_format 'channels_first' is not supported")
  }

  var weights: [WeightSlot] { settings.slots("kernel") }

  /// The windows along height and width; a sequence has a height of 1.
  private struct Geometry {
    let input: [Int]
    let output: [Int]
    let kernel: [Int]
    let strides: [Int]
    /// The padding before the input: half a window, rounded up for even sizes.
    let before: [Int]
    let channels: Int

    /// The number of elements per window.
    var window: Int { kernel[0] * kernel[1] * channels }
    var places: Int { output[0] * output[1] }

    /// The padding before and after the input.
    var padding: ValidPadding {
      let after = (0..<2).map { axis in
        let end = (output[axis] - 1) * strides[axis] + kernel[axis]
        return max(end - before[axis] - input[axis], 0)
      }
      return ValidPadding(
        BorderAmounts(top: before[0], bottom: after[0], left: before[1], right: after[1]))
    }

    /// The input position under an element of a window; nil if it is in the padding.
    func source(_ position: Int, of place: Int) -> Int? {
      let steps = [position / kernel[1], position % kernel[1]]
      let origin = [place / output[1], place % output[1]]
      let y = origin[0] * strides[0] + steps[0] - before[0]
      let x = origin[1] * strides[1] + steps[1] - before[1]
      guard (0..<input[0]).contains(y), (0..<input[1]).contains(x) else { return nil }
      return y * input[1] + x
    }
  }

  func convert(_ call: LayerCall, into network: inout KerasWriter) throws -> [KerasTensor] {
    let axes = settings.axes
    let input = try axes.input(call, &network)
    guard let channels = input.size(of: .channel) else { throw call.unknownSize(of: input) }
    let sizes = try call.known(axes.lengths(input), of: input)
    var output = try settings.output(input, filters: filters, call)
    let kernelSize = settings.planar(settings.kernelSize)
    let geometry = Geometry(
      input: settings.planar(sizes),
      output: settings.planar(try call.known(axes.lengths(output), of: output)),
      kernel: kernelSize, strides: settings.planar(settings.strides),
      before: kernelSize.map { settings.border == .same ? $0 / 2 : 0 }, channels: channels)
    let window = geometry.window
    _ = try computedCount([geometry.places, window, filters], limit: Self.elementLimit)
    _ = try computedCount([window, window], limit: Self.elementLimit)
    let kernel = try kernel(call, geometry)
    // Each output channel is one element of the window.
    var unit = try [Float](zeros: window * window)
    let area = kernelSize[0] * kernelSize[1]
    for position in 0..<area {
      for channel in 0..<channels {
        let row = isChannelsFirst ? channel * area + position : position * channels + channel
        unit[(row * channels + channel) * area + position] = 1
      }
    }
    var gather = Convolution(Weights(unit), inputs: channels, outputs: window, size: kernelSize)
    gather.stride = geometry.strides
    gather.padding = .valid(geometry.padding)
    let windows = network.add(call.name + "__windows__", gather, [input.blob])
    // Transposes C, H, W to H, W, C, so that the elements of one window are adjacent.
    let transposed = network.add(
      call.name + "__places__", Permute().with(\.axis, [0, 2, 3, 1]), [windows])
    let flat = network.add(
      call.name + "__flat__", Flatten().with(\.mode, .channelFirst), [transposed])
    let places = axes.count == 1 ? [geometry.output[1]] : geometry.output
    let bias = settings.hasBias ? Weights(try bias(call, places)) : nil
    var product = Convolution.pointwise(
      Weights(kernel), inputs: window, outputs: geometry.places * filters, bias: bias)
    product.nGroups = geometry.places
    let products = network.add(call.name, product, [flat], to: call.name + "_output__flat__")
    var reshape = Reshape()
    reshape.mode = .channelLast
    reshape.targetShape = [filters] + geometry.output
    output.blob = network.add(
      call.name + "__reshape__", reshape, [products], to: call.name + "_output")
    return [try network.activate(settings.activation, output, call)]
  }

  /// The bias as `[position, filter]`. With channels first, Keras reads the stored `[rows, columns,
  /// filters]` as `[filters, rows, columns]` without transposing.
  private func bias(_ call: LayerCall, _ places: [Int]) throws -> FloatValues {
    let stored = try call.weight("bias", places + [filters])
    guard isChannelsFirst else { return stored }
    return stored.shaped([filters, try checkedProduct(places)]).transposed([1, 0])
  }

  /// The kernel as `[position, filter, element of the window]`.
  private func kernel(_ call: LayerCall, _ geometry: Geometry) throws -> [Float] {
    let (window, count, channels) = (geometry.window, geometry.places, geometry.channels)
    if implementation == 1 {
      let stored = try call.weight("kernel", [count, window, filters])
      return try stored.transposed([0, 2, 1]).array()
    }
    let rank = settings.axes.count
    let isSparse = implementation == 3
    let shape: [Int?] =
      isSparse
      ? [nil] : geometry.input.suffix(rank) + [channels] + geometry.output.suffix(rank) + [filters]
    let stored = try call.weight("kernel", shape).array()
    var kernel = try [Float](zeros: count * window * filters)
    var next = 0
    for place in 0..<count {
      for filter in 0..<filters {
        for element in 0..<window {
          guard let source = geometry.source(element / channels, of: place) else { continue }
          // Sorted by output element, then by input element.
          let index =
            isSparse
            ? next : ((source * channels + element % channels) * count + place) * filters + filter
          next += 1
          try call.require(
            index < stored.count, "weight 'kernel' has only \(stored.count) elements")
          kernel[(place * filters + filter) * window + element] = stored[index]
        }
      }
    }
    try call.require(
      !isSparse || next == stored.count,
      "weight 'kernel' has \(stored.count) elements, but the configuration requires \(next)")
    return kernel
  }
}
