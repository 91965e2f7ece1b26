import Foundation
import NetworkBuilder
import TensorCore
import TestSupport
import Testing

struct WeightSourceTests {
  private let input = Input(width: 3, height: 2, channels: 2)

  /// conv: 4 × 3 × 5 × 2 and 4, applied twice after a first 1 × 1 layer; fc: 3 × 2 × 3 × 4 and 3.
  private func network() -> Network {
    let conv = Convolution(kernel: (5, 3), channels: 2, name: "conv")
    return Network(
      input: input, output: input --> conv --> conv --> Dense(neurons: 3, bias: false, name: "fc"))
  }

  @Test func aClosureIsAskedOnceForEach() throws {
    var asked: [String] = []
    let network = network()
    _ = try network.model(
      weights: WeightSource { name, count, kind in
        asked.append("\(name) \(count) \(kind)")
        return [Float](repeating: 0, count: count)
      })
    // 2 · 3 · 5 · 2 and 2; 3 · 2 · 3 · 2
    #expect(asked == ["conv 60 weights", "conv 2 bias", "fc 36 weights"])
  }

  @Test func aDictionaryAndAFolderGiveTheSame() throws {
    let kernel: [Float] = (0..<60).map { Float($0) / 64 }
    let matrix: [Float] = (0..<36).map { 1 - Float($0) / 16 }
    let values: [String: [Float]] = ["conv_W": kernel, "conv_b": [0.5, -0.5], "fc_W": matrix]
    let network = network()
    let frame: [Float] = (0..<12).map { Float($0) - 6 }
    let first = try network.compile(weights: .dictionary(values)).predict(frame).output.floats
    try withTemporaryFolder { folder in
      for (name, floats) in values {
        try Data(floats.withUnsafeBytes { Array($0) }).write(
          to: URL(filePath: "\(folder)/\(name).bin"))
      }
      let second = try network.compile(weights: .folder(folder)).predict(frame).output.floats
      #expect(first == second)
      #expect(Set(first).count == 3)

      try Data(count: 237).write(to: URL(filePath: "\(folder)/conv_W.bin"))
      #expect(
        modelError { _ = try network.model(weights: .folder(folder)) }?.description
          == "\(folder)/conv_W.bin: layer 'conv' (Convolution): weights: 59 values and 1 bytes; "
          + "2 × 3 × 5 × 2 = 60 are needed")
      try FileManager.default.removeItem(atPath: "\(folder)/conv_W.bin")
      let error = modelError { _ = try network.model(weights: .folder(folder)) }
      #expect(error?.code == .missingFile)
      #expect(error?.file == "\(folder)/conv_W.bin")
      #expect(error?.layer == "conv")
    }
  }

  @Test func aWrongLengthNamesBothCounts() {
    let network = network()
    #expect(
      modelError {
        _ = try network.model(
          weights: WeightSource { _, count, _ in [Float](repeating: 0, count: count + 1) })
      }?.description
        == "layer 'conv' (Convolution): weights: 61 values; 2 × 3 × 5 × 2 = 60 are needed")
    #expect(
      modelError {
        _ = try network.model(weights: .dictionary(["conv_W": [Float](repeating: 0, count: 60)]))
      }?
      .description == "layer 'conv' (Convolution): bias: the dictionary has no 'conv_b'")
    let slash = Network(input: input, output: input --> Dense(neurons: 1, name: "../fc"))
    #expect(
      modelError { _ = try slash.model(weights: .folder("/tmp")) }?.description.contains("slash")
        == true)
  }

  @Test func randomWeightsDependOnTheSeedOnly() throws {
    let frame: [Float] = (0..<12).map { Float($0) }
    func output(_ seed: UInt64) throws -> [Float] {
      try network().compile(weights: .random(seed: seed)).predict(frame).output.floats
    }
    #expect(try output(1) == output(1))
    #expect(try output(1) != output(2))
  }

  @Test func aSharedLayerHasOneSetOfWeights() throws {
    let dense = Dense(neurons: 2, bias: false, name: "fc")
    let a = Input(width: 1, height: 1, channels: 2, name: "a")
    let b = Input(width: 1, height: 1, channels: 2, name: "b")
    let network = Network(
      inputs: [a, b], outputs: [a --> dense, b --> dense])
    #expect(try network.parameterCount() == 4)
    let model = try network.compile(weights: .dictionary(["fc_W": [1, 2, 3, 4]]))
    let prediction = try model.predict(["a": .floats([1, 0]), "b": .floats([0, 1])])
    #expect(prediction.outputs.map(\.name) == ["fc", "fc_2"])
    #expect(prediction.outputs.map(\.floats) == [[1, 3], [2, 4]])
  }
}
