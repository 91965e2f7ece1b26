import CoreMLModel
import TestSupport
import Testing

@testable import KerasImport

/// Theano computes a convolution, not a correlation: Σ x[i − j] · w[j], where other backends
/// compute Σ x[i + j] · w[j]. A Theano kernel is therefore another backend's kernel flipped along
/// all axes of the convolution.
@Suite struct TheanoKernelTests {
  /// Flips a kernel, which has two channel axes and the axes of the convolution.
  private static func reversed(
    _ kernel: MemoryWeights.Weight, areAxesLast: Bool
  ) -> MemoryWeights.Weight {
    let channels = areAxesLast ? kernel.shape.prefix(2) : kernel.shape.suffix(2)
    let count = channels.reduce(1, *)
    let area = kernel.values.count / count
    var result = kernel
    for place in 0..<area {
      for channel in 0..<count {
        let (from, to) =
          areAxesLast
          ? (channel * area + place, channel * area + area - 1 - place)
          : (place * count + channel, (area - 1 - place) * count + channel)
        result.values[to] = kernel.values[from]
      }
    }
    return result
  }

  @Test(arguments: [
    ("Conv1D", "[null, 5, 2]", #""filters": 3, "kernel_size": [2]"#, [2, 2, 3], false),
    ("Conv2D", "[null, 5, 6, 2]", #""filters": 3, "kernel_size": [2, 3]"#, [2, 3, 2, 3], false),
    (
      "Conv2DTranspose", "[null, 5, 6, 2]", #""filters": 3, "kernel_size": [2, 3]"#, [2, 3, 3, 2],
      false
    ),
    (
      "Conv3D", "[null, 4, 5, 6, 2]", #""filters": 3, "kernel_size": [2, 3, 2]"#, [2, 3, 2, 2, 3],
      false
    ),
    (
      "Conv3DTranspose", "[null, 4, 5, 6, 2]", #""filters": 3, "kernel_size": [2, 3, 2]"#,
      [2, 3, 2, 3, 2], false
    ),
    (
      "Convolution2D", "[null, 2, 5, 6]",
      #""nb_filter": 3, "nb_row": 2, "nb_col": 3, "dim_ordering": "th""#, [3, 2, 2, 3], true
    ),
    (
      "Convolution3D", "[null, 2, 4, 5, 6]",
      #""nb_filter": 3, "kernel_dim1": 2, "kernel_dim2": 3, "kernel_dim3": 2, "dim_ordering": "th""#,
      [3, 2, 2, 3, 2], true
    ),
  ])
  func kernelsAreReversed(
    _ layer: String, _ input: String, _ fields: String, _ shape: [Int], _ areAxesLast: Bool
  ) throws {
    let network = single(layer, input: input, fields + #", "use_bias": false, "bias": false"#)
    let kernel = MemoryWeights.Weight("layer/kernel:0", shape, from: -2)
    let other = Self.reversed(kernel, areAxesLast: areAxesLast)
    #expect(kernel.values != other.values)
    let trained = try convert(network, backend: "theano", ["layer": [kernel]])
    let same = try convert(network, ["layer": [other]])
    #expect(try trained.result.model.encoded() == same.result.model.encoded())
  }

  /// Keras 1 does not record its backend.
  @Test func anUnknownBackendIsNoted() throws {
    let network = single(
      "Convolution2D", input: "[null, 1, 5, 6]",
      #""nb_filter": 1, "nb_row": 2, "nb_col": 3, "dim_ordering": "th", "bias": false"#)
    let kernel = MemoryWeights.Weight("layer/kernel:0", [1, 1, 2, 3])
    func notes(_ backend: String?) throws -> [String] {
      try convert(network, version: "1.2.2", backend: backend, ["layer": [kernel]]).result.notes
    }
    #expect(try notes(nil).contains { $0.contains("if the network was trained with Theano") })
    for backend in ["tensorflow", "theano"] {
      #expect(try notes(backend).allSatisfy { !$0.contains("Theano") })
    }
  }
}
