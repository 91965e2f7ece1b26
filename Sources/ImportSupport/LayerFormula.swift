import CoreMLModel
import Formulas
import TensorCore

/// A layer as a formula, from a rule or from the code of a Lambda.
package struct LayerFormula: Sendable {
  /// The kind of layers that a formula becomes.
  package enum Form: String, Sendable, CaseIterable {
    /// Core ML layers, or a custom layer if they cannot express the formula.
    case auto
    case native
    case custom
  }

  /// The built-in custom layer that computes formulas.
  package static let className = "Formula"
  /// The maximum number of values per weight.
  static let weightLimit = 1 << 24

  package var expression: Expression
  /// The names of the layer's inputs, in order.
  package var inputs: [String]
  package var parameters: [String: Double] = [:]
  package var weights: [(name: String, values: FormulaArray)] = []
  package var form = Form.auto
  package var className = LayerFormula.className
  package var classDescription = ""

  package init(_ expression: Expression, inputs: [String]) {
    self.expression = expression
    self.inputs = inputs
  }

  /// Default names of `count` inputs: `x`, or `x0`, `x1`, ….
  package static func inputNames(_ count: Int) -> [String] {
    count == 1 ? ["x"] : (0..<count).map { "x\($0)" }
  }
}

extension LayerWriting {
  /// Adds the layers of a formula, and returns the result's blob and the positions of its axes.
  ///
  /// - Parameter inputs: blobs and the positions of their axes, one per input of the formula.
  package mutating func add(
    _ formula: LayerFormula, name: String, _ inputs: [(blob: String, placement: Placement)],
    to output: String? = nil
  ) throws -> (blob: String, placement: Placement) {
    try require(
      formula.inputs.count == inputs.count, .mismatch,
      "the formula has \(counted(formula.inputs.count, "input")), but the layer has "
        + "\(inputs.count)")
    do {
      var names: [String: Placement] = [:]
      for (input, tensor) in zip(formula.inputs, inputs) { names[input] = tensor.placement }
      let widest = inputs.map(\.placement).max { $0.shape.count < $1.shape.count }
      var weights: [(name: String, values: FormulaArray)] = []
      for (weight, values) in formula.weights {
        let placement = try (widest ?? Placement([], [])).last(values.shape)
        names[weight] = placement
        weights.append((weight, placement.placed(values)))
      }
      for parameter in formula.parameters.keys { names[parameter] = Placement([], []) }
      let (expression, placement) = try formula.expression.placed(names)
      if formula.form != .custom {
        var constants = formula.parameters.mapValues { FormulaArray($0) }
        for (weight, values) in weights { constants[weight] = values }
        do {
          var lowering = FormulaLowering(
            inputs: zip(formula.inputs, inputs).map { ($0, $1.placement.blobShape) },
            constants: constants)
          try lowering.lower(expression)
          return (add(lowering.steps, name, inputs.map(\.blob), to: output), placement)
        } catch let error as ModelError where error.code == .unsupported && formula.form == .auto {
        }
      }
      let custom = Custom(formula, expression, weights)
      return (add(name, custom, inputs.map(\.blob), to: output), placement)
    } catch var error as ModelError {
      if error.layer == nil {
        error.message = "the formula \(formula.expression): \(error.message)"
      }
      throw error
    }
  }

  private mutating func add(
    _ steps: [FormulaLowering.Step], _ name: String, _ inputs: [String], to output: String?
  ) -> String {
    var blobs = inputs
    var kinds: [String: Int] = [:]
    for (index, step) in steps.enumerated() {
      let isLast = index == steps.count - 1
      kinds[step.kind, default: 0] += 1
      let count = kinds[step.kind] ?? 1
      let part = count == 1 ? "\(name)__\(step.kind)__" : "\(name)__\(step.kind)_\(count)__"
      blobs.append(
        add(
          isLast ? name : part, step.parameters, step.inputs.map { blobs[$0] },
          to: isLast ? output : nil))
    }
    return blobs[blobs.count - 1]
  }
}

extension Custom {
  /// Stores the formula on Core ML's axes as text, with its named parameters and its weights.
  fileprivate init(
    _ formula: LayerFormula, _ expression: Expression,
    _ weights: [(name: String, values: FormulaArray)]
  ) {
    self.init()
    className = formula.className
    classDescription =
      formula.classDescription.isEmpty ? formula.expression.description : formula.classDescription
    parameters["expression"] = .string(expression.description)
    parameters["inputs"] = .string(formula.inputs.joined(separator: ","))
    if !weights.isEmpty {
      parameters["weights"] = .string(
        weights.map { name, values in
          "\(name)[" + values.shape.map(String.init).joined(separator: ",") + "]"
        }.joined(separator: ","))
    }
    for (name, value) in formula.parameters { parameters[name] = .double(value) }
    blobs = weights.map { Weights($0.values.elements.map { Float($0) }) }
  }
}
