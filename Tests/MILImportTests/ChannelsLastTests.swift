import CoreMLModel
import TensorCore
import Testing

@testable import MILImport

/// Transposes that move the channels to the end, and the layers after them.
struct ChannelsLastTests {
  private let lowering = ProgramLowering(MILProgram(), values: nil, keepsStates: false)

  /// The result of an operation on a value and constants.
  private func apply(
    _ operation: String, _ x: ProgramValue, _ constants: [String: [Int]] = [:]
  ) throws -> ProgramValue {
    var call = MILOperation()
    call.type = operation
    let values = constants.mapValues { ProgramValue(MILElements($0, [$0.count])) }
    call.inputs = values.merging(["x": x]) { first, _ in first }.map { key, value in
      let name = lowering.uniqueBlob(key)
      lowering.define(name, value)
      var (binding, argument, entry) = (MILBinding(), MILArgument(), MILArgumentEntry())
      binding.content = .name(name)
      argument.arguments = [binding]
      (entry.key, entry.value) = (key, argument)
      return entry
    }
    let rule = try #require(operationRulesByName[operation])
    return try rule.lower(OperationCall(operation: call, lowering: lowering))[0]
  }

  /// The layers between the input and a value, each with one input.
  private func layers(of value: ProgramValue) -> [any LayerParameters] {
    var result: [any LayerParameters] = []
    var blob = value.blob
    while let layer = lowering.layers.first(where: { $0.output.first == blob }),
      let parameters = layer.parameters
    {
      result.insert(parameters, at: 0)
      blob = layer.input.first
    }
    return result
  }

  /// Rows 1 and 2 of three, with channels last and with channels first.
  @Test func transposesMeet() throws {
    let x = try lowering.input("x", .float32, [1, 2, 3, 4])
    var value = try apply("transpose", x, ["perm": [0, 2, 3, 1]])
    value = try apply("relu", value)
    value = try apply("slice_by_index", value, ["begin": [0, 1, 0, 0], "end": [1, 3, 4, 2]])
    #expect(value.shape == [1, 2, 4, 2])
    value = try apply("transpose", value, ["perm": [0, 3, 1, 2]])
    #expect(value.shape == [1, 2, 2, 4])
    let layers = layers(of: value)
    try #require(layers.count == 2)
    #expect(layers[0] is Activation)
    let slice = try #require(layers[1] as? SliceStatic)
    #expect(slice.beginIds == [0, 0, 1, 0] && slice.endIds == [1, 2, 3, 4])
  }

  /// Means over the rows and columns, which leave the channels, and over the channels.
  @Test(arguments: [([1, 2], [2, 3], [1, 2]), ([3], [1], [1, 3, 4])])
  func reductionsNeedNoTranspose(axes: [Int], expected: [Int], shape: [Int]) throws {
    let x = try lowering.input("x", .float32, [1, 2, 3, 4])
    let last = try apply("transpose", x, ["perm": [0, 2, 3, 1]])
    let mean = try apply("reduce_mean", last, ["axes": axes])
    #expect(mean.shape == shape)
    let layers = layers(of: mean)
    try #require(layers.count == 1)
    #expect((layers[0] as? ReduceMean)?.axes == expected)
  }

  /// The mean over the columns is [1, 3, 2] with channels last, and [1, 2, 3] with channels first.
  @Test func othersKeepTheirOrder() throws {
    let x = try lowering.input("x", .float32, [1, 2, 3, 4])
    let last = try apply("transpose", x, ["perm": [0, 2, 3, 1]])
    let mean = try apply("reduce_mean", last, ["axes": [2]])
    #expect(mean.shape == [1, 3, 2])
    #expect(layers(of: mean).first is Transpose)
    let heads = try apply("transpose", x, ["perm": [0, 2, 1, 3]])
    #expect(layers(of: try apply("relu", heads)).first is Transpose)
  }
}
