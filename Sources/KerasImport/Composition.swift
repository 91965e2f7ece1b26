import ByteFormats
import CoreMLModel
import ImportSupport
import TensorCore

// Layers that consist of other layers.

extension LayerCall {
  /// Converts a layer inside this one; its weights are those whose names start with its path.
  func part(
    _ className: String, _ inputs: [KerasTensor], _ path: String,
    _ fields: KeyValuePairs<String, JSONValue>, _ network: inout KerasWriter
  ) throws -> KerasTensor {
    let type = try version.layerType(className).orThrow(
      unsupported("layer class '\(className)' is not supported"))
    var object = JSONObject()
    for (name, value) in fields { object[name] = value }
    let layer = try type.configured(
      LayerConfiguration(
        name: "\(name)__\(path)__", className: self.className, kind: className, fields: object,
        version: version))
    let outputs = try layer.convert(
      with(name: "\(name)__\(path)__", inputs: inputs, weights: weights(under: path)), &network)
    guard let output = outputs.first else { throw error("a layer in it has no output") }
    return output
  }

  /// Converts a layer inside this one that needs no settings.
  func part(
    _ className: String, _ inputs: [KerasTensor], _ path: String, _ network: inout KerasWriter
  ) throws -> KerasTensor {
    try part(className, inputs, path, [:], &network)
  }

  /// The weights whose names start with a path.
  func weights(under path: String) -> [StoredWeight] {
    let named = weights.filter { $0.name.hasPrefix(path + "/") }
    let found = named.isEmpty ? weights.filter { $0.storedName.contains("\(path)/") } : named
    return found.map { weight in
      var weight = weight
      let name = named.isEmpty ? weight.storedName : weight.name
      let last = name.split(separator: "/").last ?? ""
      weight.name = String(last.split(separator: ":").first ?? "")
      return weight
    }
  }

  /// A product along the last axis with the weights `kernel` and `bias` under the path.
  func dense(
    _ input: KerasTensor, _ path: String, _ units: Int, hasBias: Bool = true,
    activation: JSONValue = .null, _ network: inout KerasWriter
  ) throws -> KerasTensor {
    try part(
      "Dense", [input], path,
      ["units": .int(units), "use_bias": .bool(hasBias), "activation": activation], &network)
  }

  /// Applies an operation inside this layer.
  func step(
    _ operation: String, _ inputs: [KerasTensor], _ path: String,
    _ fields: KeyValuePairs<String, JSONValue>, _ network: inout KerasWriter
  ) throws -> KerasTensor {
    let outputs = try OperationTable.convert(
      operation, with(name: "\(name)__\(path)__", inputs: inputs), fields, into: &network)
    guard let output = outputs.first else { throw error("an operation in it has no output") }
    return output
  }
}

extension WeightSlot {
  /// The weights of a layer inside another one, named `PATH/NAME`.
  static func inside(_ path: String, _ names: String?...) -> [WeightSlot] {
    names.compactMap { $0.map { WeightSlot("\(path)/\($0)") } }
  }

  /// `kernel` and `bias` for several matrices inside a layer.
  static func matrices(_ paths: String..., hasBias: Bool = true) -> [WeightSlot] {
    paths.flatMap { inside($0, "kernel", hasBias ? "bias" : nil) }
  }
}

extension KerasWriter {
  /// A constant `[steps, channels]` that is the same for every item of a batch.
  mutating func constantSequence(_ table: FloatValues, _ name: String) -> KerasTensor {
    let (steps, channels) = (table.shape[0], table.shape[1])
    let constant = LoadConstant(Weights(table.transposed([1, 0])), [channels, 1, steps])
    return KerasTensor(
      blob: add(name, constant, []), shape: [nil, steps, channels], layout: .steps)
  }

  /// Adds a constant `[steps, channels]` to a sequence.
  mutating func adding(
    _ table: FloatValues, to tensor: KerasTensor, _ name: String
  ) -> KerasTensor {
    let steps = relaid(tensor, to: .steps, for: name)
    let constant = constantSequence(table, name + "__table__")
    return settled(steps.with(sum([steps.blob, constant.blob], name)), for: name)
  }
}
