import Foundation
import TensorCore
import TestSupport
import Testing

@testable import Files

@Suite struct AtomicFileTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func writesNewAndReplacesOldFiles() throws {
    let path = folder.file("out")
    for content in [[1, 2, 3], [UInt8](repeating: 7, count: 3_000_000), []] {
      try AtomicFile.write(content, to: path)
      #expect(try MappedFile.read(path) == Bytes(content))
    }
    #expect(folder.names == ["out"])
  }

  @Test func gathersPiecesInOrder() throws {
    let path = folder.file("out")
    let pieces = [3, 200_000, 60_000, 5_000_000, 1, 0, 40_000_000, 262_144].enumerated().map {
      [UInt8](repeating: UInt8($0.offset + 1), count: $0.element)
    }
    try AtomicFile.write(to: path) { handle in
      for (index, piece) in pieces.enumerated() {
        #expect(handle.byteCount == pieces[..<index].map(\.count).reduce(0, +))
        try handle.write(piece)
      }
    }
    #expect(try MappedFile.read(path) == Bytes(pieces.flatMap { $0 }))
  }

  @Test(arguments: [true, false])
  func keepsTheOldFileUntilTheNewOneIsComplete(mayBeNameless: Bool) throws {
    let path = folder.file("out")
    try AtomicFile.write([1], to: path)
    struct Stop: Error {}
    func write(thenStop: Bool) throws {
      try AtomicFile.write(to: path, byteCount: nil, mayBeNameless: mayBeNameless) { handle in
        try handle.write([UInt8](repeating: 2, count: 1 << 20))
        #expect(try MappedFile.read(path) == Bytes([UInt8(1)]))
        if thenStop { throw Stop() }
      }
    }
    #expect(throws: Stop.self) { try write(thenStop: true) }
    #expect(try MappedFile.read(path) == Bytes([UInt8(1)]))
    #expect(folder.names == ["out"])
    try write(thenStop: false)
    #expect(try MappedFile.read(path).count == 1 << 20)
    #expect(folder.names == ["out"])
  }

  @Test func keepsPermissionsAndSymbolicLinks() throws {
    let target = folder.file("target")
    let link = folder.file("link")
    try AtomicFile.write([1], to: target)
    #expect(chmod(target, 0o640) == 0)
    #expect(symlink("target", link) == 0)
    try AtomicFile.write([2], to: link)
    #expect(try MappedFile.read(target) == Bytes([UInt8(2)]))
    var status = stat()
    #expect(lstat(link, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
    #expect(lstat(target, &status) == 0 && status.st_mode & 0o777 == 0o640)
    #expect(symlink("nobody", folder.file("dangling")) == 0)
    try AtomicFile.write([3], to: folder.file("dangling"))
    #expect(try MappedFile.read(folder.file("nobody")) == Bytes([UInt8(3)]))
  }

  @Test func refusesWhatIsNoFile() throws {
    #expect(errorCode { try AtomicFile.write([1], to: folder.path) } == .cannotCreate)
    #expect(errorCode { try AtomicFile.write([1], to: folder.file("none/out")) } == .cannotCreate)
    #expect(errorCode { try AtomicFile.write([1], to: folder.file("new/")) } == .cannotCreate)
    #expect(symlink("loop", folder.file("loop")) == 0)
    #expect(errorCode { try AtomicFile.write([1], to: folder.file("loop")) } == .cannotCreate)
    #expect(folder.names == ["loop"])
  }

  @Test func writesDevicesAndPipesDirectly() throws {
    try AtomicFile.write([1], to: "/dev/null")
    let path = folder.file("pipe")
    #expect(mkfifo(path, 0o600) == 0)
    // Opened for reading and writing, so that neither side waits for the other.
    let descriptor = open(path, O_RDWR)
    defer { close(descriptor) }
    try AtomicFile.write([5, 6], to: path)
    var received = [UInt8](repeating: 0, count: 2)
    #expect(read(descriptor, &received, 2) == 2)
    #expect(received == [5, 6])
  }

  @Test func reportsTooLittleSpaceBeforeItWrites() throws {
    let path = folder.file("out")
    try AtomicFile.write([1], to: path)
    let error = #expect(throws: ModelError.self) {
      try AtomicFile.write(to: path, byteCount: 1 << 60) { _ in Issue.record("was written") }
    }
    #expect(error?.code == .cannotWrite)
    #expect(error?.message.contains("\(1 << 60) bytes needed") == true)
    #expect(try MappedFile.read(path) == Bytes([UInt8(1)]))
  }

  #if os(Linux)
    @Test func reportsAFullDevice() {
      let error = #expect(throws: ModelError.self) {
        try AtomicFile.write([1], to: "/dev/full")
      }
      #expect(error?.code == .cannotWrite)
      #expect(error?.file == "/dev/full")
    }
  #endif

  /// A file that does not read back correctly never replaces the earlier one.
  @Test(arguments: [true, false])
  func verifiesBeforeItReplaces(mayBeNameless: Bool) throws {
    let path = folder.file("out")
    try AtomicFile.write([1], to: path)
    struct Wrong: Error {}
    func verify(_ bytes: Bytes) throws {
      #expect(bytes == Bytes([UInt8(2), 3]))
      throw Wrong()
    }
    #expect(throws: Wrong.self) {
      try AtomicFile.write(
        to: path, byteCount: nil, mayBeNameless: mayBeNameless, verify: verify
      ) { try $0.write([2, 3]) }
    }
    #expect(try fileBytes(path) == [1])
    #expect(folder.names == ["out"])
  }

  /// The next run removes files of killed processes, and keeps all files of others.
  @Test func removesAbandonedFiles() throws {
    let path = folder.file("out")
    let abandoned = ".out.0123456789abcdef~"
    let others = [
      ".other.0123456789abcdef~", ".out.fedcba9876543210~", ".out.notes~", ".out.0123456789ABCDEF~",
    ]
    for name in others + [abandoned] {
      #expect(mkdir(folder.file(name), 0o700) == 0)
      try writeFile([1], to: folder.file(name + "/item"))
      if name != others[1] { try writeFile([], to: folder.file(name + "/.assay-lock")) }
    }
    try AtomicFile.write(to: path, byteCount: nil, mayBeNameless: false) { try $0.write([1]) }
    #expect(Set(folder.names) == Set(others + ["out"]))
    for name in others { #expect(try fileBytes(folder.file(name + "/item")) == [1]) }
  }
}
