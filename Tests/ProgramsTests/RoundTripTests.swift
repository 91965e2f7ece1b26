import CoreMLModel
import TensorCore
import TestSupport
import Testing

@testable import Programs

/// Programs that coremltools wrote.
struct RoundTripTests {
  private static let models = Shared.files(below: "corpus/programs", endingIn: ".mlmodel")

  @Test(.shared("corpus/programs"), arguments: models)
  func programsComeBackByteForByte(path: String) throws {
    let bytes = try fileBytes(path)
    let model = try Model(bytes: Bytes(bytes))
    guard case .mlProgram(let program)? = model.type else {
      Issue.record("not a program")
      return
    }
    #expect(!program.functions.isEmpty)
    let encoded = try model.encoded()
    let first = zip(encoded, bytes).enumerated().first { $0.element.0 != $0.element.1 }?.offset
    #expect(encoded == bytes, "\(encoded.count) bytes for \(bytes.count); the first at \(first ?? -1)")
  }
}
