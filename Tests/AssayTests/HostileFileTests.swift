import TensorCore
import TestSupport
import Testing

/// Damaged files in the whole program: never a signal or an output, always a line of error.
@Suite struct HostileFileTests {
  /// Runs the program on damaged copies of a file at `path`. If it fails, `output` must not exist.
  static func check(
    _ original: [UInt8], at path: String, times: Int, output: String? = nil,
    _ run: (_ seed: Int) throws -> Command.Result
  ) throws {
    for seed in 1...times {
      var random = SplitMix64(seed: UInt64(seed))
      try writeFile(original.damaged(&random), to: path)
      let result = try run(seed)
      let what = "\(path), seed \(seed)"
      #expect(result.exited, "\(what): ended by signal \(result.code)")
      #expect([0, 1, 2, 75].contains(result.code), "\(what): \(result.code) \(result.errors)")
      if result.code >= 2 {
        #expect(result.errors.contains("error: "), "\(what)")
        #expect(result.errors.split(separator: "\n").count <= 12, "\(what): \(result.errors)")
      }
      guard let output else { continue }
      #expect(fileExists(output) == (result.code == 0), "\(what)")
      removeFile(output)
    }
  }

  private static let harmful = Fixtures("hostile").names.filter { $0 != "README.md" }

  /// There is one line that names the file, and nothing is written.
  @Test(arguments: harmful, [["inspect"], ["convert", "--dry-run"], ["bench"]])
  func harmfulFilesAreRefused(_ name: String, _ command: [String]) throws {
    let result = try Command.run(command + [Fixtures("hostile").path(name)])
    if name == "keras_lambda_rank.json", command == ["inspect"] {
      // This may be a custom layer with the shape of its input.
      #expect(result.exited && result.code == 0 && result.errors.hasPrefix("warning: "))
      return
    }
    // This file declares more memory than its size allows.
    let codes: Set<Int32> = name == "darknet_signs.cfg" ? [2, 75] : [2]
    #expect(result.exited && codes.contains(result.code), "\(result.code) \(result.errors)")
    let errors = result.errors.split(separator: "\n").filter { $0.hasPrefix("error: ") }
    // All errors of a Core ML model are listed.
    #expect(errors.count == 1 || name.hasSuffix(".mlmodel") && !errors.isEmpty, "\(errors)")
    #expect(errors.allSatisfy { $0.contains(name) }, "\(errors)")
  }

  /// A dense layer with weights that are partly missing in the file, or overlap others.
  @Test(arguments: ["gzip-short", "chunk-missing", "never-written", "size", "overlap"])
  func missingWeightsAreRefused(_ name: String) throws {
    try withTemporaryFolder { folder in
      let path = Fixtures("hdf5").path("network-\(name).h5")
      let output = "\(folder)/out.mlmodel"
      let result = try Command.run(["convert", path, "-o", output])
      #expect(result.exited && result.code == 2, "\(result.code) \(result.errors)")
      let lines = result.errors.split(separator: "\n")
      #expect(lines.count == 1 && lines[0].hasPrefix("error: \(path): "), "\(result.errors)")
      #expect(result.errors.contains("/model_weights/d/d/"), "\(result.errors)")
      #expect(result.errors.contains("save the network again"), "\(result.errors)")
      #expect(!fileExists(output))
    }
  }

  /// A kernel that was never written, with a fill value in the file.
  @Test func declaredFillValuesAreConverted() throws {
    try withTemporaryFolder { folder in
      let path = Fixtures("hdf5").path("network-filled.h5")
      let result = try Command.run(["convert", path, "-o", "\(folder)/out.mlmodel"])
      #expect(result.code == 0, "\(result.errors)")
    }
  }

  /// Weights that exceed `--max-memory` in Core ML's layout: kernels for 4 × 3 windows of 12 values
  /// and 2²⁰ filters take 604 MB.
  @Test(arguments: [["inspect"], ["convert", "--dry-run"], ["bench"]])
  func weightsLaidOutAreCounted(_ command: [String]) throws {
    let layer = """
      {"class_name": "LocallyConnected2D", "config": {"name": "local", "filters": 1048576, \
      "kernel_size": [2, 3], "strides": [1, 2], "padding": "valid", \
      "data_format": "channels_last", "activation": "linear", "use_bias": false, \
      "implementation": 1, "batch_input_shape": [null, 5, 7, 2]}}
      """
    try withTemporaryFolder { folder in
      let path = "\(folder)/local.json"
      let text =
        #"{"class_name": "Sequential", "keras_version": "2.4.0", "config": {"layers": [\#(layer)]}}"#
      try writeFile(Array(text.utf8), to: path)
      let result = try Command.run(command + [path, "--max-memory", "192M"])
      #expect(result.code == 75, "\(result.code) \(result.errors)")
      let errors = result.errors.split(separator: "\n").filter { $0.contains("error") }
      #expect(errors.count == 1, "\(result.errors)")
      #expect(errors.first?.contains("local.json: layer 'local'") == true, "\(result.errors)")
    }
  }

  /// A kernel of 2²⁰ × 6 × 3 × 3 values fits into these limits, but not together with its signs.
  @Test(arguments: [["inspect"], ["inspect", "--plan"], ["bench"]], ["240M", "300M", "600M"])
  func signsOfWeightsAreCounted(_ command: [String], _ limit: String) throws {
    let path = Fixtures("hostile").path("darknet_signs.cfg")
    let result = try Command.run(command + [path, "--max-memory", limit])
    #expect(result.code == 75, "\(result.code) \(result.errors)")
    let errors = result.errors.split(separator: "\n").filter { $0.lowercased().contains("error") }
    #expect(errors.count == 1, "\(result.errors)")
    #expect(errors.first?.contains("layer 'convolutional_1'") == true, "\(result.errors)")
  }

  /// Many in-place layers with the same name; unique names stay short.
  @Test func manyEqualNames() throws {
    try withTemporaryFolder { folder in
      let path = "\(folder)/deep.prototxt"
      let layer = #"layer { type: "ReLU" name: "a" bottom: "d" top: "d" }"#
      let text =
        "input: \"d\" input_shape { dim: 1 dim: 3 dim: 4 dim: 4 }\n"
        + Array(repeating: layer, count: 3000).joined(separator: "\n")
      try writeFile(Array(text.utf8), to: path)
      let output = "\(folder)/deep.mlmodel"
      let result = try Command.run("convert", path, "-o", output)
      #expect(result.code == 0, "\(result.errors)")
      #expect(try fileBytes(output).count < 1_000_000)
    }
  }

  private let fixtures = Fixtures("demo")

  @Test func damagedKerasFiles() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/damaged.h5"
      let output = folder + "/out.mlmodel"
      try Self.check(fixtures.bytes("swish.h5"), at: path, times: 8, output: output) { _ in
        try Command.run(["convert", path, "-o", output] + DemonstrationTests.options)
      }
    }
  }

  @Test func damagedModels() throws {
    try withTemporaryFolder { folder in
      let model = folder + "/m.mlmodel"
      try DemonstrationTests.converted(to: model)
      let path = folder + "/damaged.mlmodel"
      try Self.check(fileBytes(model), at: path, times: 12) { _ in
        try Command.run("run", path, DemonstrationTests.picture)
      }
      try Self.check(fileBytes(model), at: path, times: 6) { _ in
        try Command.run("inspect", path)
      }
    }
  }

  @Test func damagedPicturesAndArrays() throws {
    try withTemporaryFolder { folder in
      let model = folder + "/m.mlmodel"
      try DemonstrationTests.converted(to: model)
      try Self.check(fixtures.bytes("picture.png"), at: folder + "/damaged.png", times: 8) { _ in
        try Command.run("run", model, folder + "/damaged.png")
      }
      try Self.check(fixtures.bytes("expected.npz"), at: folder + "/damaged.npz", times: 8) { _ in
        try Command.run(
          "diff", model, DemonstrationTests.picture, "--expected", folder + "/damaged.npz")
      }
    }
  }

  @Test func damagedDarknetFiles() throws {
    let fixtures = Fixtures("darknet/layers")
    try withTemporaryFolder { folder in
      let output = folder + "/m.mlmodel"
      for name in ["yolo.cfg", "yolo.weights"] {
        let damaged = "\(folder)/\(name)"
        let paths = ["yolo.cfg", "yolo.weights"].map { $0 == name ? damaged : fixtures.path($0) }
        try Self.check(fixtures.bytes(name), at: damaged, times: 6, output: output) { _ in
          try Command.run(["convert"] + paths + ["-o", output])
        }
      }
    }
  }

  @Test(arguments: ["v2.prototxt", "single.caffemodel", "whole.caffemodel", "hdf5.caffemodel.h5"])
  func damagedCaffeFiles(_ name: String) throws {
    let fixtures = Fixtures("caffe")
    try withTemporaryFolder { folder in
      let output = folder + "/out.mlmodel"
      let path = folder + "/" + name
      let paths =
        switch name {
        case "whole.caffemodel": [path]
        case "v2.prototxt": [path, fixtures.path("single.caffemodel")]
        default: [fixtures.path("v2.prototxt"), path]
        }
      try Self.check(fixtures.bytes(name), at: path, times: 8, output: output) { _ in
        try Command.run(["convert"] + paths + ["-o", output])
      }
    }
  }
}
