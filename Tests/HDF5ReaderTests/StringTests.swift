import TensorCore
import TestSupport
import Testing

@testable import HDF5Reader

/// `strings.h5`, written by `Fixtures/hdf5/make.py`.
struct StringTests {
  @Test(arguments: Way.allCases) func readsStringAttributes(way: Way) throws {
    let attributes = try way.open("strings.h5").root.attributes
    #expect(attributes["fixed"]?.string == "plain")
    #expect(attributes["variable"]?.string == "grün")
    #expect(attributes["empty"]?.string == "")
    #expect(attributes["fixed_list"]?.strings == ["a", "bcd", ""])
    #expect(attributes["variable_list"]?.strings == ["x", "yé", ""])
    #expect(attributes["empty_list"]?.strings == [])
    for padding in ["terminated", "null_padded", "space_padded"] {
      #expect(attributes[padding]?.string == "abc", "\(padding)")
    }
  }

  @Test(arguments: Way.allCases) func readsOtherAttributes(way: Way) throws {
    let attributes = try way.open("strings.h5").root.attributes
    #expect(attributes["double"]?.doubles == [0.1])
    #expect(attributes["double"]?.integers == nil)
    #expect(attributes["integers"]?.shape == [2, 3])
    #expect(attributes["integers"]?.integers == [1, 2, 3, 4, 5, -6])
    #expect(attributes["flag"]?.integers == [1])
    #expect(attributes["nothing"]?.shape == [0])
    #expect(
      attributes["compound"]?.elements == .unsupported("compound values are not supported"))
  }

  @Test func joinsListsThatWereSplit() throws {
    let root = try HDF5File.open(fixtures.path("strings.h5")).root
    #expect(root.attributeStrings("weight_names") == ["w0", "w1", "w2"])
    #expect(root.attributeStrings("fixed_list") == ["a", "bcd", ""])
    #expect(root.attributeStrings("absent") == nil)
  }

  @Test(arguments: Way.allCases) func readsStringDatasets(way: Way) throws {
    let root = try way.open("strings.h5").root
    #expect(try root.dataset("variable").strings() == ["one", "zwei", "três"])
    let fixed = try root.dataset("fixed")
    #expect(fixed.shape == [2, 2])
    #expect(try fixed.strings() == ["ab", "c", "", "defg"])
    #expect(throws: ModelError.self) { try fixed.values() }
  }
}
