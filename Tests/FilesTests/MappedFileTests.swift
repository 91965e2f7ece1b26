import Foundation
import TensorCore
import TestSupport
import Testing

@testable import Files

@Suite struct MappedFileTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func error(_ path: String, limit: Int = Limits.fileBytes) -> ModelError? {
    do { _ = try MappedFile.read(path, limit: limit) } catch { return error as? ModelError }
    return nil
  }

  @Test func namesWhatIsMissing() throws {
    #expect(error(folder.file("none"))?.code == .missingFile)
    #expect(error(folder.file("none"))?.file == folder.file("none"))
    #expect(error(folder.file("away/none"))?.hint?.contains("away") == true)
    #expect(error(folder.path)?.code == .missingFile)
  }

  @Test func obeysTheLimit() throws {
    let path = folder.file("three")
    try AtomicFile.write([1, 2, 3], to: path)
    #expect(error(path, limit: 2)?.code == .limitExceeded)
    #expect(try MappedFile.read(path, limit: 3) == Bytes([UInt8(1), 2, 3]))
    #expect(error("/dev/zero", limit: 100_000)?.code == .limitExceeded)
    #expect(try MappedFile.read("/dev/null").count == 0)
  }

  @Test func readsPipes() throws {
    let path = folder.file("pipe")
    #expect(mkfifo(path, 0o600) == 0)
    let content = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 3) }
    let writer = Thread { try? AtomicFile.write(content, to: path) }
    writer.start()
    #expect(try MappedFile.read(path) == Bytes(content))
  }

  @Test func outlivesTheFilesName() throws {
    let path = folder.file("out")
    try AtomicFile.write([1, 2], to: path)
    let bytes = try MappedFile.read(path)
    try AtomicFile.write([3, 4], to: path)
    #expect(bytes == Bytes([UInt8(1), 2]))
  }
}
