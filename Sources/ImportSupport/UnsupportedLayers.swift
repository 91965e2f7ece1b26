import ByteFormats
import TensorCore

/// Combines the errors of several layers.
package enum UnsupportedLayers {
  /// The combined error; nil if there are no problems, and a single problem unchanged. A file that
  /// all problems share is named once.
  package static func error(_ problems: [ModelError], _ headline: String? = nil) -> ModelError? {
    guard problems.count > 1, let first = problems.first else { return problems.first }
    let file = problems.allSatisfy { $0.file == first.file } ? first.file : nil
    var hints: [String] = []
    var seen: Set<String> = []
    let lines = problems.map { problem -> String in
      if let hint = problem.hint, seen.insert(hint).inserted { hints.append(hint) }
      var item = problem
      if file != nil { item.file = nil }
      return "\n \(item.description)"
    }
    let isUnsupported = problems.contains { $0.code == .unsupported }
    return ModelError(
      isUnsupported ? .unsupported : first.code,
      (headline ?? "\(problems.count) layers cannot be converted") + ":" + lines.joined(),
      file: file, hint: hints.isEmpty ? nil : combined(hints))
  }

  /// A question to append to a message if a class name looks like a misspelling of a known name.
  package static func question(_ name: String, _ known: [String]) -> String {
    let own = Array(name.lowercased().utf8)
    let best = known.filter { $0.utf8.count > 4 && abs($0.utf8.count - own.count) <= 2 }
      .map { (name: $0, distance: NameDistance.edits(own, Array($0.lowercased().utf8))) }
      .min { ($0.distance, $0.name) < ($1.distance, $1.name) }
    guard let best, best.distance <= 2 else { return "" }
    return "; did you mean '\(best.name)'?"
  }

  /// The start of the hint for a class whose source could be passed.
  package static var sourceHint: String { "pass its source: \(setting: "layerSource") FILE.py" }

  /// The hint for a layer that a formula describes.
  package static let formulaHint = "convert the formula with \(setting: "lambda") auto"

  private static let formulasHint = "convert formulas with \(setting: "lambda") auto"

  /// The rule in a hint, without brackets.
  private static func ruleText(in hint: String) -> String? {
    guard let start = hint.firstIndex(of: "["), hint.hasSuffix("]"), hint.contains("className")
    else { return nil }
    return String(hint[hint.index(after: start)...].dropLast())
  }

  /// The text around a function's formula in a message.
  package static let formulaMark = (before: " computes ", after: "; Python code is never run")

  /// The formula in an error's message, if any.
  package static func formula(in error: ModelError) -> String? {
    guard error.message.hasSuffix(formulaMark.after),
      let start = error.message.firstRange(of: formulaMark.before)?.upperBound
    else { return nil }
    return String(error.message[start...].dropLast(formulaMark.after.count))
  }

  /// The rule in the hint of a layer's error, if any.
  package static func rule(in error: ModelError) -> JSONObject? {
    error.hint.flatMap(ruleText).flatMap { try? JSONValue(parsing: Array($0.utf8)).object }
  }

  /// Combines hints that contain rules into one that lists all rules.
  private static func combined(_ hints: [String]) -> String {
    var rules: [String] = []
    var others: [String] = []
    for hint in hints {
      if hint.hasPrefix(formulaHint), !others.contains(Self.formulasHint) {
        others.append(Self.formulasHint)
      }
      let sources = sourceHint.replacing("its", with: "their")
      if hint.hasPrefix(sourceHint), !others.contains(sources) { others.append(sources) }
      if let rule = ruleText(in: hint) { rules.append(rule) } else { others.append(hint) }
    }
    if !rules.isEmpty {
      others.append(
        "make them custom layers with rules: \(setting: "customLayers") FILE.json with ["
          + rules.joined(separator: ", ") + "]")
    }
    return others.joined(separator: "; ")
  }
}

extension ModelError {
  /// Attributes a layer's error to `cause`, the layer whose output shape was assumed.
  package func caused(by cause: (name: String, className: String)?) -> ModelError {
    guard let layer, let cause, layer != cause.name, code != .unsupported else { return self }
    var error = self
    error.message =
      "the shape of its output is assumed, and layer '\(layer)' (\(layerClass ?? "?")) cannot take it: "
      + (field.map { "\($0): " } ?? "") + message
    (error.layer, error.layerClass, error.field) = (cause.name, cause.className, nil)
    error.hint = "a class that \(setting: "plugin") FILE loads states the shape"
    return error
  }
}

/// The first names in a list, and the number of remaining ones.
package func firstNames(_ names: [String], of limit: Int = 8) -> String {
  names.prefix(limit).joined(separator: ", ")
    + (names.count > limit ? " and \(names.count - limit) more" : "")
}
