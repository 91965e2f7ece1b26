import ByteFormats
import CoreMLModel
import ImportSupport
import TensorCore

/// Residual blocks of dilated convolutions, of keras-tcn 3.
struct TemporalConvolution: KerasLayer {
  static let classes = [SourceLayer](
    "TCN", becomes: "its convolutions, normalizations, activations and sums",
    options: "of keras-tcn 3: all but weight normalization",
    refused:
      "`use_weight_norm`, `return_state`; `padding='same'` of unknown length, unless `return_sequences`"
  )
  static let hasKnownWeights = false

  private let filters: [Int]
  private let kernelSize: Int
  private let dilations: [Int]
  private let stacks: Int
  private let padding: String
  private let activation: JSONValue
  private let norm: String?
  private let usesSkips: Bool
  private let returnsSequences: Bool
  private let goesBackwards: Bool

  init(_ configuration: LayerConfiguration) throws {
    dilations = try configuration.ints("dilations") ?? []
    let filters = try configuration.ints("nb_filters") ?? []
    let isValid =
      (1...64).contains(dilations.count) && dilations.allSatisfy { $0 > 0 }
      && (filters.count == 1 || filters.count == dilations.count)
    try configuration.require(
      isValid, "dilations", unsupported: "\(dilations) with nb_filters \(filters)")
    self.filters = filters
    kernelSize = try configuration.int("kernel_size")
    stacks = try configuration.int("nb_stacks", default: 1)
    try configuration.require(stacks <= 64, "nb_stacks", unsupported: "\(stacks) are not supported")
    padding = try configuration.string("padding", default: "causal")
    activation = configuration["activation"] ?? .string("relu")
    usesSkips = try configuration.bool("use_skip_connections", default: true)
    returnsSequences = try configuration.bool("return_sequences", default: false)
    goesBackwards = try configuration.bool("go_backwards", default: false)
    norm =
      try configuration.bool("use_batch_norm", default: false)
      ? "BatchNormalization"
      : try configuration.bool("use_layer_norm", default: false) ? "LayerNormalization" : nil
    for field in ["use_weight_norm", "return_state"] {
      try configuration.require(
        !configuration.bool(field, default: false), field, unsupported: "is not supported")
    }
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    var x = try call.input
    guard x.rank == 3 else { throw call.error("its input \(x.shapeText) is not a sequence") }
    if goesBackwards { x = try Self.reversed(x, call, &network) }
    var skips: [KerasTensor] = []
    for block in 0..<stacks * dilations.count {
      let path = "residual_block_\(block)"
      let width = filters[filters.count == 1 ? 0 : block % dilations.count]
      let dilation = dilations[block % dilations.count]
      var inner = x
      for part in 0..<2 {
        inner = try call.part(
          "Conv1D", [inner], "\(path)/conv1D_\(part)",
          [
            "filters": .int(width), "kernel_size": .int(kernelSize),
            "dilation_rate": .int(dilation), "padding": .string(padding),
          ], &network)
        if let norm {
          inner = try call.part(norm, [inner], "\(path)/norm_\(part)", ["axis": .int(-1)], &network)
        }
        inner = try activated(inner, "\(path)/activation_\(part)", call, &network)
      }
      inner = try activated(inner, "\(path)/activation_2", call, &network)
      if x.channels != width {
        x = try call.part(
          "Conv1D", [x], "\(path)/matching_conv1D",
          ["filters": .int(width), "kernel_size": .int(1), "padding": .string("same")], &network)
      }
      let sum = try call.part("Add", [x, inner], "\(path)/sum", [:], &network)
      x = try activated(sum, "\(path)/activation_3", call, &network)
      skips.append(inner)
    }
    if usesSkips {
      x = skips.count == 1 ? skips[0] : try call.part("Add", skips, "skips", [:], &network)
    }
    guard !returnsSequences else { return [x] }
    var start = JSONObject()
    start["start"] = .null
    var index = JSONValue.int(-1)
    if padding == "same" {
      guard let length = x.shape[1] else { throw call.unknownSize(of: x) }
      index = .int(length / 2)
    }
    return try OperationTable.convert(
      "getitem", call.with(name: call.name, inputs: [x]),
      ["slice_spec": .array([.object(start), index])], into: &network)
  }

  private func activated(
    _ x: KerasTensor, _ path: String, _ call: LayerCall, _ network: inout NetworkWriter
  ) throws -> KerasTensor {
    try call.part("Activation", [x], path, ["activation": activation], &network)
  }

  private static func reversed(
    _ x: KerasTensor, _ call: LayerCall, _ network: inout NetworkWriter
  ) throws -> KerasTensor {
    try OperationTable.convert(
      "reverse", call.with(name: call.name + "__reverse__", inputs: [x]), ["axis": .int(1)],
      into: &network)[0]
  }
}
