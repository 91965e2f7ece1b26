import ByteFormats

/// An argument of a call. Tensors are represented by their indices among the call's inputs.
indirect enum CallArgument: Sendable, Equatable {
  case tensor(Int)
  case value(JSONValue)
  case list([CallArgument])
  /// The members in the order of the file.
  case object([Member])

  struct Member: Sendable, Equatable {
    var name: String
    var value: CallArgument
  }

  /// The input indices of all tensors in the argument.
  var tensors: [Int] {
    switch self {
    case .tensor(let position): [position]
    case .value: []
    case .list(let elements): elements.flatMap(\.tensors)
    case .object(let members): members.sorted { $0.name < $1.name }.flatMap(\.value.tensors)
    }
  }

  /// The value, if it contains no tensors.
  var constant: JSONValue? {
    switch self {
    case .tensor: return nil
    case .value(let value): return value
    case .list(let elements):
      let constants = elements.compactMap(\.constant)
      return constants.count == elements.count ? .array(constants) : nil
    case .object(let members):
      var object = JSONObject()
      for member in members {
        guard let constant = member.value.constant else { return nil }
        object[member.name] = constant
      }
      return .object(object)
    }
  }
}

extension CallArgument {
  /// The argument after some inputs, which it does not have, are removed.
  fileprivate func without(_ positions: Set<Int>) -> CallArgument {
    switch self {
    case .tensor(let position): .tensor(position - positions.count { $0 < position })
    case .value: self
    case .list(let elements): .list(elements.map { $0.without(positions) })
    case .object(let members):
      .object(members.map { Member(name: $0.name, value: $0.value.without(positions)) })
    }
  }
}

/// The arguments of a call besides the tensors themselves.
struct CallArguments: Sendable, Equatable {
  var positional: [CallArgument] = []
  var keywords: [String: CallArgument] = [:]
  /// Whether the layer runs in training mode, according to its own `training` argument or that of
  /// the model that calls it.
  var isTraining = false

  /// Renumbers the tensors after some inputs are removed.
  mutating func remove(_ positions: Set<Int>) {
    positional = positional.map { $0.without(positions) }
    keywords = keywords.mapValues { $0.without(positions) }
  }
}
