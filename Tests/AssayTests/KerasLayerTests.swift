import Foundation
import TestSupport
import Testing

/// Every network of `Fixtures/keras/layers`, `lambdas` and `collections` predicts what the version of Keras that made it predicted.
@Suite struct KerasLayerTests {
  private static let folder = packageRoot + "/Fixtures/keras"

  /// A part of the networks, so that the parts run side by side.
  @Test(arguments: ["layers/tf2", "layers/k3", "lambdas", "collections"], 0..<4)
  func predictions(_ framework: String, _ part: Int) throws {
    let names = try FileManager.default.contentsOfDirectory(
      atPath: "\(Self.folder)/\(framework)"
    ).filter { $0.hasSuffix(".expected.npz") }.sorted().map { String($0.dropLast(13)) }
    #expect(names.count > ["lambdas": 70, "collections": 5][framework, default: 100])
    try withTemporaryFolder { scratch in
      for (index, name) in names.enumerated() where index % 4 == part {
        let path = "\(Self.folder)/\(framework)/\(name)"
        let source = ["h5", "keras"].map { "\(path).\($0)" }.first {
          FileManager.default.fileExists(atPath: $0)
        }
        let model = "\(scratch)/\(name).mlmodel"
        let converted = try Command.run("convert", try #require(source), "-o", model)
        #expect(converted.code == 0, "\(name): \(converted.errors)")
        guard converted.code == 0 else { continue }
        let result = try Command.run(
          "diff", model, path + ".inputs.npz", "--expected", path + ".expected.npz", "--atol",
          "2e-5")
        #expect(result.code == 0, "\(name): \(result.output)\(result.errors)")
      }
    }
  }
}
