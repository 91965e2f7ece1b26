/// A vote of one classifier per pair of classes.
///
/// Each has the value of a `SupportVectorRegressor` with the support vectors of its two classes.
/// `probA` and `probB` convert values to probabilities: `1 / (1 + exp(A · value + B))`.
package struct SupportVectorClassifier: FeatureModelParameters {
  package var kernel: KernelMessage?
  package var vectorsPerClass: [Int] = []
  package var vectors: SupportVectors?
  /// One row per class except one, with a coefficient for each support vector.
  package var coefficients: [[Double]] = []
  package var rho: [Double] = []
  package var probA: [Double] = []
  package var probB: [Double] = []
  package var classLabels: ClassLabels?
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [
    .message("kernel", \.kernel), .ints("numberOfSupportVectorsPerClass", \.vectorsPerClass),
    .supportVectors(\.vectors), .rows("coefficients", of: "alpha", \.coefficients),
    .doubles("rho", \.rho), .doubles("probA", \.probA), .doubles("probB", \.probB),
    .classLabels(\.classLabels),
  ]

  package func check(_ description: ModelDescription, _ faults: inout ValidationIssues) {
    faults.requireNumbers(description)
    faults.requireClassifier(description, classLabels)
    (kernel ?? KernelMessage()).check(&faults)
    guard let vectors else {
      return faults.require(false, "supportVectors", "the support vectors are missing")
    }
    vectors.check(&faults)
    guard let count = classLabels?.count else { return }
    let pairs = count <= 1 << 15 ? count * (count - 1) / 2 : -1
    faults.require(count >= 2, "classLabels", "a classifier needs two classes")
    faults.require(
      vectorsPerClass.count == count
        && vectorsPerClass.allSatisfy { $0 >= 0 && $0 <= vectors.count }
        && vectorsPerClass.reduce(0, &+) == vectors.count, "numberOfSupportVectorsPerClass",
      "\(vectorsPerClass) for \(count) classes and \(vectors.count) support vectors")
    faults.require(
      coefficients.count == count - 1, "coefficients",
      "\(coefficients.count) rows for \(count) classes; \(count - 1) are needed")
    faults.require(
      coefficients.allSatisfy { $0.count == vectors.count }, "coefficients",
      "a row does not have \(vectors.count) numbers")
    faults.require(rho.count == pairs, "rho", "\(rho.count) numbers for \(pairs) pairs of classes")
    faults.require(
      probA.isEmpty && probB.isEmpty || probA.count == pairs && probB.count == pairs, "probA",
      "\(probA.count) and \(probB.count) numbers for \(pairs) pairs of classes")
  }
}
