import CoreMLModel
import TensorCore

/// Turns a network into a classifier: the probabilities become a dictionary, and the best label
/// becomes another output.
struct ClassifierBuilder {
  private let options: ClassifierOptions
  private let network: ImportedNetwork
  /// Index of the output with the probabilities.
  private let output: Int
  private let probabilityBlob: String

  init(_ options: ClassifierOptions, _ network: ImportedNetwork) throws {
    self.options = options
    self.network = network
    try require(!network.outputs.isEmpty, .mismatch, "the model has no outputs to label")
    var output = 0
    var blob = network.outputs[0].name
    if let name = options.probabilitiesOutput, !name.isEmpty {
      if let index = network.outputs.firstIndex(where: { $0.name == name }) {
        output = index
      } else if !network.layers.contains(where: { $0.output.contains(name) }) {
        throw ModelError(
          .mismatch,
          "the model has no output or blob '\(name)' for \(setting: "predictedProbabilitiesOutput")",
          hint: "its outputs are " + network.outputs.map { "'\($0.name)'" }.joined(separator: ", "))
      }
      blob = name
    }
    self.output = output
    probabilityBlob = blob
    try require(
      !options.predictedFeatureName.isEmpty
        && !(network.inputs + network.outputs).contains(where: {
          $0.name == options.predictedFeatureName
        }), .mismatch,
      "\(setting: "predictedFeatureName") '\(options.predictedFeatureName)' is already the name of another feature"
    )
    try checkCount()
  }

  /// Checks that there are as many labels as probabilities, if the output's shape is known.
  private func checkCount() throws {
    guard probabilityBlob == network.outputs[output].name else { return }
    let count = network.outputs[output].shape.reduce(1, *)
    try require(
      count == options.labels.count, .mismatch,
      "\(options.labels.count) class labels for the \(count) values of output "
        + "'\(probabilityBlob)'",
      hint: "give one label per line, in the order of the output's elements")
  }

  func classifier(
    _ layers: NeuralNetwork, _ description: inout ModelDescription
  ) throws -> NeuralNetworkClassifier {
    let isString = if case .string = options.labels { true } else { false }
    description.output[output].type?.kind = .dictionary(isString ? .string : .int64)
    description.output.append(
      FeatureDescription(name: options.predictedFeatureName, kind: isString ? .string : .int64))
    description.predictedFeatureName = options.predictedFeatureName
    description.predictedProbabilitiesName = description.output[output].name
    return NeuralNetworkClassifier(layers, options.labels, probabilities: probabilityBlob)
  }
}

extension NeuralNetworkClassifier.ClassLabels {
  package var strings: [String] {
    switch self {
    case .string(let labels): labels
    case .int64(let labels): labels.map(String.init)
    }
  }
}
