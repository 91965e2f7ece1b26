import ByteFormats

/// The version of Keras that wrote a model, such as `1.2.2`, `2.2.4`, `2.2.4-tf` or `2.15.0`.
struct KerasVersion: Sendable {
  var text: String
  /// `tensorflow`, `theano`, `cntk`; nil if the file does not say.
  var backend: String?
  /// Whether the file states the version; otherwise, it is inferred from the configuration.
  let isKnown: Bool
  private let numbers: [Int]
  /// What reads the layers of a class; nil for an unknown class. Layers that contain others find their
  /// types here: `KerasLayerRegistry`, which lists all types, is above them.
  let layerType: @Sendable (_ className: String) -> (any KerasLayer.Type)?

  /// If the file does not state the version, assumes the first one that writes such configurations.
  init(
    text: String?, backend: String?, configuration: JSONValue? = nil,
    layerType: @escaping @Sendable (String) -> (any KerasLayer.Type)?
  ) {
    let said = Self.numbers(text ?? "")
    self.text = text ?? ""
    self.backend = backend
    self.layerType = layerType
    isKnown = !said.isEmpty
    let traits = isKnown ? nil : configuration.map { Self.traits($0, depth: 0) }
    numbers = traits.map(Self.numbers) ?? said
  }

  private static func numbers(_ text: String) -> [Int] {
    text.split { $0 == "." || $0 == "-" }.prefix(3).map { Int($0) ?? 0 }
  }

  private struct Traits: OptionSet {
    let rawValue: Int
    static let keras1 = Traits(rawValue: 1)
    static let keras2 = Traits(rawValue: 2)
    static let tensorFlow2 = Traits(rawValue: 4)
    static let keras3 = Traits(rawValue: 8)
    /// The format of `.keras` archives, introduced with tf.keras 2.12.
    static let archive = Traits(rawValue: 16)
    static let batchInputShape = Traits(rawValue: 32)
  }

  private static func numbers(_ traits: Traits) -> [Int] {
    if traits.contains(.keras3) { return [3, 0] }
    if traits.contains(.archive) { return traits.contains(.batchInputShape) ? [2, 12] : [3, 0] }
    if traits.contains(.tensorFlow2) { return [2, 4] }
    if traits.contains(.keras2) { return [2, 0] }
    return traits.contains(.keras1) ? [1, 2] : []
  }

  /// Traits of a model's layers, including nested models, that only some versions write.
  private static func traits(_ json: JSONValue, depth: Int) -> Traits {
    var traits: Traits = []
    if json["module"] != nil || json["registered_name"] != nil { traits.insert(.archive) }
    if json["class_name"]?.string == "Functional" { traits.insert(.tensorFlow2) }
    guard let config = json["config"] ?? (json["layers"] == nil ? nil : json), depth < 32 else {
      return traits
    }
    if config["batch_shape"] != nil { traits.insert(.keras3) }
    if config["batch_input_shape"] != nil { traits.insert(.batchInputShape) }
    if config["ragged"] != nil || config["groups"] != nil { traits.insert(.tensorFlow2) }
    for field in ["use_bias", "kernel_size", "pool_size", "rate", "filters", "units"]
    where config[field] != nil { traits.insert(.keras2) }
    for field in ["nb_filter", "output_dim", "border_mode", "dim_ordering", "subsample", "p"]
    where config[field] != nil { traits.insert(.keras1) }
    for layer in config["layers"]?.array ?? config.array ?? [] {
      if layer["inbound_nodes"]?.array?.first?["args"] != nil { traits.insert(.keras3) }
      traits.formUnion(Self.traits(layer, depth: depth + 1))
    }
    return traits
  }

  var isKeras1: Bool { numbers.first.map { $0 < 2 } ?? false }
  /// Whether this is tf.keras, or a later Keras that runs only on TensorFlow.
  var isTensorFlowKeras: Bool { text.hasSuffix("-tf") || isAtLeast(2, 4) }

  func isAtLeast(_ major: Int, _ minor: Int) -> Bool {
    guard let first = numbers.first else { return false }
    return first > major || first == major && (numbers.count > 1 ? numbers[1] : 0) >= minor
  }

  /// Whether this runs on TensorFlow 2, which resizes bilinearly with half-pixel centers.
  var isTensorFlow2: Bool { isTensorFlowKeras && isAtLeast(2, 3) || isAtLeast(2, 4) }

  /// Names that the first recurrent layer of a class has without a number.
  var numberedFromZero: [String] {
    isTensorFlowKeras && !isAtLeast(3, 0)
      ? ["lstm", "gru", "simple_rnn", "rnn", "bidirectional"] : []
  }

  /// Whether calls of a class remove the masks of their inputs for later calls.
  ///
  /// Source: keras/src/layers/attention/multi_head_attention.py, `set_keras_mask(query, None)`.
  func removesMasks(_ className: String) -> Bool {
    className == "MultiHeadAttention" && isAtLeast(3, 8)
  }

  /// Whether TimeDistributed passes masks to its layer.
  var masksSteps: Bool { isTensorFlowKeras || isAtLeast(2, 2) || !isKnown && !isKeras1 }

  var description: String {
    if isKnown { return "Keras \(text)" }
    return numbers.first.map { "Keras \($0)" } ?? "Keras"
  }
}
