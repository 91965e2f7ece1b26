import CoreMLModel
import TensorCore
import TestSupport
import Testing

@testable import MILImport

/// Programs that coremltools wrote.
struct RoundTripTests {
  private static let models = Shared.files(below: "corpus/programs", endingIn: ".mlmodel")

  @Test(.shared("corpus/programs"), arguments: models)
  func programsComeBackWhole(path: String) throws {
    let bytes = try fileBytes(path)
    let model = try Model(bytes: Bytes(bytes))
    guard case .mlProgram(let program)? = model.type else {
      Issue.record("not a program")
      return
    }
    #expect(!program.functions.isEmpty)
    // The metadata are a map, whose order differs between writers.
    let encoded = try model.encoded()
    #expect(encoded.count == bytes.count)
    #expect(try Model(bytes: Bytes(encoded)) == model)
  }
}
