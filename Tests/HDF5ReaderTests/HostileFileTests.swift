import TensorCore
import TestSupport
import Testing

@testable import HDF5Reader

/// Reading damaged files to the end produces only values or a `ModelError`, in time.
struct HostileFileTests {
  /// Reads everything that can be read.
  private func readAll(_ bytes: [UInt8], timeout: Double = 10) throws -> [String: [Float]] {
    try withFile(bytes) { path in
      let file = try HDF5File.open(path, access: .isolated(timeout: timeout))
      var values: [String: [Float]] = [:]
      for dataset in file.root.allDatasets where dataset.originalType.kind != .string {
        do {
          values[dataset.path] = try dataset.values().array()
        } catch is ModelError {
          continue
        }
      }
      return values
    }
  }

  @Test func truncatedFilesAreRefused() throws {
    let bytes = try fileBytes(fixtures.path("keras.h5"))
    try #require(bytes.count > 10_000)
    for length in stride(from: 0, to: bytes.count, by: bytes.count / 30) {
      let error = #expect(throws: ModelError.self) { try readAll(Array(bytes[..<length])) }
      #expect(error?.code == .malformed)
    }
    #expect(try readAll(bytes).count == 6)
  }

  /// Found by mutation: libhdf5 1.10.8 crashes or hangs on each of them.
  @Test(
    .unsanitized,
    arguments: [
      ("strings-hang.h5", "took too much processor time"), ("strings-segv.h5", "crashed: SIGSEGV"),
      ("keras-abort.h5", "crashed: SIGABRT"), ("keras-segv.h5", "crashed: SIGSEGV"),
    ])
  func pastCrashesAreErrors(name: String, found: String) throws {
    do {
      // Another version of the library may be able to read it.
      _ = try readAll(try fileBytes(fixtures.path("damaged/\(name)")), timeout: 60)
    } catch let error as ModelError {
      #expect(error.code == .malformed)
      if error.message.contains("the HDF5 library could not") {
        #expect(error.message.contains("(\(found))"), "\(error.message)")
      }
    }
  }

  @Test(arguments: ["keras.h5", "storage.h5"]) func mutatedFilesDoNoHarm(fixture: String) throws {
    let bytes = try fileBytes(fixtures.path(fixture))
    try #require(bytes.count > 10_000)
    var random = SplitMix64(seed: 11)
    var readable = 0
    for _ in 0..<24 {
      do {
        if try !readAll(bytes.withBytesReplaced(&random)).isEmpty { readable += 1 }
      } catch is ModelError {
        continue
      }
    }
    #expect(readable > 5)
  }
}
