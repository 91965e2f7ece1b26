import Assay
import TestSupport
import Testing

/// Networks written as ML Programs.
@Suite struct UpgradeTests {
  /// The expected outputs are the source framework's, as in `LayerNetworkTests`. `make corpora` takes
  /// all networks of Keras.
  @Test(
    arguments: LayerNetworkTests.networks("caffe/layers") + LayerNetworkTests.networks("networks")
      + LayerNetworkTests.networks("keras/layers/tf2").sampled
  )
  func programPredictsWhatTheFrameworkDid(_ network: LayerNetworkTests.Network) throws {
    let converted = try network.converted()
    let program: Model
    do { program = try converted.mlProgram() } catch let error as ModelError {
      #expect(error.code == .unsupported, "\(error)")
      return
    }
    let comparison = try Comparison.compare(
      program, inputs: network.inputs, expected: network.expected, options: Comparison.Options())
    #expect(comparison.matches)
  }

  private static func network(_ name: String) throws -> LayerNetworkTests.Network {
    try #require(
      LayerNetworkTests.networks("caffe/layers").first { $0.testDescription.hasSuffix("/" + name) })
  }

  /// All networks become programs except those with custom layers, such as region proposals.
  @Test func mostNetworksBecomePrograms() throws {
    var (count, refused) = (0, 0)
    for network in LayerNetworkTests.networks("caffe/layers") {
      count += 1
      do { _ = try network.converted().mlProgram() } catch is ModelError { refused += 1 }
    }
    #expect(count >= 20)
    #expect(refused <= 7)
  }

  @Test func customLayersAreNamed() throws {
    let model = try Self.network("faster_rcnn").converted()
    let error = #expect(throws: ModelError.self) { try model.mlProgram() }
    #expect(error?.message.contains("an ML Program has no custom layers") == true)
  }

  /// A package is written completely, always with the same bytes, and can be read back.
  @Test func packagesAreDeterministic() throws {
    let network = try Self.network("convolutions")
    let program = try network.converted().mlProgram()
    try withTemporaryFolder { folder in
      let paths = ["a", "b", "a"].map { "\(folder)/\($0).mlpackage" }
      for path in paths { try program.write(to: path) }
      let files = [
        "Manifest.json", "Data/com.apple.CoreML/model.mlmodel",
        "Data/com.apple.CoreML/weights/weight.bin",
      ]
      for file in files {
        #expect(
          try MappedFile.read("\(paths[0])/\(file)") == MappedFile.read("\(paths[1])/\(file)"))
      }
      let comparison = try Comparison.compare(
        Model(contentsOf: paths[0]), inputs: network.inputs, expected: network.expected,
        options: Comparison.Options())
      #expect(comparison.matches)
    }
  }

  /// Half precision rounds weights and intermediate results to 11 bits.
  @Test func halfPrecisionIsNear() throws {
    let network = try Self.network("convolutions")
    var options = ProgramOptions()
    options.precision = .float16
    let program = try network.converted().mlProgram(options)
    var tolerances = Comparison.Options()
    tolerances.tolerances = Tolerances(Tolerance(relative: 1e-2, absolute: 1e-2))
    let comparison = try Comparison.compare(
      program, inputs: network.inputs, expected: network.expected, options: tolerances)
    #expect(comparison.matches)
  }

  /// The program is compared with the network before it is written.
  @Test(arguments: [[], ["--precision", "float16"]])
  func programsAreChecked(_ options: [String]) throws {
    let layers = Fixtures("keras/layers/tf2").path("up_sampling_bilinear")
    try withTemporaryFolder { folder in
      let (network, program) = (folder + "/m.mlmodel", folder + "/m.mlpackage")
      let converted = try Command.run("convert", layers + ".h5", "-o", network)
      #expect(converted.code == 0, "\(converted.errors)")
      let checked = ["--check", layers + ".inputs.npz"]
      let result = try Command.run(["upgrade", network, "-o", program] + checked + options)
      #expect(result.code == 0, "\(result.errors)")
      let same = try Command.run(
        "diff", program, layers + ".inputs.npz", "--expected", layers + ".expected.npz", "--rtol",
        "0.01")
      #expect(same.code == 0, "\(same.output)")
      // Neither the input nor the program exists.
      let missing = try Command.run(
        ["upgrade", network, "-o", folder + "/n.mlpackage", "--check", folder + "/no.npz"])
      #expect(missing.code == 66 && missing.errors.contains("no.npz"), "\(missing.errors)")
      #expect(!fileExists(folder + "/n.mlpackage"))
    }
  }
}
