import ByteFormats
import CoreMLModel
import ImportSupport
import TensorCore
import TestSupport
import Testing

@testable import KerasImport

/// Windows in the batch, and axes that a blob lacks; converted networks are compared with the
/// packages' predictions in `Fixtures/keras/collections`.
struct LeadingAxesTests {
  /// Four windows of 2 × 2 in an image, merged to an image again.
  private static func network(
    _ layer: String, _ configuration: String = "", arguments: String = "", output: String = "b"
  ) -> String {
    let own = configuration.isEmpty ? "" : ", " + configuration
    return """
      {"class_name": "Functional", "config": {"name": "m", "layers": [
       {"name": "i", "class_name": "InputLayer", "config": {"name": "i", "batch_input_shape": [null, 4, 4, 2]}, "inbound_nodes": []},
       {"name": "r", "class_name": "TFOpLambda", "config": {"name": "r", "function": "reshape"}, "inbound_nodes": [["i", 0, 0, {"shape": [-1, 2, 2, 4]}]]},
       {"name": "t", "class_name": "TFOpLambda", "config": {"name": "t", "function": "compat.v1.transpose"}, "inbound_nodes": [["r", 0, 0, {"perm": [0, 2, 1, 3]}]]},
       {"name": "w", "class_name": "TFOpLambda", "config": {"name": "w", "function": "reshape"}, "inbound_nodes": [["t", 0, 0, {"shape": [-1, 2, 2, 2]}]]},
       {"name": "l", "class_name": "\(layer)", "config": {"name": "l"\(own)}, "inbound_nodes": [["w", 0, 0, {\(arguments)}]]},
       {"name": "b", "class_name": "TFOpLambda", "config": {"name": "b", "function": "reshape"}, "inbound_nodes": [["l", 0, 0, {"shape": [-1, 4, 4, 2]}]]}],
       "input_layers": [["i", 0, 0]], "output_layers": [["\(output)", 0, 0]]}}
      """
  }

  private func converted(
    _ network: String, _ weights: KeyValuePairs<String, [MemoryWeights.Weight]> = [:]
  ) throws -> ConversionResult {
    try KerasImporter.convert(
      KerasSource(
        path: "m", version: KerasVersion(text: "2.15.0", backend: "tensorflow"),
        configuration: JSONValue(parsing: network), weights: MemoryWeights(weights)))
  }

  @Test func axesCountFromEitherEnd() throws {
    for (first, last) in [(1, -3), (2, -2), (3, -1)] {
      let models = try [first, last].map {
        try converted(Self.network("Softmax", #""axis": \#($0)"#)).model.encoded()
      }
      #expect(models[0] == models[1])
    }
  }

  @Test func theBatchHasNoAxisToWorkOn() {
    let error = modelError { try converted(Self.network("Softmax", #""axis": 0"#)) }
    #expect(error?.message.contains("axis 0 is the batch") == true)
  }

  @Test func otherLayersAreRefused() {
    for layer in ["Flatten", "GlobalAveragePooling2D"] {
      let error = modelError { try converted(Self.network(layer)) }
      #expect(error?.message.contains("(None, 2, 2, 2) has windows in the batch") == true)
    }
  }

  @Test func outputsOfWindowsAreRefused() {
    let error = modelError { try converted(Self.network("ReLU", output: "l")) }
    #expect(error?.message.contains("windows in the batch") == true)
    #expect(error?.layer == "l")
  }

  @Test func itemsAreNotDivided() {
    let network = Self.network("ReLU").replacing("[-1, 4, 4, 2]", with: "[-1, 4, 3, 2]")
    let error = modelError { try converted(network) }
    #expect(error?.message.contains("divides the items of the batch") == true)
  }

  @Test func mutatedNetworks() throws {
    var random = Random(state: 11)
    for layer in [
      Self.network("Softmax", #""axis": [1, 3]"#),
      Self.network(
        "TFOpLambda", #""function": "split""#, arguments: #""num_or_size_splits": 2, "axis": 3"#),
      Self.network(
        "WindowAttentionMask", #""height": 4, "width": 4, "window_height": 2, "window_width": 1"#),
      Self.network(
        "CompatibleExtractPatches",
        #""sizes": 2, "strides": 1, "rates": [1, 1], "padding": "valid""#),
    ] {
      let original = try JSONValue(parsing: layer)
      for _ in 0..<500 {
        var json = original
        for _ in 0..<(1 + random.next(3)) { json = json.mutated(&random, depth: 0) }
        do {
          _ = try KerasImporter.convert(
            KerasSource(
              path: "m", version: KerasVersion(text: "2.15.0", backend: "tensorflow"),
              configuration: json, weights: MemoryWeights([:])))
        } catch let error as ModelError {
          #expect(error.code != .internal)
        }
      }
    }
  }
}
