import ByteFormats
import TensorCore

extension ModelDefinition.Layer {
  /// - Parameter name: the name of one of the layer's calls.
  func configuration(_ name: String, _ version: KerasVersion) -> LayerConfiguration {
    LayerConfiguration(name: name, className: className, fields: fields, version: version)
  }
}

/// A layer's `config`, read field by field. Keras 1's names are accepted along with Keras 2's.
struct LayerConfiguration: Sendable {
  enum DataFormat: Sendable {
    case channelsLast
    case channelsFirst

    var layout: TensorLayout { self == .channelsLast ? .image : .imageChannelsFirst }
  }

  let name: String
  /// The class as shown in messages, such as `TimeDistributed(Conv2D)`.
  let className: String
  /// The class that determines how the fields are read, such as `Conv2D`.
  let kind: String
  var fields: JSONObject
  let version: KerasVersion
  let reads = FieldReads()

  /// - Parameter kind: by default, the innermost class of `className`.
  init(
    name: String, className: String, kind: String? = nil, fields: JSONObject,
    version: KerasVersion
  ) {
    self.name = name
    self.className = className
    self.fields = fields
    self.version = version
    self.kind =
      kind ?? className.split(separator: "(").last.map { String($0.filter { $0 != ")" }) } ?? ""
  }

  /// The configuration of a layer or cell inside this one, shown as `OUTER(CLASS)`; nil if it has no
  /// class.
  func inner(_ json: JSONValue, in outer: String? = nil) -> LayerConfiguration? {
    json["class_name"]?.string.map { innerClass in
      LayerConfiguration(
        name: name, className: "\(outer ?? className)(\(innerClass))",
        fields: json["config"]?.object ?? JSONObject(), version: version)
    }
  }

  /// The number of spatial axes according to the class name, such as 2 for `Conv2D`.
  var dimensions: Int { ["1D", "2D", "3D"].firstIndex { kind.contains($0) }.map { $0 + 1 } ?? 2 }

  /// The first of these fields that is present and not null.
  func field(_ names: String...) -> (name: String, value: JSONValue)? { field(names) }

  func field(_ names: [String]) -> (name: String, value: JSONValue)? {
    reads.names.formUnion(names)
    for name in names { if let value = fields[name], !value.isNull { return (name, value) } }
    return nil
  }

  subscript(name: String) -> JSONValue? {
    reads.names.insert(name)
    return fields[name]
  }

  func int(_ names: String..., default standard: Int? = nil, atLeast minimum: Int = 1) throws -> Int
  {
    guard let (name, value) = field(names) else {
      guard let standard else { throw missing(names) }
      return standard
    }
    guard let number = value.int, number >= minimum, number <= Limits.dimension else {
      throw bad(name, value, "an integer of at least \(minimum)")
    }
    return number
  }

  /// - Parameter minimum: the smallest number that Keras accepts.
  func double(
    _ names: String..., default standard: Double? = nil, atLeast minimum: Double = -.infinity,
    atMost maximum: Double = .infinity
  ) throws -> Double {
    guard let (name, value) = field(names) else {
      guard let standard else { throw missing(names) }
      return standard
    }
    // Some versions store numbers as arrays: {"class_name": "__numpy__", "value": 0.3}.
    let number = try (value.double ?? value["value"]?.double).orThrow(bad(name, value, "a number"))
    guard number >= minimum, number <= maximum else {
      throw bad(
        name, value,
        "a number of at least \(minimum)" + (maximum.isFinite ? " and at most \(maximum)" : ""))
    }
    return number
  }

  func bool(_ names: String..., default standard: Bool) throws -> Bool {
    guard let (name, value) = field(names) else { return standard }
    if let int = value.int, int == 0 || int == 1 { return int == 1 }
    guard let result = value.bool else { throw bad(name, value, "true or false") }
    return result
  }

  func string(_ names: String..., default standard: String? = nil) throws -> String {
    guard let (name, value) = field(names) else {
      guard let standard else { throw missing(names) }
      return standard
    }
    guard let text = value.string else { throw bad(name, value, "a string") }
    return text
  }

  func ints(_ names: String...) throws -> [Int]? {
    guard let (name, value) = field(names) else { return nil }
    return try ints(name, value)
  }

  /// An integer or a list of integers.
  func ints(_ name: String, _ value: JSONValue) throws -> [Int] {
    let elements =
      value.int.map { [.int($0)] } ?? value.array ?? value["items"]?.array
    guard let elements else { throw bad(name, value, "integers") }
    let numbers = elements.compactMap(\.int)
    let allowed = -Limits.dimension...Limits.dimension
    guard numbers.count == elements.count, numbers.allSatisfy(allowed.contains) else {
      throw bad(name, value, "integers")
    }
    return numbers
  }

  /// A size; nil if the field is missing or −1.
  func size(_ name: String) throws -> Int? {
    let value = try int(name, default: -1, atLeast: -1)
    return value > 0 ? value : nil
  }

  /// `count` integers; a single integer is repeated.
  func sizes(
    _ names: String..., count: Int, default standard: [Int]? = nil, atLeast minimum: Int = 1
  ) throws -> [Int] {
    guard let (name, value) = field(names) else {
      guard let standard else { throw missing(names) }
      return standard
    }
    var numbers = try ints(name, value)
    if numbers.count == 1 { numbers = [Int](repeating: numbers[0], count: count) }
    guard numbers.count == count, numbers.allSatisfy({ $0 >= minimum }) else {
      let wanted = ["an integer", "two integers", "three integers"][count - 1]
      throw bad(name, value, "\(wanted) of at least \(minimum)")
    }
    return numbers
  }

  /// `data_format` or Keras 1's `dim_ordering`; nil if the layer has neither.
  var dataFormat: DataFormat? {
    get throws {
      guard let (name, value) = field("data_format", "dim_ordering") else { return nil }
      switch value.string {
      case "channels_last", "tf", "default": return .channelsLast
      case "channels_first", "th": return .channelsFirst
      default: throw bad(name, value, "'channels_last' or 'channels_first'")
      }
    }
  }

  /// `padding` or Keras 1's `border_mode`.
  enum Border: String, Sendable { case valid, same, full, causal }

  func border(allowing allowed: [Border] = [.valid, .same]) throws -> Border {
    guard let (name, value) = field("padding", "border_mode") else { return .valid }
    guard let border = value.string.flatMap({ Border(rawValue: $0.lowercased()) }),
      allowed.contains(border)
    else { throw bad(name, value, allowed.map { "'\($0.rawValue)'" }.joined(separator: " or ")) }
    return border
  }

  func missing(_ names: [String]) -> ModelError {
    error(.malformed, field: names.first, "required field is missing")
  }

  func bad(_ name: String, _ value: JSONValue, _ wanted: String) -> ModelError {
    error(.malformed, field: name, "\(String(value.text.prefix(100))) is not \(wanted)")
  }

  func unsupported(_ field: String?, _ message: String, hint: String? = nil) -> ModelError {
    error(.unsupported, field: field, message, hint: hint)
  }

  /// - Throws: `.unsupported` unless the condition holds.
  func require(
    _ condition: Bool, _ field: String?, unsupported message: @autoclosure () -> String,
    hint: String? = nil
  ) throws {
    if !condition { throw unsupported(field, message(), hint: hint) }
  }

  private func error(
    _ code: ModelError.Code, field: String?, _ message: String, hint: String? = nil
  ) -> ModelError {
    ModelError(code, message, layer: name, layerClass: className, field: field, hint: hint)
  }
}

/// The fields of a layer that a conversion has read.
final class FieldReads: @unchecked Sendable {
  // `@unchecked`: a conversion runs on one thread.
  var names: Set<String> = []
}
