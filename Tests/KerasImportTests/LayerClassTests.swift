import Testing

@testable import KerasImport

@Suite struct LayerClassTests {
  @Test func everyNameStandsOnce() {
    let names = KerasLayerRegistry.types.flatMap { $0.classNames }
    #expect(Set(names).count == names.count)
    #expect(names.count > 150)
  }

  @Test func noClassIsBothConvertedAndImpossible() {
    let converted = Set(KerasLayerRegistry.types.flatMap { $0.classNames })
    #expect(converted.isDisjoint(with: UnconvertedClasses.reasons.flatMap { $0.names }))
  }
}
