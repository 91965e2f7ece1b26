import ByteFormats
import CoreMLModel
import TensorCore
import TestSupport
import Testing

@testable import Engine

/// Networks as saved by kraken, compared with the outputs of kraken's own PyTorch modules:
/// `Fixtures/kraken`, by `Tests/Tools/kraken_networks.py`.
struct VGSLNetworkTests {
  private static let folder = Fixtures("kraken")

  @Test(arguments: ["recognition-17", "recognition-31", "segmentation-23", "summary-16"])
  func answers(_ name: String) throws {
    func array(_ kind: String) throws -> Tensor {
      try #require(ArraySet.read(Self.folder.path("\(name).\(kind).npz")).arrays.first).tensor
    }
    let network = name.split(separator: "-")[0]
    let model = try Model(contentsOf: Self.folder.path("\(network).mlmodel"))
    let input = try array("inputs")
    let expected = try array("expected")
    var options = CompileOptions()
    options.inputShapes["input"] = input.shape
    let answer = try #require(
      CompiledNetwork(model: model, options: options).predict(["input": input])["output"])
    #expect(answer.shape == expected.shape)
    let difference = zip(answer.elements, expected.elements).map { abs($0 - $1) }.max()
    #expect(try #require(difference) < 1e-5)
  }
}
