import ByteFormats
import CoreMLModel
import TensorCore

extension OperationTable {
  /// Pooling and normalization as functions.
  static let windows: [Operation] = [
    pooling("MaxPooling", "maxpool", "maxpool2d", "maxpool1d", "maxpoolwithargmax"),
    pooling("AveragePooling", "avgpool", "averagepool", "avgpool2d", "avgpool1d"),
    Operation("localresponsenormalization", "lrn") { call, network in
      // x / (bias + alpha · Σ x²) ^ beta; Core ML divides alpha by the number of channels.
      let input = network.relaid(try call.input, to: .image, for: call.name)
      let radius = try call.int(1, "depth_radius", default: 5)
      try call.layer.require(
        input.rank == 4 && (0...4096).contains(radius),
        unsupported: "a radius of \(radius) is not supported for \(input.shapeText)")
      var normalization = LRN()
      normalization.localSize = 2 * radius + 1
      normalization.k = Float(try call.double(2, "bias", default: 1))
      normalization.alpha = Float(try call.double(3, "alpha", default: 1)) * Float(2 * radius + 1)
      normalization.beta = Float(try call.double(4, "beta", default: 0.5))
      return [input.with(network.add(call.name, normalization, [input.blob]))]
    },
    Operation("extractpatches") { call, network in
      [try call.extractedPatches(into: &network)]
    },
    Operation("perimagestandardization") { call, network in
      // (x − mean) / max(deviation, 1 / √number of elements)
      let input = try call.input
      guard let count = input.itemCount, input.rank == 4 else {
        throw call.layer.unsupported("images of shape \(input.shapeText) are not supported")
      }
      let (centered, variance) = try call.moments(input, [1, 2, 3], into: &network)
      let bounded = network.unary(
        .threshold, variance.blob, call.name + "__bound__", alpha: 1 / Float(count))
      let factor = network.unary(
        .rsqrt, bounded, call.name + "__rsqrt__", epsilon: .leastNormalMagnitude)
      return [centered.with(network.product(centered.blob, factor, call.name))]
    },
  ]

  private static func pooling(_ layer: String, _ names: String...) -> Operation {
    Operation(names: names) { call, network in
      let input = try call.input
      try call.layer.require(
        input.rank == 3 || input.rank == 4,
        unsupported: "windows of \(input.shapeText) are not supported")
      let places = input.rank - 2
      func sizes(_ position: Int, _ names: String...) throws -> JSONValue {
        let named = try names.lazy.compactMap { try call.constant(nil, $0) }.first
        guard let value = try named ?? call.constant(position, "") else { return .null }
        guard var numbers = value.int.map({ [$0] }) ?? value.array?.compactMap(\.int) else {
          throw call.layer.unsupported("the windows \(value.text) are not supported")
        }
        if numbers.count == places + 2 { numbers = Array(numbers[1...places]) }
        return .array(numbers.map { .int($0) })
      }
      let format = try call.string(nil, "data_format", default: "channels_last")
      try call.layer.require(
        !format.hasPrefix("NC") && format != "channels_first",
        unsupported: "channels first is not supported")
      return try call.convert(
        [input], as: layer + "\(places)D",
        [
          "pool_size": sizes(1, "pool_size", "ksize"),
          "strides": sizes(2, "strides"),
          "padding": .string(
            try call.string(3, "padding", default: "valid").lowercased()),
        ], into: &network)
    }
  }
}
