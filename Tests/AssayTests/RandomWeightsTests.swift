import Foundation
import TestSupport
import Testing

/// `random:SEED` instead of a weights file.
@Suite struct RandomWeightsTests {
  private static let network = packageRoot + "/Fixtures/detection/vision/yolov2.cfg"

  @Test func theSeedDeterminesTheWeights() throws {
    try withTemporaryFolder { folder in
      func converted(_ seed: Int, _ name: String) throws -> Data {
        let path = "\(folder)/\(name).mlmodel"
        let made = try Command.run("convert", Self.network, "random:\(seed)", "-o", path)
        #expect(made.code == 0, "\(made.errors)")
        #expect(made.errors.contains("the weights are random, with the seed \(seed)"))
        return try Data(contentsOf: URL(filePath: path))
      }
      let first = try converted(7, "a")
      #expect(try first == converted(7, "b"))
      #expect(try first != converted(8, "c"))
      let option = try Command.run(
        "convert", Self.network, "--random-weights", "7", "-o", folder + "/d.mlmodel")
      #expect(option.code == 0, "\(option.errors)")
      #expect(try first == Data(contentsOf: URL(filePath: folder + "/d.mlmodel")))
      let exported = try Command.run(
        "inspect", folder + "/a.mlmodel", "--export-weights", folder + "/w", "--weight-files",
        "format=raw")
      #expect(exported.code == 0, "\(exported.errors)")
      let bytes = try Data(contentsOf: URL(filePath: folder + "/w/convolutional_0_weights.bin"))
      let largest = bytes.withUnsafeBytes { $0.bindMemory(to: Float.self).map(abs).max() ?? 0 }
      // Uniform in ±√(6 / inputs per output); 216 values come close to the bound.
      let bound = (6.0 / 27).squareRoot()
      #expect(Double(largest) <= bound && Double(largest) > 0.9 * bound, "\(largest)")
      let run = try Command.run(
        "run", Self.network, "random:7", packageRoot + "/Fixtures/detection/vision/image.png",
        "--image-input", "data", "-o", folder + "/o.npy")
      #expect(run.code == 0, "\(run.errors)")
    }
  }

  @Test func whatHasWeightsOrNoSeedIsRefused() throws {
    for (model, word, code, text) in [
      (DemonstrationTests.fixture + "/swish.h5", "random:1", 2, "has its own weights"),
      (Self.network, "random:", 64, "the seed of 'random:' is not a whole number"),
      (Self.network, "random:-1", 64, "is not a whole number"),
    ] as [(String, String, Int32, String)] {
      let run = try Command.run("convert", model, word, "-o", "/tmp/x.mlmodel")
      #expect(run.code == code && run.errors.contains(text), "\(run.code) \(run.errors)")
    }
  }
}
