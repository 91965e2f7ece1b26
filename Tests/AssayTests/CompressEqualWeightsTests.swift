import ByteFormats
import CoreMLModel
import Foundation
import TensorCore
import TestSupport
import Testing

/// Channels with equal or nearly equal weights keep them when compressed.
@Suite struct CompressEqualWeightsTests {
  private static let fixtures = packageRoot + "/Fixtures/quantized"

  /// One 1 × 1 kernel per channel, in a program that coremltools wrote; see
  /// `Fixtures/quantized/programs.py`.
  @Test(arguments: [["--bits", "8"], ["--bits", "4", "--block-size", "1"]])
  func depthwiseKernels(_ options: [String]) throws {
    try withTemporaryFolder { folder in
      let small = folder + "/small.mlpackage"
      let model = Self.fixtures + "/pointwise_depthwise.mlpackage"
      let compressed = try Command.run(["compress", model, "-o", small] + options)
      #expect(compressed.code == 0, "\(compressed.errors)")
      #expect(compressed.output.contains("exact"))
      // The tolerance is 1 % of the largest output.
      let compared = try Command.run(
        "diff", model, small, Self.fixtures + "/pointwise_depthwise.npz", "--rtol", "0", "--atol",
        "0.0078")
      #expect(compared.code == 0, "\(compared.output)")
    }
  }

  /// The same in a network, and then in a program.
  @Test func upgradeOfACompressedNetwork() throws {
    try withTemporaryFolder { folder in
      let network = folder + "/n.mlmodel"
      let (small, program) = (folder + "/small.mlmodel", folder + "/small.mlpackage")
      let source = Self.fixtures + "/depthwise"
      for command in [
        ["convert", source + ".prototxt", source + ".caffemodel", "-o", network],
        ["compress", network, "-o", small, "--bits", "8"], ["upgrade", small, "-o", program],
        ["diff", network, small, source + ".npz"], ["diff", small, program, source + ".npz"],
      ] {
        let result = try Command.run(command)
        #expect(result.code == 0, "\(command[0]): \(result.output)\(result.errors)")
      }
    }
  }

  /// Files of other tools have scales of 0: w = 0 · q + bias.
  @Test(arguments: ["float32", "float16"]) func upgradeOfAScaleOfZero(_ precision: String) throws {
    try withTemporaryFolder { folder in
      var product = InnerProduct()
      product.inputChannels = 4
      product.outputChannels = 2
      var weights = Weights()
      weights.rawValue = Bytes([0, 1, 2, 3, 0, 85, 170, 255] as [UInt8])
      weights.quantization = Quantization()
      weights.quantization?.numberOfBits = 8
      weights.quantization?.kind = .linear(scale: [0, 0.5], bias: [0.75, -10])
      product.matrix = weights
      var network = NeuralNetwork()
      network.layers = [NeuralNetworkLayer("ip", product, input: ["x"], output: ["y"])]
      func array(_ name: String, _ count: Int) -> FeatureDescription {
        FeatureDescription(
          name: name, kind: .multiArray(ArrayFeatureType(shape: [count], dataType: .float32)))
      }
      var description = ModelDescription()
      (description.input, description.output) = ([array("x", 4)], [array("y", 2)])
      var model = Model()
      model.specificationVersion = 3
      model.description = description
      model.type = .neuralNetwork(network)
      let (old, new) = (folder + "/n.mlmodel", folder + "/n.mlpackage")
      try model.write(to: old)
      let upgraded = try Command.run("upgrade", old, "-o", new, "--precision", precision)
      #expect(upgraded.code == 0, "\(upgraded.errors)")
      try ArraySet([NamedArray(Tensor(shape: [4], [1, 2, 4, 8]), name: "x")])
        .write(to: folder + "/x.npz")
      for file in [old, new] {
        try Command.run("run", file, folder + "/x.npz", "-o", folder + "/y.npy")
        // 0.75 · 15, and (170 + 680 + 2040) / 2 − 10 · 15: each value is exact in half precision.
        #expect(
          try ArraySet.read(folder + "/y.npy").arrays[0].tensor.elements == [11.25, 1295])
      }
    }
  }

  /// A half-precision weight with 8 inputs per output has as many bytes with codes as without: 8
  /// codes, and a scale and an offset of 4 bytes each.
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

  /// The rows of an inner product, for the errors of codes, tables and half-precision scales.
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

  /// The sum of each row, within a fraction of its largest magnitude: 8-bit codes may be off by
  /// half a step of the row's range per value, half precision by half an ulp per value.
  @Test(arguments: ["linear", "linear_symmetric"], ["", "float16", "float32"])
  func rowsKeepTheirSums(_ mode: String, _ program: String) throws {
    try withTemporaryFolder { folder in
      var (model, inputs) = try write(folder)
      var small = folder + "/small.mlmodel"
      if !program.isEmpty {
        let upgraded = try Command.run(
          "upgrade", model, "-o", folder + "/n.mlpackage", "--precision", program)
        #expect(upgraded.code == 0, "\(upgraded.errors)")
        (model, small) = (folder + "/n.mlpackage", folder + "/small.mlpackage")
      }
      let compressed = try Command.run(
        "compress", model, "-o", small, "--bits", "8", "--mode", mode)
      #expect(compressed.code == 0, "\(compressed.errors)")
      let ran = try Command.run("run", small, inputs, "-o", folder + "/y.npy")
      #expect(ran.code == 0, "\(ran.errors)")
      let sums = try ArraySet.read(folder + "/y.npy").arrays[0].tensor.elements
      for (row, sum) in zip(Self.rows, sums) {
        let exact = row.reduce(0) { $0 + Double($1) }
        let largest = row.map { Double($0.magnitude) }.max() ?? 0
        // Numbers below 2⁻¹⁴ have steps of 2⁻²⁴ in half precision.
        let bound = 8 * (largest / 120 + (program == "float16" ? 0x1p-24 : 0))
        #expect(abs(Double(sum) - exact) <= bound, "\(row): \(sum)")
      }
    }
  }

  /// The largest error in the report matches the file.
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
      // Setting one input at a time yields the columns of the matrix in the file.
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
