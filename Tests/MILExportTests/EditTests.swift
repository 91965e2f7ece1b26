import CoreMLModel
import ModelPrediction
import ModelTransforms
import TensorCore
import Testing

@testable import MILExport

/// Names, outputs, types and functions of programs. Predictions are derived in each test.
@Suite struct EditTests {
  /// s = 2 x, y = −s.
  private static func program(_ target: ProgramTarget = .iOS16) throws -> Model {
    let (first, second) = (
      Activation(.linear(alpha: 2, beta: 0)), Activation(.linear(alpha: -1, beta: 0))
    )
    var options = ProgramOptions()
    options.target = target
    return try Networks.model(
      [
        NeuralNetworkLayer("double", first, input: ["x"], output: ["s"]),
        NeuralNetworkLayer("negative", second, input: ["s"], output: ["y"]),
      ], inputs: [Networks.array("x", [3])], outputs: [Networks.array("y", [3])]
    ).mlProgram(options)
  }

  private static func outputs(_ model: Model, _ input: String = "x") throws -> [String: [Float]] {
    try model.selectingFunction(nil).requireValid()
    let prediction = try Predictor(model: model).predict([
      input: .array(Tensor(shape: [3], [1, 2, -4]))
    ])
    return Dictionary(
      prediction.outputs.map { ($0.name, $0.value.elements) },
      uniquingKeysWith: { first, _ in first })
  }

  /// An inner value with the same name is renamed.
  @Test func featuresGetOtherNames() throws {
    let model = try Self.program().renamingFeatures(["x": "s", "y": "x"])
    #expect(try Self.outputs(model, "s") == ["x": [-2, -4, 8]])
    let error = #expect(throws: ModelError.self) {
      try Self.program().renamingFeatures(["x": "my input"])
    }
    #expect(error?.code == .mismatch)
  }

  @Test func outputsComeAndGo() throws {
    let both = try Self.program().addingOutput("s", shape: nil, dataType: .float32)
    #expect(try Self.outputs(both) == ["s": [2, 4, -8], "y": [-2, -4, 8]])
    let one = try both.removingOutput("y")
    #expect(try Self.outputs(one) == ["s": [2, 4, -8]])
    #expect(throws: ModelError.self) {
      try Self.program().addingOutput("nothing", shape: nil, dataType: .float32)
    }
  }

  @Test func arraysHaveOtherTypes() throws {
    let half = try Self.program().settingArrayType(.float16)
    #expect(try Self.outputs(half) == ["y": [-2, -4, 8]])
    #expect(Networks.operations(half).count { $0 == "cast" } == 2)
    let whole = try half.settingArrayType(.int32, of: "y")
    #expect(try Self.outputs(whole) == ["y": [-2, -4, 8]])
    #expect(throws: ModelError.self) { try Self.program().settingArrayType(.double) }
    #expect(throws: ModelError.self) { try Self.program(.iOS15).settingArrayType(.float16) }
  }

  /// The file has one weight, which `other` does not use.
  @Test func functionsComeAndGo() throws {
    let weights = (0..<30).map { Float($0) }
    guard case .mlProgram(let program)? = try Self.program().type,
      case .mlProgram(var both)? = try Networks.product(weights, outputs: 3).mlProgram().type
    else { throw ModelError(.internal, "no program") }
    both.functions += program.functions.map { entry in
      var entry = entry
      entry.key = "other"
      return entry
    }
    var description = ModelDescription()
    for (name, sizes) in [("main", (10, 3)), ("other", (3, 3))] {
      var function = FunctionDescription()
      function.name = name
      function.input = [Networks.array("x", [sizes.0])]
      function.output = [Networks.array("y", [sizes.1])]
      description.functions.append(function)
    }
    var model = try Self.program(.iOS18)
    (model.type, model.description) = (.mlProgram(both), description)
    var edit = FunctionEdit()
    edit.renames = ["main": "product"]
    edit.standard = "other"
    let renamed = try model.editingFunctions(edit)
    #expect(renamed.description?.functions.map(\.name) == ["product", "other"])
    #expect(try Self.outputs(renamed) == ["y": [-2, -4, 8]])
    let stored = try renamed.selectingFunction(nil).renamingFeatures(["y": "z"])
      .storingFunctionInterface().withoutCopiedInterface
    #expect(stored.description?.input.isEmpty == true)
    #expect(try Self.outputs(stored) == ["z": [-2, -4, 8]])
    var removal = FunctionEdit()
    removal.removed = ["product"]
    let single = try renamed.editingFunctions(removal).selectingFunction(nil)
      .storingFunctionInterface()
    #expect(try Self.outputs(single) == ["y": [-2, -4, 8]])
    guard case .mlProgram(let rest)? = single.type else { throw ModelError(.internal, "") }
    #expect(rest.functions.map(\.key) == ["main"] && rest.weightFiles.isEmpty)
    removal.removed = ["other"]
    let error = #expect(throws: ModelError.self) { try renamed.editingFunctions(removal) }
    #expect(error?.code == .mismatch)
  }
}
