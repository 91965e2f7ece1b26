import ByteFormats
import Files
import TensorCore

/// Rules that turn layers that Core ML lacks into custom layers.
public struct CustomLayerRules: Sendable {
  /// The first matching rule wins.
  package var rules: [CustomLayerRule] = []
  /// Whether an unknown layer without a rule becomes a custom layer named after its class.
  public var allowsAll = false

  /// Creates an empty list: an unknown layer is an error.
  public init() {}

  /// Turns every unknown layer into a custom layer named after its class, with its configuration
  /// and weights.
  public static var allow: CustomLayerRules {
    var rules = CustomLayerRules()
    rules.allowsAll = true
    return rules
  }

  /// Reads rules from a JSON file; paths of weight files are relative to its folder.
  public init(contentsOf path: String) throws {
    self = try inFile(path) {
      let bytes = try MappedFile.read(path, limit: Limits.jsonBytes).array(of: UInt8.self)
      let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
      return try CustomLayerRules(JSONValue(parsing: bytes), folder: folder)
    }
  }

  package init(_ json: JSONValue, folder: String) throws {
    let elements = try json.array.orThrow(
      ModelError(
        .malformed, "custom layer rules must be a JSON array",
        hint: #"for instance [{"class": "Lambda", "function": "swish", "className": "Swish"}]"#))
    for (index, element) in elements.enumerated() {
      do {
        rules.append(try CustomLayerRule(element, folder: folder))
      } catch var error as ModelError {
        error.message = "rule \(index + 1): \(error.message)"
        throw error
      }
    }
  }

  /// The first rule that matches a layer.
  package func rule(for subject: CustomLayerSubject) -> CustomLayerRule? {
    rules.first { $0.matches(subject) }
  }
}

/// The subject of a rule: a layer, or an activation function inside one.
package struct CustomLayerSubject: Sendable {
  package var layer: String
  package var layerClass: String
  /// The Python function of a Lambda.
  package var function: String?
  /// The name of the activation function, if the subject is one.
  package var activation: String?

  package init(
    layer: String, layerClass: String, function: String? = nil, activation: String? = nil
  ) {
    self.layer = layer
    self.layerClass = layerClass
    self.function = function
    self.activation = activation
  }

  /// A rule for this subject, to paste into a rules file.
  package var suggestedRule: String {
    if let activation {
      return #"[{"activation": \#(JSONValue.string(activation).text), "className": "YourClass"}]"#
    }
    // Layers distinguish functions without a name.
    let function =
      function.map { name in
        name == "<lambda>"
          ? #""name": \#(JSONValue.string(layer).text), "#
          : #""function": \#(JSONValue.string(name).text), "#
      } ?? ""
    return
      #"[{"class": \#(JSONValue.string(layerClass).text), \#(function)"className": "YourClass"}]"#
  }
}
