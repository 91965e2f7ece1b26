import ByteFormats
import TensorCore
import Testing

@testable import CoreMLModel

struct ProgramSizeTests {
  /// A program of 50,000 constants, as one of some thousand operations has, can be read: messages of
  /// six bytes each.
  @Test func readsManyConstants() throws {
    var block = MILBlock()
    for index in 0..<50_000 {
      var operation = MILOperation()
      operation.type = "const"
      let value = MILValue(ints: [1, 1], [2])
      operation.attributes = [
        MILAttribute("name", MILValue("c\(index)")), MILAttribute("val", value),
      ]
      operation.outputs = [MILNamedType("c\(index)", value.type ?? MILValueType())]
      block.operations.append(operation)
    }
    var entry = MILBlockEntry()
    (entry.key, entry.value) = ("CoreML5", block)
    var function = MILFunction()
    (function.opset, function.specializations) = ("CoreML5", [entry])
    var main = MILFunctionEntry()
    (main.key, main.value) = ("main", function)
    var program = MILProgram()
    (program.version, program.functions) = (1, [main])
    var model = Model()
    model.type = .mlProgram(program)
    let bytes = try model.encoded()
    let read = try Model(bytes: Bytes(bytes), package: nil)
    #expect(try read.encoded() == bytes)
  }
}
