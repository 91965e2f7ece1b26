/// A section of a `.cfg` with its options in order.
package struct ConfigurationSection: Sendable {
  package struct Option: Sendable {
    package let key: String
    package let value: String
    package let line: Int
  }

  /// The text in the brackets.
  package let name: String
  /// The line of the brackets, starting at 1.
  package let line: Int
  package private(set) var options: [Option] = []
  private var positions: [String: Int] = [:]

  package init(_ name: String, line: Int) {
    self.name = name
    self.line = line
  }

  /// The name in lower case, which determines the kind of section.
  package var kind: String { name.lowercased() }

  /// Adds an option, or returns the earlier one with the same key.
  package mutating func add(_ key: String, _ value: String, line: Int) -> Option? {
    if let position = positions[key.lowercased()] { return options[position] }
    positions[key.lowercased()] = options.count
    options.append(Option(key: key, value: value, line: line))
    return nil
  }

  /// The option `key`, ignoring case.
  package subscript(key: String) -> Option? { positions[key.lowercased()].map { options[$0] } }

  // MARK: Values

  /// An integer. As in C's `atoi`, decimals are ignored, and what follows a missing comma, as in `-6-1`.
  package func int(
    _ key: String, default value: Int, in range: ClosedRange<Int> = 0...Limits.dimension
  ) throws -> Int {
    guard let option = self[key] else { return value }
    let number = try Self.int(option.value, option)
    guard range.contains(number) else {
      throw error(
        option, "\(number) is out of range",
        hint: "valid values are \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  package func bool(_ key: String) throws -> Bool {
    try int(key, default: 0, in: -Limits.dimension...Limits.dimension) != 0
  }

  package func double(_ key: String, default value: Double) throws -> Double {
    guard let option = self[key] else { return value }
    return try Self.double(option.value, option)
  }

  package func string(_ key: String) -> String? { self[key]?.value }

  /// Integers separated by commas.
  package func ints(_ key: String) throws -> [Int]? {
    guard let option = self[key] else { return nil }
    return try Self.parts(option).map { try Self.int($0, option) }
  }

  /// Numbers separated by commas, also after the last one.
  package func doubles(_ key: String) throws -> [Double]? {
    guard let option = self[key] else { return nil }
    var parts = Self.parts(option)
    if parts.last == "" { parts.removeLast() }
    return try parts.map { try Self.double($0, option) }
  }

  private static func parts(_ option: Option) -> [String] {
    option.value.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
  }

  private static func int(_ text: String, _ option: Option) throws -> Int {
    var digits = text[...]
    if digits.hasPrefix("+") { digits = digits.dropFirst() }
    let sign = digits.hasPrefix("-") ? 1 : 0
    let rest = digits.dropFirst(sign)
    let whole = rest.prefix { $0.isASCII && $0.isNumber }
    let ignored = rest.dropFirst(whole.count)
    // `atoi` reads `.5` as 0, like `3.7` as 3.
    guard Double(text) != nil || !whole.isEmpty, let number = whole.isEmpty ? 0 : Int(whole),
      ignored.allSatisfy({ $0.isASCII && $0.isNumber || $0 == "." || $0 == "-" })
    else {
      throw error(option, "'\(text.prefix(60))' is not an integer")
    }
    return sign == 1 ? -number : number
  }

  private static func double(_ text: String, _ option: Option) throws -> Double {
    guard let number = Double(text), number.isFinite else {
      throw error(option, "'\(text.prefix(60))' is not a number")
    }
    return number
  }

  // MARK: Errors

  private static func error(_ option: Option, _ message: String, hint: String? = nil) -> ModelError
  {
    ModelError(.malformed, "line \(option.line): \(option.key): \(message)", hint: hint)
  }

  package func error(_ option: Option, _ message: String, hint: String? = nil) -> ModelError {
    Self.error(option, message, hint: hint)
  }

  /// A required option.
  package func required(_ key: String) throws -> Option {
    let option = try self[key].orThrow(
      ModelError(.malformed, "line \(line): [\(name)] has no '\(key)'"))
    return option
  }

  /// One layer, by its index or counted back from this one.
  package func reference(_ key: String) throws -> Int {
    _ = try required(key)
    return try int(key, default: 0, in: -Limits.layers...Limits.layers)
  }

  /// Throws the reason if the option is on.
  package func refuse(_ key: String, _ reason: String) throws {
    guard let option = self[key], try bool(key) else { return }
    throw ModelError(
      .unsupported, "line \(option.line): \(option.key) = \(option.value): \(reason)")
  }
}
