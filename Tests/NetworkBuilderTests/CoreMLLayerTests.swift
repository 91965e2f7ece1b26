import CoreMLModel
import TensorCore
import TestSupport
import Testing

@testable import NetworkBuilder

struct CoreMLLayerTests {
  /// √x, twice that, its second channel as an array with one axis, softmax: e⁴ / (e⁴ + e⁸), and
  /// half of it.
  @Test func layersByTheirNames() throws {
    let input = Input(width: 2, height: 1, channels: 2)
    let roots = input --> CoreMLLayer("unary", ["type": "SQRT", "scale": 1])
    let sum = [roots, roots] --> CoreMLLayer("addBroadcastable")
    let channel = sum --> CoreMLLayer("splitND", ["axis": -3, "numSplits": 2], output: 1, of: 2)
    let softmax =
      channel --> CoreMLLayer("reshapeStatic", ["targetShape": [2]])
      --> CoreMLLayer("softmaxND", ["axis": 0])
      --> CoreMLLayer("reshapeStatic", ["targetShape": [1, 1, 1, 1, 2]])
    let half =
      softmax
      --> CoreMLLayer("scale", ["shapeScale": [1], "scale": ["floatValue": .floats([0.5])]])
    var network = Network(input: input, output: half)
    network.keep(sum)
    network.keep(channel)
    let prediction = try network.compile(weights: .random()).predict([1, 4, 9, 16])
    #expect(try prediction.value(of: sum).floats == [2, 4, 6, 8])
    #expect(try prediction.value(of: channel).floats == [4, 8])
    let expected: [Float] = [0.008993105, 0.49100690]
    #expect(zip(prediction.output.floats, expected).allSatisfy { abs($0 - $1) < 1e-6 })
    #expect(try network.model(weights: .random()).validate().map(\.description) == [])
  }

  @Test func everyTypeIsReachable() throws {
    for type in layerTypes {
      let definition = CoreMLDefinition(typeName: type.typeName, fields: [:], output: 0, outputs: 1)
      #expect(Swift.type(of: try definition.parameters()) == type, "\(type.typeName)")
    }
  }

  @Test func faultsAreNamed() {
    let input = Input(width: 2, height: 1, channels: 2)
    func message(_ output: NetworkTensor) -> String {
      modelError { _ = try Network(input: input, output: output).model(weights: .random()) }?
        .description ?? ""
    }
    for (type, fields, text) in [
      ("unknown", [:], "(unknown): Core ML has no layer 'unknown'"),
      ("softmaxND", ["axes": 1], "(softmaxND): axes: no such field"),
      ("unary", ["type": "ROOT"], "(unary): type: no case 'ROOT'"),
      ("softmaxND", ["axis": 0.5], "(softmaxND): axis: 0.5 is not a whole number"),
      ("softmaxND", ["axis": "x"], "(softmaxND): axis: not a value of this field"),
    ] as [(String, [String: CoreMLLayer.Value], String)] {
      #expect(message(input --> CoreMLLayer(type, fields)).contains(text))
    }
    let row = input --> CoreMLLayer("reshapeStatic", ["targetShape": [4]])
    #expect(message(row --> Softmax()).contains("has the shape [4], not [1, 1, C, H, W]"))
    #expect(message(row).contains("has the shape [4]"))
  }
}
