import ByteFormats
import ImportSupport
import TensorCore

/// Convolutions between an image and a smaller one, added for each size.
///
/// Source: keras-octave-conv 0.6. With one input or one output, those of the smaller image are
/// missing.
struct OctaveConvolution: KerasLayer {
  static let classes = [SourceLayer](
    "OctaveConv2D", becomes: "convolutions, pooling, upsample, add",
    options:
      "`octave`, `ratio_out`, `strides`, `dilation_rate`, `activation`; from keras-octave-conv",
    refused: "channels first")
  /// The number of inputs decides, which the configuration does not contain.
  static let hasKnownWeights = false

  private let octave: Int
  private let filters: (high: Int, low: Int)
  private let hasBias: Bool
  private let fields: JSONObject

  init(_ configuration: LayerConfiguration) throws {
    octave = try configuration.int("octave", default: 2)
    hasBias = try configuration.bool("use_bias", default: true)
    let count = try configuration.int("filters")
    let ratio = try configuration.double("ratio_out", default: 0.5)
    try configuration.require(
      (0...1).contains(ratio), "ratio_out", unsupported: "\(ratio) is not between 0 and 1")
    let low = Int(Double(count) * ratio)
    filters = (count - low, low)
    try configuration.require(
      configuration.dataFormat != .channelsFirst, "data_format",
      unsupported: "channels first is not supported")
    fields = configuration.fields
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    guard (1...2).contains(call.inputs.count) else {
      throw call.error("it takes one or two inputs but gets \(call.inputs.count)")
    }
    let high = call.inputs[0]
    let low = call.inputs.count > 1 ? call.inputs[1] : nil
    // The convolutions in the order of their weights.
    var paths: [String] = []
    for (size, count) in [("high", filters.high), ("low", filters.low)] where count > 0 {
      let both = size == "high" ? ["high_to_high", "low_to_high"] : ["high_to_low", "low_to_low"]
      paths += both.filter { low != nil || $0.hasPrefix("high") }
    }
    var call = call
    if call.missingWeights == nil {
      let each = hasBias ? 2 : 1
      try call.require(
        call.weights.count == paths.count * each,
        "it has \(counted(call.weights.count, "weight")), but needs \(paths.count * each)")
      let named = call.weights.enumerated().map { index, weight in
        var weight = weight
        weight.name = "\(paths[index / each])/\(index % each == 0 ? "kernel" : "bias")"
        return weight
      }
      call = call.with(name: call.name, inputs: call.inputs, weights: named)
    }
    let size = JSONValue.int(octave)
    var outputs: [KerasTensor] = []
    if filters.high > 0 {
      var sum = [try convolved(high, "high_to_high", filters.high, call, &network)]
      if let low {
        let small = try convolved(low, "low_to_high", filters.high, call, &network)
        sum.append(
          try call.part("UpSampling2D", [small], "enlarged", ["size": size], &network))
      }
      outputs.append(sum.count == 1 ? sum[0] : try call.part("Add", sum, "high", &network))
    }
    if filters.low > 0 {
      let pooled = try call.part(
        "AveragePooling2D", [high], "pooled", ["pool_size": size], &network)
      var sum = [try convolved(pooled, "high_to_low", filters.low, call, &network)]
      if let low { sum.append(try convolved(low, "low_to_low", filters.low, call, &network)) }
      outputs.append(sum.count == 1 ? sum[0] : try call.part("Add", sum, "low", &network))
    }
    return outputs
  }

  private func convolved(
    _ image: KerasTensor, _ path: String, _ count: Int, _ call: LayerCall,
    _ network: inout NetworkWriter
  ) throws -> KerasTensor {
    try call.part(
      "Conv2D", [image], path,
      [
        "filters": .int(count), "kernel_size": fields["kernel_size"] ?? .null,
        "strides": fields["strides"] ?? .null, "padding": .string("same"),
        "dilation_rate": fields["dilation_rate"] ?? .null,
        "activation": fields["activation"] ?? .null, "use_bias": .bool(hasBias),
      ], &network)
  }
}
