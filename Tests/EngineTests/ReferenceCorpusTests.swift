import CoreMLModel
import TensorCore
import TestSupport
import Testing

@testable import Engine

/// The reader, the reference implementations and the engine compared with Keras and Caffe.
@Suite struct ReferenceCorpusTests {
  private static let sample = CorpusCase.all(in: Fixtures("corpus").folder)
  private static let corpus = CorpusCase.all(in: Shared.path("corpus"))

  @Test(arguments: CorpusCase.Framework.allCases)
  func thereIsASample(of framework: CorpusCase.Framework) {
    #expect(Self.sample.count(where: { $0.framework == framework }) >= 19)
  }

  @Test(arguments: sample)
  func sampleIsReproduced(_ item: CorpusCase) throws {
    try check(item, Self.reference)
    try check(item, Self.engine)
  }

  @Test(.shared("corpus"), arguments: CorpusCase.Framework.allCases)
  func corpusIsThere(of framework: CorpusCase.Framework) {
    #expect(Self.corpus.count(where: { $0.framework == framework }) > 50)
  }

  @Test(.shared("corpus"), arguments: corpus.sampled)
  func reproducesTheSourceFramework(_ item: CorpusCase) throws {
    try check(item, Self.reference)
  }

  @Test(.shared("corpus"), arguments: corpus.sampled)
  func engineReproducesTheSourceFramework(_ item: CorpusCase) throws {
    try check(item, Self.engine)
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
