import CoreMLModel
import Imaging
import TensorCore

/// A class and its probability.
package struct ClassProbability: Sendable {
  package let label: String
  package let probability: Float
}

extension NeuralNetworkClassifier.ClassLabels {
  package init(_ file: LabelFile) {
    switch file {
    case .strings(let labels): self = .string(labels)
    case .integers(let labels): self = .int64(labels.map(Int.init))
    }
  }
}

/// Names of classes to show.
package struct ClassNames: Sendable {
  package let names: [String]
  /// Whether the user gave them, rather than the model.
  package let areGiven: Bool

  /// The names in the file at `path`, or else those of `model`; nil if it has none.
  ///
  /// - Parameter keepsIdentifiers: whether names keep their WordNet identifiers.
  package init?(file path: String?, model: Model, keepsIdentifiers: Bool) throws {
    guard
      let labels = try path.map({ NeuralNetworkClassifier.ClassLabels(try LabelFile.read($0)) })
        ?? model.classLabels
    else { return nil }
    names = keepsIdentifiers ? labels.strings : labels.strings.map { WordNet.split($0)?.name ?? $0 }
    areGiven = path != nil
  }
}

/// The `count` most probable classes; among equals, the lower index comes first.
package func bestClasses(
  _ count: Int, of probabilities: some Collection<Float>, labels: [String]
) throws -> [ClassProbability] {
  try require(
    probabilities.count == labels.count, .mismatch,
    "\(labels.count) labels for the \(probabilities.count) values of the output",
    hint: "give a label file with \(probabilities.count) lines")
  return zip(labels, probabilities).enumerated()
    .sorted { a, b in
      a.element.1 != b.element.1 ? a.element.1 > b.element.1 : a.offset < b.offset
    }
    .prefix(count)
    .map { ClassProbability(label: $0.element.0, probability: $0.element.1) }
}
