import CoreMLModel
import TensorCore

/// A value of the program being written.
struct Variable: Equatable {
  var name: String
  var type: MILDataType
  var shape: [Int]

  var rank: Int { shape.count }
}

/// The value of an operation's argument.
enum Argument {
  case variable(Variable)
  case variables([Variable])
  case int(Int)
  case ints([Int])
  /// A number of the operation's compute type.
  case number(Float)
  case flag(Bool)
  case flags([Bool])
  case text(String)
}

extension MILValueType {
  init(_ variable: Variable) { self.init(variable.type, variable.shape) }
}
