import Foundation
import TensorCore
import Testing

@testable import CoreMLModel

struct DescriptionTextTests {
  /// The blocks that coremltools prints for a network with an image and an array.
  @Test func imageAndArray() throws {
    var model = Model()
    model.description?.input = [
      FeatureDescription(
        name: "image", kind: .image(ImageFeatureType(width: 320, height: 320, colorSpace: .rgb)))
    ]
    model.description?.output = [
      FeatureDescription(
        name: "output",
        kind: .multiArray(ArrayFeatureType(shape: [3, 320, 320], dataType: .double)))
    ]
    #expect(
      try model.descriptionText == """
        input {
          name: "image"
          type {
            imageType {
              width: 320
              height: 320
              colorSpace: RGB
            }
          }
        }
        output {
          name: "output"
          type {
            multiArrayType {
              shape: 3
              shape: 320
              shape: 320
              dataType: DOUBLE
            }
          }
        }

        """)
  }

  /// Python's protobuf prints the same text for every shared model.
  @Test func equalsWhatProtobufPrints() throws {
    guard let python = ProcessInfo.processInfo.environment["ASSAY_COREMLTOOLS_PYTHON"] else {
      print("SKIPPED: set ASSAY_COREMLTOOLS_PYTHON to a python that has coremltools")
      return
    }
    let process = Process()
    process.executableURL = URL(filePath: python)
    let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    process.arguments =
      [tests.appending(path: "Tools/print_descriptions.py").path] + SharedFiles.models
    process.standardError = FileHandle.nullDevice
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    let expected = try JSONDecoder().decode([String: String].self, from: output)
    #expect(expected.count == SharedFiles.models.count)
    for path in SharedFiles.models {
      #expect(try Model(contentsOf: path).descriptionText == expected[path], "\(path)")
    }
  }
}
