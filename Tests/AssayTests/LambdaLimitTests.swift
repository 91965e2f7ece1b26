import ByteFormats
import TensorCore
import TestSupport
import Testing

/// Lambdas that Python itself cannot compute, and Lambdas that would take too long to evaluate.
@Suite struct LambdaLimitTests {
  private static let fixtures = Fixtures("keras/refused")

  private struct Case {
    let name: String
    let code: String
  }

  private static func cases() throws -> [Case] {
    let json = try JSONValue(parsing: try fixtures.bytes("lambdas.json"))
    return (json["cases"]?.array ?? []).compactMap { entry in
      guard let name = entry["name"]?.string, let code = entry["code"]?.string else { return nil }
      return Case(name: name, code: code)
    }
  }

  @Test func whatPythonCannotComputeIsRefused() throws {
    let cases = try Self.cases()
    #expect(cases.count >= 18)
    try withTemporaryFolder { folder in
      for test in cases {
        let path = folder + "/\(test.name).json"
        let text = """
          {"class_name": "Sequential", "keras_version": "2.9.0", "backend": "tensorflow",
           "config": {"name": "s", "layers": [{"class_name": "Lambda", "config": {"name": "l",
           "batch_input_shape": [null, 4], "function_type": "lambda",
           "function": ["\(test.code)", null, null]}}]}}
          """
        try writeFile(Array(text.utf8), to: path)
        let clock = ContinuousClock()
        let start = clock.now
        let result = try Command.run("convert", path, "--dry-run", "--max-memory", "256M")
        let isFine = test.name.hasPrefix("ok")
        #expect(result.exited && result.code == (isFine ? 0 : 2), "\(test.name): \(result.errors)")
        #expect(clock.now - start < .seconds(60), "\(test.name)")
        guard !isFine else { continue }
        #expect(result.errors.contains("\(test.name).json: layer 'l' (Lambda)"), "\(result.errors)")
      }
    }
  }

  /// −7 // 2 is −4 and −7 % 2 is 1; 2 ** −3 is 1/8 and 3 ** 4 is 81.
  @Test func whatPythonComputesIsKnown() throws {
    for (name, formula) in [("ok_floor", "x * -4 + 1"), ("ok_power", "x * 0.125 + 81")] {
      let test = try #require(try Self.cases().first { $0.name == name })
      try withTemporaryFolder { folder in
        let path = folder + "/l.json"
        let text = """
          {"class_name": "Sequential", "keras_version": "2.9.0", "config": {"name": "s", "layers": [
           {"class_name": "Lambda", "config": {"name": "l", "batch_input_shape": [null, 4],
           "function_type": "lambda", "function": ["\(test.code)", null, null]}}]}}
          """
        try writeFile(Array(text.utf8), to: path)
        let result = try Command.run("convert", path, "--dry-run")
        #expect(result.output.contains(formula), "\(result.output)")
      }
    }
  }

  @Test func divisionByZeroIsRefused() throws {
    let result = try Command.run("convert", Self.fixtures.path("div0.h5"), "--dry-run")
    #expect(result.code == 2, "\(result.output)")
    #expect(result.errors.contains("div0.h5: layer 'l' (Lambda)"), "\(result.errors)")
    #expect(result.errors.contains("it divides by zero"), "\(result.errors)")
  }

  /// A file of 7.5 kB that once took 33 s and 2.3 GiB.
  @Test func sharedConstantsAreCounted() throws {
    let path = Self.fixtures.path("lambda_dag20.h5")
    let clock = ContinuousClock()
    let start = clock.now
    let result = try Command.run("convert", path, "--dry-run", "--max-memory", "256M")
    #expect(result.code == 2, "\(result.output)")
    #expect(result.errors.contains("layer 'l' (Lambda)"), "\(result.errors)")
    #expect(result.errors.contains("its code is damaged, too large"), "\(result.errors)")
    #expect(clock.now - start < .seconds(10))
  }
}
