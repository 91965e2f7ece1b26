import CoreMLModel
import TensorCore
import TestSupport
import Testing

@testable import MILImport

/// A program with one mistake for each rule of reading; each causes one error with the location.
struct ReadingRuleTests {
  /// y = x + c for x and c of shape [2, 3], built by hand.
  private static func model(_ change: (inout Parts) -> Void) -> Model {
    var parts = Parts()
    change(&parts)
    var block = MILBlock()
    block.operations = parts.operations
    block.outputs = parts.outputs
    var body = MILBlockEntry()
    (body.key, body.value) = ("CoreML5", block)
    var function = MILFunction()
    (function.opset, function.specializations, function.inputs) = (
      parts.opset, [body], parts.inputs
    )
    var entry = MILFunctionEntry()
    (entry.key, entry.value) = ("main", function)
    var program = MILProgram()
    program.version = 1
    program.functions = [MILFunctionEntry](repeating: entry, count: parts.functions)
    var model = Model()
    model.specificationVersion = 6
    var description = ModelDescription()
    let array = ArrayFeatureType(shape: parts.declared, dataType: .float32)
    description.input = [FeatureDescription(name: "x", kind: .multiArray(array))]
    description.output = [FeatureDescription(name: parts.result, kind: .multiArray(array))]
    model.description = description
    model.type = .mlProgram(program)
    return model
  }

  private struct Parts {
    var functions = 1
    var opset = "CoreML5"
    var inputs = [named("x", .float32, [2, 3])]
    var operations = [
      constant("c", .float32, [2, 3], [1, 2, 3, 4, 5, 6]), addition("y", ["x": "x", "y": "c"]),
    ]
    var outputs = ["y"]
    var declared = [2, 3]
    var result = "y"
  }

  private static func type(_ type: MILDataType, _ shape: [Int]) -> MILValueType {
    var tensor = MILTensorType()
    (tensor.dataType, tensor.rank) = (type, shape.count)
    tensor.dimensions = shape.map { size in
      var dimension = MILDimension()
      dimension.kind = .constant(size)
      return dimension
    }
    var result = MILValueType()
    result.kind = .tensor(tensor)
    return result
  }

  private static func named(_ name: String, _ type: MILDataType, _ shape: [Int]) -> MILNamedType {
    var result = MILNamedType()
    (result.name, result.type) = (name, Self.type(type, shape))
    return result
  }

  private static func constant(
    _ name: String, _ type: MILDataType, _ shape: [Int], _ values: [Float]
  ) -> MILOperation {
    var tensor = MILTensorValue()
    tensor.content = .floats(FloatValues(values))
    var immediate = MILImmediate()
    immediate.content = .tensor(tensor)
    var value = MILValue()
    value.type = Self.type(type, shape)
    value.content = .immediate(immediate)
    var attribute = MILAttribute()
    (attribute.key, attribute.value) = ("val", value)
    var operation = MILOperation()
    operation.type = "const"
    operation.outputs = [named(name, type, shape)]
    operation.attributes = [attribute]
    return operation
  }

  private static func addition(_ name: String, _ arguments: [String: String]) -> MILOperation {
    var operation = MILOperation()
    operation.type = "add"
    operation.inputs = arguments.sorted { $0.key < $1.key }.map { key, value in
      var binding = MILBinding()
      binding.content = .name(value)
      var argument = MILArgument()
      argument.arguments = [binding]
      var entry = MILArgumentEntry()
      (entry.key, entry.value) = (key, argument)
      return entry
    }
    operation.outputs = [named(name, .float32, [2, 3])]
    return operation
  }

  private struct Fault: Sendable, CustomTestStringConvertible {
    var message: String
    var change: @Sendable (inout Parts) -> Void

    init(_ message: String, _ change: @escaping @Sendable (inout Parts) -> Void) {
      (self.message, self.change) = (message, change)
    }

    var testDescription: String { message }
  }

  private static let faults: [Fault] = [
    Fault("two functions are named 'main'") { $0.functions = 2 },
    Fault("no function 'main'") { $0.functions = 0 },
    Fault("the function has no operations for 'CoreML9'") { $0.opset = "CoreML9" },
    Fault("two values are named 'x'") { $0.inputs.append(named("x", .float32, [2, 3])) },
    Fault("two values are named 'c'") { $0.operations.insert($0.operations[0], at: 0) },
    Fault("a value has no name") { $0.inputs.append(named("", .float32, [2, 3])) },
    Fault("neither an input nor an earlier operation produces 'z'") {
      $0.operations[1] = addition("y", ["x": "x", "y": "z"])
    },
    Fault("neither an input nor an earlier operation produces 'y'") {
      $0.operations[1] = addition("y", ["x": "x", "y": "y"])
    },
    Fault("the argument has no value") {
      $0.operations[1].inputs[0].value?.arguments[0].content = nil
    },
    Fault("an argument is given twice") {
      $0.operations[1].inputs.append($0.operations[1].inputs[0])
    },
    Fault("operation 'add' has no such argument") {
      $0.operations[1] = addition("y", ["x": "x", "y": "c", "z": "c"])
    },
    Fault("the argument is missing") { $0.operations[1] = addition("y", ["x": "x"]) },
    Fault("2 values; one is needed") {
      let more = $0.operations[1].inputs[1].value?.arguments ?? []
      $0.operations[1].inputs[0].value?.arguments += more
    },
    Fault("operation 'addd' is not supported") { $0.operations[1].type = "addd" },
    Fault("no operation of the block produces its output 'w'") { $0.outputs.append("w") },
    Fault("the function 'main' has no such output") { $0.result = "w" },
    Fault("the function 'main' has no such input") {
      $0.inputs = [named("w", .float32, [2, 3])]
      $0.operations[1] = addition("y", ["x": "w", "y": "c"])
    },
    Fault("the interface has the shape [2, 4], the function fp32[2, 3]") { $0.declared = [2, 4] },
    Fault("the interface has floats, the function bool[2, 3]") {
      $0.inputs = [named("x", .bool, [2, 3])]
    },
    Fault("the interface has floats, the function int32[2, 3]") {
      $0.inputs = [named("x", .int32, [2, 3])]
    },
    Fault("the program declares fp32[3, 3], but the result is fp32[2, 3]") {
      $0.operations[1].outputs = [named("y", .float32, [3, 3])]
    },
    Fault("the program declares int32[2, 3], but the result is fp32[2, 3]") {
      $0.operations[1].outputs = [named("y", .int32, [2, 3])]
    },
    Fault("2 results are named, but the operation has 1") {
      $0.operations[1].outputs.append(named("w", .float32, [2, 3]))
    },
    Fault("the types differ: fp32 and int32") {
      var changed = constant("c", .int32, [2, 3], [])
      var tensor = MILTensorValue()
      tensor.content = .ints([1, 2, 3, 4, 5, 6])
      var immediate = MILImmediate()
      immediate.content = .tensor(tensor)
      changed.attributes[0].value?.content = .immediate(immediate)
      $0.operations[0] = changed
    },
    Fault("the number of elements differs from the 6") {
      $0.operations[0] = constant("c", .float32, [2, 3], [1, 2, 3])
    },
    Fault("the constant of type int32 has elements of type floats") {
      $0.operations[0] = constant("c", .int32, [2, 3], [1, 2, 3, 4, 5, 6])
    },
    Fault("the constant has no value") { $0.operations[0].attributes = [] },
    Fault("the type of the value differs from that of the constant") {
      $0.operations[0].outputs = [named("c", .float32, [3, 2])]
    },
    Fault("the weight file 'gone.bin' is missing") {
      var place = MILFileValue()
      (place.fileName, place.offset) = ("gone.bin", 64)
      $0.operations[0].attributes[0].value?.content = .file(place)
    },
    Fault("nested too deep") {
      var inner = $0.operations[1]
      for _ in 0..<20 {
        var block = MILBlock()
        block.operations = [inner]
        var outer = MILOperation()
        outer.type = "cond"
        outer.blocks = [block]
        inner = outer
      }
      $0.operations.append(inner)
    },
  ]

  @Test func theProgramIsValid() throws {
    let model = Self.model { _ in }
    try model.requireValid()
    #expect(try model.programNetwork()?.model.neuralNetwork?.layers.isEmpty == false)
  }

  /// The default shape of a flexible input does not fit the program, but another shape does.
  @Test func otherShapesThanTheDefaultOnes() throws {
    var model = Self.model { $0.declared = [1, 3] }
    guard case .multiArray(var array)? = model.description?.input[0].type?.kind else { return }
    array.flexibility = .range([SizeRange(1, 4), SizeRange(3, 3)])
    model.description?.input[0].type?.kind = .multiArray(array)
    #expect(try model.programNetwork()?.failure != nil)
    let network = try model.programNetwork(shapes: ["x": [2, 3]])
    #expect(network?.failure == nil && network?.model.neuralNetwork?.layers.isEmpty == false)
  }

  @Test(arguments: faults.indices)
  func eachFaultIsOneError(index: Int) throws {
    let fault = Self.faults[index]
    let error = #expect(throws: ModelError.self) {
      let model = Self.model(fault.change)
      try model.requireValid()
      _ = try model.programNetwork()
    }
    let text = error.map { "\($0)" } ?? ""
    #expect(text.contains(fault.message), "\(text)")
  }
}
