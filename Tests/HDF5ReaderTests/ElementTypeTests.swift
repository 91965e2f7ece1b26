import TensorCore
import TestSupport
import Testing

@testable import HDF5Reader

/// `types.h5`, written by `Fixtures/hdf5/make.py`.
struct ElementTypeTests {
  @Test(arguments: Way.allCases) func readsNumbersOfEveryWidthAndOrder(way: Way) throws {
    let file = try way.open("types.h5")
    for (order, isBigEndian) in [("little", false), ("big", true)] {
      let group = try file.root.group(order)
      #expect(group.datasetNames.count == 11)
      for (name, bytes) in [("f2", 2), ("f4", 4), ("f8", 8)] {
        let dataset = try group.dataset(name)
        #expect(
          dataset.originalType
            == HDF5ElementType(kind: .float, byteCount: bytes, isBigEndian: isBigEndian))
        #expect(try dataset.values().array() == ramp(7), "\(order) \(name)")
      }
      for (letter, kind, start) in [("i", HDF5ElementType.Kind.integer, -3), ("u", .unsigned, 0)] {
        for bytes in [1, 2, 4, 8] {
          let dataset = try group.dataset("\(letter)\(bytes)")
          #expect(dataset.originalType.kind == kind)
          #expect(dataset.originalType.byteCount == bytes)
          #expect(try dataset.values().array() == (start..<start + 7).map { Float($0) })
        }
      }
    }
    #expect(try file.root.dataset("big/f8").originalType.description == "float64 big-endian")
  }

  @Test(arguments: Way.allCases) func readsSpecialValues(way: Way) throws {
    let root = try way.open("types.h5").root
    let halves = try root.dataset("f2_special").values().array()
    // The patterns 0000 8000 0001 83ff 0400 3c01 7bff 7c00 fc00 7e00, by the definition of
    // binary16.
    let expected: [Float] = [
      0, -0.0, 0x1p-24, -0x1.ff8p-15, 0x1p-14, 1.000_976_562_5, 65504, .infinity, -.infinity,
    ]
    #expect(halves.dropLast().map(\.bitPattern) == expected.map(\.bitPattern))
    #expect(halves[9].isNaN)
    let wide = try root.dataset("f8_wide").values().array()
    #expect(wide == [Float(1.0 / 3), .infinity, -0.0])
    #expect(try root.dataset("bfloat16").values().array() == [1.5, -2, 0])
    #expect(try root.dataset("bool").values().array() == [1, 0, 1])
  }

  @Test(arguments: Way.allCases) func readsScalarsAndEmptyArrays(way: Way) throws {
    let root = try way.open("types.h5").root
    let scalar = try root.dataset("scalar")
    #expect(scalar.shape == [])
    #expect(try scalar.values().array() == [2.5])
    let empty = try root.dataset("empty")
    #expect(empty.shape == [0, 3])
    #expect(try empty.values().shape == [0, 3])
    let null = try root.dataset("null")
    #expect(null.shape == [0])
    #expect(try null.values().array() == [])
  }

  @Test func namesTypesThatAreNotRead() throws {
    let root = try HDF5File.open(fixtures.path("types.h5")).root
    let error = #expect(throws: ModelError.self) { try root.dataset("unsupported") }
    #expect(error?.code == .unsupported)
    #expect(error?.message == "/unsupported: compound values are not supported")
    #expect(error?.file == fixtures.path("types.h5"))
    #expect(!root.datasetNames.contains("unsupported"))
  }
}
