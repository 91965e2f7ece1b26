import Kernels
import TensorCore
import Testing

@testable import Formulas

@Suite struct VectorProgramTests {
  private func run(
    _ expression: Expression, _ inputs: [(name: String, array: FormulaArray)],
    weights: [String: FormulaArray] = [:], _ set: InstructionSet
  ) throws -> FormulaArray {
    let program = try VectorProgram(
      expression, inputs: inputs.map { ($0.name, $0.array.shape) }, weights: weights,
      kernels: set.kernels)
    let sources = inputs.map { input in input.array.elements.map { Float($0) } }
    let count = program.outputShape.reduce(1, *)
    var result = [Float](repeating: .nan, count: count)
    let buffers = sources.map { values in
      let buffer = UnsafeMutablePointer<Float>.allocate(capacity: max(1, values.count))
      buffer.initialize(from: values, count: values.count)
      return buffer
    }
    defer { for buffer in buffers { buffer.deallocate() } }
    result.withUnsafeMutableBufferPointer { target in
      if let base = target.baseAddress { program.run(buffers.map { UnsafePointer($0) }, base) }
    }
    return FormulaArray(program.outputShape, result.map { Double($0) })
  }

  @Test(arguments: InstructionSet.allCases.filter(\.isAvailable))
  func answersWhatNumpyAnswers(_ set: InstructionSet) throws {
    let fixture = try FormulaFixture()
    for (text, expected) in fixture.cases {
      let expression = try Expression(parsing: text, names: Set(fixture.names.keys))
      let inputs: [(name: String, array: FormulaArray)] = ["x", "y"].compactMap { name in
        fixture.names[name].map { (name, $0) }
      }
      let value = try run(
        expression, inputs, weights: fixture.names.filter { !["x", "y"].contains($0.key) }, set)
      #expect(value.largestDifference(from: expected) <= 4e-6, "\(text)")
    }
  }

  /// Arrays with odd sizes, longer than a block, with every kind of broadcasting.
  @Test func oddShapesAgreeWithDoublePrecision() throws {
    var random = SplitMix64(seed: 5)
    func array(_ shape: [Int]) -> FormulaArray {
      FormulaArray(
        shape,
        (0..<shape.reduce(1, *)).map { _ in Double(Float(random.next() >> 40) / Float(1 << 22) - 2)
        })
    }
    let formulas = [
      "x * sigmoid(y) + 1", "where(x > y, x, exp(-y)) - clip(x, y, 1)", "sin(x) * y ** 2",
      "(x + y)[..., 1:, ::2] * 3", "mean(x * y, axis=-1, keepdims=True) + x",
      "reduce_max(x, axis=(0, 2)) - sum(y)", "x[..., ::-1] + y", "(x * y)[1:][:, 0]",
    ]
    let shapes: [([Int], [Int])] = [
      ([3, 7, 1001], [3, 7, 1001]), ([5, 3, 411], [411]), ([2, 9, 5], [9, 1]),
      ([2, 3, 3], [3, 1, 1]),
      ([4, 1, 700], [1, 5, 1]), ([2, 3, 2], []),
    ]
    for formula in formulas {
      let expression = try Expression(parsing: formula)
      for (a, b) in shapes {
        let (x, y) = (array(a), array(b))
        guard let expected = try? expression.value(["x": x, "y": y]) else { continue }
        let value = try run(expression, [("x", x), ("y", y)], .widest)
        #expect(value.largestDifference(from: expected) <= 4e-6, "\(formula) \(a) \(b)")
      }
    }
  }

  @Test func manyPartsAreRefused() throws {
    var text = "x"
    for _ in 0..<90 { text = "(\(text) * 2)[:]" }
    let error = #expect(throws: ModelError.self) {
      let expression = try Expression(parsing: text)
      _ = try run(expression, [("x", FormulaArray([2], [1, 2]))], .widest)
    }
    #expect(error?.code == .limitExceeded)
  }
}
