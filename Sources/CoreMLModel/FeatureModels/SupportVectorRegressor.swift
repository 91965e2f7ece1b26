/// `Σ coefficient · kernel(vector, x) − rho`.
package struct SupportVectorRegressor: FeatureModelParameters {
  package var kernel: KernelMessage?
  package var vectors: SupportVectors?
  package var coefficients: [Double] = []
  package var rho = 0.0
  package var unknownFields = UnknownFields()
  private var hasCoefficients = false

  package init() {}

  package static let fields: Fields = [
    .message("kernel", \.kernel), .supportVectors(\.vectors),
    Field(
      ["coefficients"],
      read: { model, reader in
        guard let nested = try reader.nested("coefficients") else { return }
        model.hasCoefficients = true
        model.coefficients = nested.doubles("alpha")
      },
      write: { model, writer in
        guard model.hasCoefficients || !model.coefficients.isEmpty else { return }
        let nested = try writer.nested("coefficients")
        nested.set("alpha", model.coefficients)
        try nested.finish()
      }),
    .double("rho", \.rho),
  ]

  package func check(_ description: ModelDescription, _ faults: inout ValidationIssues) {
    faults.requireNumbers(description)
    faults.requireRegressor(description)
    (kernel ?? KernelMessage()).check(&faults)
    guard let vectors else {
      return faults.require(false, "supportVectors", "the support vectors are missing")
    }
    vectors.check(&faults)
    faults.require(
      coefficients.count == vectors.count, "coefficients",
      "\(coefficients.count) numbers for \(vectors.count) support vectors")
  }
}
