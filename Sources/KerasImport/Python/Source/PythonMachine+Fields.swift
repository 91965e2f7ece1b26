import ByteFormats
import Formulas
import TensorCore

extension PythonMachine {
  /// A value in the form that configurations use.
  func json(_ symbol: PythonSymbol) throws -> JSONValue {
    switch symbol {
    case .none: return .null
    case .bool(let value): return .bool(value)
    case .int(let value): return .int(value)
    case .double(let value): return .double(value)
    case .string(let value): return .string(value)
    case .tuple, .list, .sizes: return .array(try (symbol.elements ?? []).map { try json($0) })
    case .dictionary(let members):
      var object = JSONObject()
      for (key, value) in members.members { object[key] = try json(value) }
      return .object(object)
    case .library(let path):
      if Self.isTraining(path) { return .null }
      let last = path.split(separator: ".").last.map(String.init) ?? path
      if Self.isActivation(path, last) { return .string(last) }
    case .object(let object):
      guard object.type == nil, let className = object.layerClass, !object.isModel,
        object["activation"] == nil, className != "Lambda"
      else { break }
      var stored = JSONObject()
      stored["class_name"] = .string(className)
      stored["config"] = .object(object.fields)
      return .object(stored)
    default: break
    }
    throw Self.unsupported("a layer in it gets \(PythonText.text(symbol)) as an argument")
  }

  /// Whether a function is Keras's activation of the same name.
  private static func isActivation(_ path: String, _ name: String) -> Bool {
    path.hasPrefix("keras.activations.") || ["tf.tanh", "tf.sigmoid"].contains(path)
      || ["tf.nn." + name, "keras.backend." + name].contains(path)
        && KerasActivation(name, version: KerasVersion(text: "2.4.0", backend: nil)) != nil
  }

  /// Whether only training uses the function.
  static func isTraining(_ path: String) -> Bool {
    ["keras.initializers.", "keras.regularizers.", "keras.constraints.", "tf.initializers."]
      .contains { path.hasPrefix($0) } || path.hasSuffix("_initializer")
  }

  /// What a layer of Keras has by a name: a setting or a weight; nil for others.
  func setting(_ name: String, of object: PythonObject) throws -> PythonSymbol? {
    guard let className = object.layerClass else { return nil }
    let field = object.fields[name]
    if name == "activation", field != nil || Self.isWeighted(className) {
      return try sourced("keras.activations.get", [PythonSymbol(field ?? .null)], [])
    }
    if let stored = layers?.stored?.layers[object.number]?.first(where: { $0.name == name }) {
      return .array(FormulaArray(stored.shape, try stored.values().array().map { Double($0) }))
    }
    let places = className.first(where: \.isNumber)?.wholeNumberValue ?? 0
    func sizes(_ name: String) -> [Int?] {
      let field = object.fields[name]
      return field?.array?.map(\.int) ?? Array(repeating: field?.int ?? 1, count: places)
    }
    if ["kernel_size", "strides", "dilation_rate", "pool_size"].contains(name), places > 0 {
      return .tuple(sizes(name).map { $0.map { .int($0) } ?? .none })
    }
    if let field { return try PythonSymbol(field) }
    guard layers?.stored == nil else { return nil }
    // Weights are ones while they are being counted.
    let size = object.inputShape?.last ?? nil
    let (units, groups) = (
      object.fields["units"]?.int ?? object.fields["filters"]?.int,
      object.fields["groups"]?.int ?? 1
    )
    var shape: [Int?]
    switch name {
    case "embeddings": shape = [object.fields["input_dim"]?.int, object.fields["output_dim"]?.int]
    case "kernel" where className == "Dense": shape = [size, units]
    case "kernel" where Self.isWeighted(className):
      shape = sizes("kernel_size") + [size.map { $0 / max(1, groups) }, units]
    case "depthwise_kernel":
      shape = sizes("kernel_size") + [size, object.fields["depth_multiplier"]?.int ?? 1]
    case "bias": shape = [units ?? size]
    case "gamma", "beta", "moving_mean", "moving_variance": shape = [size]
    default: return nil
    }
    let known = shape.compactMap { $0 }
    guard known.count == shape.count, known.allSatisfy({ $0 > 0 }) else { return nil }
    let count = try checkedProduct(known, limit: arrayLimit)
    return .array(FormulaArray(known, [Double](repeating: 1, count: count)))
  }

  /// Whether a source gives a layer of Keras a setting that it has already.
  ///
  /// - Throws: if it is another one: the layer is converted from the settings that it was made with.
  func isSetting(_ name: String, of object: PythonObject, _ value: PythonSymbol) throws -> Bool {
    guard let className = object.layerClass, className != "Sequential", Self.settings.contains(name)
    else { return false }
    let new = try? json(value)
    let isSame =
      try new != nil && (new == object.fields[name] ?? .null)
      || (object.fields[name] != nil || Self.isWeighted(className)) && new != nil
        && setting(name, of: object).flatMap { try? json($0) } == new
    guard isSame else {
      throw Self.unsupported("it changes '\(name)' of a layer \(className) that is already made")
    }
    return true
  }

  /// Settings that decide what layers of Keras compute.
  private static let settings: Set<String> = [
    "activation", "recurrent_activation", "units", "filters", "kernel_size", "strides", "padding",
    "dilation_rate", "data_format", "groups", "use_bias", "depth_multiplier", "epsilon", "axis",
    "center", "scale", "pool_size", "size", "interpolation", "alpha", "negative_slope", "max_value",
    "threshold", "theta", "go_backwards", "return_sequences", "return_state", "time_major",
    "reset_after", "num_heads", "key_dim", "value_dim", "num_groups", "input_dim", "output_dim",
    "mask_zero", "mask_value", "target_shape", "cropping", "n", "axes", "dims", "normalize",
    "merge_mode", "layer", "cell", "function", "use_scale", "score_mode", "factor", "order",
  ]

  /// Weights of layers of Keras.
  private static let weightNames = [
    "kernel", "bias", "gamma", "beta", "moving_mean", "moving_variance", "embeddings",
    "depthwise_kernel", "pointwise_kernel", "recurrent_kernel",
  ]

  /// Dense layers and plain convolutions.
  private static func isWeighted(_ className: String) -> Bool {
    ["Dense", "Conv1D", "Conv2D", "Conv3D"].contains(className)
  }

  /// The output of a Keras layer whose `convolution_op` the source overrides; nil if it overrides no
  /// method or property that the layer uses.
  ///
  /// - Throws: if it overrides another one.
  func overridden(
    _ object: PythonObject, _ positional: [PythonSymbol]
  ) throws -> PythonSymbol? {
    guard let type = object.type, let className = object.layerClass else { return nil }
    if let member = try type.member("convolution_op", self), Self.isWeighted(className) {
      guard object.fields["padding"]?.string != "causal", object.fields["groups"]?.int ?? 1 == 1
      else { throw Self.unsupported("its convolution_op is causal or has groups") }
      var result = try call(
        member.value, [.object(object), positional[0], attribute("kernel", of: object)], [])
      if object.fields["use_bias"]?.bool != false {
        result = try binary(.add, result, attribute("bias", of: object))
      }
      return try call(attribute("activation", of: object), [result], [])
    }
    if let name = try (Self.weightNames + Self.settings.sorted()).first(where: {
      try type.member($0, self) != nil
    }) {
      throw Self.unsupported("its class defines '\(name)', which \(className) reads")
    }
    if let name = try Self.hooks.first(where: { try type.member($0, self) != nil }) {
      throw Self.unsupported("it has its own '\(name)', which \(className) calls")
    }
    return nil
  }

  /// Methods that layers of Keras call.
  private static let hooks = [
    "convolution_op", "_convolution_op", "_jit_compiled_convolution_op", "pooling_function",
    "_pooling_function", "_merge_function", "_compute_attention", "_compute_attention_mask",
    "_compute_causal_mask", "_masked_softmax", "_calculate_scores", "_calculate_score_mask",
    "_apply_scores", "_moments", "_calculate_mean_and_var", "step", "inner_loop",
  ]
}
