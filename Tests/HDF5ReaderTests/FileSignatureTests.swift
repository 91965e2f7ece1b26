import LibC
import TensorCore
import TestSupport
import Testing

@testable import HDF5Reader

/// Files that are not HDF5 are recognized without a worker.
struct FileSignatureTests {
  @Test(arguments: [
    ("PK\u{3}\u{4}rest", "a zip archive"), ("", "empty"), ("  {\"config\": 1}", "JSON"),
    ("version https://git-lfs.github.com/spec/v1\n", "a Git LFS pointer"),
    ("<!DOCTYPE html><html>", "HTML or XML"), ("name: \"net\"\n", "text"),
  ])
  func namesWhatItIs(content: String, name: String) throws {
    try withFile(Array(content.utf8)) { path in
      let error = #expect(throws: ModelError.self) { try HDF5File.open(path) }
      #expect(error?.code == .malformed)
      #expect(error?.file == path)
      #expect(error?.message == "is not an HDF5 file, but \(name)")
    }
  }

  @Test func showsUnknownBytes() throws {
    try withFile([8, 1, 0x9a, 0, 255]) { path in
      let error = #expect(throws: ModelError.self) { try HDF5File.open(path) }
      #expect(error?.hint == "its first bytes are 08 01 9a 00 ff")
    }
  }

  @Test func wantsARegularFile() {
    let absent = #expect(throws: ModelError.self) { try HDF5File.open("/nowhere/at.h5") }
    #expect(absent?.code == .missingFile)
    #expect(absent?.description == "/nowhere/at.h5: no such file")
    for path in ["/tmp", "/dev/null"] {
      let error = #expect(throws: ModelError.self) { try HDF5File.open(path) }
      #expect(error?.message == "is not a regular file")
    }
  }
}
