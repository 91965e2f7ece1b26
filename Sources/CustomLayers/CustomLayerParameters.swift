import TensorCore

/// Reads a custom layer's parameters, which may have several names. Errors name the parameter.
struct CustomLayerParameters {
  let values: [String: CustomLayerParameter]

  private func find(_ names: [String]) -> (name: String, value: CustomLayerParameter)? {
    for name in names { if let value = values[name] { return (name, value) } }
    return nil
  }

  /// An integer in `range`, of any type in the model.
  func int(_ names: String..., in range: ClosedRange<Int>) throws -> Int? {
    guard let (name, value) = find(names) else { return nil }
    let number: Int? =
      switch value {
      case .int(let value): Int(value)
      case .long(let value): Int(value)
      case .double(let value): Int(exactly: value)
      case .bool, .string: nil
      }
    guard let number, range.contains(number) else {
      throw ModelError(
        .malformed,
        "\(value), where a whole number from \(range.lowerBound) to "
          + "\(range.upperBound) is needed", field: "parameters.\(name)")
    }
    return number
  }

  func required(_ name: String, in range: ClosedRange<Int>) throws -> Int {
    guard let value = try int(name, in: range) else {
      throw ModelError(.malformed, "the parameter is missing", field: "parameters.\(name)")
    }
    return value
  }

  func float(_ names: String...) throws -> Float? {
    guard let (name, value) = find(names) else { return nil }
    guard let number = value.floatValue, number.isFinite else {
      throw ModelError(.malformed, "\(value) is not a number", field: "parameters.\(name)")
    }
    return number
  }

  func bool(_ names: String...) throws -> Bool? {
    guard let (name, value) = find(names) else { return nil }
    switch value {
    case .bool(let value): return value
    case .int(let value) where value == 0 || value == 1: return value == 1
    case .long(let value) where value == 0 || value == 1: return value == 1
    default:
      throw ModelError(
        .malformed, "\(value) is neither true nor false", field: "parameters.\(name)")
    }
  }

  /// A list of positive numbers, separated by commas.
  func positiveNumbers(_ name: String) throws -> [Float]? {
    guard let (_, value) = find([name]) else { return nil }
    guard case .string(let text) = value else {
      throw ModelError(.malformed, "\(value) is not a string", field: "parameters.\(name)")
    }
    let parts = text.split(separator: ",")
    let numbers = parts.compactMap { Float($0.filter { $0 != " " }) }.filter {
      $0 > 0 && $0.isFinite
    }
    try require(
      numbers.count == parts.count && (1...64).contains(numbers.count),
      "'\(text)' is not a list of at most 64 positive numbers", field: "parameters.\(name)")
    return numbers
  }

  /// One of `words`, given as text or as an index.
  func choice(_ names: String..., of words: [String]) throws -> String? {
    guard let (name, value) = find(names) else { return nil }
    switch value {
    case .string(let text) where words.contains(text): return text
    case .int(let index) where words.indices.contains(Int(index)): return words[Int(index)]
    case .long(let index) where index >= 0 && index < words.count: return words[Int(index)]
    default:
      throw ModelError(
        .malformed, "'\(value)' is not one of \(words.joined(separator: ", "))",
        field: "parameters.\(name)")
    }
  }
}

/// The shapes of the inputs. Throws unless there are `count`.
func inputs(_ shapes: [[Int]], _ count: ClosedRange<Int>) throws -> [[Int]] {
  guard count.contains(shapes.count) else {
    let needed =
      count.lowerBound == count.upperBound
      ? "\(count.lowerBound)" : "\(count.lowerBound) to \(count.upperBound)"
    throw ModelError(
      .malformed, "it has \(counted(shapes.count, "input")), but the class takes \(needed)",
      field: "input")
  }
  return shapes
}

func onlyInput(_ shapes: [[Int]]) throws -> [Int] { try inputs(shapes, 1...1)[0] }
