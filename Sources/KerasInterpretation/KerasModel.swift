import ByteFormats
import TensorCore

/// A model read from its configuration: layers, their calls, inputs and outputs.
struct KerasModel: Sendable {
  /// One output of one call of a layer.
  struct Reference: Sendable, Hashable {
    var layer: Int
    var call: Int
    var tensor: Int
  }

  final class Layer: Sendable {
    let name: String
    let className: String
    let fields: JSONValue
    let calls: [KerasCall]
    /// The nested model: the layer itself, or the model that TimeDistributed applies to each step.
    let nested: KerasModel?
    /// Whether the layer is a function of keras.ops, which has no weights and no layer class.
    var isOperation: Bool { className.hasPrefix(Self.operation) }

    /// Whether the layer applies a model to each step.
    var isStepwise: Bool { nested != nil && className == "TimeDistributed" }

    static let operation = "operation "

    init(
      name: String, className: String, fields: JSONValue, calls: [KerasCall], nested: KerasModel?
    ) {
      self.name = name
      self.className = className
      self.fields = fields
      self.calls = calls
      self.nested = nested
    }

    var declaredShape: [Int?] {
      for field in ["batch_input_shape", "batch_shape"] {
        if let sizes = fields[field]?.array ?? fields[field]?["items"]?.array {
          return sizes.map(\.int)
        }
      }
      return nested?.inputs.first.map { nested?.layers[$0.layer].declaredShape ?? [] } ?? []
    }
  }

  let layers: [Layer]
  let inputs: [Reference]
  let outputs: [Reference]

  private static let classes: Set<String> = [
    "Model", "Functional", "Sequential", "Container", "Network",
  ]

  init(_ json: JSONValue, depth: Int) throws {
    guard depth < 32 else { throw ModelError(.limitExceeded, "models nested more than 32 deep") }
    let className = ClassIdentity.name(json)
    guard Self.classes.contains(className), let config = json["config"] else {
      throw ModelError(.unsupported, "the configuration is not a Sequential or functional model")
    }
    if className == "Sequential" {
      try self.init(sequence: config.array ?? config["layers"]?.array ?? [], depth: depth)
    } else {
      try self.init(functional: config, depth: depth)
    }
  }

  private static func nested(_ json: JSONValue, depth: Int) throws -> KerasModel? {
    let className = ClassIdentity.name(json)
    if classes.contains(className) { return try KerasModel(json, depth: depth + 1) }
    guard className == "TimeDistributed", let inner = json["config"]?["layer"],
      classes.contains(ClassIdentity.name(inner))
    else { return nil }
    return try KerasModel(inner, depth: depth + 1)
  }

  /// A chain of layers; the input shape of the first layer defines the input.
  private init(sequence: [JSONValue], depth: Int) throws {
    var layers: [Layer] = []
    func add(_ json: JSONValue, _ calls: [KerasCall]) throws {
      let nested = try Self.nested(json, depth: depth)
      let config = json["config"] ?? .null
      layers.append(
        Layer(
          name: config["name"]?.string ?? json["name"]?.string ?? "sequential_\(layers.count + 1)",
          className: ClassIdentity.name(json), fields: config, calls: calls, nested: nested))
    }
    var merged: [Reference] = []
    if let first = sequence.first, ClassIdentity.name(first) == "Merge",
      let branches = first["config"]?["layers"]?.array
    {
      // In Keras 1, the branches are models with one input each.
      for branch in branches {
        let nested = try KerasModel(branch, depth: depth + 1)
        guard nested.inputs.count == 1, let input = nested.inputs.first else {
          throw ModelError(.unsupported, "a Merge of models with several inputs")
        }
        let number = merged.count + 1
        let declared = nested.layers[input.layer]
        layers.append(
          Layer(
            name: "\(declared.name)_\(number)", className: "InputLayer", fields: declared.fields,
            calls: [], nested: nil))
        layers.append(
          Layer(
            name: branch["config"]?["name"]?.string ?? "sequential_\(number)",
            className: "Sequential", fields: .null,
            calls: [KerasCall([Reference(layer: layers.count - 1, call: 0, tensor: 0)])],
            nested: nested))
        merged.append(Reference(layer: layers.count - 1, call: 0, tensor: 0))
      }
      layers.append(
        Layer(
          name: first["config"]?["name"]?.string ?? "merge_1", className: "Merge",
          fields: first["config"] ?? .null, calls: [KerasCall(merged)], nested: nil))
    }
    for json in merged.isEmpty ? sequence[...] : sequence.dropFirst() {
      let isInput = ClassIdentity.name(json) == "InputLayer"
      if layers.isEmpty && !isInput {
        let config = json["config"] ?? .null
        let nested = try Self.nested(json, depth: depth)
        let shape =
          config["batch_input_shape"] ?? nested?.inputs.first.map { reference in
            .array(
              (nested?.layers[reference.layer].declaredShape ?? []).map {
                $0.map { .int($0) } ?? .null
              })
          } ?? .null
        var fields = JSONObject()
        fields["batch_input_shape"] = shape
        layers.append(
          Layer(
            name: (config["name"]?.string ?? "sequential") + "_input", className: "InputLayer",
            fields: .object(fields), calls: [], nested: nil))
      }
      try add(
        json, isInput ? [] : [KerasCall([Reference(layer: layers.count - 1, call: 0, tensor: 0)])])
    }
    guard !layers.isEmpty else { throw ModelError(.malformed, "the model has no layers") }
    self.layers = layers
    inputs =
      merged.isEmpty
      ? [Reference(layer: 0, call: 0, tensor: 0)]
      : merged.map { Reference(layer: $0.layer - 1, call: 0, tensor: 0) }
    outputs = [Reference(layer: layers.count - 1, call: 0, tensor: 0)]
  }

  private init(functional config: JSONValue, depth: Int) throws {
    let elements = config["layers"]?.array ?? []
    var positions: [String: Int] = [:]
    let names = elements.map { $0["name"]?.string ?? $0["config"]?["name"]?.string ?? "" }
    for (index, name) in names.enumerated() { positions[name] = index }
    func reference(_ json: JSONValue) throws -> Reference? {
      guard let parts = json.array, parts.count >= 3, let name = parts[0].string,
        let call = parts[1].int, let tensor = parts[2].int, name != "_CONSTANT_VALUE"
      else { return nil }
      guard let layer = positions[name], call >= 0, tensor >= 0 else {
        throw ModelError(.malformed, "it refers to a layer '\(name)', which does not exist")
      }
      return Reference(layer: layer, call: call, tensor: tensor)
    }
    var calls = try elements.map { element in
      try (element["inbound_nodes"]?.array ?? []).map { try KerasCall($0, reference) }
    }
    var inputs = try KerasCall(config["input_layers"] ?? .null, reference).inputs
    var outputs = try KerasCall(config["output_layers"] ?? .null, reference).inputs
    // Some versions count the construction of a nested model as its first call.
    var highest = [Int](repeating: 0, count: elements.count)
    for reference in calls.joined().flatMap(\.inputs) + inputs + outputs {
      highest[reference.layer] = max(highest[reference.layer], reference.call)
    }
    func adjusted(_ reference: Reference) throws -> Reference {
      var result = reference
      let extra = highest[result.layer] - max(0, calls[result.layer].count - 1)
      if extra == 1 { result.call = max(0, result.call - 1) }
      guard extra <= 1, result.call < max(1, calls[result.layer].count) else {
        throw ModelError(.malformed, "call \(reference.call) of it does not exist")
      }
      return result
    }
    inputs = try inputs.map(adjusted)
    outputs = try outputs.map(adjusted)
    for index in calls.indices {
      for call in calls[index].indices {
        calls[index][call].inputs = try calls[index][call].inputs.map(adjusted)
      }
    }
    var layers: [Layer] = []
    for (index, element) in elements.enumerated() {
      let name = ClassIdentity.name(element)
      let className = (Self.isOperation(element, name) ? Layer.operation : "") + name
      layers.append(
        Layer(
          name: names[index], className: className, fields: element["config"] ?? .null,
          calls: calls[index],
          nested: try Self.nested(element, depth: depth)))
    }
    self.layers = layers
    self.inputs = inputs
    self.outputs = outputs
  }

  /// Whether an element is a function of keras.ops. In HDF5 files, which have no modules, only its
  /// configuration distinguishes it from a layer of the same name: a layer has `trainable`.
  private static func isOperation(_ element: JSONValue, _ name: String) -> Bool {
    if let module = element["module"]?.string {
      return module.contains(".ops.") && !name.contains(">")
    }
    return sharedNames.contains(name) && element["config"]?["trainable"] == nil
      && element["inbound_nodes"]?.array?.first?["args"] != nil
  }

  /// Names that keras.ops and layers have in common.
  private static let sharedNames: Set<String> = [
    "Add", "Average", "BatchNorm", "Concatenate", "DepthToSpace", "Dot", "Maximum", "Minimum",
    "Multiply", "Normalize", "Reshape", "Softmax", "Subtract",
  ]
}
