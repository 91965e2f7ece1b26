import ByteFormats
import CoreMLModel
import Foundation
import TensorCore
import TestSupport
import Testing

@testable import Assay

/// `--report` and `inspect --graph`.
@Suite struct ReportCommandTests {
  private static let demo = Fixtures("demo")
  private static let options = [
    "--image-input", "image", "--input-name", "image", "--output-name", "color", "--preset",
    "keras-tf", "--class-labels", demo.path("labels.txt"),
  ]

  private func text(_ path: String) throws -> String {
    try String(contentsOfFile: path, encoding: .utf8)
  }

  /// Each command writes a page with the graph and with its own results.
  @Test func pages() throws {
    try withTemporaryFolder { folder in
      let (model, page) = (folder + "/m.mlmodel", folder + "/page.html")
      let picture = Self.demo.path("picture.png")
      let commands: [(words: [String], contents: [String])] = [
        (
          ["convert", Self.demo.path("swish.h5"), "-o", model] + Self.options,
          ["source layer", "<td>Lambda, sigmoid(x) * x</td>"]
        ),
        (["inspect", model], ["<summary>conv</summary>", "deviation"]),
        (["run", model, picture], ["data:image/png;base64,", "<td>blue</td>", "maximum pooling"]),
        (
          ["diff", model, picture, "--expected", Self.demo.path("expected.npz")],
          ["The output agrees.", "Largest absolute error"]
        ),
        (["bench", model, "--runs", "1"], ["GFLOP/s", "minimum"]),
      ]
      for (words, contents) in commands {
        let result = try Command.run(words + ["--report", page])
        #expect(result.code == 0, "\(words): \(result.errors)")
        let html = try text(page)
        for content in contents + ["<svg viewBox", "<td>batchnorm</td>"] {
          #expect(html.contains(content), "\(words[0]) lacks \(content)")
        }
        #expect(!html.contains("&lt;td") && !html.contains("http://"))
        try FileManager.default.removeItem(atPath: page)
      }
      let several = try Command.run("run", model, picture, picture, "--report", page)
      #expect(
        several.code == 64 && several.errors.contains("--report does not take several inputs"))
      #expect(!FileManager.default.fileExists(atPath: page))
    }
  }

  /// A blob with wrong values has a large error, and so has the layer that reads them; all others
  /// add only rounding errors.
  @Test func errorsAlongTheNetwork() throws {
    try withTemporaryFolder { folder in
      let (model, layers) = (folder + "/m.mlmodel", folder + "/layers.npz")
      let picture = Self.demo.path("picture.png")
      try Command.run(["convert", Self.demo.path("swish.h5"), "-o", model] + Self.options)
      try Command.run("run", model, picture, "--all-outputs", "-o", layers)
      var blobs = try ArraySet.read(layers)
      let index = try #require(blobs.arrays.firstIndex { $0.name == "pool_output" })
      let pool = blobs.arrays[index].tensor
      blobs.arrays[index].tensor = Tensor(shape: pool.shape, pool.elements.map { $0 + 1 })
      try blobs.write(to: layers)
      var options = Comparison.Options()
      options.layers = layers
      options.runsLayersAlone = true
      let comparison = try Comparison.compare(
        Model(contentsOf: model), inputs: [picture], expected: Self.demo.path("expected.npz"),
        options: options)
      let own = try #require(comparison.layerErrors?.own)
      #expect(own.count == blobs.arrays.count)
      for (name, error) in own {
        let isWrong = name == "pool_output" || name == "conv2_output"
        #expect(isWrong ? error > 1e-2 : error < 1e-5, "\(name): \(error)")
      }
    }
  }

  @Test func graphs() throws {
    try withTemporaryFolder { folder in
      let model = folder + "/m.mlmodel"
      try Command.run(["convert", Self.demo.path("swish.h5"), "-o", model] + Self.options)
      for (file, start, edge) in [
        ("g.svg", "<svg xmlns", "<title>norm_output</title>"), ("g.dot", "digraph", "n2 -> n3"),
        ("g.md", "# ", "n2 --> n3"),
      ] {
        let result = try Command.run("inspect", model, "--graph", folder + "/" + file)
        #expect(result.code == 0, "\(result.errors)")
        let text = try text(folder + "/" + file)
        #expect(text.hasPrefix(start) && text.contains(edge), "\(text)")
      }
      let other = try Command.run("inspect", model, "--graph", folder + "/g.png")
      #expect(other.code == 64 && other.errors.contains("--graph writes a .svg, .dot or .md"))
    }
  }
}
