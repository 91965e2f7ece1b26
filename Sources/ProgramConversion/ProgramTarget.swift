import TensorCore

/// The systems for which a program is written: the version of the specification and the set of
/// operations.
package enum ProgramTarget: String, CaseIterable, Sendable, Comparable {
  case iOS15, iOS16, iOS17, iOS18

  package var specificationVersion: Int {
    switch self {
    case .iOS15: 6
    case .iOS16: 7
    case .iOS17: 8
    case .iOS18: 9
    }
  }

  /// The name of the set of operations.
  package var opset: String { "CoreML\(specificationVersion - 1)" }

  package static func < (a: Self, b: Self) -> Bool {
    a.specificationVersion < b.specificationVersion
  }
}
