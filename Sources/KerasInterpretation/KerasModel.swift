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
    let calls: [[Reference]]
    /// The nested model: the layer itself, or the model that TimeDistributed applies to each step.
    let nested: KerasModel?
    /// The names of call arguments other than input tensors that are neither None nor False.
    let arguments: Set<String>
    /// The `training` argument of each call; nil if it is absent.
    let training: [Bool?]
    /// Whether the layer is a function of keras.ops, which has no weights and no layer class.
    var isOperation: Bool { className.hasPrefix(Self.operation) }

    /// Whether the layer applies a model to each step.
    var isStepwise: Bool { nested != nil && className == "TimeDistributed" }

    static let operation = "operation "

    init(
      name: String, className: String, fields: JSONValue, calls: [[Reference]],
      nested: KerasModel?, arguments: Set<String> = [], training: [Bool?] = []
    ) {
      self.name = name
      self.className = className
      self.fields = fields
      self.calls = calls
      self.nested = nested
      self.arguments = arguments
      self.training = training
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
    func add(_ json: JSONValue, _ calls: [[Reference]]) throws {
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
            calls: [[Reference(layer: layers.count - 1, call: 0, tensor: 0)]], nested: nested))
        merged.append(Reference(layer: layers.count - 1, call: 0, tensor: 0))
      }
      layers.append(
        Layer(
          name: first["config"]?["name"]?.string ?? "merge_1", className: "Merge",
          fields: first["config"] ?? .null, calls: [merged], nested: nil))
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
      try add(json, isInput ? [] : [[Reference(layer: layers.count - 1, call: 0, tensor: 0)]])
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
        let call = parts[1].int, let tensor = parts[2].int
      else { return nil }
      guard let layer = positions[name], call >= 0, tensor >= 0 else {
        throw ModelError(.malformed, "it refers to a layer '\(name)', which does not exist")
      }
      return Reference(layer: layer, call: call, tensor: tensor)
    }
    func references(_ json: JSONValue, _ depth: Int = 0) throws -> [Reference] {
      guard depth < 64 else { throw ModelError(.limitExceeded, "references nested too deep") }
      if let single = try reference(json) {
        // Attention receives its value and key by name.
        let named = try ["value", "key"].compactMap { name in
          try json.array?.dropFirst(3).first?[name].flatMap(reference)
        }
        return [single] + named
      }
      if let history = json["config"]?["keras_history"] {
        return try references(history, depth + 1)
      }
      if let list = json.array { return try list.flatMap { try references($0, depth + 1) } }
      if let object = json.object {
        // `tf.nest` and `keras.tree` sort the keys of a dictionary.
        return try object.members.sorted { $0.name < $1.name }
          .flatMap { try references($0.value, depth + 1) }
      }
      return []
    }
    var calls = try elements.map { element in
      try (element["inbound_nodes"]?.array ?? []).map { try references($0) }
    }
    var inputs = try references(config["input_layers"] ?? .null)
    var outputs = try references(config["output_layers"] ?? .null)
    // Some versions count the construction of a nested model as its first call.
    var highest = [Int](repeating: 0, count: elements.count)
    for reference in Array(calls.joined().joined()) + inputs + outputs {
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
    calls = try calls.map { try $0.map { try $0.map(adjusted) } }
    var layers: [Layer] = []
    for (index, element) in elements.enumerated() {
      let name = ClassIdentity.name(element)
      let className = (Self.isOperation(element, name) ? Layer.operation : "") + name
      layers.append(
        Layer(
          name: names[index], className: className, fields: element["config"] ?? .null,
          calls: calls[index],
          nested: try Self.nested(element, depth: depth),
          arguments: Self.arguments(element["inbound_nodes"] ?? .null),
          training: (element["inbound_nodes"]?.array ?? []).map(Self.training)))
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

  private static func training(_ node: JSONValue) -> Bool? {
    let arguments = [node["kwargs"]] + (node.array ?? [node]).map { $0.array?.dropFirst(3).first }
    let value = arguments.lazy.compactMap { $0?["training"] }.first
    return value?.bool ?? value?.int.map { $0 != 0 }
  }

  /// The keyword arguments of the calls: `kwargs` in Keras 3, after the tensor's index in earlier
  /// versions.
  private static func arguments(_ nodes: JSONValue) -> Set<String> {
    var names: Set<String> = []
    func add(_ arguments: JSONValue?) {
      for member in arguments?.object?.members ?? []
      where !member.value.isNull && member.value.bool != false { names.insert(member.name) }
    }
    for node in nodes.array ?? [] {
      add(node["kwargs"])
      for tensor in node.array ?? [] { add(tensor.array?.dropFirst(3).first) }
    }
    return names
  }
}
