import TensorCore
import TestSupport
import Testing

@testable import HDF5Reader

/// The storage layout of a dataset does not affect its values.
struct StorageTests {
  @Test(arguments: Way.allCases) func readsEveryLayout(way: Way) throws {
    let root = try way.open("storage.h5").root
    for name in ["contiguous", "chunked", "gzip", "gzip_shuffle", "half_gzip"] {
      let dataset = try root.dataset(name)
      #expect(dataset.shape == [10, 12])
      #expect(try dataset.values().array() == ramp(120), "\(name)")
    }
    #expect(try root.dataset("half_gzip").originalType.description == "float16")
    #expect(try root.dataset("compact").values().array() == ramp(6))
    #expect(try root.dataset("unwritten").values().array() == [Float](repeating: 1.5, count: 5))
  }

  @Test(arguments: Way.allCases) func findsDataBehindAUserBlock(way: Way) throws {
    let dataset = try way.open("userblock.h5").root.dataset("values")
    #expect(dataset.contents.datasets[dataset.index].fileOffset != nil)
    #expect(try dataset.values().array() == ramp(5))
  }

  @Test(arguments: Way.allCases) func readsTheNewestFormat(way: Way) throws {
    let dense = try way.open("modern.h5").root.group("layers/dense")
    #expect(dense.attributes.count == 12)
    #expect(dense.attributes["a11"] != nil)
    #expect(try dense.dataset("vars/0").values().array() == ramp(6))
    #expect(try dense.dataset("chunked").values().array() == ramp(40))
  }

  @Test func keepsValuesWhenTheFileIsGone() throws {
    var values: [FloatValues] = []
    do {
      let root = try HDF5File.open(fixtures.path("storage.h5")).root
      for name in ["contiguous", "gzip"] { values.append(try root.dataset(name).values()) }
    }
    for value in values { #expect(try value.array() == ramp(120)) }
  }

  @Test func readsFromManyThreads() async throws {
    let root = try HDF5File.open(fixtures.path("storage.h5")).root
    try await withThrowingTaskGroup(of: [Float].self) { group in
      for name in ["gzip", "chunked", "contiguous", "gzip", "half_gzip", "gzip_shuffle"] {
        group.addTask { try root.dataset(name).values().array() }
      }
      for try await values in group { #expect(values == ramp(120)) }
    }
  }
}
