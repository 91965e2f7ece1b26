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

  @Test(arguments: Way.allCases) func namesTypesOfOtherAttributes(way: Way) throws {
    let attributes = try way.open("strings.h5").root.attributes
    for (name, type) in [("double", "float64"), ("integers", "int64"), ("compound", "compound")] {
      #expect(attributes[name]?.strings == nil)
      #expect(attributes[name]?.elements == .unsupported("\(type) values are not supported"))
    }
    #expect(attributes["integers"]?.shape == [2, 3])
  }

  @Test func joinsListsThatWereSplit() throws {
    let root = try HDF5File.open(fixtures.path("strings.h5")).root
    #expect(root.attributeStrings("weight_names") == ["w0", "w1", "w2"])
    #expect(root.attributeStrings("fixed_list") == ["a", "bcd", ""])
    #expect(root.attributeStrings("absent") == nil)
  }

  @Test(arguments: Way.allCases) func refusesStringsAsNumbers(way: Way) throws {
    let root = try way.open("strings.h5").root
    #expect(try root.dataset("fixed").shape == [2, 2])
    for name in ["variable", "fixed"] {
      #expect(throws: ModelError.self) { try root.dataset(name).values() }
    }
  }
}
