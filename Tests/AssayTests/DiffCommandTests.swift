import ByteFormats
import TensorCore
import TestSupport
import Testing

/// `diff`, and what of `run` shows blobs, on networks with answers of their frameworks.
@Suite struct DiffCommandTests {
  private static let layers = Fixtures("caffe/layers")

  /// The converted network `name` of Caffe's, its inputs and its outputs.
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
        #expect(!result.output.contains("no difference"), "\(result.output)")
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
      // The heat map of docs/detection.md, of an input after its preprocessing.
      let result = try Command.run(
        "run", model, demo.path("eagle.jpg"), "--resize", "squash", "--layer", "input1",
        "--output", "input1", "-o", map)
      #expect(result.code == 0 && fileExists(map), "\(result.errors)")
      let file = folder + "/labels.txt"
      try writeFile(Array("a\nb\n".utf8), to: file)
      let given = try Command.run(
        "run", model, demo.path("eagle.jpg"), "--resize", "squash", "--layer", "input1",
        "--output", "input1", "--labels", file)
      #expect(given.code == 2 && given.errors.contains("2 labels"), "\(given.errors)")
    }
  }
}
