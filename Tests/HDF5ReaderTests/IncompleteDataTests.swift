import TensorCore
import TestSupport
import Testing

@testable import HDF5Reader

/// Values missing in a file are never invented, and no two values share storage.
struct IncompleteDataTests {
  /// The error of opening or reading the dataset.
  private func failure(_ fixture: String, _ name: String, _ way: Way) -> ModelError? {
    #expect(throws: ModelError.self) {
      try way.open(fixture).root.dataset(name).values().array()
    }
  }

  @Test(
    arguments: [
      ("never_written", "only 0 of its 48 bytes are in the file"),
      ("never_filled", "only 0 of its 48 bytes are in the file"),
      ("size", "only 8 of its 48 bytes are in the file"),
      ("chunks_never_written", "its chunk at [0, 0] is missing"),
      ("chunk_missing", "its chunk at [2, 0] is missing"),
      ("chunk_short", "its chunk at [0, 0] has 24 bytes instead of 48"),
      ("gzip_plain_short", "its chunk at [0, 0] has 24 bytes instead of 48"),
      ("gzip_short", "its chunk at [0, 0] does not expand to 48 bytes"),
      ("gzip_long", "its chunk at [0, 0] does not expand to 48 bytes"),
      ("gzip_cut", "its chunk at [0, 0] does not expand to 48 bytes"),
      ("shuffle_gzip_short", "its chunk at [0, 0] does not expand to 48 bytes"),
      ("large_short", "its chunk at [0, 0] does not expand to 65536 bytes"),
    ], Way.allCases)
  func missingBytesAreRefused(dataset: (name: String, message: String), way: Way) {
    let error = failure("incomplete.h5", dataset.name, way)
    #expect(error?.code == .malformed)
    #expect(
      error?.message
        == "/\(dataset.name): \(dataset.message): the file is damaged; save the network again")
  }

  /// `make.py` writes the first half of two datasets and declares a fill value of 1.5.
  @Test(arguments: Way.allCases) func declaredFillValuesAreValues(way: Way) throws {
    let root = try way.open("incomplete.h5").root
    let half = ramp(6) + [Float](repeating: 1.5, count: 6)
    #expect(try root.dataset("filled").values().array() == half)
    #expect(try root.dataset("filled_gzip").values().array() == half)
  }

  @Test(arguments: Way.allCases) func unusualChunksAreComplete(way: Way) throws {
    let root = try way.open("incomplete.h5").root
    for name in ["gzip_plain", "checked", "growing"] {
      #expect(try root.dataset(name).values().array() == ramp(12), "\(name)")
    }
    #expect(try root.dataset("empty_chunks").values().array() == [])
  }

  @Test(
    arguments: [
      ("values", "/a: its values overlap /b"), ("itself", "/a: its values overlap each other"),
      ("superblock", "/a: its values overlap the file's structure"),
      ("object", "/a: its values overlap the file's structure"),
      ("group", "/a: its values overlap the file's structure"),
    ], Way.allCases)
  func overlappingValuesAreRefused(overlap: (name: String, message: String), way: Way) {
    let error = failure("overlap-\(overlap.name).h5", "a", way)
    #expect(error?.code == .malformed)
    #expect(
      error?.message == "\(overlap.message): the file is damaged; save the network again")
  }
}
