import TensorCore

/// The systems that a program can target: the specification version and the operation set.
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

  /// The name of the operation set.
  package var opset: String { "CoreML\(specificationVersion - 1)" }

  package static func < (a: Self, b: Self) -> Bool {
    a.specificationVersion < b.specificationVersion
  }
}
