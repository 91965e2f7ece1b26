import ByteFormats
import Formulas
import ImportSupport
import TensorCore

// Layers of mct-quantizers 1.7, with which Sony's Model Compression Toolkit saves networks. Weights
// are quantized at conversion, activations by formulas.

/// An activation that is quantized.
struct QuantizationHolder: KerasLayer {
  static let classes = [
    SourceLayer(
      "KerasActivationQuantizationHolder", becomes: "a formula: clip, floor and linear activations",
      options: "`activation_holder_quantizer`: every inferable quantizer; from mct-quantizers",
      refused: "quantizers for training; lookup tables of more than 64 values", version: 4)
  ]

  /// Only a step of the training.
  static let hasKnownWeights = false

  private let formula: String

  init(_ configuration: LayerConfiguration) throws {
    let field = "activation_holder_quantizer"
    guard let (_, value) = configuration.field(field) else { throw configuration.missing([field]) }
    let quantizer = try InferableQuantizer(value, configuration, field)
    try configuration.require(
      quantizer.formulas.count == 1, field, unsupported: "an activation must have one range")
    formula = quantizer.formulas[0]
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let conversion = FormulaConversion(
      formula: LayerFormula(try Expression(parsing: formula, names: ["x"]), inputs: ["x"]))
    return try conversion.convert(
      call.with(name: call.name, inputs: call.inputs, weights: []), into: &network)
  }
}

/// A layer whose weights are quantized.
struct QuantizationWrapper: KerasLayer {
  static let classes = [
    SourceLayer(
      "KerasQuantizationWrapper", becomes: "the wrapped layer with quantized weights",
      options: "`weights_quantizer`: every inferable quantizer; from mct-quantizers",
      refused: "quantizers for training; functions of constants")
  ]
  /// Archives store quantized weights before the others.
  static let hasKnownWeights = false

  private let inner: any KerasLayer
  private let quantizers: [(name: String, quantizer: InferableQuantizer)]

  init(_ configuration: LayerConfiguration) throws {
    let constants = configuration.fields["weights_value"]?.object?.names.isEmpty ?? true
    try configuration.require(
      constants, "weights_value", unsupported: "functions of constants are not supported",
      hint: "export the network without quantizers of constants")
    (inner, _) = try configuration.wrappedLayer()
    let field = "weights_quantizer"
    quantizers = try (configuration.fields[field]?.object?.members ?? []).map {
      ($0.name, try InferableQuantizer($0.value, configuration, field))
    }
  }

  var weights: [WeightSlot] { inner.weights }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let isOfLayer = { (weight: StoredWeight) in weight.storedName.hasPrefix("layer/") }
    let own = call.weights.filter { !isOfLayer($0) }
    let others = call.weights.filter(isOfLayer)
    var unquantized = 0
    let weights = try inner.weights.map { slot -> StoredWeight in
      let place = quantizers.firstIndex { $0.name == slot.name }
      let found: StoredWeight?
      if let named = own.first(where: { Self.plainName($0.storedName) == slot.name }) {
        found = named
      } else if let place {
        found = own.indices.contains(place) ? own[place] : nil
      } else {
        found = others.indices.contains(unquantized) ? others[unquantized] : nil
        unquantized += 1
      }
      guard var weight = found else {
        throw call.error("weight '\(slot.name)' is missing from the file")
      }
      weight.name = slot.name
      guard let place else { return weight }
      let (quantizer, stored) = (quantizers[place].quantizer, weight)
      weight.values = { try quantizer.quantized(stored.values()) }
      return weight
    }
    return try inner.convert(
      call.with(name: call.name, inputs: call.inputs, weights: weights), into: &network)
  }

  /// `kernel` of `conv/kernel:0`.
  private static func plainName(_ stored: String) -> Substring {
    let last = stored.split(separator: "/").last ?? ""
    return last.prefix { $0 != ":" }
  }
}

/// A quantizer of mct-quantizers: what it does to a number, as a formula for all or one for each
/// channel.
///
/// Uniform quantizers are TensorFlow's `fake_quant_with_min_max_vars`: with scale = (max − min) /
/// (2ᵇ − 1), scale · ⌊clip(x, min, max) / scale + 1/2⌋, where min and max are multiples of the scale.
/// Lookup quantizers take the nearest of the table's values, the first of two that are equally near.
struct InferableQuantizer: Sendable {
  let formulas: [String]
  /// The axis of the channels; nil if all numbers have the same formula.
  private let axis: Int?

  private static let tableLimit = 64

  init(_ value: JSONValue, _ configuration: LayerConfiguration, _ field: String) throws {
    let stored = value["class_name"]?.string ?? ""
    let name = stored.split(separator: ">").last.map(String.init) ?? stored
    let settings = LayerConfiguration(
      name: configuration.name, className: configuration.className,
      fields: value["config"]?.object ?? JSONObject(), version: configuration.version)
    func numbers(_ name: String) throws -> [Double] {
      guard let numbers = try settings.numbers(name) else { throw settings.missing([name]) }
      return numbers
    }
    let isOfWeights = name.hasPrefix("Weights")
    let kinds = ["POT", "Symmetric", "Uniform", "LutPOT", "LUTPOT", "LUTSymmetric"]
    guard
      kinds.contains(where: { kind in
        ["Weights", "Activation"].contains { name == $0 + kind + "InferableQuantizer" }
      })
    else {
      throw configuration.unsupported(
        field, "the quantizer '\(stored.prefix(100))' is not supported",
        hint: "convert quantizers for training with convert_to_inferable_quantizers()")
    }
    let bits = try settings.int("num_bits")
    guard bits <= 16 else {
      throw settings.unsupported("num_bits", "\(bits) bits are not supported")
    }
    let sign = try isOfWeights || settings.bool("signed", default: true) ? 1 : 0
    if name.lowercased().contains("lut") {
      let width = try settings.int("lut_values_bitwidth", default: 8)
      let epsilon = try settings.double("eps", default: 1e-8)
      guard width <= 16 else {
        throw settings.unsupported("lut_values_bitwidth", "\(width) bits are not supported")
      }
      let unit = Double(1 << (width - sign))
      let table = try numbers("lut_values")
      try settings.require(
        table.count <= Self.tableLimit, "lut_values",
        unsupported: "a table of \(table.count) values is not supported")
      formulas = try numbers("threshold").map {
        Self.nearest(table.map { $0 / unit }, threshold: $0, epsilon: epsilon)
      }
    } else if name.contains("Uniform") {
      let (low, high) = (try numbers("min_range"), try numbers("max_range"))
      guard low.count == high.count, zip(low, high).allSatisfy(<) else {
        throw settings.unsupported("min_range", "it is not below max_range")
      }
      formulas = zip(low, high).map { low, high in
        // A range contains 0, which is one of its steps.
        let scale = (high - low) / Double(1 << bits - 1)
        if low > 0 { return Self.steps(0, high, bits) }
        if high < 0 { return Self.steps(low, 0, bits) }
        let first = min(0, scale * (low / scale).rounded(.toNearestOrEven))
        return Self.steps(first, max(0, high - low + first), bits)
      }
    } else {
      formulas = try numbers("threshold").map { threshold in
        let step = threshold / Double(1 << (bits - sign))
        return Self.steps(sign == 1 ? -threshold : 0, threshold - step, bits)
      }
    }
    guard try settings.bool("per_channel", default: false) else {
      axis = nil
      try settings.require(
        formulas.count == 1, nil, unsupported: "\(formulas.count) ranges for one tensor")
      return
    }
    let rank = try settings.int("input_rank")
    let axis = settings.fields["channel_axis"]?.int ?? -1
    guard (-rank..<rank).contains(axis) else {
      throw settings.unsupported("channel_axis", "the weight has no axis \(axis)")
    }
    self.axis = axis < 0 ? axis + rank : axis
  }

  /// TensorFlow's `Nudge` moves the range so that 0 is a step.
  private static func steps(_ low: Double, _ high: Double, _ bits: Int) -> String {
    let last = Float(1 << bits - 1)
    let scale = (Float(high) - Float(low)) / last
    guard scale > 0, scale.isFinite else { return "0 * x" }
    let zero = min(max((-Float(low) / scale).rounded(.toNearestOrAwayFromZero), 0), last)
    let (first, final) = (-zero * scale, (last - zero) * scale)
    return "\(scale) * floor(clip(x, \(first), \(final)) * \(1 / scale) + 0.5)"
  }

  private static func nearest(
    _ table: [Double], threshold: Double, epsilon: Double
  ) -> String {
    var places: [Double: Int] = [:]
    for (place, value) in table.enumerated() where places[value] == nil { places[value] = place }
    let values = places.sorted { $0.key < $1.key }
    var terms = ["\((values.first?.key ?? 0) * threshold)"]
    for (below, above) in zip(values, values.dropFirst()) {
      let middle = (below.key + above.key) / 2 * Double(Float(threshold + epsilon))
      let comparison = below.value < above.value ? ">" : ">="
      terms.append(
        "where(x \(comparison) \(middle), \((above.key - below.key) * threshold), 0)")
    }
    return terms.joined(separator: " + ")
  }

  /// The quantized weights.
  func quantized(_ values: FloatValues) throws -> FloatValues {
    let (shape, stored) = try (values.shape, values.array())
    let inner = axis.map { shape.dropFirst($0 + 1).reduce(1, *) } ?? 1
    let channels = axis.map { $0 < shape.count ? shape[$0] : 0 } ?? 1
    guard channels == formulas.count || formulas.count == 1, inner > 0 else {
      throw ModelError(
        .mismatch, "a quantizer has \(formulas.count) ranges for a weight of \(shape)")
    }
    let expressions = try formulas.map { try Expression(parsing: $0, names: ["x"]) }
    if expressions.count == 1 {
      return FloatValues(try expressions[0].values(of: stored)).shaped(shape)
    }
    var result = stored
    for (channel, expression) in expressions.enumerated() {
      let places = stored.indices.filter { $0 / inner % channels == channel }
      for (place, value) in zip(places, try expression.values(of: places.map { stored[$0] })) {
        result[place] = value
      }
    }
    return FloatValues(result).shaped(shape)
  }
}
