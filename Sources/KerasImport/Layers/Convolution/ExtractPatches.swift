import ByteFormats
import CoreMLModel
import ImportSupport
import TensorCore

/// Windows of an image, with all elements of a window as channels.
struct ExtractPatches: Sendable {
  /// The height and width of a window.
  let sizes: [Int]
  let strides: [Int]
  let rates: [Int]

  private static let limit = 4096

  /// The windows, `[rows, columns, window height · window width · channels]`, without padding.
  ///
  /// Stacks strided slices of the columns as channels, and then those of the rows.
  func patches(
    of given: KerasTensor, _ call: LayerCall, _ network: inout KerasWriter
  ) throws -> KerasTensor {
    var image = network.relaid(given, to: .image, for: call.name)
    guard image.rank == 4 else { throw call.error("its input \(image.shapeText) is not an image") }
    try call.require(
      (sizes + strides + rates).allSatisfy { $0 > 0 }
        && checkedProduct(sizes, limit: Limits.dimension) <= Self.limit,
      unsupported: "windows of \(sizes[0]) × \(sizes[1]) are not supported")
    for axis in [1, 0] {
      let length = try call.known([image.shape[axis + 1]], of: image)[0]
      let reach = try checkedSum([
        checkedProduct([sizes[axis] - 1, rates[axis]], limit: Limits.dimension), 1,
      ])
      try call.require(reach <= length, "its input \(given.shapeText) is smaller than a window")
      let count = (length - reach) / strides[axis] + 1
      let name = "\(call.name)__\(axis == 1 ? "columns" : "rows")"
      let blobs = (0..<sizes[axis]).map { index in
        let start = index * rates[axis]
        return network.slice(
          image.blob, start..<start + (count - 1) * strides[axis] + 1,
          of: axis == 1 ? .width : .height, stride: strides[axis], "\(name)_\(index)__")
      }
      let channels = try call.known([image.channels], of: image)[0]
      image.shape[axis + 1] = count
      image.shape[3] = try checkedProduct([channels, sizes[axis]], limit: Limits.dimension)
      image.blob =
        blobs.count == 1
        ? blobs[0]
        : network.joined(blobs, alongSequence: false, axis == 1 ? name + "__" : call.name)
    }
    return image
  }
}

/// Windows of an image, as in keras-cv-attention-models.
enum CompatibleExtractPatches: KerasLayer {
  static let classes = [SourceLayer](
    "CompatibleExtractPatches", becomes: "crops, concat",
    options: "`sizes`, `strides`, `rates`, `padding`; from keras-cv-attention-models",
    refused: "`compressed` false; `force_conv`")

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    func last(_ name: String) throws -> Int {
      let values = try configuration.ints(name) ?? []
      let value = try (values.count > 1 ? values[1] : values.first).orThrow(
        configuration.missing([name]))
      return value
    }
    let size = try last("sizes")
    let rates = try configuration.ints("rates") ?? [1]
    try configuration.require(
      [1, 2, 4].contains(rates.count), "rates", unsupported: "\(rates) are not supported")
    let windows = ExtractPatches(
      sizes: [size, size], strides: [try last("strides"), try last("strides")],
      rates: rates.count == 1
        ? [rates[0], rates[0]] : Array(rates.count == 2 ? rates[...] : rates[1..<3]))
    let padding = try configuration.border() == .same ? size / 2 : 0
    for (name, value) in [("compressed", true), ("force_conv", false)] {
      try configuration.require(
        configuration.bool(name, default: value) == value, name,
        unsupported: "\(!value) is not supported")
    }
    return conversion { call, network in
      var image = try call.input
      if padding > 0 {
        image = try call.part(
          "ZeroPadding2D", [image], "padded", ["padding": .int(padding)], &network)
      }
      return [try windows.patches(of: image, call, &network)]
    }
  }
}

extension OperationCall {
  /// `tf.image.extract_patches`, and Keras 3's operation with the same name.
  func extractedPatches(into network: inout KerasWriter) throws -> KerasTensor {
    let image = network.relaid(try input, to: .image, for: name)
    try layer.require(image.rank == 4, "its input \(image.shapeText) is not an image")
    func pair(_ position: Int, _ names: String...) throws -> [Int]? {
      var found: [Int]?
      for name in names where found == nil { found = try ints(nil, name) }
      guard let values = try found ?? ints(position, "") else { return nil }
      switch values.count {
      case 1: return [values[0], values[0]]
      case 2: return values
      case 4: return Array(values[1..<3])
      default: throw layer.unsupported("windows of \(values) are not supported")
      }
    }
    guard let sizes = try pair(1, "sizes", "size") else { throw layer.error("it has no sizes") }
    let strides = try pair(2, "strides") ?? sizes
    let rates = try pair(3, "rates", "dilation_rate") ?? [1, 1]
    let isSame = try string(4, "padding", default: "valid").lowercased() == "same"
    let windows = ExtractPatches(sizes: sizes, strides: strides, rates: rates)
    guard isSame else { return try windows.patches(of: image, layer, &network) }
    let amounts = try [0, 1].map { axis -> JSONValue in
      let length = try layer.known([image.shape[axis + 1]], of: image)[0]
      try layer.require(strides[axis] > 0, "its strides are \(strides)")
      let reach = try checkedSum([
        checkedProduct([sizes[axis] - 1, rates[axis]], limit: Limits.dimension), 1,
      ])
      let total = max(((length - 1) / strides[axis]) * strides[axis] + reach - length, 0)
      return .array([.int(total / 2), .int(total - total / 2)])
    }
    let padded = try layer.part(
      "ZeroPadding2D", [image], "padded", ["padding": .array(amounts)], &network)
    return try windows.patches(of: padded, layer, &network)
  }
}
