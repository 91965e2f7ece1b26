import ByteFormats
import CoreMLModel
import Imaging
import ImportSupport
import ModelPrediction
import TensorCore
import Verification

/// A model with one input and the expected values of its outputs.
struct DiagnosisSubject {
  let model: Model
  let source: InputSource
  let values: [String: FeatureValue]
  let images: ImageOptions
  let interface: ModelInterface
  let options: Comparison.Options
  /// The unchanged prediction.
  let trial: Trial
  /// The outputs, and every blob of the network.
  let prediction: Prediction
  /// The outputs that differ from the expected values; causes in outputs apply to these only.
  let differing: Set<String>

  init(
    _ model: Model, _ source: InputSource, _ expected: ArraySet, file: String,
    options: Comparison.Options
  ) throws {
    (self.model, self.source, self.options) = (model, source, options)
    images = try options.images ?? ImageOptions(recordedIn: model)
    values = try source.read(for: model, images: images)
    var predictorOptions = options.predictor
    predictorOptions.keep = .all
    let predictor = try Predictor(model: model, options: predictorOptions)
    interface = predictor.interface
    let blobs = try interface.blobs(values)
    prediction = try predictor.prediction(of: blobs)
    let names = prediction.features.map(\.name)
    let pairing = ArrayPairing(
      actual: names,
      expected: FeatureNames.output.meant(by: expected.arrays.map(\.name), among: names))
    try require(
      !pairing.pairs.isEmpty, .mismatch, "none of its arrays has the name of an output",
      file: file, hint: "the outputs are \(names.joined(separator: ", "))")
    trial = Trial(
      model: model, blobs: blobs,
      expected: Dictionary(
        first: pairing.pairs.map { (names[$0.actual], expected.arrays[$0.expected].tensor) }))
    let expected = trial.expected
    differing = Set(
      prediction.outputs.compactMap { output in
        expected[output.name].map {
          OutputComparison(
            output.name, actual: output.value, expected: $0,
            tolerance: options.tolerances[output.name])
        }
      }.filter { !$0.agrees }.map(\.name))
  }

  /// All causes, cheapest first.
  var causes: [Cause] { outputCauses + inputCauses + imageCauses + networkCauses + weightCauses }

  /// The inputs that are images or have one or three channels, with the channel axis.
  var channelInputs: [(name: String, axis: Int)] {
    trial.blobs.keys.sorted().compactMap { name in
      guard let shape = trial.blobs[name]?.shape, shape.count >= 3 else { return nil }
      let axis = shape.count - 3
      return shape[axis] == 3 || shape[axis] == 1 ? (name, axis) : nil
    }
  }
}
