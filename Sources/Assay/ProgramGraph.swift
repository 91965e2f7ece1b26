import CoreMLModel
import MILImport
import Reports

/// The functions of an ML Program as a report shows them: inputs, outputs, and all operations
/// except constants. Operations of inner blocks come before the operation itself.
package struct ProgramGraph {
  package private(set) var parts: [NetworkGraph.Part] = []
  package private(set) var operations: [ReportedLayer] = []

  private let program: MILProgram
  private let text: ProgramText
  /// Whether the values of the weights are read.
  private let hasValues: Bool
  private var constants: [String: MILValue] = [:]
  private var types: [String: String] = [:]

  /// Nil for a model that is not a program.
  package init?(_ model: Model, values: Bool) {
    guard case .mlProgram(let program)? = model.type else { return nil }
    (self.program, hasValues) = (program, values)
    text = ProgramText(program)
    for function in program.functions.compactMap(\.value) {
      (constants, types) = ([:], [:])
      for input in function.inputs {
        types[input.name] = ProgramText.type(input.type)
        add(input.name, .input)
      }
      guard let body = function.body else { continue }
      add(body)
      for name in body.outputs { add(name, .output) }
    }
  }

  private mutating func add(_ name: String, _ kind: NetworkGraph.Kind) {
    let node = NetworkGraph.Node(name: name, kind: kind, type: types[name] ?? "")
    parts.append(
      kind == .input
        ? NetworkGraph.Part(node, inputs: [], outputs: [name])
        : NetworkGraph.Part(node, inputs: [name], outputs: []))
  }

  private mutating func add(_ block: MILBlock) {
    for operation in block.operations {
      for output in operation.outputs { types[output.name] = ProgramText.type(output.type) }
      if operation.type == "const", let output = operation.outputs.first {
        constants[output.name] = operation.attribute("val")
        continue
      }
      for block in operation.blocks { add(block) }
      add(operation)
    }
  }

  private mutating func add(_ operation: MILOperation) {
    var names: [String] = []
    var texts: [String: String] = [:]
    var weights: [ReportedWeight] = []
    for entry in operation.inputs {
      for content in entry.bindings.compactMap({ $0 }) {
        var value: MILValue?
        switch content {
        case .value(let given): value = given
        case .name(let name):
          value = constants[name]
          if let value { texts[name] = text.short(value) } else { names.append(name) }
        }
        if let weight = value.flatMap({ weight(entry.key, $0) }) { weights.append(weight) }
      }
    }
    let (results, known) = (operation.outputs.map(\.name), Set(weights.map(\.name)))
    var layer = ReportedLayer(
      name: operation.label, type: operation.type,
      shape: results.map { types[$0] ?? "" }.joined(separator: ", "),
      parameterCount: weights.reduce(0) { $0 + $1.shape.reduce(1, *) },
      blobs: names.joined(separator: ", ") + " → " + results.joined(separator: ", "))
    layer.fields = text.arguments(of: operation, texts).filter { !known.contains($0.key) }
      .map { ($0.key, $0.text) }
    layer.weights = weights
    parts.append(
      NetworkGraph.Part(
        NetworkGraph.Node(layer, at: operations.count),
        inputs: names + operation.blocks.flatMap(\.outputs), outputs: results))
    operations.append(layer)
  }

  /// An array of real numbers, or a large one of integers.
  private func weight(_ name: String, _ value: MILValue) -> ReportedWeight? {
    guard case .tensor(let tensor)? = value.type?.kind, let shape = tensor.shape, !shape.isEmpty,
      tensor.dataType.isFloat || text.short(value) == nil
    else { return nil }
    let elements = hasValues ? try? MILElements(value, files: program.weightFiles) : nil
    return ReportedWeight(
      name: name, shape: shape, storage: tensor.dataType.name,
      distribution: (try? elements?.floats()).flatMap { ValueDistribution($0) })
  }
}

extension NetworkGraph.Node {
  /// - Parameter index: the layer's index among all layers.
  package init(_ layer: ReportedLayer, at index: Int, isCustom: Bool = false) {
    self.init(name: layer.name, kind: isCustom ? .custom : .layer, type: layer.type)
    (shape, self.layer, weights) = (layer.shape, index, layer.weights.map(\.text))
  }
}
