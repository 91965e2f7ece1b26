import CoreMLModel
import Foundation
import TensorCore
import TestSupport
import Testing

@testable import Assay

@Suite struct ReadAheadTests {
  /// All values arrive in order, and an unreadable source fails only at its position.
  @Test func orderAndErrors() throws {
    try withTemporaryFolder { folder in
      let names = (0..<20).map { String(format: "%02d.csv", $0) }
      for (index, name) in names.enumerated() {
        let text = index == 7 ? "not a number" : "\(index),\(index * index)\n"
        try text.write(
          toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
      }
      var model = Model()
      var description = ModelDescription()
      description.input = [FeatureDescription(name: "x", kind: .multiArray(ArrayFeatureType()))]
      model.description = description
      let list = try InputList([folder], for: model)
      #expect(list.count == 20)
      for depth in [1, 3] {
        let values = ReadAhead(list, InputReader(model), depth: depth)
        for (index, name) in names.enumerated() {
          let item = try #require(values.next())
          #expect(item.source.name == "\(folder)/\(name)")
          if index == 7 {
            #expect(throws: ModelError.self) { try item.values.get() }
            continue
          }
          guard case .array(let tensor) = try #require(try item.values.get()["x"]) else {
            Issue.record("\(name) is not an array")
            continue
          }
          #expect(tensor.elements == [Float(index), Float(index * index)])
        }
        #expect(values.next() == nil)
        #expect(values.next() == nil)
      }
    }
  }
}
