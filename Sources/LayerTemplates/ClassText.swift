import CoreMLModel

/// The Swift file of a class, for the package and for an app alike.
struct ClassText {
  let layerClass: LayerClass
  let formula: Formula
  private let parameters: [LayerClass.Parameter]

  init(_ layerClass: LayerClass) {
    self.layerClass = layerClass
    formula = Formula(layerClass)
    parameters = layerClass.parameters
  }

  /// Whether the class has a Metal kernel.
  var hasKernel: Bool {
    formula.isElementwise
      && layerClass.layers.allSatisfy { $0.inputShapes.count == 1 && $0.outputShapes.count == 1 }
  }

  var text: String {
    var lines = ["import Accelerate", "import CoreML", "import Foundation", ""]
    if hasKernel { lines += ["#if canImport(Metal)", "  import Metal", "#endif", ""] }
    lines += heading
    lines += properties
    lines += initializer
    lines += weightData
    lines += outputShapes
    lines += evaluation
    lines += checks
    if hasKernel { lines += MetalText(self).encoding }
    lines.append("}")
    return lines.joined(separator: "\n") + "\n"
  }

  private var heading: [String] {
    var lines = ["/// " + SwiftNames.comment(layerClass.description), "///"]
    lines.append("/// Layers of this class in the model:")
    for layer in layerClass.layers {
      lines.append(
        "/// - \(SwiftNames.comment(layer.name)): \(Self.shapes(layer.inputShapes)) → "
          + Self.shapes(layer.outputShapes))
    }
    if SwiftNames.isIdentifier(layerClass.name) {
      lines += ["#if canImport(ObjectiveC)", "  @objc(\(layerClass.name))", "#endif"]
    } else {
      lines.append("// Core ML finds a class by its Objective-C name, which cannot be")
      lines.append("// \(SwiftNames.literal(layerClass.name)): choose another name in the model.")
    }
    lines.append("final class \(layerClass.typeName): NSObject, MLCustomLayer {")
    return lines
  }

  private static func shapes(_ shapes: [[Int]?]) -> String {
    shapes.map { $0.map { "\($0)" } ?? "?" }.joined(separator: ", ")
  }

  private var properties: [String] {
    var lines = [
      "  enum Fault: Error {", "    case parameter(String)", "    case weights(Int)",
      "    case shape([NSNumber])", "    case dataType(MLMultiArrayDataType)",
    ]
    if hasKernel { lines.append("    case kernel(String)") }
    if case .none = formula { lines.append("    case unfinished(String)") }
    lines += ["  }", ""]
    for parameter in parameters {
      for (value, layer) in parameter.values.prefix(20) {
        lines.append("  // \(value) in \(SwiftNames.comment(layer))")
      }
      lines.append(
        "  private let \(parameter.property): \(parameter.kind.type)"
          + (parameter.isOptional ? "?" : ""))
    }
    if hasWeights { lines.append("  private var weights: [[Float]] = []") }
    if !parameters.isEmpty || hasWeights { lines.append("") }
    return lines
  }

  private var initializer: [String] {
    var lines = ["  required init(parameters: [String: Any]) throws {"]
    for parameter in parameters {
      let key = SwiftNames.literal(parameter.key)
      let value = parameter.kind.reading(key)
      if parameter.isOptional {
        lines.append("    self.\(parameter.property) = \(value)")
      } else {
        lines.append("    guard let \(parameter.property) = \(value) else {")
        lines.append("      throw Fault.parameter(\(key))")
        lines.append("    }")
        lines.append("    self.\(parameter.property) = \(parameter.property)")
      }
    }
    return lines + ["    super.init()", "  }", ""]
  }
}

// MARK: - Weights

extension ClassText {
  private var hasWeights: Bool { layerClass.layers.contains { !$0.custom.blobs.isEmpty } }

  /// Places of weights that are stored as half floats.
  private var halves: [Int] {
    Set(
      layerClass.layers.flatMap { layer in
        layer.custom.blobs.indices.filter { layer.custom.blobs[$0].float16Value.count > 0 }
      }
    ).sorted()
  }

  private var weightData: [String] {
    guard hasWeights else { return ["  func setWeightData(_ weights: [Data]) throws {}", ""] }
    var lines: [String] = []
    for layer in layerClass.layers.prefix(20) {
      let counts = layer.custom.blobs.map { "\($0.storedCount)" }.joined(separator: ", ")
      lines.append("  // Numbers in the weights of \(SwiftNames.comment(layer.name)): \(counts)")
    }
    lines.append("  func setWeightData(_ weights: [Data]) throws {")
    let counts = Set(layerClass.layers.map(\.custom.blobs.count)).sorted()
    lines.append(
      "    guard [\(counts.map(String.init).joined(separator: ", "))].contains(weights.count) else {"
    )
    lines.append("      throw Fault.weights(weights.count)")
    lines.append("    }")
    if halves.isEmpty {
      lines.append("    self.weights = weights.map(Self.floats)")
    } else {
      lines.append(
        "    let halfPrecision: Set = [\(halves.map(String.init).joined(separator: ", "))]")
      lines.append("    self.weights = weights.enumerated().map { place, data in")
      lines.append("      halfPrecision.contains(place) ? Self.halves(data) : Self.floats(data)")
      lines.append("    }")
    }
    lines += ["  }", ""]
    lines += [
      "  private static func floats(_ data: Data) -> [Float] {",
      "    var values = [Float](repeating: 0, count: data.count / 4)",
      "    _ = values.withUnsafeMutableBytes { data.copyBytes(to: $0) }",
      "    return values", "  }", "",
    ]
    if !halves.isEmpty {
      lines += [
        "  private static func halves(_ data: Data) -> [Float] {",
        "    var values = [UInt16](repeating: 0, count: data.count / 2)",
        "    _ = values.withUnsafeMutableBytes { data.copyBytes(to: $0) }",
        "    return values.map { Float(Float16(bitPattern: $0)) }", "  }", "",
      ]
    }
    return lines
  }
}

// MARK: - Shapes and values

extension ClassText {
  private var outputShapes: [String] {
    let head = [
      "  func outputShapes(forInputShapes inputShapes: [[NSNumber]]) throws -> [[NSNumber]] {"
    ]
    switch formula {
    case .crop:
      return head + [
        "    try inputShapes.map { shape in", "      var result = shape",
        "      for axis in [shape.count - 2, shape.count - 1] {",
        "        guard axis >= 0, shape[axis].intValue > 4 else { throw Fault.shape(shape) }",
        "        result[axis] = NSNumber(value: shape[axis].intValue - 4)", "      }",
        "      return result", "    }", "  }", "",
      ]
    case .swish, .rescale: return head + ["    inputShapes", "  }", ""]
    case .expressions:
      return head + [
        "    let inputs = inputShapes.map { shape -> FormulaArray in",
        "      let sizes = shape.map { $0.intValue }",
        "      return FormulaArray(sizes, [Double](repeating: 0, count: sizes.reduce(1, *)))",
        "    }", "    return [try answer(inputs).shape.map { NSNumber(value: $0) }]", "  }", "",
      ]
    case .none:
      return head + [
        "    // TO DO: return the shape of each output.",
        "    throw Fault.unfinished(\"outputShapes(forInputShapes:)\")", "  }", "",
      ]
    }
  }

  private var evaluation: [String] {
    let head = [
      "  func evaluate(inputs: [MLMultiArray], outputs: [MLMultiArray]) throws {",
      "    try Self.check(inputs + outputs)",
    ]
    let pointers = [
      "    for (input, output) in zip(inputs, outputs) {",
      "      let x = input.dataPointer.assumingMemoryBound(to: Float.self)",
      "      let y = output.dataPointer.assumingMemoryBound(to: Float.self)",
    ]
    switch formula {
    case .swish:
      return head + ["    let betas: [Float] = \(betas)"] + pointers + [
        "      // One beta, or one per channel, the third axis from the end.",
        "      let channel = input.shape.count - 3",
        "      let channels = betas.count == 1 ? 1 : input.shape[max(0, channel)].intValue",
        "      guard betas.count == channels else { throw Fault.shape(input.shape) }",
        "      let area = channels == 1",
        "        ? input.count : input.shape[(max(0, channel) + 1)...].reduce(1) { $0 * $1.intValue }",
        "      for plane in 0..<input.count / max(1, area) {",
        "        let (from, to) = (x + plane * area, y + plane * area)",
        "        var factor = -betas[plane % channels]", "        var one: Float = 1",
        "        var count = Int32(area)",
        "        vDSP_vsmul(from, 1, &factor, to, 1, vDSP_Length(area))",
        "        vvexpf(to, to, &count)",
        "        vDSP_vsadd(to, 1, &one, to, 1, vDSP_Length(area))",
        "        vDSP_vdiv(to, 1, from, 1, to, 1, vDSP_Length(area))", "      }", "    }", "  }",
        "",
      ]
    case .rescale:
      return head + pointers + [
        "      var one: Float = 1", "      var half: Float = 127.5",
        "      vDSP_vsadd(x, 1, &one, y, 1, vDSP_Length(input.count))",
        "      vDSP_vsmul(y, 1, &half, y, 1, vDSP_Length(input.count))", "    }", "  }", "",
      ]
    case .crop:
      return head + pointers + [
        "      let axis = input.shape.count - 2",
        "      let (height, width) = (input.shape[axis].intValue, input.shape[axis + 1].intValue)",
        "      let (rows, columns) = (height - 4, width - 4)",
        "      for plane in 0..<input.count / (height * width) {",
        "        vDSP_mmov(",
        "          x + (plane * height + 2) * width + 2, y + plane * rows * columns,",
        "          vDSP_Length(columns), vDSP_Length(rows), vDSP_Length(width), vDSP_Length(columns))",
        "      }", "    }", "  }", "",
      ]
    case .expressions(let all):
      return head + [
        "    guard outputs.count == 1 else { throw Fault.shape([]) }",
        "    try answer(inputs.map { FormulaArray($0) }).write(to: outputs[0])", "  }", "",
      ] + answer(all)
    case .none:
      return head + [
        "    // TO DO: compute the outputs from the inputs.",
        "    throw Fault.unfinished(\"evaluate(inputs:outputs:)\")", "  }", "",
      ]
    }
  }

  /// The method that computes the formula of the layer's parameters.
  private func answer(_ all: [ClassExpression]) -> [String] {
    var numbers: [String: String] = [:]
    for parameter in parameters where parameter.kind != .string {
      let number = parameter.kind == .bool ? "($0 ? 1 : 0)" : "Double($0)"
      let value =
        parameter.isOptional ? "self.\(parameter.property)" : "[self.\(parameter.property)]"
      numbers[parameter.key] =
        "\(value).map { \(number) }" + (parameter.isOptional ? " ?? 0" : "[0]")
    }
    var lines = [
      "  private func answer(_ inputs: [FormulaArray]) throws -> FormulaArray {"
    ]
    for formula in all {
      let statements =
        ["guard inputs.count == \(formula.inputs.count) else { throw Fault.shape([]) }"]
        + formula.statements(numbers)
      lines.append("    // \(SwiftNames.comment(formula.expression.description))")
      guard !formula.selection.isEmpty else {
        return lines + statements.map { "    " + $0 } + ["  }", ""]
      }
      let keys = ["expression", "inputs", "weights"]
      let found = keys.map { key in
        guard let parameter = parameters.first(where: { $0.key == key }) else {
          return SwiftNames.literal(formula.selection[key] ?? "")
        }
        let rest = key == "inputs" ? "x" : ""
        return "self.\(parameter.property)"
          + (parameter.isOptional ? " ?? \(SwiftNames.literal(rest))" : "")
      }
      let wanted = keys.map { SwiftNames.literal(formula.selection[$0] ?? "") }
      lines.append(
        "    if [\(found.joined(separator: ", "))] == [\(wanted.joined(separator: ", "))] {")
      lines += statements.map { "      " + $0 }
      lines.append("    }")
    }
    return lines + ["    throw Fault.parameter(\"expression\")", "  }", ""]
  }

  /// The values of Swish's beta.
  var betas: String {
    let parameter = parameters.first { $0.key == "beta" }
    let constant: String =
      switch parameter {
      case .none: "1"
      case .some(let found) where found.isOptional: "\(found.property).map { Float($0) } ?? 1"
      case .some(let found) where found.kind == .float: found.property
      case .some(let found): "Float(\(found.property))"
      }
    return hasWeights ? "weights.first ?? [\(constant)]" : "[\(constant)]"
  }

  private var checks: [String] {
    [
      "  /// Whether the arrays are dense and of 32-bit floats.",
      "  private static func check(_ arrays: [MLMultiArray]) throws {", "    for array in arrays {",
      "      guard array.dataType == .float32 else { throw Fault.dataType(array.dataType) }",
      "      var stride = 1",
      "      for (size, step) in zip(array.shape, array.strides).reversed() {",
      "        guard size.intValue == 1 || step.intValue == stride else {",
      "          throw Fault.shape(array.shape)", "        }", "        stride *= size.intValue",
      "      }", "    }", "  }",
    ]
  }
}

extension LayerClass.Parameter.Kind {
  fileprivate var type: String {
    switch self {
    case .float: "Float"
    case .integer: "Int"
    case .bool: "Bool"
    case .string: "String"
    }
  }

  /// Reads the parameter; nil if it is absent or of another type.
  fileprivate func reading(_ key: String) -> String {
    switch self {
    case .float: "(parameters[\(key)] as? NSNumber)?.floatValue"
    case .integer: "(parameters[\(key)] as? NSNumber)?.intValue"
    case .bool: "(parameters[\(key)] as? NSNumber)?.boolValue"
    case .string: "parameters[\(key)] as? String"
    }
  }
}
