import Foundation
import TestSupport
import Testing

/// Networks saved by current Keras and tf_keras, with their predictions (`Fixtures/networks`).
@Suite struct KerasNetworkTests {
  private static let folder = packageRoot + "/Fixtures/networks"

  /// Every file with a network, with its weights file if that is separate.
  static let models: [[String]] = {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    var models: [[String]] = []
    for name in names.sorted() {
      let stem = String(name.prefix { $0 != "." })
      guard names.contains(stem + ".expected.npz") else { continue }
      if name == stem + ".json" {
        for weights in [".weights.h5", ".layers.h5"] where names.contains(stem + weights) {
          models.append([name, stem + weights])
        }
      } else if name == stem + ".keras" || name == stem + ".h5" {
        models.append([name])
      }
    }
    return models
  }()

  @Test func thereAreSome() { #expect(Self.models.count > 40) }

  @Test(arguments: models)
  func answersAsKerasDid(_ files: [String]) throws {
    let stem = Self.folder + "/" + files[0].prefix { $0 != "." }
    try withTemporaryFolder { folder in
      let model = folder + "/m.mlmodel"
      let conversion = try Command.run(
        ["convert"] + files.map { Self.folder + "/" + $0 } + ["-o", model])
      guard conversion.code == 0 else {
        Issue.record("\(conversion.errors)")
        return
      }
      let diff = try Command.run(
        "diff", model, stem + ".inputs.npz", "--expected", stem + ".expected.npz", "--rtol", "1e-4",
        "--atol", "1e-5")
      #expect(diff.code == 0, "\(diff.output)\(diff.errors)")
    }
  }
}
