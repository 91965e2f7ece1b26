import TestSupport
import Testing

@testable import DarknetImport

@Suite struct LayerCatalogTests {
  @Test func everySectionHasARow() {
    #expect(LayerCatalog.entries.count == DarknetLayerRegistry.types.count)
    let names = DarknetLayerRegistry.types.flatMap { $0.source.names }
    #expect(Set(names).count == names.count)
    #expect(Set(names).isDisjoint(with: LayerCatalog.impossible.flatMap { $0.names }))
  }

  /// Every kind of section and every function is in a network with expected values.
  @Test func everySectionHasAFixture() throws {
    let files = fixtures.names.filter { $0.hasSuffix(".cfg") }
    let text = try files.map { try String(decoding: fixtures.bytes($0), as: UTF8.self) }
      .joined(separator: "\n")
    for type in DarknetLayerRegistry.types {
      let name = type.source.names[0]
      #expect(text.contains("[\(name)]"), "\(name)")
    }
    for function in ActivationFunction.known {
      #expect(text.contains("activation=\(function.name)\n"), "\(function.name)")
    }
  }
}
