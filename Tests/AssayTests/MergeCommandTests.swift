import Foundation
import TestSupport
import Testing

/// `assay merge`: a part computes the same bits alone and in the merged model.
@Suite struct MergeCommandTests {
  /// (scale · x + 0.3)² for an array of three channels.
  private func convert(
    _ name: String, scale: Float, side: Int = 8, in folder: String, to output: String
  ) throws {
    let network = """
      name: "\(name)"
      input: "data" input_shape { dim: 1 dim: 3 dim: \(side) dim: \(side) }
      layer { name: "scale" type: "Power" bottom: "data" top: "prob"
        power_param { scale: \(scale) shift: 0.3 power: 2 } }
      """
    let path = "\(folder)/\(name).prototxt"
    try Data(network.utf8).write(to: URL(filePath: path))
    let made = try Command.run("convert", path, "-o", output)
    #expect(made.code == 0, "\(made.errors)")
  }

  private func values(_ path: String) throws -> Data {
    try Data(contentsOf: URL(filePath: path))
  }

  @Test func aPipelineComputesWhatItsPartsDo() throws {
    try withTemporaryFolder { folder in
      let (a, b, both) = (folder + "/a.mlmodel", folder + "/b.mlmodel", folder + "/c.mlmodel")
      try convert("a", scale: 0.7, in: folder, to: a)
      try convert("b", scale: 1.3, in: folder, to: b)
      let merged = try Command.run("merge", a, b, "-o", both)
      #expect(merged.code == 0, "\(merged.errors)")
      #expect(merged.errors.contains("'prob' of b is 'prob_' in the pipeline"), "\(merged.errors)")
      let numbers = (0..<192).map { Float($0) / 64 - 1 }
      let text =
        "[[["
        + (0..<3).map { c in
          (0..<8).map { y in
            (0..<8).map { "\(numbers[c * 64 + y * 8 + $0])" }.joined(separator: ",")
          }.joined(separator: "],[")
        }.joined(separator: "]],[[") + "]]]"
      try Data(text.utf8).write(to: URL(filePath: folder + "/x.json"))
      func run(_ model: String, _ input: String, _ output: String) throws {
        let result = try Command.run("run", model, input, "-o", output)
        #expect(result.code == 0, "\(result.errors)")
      }
      try run(a, folder + "/x.json", folder + "/y.npy")
      try run(b, folder + "/y.npy", folder + "/z.npy")
      try run(both, folder + "/x.json", folder + "/merged.npy")
      #expect(try values(folder + "/z.npy") == values(folder + "/merged.npy"))
      try convert("b", scale: 1.3, side: 4, in: folder, to: b)
      let wrong = try Command.run("merge", a, b, "-o", both)
      #expect(
        wrong.code == 2
          && wrong.errors.contains("'data' is an array [3, 4, 4], but 'prob' is an array [3, 8, 8]"),
        "\(wrong.errors)")
    }
  }

  @Test func functionsShareEqualWeights() throws {
    try withTemporaryFolder { folder in
      let network = packageRoot + "/Fixtures/caffe/v2.prototxt"
      let weights = packageRoot + "/Fixtures/caffe/single.caffemodel"
      for name in ["red", "green"] {
        let made = try Command.run(
          "convert", network, weights, "-o", "\(folder)/\(name).mlpackage")
        #expect(made.code == 0, "\(made.errors)")
      }
      let both = folder + "/both.mlpackage"
      let merged = try Command.run(
        "merge", folder + "/red.mlpackage", folder + "/green.mlpackage", "-o", both)
      #expect(merged.code == 0, "\(merged.errors)")
      func size(_ package: String) throws -> Int {
        try values(package + "/Data/com.apple.CoreML/weights/weight.bin").count
      }
      #expect(try size(both) == size(folder + "/red.mlpackage"))
      let document = both + "/Data/com.apple.CoreML/model.mlmodel"
      #expect(try AppleValidator.refusals(of: [document]) == [])
      let input = packageRoot + "/Fixtures/caffe/input.npy"
      _ = try Command.run("run", folder + "/red.mlpackage", input, "-o", folder + "/alone.npy")
      for name in ["red", "green"] {
        let run = try Command.run(
          "run", both, input, "--function", name, "-o", folder + "/\(name).npy")
        #expect(run.code == 0, "\(run.errors)")
        #expect(try values(folder + "/\(name).npy") == values(folder + "/alone.npy"))
      }
      let clash = try Command.run(
        "merge", both, folder + "/red.mlpackage", "-o", folder + "/x.mlpackage")
      #expect(clash.code == 2 && clash.errors.contains("has a function 'red', too"))
    }
  }
}
