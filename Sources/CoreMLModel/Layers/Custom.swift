import TensorCore

/// A layer that Core ML lacks: the class that implements it, its parameters and weights.
package struct Custom: LayerParameters {
  package typealias Value = CustomLayerParameter

  package static let specificationVersion = 2
  package static let inputCount = 1...Int.max
  package static let outputCount = 1...Int.max

  package var className = ""
  package var blobs: [Weights] = []
  /// A value may be unset. Written in ascending order of the keys.
  package var parameters: [String: Value?] = [:]
  package var classDescription = ""

  package init() {}

  package static let fields: Fields = [
    .string("className", \.className), .messages("weights", \.blobs),
    Field(
      ["parameters"],
      read: { layer, reader in
        for entry in try reader.entries("parameters") {
          let name = try entry.string("key")
          let value = try entry.nested("value")
          layer.parameters[name] = try .some(
            value.flatMap { value in
              try values.first { value.isChosen($0.name) }?.read(value)
            })
        }
      },
      write: { layer, writer in
        let entries = layer.parameters.inKeyOrder
        try writer.nestedArray("parameters", count: entries.count) { index, entry in
          try entry.set("key", entries[index].key)
          let value = try entry.nested("value")
          if let content = entries[index].value {
            for option in values where try option.write(content, value) { break }
          }
          try value.finish()
        }
      }),
    .string("description", \.classDescription),
  ]

  private static let values: [Choice<Value>] = [
    .plain(
      "doubleValue", { .double($0.double("doubleValue")) },
      { if case .double(let value) = $0 { value } else { nil } },
      { $0.set("doubleValue", $1 as Double) }),
    .plain(
      "stringValue", { .string(try $0.string("stringValue")) },
      { if case .string(let value) = $0 { value } else { nil } },
      { try $0.set("stringValue", $1) }),
    .plain(
      "intValue", { .int(Int32(truncatingIfNeeded: try $0.int("intValue"))) },
      { if case .int(let value) = $0 { value } else { nil } },
      { try $0.set("intValue", Int($1)) }),
    .plain(
      "longValue", { .long(Int64(try $0.int("longValue"))) },
      { if case .long(let value) = $0 { value } else { nil } },
      { try $0.set("longValue", Int($1)) }),
    .plain(
      "boolValue", { .bool(try $0.int("boolValue") != 0) },
      { if case .bool(let value) = $0 { value } else { nil } },
      { try $0.set("boolValue", $1 ? 1 : 0) }),
  ]

  /// Always throws: only the layer's implementation knows the shapes.
  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    throw ModelError(
      .unsupported, "the output shapes of class '\(className)' are known only to its implementation"
    )
  }

  /// The shapes are those in the file.
  package var weights: [NamedWeights] {
    blobs.enumerated().map { NamedWeights("weights[\($0)]", [$1.storedCount], $1) }
  }

  package func check(_ faults: inout ValidationIssues) {
    faults.require(
      !className.isEmpty, "className", "empty", hint: "name the class that implements the layer")
  }
}
