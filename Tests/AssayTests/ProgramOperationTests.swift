import TestSupport
import Testing

/// The operations of programs from Keras networks of several families.
@Suite struct ProgramOperationTests {
  /// The relevant operations of each program, with their counts; the networks are those of
  /// `Fixtures/programs/keras/make.py`.
  @Test(
    arguments: [
      ("encoder", ["layer_norm": 2, "gelu": 1, "matmul": 2, "linear": 7, "softmax": 1]),
      ("decoder", ["layer_norm": 2, "gelu": 1, "matmul": 2, "linear": 7, "softmax": 1]),
      ("recurrent", ["lstm": 1, "transpose": 0]),
      ("text", ["relu": 2, "reduce_max": 2, "transpose": 1]),
      ("mobile", ["conv": 4, "linear": 1, "relu6": 2, "batch_norm": 0, "transpose": 1]),
      ("excitation", ["conv": 4, "silu": 2, "sigmoid": 1, "transpose": 2, "reduce_mean": 1]),
      ("convnext", ["conv": 4, "layer_norm": 2, "gelu": 1, "transpose": 2]),
    ] as [(String, [String: Int])])
  func operations(name: String, expected: [String: Int]) throws {
    let source = Fixtures("programs/keras").path(name)
    try withTemporaryFolder { folder in
      let package = folder + "/" + name + ".mlpackage"
      let converted = try Command.run("convert", source + ".h5", "-o", package)
      #expect(converted.code == 0, "\(converted.errors)")
      let difference = try Command.run(
        "diff", package, source + ".inputs.npz", "--expected", source + ".expected.npz",
        "--rtol", "1e-5", "--atol", "1e-5")
      #expect(difference.code == 0, "\(difference.output)\(difference.errors)")
      let text = try Command.run("inspect", package, "--spec").output
      for (operation, count) in expected {
        #expect(text.components(of: " = \(operation)(") == count, "\(operation) in \(text)")
      }
      for spelled in ["upsample_nearest_neighbor", "rsqrt", "pow", "threshold"] {
        #expect(!text.contains(" = \(spelled)("), "\(text)")
      }
    }
  }

  /// The earlier conversions of the networks become programs with the same values.
  @Test(arguments: ["encoder", "mobile", "excitation", "convnext"])
  func networksOfVersion1BecomeTheSame(name: String) throws {
    let source = Fixtures("programs/keras").path(name)
    try withTemporaryFolder { folder in
      let network = folder + "/" + name + ".mlmodel"
      let package = folder + "/" + name + ".mlpackage"
      #expect(
        try Command.run("convert", source + ".h5", "-o", network, "--max-spec", "1").code == 0)
      let upgraded = try Command.run("upgrade", network, "-o", package)
      #expect(upgraded.code == 0, "\(upgraded.errors)")
      let difference = try Command.run(
        "diff", package, source + ".inputs.npz", "--expected", source + ".expected.npz",
        "--rtol", "1e-5", "--atol", "1e-5")
      #expect(difference.code == 0, "\(difference.output)\(difference.errors)")
      let text = try Command.run("inspect", package, "--spec").output
      #expect(!text.contains(" = rsqrt(") && !text.contains(" = pow("), "\(text)")
    }
  }
}

extension String {
  fileprivate func components(of part: String) -> Int {
    var (count, rest) = (0, self[...])
    while let range = rest.firstRange(of: part) {
      count += 1
      rest = rest[range.upperBound...]
    }
    return count
  }
}
