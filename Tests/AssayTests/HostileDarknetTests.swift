import Foundation
import Testing

/// Damaged configurations and weights through the whole program.
@Suite struct HostileDarknetTests {
  private static let folder = Command.packageRoot + "/Fixtures/darknet/layers"

  @Test func damagedFiles() throws {
    let configuration = try Data(contentsOf: URL(filePath: Self.folder + "/yolo.cfg"))
    let weights = try Data(contentsOf: URL(filePath: Self.folder + "/yolo.weights"))
    try Command.withFolder { scratch in
      let cfg = scratch + "/m.cfg"
      let numbers = scratch + "/m.weights"
      let output = scratch + "/m.mlmodel"
      for seed in UInt64(1)...60 {
        let damaged = HostileFileTests.damaged(seed % 3 == 0 ? weights : configuration, seed: seed)
        try (seed % 3 == 0 ? configuration : damaged).write(to: URL(filePath: cfg))
        try (seed % 3 == 0 ? damaged : weights).write(to: URL(filePath: numbers))
        let result = try Command.run("convert", cfg, numbers, "-o", output)
        HostileFileTests.check(result, "seed \(seed)")
        #expect(FileManager.default.fileExists(atPath: output) == (result.code == 0))
        try? FileManager.default.removeItem(atPath: output)
      }
    }
  }
}
