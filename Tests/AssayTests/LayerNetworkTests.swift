import Assay
import TestSupport
import Testing

/// Small networks match their framework: its own outputs, or its formulas in double precision
/// (`make.py` in each folder of `Fixtures` says which).
@Suite struct LayerNetworkTests {
  /// A network, its inputs and the expected outputs.
  struct Network: CustomTestStringConvertible, Sendable {
    /// The path without the extensions of its files.
    let path: String
    /// The network, and the weights if they are in a separate file.
    let files: [String]

    var inputs: [String] { [path + ".inputs.npz"] }
    var expected: String { path + ".expected.npz" }
    var testDescription: String { String(path.dropFirst(packageRoot.count + 10)) }

    func converted() throws -> Model {
      try ModelSource(contentsOf: files[0], weights: files.dropFirst().first)
        .convert(ConversionOptions()).model
    }
  }

  /// The absolute tolerance and the minimum number of networks in each folder.
  private static let folders: [(name: String, tolerance: Double, count: Int)] = [
    ("keras/layers/tf2", 2e-5, 410), ("keras/layers/k3", 2e-5, 230),
    ("keras/layers/keras1", 2e-5, 11), ("keras/lambdas", 2e-5, 99),
    ("keras/collections", 2e-5, 6), ("networks", 1e-5, 40), ("caffe/layers", 2e-5, 20),
    ("darknet/layers", 1e-5, 120),
  ]

  /// The extensions of a network's files; the second is that of the weights, which may be missing.
  private static let forms = [
    ["h5"], ["keras"], ["json", "weights.h5"], ["json", "layers.h5"], ["prototxt", "caffemodel"],
    ["cfg", "weights"],
  ]

  static func networks(_ folder: String) -> [Network] {
    let fixtures = Fixtures(folder)
    let names = fixtures.names
    let all = Set(names)
    return names.filter { $0.hasSuffix(".expected.npz") }.map { String($0.dropLast(13)) }
      .flatMap { name in
        forms.compactMap { form in
          let files = form.map { "\(name).\($0)" }.filter(all.contains)
          guard files.first == "\(name).\(form[0])", form[0] != "json" || files.count == 2 else {
            return nil
          }
          return Network(path: fixtures.path(name), files: files.map(fixtures.path))
        }
      }
  }

  private static let networks = folders.flatMap { folder in
    networks(folder.name).map { ($0, folder.tolerance) }
  }

  @Test func networksAreThere() {
    for folder in Self.folders { #expect(Self.networks(folder.name).count >= folder.count) }
  }

  /// Predictions after writing and reading back the model.
  @Test(arguments: networks)
  func predictions(_ network: Network, _ tolerance: Double) throws {
    let model = try Model(bytes: Bytes(network.converted().encoded()))
    var options = Comparison.Options()
    options.tolerances.standard.absolute = tolerance
    options.tolerances.standard.isScaled = false
    let comparison = try Comparison.compare(
      model, inputs: network.inputs, expected: network.expected, options: options)
    let different = comparison.outputs.filter { !$0.agrees }.map(\.name)
    #expect(comparison.matches, "\(different)")
  }

  /// The same on the command line: with a file between two commands, and in one command.
  @Test(arguments: folders.map(\.name))
  func commands(_ folder: String) throws {
    let networks = Self.networks(folder)
    for network in networks.enumerated().filter({ $0.offset % 60 == 0 }).map(\.element) {
      try withTemporaryFolder { scratch in
        let model = scratch + "/m.mlmodel"
        let converted = try Command.run(["convert"] + network.files + ["-o", model])
        #expect(converted.code == 0, "\(network.path): \(converted.errors)")
        for files in [[model], network.files] {
          let result = try Command.run(
            ["diff"] + files + network.inputs + ["--expected", network.expected, "--atol", "2e-5"])
          #expect(result.code == 0, "\(files): \(result.output)\(result.errors)")
        }
      }
    }
  }

  @Test(.shared(AppleValidator.name), arguments: folders.map(\.name))
  func coreMLAcceptsThem(_ folder: String) throws {
    try withTemporaryFolder { scratch in
      let paths = try Self.networks(folder).sampled.enumerated().map { index, network in
        let path = "\(scratch)/\(index).mlmodel"
        try network.converted().write(to: path)
        return path
      }
      #expect(try AppleValidator.refusals(of: paths).isEmpty)
    }
  }
}
