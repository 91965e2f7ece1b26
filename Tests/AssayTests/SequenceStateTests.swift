import ByteFormats
import TensorCore
import TestSupport
import Testing

/// States of recurrent layers that pass from one prediction to the next.
@Suite struct SequenceStateTests {
  private static let model =
    Fixtures("corpus/keras1").path(
      "keras_numeric.KerasBasicNumericCorrectnessTest.test_small_no_sequence_gru_random__000_8136ba/coremltools.mlmodel"
    )

  private static func last(_ inputs: [Tensor], _ options: String...) throws -> [Double] {
    try withTemporaryFolder { folder in
      let files = try inputs.enumerated().map { index, tensor in
        let path = "\(folder)/\(index).npy"
        try ArraySet([NamedArray(tensor)]).write(to: path)
        return path
      }
      let run = try Command.run(["run", model] + files + ["--json"] + options)
      #expect(run.code == 0, "\(run.errors)")
      let line = try #require(run.output.split(separator: "\n").last)
      let values = try JSONValue(parsing: String(line))["outputs"]?["output0"]?.array
      return try #require(values).compactMap(\.double)
    }
  }

  /// Four steps at once, and two times two steps with the state passed between them, end the same.
  @Test func partsOfASequenceAreTheWhole() throws {
    var random = SplitMix64(seed: 4)
    let steps = (0..<40).map { _ in Float.random(in: -1...1, using: &random) }
    let whole = try Self.last([Tensor(shape: [4, 1, 10], steps)])
    let halves = [
      Tensor(shape: [2, 1, 10], Array(steps[..<20])),
      Tensor(shape: [2, 1, 10], Array(steps[20...])),
    ]
    #expect(try Self.last(halves, "--carry-states") == whole)
    #expect(try Self.last(halves) != whole)
  }

  @Test func aModelWithoutStatesIsRefused() throws {
    let run = try Command.run(
      "run", Fixtures("feature-models").path("scaler/model.mlmodel"),
      Fixtures("feature-models").path("scaler/cases.json"), "--carry-states")
    #expect(run.code == 2)
    #expect(run.errors.contains("states"))
  }
}
