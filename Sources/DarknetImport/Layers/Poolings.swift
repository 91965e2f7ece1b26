import CoreMLModel
import ImportSupport
import TensorCore

extension DarknetLayer {
  /// The maximum of each window.
  static let maxPool = DarknetLayer(
    SourceLayer(
      "maxpool", "max",
      becomes: "pooling, padded to Darknet's size; `maxpool_depth`: reduce, or split and max",
      refused: "`antialiasing`, `maxpool_zero_nonmax`; windows inside the padding"),
    options: [
      "size", "stride", "stride_x", "stride_y", "padding", "maxpool_depth", "out_channels",
      "maxpool_zero_nonmax", "antialiasing",
    ]
  ) { section in
    let pool = try PoolOptions(section)
    let isAcrossChannels = try section.bool("maxpool_depth")
    let channels = try section.int("out_channels", default: 1, in: 1...Limits.dimension)
    try section.refuse("antialiasing", "Darknet leaves the sizes after it undefined")
    try section.refuse("maxpool_zero_nonmax", "it changes the output of the layer before")
    return { call, network in
      let input = try call.image
      guard isAcrossChannels else { return try pool.convert(.max, input, call, into: &network) }
      // Channel g of the output is the maximum of channels g, g + channels, g + 2 · channels, …
      if channels == 1 {
        let blob = network.reduced(.max, .c, input.blob, call.name)
        return try DarknetTensor(blob, 1, input.height, input.width)
      }
      try call.require(
        input.channels % channels == 0,
        unsupported: "\(input.channels) channels are not a multiple of out_channels, \(channels)")
      if input.channels == channels { return input }
      let parts = network.split(
        input.blob, into: input.channels / channels, call.name + "__split__")
      return try DarknetTensor(
        network.add(call.name, Max(), parts), channels, input.height, input.width)
    }
  }

  /// The mean of each channel.
  static let averagePool = DarknetLayer(
    SourceLayer("avgpool", "avg", becomes: "pooling globalPooling")
  ) { _ in
    { call, network in
      let input = try call.image
      var pooling = Pooling()
      pooling.type = .average
      pooling.globalPooling = true
      pooling.padding = .valid(.around(0))
      return try DarknetTensor(network.add(call.name, pooling, [input.blob]), input.channels, 1, 1)
    }
  }

  /// The mean of each window, excluding padding.
  static let localAveragePool = DarknetLayer(
    SourceLayer(
      "local_avgpool", "local_avg", becomes: "pooling, excluding padding"),
    options: ["size", "stride", "stride_x", "stride_y", "padding"]
  ) { section in
    let pool = try PoolOptions(section)
    return { call, network in
      try pool.convert(.average, call.image, call, into: &network)
    }
  }

  /// scale · in, with each element repeated `stride` times along rows and columns; with a negative
  /// stride, the sums of the blocks.
  static let upsample = DarknetLayer(
    SourceLayer(
      "upsample", becomes: "upsample nearest; a negative `stride`: pooling, linear"),
    options: ["stride", "scale"]
  ) { section in
    let stride = try section.int("stride", default: 2, in: -(1 << 14)...(1 << 14))
    let scale = try section.double("scale", default: 1)
    if stride == 0, let option = section["stride"] { throw section.error(option, "0") }
    return { call, network in
      let input = try call.image
      var output: DarknetTensor
      var factor = scale
      if stride > 0 {
        output = try DarknetTensor(
          "", input.channels,
          checkedProduct([input.height, stride], limit: Limits.dimension),
          checkedProduct([input.width, stride], limit: Limits.dimension))
        var upsample = Upsample()
        upsample.scalingFactor = [stride, stride]
        upsample.mode = .nearest
        output.blob = network.add(call.name, upsample, [input.blob])
      } else {
        let size = -stride
        guard input.height % size == 0, input.width % size == 0 else {
          throw call.error("\(input.height) × \(input.width) is not a multiple of \(size)")
        }
        output = try DarknetTensor("", input.channels, input.height / size, input.width / size)
        var pooling = Pooling()
        pooling.type = .average
        pooling.kernelSize = [size, size]
        pooling.stride = [size, size]
        pooling.padding = .valid(.around(0))
        output.blob = network.add(call.name, pooling, [input.blob])
        factor *= Double(size * size)
      }
      if factor != 1 {
        output.blob = network.affine(output.blob, Float(factor), 0, call.name + "__scale__")
      }
      return output
    }
  }
}

/// `size`, `stride` and `padding` of a pooling layer.
///
/// The padding is the sum of both sides, by default `size − 1`; half of it, rounded down, goes
/// above and to the left. out = ⌊(in + padding − size) / stride⌋ + 1.
struct PoolOptions: Sendable {
  private let size: Int
  private let strides: [Int]
  private let padding: Int

  init(_ section: ConfigurationSection) throws {
    let stride = try section.int("stride", default: 1, in: 1...Limits.dimension)
    strides = [
      try section.int("stride_y", default: stride, in: 1...Limits.dimension),
      try section.int("stride_x", default: stride, in: 1...Limits.dimension),
    ]
    size = try section.int(
      "size", default: min(stride, WindowOptions.limit), in: 1...WindowOptions.limit)
    padding = try section.int("padding", default: size - 1, in: 0...WindowOptions.limit)
  }

  func convert(
    _ type: Pooling.PoolingType, _ input: DarknetTensor, _ call: LayerCall,
    into network: inout DarknetWriter
  ) throws -> DarknetTensor {
    var lengths: [Int] = []
    var behind: [Int] = []
    for (extent, stride) in zip([input.height, input.width], strides) {
      let rest = extent + padding - size
      try call.require(
        rest >= 0,
        "a window of \(size) does not fit its input's \(extent) and padding of \(padding)")
      let length = rest / stride + 1
      // The distance by which the last window extends beyond the image.
      let reach = try checkedProduct([length - 1, stride], limit: Limits.dimension)
      behind.append(max(0, reach + size - padding / 2 - extent))
      lengths.append(length)
    }
    try call.require(
      padding / 2 < size && behind.allSatisfy({ $0 < size }),
      unsupported: "with a padding of \(padding) windows of \(size) lie entirely outside the image")
    var pooling = Pooling()
    pooling.type = type
    pooling.kernelSize = [size, size]
    pooling.stride = strides
    pooling.avgPoolExcludePadding = type == .average
    var amounts = ValidPadding()
    amounts.paddingAmounts = BorderAmounts(
      top: padding / 2, bottom: behind[0], left: padding / 2, right: behind[1])
    pooling.padding = .valid(amounts)
    let blob = network.add(call.name, pooling, [input.blob])
    return try DarknetTensor(blob, input.channels, lengths[0], lengths[1])
  }
}
