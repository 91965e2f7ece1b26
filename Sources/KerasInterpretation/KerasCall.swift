import ByteFormats
import TensorCore

/// One call of a layer: its tensors, and its arguments with the tensors' positions among them.
struct KerasCall: Sendable {
  indirect enum Argument: Sendable {
    case tensor(Int)
    case value(JSONValue)
    case list([Argument])

    /// The positions of the tensors; nil for None.
    var tensors: [Int?] {
      switch self {
      case .tensor(let position): [position]
      case .value: [nil]
      case .list(let items): items.flatMap(\.tensors)
      }
    }

    var constant: JSONValue? { if case .value(let value) = self { value } else { nil } }
  }

  var inputs: [KerasModel.Reference] = []
  private(set) var positional: [Argument] = []
  private(set) var keywords: [String: Argument] = [:]

  /// A call with one argument.
  init(_ inputs: [KerasModel.Reference]) {
    self.inputs = inputs
    positional = [.list(inputs.indices.map { .tensor($0) })]
  }

  /// A node of a configuration: `args` and `kwargs` in Keras 3, before it a structure of
  /// `[layer, call, tensor, kwargs]`.
  ///
  /// - Parameter reference: a tensor's layer, call and index; nil for anything else.
  init(_ node: JSONValue, _ reference: (JSONValue) throws -> KerasModel.Reference?) throws {
    var named: [(name: String, value: JSONValue)] = []
    if let arguments = node["args"]?.array {
      positional = try arguments.map { try argument($0, reference) }
      named = (node["kwargs"]?.object?.members ?? []).map { ($0.name, $0.value) }
    } else {
      positional = [try argument(node, reference, kwargs: { named.append(($0, $1)) })]
    }
    // Keras sorts a call's keywords in the file, but not those of the first arguments.
    let first = ["inputs", "sequences", "query", "value", "key"]
    func rank(_ name: String) -> Int { first.firstIndex(of: name) ?? first.count }
    for (name, value) in named.sorted(by: { (rank($0.name), $0.name) < (rank($1.name), $1.name) })
    where keywords[name] == nil { keywords[name] = try argument(value, reference) }
  }

  private mutating func argument(
    _ json: JSONValue, _ reference: (JSONValue) throws -> KerasModel.Reference?,
    kwargs: ((String, JSONValue) -> Void)? = nil, depth: Int = 0
  ) throws -> Argument {
    guard depth < 64 else { throw ModelError(.limitExceeded, "references nested too deep") }
    if let found = try reference(json["config"]?["keras_history"] ?? json) {
      for member in json.array?.dropFirst(3).first?.object?.members ?? [] {
        kwargs?(member.name, member.value)
      }
      inputs.append(found)
      return .tensor(inputs.count - 1)
    }
    if let list = json.array {
      return .list(try list.map { try argument($0, reference, kwargs: kwargs, depth: depth + 1) })
    }
    // `tf.nest` and `keras.tree` sort the keys of a dictionary.
    guard let object = json.object, json["class_name"] == nil else { return .value(json) }
    return .list(
      try object.members.sorted { $0.name < $1.name }
        .map { try argument($0.value, reference, kwargs: kwargs, depth: depth + 1) })
  }

  /// The names of the arguments that are neither None nor False.
  var names: Set<String> {
    Set(keywords.filter { $0.value.constant.map { !$0.isNull && $0.bool != false } ?? true }.keys)
  }

  func flag(_ name: String) -> Bool { keywords[name]?.constant?.bool ?? false }

  /// The `training` argument; nil if it is absent.
  var training: Bool? {
    let value = keywords["training"]?.constant
    return value?.bool ?? value?.int.map { $0 != 0 }
  }

  /// The arguments that are masks, which are not inputs.
  static let masks = ["mask", "attention_mask", "query_mask", "value_mask", "key_mask"]
}
