import Foundation
import TensorCore
import TestSupport
import Testing

@testable import CoreMLModel

/// Reading and writing preserves everything.
struct RoundTripTests {
  /// The file is released together with the last of its weights.
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

  @Test(.shared("corpus")) func sharedModelsAreWrittenAsTheyWereRead() throws {
    for path in sharedModels {
      let model = try Model(uncheckedContentsOf: path)
      let first = try model.encoded()
      let again = try Model(bytes: Bytes(first))
      // A model that contains a NaN does not equal its copy.
      let isSame = again == model || "\(model)".contains("nan")
      #expect(isSame, "\(path)")
      #expect(try again.encoded() == first, "\(path)")
    }
  }

  /// An independent check: protobuf's implementation with the classes of coremltools.
  @Test(.shared("corpus"), .coremltools) func protobufDecodesTheSameMessages() throws {
    try withTemporaryFolder { folder in
      var list = ""
      for (index, path) in sharedModels.enumerated() {
        let copy = "\(folder)/\(index).mlmodel"
        try Model(contentsOf: path).write(to: copy)
        list += "\(path)\t\(copy)\n"
      }
      try Data(list.utf8).write(to: URL(filePath: folder + "/list"))
      let result = try coremltools("compare_messages.py", [folder + "/list"])
      #expect(result.code == 0, "\(result.errors)")
    }
  }
}

private let coremltoolsPython = "ASSAY_COREMLTOOLS_PYTHON"

extension Trait where Self == ConditionTrait {
  static var coremltools: Self {
    .environment(coremltoolsPython, "the path of a python that has coremltools")
  }
}

/// Runs a script in `Tests/Tools` with coremltools' classes.
func coremltools(_ script: String, _ arguments: [String]) throws -> Program.Result {
  let python = try #require(ProcessInfo.processInfo.environment[coremltoolsPython])
  return try Program(python).run(["\(packageRoot)/Tests/Tools/\(script)"] + arguments)
}
