import ByteFormats
import TensorCore

/// A model as described by its configuration: layers, their calls, and the inputs and outputs. A
/// Sequential model is expanded to a chain of calls.
struct ModelDefinition: Sendable {
  /// One output of one call of a layer.
  struct Reference: Sendable, Hashable {
    var layer: Int
    var call: Int
    var tensor: Int
  }

  /// One call of a layer.
  struct Call: Sendable, Equatable {
    /// The tensors among the arguments, in order.
    var inputs: [Reference] = []
    var arguments = CallArguments()

    init() {}

    /// A call whose only arguments are tensors.
    init(_ inputs: [Reference]) {
      self.inputs = inputs
      arguments.positional = [.list(inputs.indices.map { .tensor($0) })]
    }
  }

  final class Layer: Sendable {
    let name: String
    let className: String
    let fields: JSONObject
    let calls: [Call]
    /// The nested model, if the layer is a model or applies one to each step of a sequence.
    let nested: ModelDefinition?
    /// Whether this is an operation of Keras 3 rather than a layer; some operations and layers
    /// share a name.
    let isOperation: Bool
    /// Whether the file states that the class is not Keras's.
    let isForeign: Bool
    /// Whether the file states that the class is Keras's.
    let isOfKeras: Bool
    /// The class of the layer inside a TimeDistributed that the converter has added.
    let innerClass: String?
    /// Whether its outputs have the mask of its inputs, whatever it is.
    let keepsMask: Bool

    init(
      name: String, className: String, fields: JSONObject, calls: [Call],
      nested: ModelDefinition? = nil, isOperation: Bool = false, isForeign: Bool = false,
      isOfKeras: Bool = false, innerClass: String? = nil, keepsMask: Bool = false
    ) {
      self.keepsMask = keepsMask
      self.innerClass = innerClass
      self.name = name
      // An activation whose function is stored as code is what a Lambda is.
      let lambda = className == "Activation" ? Self.lambda(fields) : nil
      self.className = lambda == nil ? className : "Lambda"
      self.fields = lambda ?? fields
      self.calls = calls
      self.nested = nested
      self.isOperation = isOperation
      self.isForeign = isForeign
      self.isOfKeras = isOfKeras
    }

    /// The fields of a Lambda with the function in a field; nil unless its code is in the file.
    static func lambda(_ fields: JSONObject, _ field: String = "activation") -> JSONObject? {
      guard let function = fields[field]?["value"], StoredFunction(function) != nil else {
        return nil
      }
      var result = JSONObject()
      for (name, value) in fields.members {
        result[name == field ? "function" : name] = name == field ? function : value
      }
      return result
    }

    var isInput: Bool { className == "InputLayer" }

    /// The operation of Keras 3 or of tf.keras that is called like a layer.
    var operation: String? {
      if ["TFOpLambda", "SlicingOpLambda"].contains(className) {
        return fields["function"]?.string
      }
      return isOperation ? className : nil
    }

    /// The declared shape, including the batch; nil if the layer declares none.
    var declaredShape: [Int?]? {
      for name in ["batch_input_shape", "batch_shape"] {
        if let shape = Self.shape(fields[name]) { return shape }
      }
      if let shape = Self.shape(fields["input_shape"]) { return [nil] + shape }
      if let size = fields["input_dim"]?.int {
        if let length = fields["input_length"], !length.isNull { return nil }
        return [nil, size]
      }
      return nil
    }

    static func shape(_ json: JSONValue?) -> [Int?]? {
      guard let elements = json?.array ?? json?["items"]?.array else { return nil }
      guard (1...Limits.rank).contains(elements.count) else { return nil }
      var shape: [Int?] = []
      for element in elements {
        if element.isNull {
          shape.append(nil)
        } else {
          guard let size = element.int, size > 0, size <= Limits.dimension else { return nil }
          shape.append(size)
        }
      }
      return shape
    }
  }

  var name: String
  var layers: [Layer] = []
  var inputs: [Reference] = []
  var outputs: [Reference] = []
  /// The keys if inputs or outputs are dictionaries, in file order.
  var inputKeys: [String] = []
  var outputKeys: [String] = []
  /// Whether only its own code says what it computes: it has one layer beside its inputs, itself.
  var isSubclassed = false

  static let modelClasses: Set<String> = [
    "Model", "Functional", "Sequential", "Container", "Network",
  ]
  static let stepwiseClass = "TimeDistributed"
}

extension ModelDefinition {
  static func needsCode(_ className: String) -> ModelError {
    ModelError(
      .unsupported, "the model's class '\(className)' can be rebuilt only by its own code",
      hint:
        "pass its source: \(setting: "layerSource") FILE.py; or save the model as a Sequential or "
        + "functional model")
  }
}

extension ModelDefinition {
  /// The shape of the only input.
  var inputShape: [Int?]? {
    guard inputs.count == 1 else { return nil }
    let input = layers[inputs[0].layer]
    return input.declaredShape ?? input.nested?.inputShape
  }
}
