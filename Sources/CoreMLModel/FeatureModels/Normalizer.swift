/// The array divided by its norm: the largest magnitude, the sum of magnitudes, or √Σ x².
package struct Normalizer: FeatureModelParameters {
  package enum Norm: Int, Sendable, CaseIterable {
    case max = 0
    case l1 = 1
    case l2 = 2
  }

  package var norm = Norm.max
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [.value("normType", \.norm)]

  package func check(_ description: ModelDescription, _ faults: inout ValidationIssues) {
    faults.requireFeatures(description.input, "description.input", [.multiArray], count: 1)
    faults.requireFeatures(description.output, "description.output", [.multiArray], count: 1)
  }
}
