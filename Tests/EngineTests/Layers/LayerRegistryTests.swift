import CoreMLModel
import Testing

@testable import Engine

/// Every registered type of layer has an engine implementation, a reference implementation and
/// trials.
@Suite struct LayerRegistryTests {
  @Test(arguments: layerTypes.map { $0.typeName })
  func isComplete(typeName: String) throws {
    let type = try #require(layerTypes.first { $0.typeName == typeName })
    #expect(type is any EngineLayer.Type, "\(typeName) has no engine implementation")
    #expect(type is any ReferenceLayer.Type, "\(typeName) has no reference")
    #expect(type is any TestedLayer.Type, "\(typeName) has no trials")
  }

  @Test func namesDiffer() {
    #expect(Set(layerTypes.map { $0.typeName }).count == layerTypes.count)
  }
}
