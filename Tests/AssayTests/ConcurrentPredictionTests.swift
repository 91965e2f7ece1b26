import CoreMLModel
import ModelPrediction
import TensorCore
import TestSupport
import Testing

/// Concurrent predictions from several tasks, on one model and on several, are bit-for-bit equal to
/// sequential ones. `make sanitize` looks for races here.
@Suite struct ConcurrentPredictionTests {
  private static let paths = Fixtures("corpus").folder
  private static let names = [
    "caffe/net_train_val", "keras/extra.net_seq2seq__000_ab016a",
    "keras/extra.squeeze_excite_broadcast__000_fda925",
    "keras/extra.bn_after_conv_nobias_relu6__000_1bbe1f",
  ]
  private static let tasks = 8

  private struct Trial: Sendable {
    let predictor: Predictor
    let inputs: [[String: Tensor]]
    let outputs: [[String: Tensor]]

    init(_ name: String, threads: Int?) throws {
      var options = Predictor.Options()
      options.engine.threads = threads
      predictor = try Predictor(
        model: Model(contentsOf: "\(paths)/\(name)/coremltools.mlmodel"), options: options)
      let predictor = predictor
      inputs = try (0..<UInt64(3)).map { try predictor.randomBlobs(seed: $0) }
      outputs = try inputs.map { try predictor.outputBlobs($0) }
    }

    /// Whether every input gives the same result as before.
    func repeats(startingAt start: Int) throws -> Bool {
      for index in 0..<2 * inputs.count {
        let place = (start + index) % inputs.count
        let outputs = try predictor.outputBlobs(inputs[place])
        guard outputs.mapValues(\.elements) == self.outputs[place].mapValues(\.elements) else {
          return false
        }
      }
      return true
    }
  }

  @Test(arguments: names, [nil, 1, 3])
  func severalTasksOnOneModel(_ name: String, _ threads: Int?) async throws {
    let trial = try Trial(name, threads: threads)
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for task in 0..<Self.tasks { group.addTask { try trial.repeats(startingAt: task) } }
      for try await agrees in group { #expect(agrees) }
    }
  }

  @Test func severalTasksOnSeveralModels() async throws {
    let trials = try Self.names.map { try Trial($0, threads: 2) }
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for task in 0..<Self.tasks {
        group.addTask { try trials[task % trials.count].repeats(startingAt: task) }
      }
      for try await agrees in group { #expect(agrees) }
    }
  }
}
