import Foundation
import Testing

/// Damaged files through the whole program: never a signal, never an output, always an error line.
@Suite struct HostileFileTests {
  /// Deterministic damage: bytes replaced, a piece cut out, or the end cut off.
  static func damaged(_ original: Data, seed: UInt64) -> Data {
    var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    func next(_ bound: Int) -> Int {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return Int(state % UInt64(max(1, bound)))
    }
    var data = [UInt8](original)
    switch seed % 4 {
    case 0: data = Array(data.prefix(next(data.count)))
    case 1:
      let start = next(data.count)
      data.removeSubrange(start..<min(data.count, start + 1 + next(64)))
    default: for _ in 0...next(8) { data[next(data.count)] = UInt8(next(256)) }
    }
    return Data(data)
  }

  static func check(_ result: Command.Result, _ what: String) {
    #expect(result.exited, "\(what): ended by signal \(result.code)")
    #expect([0, 1, 2, 75].contains(result.code), "\(what): \(result.code) \(result.errors)")
    if result.code >= 2 {
      #expect(result.errors.contains("error: "), "\(what)")
      #expect(result.errors.split(separator: "\n").count <= 12, "\(what): \(result.errors)")
    }
  }

  @Test func damagedKerasFiles() throws {
    let original = try Data(contentsOf: URL(filePath: DemonstrationTests.fixture + "/swish.h5"))
    try Command.withFolder { folder in
      for seed in UInt64(1)...60 {
        let path = folder + "/damaged.h5"
        let output = folder + "/out.mlmodel"
        try Self.damaged(original, seed: seed).write(to: URL(filePath: path))
        let result = try Command.run(["convert", path, "-o", output] + DemonstrationTests.options)
        Self.check(result, "seed \(seed)")
        #expect(FileManager.default.fileExists(atPath: output) == (result.code == 0))
        try? FileManager.default.removeItem(atPath: output)
      }
    }
  }

  @Test func damagedModels() throws {
    try Command.withFolder { folder in
      let model = folder + "/m.mlmodel"
      try DemonstrationTests.converted(to: model)
      let original = try Data(contentsOf: URL(filePath: model))
      for seed in UInt64(1)...120 {
        let path = folder + "/damaged.mlmodel"
        try Self.damaged(original, seed: seed).write(to: URL(filePath: path))
        Self.check(try Command.run("run", path, DemonstrationTests.picture), "run, seed \(seed)")
        if seed % 4 == 0 { Self.check(try Command.run("inspect", path), "inspect, seed \(seed)") }
      }
    }
  }

  @Test func damagedPicturesAndArrays() throws {
    try Command.withFolder { folder in
      let model = folder + "/m.mlmodel"
      try DemonstrationTests.converted(to: model)
      for name in ["picture.png", "expected.npz"] {
        let original = try Data(
          contentsOf: URL(filePath: DemonstrationTests.fixture + "/" + name))
        for seed in UInt64(1)...60 {
          let path = folder + "/damaged"
          try Self.damaged(original, seed: seed).write(to: URL(filePath: path))
          let result =
            name == "picture.png"
            ? try Command.run("run", model, path)
            : try Command.run("diff", model, DemonstrationTests.picture, "--expected", path)
          Self.check(result, "\(name), seed \(seed)")
        }
      }
    }
  }
}
