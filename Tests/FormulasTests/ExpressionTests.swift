import Formulas
import TensorCore
import Testing

@Suite struct ExpressionTests {
  private func error(_ text: String, _ names: Set<String> = ["x", "y"]) -> ModelError? {
    do {
      _ = try Expression(parsing: text, names: names)
      return nil
    } catch { return error as? ModelError }
  }

  @Test func valuesAreNumpys() throws {
    let fixture = try FormulaFixture()
    #expect(fixture.cases.count > 50)
    for (text, expected) in fixture.cases {
      let expression = try Expression(parsing: text, names: Set(fixture.names.keys))
      let value = try expression.value(fixture.names)
      #expect(value.shape == expected.shape, "\(text)")
      #expect(value.largestDifference(from: expected) <= 1e-12, "\(text)")
      #expect(try expression.shape(fixture.shapes).map { $0 ?? -1 } == expected.shape, "\(text)")
    }
  }

  @Test func whatIsWrittenReadsTheSame() throws {
    let fixture = try FormulaFixture()
    for (text, _) in fixture.cases {
      let expression = try Expression(parsing: text)
      #expect(try Expression(parsing: expression.description) == expression, "\(expression)")
    }
    for (text, written) in [
      ("(x+1)*127.5", "(x + 1) * 127.5"), ("x-(y-1)", "x - (y - 1)"), ("x-y-1", "x - y - 1"),
      ("-(x**2)", "-x ** 2"), ("(-x)**2", "(-x) ** 2"), ("x*sigmoid( x )", "x * sigmoid(x)"),
      ("x[:,2:-2,::2,0,...,None]", "x[:, 2:-2, ::2, 0, ..., None]"), ("2*3+x", "6 + x"),
      ("mean(x,axis=(1,2),keepdims=True)", "mean(x, axis=(1, 2), keepdims=True)"),
      ("max(x,axis=1)", "reduce_max(x, axis=1)"), ("where(x>0,x,0)", "where(x > 0, x, 0)"),
      ("silu(x)", "swish(x)"), ("gelu(x,True)", "gelu(x, approximate=True)"),
    ] { #expect(try Expression(parsing: text).description == written) }
  }

  @Test func errorsNameTheColumn() {
    #expect(error("x * z")?.message == "column 5: unknown name 'z'")
    #expect(error("x * z")?.hint == "known names are x, y")
    #expect(error("x ^ 2")?.message == "column 3: unexpected '^'")
    #expect(error("x ^ 2")?.hint == "write a power as x ** 2")
    #expect(
      error("x * (y + 1")?.message == "column 11: expected ')' to match column 5, found the end")
    #expect(error("x +")?.message == "column 4: expected an expression, found the end")
    #expect(error("x y")?.message == "column 3: unexpected y")
    #expect(error("1 < x < 2")?.message == "column 7: comparisons do not chain")
    #expect(error("x[0.5]")?.message == "column 3: 0.5 is not an integer")
    #expect(error("x[::0]")?.message == "column 6: its step is 0")
    #expect(error("sigmoide(x)")?.message == "column 1: unknown function 'sigmoide'")
    #expect(
      error("1 + tanh(x, y)")?.message == "column 5: tanh takes at most 1 arguments but gets 2")
    #expect(error("clip(x, lo=1)")?.message == "column 1: clip has no parameter 'lo'")
    #expect(error("clip(x, lo=1)")?.hint == "write clip(x, low, high)")
    #expect(error("minimum(x)")?.message == "column 1: minimum needs y")
    #expect(error("")?.message == "column 1: expected an expression, found the end")
  }

  @Test func lengthAndDepthAreBounded() {
    let codes = [
      String(repeating: "(", count: 100_000), String(repeating: "-", count: 10_000) + "x",
      String(repeating: "x+", count: 8000) + "x", String(repeating: "tanh(", count: 3000) + "x",
      "x" + String(repeating: "**x", count: 5000), "x" + String(repeating: "[:]", count: 5000),
      String(repeating: "leaky_relu(", count: 40) + "x" + String(repeating: ")", count: 40),
      "x[" + String(repeating: ":,", count: 5000) + ":]",
    ].map { error($0)?.code }
    #expect(codes.allSatisfy { $0 == .limitExceeded || $0 == .malformed }, "\(codes)")
  }

  @Test func shapesThatDoNotFitAreNamed() throws {
    func failure(_ text: String, _ shapes: [String: [Int?]]) throws -> String? {
      let expression = try Expression(parsing: text)
      do {
        _ = try expression.shape(shapes)
        return nil
      } catch { return (error as? ModelError)?.message }
    }
    #expect(
      try failure("x + y", ["x": [2, 3], "y": [2, 4]])
        == "the shapes (2, 3) and (2, 4) cannot be broadcast together")
    #expect(try failure("x[:, 3]", ["x": [2, 3]]) == "index 3 is out of range for length 3")
    #expect(try failure("x[:, 2:-2]", ["x": [2, 4]]) == "an axis of length 4 becomes empty")
    #expect(
      try failure("sum(x, axis=2)", ["x": [2, 4]])?.hasPrefix("axis 2 does not exist") == true)
    #expect(try failure("x[0, 0, 0]", ["x": [2, 4]]) == "3 indices for 2 axes")
    #expect(try failure("x * 2", [:]) == "unknown name 'x'")
    #expect(try Expression(parsing: "x + y").shape(["x": [nil, 3], "y": [3]]) == [nil, 3])
    #expect(try Expression(parsing: "x[:, 1:]").shape(["x": [4, nil]]) == [4, nil])
  }

  /// Any random text is parsed or rejected.
  @Test func randomTextsDoNoHarm() {
    var random = SplitMix64(seed: 11)
    let parts = [
      "x", "y", "2", ".5", "(", ")", "[", "]", ":", ",", "+", "-", "*", "**", "/", "//", "%", "<",
      "==", "=", "tanh", "clip", "axis", "mean", "None", "...", "&", "keepdims=True", "(1,2)",
    ]
    var readable = 0
    for _ in 0..<20_000 {
      var text = ""
      for _ in 0..<(1 + random.next() % 12) {
        text += parts[Int(random.next() % UInt64(parts.count))]
      }
      if let expression = try? Expression(parsing: text, names: ["x", "y"]) {
        readable += 1
        let names = [
          "x": FormulaArray([2, 3], [1, 2, 3, 4, 5, 6]), "y": FormulaArray([3], [1, 0, -1]),
        ]
        _ = try? expression.value(names)
      }
    }
    #expect(readable > 200)
  }
}
