import CoreMLModel
import ModelTransforms
import TensorCore

/// Changes of one custom layer.
package struct CustomLayerEdit: Sendable {
  package var selection: CustomLayerSelection
  package var className: String?
  package var classDescription: String?
  /// New values, in order; nil removes a parameter.
  package var parameters: [(name: String, value: ParameterText?)] = []
  /// New weights by index; the index after the last appends a weight.
  package var weights: [(index: Int, values: [Float])] = []

  package init(_ selection: CustomLayerSelection) { self.selection = selection }

  var changesNumbers: Bool { className != nil || !parameters.isEmpty || !weights.isEmpty }

  func apply(to model: Model) throws -> Model {
    try model.editingCustomLayer(selection) { layer in
      layer.className = className ?? layer.className
      layer.classDescription = classDescription ?? layer.classDescription
      for (name, text) in parameters {
        guard let text else {
          try require(
            layer.parameters.removeValue(forKey: name) != nil, .mismatch,
            "the layer has no such parameter", field: name)
          continue
        }
        layer.parameters[name] = .some(try text.value(like: layer.parameters[name] ?? nil, name))
      }
      for (index, values) in weights {
        try require(
          index <= layer.blobs.count, .mismatch, "the layer has \(layer.blobs.count) weights",
          field: "weights[\(index)]")
        if index == layer.blobs.count {
          layer.blobs.append(Weights(values))
        } else {
          let old = layer.blobs[index]
          try require(
            old.storedCount == values.count, .mismatch,
            "\(values.count) values, but the weight has \(old.storedCount)",
            field: "weights[\(index)]"
          )
          layer.blobs[index] = Weights(values)
          layer.blobs[index].isUpdatable = old.isUpdatable
        }
      }
    }
  }
}

/// A parameter's value as written on a command line: `2`, `1.5`, `true` or `text`, or with a type,
/// `long:2`.
package struct ParameterText: Sendable, Equatable {
  package enum Kind: String, Sendable, CaseIterable { case double, string, int, long, bool }

  package var kind: Kind?
  package var text: String

  package init(_ text: String) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    if parts.count == 2, let kind = Kind(rawValue: String(parts[0])) {
      self.kind = kind
      self.text = String(parts[1])
    } else {
      self.text = text
    }
  }

  /// The value in its written type, or that of `old`, or the one that the text looks like.
  func value(like old: Custom.Value?, _ name: String) throws -> Custom.Value {
    let kind = kind ?? old.flatMap { Kind(rawValue: $0.typeName) } ?? natural
    switch kind {
    case .double: if let value = Double(text) { return .double(value) }
    case .string: return .string(text)
    case .int: if let value = Int32(text) { return .int(value) }
    case .long: if let value = Int64(text) { return .long(value) }
    case .bool: if let value = Bool(text) { return .bool(value) }
    }
    throw ModelError(
      .mismatch, "'\(text)' is not of type \(kind.rawValue)", field: name,
      hint: "to change the type, write it before the value, as in string:\(text)")
  }

  private var natural: Kind {
    if Int32(text) != nil { return .int }
    if Int64(text) != nil { return .long }
    if Double(text) != nil { return .double }
    return Bool(text) != nil ? .bool : .string
  }
}
