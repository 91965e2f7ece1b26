import CoreMLModel
import TensorCore
import Testing

@testable import MILImport

/// Operations on scalars and on arrays without elements, as in NumPy.
struct EmptyArrayTests {
  private let lowering = ProgramLowering(MILProgram(), values: nil, keepsStates: false)

  /// The shape and the elements of an operation's result for constants.
  private func result(
    _ operation: String, _ arguments: [String: [MILElements]]
  ) throws -> (shape: [Int], elements: [Float]) {
    var call = MILOperation()
    call.type = operation
    call.inputs = arguments.sorted { $0.key < $1.key }.map { key, values in
      var argument = MILArgument()
      argument.arguments = values.indices.map { index in
        var binding = MILBinding()
        binding.content = .name("\(key)\(index)")
        lowering.define("\(key)\(index)", ProgramValue(values[index]))
        return binding
      }
      var entry = MILArgumentEntry()
      (entry.key, entry.value) = (key, argument)
      return entry
    }
    let rule = try #require(operationRulesByName[operation])
    let value = try rule.lower(OperationCall(operation: call, lowering: lowering))[0]
    return (value.shape, try #require(try lowering.elements(value)).floats())
  }

  private func array(_ values: [Float], _ shape: [Int]) -> MILElements {
    MILElements(values, shape, .float32)
  }

  @Test func numbersMakeAVector() throws {
    let two = try result(
      "concat", ["values": [array([3], []), array([4], [])], "axis": [MILElements([0], [])]])
    #expect(two.shape == [2] && two.elements == [3, 4])
    let one = try result("concat", ["values": [array([3], [])], "axis": [MILElements([0], [])]])
    #expect(one.shape == [1] && one.elements == [3])
  }

  /// The example in coremltools' documentation of `reshape` since iOS 17, and equal ranks.
  @Test(arguments: [
    ([1, 0, -1, 0], [1, 1, 2, 3]), ([0, -1], [2, 3]), ([0], [3]), ([-1, 0], [2, 3]),
  ])
  func zerosOfAShapeCountFromItsEnd(shape: [Int], expected: [Int]) throws {
    let rows = expected.count == 1 ? 1 : 2
    let x = array((0..<3 * rows).map { Float($0) }, [rows, 3])
    let found = try result("reshape", ["x": [x], "shape": [MILElements(shape, [shape.count])]])
    #expect(found.shape == expected)
  }

  @Test func arraysWithoutElements() throws {
    let places = try result("non_zero", ["x": [array([0, 0, 0, 0, 0, 0], [2, 3])]])
    #expect(places.shape == [0, 2] && places.elements.isEmpty)
    let slice = try result(
      "slice_by_index",
      [
        "x": [array([1, 2, 3, 4], [2, 2])], "begin": [MILElements([0, 1], [2])],
        "end": [MILElements([2, 1], [2])],
      ])
    #expect(slice.shape == [2, 0])
    let none = array([], [0])
    #expect(try result("add", ["x": [none], "y": [array([1], [1])]]).shape == [0])
    #expect(try result("fill", ["shape": [MILElements([3, 0], [2])]]).shape == [3, 0])
    let repeated = try result(
      "tile", ["x": [array([1, 2], [1, 2])], "reps": [MILElements([3, 0], [2])]])
    #expect(repeated.shape == [3, 0])
    let both = ["values": [none, array([5, 6], [2])], "axis": [MILElements([0], [])]]
    #expect(try result("concat", both).elements == [5, 6])
    let sum = try result("reduce_sum", ["x": [none], "axes": [MILElements([0], [1])]])
    #expect(sum.elements == [0])
  }

  /// As an output, an empty value becomes a layer whose result has no elements.
  @Test func emptyBlob() throws {
    _ = try lowering.blob(ProgramValue(array([], [0, 2])), named: "y")
    #expect(lowering.layers.last?.parameters is FillDynamic)
    #expect(lowering.layers.last?.output == ["y"])
    #expect((lowering.layers.first?.parameters as? LoadConstantND)?.shape == [2])
  }

  @Test func nothingIsScattered() throws {
    let scattered = try result(
      "scatter_nd",
      [
        "data": [array([1, 2, 3], [3])], "indices": [MILElements([] as [Int], [0, 1])],
        "updates": [array([], [0])],
      ])
    #expect(scattered.shape == [3] && scattered.elements == [1, 2, 3])
  }

  /// The maximum of no elements does not exist.
  @Test func whatHasNoValueIsRefused() {
    #expect(throws: ModelError.self) {
      try result("reduce_max", ["x": [array([], [0])], "axes": [MILElements([0], [1])]])
    }
  }
}
