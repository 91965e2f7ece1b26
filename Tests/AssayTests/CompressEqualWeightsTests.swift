import ByteFormats
import Foundation
import TensorCore
import TestSupport
import Testing

/// Channels whose weights are all equal, or nearly so, stay what they are when they are compressed.
@Suite struct CompressEqualWeightsTests {
  private static let fixtures = packageRoot + "/Fixtures/quantized"

  /// A weight of 8 inputs for each output in half precision has as many bytes with codes as without:
  /// 8 codes, a scale and an offset of 4 bytes each.
  @Test func aWeightThatKeepsItsSizeIsCompressed() throws {
    try withTemporaryFolder { folder in
      let small = folder + "/small.mlpackage"
      let compressed = try Command.run(
        "compress", Self.fixtures + "/eight_inputs.mlpackage", "-o", small, "--bits", "8")
      #expect(compressed.code == 0, "\(compressed.errors)")
      #expect(compressed.output.contains("8 bits, linear"))
      #expect(try Command.run("check", small).code == 0)
    }
  }

  /// Rows of an inner product: what linear codes, tables and half-precision scales may lose.
  private static let rows: [[Float]] = [
    [Float](repeating: 0.7, count: 8), [Float](repeating: -0.7, count: 8),
    [Float](repeating: 0, count: 8), [0, 0, 0, 0, 0, 0, 0, 1e-6],
    // The offset would exceed half precision: −1 / (2e-5 / 255).
    [1, 1, 1, 1, 1, 1, 1, 1.00002], [-1, -0.75, -0.5, -0.25, 0.25, 0.5, 0.75, 1],
    [Float](repeating: 40000, count: 8), [Float](repeating: 3e-5, count: 8),
  ]

  private func write(_ folder: String) throws -> (network: String, inputs: String) {
    let weights = Self.rows.flatMap { $0 }
    let text =
      "input: 'x' input_shape { dim: 1 dim: 8 } layer { name: 'ip' type: 'InnerProduct' bottom: 'x' top: 'y' inner_product_param { num_output: 8 bias_term: false } }"
    try writeFile(Array(text.utf8), to: folder + "/n.prototxt")
    try writeFile(
      CaffeFile.layer("ip", "InnerProduct", CaffeFile.singles(weights) + CaffeFile.shape(8, 8)),
      to: folder + "/n.caffemodel")
    let network = folder + "/n.mlmodel"
    let converted = try Command.run(
      "convert", folder + "/n.prototxt", folder + "/n.caffemodel", "-o", network)
    #expect(converted.code == 0, "\(converted.errors)")
    try ArraySet([NamedArray(Tensor(shape: [8], [Float](repeating: 1, count: 8)), name: "x")])
      .write(to: folder + "/x.npz")
    return (network, folder + "/x.npz")
  }

  /// The largest error in the report is that of the file.
  @Test(arguments: 1...8) func theReportIsOfTheFile(_ bits: Int) throws {
    try withTemporaryFolder { folder in
      let (network, _) = try write(folder)
      let (model, small) = (folder + "/n.mlpackage", folder + "/small.mlpackage")
      let upgraded = try Command.run("upgrade", network, "-o", model, "--precision", "float32")
      #expect(upgraded.code == 0, "\(upgraded.errors)")
      let compressed = try Command.run(
        "compress", model, "-o", small, "--bits", "\(bits)", "--json")
      #expect(compressed.code == 0, "\(compressed.errors)")
      let layers =
        try #require(
          JSONSerialization.jsonObject(with: Data(compressed.output.utf8)) as? [String: Any])[
          "layers"] as? [[String: Any]]
      let error = try #require(layers?.first?["largestError"] as? Double)
      // One input at a time gives the columns of the matrix that is in the file.
      var largest = 0.0
      for column in 0..<8 {
        var x = [Float](repeating: 0, count: 8)
        x[column] = 1
        try ArraySet([NamedArray(Tensor(shape: [8], x), name: "x")]).write(to: folder + "/x.npz")
        try Command.run("run", small, folder + "/x.npz", "-o", folder + "/y.npy")
        let y = try ArraySet.read(folder + "/y.npy").arrays[0].tensor.elements
        for (row, value) in zip(Self.rows, y) {
          largest = max(largest, abs(Double(value) - Double(row[column])))
        }
      }
      #expect(abs(error - largest) <= 1e-6 * max(largest, 1e-3), "\(error), \(largest)")
    }
  }
}
