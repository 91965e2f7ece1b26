import ByteFormats
import Foundation
import TensorCore
import TestSupport
import Testing

/// ML Programs on the command line, compared with what PyTorch, NumPy and coremltools say.
@Suite struct ProgramTests {
  private static let programs = Fixtures("programs")

  /// Operations by family; `Fixtures/programs/make.py` made them.
  @Test(arguments: ["unary", "binary", "logical", "reductions", "shapes", "normalizations"])
  func operationsGiveTheirValues(family: String) throws {
    let path = Self.programs.path(family)
    let result = try Command.run(
      "diff", path + ".mlpackage", path + ".inputs.npz", "--expected", path + ".expected.npz",
      "--rtol", "2e-5", "--atol", "1e-5")
    #expect(result.code == 0, "\(result.output)\(result.errors)")
  }

  private struct Case: Decodable {
    var tolerance: Double?
  }

  /// Networks that coremltools made from PyTorch's, with PyTorch's answers. The tolerance is relative to
  /// the largest value.
  @Test(
    .shared("corpus/programs"),
    arguments: fileNames(in: Shared.path("corpus/programs")))
  func networksGiveWhatPyTorchGives(name: String) throws {
    let folder = Shared.path("corpus/programs/\(name)")
    let json = Data(try fileBytes(folder + "/case.json"))
    // The expected values are of whole weights. Compressed ones cost what they cost: with 16 levels a
    // block, 0.115 of the largest value.
    let isOf4Bits = name.hasPrefix("linear4")
    let tolerance =
      try JSONDecoder().decode(Case.self, from: json).tolerance ?? (isOf4Bits ? 0.15 : 0.1)
    let expected = try ArraySet.read(folder + "/expected.npz").arrays.map { array in
      // PyTorch's name of what coremltools calls this.
      var array = array
      if array.name == "probabilities" { array.name = "classLabel_probs" }
      return array
    }
    let largest = expected.flatMap { $0.tensor.elements }.map(abs).max() ?? 1
    try withTemporaryFolder { scratch in
      try ArraySet(expected).write(to: scratch + "/expected.npz")
      let result = try Command.run(
        "diff", folder + "/model.mlpackage", folder + "/inputs.npz", "--expected",
        scratch + "/expected.npz", "--rtol", "0", "--atol", "\(tolerance * Double(largest))")
      #expect(result.code == 0, "\(result.output)\(result.errors)")
    }
  }

  @Test func theTextShowsOperationsAndConstants() throws {
    let package = Self.programs.path("binary.mlpackage")
    let spec = try Command.run("inspect", package, "--spec")
    #expect(spec.code == 0, "\(spec.errors)")
    #expect(
      spec.output.contains("main[CoreML5](x: fp32[2, 1, 5], y: fp32[3, 1]) {"), "\(spec.output)")
    #expect(spec.output.contains(": fp32[2, 3, 5] = add(x=x, y=y)"), "\(spec.output)")
    let table = try Command.run("inspect", package)
    #expect(table.code == 0 && table.output.contains("Function main"), "\(table.errors)")
    #expect(table.output.contains("floor_div"), "\(table.output)")
  }

  /// An operation without layers is named.
  @Test func unknownOperationsAreRefused() throws {
    try withPackage("binary") { package, model in
      let bytes = try fileBytes(model)
      try writeFile(
        bytes.replacing(Array("floor_div".utf8), with: Array("floor_diz".utf8)), to: model)
      let result = try Command.run("bench", package)
      #expect(result.code == 2, "\(result.errors)")
      #expect(
        result.errors.contains("the operation 'floor_diz' is not supported yet"), "\(result.errors)"
      )
      let inspected = try Command.run("inspect", package)
      #expect(inspected.code == 0 && inspected.output.contains("not supported yet"))
    }
  }

  /// The types that a file states are compared with those that its operations have.
  @Test func otherShapesThanStatedAreRefused() throws {
    try withPackage("binary") { package, model in
      var bytes = try fileBytes(model)
      // The last size of x, [2, 1, 5], in the interface and in the function's input.
      let before: [UInt8] = [0x0A, 2, 0x08, 5]
      #expect(bytes.firstRange(of: before) != nil)
      bytes = bytes.replacing(before, with: [0x0A, 2, 0x08, 4], maxReplacements: 1)
      try writeFile(bytes, to: model)
      let result = try Command.run("bench", package)
      #expect(result.code == 2, "\(result.output)\(result.errors)")
      #expect(result.errors.split(separator: "\n").count <= 2, "\(result.errors)")
    }
  }

  /// Damaged programs and weight files give a result or one error.
  @Test func damagedPackagesAreNoFaults() throws {
    var random = SplitMix64(seed: 1)
    for family in ["normalizations", "shapes"] {
      try withPackage(family) { package, model in
        let weights = package + "/Data/com.apple.CoreML/weights/weight.bin"
        for file in [model, weights] where fileExists(file) {
          let bytes = try fileBytes(file)
          for _ in 0..<40 {
            try writeFile(bytes.withBytesReplaced(&random), to: file)
            let input = Self.programs.path(family + ".inputs.npz")
            let result = try Command.run("run", package, input, "-o", package + ".npz")
            #expect([0, 2].contains(result.code), "\(result.code): \(result.errors)")
          }
          try writeFile(bytes, to: file)
        }
      }
    }
  }

  private func withPackage(
    _ family: String, _ body: (_ package: String, _ model: String) throws -> Void
  ) throws {
    try withTemporaryFolder { folder in
      let package = folder + "/net.mlpackage"
      try FileManager.default.copyItem(
        atPath: Self.programs.path(family + ".mlpackage"), toPath: package)
      try body(package, package + "/Data/com.apple.CoreML/model.mlmodel")
    }
  }
}
