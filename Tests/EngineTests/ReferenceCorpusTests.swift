import CoreMLModel
import TensorCore
import Testing

@testable import Engine

/// The reader, the twins and the engine against what Keras and Caffe computed.
@Suite struct ReferenceCorpusTests {
  @Test(
    .enabled(if: CorpusCase.isPresent, "../shared/corpus is not there"),
    arguments: CorpusCase.Framework.allCases)
  func thereAreSome(_ framework: CorpusCase.Framework) {
    #expect(CorpusCase.all.count(where: { $0.framework == framework }) > 50)
  }

  @Test(
    .enabled(if: CorpusCase.isPresent, "../shared/corpus is not there"), arguments: CorpusCase.all)
  func reproducesTheSourceFramework(_ item: CorpusCase) throws {
    try check(item) { model, inputs in
      try ReferenceNetwork(model: model).predict(inputs.mapValues(ReferenceTensor.init))
        .mapValues(\.tensor)
    }
  }

  @Test(
    .enabled(if: CorpusCase.isPresent, "../shared/corpus is not there"), arguments: CorpusCase.all)
  func engineReproducesTheSourceFramework(_ item: CorpusCase) throws {
    try check(item) { model, inputs in
      var options = CompileOptions()
      options.inputShapes = inputs.mapValues(\.shape)
      return try CompiledNetwork(model: model, options: options).predict(inputs)
    }
  }

  private typealias Prediction = (Model, [String: Tensor]) throws -> [String: Tensor]

  private func check(_ item: CorpusCase, _ predict: Prediction) throws {
    let model = try item.model()
    let outputs = try predict(model, item.inputs(model))
    for array in try item.expected() {
      let name = array.name ?? ""
      let output = try #require(outputs[name], "no output \(name)")
      let actual = item.sourceLayout(output)
      #expect(
        actual.shape.filter { $0 != 1 } == array.tensor.shape.filter { $0 != 1 },
        "\(name)")
      let a = actual.elements
      let b = array.tensor.elements
      guard a.count == b.count else { continue }
      let largest = b.reduce(0) { max($0, Double(abs($1))) }
      let tolerance = item.tolerance
      let wrong = a.indices.first {
        let allowed = tolerance * Double(abs(b[$0])) + max(1e-5, tolerance / 2 * largest)
        return !(Double(abs(a[$0] - b[$0])) <= allowed) && !(a[$0].isNaN && b[$0].isNaN)
      }
      #expect(
        wrong == nil,
        "\(name): \(a[wrong ?? 0]), expected \(b[wrong ?? 0])")
    }
  }
}
