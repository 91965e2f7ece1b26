import CoreMLModel
import CustomLayers
import Foundation
import TestSupport
import Testing

@testable import Assay

/// The output in a terminal.
@Suite struct ConsoleTests {
  private static let network = "'\(packageRoot)/Fixtures/caffe/v2.prototxt'"

  private func shell(_ script: String) throws -> (code: Int32, output: String) {
    let result = try Program("/bin/sh").run(["-c", script, Command.binary])
    return (result.code, result.output + result.errors)
  }

  #if os(Linux)
    @Test(arguments: ["inspect \(network)", "--help", "plugin list"])
    func aResultThatCannotBeWritten(_ command: String) throws {
      let result = try shell("\"$0\" \(command) >/dev/full")
      #expect(result.code == 74)
      #expect(
        result.output.hasPrefix("error: standard output: cannot write: No space left on device"),
        "\(result.output)")
    }
  #endif

  @Test func nobodyReadsOn() throws {
    let result = try shell("\"$0\" inspect \(Self.network) | true")
    #expect(result.code == 0 && result.output.isEmpty, "\(result.output)")
  }

  /// Published counts for Keras's VGG-16 and for tiny YOLO v2 on Pascal VOC;
  /// (3 · 9 + 1) · 4 + (4 · 9 + 1) · 5.
  @Test(arguments: [
    ("builder/vgg16.json", 138_357_544), ("darknet/yolov2-tiny-voc.cfg", 15_867_885),
    ("caffe/v2.prototxt", 297),
  ])
  func architecturesWithoutWeights(_ name: String, _ count: Int) throws {
    let path = "\(packageRoot)/Fixtures/\(name)"
    let inspected = try Command.run("inspect", path, "--json")
    #expect(inspected.output.contains("\"parameters\": \(count), \"train"), "\(inspected.errors)")
    // Missing weights cannot be exported.
    let exported = try Command.run("inspect", path, "--export-weights", "/nowhere")
    #expect(exported.code == 2 && exported.errors.contains("weights"), "\(exported.errors)")
  }

  @Test func aMissingClassNamesTheNearest() throws {
    let error = CustomLayerRegistry().notFound(["Mush": ["a"], "Unheard of": ["b"]])
    #expect(error.hint?.hasSuffix("; similar names: Mish") == true, "\(error.hint ?? "")")
    let listed = try Command.run("plugin", "list")
    for name in CustomLayerRegistry().classNames {
      #expect(listed.output.contains("\n\(name) "), "\(name)")
    }
  }
}
