/// The similarity of two vectors.
package enum SupportVectorKernel: Sendable, Equatable {
  /// `x · y`
  case linear
  /// `exp(−gamma |x − y|²)`
  case radialBasis(gamma: Double)
  /// `(gamma x · y + c) ^ degree`
  case polynomial(degree: Int, c: Double, gamma: Double)
  /// `tanh(gamma x · y + c)`
  case sigmoid(gamma: Double, c: Double)
}

package enum SupportVectors: Sendable, Equatable {
  /// One-based indices and their values; all other elements are 0.
  case sparse([[SparseElement]])
  case dense([[Double]])

  package struct SparseElement: Sendable, Equatable {
    package var index: Int
    package var value: Double
  }

  package var count: Int {
    switch self {
    case .sparse(let vectors): vectors.count
    case .dense(let vectors): vectors.count
    }
  }
}

/// The message `Kernel`.
package struct KernelMessage: SpecificationMessage {
  package var kernel: SupportVectorKernel?
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [
    .choice(
      \.kernel,
      [
        .empty("linearKernel", .linear),
        .flat(
          "rbfKernel", read: { .radialBasis(gamma: $0.double("gamma")) },
          { if case .radialBasis(let gamma) = $0 { gamma } else { nil } },
          write: { $1.set("gamma", $0) }),
        .flat(
          "polyKernel",
          read: {
            .polynomial(degree: try $0.int("degree"), c: $0.double("c"), gamma: $0.double("gamma"))
          },
          {
            if case .polynomial(let degree, let c, let gamma) = $0 {
              (degree, c, gamma)
            } else {
              nil
            }
          },
          write: {
            try $1.set("degree", $0.0)
            $1.set("c", $0.1)
            $1.set("gamma", $0.2)
          }),
        .flat(
          "sigmoidKernel",
          read: { .sigmoid(gamma: $0.double("gamma"), c: $0.double("c")) },
          { if case .sigmoid(let gamma, let c) = $0 { (gamma, c) } else { nil } },
          write: {
            $1.set("gamma", $0.0)
            $1.set("c", $0.1)
          }),
      ])
  ]

  func check(_ faults: inout ValidationIssues) {
    switch kernel {
    case nil: faults.require(false, "kernel", "the kernel is missing")
    case .linear?: break
    case .radialBasis(let gamma)?, .sigmoid(let gamma, _)?:
      faults.require(gamma >= 0, "kernel.gamma", "\(gamma) is negative")
    case .polynomial(let degree, _, let gamma)?:
      faults.require(gamma >= 0, "kernel.gamma", "\(gamma) is negative")
      faults.require(degree >= 0, "kernel.degree", "\(degree) is negative")
    }
  }
}

extension Field {
  static func supportVectors(_ path: WritableKeyPath<Message, SupportVectors?>) -> Self {
    .choice(
      path,
      [
        .flat(
          "sparseSupportVectors",
          read: {
            .sparse(
              try $0.nestedArray("vectors").map { vector in
                try vector.nestedArray("nodes").map {
                  .init(index: try $0.int("index"), value: $0.double("value"))
                }
              })
          },
          { if case .sparse(let vectors) = $0 { vectors } else { nil } },
          write: { vectors, writer in
            try writer.nestedArray("vectors", count: vectors.count) { index, vector in
              let elements = vectors[index]
              try vector.nestedArray("nodes", count: elements.count) {
                try $1.set("index", elements[$0].index)
                $1.set("value", elements[$0].value)
              }
            }
          }),
        .flat(
          "denseSupportVectors", read: { .dense(try $0.rows("vectors", of: "values")) },
          { if case .dense(let vectors) = $0 { vectors } else { nil } },
          write: { try $1.set("vectors", rows: $0, of: "values") }),
      ])
  }
}

extension SupportVectors {
  func check(_ faults: inout ValidationIssues) {
    switch self {
    case .dense(let vectors):
      if !vectors.isEmpty { faults.requireEqualRows(vectors, "denseSupportVectors") }
    case .sparse(let vectors):
      faults.require(
        vectors.allSatisfy { $0.allSatisfy { $0.index >= 1 } }, "sparseSupportVectors",
        "an index is less than 1")
    }
  }
}
