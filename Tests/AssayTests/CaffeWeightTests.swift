import ByteFormats
import Foundation
import TensorCore
import TestSupport
import Testing

/// If a caffemodel holds several weights for a layer, those count that Caffe's
/// `Net::CopyTrainedLayersFrom` and `Blob::FromProto` leave in the network.
@Suite struct CaffeWeightTests {
  private static let network =
    "input: 'x' input_shape { dim: 1 dim: 2 } layer { name: 'ip' type: 'InnerProduct' bottom: 'x' top: 'y' inner_product_param { num_output: 3 bias_term: false } }"

  /// The output y for x = (1, 10), or the error.
  private func answer(
    _ weights: [UInt8], network: String = network, x: [Float] = [1, 10]
  ) throws -> (y: [Float]?, output: String) {
    try withTemporaryFolder { folder in
      try writeFile(Array(network.utf8), to: folder + "/n.prototxt")
      try writeFile(weights, to: folder + "/n.caffemodel")
      try ArraySet([NamedArray(Tensor(shape: [x.count], x), name: "x")]).write(
        to: folder + "/x.npz")
      let model = folder + "/n.mlmodel"
      let converted = try Command.run(
        "convert", folder + "/n.prototxt", folder + "/n.caffemodel", "-o", model)
      guard converted.code == 0 else {
        #expect(converted.code == 2)
        return (nil, converted.errors)
      }
      let ran = try Command.run("run", model, folder + "/x.npz", "-o", folder + "/y.npy")
      #expect(ran.code == 0, "\(ran.errors)")
      let proof = try Command.run(
        "diff", folder + "/n.prototxt", folder + "/n.caffemodel", model, folder + "/x.npz")
      #expect(proof.code == 0, "\(proof.output)\(proof.errors)")
      return (
        try ArraySet.read(folder + "/y.npy").arrays.first?.tensor.elements, converted.errors
      )
    }
  }

  private static func product(_ blob: [UInt8]) -> [UInt8] {
    CaffeFile.layer("ip", "InnerProduct", blob)
  }

  /// y = (21, 43, 65)
  private static let counting: [Float] = [1, 2, 3, 4, 5, 6]
  /// y = (77, 77, 77)
  private static let sevens = [Float](repeating: 7, count: 6)

  // MARK: Tests

  @Test func theLastOfTwoLayersCounts() throws {
    let file =
      Self.product(CaffeFile.singles(Self.counting) + CaffeFile.shape(3, 2))
      + Self.product(CaffeFile.singles(Self.sevens) + CaffeFile.shape(3, 2))
    let (y, output) = try answer(file)
    #expect(y == [77, 77, 77])
    #expect(output.contains("has several layers 'ip'; the last one's weights count"))
  }

  /// Copying stops with an error at the last layer, which has no blobs.
  @Test func aLastLayerWithoutWeightsIsRefused() throws {
    let file =
      Self.product(CaffeFile.singles(Self.counting) + CaffeFile.shape(3, 2))
      + CaffeFile.layer("ip", "ReLU")
    #expect(try answer(file).y == nil)
  }

  /// Caffe copies to the network's first layer with the name; the other one keeps the values of its
  /// filler.
  @Test func theSecondLayerOfTheNetworkWithANameIsRefused() throws {
    let network =
      Self.network
      + "layer { name: 'ip' type: 'InnerProduct' bottom: 'x' top: 'z' inner_product_param { num_output: 3 bias_term: false } }"
    let (y, output) = try answer(
      Self.product(CaffeFile.singles(Self.counting) + CaffeFile.shape(3, 2)), network: network)
    #expect(y == nil)
    #expect(output.contains("the weights file contains none for it"))
  }

  /// Both layers share one weight, which the copy to the second layer overwrites.
  @Test func theLastOfTwoLayersThatShareAWeightCounts() throws {
    func product(_ name: String, _ bottom: String, _ top: String) -> String {
      "layer { name: '\(name)' type: 'InnerProduct' bottom: '\(bottom)' top: '\(top)' param { name: 'w' } inner_product_param { num_output: 2 bias_term: false } }"
    }
    let network =
      "input: 'x' input_shape { dim: 1 dim: 2 }" + product("a", "x", "h") + product("b", "h", "y")
    func layer(_ name: String, _ values: [Float]) -> [UInt8] {
      CaffeFile.layer(name, "InnerProduct", CaffeFile.singles(values) + CaffeFile.shape(2, 2))
    }
    let (swap, double) = ([0, 1, 1, 0] as [Float], [2, 0, 0, 2] as [Float])
    #expect(try answer(layer("a", swap) + layer("b", double), network: network).y == [4, 40])
    #expect(try answer(layer("b", double) + layer("a", swap), network: network).y == [1, 10])
    #expect(try answer(layer("a", double), network: network).y == [4, 40])
  }

  @Test func doublesCountBesideSingles() throws {
    let nines = [Double](repeating: 9, count: 6)
    for parts in [
      [CaffeFile.singles(Self.counting), CaffeFile.doubles(nines)],
      [CaffeFile.doubles(nines), CaffeFile.singles(Self.counting)],
    ] {
      #expect(
        try answer(Self.product(parts.flatMap { $0 } + CaffeFile.shape(3, 2))).y == [99, 99, 99])
    }
    // Caffe checks only the number of double_data.
    let short =
      CaffeFile.singles(Self.counting) + CaffeFile.doubles([9, 9]) + CaffeFile.shape(3, 2)
    #expect(try answer(Self.product(short)).y == nil)
  }

  /// NVIDIA's Caffe writes half precision in fields that BVLC's Caffe does not read.
  @Test func rawValuesBesideOthersAreRefused() throws {
    // raw_data_type: FLOAT16, raw_data
    let raw =
      CaffeFile.varint(10 << 3) + [2] + CaffeFile.field(12, [UInt8](repeating: 0, count: 12))
    let (y, _) = try answer(
      Self.product(CaffeFile.singles(Self.counting) + raw + CaffeFile.shape(3, 2)))
    #expect(y == nil)
  }

  /// `Blob::ShapeEquals` reads only the four numbers if any of them is set, and counts axes from
  /// the last.
  @Test func theEarlierShapeMustFit() throws {
    let values = CaffeFile.singles(Self.counting)
    for blob in [
      CaffeFile.legacy(1, 1, 3, 2) + values,
      CaffeFile.legacy(1, 1, 3, 2) + values + CaffeFile.shape(2, 3),
    ] {
      #expect(try answer(Self.product(blob)).y == [21, 43, 65])
    }
    for blob in [
      CaffeFile.legacy(1, 1, 2, 3) + values,
      CaffeFile.legacy(1, 1, 2, 3) + values + CaffeFile.shape(3, 2),
      CaffeFile.legacy(3, 2, 1, 1) + values, CaffeFile.legacy(1, 1, 1, 6) + values,
      CaffeFile.shape(2, 3) + values,
      CaffeFile.shape(1, 3, 2) + values,
    ] {
      #expect(try answer(Self.product(blob)).y == nil)
    }
  }

  /// A scalar has no axes, and Caffe writes no shape for it.
  @Test func aNumberHasNoShape() throws {
    let network =
      "input: 'x' input_shape { dim: 1 dim: 2 } layer { name: 's' type: 'Scale' bottom: 'x' top: 'y' scale_param { axis: 0 num_axes: 0 bias_term: true } }"
    let file = CaffeFile.layer("s", "Scale", CaffeFile.singles([2.5]), CaffeFile.singles([1]))
    #expect(try answer(file, network: network).y == [3.5, 26])
    let wrong = CaffeFile.layer("s", "Scale", CaffeFile.singles([2.5, 3]), CaffeFile.singles([1]))
    #expect(try answer(wrong, network: network).y == nil)
  }

  /// A vector with the shape of a matrix; forks add only axes of length 1.
  @Test func aVectorIsNoMatrix() throws {
    let network =
      "input: 'x' input_shape { dim: 1 dim: 4 } layer { name: 'n' type: 'BatchNorm' bottom: 'x' top: 'y' }"
    func file(_ shape: [UInt8]) -> [UInt8] {
      CaffeFile.layer(
        "n", "BatchNorm", CaffeFile.singles([1, 2, 3, 4]) + shape,
        CaffeFile.singles([1, 1, 1, 1]) + CaffeFile.shape(4),
        CaffeFile.singles([1]) + CaffeFile.shape(1))
    }
    #expect(
      try answer(file(CaffeFile.legacy(1, 1, 2, 2)), network: network, x: [1, 2, 3, 4]).y == nil)
    #expect(
      try answer(file(CaffeFile.legacy(1, 4, 1, 1)), network: network, x: [1, 2, 3, 4]).y == [
        0, 0, 0, 0,
      ])
  }
}
