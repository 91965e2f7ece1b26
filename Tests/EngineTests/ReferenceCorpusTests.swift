import CoreMLModel
import TensorCore
import Testing

@testable import Engine

/// The twins and the reader against what Keras and Caffe computed.
@Suite struct ReferenceCorpusTests {
  @Test(arguments: CorpusCase.Framework.allCases)
  func reproducesTheSourceFramework(framework: CorpusCase.Framework) throws {
    guard CorpusCase.isPresent else {
      print("skipped: there is no corpus at \(CorpusCase.shared)")
      return
    }
    let cases = CorpusCase.all(framework)
    #expect(cases.count > 50)
    for item in cases {
      do {
        try check(item)
      } catch {
        Issue.record("\(item.testDescription): \(error)")
      }
    }
  }

  private func check(_ item: CorpusCase) throws {
    let model = try item.model()
    let network = try ReferenceNetwork(model: model)
    let inputs = try item.inputs(model).mapValues(ReferenceTensor.init)
    let outputs = try network.predict(inputs)
    for array in try item.expected() {
      let name = array.name ?? ""
      let output = try #require(outputs[name], "\(item.testDescription): no output \(name)")
      let actual = item.sourceLayout(output.tensor)
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
