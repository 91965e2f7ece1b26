import Foundation
import TensorCore
import Testing

@testable import CoreMLModel

struct DescriptionTextTests {
  /// The text that coremltools prints for a network with an image and an array.
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
  @Test(.shared("corpus"), .coremltools) func equalsWhatProtobufPrints() throws {
    let printed = try coremltools("print_descriptions.py", sharedModels)
    let expected = try JSONDecoder().decode([String: String].self, from: Data(printed.output.utf8))
    #expect(expected.count == sharedModels.count)
    for path in sharedModels {
      #expect(try Model(contentsOf: path).descriptionText == expected[path], "\(path)")
    }
  }

  /// C1 and bidirectional controls never reach a terminal; protobuf reads the escapes back.
  @Test func controlCharactersAreEscaped() throws {
    var model = Model()
    model.description?.metadata = Metadata()
    model.description?.metadata?.author = "a\u{1b}[2J\u{9b}1m\u{202e}b\u{85}é"
    let text = try model.descriptionText
    #expect(!text.unicodeScalars.contains { $0.isControl && $0 != "\n" })
    #expect(text.contains(#""a\033[2J\302\2331m\342\200\256b\302\205é""#), "\(text)")
  }
}
