import CoreMLModel

/// The Swift file of a class, for both the package and an app.
struct ClassText {
  let layerClass: LayerClass
  let formula: Formula
  private let parameters: [LayerClass.Parameter]

  init(_ layerClass: LayerClass) {
    self.layerClass = layerClass
    formula = Formula(layerClass)
    parameters = layerClass.parameters
  }

  /// The Metal file; nil if the class runs on the CPU.
  var kernel: String? {
    if case .builtIn(let builtIn) = formula, let kernel = builtIn.kernel {
      return LayerFiles.kernels[kernel]?
        .replacing("kernel void \(kernel)(", with: "kernel void \(layerClass.typeName)(")
    }
    return metal?.kernel
  }

  /// The kernel of an elementwise class.
  private var metal: MetalText? {
    guard let formula = MetalFormula(self) else { return nil }
    return MetalText(name: layerClass.typeName, formula: formula)
  }

  var text: String {
    let metal = metal?.encoding ?? []
    if case .builtIn(let builtIn) = formula { return text(of: builtIn, metal) }
    var lines = ["import CoreML", "import Foundation", ""]
    if isUnfinished { lines.insert("import Accelerate", at: 0) }
    if !metal.isEmpty { lines += Self.metalImport }
    lines += ["/// " + SwiftNames.comment(layerClass.description)]
    if metal.isEmpty, !isUnfinished {
      lines += [
        "///",
        "/// Core ML runs it on the CPU: a value depends on more than the elements at its position.",
      ]
    }
    lines += heading
    lines += properties
    lines += initializer
    lines += weightData
    lines += outputShapes
    lines += evaluation
    if isUnfinished { lines += checks }
    if lines.last == "" { lines.removeLast() }
    lines += metal
    lines.append("}")
    return lines.joined(separator: "\n") + "\n"
  }

  private var isUnfinished: Bool { if case .none = formula { true } else { false } }

  private static let metalImport = ["#if canImport(Metal)", "  import Metal", "#endif", ""]

  /// The file of a built-in class, renamed to the name that the model uses.
  private func text(of builtIn: BuiltInClass, _ metal: [String]) -> String {
    var imports = builtIn.heading.split(separator: "\n", omittingEmptySubsequences: false)
    if !metal.isEmpty, let end = imports.firstIndex(of: "") {
      imports.insert(contentsOf: Self.metalImport.map { Substring($0) }, at: end + 1)
    }
    var content = String(builtIn.content.dropLast(2))
    if let kernel = builtIn.kernel {
      content = content.replacing(
        "LayerKernel(\"\(kernel)\")",
        with: "LayerKernel(\(SwiftNames.literal(layerClass.typeName)))")
    }
    if hasWeights {
      content = content.replacing(
        "halfPrecision: [Int: Set<Int>] = [:]", with: "halfPrecision: [Int: Set<Int>] = \(halves)")
    }
    let lines = imports.dropLast().map(String.init) + heading
    return lines.joined(separator: "\n") + "\n" + content + metal.map { $0 + "\n" }.joined() + "}\n"
  }

  private var heading: [String] {
    var lines = ["///", "/// Layers of this class in the model:"]
    for layer in layerClass.layers {
      lines.append(
        "/// - \(SwiftNames.comment(layer.name)): \(Self.shapes(layer.inputShapes)) → "
          + Self.shapes(layer.outputShapes) + values(of: layer.name))
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

  /// A list of the layer's parameters, for a class that reads them itself.
  private func values(of layer: String) -> String {
    guard case .builtIn = formula else { return "" }
    return parameters.compactMap { parameter in
      parameter.values.first { $0.layer == layer }
        .map { "; \(SwiftNames.comment(parameter.key)) = \($0.value)" }
    }.joined()
  }

  private static func shapes(_ shapes: [[Int]?]) -> String {
    shapes.map { $0.map { "\($0)" } ?? "?" }.joined(separator: ", ")
  }

  private var properties: [String] {
    var lines = [
      "  enum Fault: Error {", "    case parameter(String)",
      "    case shape([NSNumber])",
    ]
    if isUnfinished {
      lines += ["    case dataType(MLMultiArrayDataType)", "    case unfinished(String)"]
    }
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

  /// The sizes in bytes of weights stored as half floats, by weight index, as Swift text.
  private var halves: String {
    var sizes: [Int: Set<Int>] = [:]
    for layer in layerClass.layers {
      for (index, weights) in layer.custom.blobs.enumerated() where weights.float16Value.count > 0 {
        sizes[index, default: []].insert(weights.float16Value.count)
      }
    }
    let texts = sizes.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.sorted())" }
    return texts.isEmpty ? "[:]" : "[\(texts.joined(separator: ", "))]"
  }

  private var weightData: [String] {
    guard hasWeights else { return ["  func setWeightData(_ weights: [Data]) throws {}", ""] }
    var lines: [String] = []
    for layer in layerClass.layers.prefix(20) {
      let counts = layer.custom.blobs.map { "\($0.storedCount)" }.joined(separator: ", ")
      lines.append("  // Numbers in the weights of \(SwiftNames.comment(layer.name)): \(counts)")
    }
    let counts = layerClass.layers.map(\.custom.blobs.count)
    return lines + [
      "  func setWeightData(_ weights: [Data]) throws {",
      "    self.weights = try LayerWeights.floats(",
      "      weights, \(counts.min() ?? 0)...\(counts.max() ?? 0), halfPrecision: \(halves))",
      "  }", "",
    ]
  }
}

// MARK: - Shapes and values

extension ClassText {
  private var outputShapes: [String] {
    let head = [
      "  func outputShapes(forInputShapes inputShapes: [[NSNumber]]) throws -> [[NSNumber]] {"
    ]
    switch formula {
    case .expressions:
      return head + [
        "    let inputs = inputShapes.map { shape -> FormulaArray in",
        "      let sizes = shape.map { $0.intValue }",
        "      return FormulaArray(sizes, [Float](repeating: 0, count: sizes.reduce(1, *)))",
        "    }", "    return [try answer(inputs).shape.map { NSNumber(value: $0) }]", "  }", "",
      ]
    case .builtIn, .none:
      return head + [
        "    // TO DO: return the shape of each output.",
        "    throw Fault.unfinished(\"outputShapes(forInputShapes:)\")", "  }", "",
      ]
    }
  }

  private var evaluation: [String] {
    let head = [
      "  func evaluate(inputs: [MLMultiArray], outputs: [MLMultiArray]) throws {"
    ]
    switch formula {
    case .expressions(let all):
      return head + [
        "    guard outputs.count == 1 else { throw Fault.shape([]) }",
        "    try answer(inputs.map { try FormulaArray($0) }).write(to: outputs[0])", "  }", "",
      ] + answer(all)
    case .builtIn, .none:
      return head + [
        "    try Self.check(inputs + outputs)",
        "    // TO DO: compute the outputs from the inputs.",
        "    throw Fault.unfinished(\"evaluate(inputs:outputs:)\")", "  }", "",
      ]
    }
  }

  /// Swift expressions for the values of numeric parameters, by key.
  var numbers: [String: String] {
    var numbers: [String: String] = [:]
    for parameter in parameters where parameter.kind != .string {
      let property = "self.\(parameter.property)"
      numbers[parameter.key] =
        switch (parameter.kind, parameter.isOptional) {
        case (.bool, _): "(\(property) \(parameter.isOptional ? "?? false " : "")? 1 : 0)"
        case (_, false): "Float(\(property))"
        case (_, true): "Float(\(property) ?? 0)"
        }
    }
    return numbers
  }

  /// The method that selects and computes the formula in the layer's parameters.
  private func answer(_ all: [ClassExpression]) -> [String] {
    var lines = ["  private func answer(_ inputs: [FormulaArray]) throws -> FormulaArray {"]
    for formula in all {
      let statements =
        ["guard inputs.count == \(formula.inputs.count) else { throw Fault.shape([]) }"]
        + formula.statements(numbers)
      lines.append("    // \(SwiftNames.comment(formula.expression.description))")
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

  /// An expression that reads the parameter; nil if it is absent or of another type.
  fileprivate func reading(_ key: String) -> String {
    switch self {
    case .float: "(parameters[\(key)] as? NSNumber)?.floatValue"
    case .integer: "(parameters[\(key)] as? NSNumber)?.intValue"
    case .bool: "(parameters[\(key)] as? NSNumber)?.boolValue"
    case .string: "parameters[\(key)] as? String"
    }
  }
}
