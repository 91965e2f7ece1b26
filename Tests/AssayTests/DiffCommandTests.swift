import ByteFormats
import TensorCore
import TestSupport
import Testing

/// `diff`, and the options of `run` that show blobs, on networks with their frameworks' outputs.
@Suite struct DiffCommandTests {
  private static let layers = Fixtures("caffe/layers")

  /// Passes the converted Caffe network `name`, its inputs and its outputs.
  private func withCaffe(
    _ name: String,
    _ body: (_ folder: String, _ model: String, _ arguments: [String]) throws -> Void
  ) throws {
    let weights = Self.layers.path(name + ".caffemodel")
    try withTemporaryFolder { folder in
      let model = folder + "/m.mlmodel"
      let converted = try Command.run(
        ["convert", Self.layers.path(name + ".prototxt")] + (fileExists(weights) ? [weights] : [])
          + ["-o", model])
      #expect(converted.code == 0, "\(converted.errors)")
      try body(
        folder, model,
        [
          "diff", model, Self.layers.path(name + ".inputs.npz"), "--expected",
          Self.layers.path(name + ".expected.npz"),
        ])
    }
  }

  @Test func layersOfNoKnownNameAreAnError() throws {
    try withCaffe("activations") { folder, _, arguments in
      for names in [["foreign"], []] {
        let path = folder + "/layers.npz"
        try ArraySet(names.map { NamedArray(Tensor(shape: [1], [1]), name: $0) }).write(to: path)
        let result = try Command.run(arguments + ["--layers", path])
        #expect(result.code == 2 && result.errors.contains("layers.npz: "), "\(result.errors)")
        #expect(names.allSatisfy(result.errors.contains), "\(result.errors)")
        #expect(!result.output.contains("agrees within tolerance"), "\(result.output)")
      }
    }
  }

  @Test func aBlobOfAClassifierNeedsNoLabels() throws {
    let demo = Fixtures("demo")
    try withTemporaryFolder { folder in
      let model = folder + "/m.mlmodel"
      try Command.run(
        "convert", demo.path("cifar10_resnet.h5"), "-o", model, "--class-labels",
        demo.path("cifar10.txt"), "--image-input", "input1")
      let map = folder + "/map.png"
      // The heat map of docs/detection.md, for an input after its preprocessing.
      let result = try Command.run(
        "run", model, demo.path("eagle.jpg"), "--resize", "squash", "--layer", "input1",
        "--feature", "input1", "-o", map)
      #expect(result.code == 0 && fileExists(map), "\(result.errors)")
      let file = folder + "/labels.txt"
      try writeFile(Array("a\nb\n".utf8), to: file)
      let given = try Command.run(
        "run", model, demo.path("eagle.jpg"), "--resize", "squash", "--layer", "input1",
        "--feature", "input1", "--labels", file)
      #expect(given.code == 2 && given.errors.contains("2 labels"), "\(given.errors)")
    }
  }

  /// A cube, so that a wrong order of axes still has the right shape.
  private static let cube = Tensor(shape: [1, 3, 3, 3], (1...27).map { Float($0) })

  /// Networks that double a cube and average its planes, with the name of the doubled blob.
  static let networks: [(name: String, text: String, blob: String, isChannelsLast: Bool)] = [
    (
      "net.prototxt",
      """
      layer { name: "data" type: "Input" top: "data"
        input_param { shape { dim: 1 dim: 3 dim: 3 dim: 3 } } }
      layer { name: "double" type: "Power" bottom: "data" top: "double" power_param { scale: 2 } }
      layer { name: "mean" type: "Pooling" bottom: "double" top: "mean"
        pooling_param { pool: AVE global_pooling: true } }
      layer { name: "row" type: "Flatten" bottom: "mean" top: "row" }
      """, "double", false
    ),
    (
      "net.cfg",
      """
      [net]
      channels=3
      height=3
      width=3
      [maxpool]
      size=1
      stride=1
      [shortcut]
      from=-1
      activation=linear
      [avgpool]
      """, "shortcut_1", false
    ),
    (
      // From Fixtures/networks.
      "keras3-cube.keras", "", "double", true
    ),
  ]

  /// Models are compared on random pictures; thresholds keep their defaults.
  @Test func modelsWithThresholds() throws {
    let model = Fixtures("detection/vision").path("ultralytics.mlmodel")
    let diff = try Command.run("diff", model, model)
    #expect(diff.code == 0, "\(diff.output)\(diff.errors)")
    #expect(diff.output.contains("agrees within tolerance"), "\(diff.output)")
  }

  /// Twice the input, in the source's axis order, and the means of its planes.
  @Test(arguments: networks.indices)
  func blobsHaveTheSourcesLayout(_ index: Int) throws {
    let (name, text, blob, isChannelsLast) = Self.networks[index]
    try withTemporaryFolder { folder in
      func path(_ name: String) -> String { folder + "/" + name }
      if !text.isEmpty { try writeFile(Array(text.utf8), to: path(name)) }
      let converted = try Command.run(
        "convert", text.isEmpty ? Fixtures("networks").path(name) : path(name), "-o",
        path("m.mlmodel"))
      #expect(converted.code == 0, "\(converted.errors)")
      let doubled = Tensor(shape: [1, 3, 3, 3], Self.cube.elements.map { 2 * $0 })
      // Planes of nine values, either consecutive or interleaved.
      let means: [Float] = isChannelsLast ? [26, 28, 30] : [10, 28, 46]
      for (file, array) in [
        ("x.npy", NamedArray(Self.cube)), ("blob.npz", NamedArray(doubled, name: blob)),
        ("out.npy", NamedArray(Tensor(shape: [1, 3], means))),
      ] {
        try ArraySet([array]).write(to: path(file))
      }
      let diff = try Command.run(
        "diff", path("m.mlmodel"), path("x.npy"), "--expected", path("out.npy"), "--layers",
        path("blob.npz"))
      #expect(diff.code == 0, "\(diff.output)\(diff.errors)")
      for options in [["--layer", blob], ["--all-outputs"]] {
        let run = try Command.run(
          ["run", path("m.mlmodel"), path("x.npy"), "--feature", blob, "-o", path("run.npy")]
            + options)
        #expect(run.code == 0, "\(run.errors)")
        #expect(try ArraySet.read(path("run.npy")).arrays[0].tensor == doubled, "\(options)")
      }
    }
  }

  /// The demonstration network has a batch normalization after its first convolution.
  @Test func aFoldedConvolutionIsComparedWithTheNormalisation() throws {
    try withTemporaryFolder { folder in
      let (model, folded) = (folder + "/m.mlmodel", folder + "/f.mlmodel")
      try DemonstrationTests.converted(to: model)
      let made = try Command.run("compress", model, "-o", folded, "--precision", "float32")
      #expect(made.code == 0, "\(made.errors)")
      for pair in [[model, folded], [folded, model]] {
        let result = try Command.run(["diff"] + pair)
        #expect(result.code == 0 && !result.output.contains("DIFFERS"), "\(result.output)")
        #expect(result.output.contains("agrees"), "\(result.output)")
      }
    }
  }
}
