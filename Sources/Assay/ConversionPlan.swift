import ByteFormats
import CustomLayers
import ImportSupport
import TensorCore

/// What each layer becomes in a conversion, including layers that cannot be converted.
public struct ConversionPlan: Sendable {
  /// The entries, in the order of the network.
  package let entries: [PlanEntry]
  /// The result of the conversion; nil if it fails, or if it needs missing weights.
  public let result: ConversionResult?
  /// The reason for the failure; nil if it succeeds.
  public let error: ModelError?

  /// Rules for the layers that cannot be converted, for `--custom-layers`. Each makes a custom
  /// layer of the built-in class of that name, or of a class yet to be written.
  package var rules: [JSONValue] {
    var seen: Set<String> = []
    return refusals.map { Self.rule(for: $0.entry, $0.refusal) }.filter {
      seen.insert($0.text).inserted
    }
  }

  /// Classes of layers, or functions, with the built-in classes that may implement them.
  package var similarClasses: [(name: String, classes: [String])] {
    var result: [(name: String, classes: [String])] = []
    let classes = builtInCustomLayers.map { $0.className }
    for (entry, refusal) in refusals {
      // Layers without a rule are left out, since others of their class convert.
      guard let rule = UnsupportedLayers.rule(in: refusal.error) else { continue }
      let name = Self.name(of: entry, rule)
      if result.contains(where: { $0.name == name }) { continue }
      let fitting = Self.fitting(name, refusal) ?? Self.called(name)
      let similar = fitting.map { [$0] } ?? NameDistance.nearest(to: name, among: classes)
      if !similar.isEmpty { result.append((name, similar)) }
    }
    return result
  }

  /// Remedies for single layers other than making them custom layers.
  package var remedies: [String] {
    refusals.compactMap { entry, refusal in
      guard let hint = refusal.error.hint, !hint.contains("\(setting: "customLayers")"),
        !hint.contains("\(setting: "lambda")")
      else { return nil }
      return "layer '\(entry.layer)': \(hint)"
    }
  }

  private static func name(of entry: PlanEntry, _ rule: JSONObject?) -> String {
    rule?["activation"]?.string ?? rule?["function"]?.string ?? entry.layerClass
  }

  /// The refusals that a custom layer remedies, and not an option or another file.
  private var refusals: [(entry: PlanEntry, refusal: LayerRefusal)] {
    entries.compactMap { entry in
      entry.refusal.flatMap { $0.isOpen || $0.error.code == .mismatch ? nil : (entry, $0) }
    }
  }

  /// The built-in class that computes the function's formula, or else the one with the same name,
  /// ignoring case and underscores.
  private static func fitting(_ name: String, _ refusal: LayerRefusal) -> String? {
    if let formula = UnsupportedLayers.formula(in: refusal.error) {
      // Factors of a product commute.
      func factors(_ expression: String) -> [String] {
        expression.split(separator: " * ").map(String.init).sorted()
      }
      return builtInCustomLayers.first {
        factors($0.notes.expression) == factors(formula)
      }?.className
    }
    return called(name)
  }

  private static func called(_ name: String) -> String? {
    func plain(_ name: String) -> String { name.lowercased().filter { $0 != "_" } }
    return builtInCustomLayers.first { type in
      ([type.className] + type.otherNames).contains { plain($0) == plain(name) }
    }?.className
  }

  private static func rule(for entry: PlanEntry, _ refusal: LayerRefusal) -> JSONValue {
    var rule = UnsupportedLayers.rule(in: refusal.error) ?? JSONObject()
    if rule.names.isEmpty {
      rule["class"] = .string(entry.layerClass)
      // Other layers of its class can be converted.
      rule["name"] = .string(entry.layer)
    }
    let named = name(of: entry, rule)
    rule["className"] = .string(fitting(named, refusal) ?? className(named))
    guard rule["activation"] == nil, rule["function"] == nil else { return .object(rule) }
    var parameters = JSONObject()
    addParameters(of: refusal.configuration, path: "$config", to: &parameters)
    if !parameters.names.isEmpty { rule["parameters"] = .object(parameters) }
    if !refusal.weights.isEmpty { rule["weights"] = .array(refusal.weights.map { .string($0) }) }
    return .object(rule)
  }

  /// The settings that a custom layer can have: numbers, strings and flags.
  private static func addParameters(
    of object: JSONObject, path: String, to parameters: inout JSONObject
  ) {
    for (name, value) in object.members where !name.contains(".") {
      switch value {
      case .object(let inner): addParameters(of: inner, path: "\(path).\(name)", to: &parameters)
      case .array, .null: break
      case .string, .int, .double, .bool:
        if parameters[name] == nil { parameters[name] = .string("\(path).\(name)") }
      }
    }
  }

  /// A class name for a layer's: `MyLayer` for `my_layer`.
  private static func className(_ name: String) -> String {
    let words = name.split { !$0.isLetter && !$0.isNumber }
    let text = words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    return text.first?.isLetter == true ? text : "Layer" + text
  }
}

extension ModelSource {
  /// Converts as far as possible; an architecture needs no weights.
  ///
  /// - Throws: if not even a plan can be made.
  public func plan(
    _ options: ConversionOptions, customLayers: CustomLayerRegistry = CustomLayerRegistry()
  ) throws -> ConversionPlan {
    var options = options
    options.missingWeights = .zeros
    do {
      let result = try convert(options, customLayers: customLayers)
      return ConversionPlan(entries: result.plan, result: result, error: nil)
    } catch let error as ModelError {
      options.onVisit = nil
      guard let entries = try? network?.plan(options), !entries.isEmpty else { throw error }
      // Weights that are not there have unknown sizes behind a custom layer of an unknown class; the
      // plan does without them.
      let isOfMissingWeights =
        !hasWeights && error.layer != nil && entries.allSatisfy { $0.refusal == nil }
        && entries.contains(where: \.isCustom)
      return ConversionPlan(entries: entries, result: nil, error: isOfMissingWeights ? nil : error)
    }
  }
}
