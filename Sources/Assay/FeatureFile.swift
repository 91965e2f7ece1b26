import ByteFormats
import CoreMLModel
import ModelPrediction
import TensorCore

/// Values of a model's features as a JSON object: numbers, strings, nested arrays of numbers, and
/// objects of numbers.
///
/// `"NaN"`, `"Infinity"` and `"-Infinity"` are numbers unless the input is a string; `true` and
/// `false` are 1 and 0, and an input that is `null` is missing.
enum FeatureFile {
  static func parse(
    _ bytes: Bytes, inputs: [FeatureDescription]
  ) throws -> [(String?, FeatureValue)] {
    try require(
      bytes.count <= Limits.jsonBytes, .limitExceeded,
      "\(bytes.count) bytes exceed the limit of \(Limits.jsonBytes)")
    let document = try JSONValue(parsing: bytes.array(of: UInt8.self))
    guard let object = document.object else {
      return [(nil, try value(document, isText: false, name: nil))]
    }
    let texts = Set(inputs.filter { $0.type?.kind == .string }.map(\.name))
    return try object.members.compactMap { name, item in
      item.isNull ? nil : (name, try value(item, isText: texts.contains(name), name: name))
    }
  }

  private static func value(_ item: JSONValue, isText: Bool, name: String?) throws -> FeatureValue {
    switch item {
    case .int(let number): return .int(number)
    case .string(let text) where isText || number(item) == nil: return .string(text)
    case .object(let object):
      var entries: [FeatureKey: Double] = [:]
      for (key, item) in object.members {
        guard let number = number(item) else {
          throw ModelError(.malformed, "the value of '\(key)' is not a number", field: name)
        }
        entries[.string(key)] = number
      }
      return .dictionary(entries)
    case .array:
      var shape: [Int] = []
      var elements: [Double] = []
      try collect(item, depth: 0, &shape, &elements, name: name)
      try require(
        shape.reduce(1, *) == elements.count, "the arrays have different lengths", field: name)
      return .numbers(NumberArray(shape: shape, elements))
    default:
      guard let number = number(item) else {
        throw ModelError(.malformed, "the value is not a number", field: name)
      }
      return .double(number)
    }
  }

  private static func collect(
    _ item: JSONValue, depth: Int, _ shape: inout [Int], _ elements: inout [Double],
    name: String?
  ) throws {
    guard let items = item.array else {
      guard let number = number(item), depth == shape.count else {
        throw ModelError(.malformed, "an element is not a number", field: name)
      }
      elements.append(number)
      return
    }
    try require(
      depth < Limits.rank, .limitExceeded, "arrays nested deeper than \(Limits.rank)", field: name)
    if depth == shape.count {
      try require(elements.isEmpty, "an array is mixed with numbers", field: name)
      shape.append(items.count)
    }
    try require(shape[depth] == items.count, "the arrays have different lengths", field: name)
    for item in items { try collect(item, depth: depth + 1, &shape, &elements, name: name) }
  }

  private static func number(_ item: JSONValue) -> Double? {
    switch item {
    case .string("NaN"): .nan
    case .string("Infinity"): .infinity
    case .string("-Infinity"): -.infinity
    case .bool(let flag): flag ? 1 : 0
    default: item.double
    }
  }
}
