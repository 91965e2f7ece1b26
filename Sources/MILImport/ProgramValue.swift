import CoreMLModel
import TensorCore

/// A value of a program during the conversion to layers.
package struct ProgramValue: Sendable {
  enum Content: Sendable {
    /// A blob of the network. A scalar is a blob of shape [1].
    case blob(String)
    case constant(MILElements)
    /// The name of a state.
    case state(String)
  }

  var type: MILDataType
  var shape: [Int]
  var content: Content
  /// Whether it is a list, whose elements are along the first axis.
  var isList: Bool { list != nil }
  /// The behavior of a list; nil for other values.
  var list: ListLength?

  enum ListLength: Sendable {
    case fixed
    /// Writing an element past the end extends the list.
    case growing
  }

  init(_ elements: MILElements) {
    type = elements.type
    shape = elements.shape
    content = .constant(elements)
  }

  init(blob: String, _ type: MILDataType, _ shape: [Int]) {
    self.type = type
    self.shape = shape
    content = .blob(blob)
  }

  init(state: String, _ type: MILDataType, _ shape: [Int]) {
    self.type = type
    self.shape = shape
    content = .state(state)
  }

  var rank: Int { shape.count }
  /// The shape of its blob.
  var blobShape: [Int] { shape.isEmpty ? [1] : shape }

  var constant: MILElements? { if case .constant(let elements) = content { elements } else { nil } }
  var blob: String? { if case .blob(let name) = content { name } else { nil } }

  func with(blob: String) -> ProgramValue {
    var value = self
    value.content = .blob(blob)
    return value
  }

  func with(type: MILDataType) -> ProgramValue {
    var value = self
    value.type = type
    return value
  }
}
