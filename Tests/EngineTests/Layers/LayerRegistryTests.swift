import CoreMLModel
import Testing

@testable import Engine

/// Every type of layer that the document reads has an engine implementation, a twin and trials.
@Suite struct LayerRegistryTests {
  @Test func everyTypeHasAReference() {
    #expect(referenceLayerTypes.map { $0.typeName } == layerTypes.map { $0.typeName })
  }

  @Test func everyTypeHasAnEngine() {
    #expect(engineLayerTypes.map { $0.typeName } == layerTypes.map { $0.typeName })
  }

  @Test func everyEngineLayerHasTrials() {
    #expect(testedLayerTypes.map { $0.typeName } == engineLayerTypes.map { $0.typeName })
  }

  @Test func supportFollowsTheLists() {
    let support = LayerSupport.all
    #expect(support.map(\.typeName) == layerTypes.map { $0.typeName })
    #expect(support.allSatisfy { $0.hasReference && $0.hasEngine })
  }
}
