import CoreMLModel
import Formulas
import ImportSupport
import TensorCore
import TestSupport
import Testing

@testable import Engine

/// Formulas as native and custom layers, compared with NumPy.
@Suite struct FormulaNetworkTests {
  private struct Writer: LayerWriting { var writer = LayerWriter(onVisit: nil) }

  private func file() throws -> FormulaExpressions { try .read() }

  /// The placement of `[N, H, W, C]`.
  private static func placement(_ shape: [Int]) -> Placement {
    Placement(shape.map { $0 }, [1, 3, 4, 2])
  }

  private struct Outcome {
    var values: [Double]
    var reference: [Double]
    var types: [String]
    var version: Int
  }

  /// The result with the source's axes, from the engine and the reference implementation.
  private func run(
    _ text: String, _ file: FormulaExpressions, _ form: LayerFormula.Form,
    isChannelsFirst: Bool = false
  ) throws -> Outcome {
    let all = try Expression(parsing: text, names: Set(file.names.keys))
    let inputs = ["x", "y"].filter { all.names.contains($0) }
    var formula = LayerFormula(all, inputs: inputs)
    formula.form = form
    for name in ["w", "b"] where all.names.contains(name) {
      guard let numbers = file.names[name] else { continue }
      formula.weights.append((name, FormulaArray(numbers.shape, numbers.values)))
    }
    if all.names.contains("beta") { formula.parameters["beta"] = 0.75 }
    var writer = Writer()
    var tensors: [String: Tensor] = [:]
    var blobs: [(blob: String, placement: Placement)] = []
    for name in inputs {
      guard let numbers = file.names[name] else { continue }
      let placement = Self.placement(numbers.shape)
      let placed = placement.placed(FormulaArray(numbers.shape, numbers.values))
      tensors[name] = Tensor(shape: placed.shape, placed.elements.map { Float($0) })
      blobs.append((writer.reserve(name), placement))
    }
    let result = try writer.add(formula, name: "layer", blobs)
    #expect(writer.layers.last?.name == "layer")

    var network = NeuralNetwork()
    network.layers = writer.layers
    var description = ModelDescription()
    description.input = inputs.map {
      FeatureDescription(
        name: $0,
        kind: .multiArray(
          ArrayFeatureType(shape: Array(tensors[$0]?.shape[2...] ?? []), dataType: .double)))
    }
    description.output = [
      FeatureDescription(
        name: result.blob, kind: .multiArray(ArrayFeatureType(shape: [], dataType: .double)))
    ]
    var model = Model()
    model.description = description
    model.type = .neuralNetwork(network)
    var options = CompileOptions()
    options.threads = 1
    options.inputShapes = tensors.mapValues(\.shape)
    let output = try #require(
      CompiledNetwork(model: model, options: options).predict(tensors)[result.blob])
    let exact = try #require(
      ReferenceNetwork(model: model).predict(tensors.mapValues(ReferenceTensor.init))[result.blob])

    func ordered(_ tensor: Tensor) -> [Double] {
      let order = result.placement.places.compactMap { $0 }
      let rest = (0..<tensor.shape.count).filter { !order.contains($0) }
      return FormulaArray(tensor.shape, tensor.elements.map { Double($0) })
        .transposed(rest + order).elements
    }
    return Outcome(
      values: ordered(output), reference: ordered(exact.tensor),
      types: writer.layers.map { $0.parameters.map { type(of: $0).typeName } ?? "" },
      version: model.minimumSpecificationVersion)
  }

  private func expectClose(_ values: [Double], _ expected: [Double], _ title: String) {
    let largest = max(1, expected.map { abs($0) }.max() ?? 0)
    let differences: [Double] = zip(values, expected).map { abs($0 - $1) }
    let worst = differences.max() ?? 0
    #expect(
      values.count == expected.count && !(worst.isNaN) && worst <= 1e-5 * largest,
      "\(title): \(values.count) values, \(worst)")
  }

  /// Formulas that layers cannot express, or that mix the batch.
  private static let refused: [String: String] = [
    "x[:, ::-1]": "reversing an axis", "sum(x * y)": "sum over the batch",
  ]

  @Test func nativeLayersAnswerWhatNumpyAnswers() throws {
    let file = try file()
    for entry in file.cases {
      if let reason = Self.refused[entry.expression] {
        let error = #expect(throws: ModelError.self) {
          try run(entry.expression, file, .native)
        }
        #expect(error?.message.contains(reason) == true, "\(entry.expression)")
        continue
      }
      do {
        let outcome = try run(entry.expression, file, .native)
        #expect(!outcome.types.contains("custom"))
        expectClose(outcome.values, entry.value.values, entry.expression)
        expectClose(outcome.reference, entry.value.values, entry.expression + " (reference)")
      } catch { Issue.record("\(entry.expression): \(error)") }
    }
  }

  @Test func customLayersAnswerWhatNumpyAnswers() throws {
    let file = try file()
    for entry in file.cases where entry.expression != "sum(x * y)" {
      do {
        let outcome = try run(entry.expression, file, .custom)
        #expect(outcome.types == ["custom"])
        expectClose(outcome.values, entry.value.values, entry.expression)
      } catch { Issue.record("\(entry.expression): \(error)") }
    }
  }

  /// Forms use the simplest layers of the lowest version.
  @Test func formsAreTheSimplest() throws {
    let file = try file()
    let forms: [(String, [String], Int)] = [
      ("(x + 1) * 127.5", ["activation"], 1),
      ("x * sigmoid(x)", ["activation", "multiply"], 1),
      ("x * sigmoid(beta * x)", ["activation", "activation", "multiply"], 1),
      ("x[:, 1:-1, 1:-1]", ["crop"], 1),
      ("x / 127.5 - 1", ["activation"], 1),
      ("x * x", ["multiply"], 1), ("x ** 3", ["unary"], 1), ("exp(2 * x + 1)", ["unary"], 1),
      ("maximum(x, 0)", ["activation"], 1), ("maximum(x, 0.5)", ["unary"], 1),
      ("minimum(x, 0.5)", ["unary", "activation"], 1),
      ("maximum(x, 0.1 * x)", ["activation"], 1), ("where(x > 0, x, 0.1 * x)", ["activation"], 1),
      ("x + y + x", ["add"], 1), ("x - y", ["activation", "add"], 1),
      ("-x - y", ["add", "activation"], 1),
      ("clip(0.2 * x + 0.5, 0, 1)", ["activation"], 1), ("tanh(2 * x)", ["activation"], 1),
      ("x * w", ["scale"], 1), ("x + w", ["bias"], 1), ("x * exp(w) * 2", ["scale"], 1),
      ("1 / x", ["unary"], 1), ("x / y", ["unary", "multiply"], 1), ("2 ** x", ["unary"], 1),
      ("mean(x, axis=(1, 2), keepdims=True)", ["reduce"], 1), ("x[..., :2]", ["slice"], 1),
      ("x[:, ::2]", ["slice"], 1), ("x > 0.5", ["greaterThan"], 4), ("sin(x)", ["sin"], 4),
      ("x", ["activation"], 1), ("relu(3 * x)", ["activation", "activation"], 1),
    ]
    for (text, types, version) in forms {
      let outcome = try run(text, file, .auto)
      #expect(outcome.types == types, "\(text)")
      #expect(outcome.version == version, "\(text)")
    }
    #expect(try run("x[:, ::-1]", file, .auto).types == ["custom"])
  }
}
