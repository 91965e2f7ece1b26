import Foundation
import TensorCore
import Testing

@testable import CoreMLModel

/// Reading and writing loses nothing.
struct RoundTripTests {
  /// The file is let go with the last of its weights.
  @Test func nothingOutlivesTheModel() throws {
    final class Owner {}
    weak var owner: Owner?
    do {
      let held = Owner()
      owner = held
      try HostileModelTests.sample.withUnsafeBytes { sample in
        let bytes = Bytes(base: sample.baseAddress, count: sample.count, owner: held)
        let model = try Model(bytes: bytes)
        #expect(try model.encoded() == HostileModelTests.sample)
        #expect(throws: ModelError.self) { try Model(bytes: bytes[0..<sample.count - 1]) }
      }
    }
    #expect(owner == nil)
  }

  @Test func sharedModelsAreWrittenAsTheyWereRead() throws {
    for path in SharedFiles.models {
      let model = try Model(contentsOf: path)
      let first = try model.encoded()
      let again = try Model(bytes: Bytes(first))
      // A model that holds a NaN does not equal its copy.
      let isSame = again == model || "\(model)".contains("nan")
      #expect(isSame, "\(path)")
      #expect(try again.encoded() == first, "\(path)")
    }
  }

  /// The independent judge: protobuf's own implementation with the classes of coremltools.
  @Test func protobufDecodesTheSameMessages() throws {
    guard let python = ProcessInfo.processInfo.environment["ASSAY_COREMLTOOLS_PYTHON"] else {
      print("SKIPPED: set ASSAY_COREMLTOOLS_PYTHON to a python that has coremltools")
      return
    }
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    var list = ""
    for (index, path) in SharedFiles.models.enumerated() {
      let copy = folder.appending(path: "\(index).mlmodel").path
      try Model(contentsOf: path).write(to: copy)
      list += "\(path)\t\(copy)\n"
    }
    let listFile = folder.appending(path: "list")
    try Data(list.utf8).write(to: listFile)
    let process = Process()
    process.executableURL = URL(filePath: python)
    let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    process.arguments = [tests.appending(path: "Tools/compare_messages.py").path, listFile.path]
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
  }
}
