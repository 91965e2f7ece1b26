import TensorCore

/// A weight field with values that are NaN or infinite. Frameworks accept such values.
package struct NonFiniteWeights: Sendable, Equatable {
  /// The layer's name, preceded by the model's name in a pipeline.
  package let layer: String
  package let layerClass: String
  package let field: String
  package let count: Int
  /// The number of values in the field.
  package let total: Int
}

extension Model {
  /// The fields with such values, in file order, except in networks inside loops and branches. For
  /// compressed weights, scales, biases and tables are checked.
  package var nonFiniteWeights: [NonFiniteWeights] {
    networks.flatMap { prefix, model in
      (model.neuralNetwork?.layers ?? []).flatMap { layer in
        (layer.parameters?.weights ?? []).flatMap { weight in
          weight.values.nonFiniteParts.map {
            NonFiniteWeights(
              layer: prefix + layer.name, layerClass: layer.parameters?.typeName ?? "",
              field: ([weight.name] + $0.path).joined(separator: "."), count: $0.count,
              total: $0.total)
          }
        }
      }
    }
  }

  /// A note with the first field and the number of others; nil if all values are finite.
  package func nonFiniteNote(file: String) -> String? {
    let found = nonFiniteWeights
    guard let first = found.first else { return nil }
    var text =
      "\(first.count) of \(first.total) values \(first.count == 1 ? "is" : "are") NaN or infinite"
    let others = found.dropFirst()
    if !others.isEmpty {
      let fields = others.count == 1 ? "another field" : "\(others.count) other fields"
      text += ", and \(others.reduce(0) { $0 + $1.count }) in \(fields)"
    }
    return ModelError(
      .malformed, text, file: file, layer: first.layer, layerClass: first.layerClass,
      field: first.field
    ).description
  }
}

extension Weights {
  fileprivate typealias Part = (path: [String], count: Int, total: Int)

  /// The paths of the fields with such values, and their counts.
  fileprivate var nonFiniteParts: [Part] {
    func part(_ name: String, _ values: [Float]) -> Part {
      (["quantization", name], values.count { !$0.isFinite }, values.count)
    }
    let halves = float16Value.withUnsafeBytes { NotFinite.count(halves: $0) }
    var parts: [Part] = [
      ([], floatValue.countNotFinite, floatValue.count), ([], halves, float16Value.count / 2),
    ]
    switch quantization?.kind {
    case .linear(let scale, let bias):
      parts += [part("linearQuantization.scale", scale), part("linearQuantization.bias", bias)]
    case .lookupTable(let table): parts.append(part("lookupTableQuantization", table))
    case nil: break
    }
    return parts.filter { $0.count > 0 }
  }
}
