import ByteFormats
import Formulas
import ImportSupport
import LibC
import TensorCore

/// A quantizer of QKeras: what it does to a number, as a formula.
///
/// Source: QKeras 0.9.0, `quantizers.py`. Rounding is to the nearest number, halves to the even one.
/// Stochastic quantizers behave at inference like those without randomness.
struct Quantizer: Sendable {
  let name: String
  private let settings: Settings
  /// The factor of `quantized_bits`, `binary` and `ternary` that is computed from the weights.
  private let automatic: Automatic?

  private enum Automatic: Sendable {
    case plain
    case powerOfTwo
  }

  private static let parameters: [String: [String]] = [
    "quantized_bits": ["bits", "integer", "symmetric", "keep_negative", "alpha"],
    "binary": ["use_01", "alpha"], "stochastic_binary": ["alpha"],
    "ternary": ["alpha", "threshold", "use_stochastic_rounding", "number_of_unrolls"],
    "stochastic_ternary": ["alpha", "threshold"],
    "quantized_relu": [
      "bits", "integer", "use_sigmoid", "negative_slope", "use_stochastic_rounding",
      "relu_upper_bound", "is_quantized_clip",
    ],
    "quantized_ulaw": ["bits", "integer", "symmetric", "u"],
    "quantized_tanh": ["bits", "use_stochastic_rounding", "symmetric", "use_real_tanh"],
    "quantized_sigmoid": ["bits", "symmetric", "use_real_sigmoid"],
    "quantized_po2": [
      "bits", "max_value", "use_stochastic_rounding", "quadratic_approximation", "log2_rounding",
    ],
    "quantized_relu_po2": [
      "bits", "max_value", "negative_slope", "use_stochastic_rounding", "quadratic_approximation",
      "log2_rounding",
    ],
    "quantized_hswish": ["bits", "integer", "symmetric", "alpha"],
  ]

  /// Nil for a value that names no quantizer.
  init?(_ value: JSONValue, _ configuration: LayerConfiguration, _ field: String) throws {
    var fields = JSONObject()
    if let text = value.string {
      guard let (name, given) = try Self.call(text, configuration, field) else { return nil }
      self.name = name
      fields = given
    } else {
      guard let stored = value["class_name"]?.string else { return nil }
      name = ActivationFunction.plainName(stored)
      guard Self.parameters[name] != nil else {
        throw configuration.unsupported(field, "the quantizer '\(name)' is not supported")
      }
      fields = value["config"]?.object ?? JSONObject()
    }
    settings = Settings(
      LayerConfiguration(
        name: configuration.name, className: configuration.className, fields: fields,
        version: configuration.version), field)
    switch fields["alpha"]?.string {
    case nil: automatic = nil
    case "auto": automatic = .plain
    case "auto_po2": automatic = .powerOfTwo
    case let other?:
      throw configuration.unsupported(field, "\(name) with alpha '\(other)' is not supported")
    }
    let noise = try settings.double("qnoise_factor", 1)
    try configuration.require(
      noise == 1, field, unsupported: "\(name) with a qnoise_factor of \(noise) is not supported",
      hint: "set it to 1 before saving")
    _ = try formula()
  }

  /// A call like `quantized_relu(6,3,negative_slope=0.5)`, which is read and never run.
  private static func call(
    _ text: String, _ configuration: LayerConfiguration, _ field: String
  ) throws -> (String, JSONObject)? {
    let plain = text.filter { $0 != " " }
    let name = String(plain.prefix { $0 != "(" })
    guard let parameters = parameters[name] else {
      try configuration.require(
        name != "bernoulli" && !plain.contains("("), field,
        unsupported: "the quantizer '\(text.prefix(100))' is not supported")
      return nil
    }
    var fields = JSONObject()
    guard plain.count > name.count else { return (name, fields) }
    guard plain.hasSuffix(")") else { throw configuration.bad(field, .string(text), "a quantizer") }
    let list = plain.dropFirst(name.count + 1).dropLast()
    for (position, argument) in list.split(separator: ",").enumerated() {
      let sides = argument.split(separator: "=", maxSplits: 1).map(String.init)
      guard let content = sides.last, sides.count == 2 || position < parameters.count else {
        throw configuration.bad(field, .string(text), "a quantizer")
      }
      let value: JSONValue
      switch content {
      case "None": value = .null
      case "True": value = .bool(true)
      case "False": value = .bool(false)
      default:
        let quotes: Set<Character> = ["'", "\""]
        if let first = content.first, quotes.contains(first) {
          value = .string(content.filter { !quotes.contains($0) })
        } else if let int = Int(content) {
          value = .int(int)
        } else if let number = Double(content) {
          value = .double(number)
        } else {
          throw configuration.bad(field, .string(text), "a quantizer")
        }
      }
      fields[sides.count == 2 ? sides[0] : parameters[position]] = value
    }
    return (name, fields)
  }

  /// Settings with the names that QKeras gives them.
  private struct Settings: Sendable {
    let configuration: LayerConfiguration
    let field: String

    init(_ configuration: LayerConfiguration, _ field: String) {
      (self.configuration, self.field) = (configuration, field)
    }

    func double(_ name: String, _ standard: Double) throws -> Double {
      if let bool = configuration.fields[name]?.bool { return bool ? 1 : 0 }
      return try configuration.double(name, default: standard)
    }

    func flag(_ name: String, _ standard: Bool = false) throws -> Bool {
      try double(name, standard ? 1 : 0) != 0
    }

    /// 2 to the number of bits `name` less `sign`.
    func power(_ name: String, less sign: Int = 0, _ standard: Double) throws -> Double {
      let bits = try double(name, standard) - Double(sign)
      guard abs(bits) <= 32 else {
        throw configuration.unsupported(field, "\(name) = \(bits) is not supported")
      }
      return exp2(bits)
    }

    func unsupported(_ message: String) -> ModelError {
      configuration.unsupported(field, message)
    }
  }

  // MARK: Formulas

  /// What the quantizer does to `x`, unless its factor is computed from all numbers.
  func formula() throws -> String {
    let scale = automatic == nil ? try settings.double("alpha", 1) : 1
    switch name {
    case "quantized_bits": return try bits("x", scale)
    case "binary", "stochastic_binary":
      let low = try settings.flag("use_01") ? 0 : -1
      return "where(x < 0, \(Double(low) * scale), \(scale))"
    case "ternary", "stochastic_ternary":
      let threshold = try settings.double("threshold", 0.33)
      return "\(scale) * (where(x >= \(threshold), 1, 0) - where(x <= \(-threshold), 1, 0))"
    case "quantized_relu": return try rectifier()
    case "quantized_ulaw":
      let m = try settings.power("bits", less: 1, 8)
      let unit = try settings.power("integer", 0)
      let u = try settings.double("u", 255)
      let low = try -1 + settings.double("symmetric", 0) / m
      let p = "(2 * (round(clip(0.5 * (x / \(unit)) + 0.5, 0, 1) * \(m)) / \(m)) - 1)"
      return "\(unit) * clip(sign(\(p)) * log(1 + \(u) * abs(\(p))) / \(log(1 + u)), \(low), "
        + "\(1 - 1 / m))"
    case "quantized_tanh":
      let m = try settings.power("bits", less: 1, 8)
      let low = try -1 + settings.double("symmetric", 0) / m
      let p =
        try settings.flag("use_real_tanh")
        ? "tanh(x)" : "(2 * clip(0.5 * x + 0.5, 0, 1) - 1)"
      return "clip(round(\(p) * \(m)) / \(m), \(low), \(1 - 1 / m))"
    case "quantized_sigmoid":
      let m = try settings.power("bits", 8)
      let p =
        try settings.flag("use_real_sigmoid") ? "sigmoid(x)" : "clip(0.5 * x + 0.5, 0, 1)"
      let low = try settings.double("symmetric", 0) / m
      return "clip(round(\(p) * \(m)) / \(m), \(low), \(1 - 1 / m))"
    case "quantized_po2":
      return try "where(x < 0, -1, 1) * " + nearestPower("abs(x)", signBits: 1)
    case "quantized_relu_po2":
      guard try settings.double("negative_slope", 0) == 0 else {
        throw settings.unsupported("\(name) with a negative_slope is not supported")
      }
      return try nearestPower("relu(x)", signBits: 0)
    case "quantized_hswish":
      let shift = try settings.double("relu_shift", 3)
      let bound = try settings.double("relu_upper_bound", 6)
      return try bits("(x * min(relu(x + \(shift)), \(bound)) / \(bound))", scale)
    default: throw settings.unsupported("the quantizer '\(name)' is not supported")
    }
  }

  private func bits(_ x: String, _ scale: Double) throws -> String {
    let keepsSign = try settings.flag("keep_negative", true)
    let m = try settings.power("bits", less: keepsSign ? 1 : 0, 8)
    let unit = try settings.power("integer", 0)
    guard m > 1 else { return "where(\(x) < 0, \(keepsSign ? -scale : 0), \(scale))" }
    let low = try keepsSign ? -m + settings.double("symmetric", 0) : 0
    return "\(scale * unit / m) * clip(round(\(x) * \(m / unit)), \(low), \(m - 1))"
  }

  private func rectifier() throws -> String {
    let slope = try settings.double("negative_slope", 0)
    let m = try settings.power("bits", less: slope == 0 ? 0 : 1, 8)
    let unit = try settings.power("integer", 0)
    let top = 1 - 1 / m
    var result: String
    if try settings.flag("use_sigmoid") {
      guard slope == 0 else {
        throw settings.unsupported("\(name) with use_sigmoid and negative_slope is not supported")
      }
      let p = "clip(0.5 * (x / \(unit)) + 0.5, 0, 1)"
      result = "\(unit) * clip(2 * (round(\(p) * \(m)) / \(m)) - 1, 0, \(top))"
    } else {
      result = "\(unit) * clip(round(x * \(m / unit)) / \(m), 0, \(top))"
      if slope > 0 {
        result += " + \(unit * slope) * clip(round(x * \(m / unit * slope)) / \(slope * m), -1, 0)"
      }
    }
    let bound = try settings.double("relu_upper_bound", 0)
    guard bound != 0, try !settings.flag("is_quantized_clip", true) else { return result }
    return "min(\(result), \(bound))"
  }

  /// The power of two that is nearest to a number, by its logarithm.
  private func nearestPower(_ size: String, signBits: Int) throws -> String {
    let largest = try settings.double("max_value", 0)
    let hasLimit = largest > 0
    let bits =
      try settings.double("bits", 8) - Double(signBits) - (hasLimit && largest <= 1 ? 0 : 1)
    guard (0...6).contains(bits) else {
      throw settings.unsupported("\(name) with this number of bits is not supported")
    }
    let rounding = settings.configuration.fields["log2_rounding"]?.string ?? "rnd"
    guard rounding == "rnd" || rounding == "floor" else {
      throw settings.unsupported("log2_rounding '\(rounding)' is not supported")
    }
    let isEven = try settings.flag("quadratic_approximation")
    var (low, high) = (-exp2(bits), exp2(bits) - 1)
    if isEven { high = 2 * (high / 2).rounded(.down) }
    let limited = hasLimit ? "min(max(\(size), 1e-7), \(largest))" : "max(\(size), 1e-7)"
    let logarithm = "log(\(limited)) * \((isEven ? 0.5 : 1) / log(2.0))"
    let exponent =
      "\(isEven ? 2.0 : 1.0) * clip(\(rounding == "rnd" ? "round" : "floor")(\(logarithm)), \(low), \(high))"
    low = exp2(low)
    return "where(\(size) < 1e-7, \(low), power(2, \(exponent)))"
  }

  // MARK: Use

  /// The quantized weights; channels are along the last axis.
  func quantized(_ values: FloatValues) throws -> FloatValues {
    if automatic != nil { return try scaled(values) }
    let expression = try Expression(parsing: try formula(), names: ["x"])
    return FloatValues(try expression.values(of: values.array())).shaped(values.shape)
  }

  /// A formula that a network computes.
  func activation() throws -> FormulaConversion {
    guard automatic == nil else {
      throw settings.unsupported(
        "\(name) with an alpha that is computed from the data can quantize only weights; for an "
          + "activation it depends on the batch")
    }
    return FormulaConversion(
      formula: LayerFormula(
        try Expression(parsing: try formula(), names: ["x"]), inputs: ["x"]))
  }

  /// Quantization with a factor for each channel, the one with the least squared error.
  private func scaled(_ values: FloatValues) throws -> FloatValues {
    let x = try values.array()
    let channels = values.shape.count > 1 ? values.shape.last ?? 1 : 1
    guard !x.isEmpty, channels > 0 else { return values }
    var largest = [Float](repeating: 0, count: channels)
    for (index, value) in x.enumerated() {
      largest[index % channels] = max(largest[index % channels], abs(value))
    }
    var z = x
    var scale: [Float]
    var factor: Float = 1
    switch name {
    case "quantized_bits":
      let m = Float(try settings.power("bits", less: 1, 8))
      let levels = (m - 1) * 2
      let unit = Float(try settings.power("integer", 0))
      guard levels > 0 else { throw settings.unsupported("\(name) with one bit and alpha 'auto'") }
      let small = x.map { $0 / unit }
      scale = largest.map { $0 / unit * 2 / levels }
      func round(_ scale: [Float]) {
        for (index, value) in small.enumerated() {
          let step = scale[scale.count == channels ? index % channels : index]
          let level = (abs(value) / step + 0.5).rounded(.down)
          z[index] = Self.sign(value) * min(level, levels / 2)
        }
      }
      if automatic == .powerOfTwo {
        scale = scale.map(Self.powerOfTwo)
        for _ in 0..<5 {
          round(scale)
          scale = best(small, z, channels, values.shape.count)
        }
      } else {
        round(scale)
      }
      factor = unit
    case "binary", "stochastic_binary":
      let low: Float = try settings.flag("use_01") ? 0 : -1
      z = x.map { $0 < 0 ? low : 1 }
      scale = best(x, z, channels, values.shape.count)
    case "ternary", "stochastic_ternary":
      scale = largest.map { 2 * $0 / 3 }
      if automatic == .powerOfTwo { scale = scale.map(Self.powerOfTwo) }
      let rounds = try settings.configuration.int("number_of_unrolls", default: 5, atLeast: 0)
      for _ in 0..<min(rounds, 1000) {
        for (index, value) in x.enumerated() {
          let threshold = scale[scale.count == channels ? index % channels : index] / 2
          z[index] = abs(value) >= threshold ? Self.sign(value) : 0
        }
        scale = best(x, z, channels, values.shape.count)
      }
    default: throw settings.unsupported("\(name) has no alpha")
    }
    let result = z.enumerated().map { index, level in
      scale[scale.count == channels ? index % channels : index] * factor * level
    }
    return FloatValues(result).shaped(values.shape)
  }

  /// Σ x z / Σ z² for each channel; of a vector, for each element.
  private func best(_ x: [Float], _ z: [Float], _ channels: Int, _ rank: Int) -> [Float] {
    let groups = rank > 1 ? channels : x.count
    var products = [Double](repeating: 0, count: groups)
    var squares = products
    for index in x.indices {
      products[index % groups] += Double(x[index] * z[index])
      squares[index % groups] += Double(z[index] * z[index])
    }
    let count = Double(x.count / groups)
    return zip(products, squares).map { product, square in
      let scale = Float(product / count) / (Float(square / count) + 1e-7)
      return automatic == .powerOfTwo ? Self.powerOfTwo(scale) : scale
    }
  }

  private static func sign(_ value: Float) -> Float { value < 0 ? -1 : value > 0 ? 1 : 0 }

  private static func powerOfTwo(_ scale: Float) -> Float {
    Float(exp2((log(Double(scale + 1e-7)) / log(2.0)).rounded(.toNearestOrEven)))
  }
}

extension Expression {
  /// The values of a function of `x` alone. They are computed in pieces, because the arrays of
  /// doubles take many times as much as the numbers.
  func values(of numbers: [Float]) throws -> [Float] {
    var result: [Float] = []
    result.reserveCapacity(numbers.count)
    for begin in stride(from: 0, to: numbers.count, by: 1 << 16) {
      let piece = numbers[begin..<min(begin + 1 << 16, numbers.count)]
      let x = FormulaArray([piece.count], piece.map(Double.init))
      for value in try self.value(["x": x]).elements { result.append(Float(value)) }
    }
    return result
  }
}
