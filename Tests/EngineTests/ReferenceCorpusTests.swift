import CoreMLModel
import TensorCore
import TestSupport
import Testing

@testable import Engine

/// The reader, the twins and the engine against what Keras and Caffe computed.
@Suite struct ReferenceCorpusTests {
  @Test(arguments: CorpusCase.Framework.allCases)
  func sampleIsReproduced(framework: CorpusCase.Framework) throws {
    let cases = CorpusCase.all(framework, in: Fixtures("corpus").folder)
    #expect(cases.count >= 19)
    for item in cases {
      try check(item, Self.reference)
      try check(item, Self.engine)
    }
  }

  @Test(.shared("corpus"), arguments: CorpusCase.Framework.allCases)
  func reproducesTheSourceFramework(framework: CorpusCase.Framework) throws {
    try checkAll(framework, Self.reference)
  }

  @Test(.shared("corpus"), arguments: CorpusCase.Framework.allCases)
  func engineReproducesTheSourceFramework(framework: CorpusCase.Framework) throws {
    try checkAll(framework, Self.engine)
  }

  private typealias Prediction = (Model, [String: Tensor]) throws -> [String: Tensor]

  private static func reference(
    _ model: Model, _ inputs: [String: Tensor]
  ) throws -> [String: Tensor] {
    try ReferenceNetwork(model: model).predict(inputs.mapValues(ReferenceTensor.init))
      .mapValues(\.tensor)
  }

  private static func engine(
    _ model: Model, _ inputs: [String: Tensor]
  ) throws -> [String: Tensor] {
    var options = CompileOptions()
    options.inputShapes = inputs.mapValues(\.shape)
    return try CompiledNetwork(model: model, options: options).predict(inputs)
  }

  private func checkAll(_ framework: CorpusCase.Framework, _ predict: Prediction) throws {
    let cases = CorpusCase.all(framework, in: Shared.path("corpus"))
    #expect(cases.count > 50)
    for item in cases {
      do {
        try check(item, predict)
      } catch {
        Issue.record("\(item.testDescription): \(error)")
      }
    }
  }

  private func check(_ item: CorpusCase, _ predict: Prediction) throws {
    let model = try item.model()
    let outputs = try predict(model, item.inputs(model))
    for array in try item.expected() {
      let name = array.name ?? ""
      let output = try #require(outputs[name], "\(item.testDescription): no output \(name)")
      let actual = item.sourceLayout(output)
      #expect(
        actual.shape.filter { $0 != 1 } == array.tensor.shape.filter { $0 != 1 },
        "\(item.testDescription): \(name)")
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
        "\(item.testDescription): \(name): \(a[wrong ?? 0]), expected \(b[wrong ?? 0])")
    }
  }
}
