import ByteFormats
import Foundation
import TensorCore
import TestSupport
import Testing

/// ML Programs on the command line, compared with PyTorch, NumPy and coremltools.
@Suite struct ProgramTests {
  private static let programs = Fixtures("programs")

  /// Operations by family, from `Fixtures/programs/make.py`.
  @Test(arguments: [
    "unary", "binary", "logical", "reductions", "shapes", "normalizations", "sampling", "boxes",
    "boxes17", "recurrent", "lists", "rearranged", "quantized", "sparse",
    "values", "dilated", "mixed", "growing", "validated", "reflected", "pooled", "condition",
    "places",
  ])
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

  /// Networks that coremltools converted from PyTorch, with PyTorch's outputs. The tolerance is
  /// relative to the largest value.
  @Test(
    .shared("corpus/programs"),
    arguments: fileNames(in: Shared.path("corpus/programs")))
  func networksGiveWhatPyTorchGives(name: String) throws {
    let folder = Shared.path("corpus/programs/\(name)")
    let json = Data(try fileBytes(folder + "/case.json"))
    // The outputs of networks with compressed weights are in `decompressed.npz`.
    let given = try JSONDecoder().decode(Case.self, from: json).tolerance
    let decompressed = try ArraySet.read(Self.programs.path("decompressed.npz")).arrays
    let tolerance = given ?? 1e-5
    let expected = try ArraySet.read(folder + "/expected.npz").arrays.map { array in
      if given == nil, let own = decompressed.first(where: { $0.name == name }) {
        return NamedArray(own.tensor, name: array.name, type: own.type)
      }
      // PyTorch's name of an output that coremltools renames.
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

  /// The means of random numbers; the tolerance is five standard errors of the widest distribution.
  @Test func randomNumbersHaveTheirMeans() throws {
    let path = Self.programs.path("random")
    let result = try Command.run(
      "diff", path + ".mlpackage", Self.programs.path("random.inputs.npz"), "--expected",
      path + ".expected.npz", "--rtol", "0", "--atol", "0.1")
    #expect(result.code == 0, "\(result.output)\(result.errors)")
  }

  /// `square` is the default of two functions.
  @Test func functionsAreChosenByName() throws {
    try withTemporaryFolder { folder in
      let package = Self.programs.path("functions.mlpackage")
      func values(_ count: Int, _ shape: [Int], _ arguments: String...) throws -> [Float] {
        let (input, output) = (folder + "/x.npz", folder + "/y.npz")
        let tensor = Tensor(shape: shape, (0..<count).map { Float($0) })
        try ArraySet([NamedArray(tensor, name: "x", type: .float32)]).write(to: input)
        let result = try Command.run(["run", package, input, "-o", output] + arguments)
        #expect(result.code == 0, "\(result.errors)")
        return try ArraySet.read(output).arrays[0].tensor.elements
      }
      #expect(try values(4, [4]) == [0, 1, 4, 9])
      #expect(try values(4, [4], "--function", "square") == [0, 1, 4, 9])
      #expect(try values(6, [2, 3], "--function", "triple") == [0, 3, 6, 9, 12, 15])
      let check = try Command.run("check", package)
      #expect(check.code == 0 && check.output.hasSuffix(": valid\n"), "\(check.output)")
      let wrong = try Command.run("inspect", package, "--function", "cube")
      #expect(wrong.code == 2 && wrong.errors.contains("the program has no function 'cube'"))
      #expect(wrong.errors.contains("its functions are 'triple', 'square'"), "\(wrong.errors)")
      let network = Fixtures("demo").path("swish.h5")
      let other = try Command.run("inspect", network, "--function", "main")
      #expect(other.code == 64 && other.errors.contains("--function needs an ML Program"))
      let shown = try Command.run("inspect", package, "--function", "triple")
      #expect(shown.code == 0 && !shown.output.contains("square"), "\(shown.output)")
      // The format stores no interface beside those of several functions.
      let small = folder + "/small.mlpackage"
      let compressed = try Command.run("compress", package, "-o", small, "--bits", "3")
      #expect(compressed.code == 0, "\(compressed.errors)")
      let again = folder + "/again.mlpackage"
      #expect(try Command.run("edit", small, "-o", again).code == 0)
      let stored = "/Data/com.apple.CoreML/model.mlmodel"
      #expect(try fileBytes(small + stored) == fileBytes(again + stored))
      #expect(try AppleValidator.refusals(of: [small + stored]).isEmpty)
    }
  }

  /// `validate_indices` of a program: of three rows, 3 is not an index, nor is −1.
  @Test(arguments: [3, -1]) func indicesAreCheckedWhereTheProgramAsks(index: Float) throws {
    try withTemporaryFolder { folder in
      let input = folder + "/input.npz"
      try ArraySet([
        NamedArray(Tensor(shape: [3, 2]), name: "x", type: .float32),
        NamedArray(Tensor(shape: [2], [0, index]), name: "places", type: .int32),
      ]).write(to: input)
      let result = try Command.run("run", Self.programs.path("validated.mlpackage"), input)
      #expect(result.code == 2)
      #expect(
        result.errors.contains("the index \(Int(index)) is not within 0 and 2"), "\(result.errors)")
    }
  }

  /// s ← s + x, y = 2 s: with persistent states, 2, 4 and 6 times x.
  @Test func statesLastIfTheyAreCarried() throws {
    try withTemporaryFolder { folder in
      let input = folder + "/x.npz"
      let x: [Float] = [1, 2, -0.5]
      try ArraySet([NamedArray(Tensor(shape: [3], x), name: "x", type: .float32)]).write(to: input)
      for (flags, factors) in [([], [2, 2, 2]), (["--carry-states"], [2, 4, 6] as [Float])] {
        let output = folder + "/out\(flags.count)"
        let result = try Command.run(
          ["run", Self.programs.path("states.mlpackage"), input, input, input, "-o", output] + flags
        )
        #expect(result.code == 0, "\(result.errors)")
        for (name, factor) in zip(["x", "x-2", "x-3"], factors) {
          let arrays = try ArraySet.read("\(output)/\(name).npz").arrays
          #expect(arrays.map(\.tensor.elements) == [x.map { factor * $0 }])
        }
      }
      let none = try Command.run(
        "run", Self.programs.path("functions.mlpackage"), input, "--carry-states")
      #expect(none.code == 2 && none.errors.contains("has neither states"), "\(none.errors)")
    }
  }

  /// A loop adds n · x to a state, and a branch negates it if n > 2: s ← ±(s + n x), y = 2 s.
  @Test func statesChangeInBlocks() throws {
    try withTemporaryFolder { folder in
      let x: [Float] = [1, 2, -0.5]
      for (count, sign) in [(0, 1), (2, 1), (3, -1)] as [(Float, Float)] {
        let (inputs, output) = ("\(folder)/inputs\(count)", "\(folder)/outputs\(count)")
        try FileManager.default.createDirectory(
          atPath: inputs, withIntermediateDirectories: true)
        for name in ["a", "b"] {
          try ArraySet([
            NamedArray(Tensor(shape: [3], x), name: "x", type: .float32),
            NamedArray(Tensor(shape: [1], [count]), name: "n", type: .int32),
          ]).write(to: "\(inputs)/\(name).npz")
        }
        let result = try Command.run(
          "run", Self.programs.path("inside.mlpackage"), inputs, "-o", output, "--carry-states")
        #expect(result.code == 0, "\(result.errors)")
        let first = sign * count
        for (name, factor) in [("a", first), ("b", sign * (first + count))] {
          let arrays = try ArraySet.read("\(output)/\(name).npz").arrays
          #expect(arrays.map(\.tensor.elements) == [x.map { 2 * factor * $0 }])
        }
      }
    }
  }

  /// Half-precision inputs and results: NumPy computes single operations with halves in `make.py`.
  @Test(arguments: ["half"])
  func halfPrecisionIsThatOfNumPy(family: String) throws {
    let path = Self.programs.path(family)
    let result = try Command.run(
      "diff", path + ".mlpackage", path + ".inputs.npz", "--expected", path + ".expected.npz",
      "--precision", "float16", "--rtol", "0", "--atol", "0")
    #expect(result.code == 0, "\(result.output)\(result.errors)")
    let single = try Command.run(
      "diff", path + ".mlpackage", path + ".inputs.npz", "--expected", path + ".expected.npz",
      "--rtol", "0", "--atol", "0")
    #expect(single.code == 1, "\(single.output)\(single.errors)")
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

  /// The error names an operation without layers.
  @Test func unknownOperationsAreRefused() throws {
    try withPackage("binary") { package, model in
      let bytes = try fileBytes(model)
      try writeFile(
        bytes.replacing(Array("floor_div".utf8), with: Array("floor_diz".utf8)), to: model)
      let result = try Command.run("bench", package)
      #expect(result.code == 2, "\(result.errors)")
      #expect(
        result.errors.contains("operation 'floor_diz' is not supported"), "\(result.errors)"
      )
      let inspected = try Command.run("inspect", package)
      #expect(inspected.code == 0 && inspected.output.contains("not supported"))
    }
  }

  /// The types stated in a file are compared with those of its operations.
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

  /// Damaged programs and weight files produce a result or one error.
  @Test func damagedPackagesAreNoFaults() throws {
    var random = SplitMix64(seed: 1)
    for family in ["normalizations", "shapes", "sampling", "lists", "sparse", "values"] {
      try withPackage(family) { package, model in
        let weights = package + "/Data/com.apple.CoreML/weights/weight.bin"
        for file in [model, weights] where fileExists(file) {
          let bytes = try fileBytes(file)
          for _ in 0..<4 {
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
