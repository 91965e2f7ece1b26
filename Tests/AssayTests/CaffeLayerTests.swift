import Foundation
import TestSupport
import Testing

/// Every network in `Fixtures/caffe/layers` predicts the results of Caffe's formulas, which are
/// written down next to it in double precision.
@Suite struct CaffeLayerTests {
  private static let folder = packageRoot + "/Fixtures/caffe/layers"

  private static let names: [String] =
    ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
    .filter { $0.hasSuffix(".prototxt") }.map { String($0.dropLast(9)) }.sorted()

  @Test func networksAreThere() { #expect(Self.names.count > 20) }

  @Test(arguments: names)
  func predictions(_ name: String) throws {
    let path = "\(Self.folder)/\(name)"
    try withTemporaryFolder { scratch in
      let model = "\(scratch)/\(name).mlmodel"
      let weights = path + ".caffemodel"
      let sources =
        [path + ".prototxt"] + (FileManager.default.fileExists(atPath: weights) ? [weights] : [])
      let converted = try Command.run(["convert"] + sources + ["-o", model])
      #expect(converted.code == 0, "\(converted.errors)")
      guard converted.code == 0 else { return }
      let result = try Command.run(
        "diff", model, path + ".inputs.npz", "--expected", path + ".expected.npz", "--atol", "2e-5")
      #expect(result.code == 0, "\(result.output)\(result.errors)")
    }
  }
}
