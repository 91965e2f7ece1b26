import CoreMLModel
import CustomLayers
import TensorCore
import TestSupport
import Testing

@testable import Engine

/// Networks of one layer in a damaged file: if it can still be read, the engine and the reference
/// implementation run it or produce one error, within the memory limit.
@Suite struct MutatedNetworkTests {
  @Test(arguments: testedLayerTypes.map { $0.typeName })
  func neitherTrapsNorHangs(typeName: String) throws {
    var random = SplitMix64(seed: 11)
    let type = try #require(testedLayerTypes.first { $0.typeName == typeName })
    let trials = try type.trials(&random)
      .filter { $0.inputs.allSatisfy { $0.reduce(1, *) < 4000 } }
      .map { ($0, try EngineAgreementTests.model(of: $0).encoded()) }
      .sorted { $0.1.count < $1.1.count }
    var read = 0
    for (trial, bytes) in trials.prefix(2) {
      var attempts = 0
      // For some layers most mutations are rejected; continues until enough have been read.
      while attempts < 60 || (read <= 20 && attempts < 1500) {
        attempts += 1
        guard let model = try? Model(bytes: Bytes(mutated(bytes, &random))) else { continue }
        read += 1
        run(model, trial, &random)
      }
    }
    #expect(read > 20)
  }

  private func mutated(_ bytes: [UInt8], _ random: inout SplitMix64) -> [UInt8] {
    var result = bytes
    for _ in 0..<random.number(1...3) {
      let position = random.number(0...result.count - 1)
      switch random.number(0...3) {
      case 0: result[position] ^= 1 << UInt8(random.number(0...7))
      case 1: result[position] = random.pick([0, 1, 0x7F, 0x80, 0xFF])
      case 2: result[position] = UInt8(random.number(0...255))
      // Inserts a continued varint: sizes become large, and everything after it moves.
      default: result.insert(0x80 | UInt8(random.number(0...127)), at: position)
      }
    }
    return result
  }

  private func run(_ model: Model, _ trial: LayerTrial, _ random: inout SplitMix64) {
    var inputs: [String: Tensor] = [:]
    for (index, shape) in trial.inputs.enumerated() {
      let elements = trial.values[index] ?? random.values(shape.reduce(1, *), in: trial.range)
      inputs["in\(index)"] = Tensor(shape: shape, elements)
    }
    var options = CompileOptions()
    options.threads = 1
    options.maxMemory = 4 << 20
    options.customLayers = EngineAgreementTests.customLayers
    options.inputShapes = inputs.mapValues(\.shape)
    let engine = Result {
      try CompiledNetwork(model: model, options: options).predict(inputs)
    }
    let reference = Result {
      try ReferenceNetwork(
        model: model, customLayers: EngineAgreementTests.customLayers, maxMemory: 8 << 20
      ).predict(inputs.mapValues(ReferenceTensor.init))
    }
    for case .failure(let error) in [engine.map { _ in }, reference.map { _ in }] {
      #expect(error is ModelError, "\(trial.label): \(error)")
      #expect((error as? ModelError)?.code != .internal, "\(trial.label): \(error)")
    }
  }
}
