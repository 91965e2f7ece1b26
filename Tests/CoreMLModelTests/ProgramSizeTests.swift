import ByteFormats
import TensorCore
import Testing

@testable import CoreMLModel

struct ProgramSizeTests {
  /// A program with 50,000 constants, as in programs of some thousand operations, can be read: each
  /// message has six bytes.
  @Test func readsManyConstants() throws {
    var operation = MILOperation()
    operation.type = "const"
    let value = MILValue(ints: [1, 1], [2])
    operation.attributes = [MILAttribute("name", MILValue("c00000")), MILAttribute("val", value)]
    operation.outputs = [MILNamedType("c00000", value.type ?? MILValueType())]
    var block = MILBlock()
    block.operations = Array(repeating: operation, count: 50_000)
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
    let read = try Model(bytes: Bytes(model.encoded()), package: nil)
    #expect(read.type == model.type)
  }
}
