import Testing

@testable import KerasImport

@Suite struct LayerCatalogTests {
  @Test func everyClassHasARow() {
    let rows = LayerCatalog.entries.map { $0.name }
    #expect(Set(rows).count == rows.count)
    #expect(Set(KerasLayerRegistry.types.map { $0.classNames[0] }) == Set(rows))
  }

  @Test func noClassIsBothConvertedAndImpossible() {
    let converted = Set(KerasLayerRegistry.types.flatMap { $0.classNames })
    #expect(converted.isDisjoint(with: LayerCatalog.impossible.flatMap { $0.names }))
  }

  @Test func functionsOfTheTableAreConverted() {
    let version = KerasVersion(text: "3.0.0", backend: nil)
    for name in LayerCatalog.functions.flatMap({ $0.names }) {
      #expect(KerasActivation(name, version: version) != nil, "\(name)")
    }
  }
}
