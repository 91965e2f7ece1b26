import CoreMLModel

/// The border that is added around a tensor before windows move over it.
public enum Padding: Sendable, Equatable {
  /// Enough padding for ⌈in / stride⌉ rows and columns in the result; an odd row or column is at
  /// the bottom or right, as in Keras and TensorFlow.
  case same
  /// No padding: ⌊(in − kernel) / stride⌋ + 1 rows and columns.
  case valid
  /// The given numbers of rows and columns.
  case explicit(top: Int, bottom: Int, left: Int, right: Int)

  /// The same number of rows above and below, and of columns left and right.
  public static func explicit(vertical: Int, horizontal: Int) -> Padding {
    .explicit(top: vertical, bottom: vertical, left: horizontal, right: horizontal)
  }

  /// The document's amounts; nil for `same`.
  var valid: ValidPadding? {
    var valid = ValidPadding()
    switch self {
    case .same: return nil
    case .valid: break
    case .explicit(let top, let bottom, let left, let right):
      valid.paddingAmounts = BorderAmounts(top: top, bottom: bottom, left: left, right: right)
    }
    return valid
  }
}
