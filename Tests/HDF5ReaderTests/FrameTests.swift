import HDF5Library
import TensorCore
import TestSupport
import Testing

@testable import HDF5Reader

/// The decoders of frames validate all input.
struct FrameTests {
  private func frames() throws -> (bytes: [UInt8], size: Int) {
    let input = try HDF5Input(path: fixtures.path("keras.h5"))
    return (try HDF5Access.inProcess.backend.describe(input), input.size)
  }

  private func decode(_ bytes: [UInt8], _ size: Int) throws -> [DatasetNode] {
    var decoder = TreeDecoder(frames: bytes, fileSize: size)
    return try decoder.decode().datasets
  }

  @Test func refusesEveryTruncation() throws {
    let (bytes, size) = try frames()
    #expect(try decode(bytes, size).count == 6)
    for length in 0..<bytes.count {
      #expect(throws: ModelError.self) { try decode(Array(bytes[..<length]), size) }
    }
    #expect(throws: ModelError.self) { try decode(bytes + [0], size) }
  }

  @Test func survivesMutation() throws {
    let (bytes, size) = try frames()
    var random = SplitMix64(seed: 7)
    var accepted = 0
    for _ in 0..<20_000 {
      guard let datasets = try? decode(bytes.withBytesReplaced(&random), size) else { continue }
      accepted += 1
      for dataset in datasets {
        #expect(dataset.count == dataset.shape.reduce(1, *))
        if let offset = dataset.fileOffset { #expect(offset + dataset.count * 4 <= size) }
      }
    }
    // Most bytes belong to names and texts, so changes to them are harmless.
    #expect(accepted > 1000)
  }

  @Test func refusesElementsOutsideTheFile() throws {
    var written: [UInt8] = []
    func tree(offset: UInt64, count: Int) throws -> [UInt8] {
      written = []
      var writer = FrameWriter { written += $0 }
      try writer.frame(.beginGroup) { $0.text("") }
      try writer.frame(.dataset) { frame in
        frame.text("x")
        frame.byte(HDF5ElementType.Kind.float.rawValue)
        frame.integer(UInt32(4))
        frame.byte(0)
        frame.shape([count])
        frame.integer(offset)
      }
      try writer.frame(.endGroup)
      try writer.finish()
      return written
    }
    #expect(try decode(try tree(offset: 60, count: 10), 100).count == 1)
    for (offset, count) in [(UInt64(61), 10), (0, 26), (1 << 63, 1), (UInt64.max - 1, 1)] {
      let bytes = try tree(offset: offset, count: count)
      #expect(throws: ModelError.self) { try decode(bytes, 100) }
    }
  }

  @Test func answersMustFitTheRequests() throws {
    let requests = [
      HDF5Request(path: "/a", count: 2, offset: 0),
      HDF5Request(path: "/b", count: 1, offset: 0),
    ]
    func answers(_ body: (inout FrameWriter) throws -> Void) throws -> [HDF5Answer] {
      var bytes: [UInt8] = []
      var writer = FrameWriter { bytes += $0 }
      try body(&writer)
      try writer.finish()
      return try AnswerDecoder.decode(bytes, for: requests)
    }
    func numbers(_ index: Int, _ writer: inout FrameWriter) throws {
      try writer.frame(.numbers) { $0.integer(UInt32(index)) }
    }
    let error = ModelError(.malformed, "a hole")
    #expect(
      try answers {
        try $0.frame(.unreadable) { frame in
          frame.integer(UInt32(1))
          frame.reason(error)
        }
        try numbers(0, &$0)
      } == [.numbers, .unreadable(ModelError(.malformed, "/b: a hole"))])
    #expect(throws: ModelError.self) { try answers { try numbers(0, &$0) } }
    #expect(throws: ModelError.self) {
      try answers {
        try numbers(0, &$0)
        try numbers(0, &$0)
      }
    }
    #expect(throws: ModelError.self) { try answers { try numbers(2, &$0) } }
  }

  @Test func requestsSurviveTheTable() {
    let requests = [
      HDF5Request(path: "/a/é", count: 7, offset: 64),
      HDF5Request(path: "/b", count: 1, offset: 128),
    ]
    let (bytes, start) = RequestTable.encode(requests)
    let decoded = RequestTable.decode(bytes)
    #expect(decoded?.requests == requests)
    #expect(decoded?.valuesStart == start && start % 64 == 0 && start >= bytes.count)
    for length in 0..<bytes.count { #expect(RequestTable.decode(Array(bytes[..<length])) == nil) }
  }

  /// A file may expand to 64 MiB, and beyond that to 100 times its size.
  @Test func expansionIsBounded() throws {
    var small = HDF5Expansion(fileSize: 1000)
    try small.add(Limits.uncheckedExpansionBytes)
    #expect(throws: ModelError.self) { try small.add(1) }
    var large = HDF5Expansion(fileSize: 1 << 20)
    for _ in 0..<50 { try large.add(2 << 20) }
    let error = #expect(throws: ModelError.self) { try large.add(2 << 20) }
    #expect(error?.code == .limitExceeded)
  }
}
