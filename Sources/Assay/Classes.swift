import CoreMLModel
import Imaging
import TensorCore

/// A class and how probable it is.
public struct ClassProbability: Sendable {
  public let label: String
  public let probability: Float
}

extension NeuralNetworkClassifier.ClassLabels {
  public init(_ file: LabelFile) {
    switch file {
    case .strings(let labels): self = .string(labels)
    case .integers(let labels): self = .int64(labels.map(Int.init))
    }
  }

  public var strings: [String] {
    switch self {
    case .string(let labels): labels
    case .int64(let labels): labels.map(String.init)
    }
  }
}

/// The `count` most probable classes, the lower index first among equals.
public func bestClasses(
  _ count: Int, of probabilities: some Collection<Float>, labels: [String]
) throws -> [ClassProbability] {
  guard probabilities.count == labels.count else {
    throw ModelError(
      .mismatch, "\(labels.count) labels for \(probabilities.count) classes",
      hint: "give a label file with \(probabilities.count) lines")
  }
  return zip(labels, probabilities).enumerated()
    .sorted { a, b in
      a.element.1 != b.element.1 ? a.element.1 > b.element.1 : a.offset < b.offset
    }
    .prefix(count)
    .map { ClassProbability(label: $0.element.0, probability: $0.element.1) }
}
