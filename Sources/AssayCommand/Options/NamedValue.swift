/// `VALUE` for all features, or `NAME=VALUE` for one.
struct NamedValue<Value: ExpressibleByArgument>: ExpressibleByArgument {
  let name: String?
  let value: Value

  init?(argument: String) {
    if let value = Value(argument: argument) {
      name = nil
      self.value = value
      return
    }
    guard let separator = argument.lastIndex(of: "=") else { return nil }
    let text = String(argument[argument.index(after: separator)...])
    guard let value = Value(argument: text) else { return nil }
    name = String(argument[..<separator])
    self.value = value
  }
}

/// A number in the range of single precision, or a fraction such as `1/255`.
struct Fraction: ExpressibleByArgument {
  let value: Double

  init?(argument: String) {
    let parts = argument.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count <= 2, let numerator = Double(parts[0]),
      let denominator = parts.count == 2 ? Double(parts[1]) : 1, denominator.isFinite,
      Float(numerator / denominator).isFinite
    else { return nil }
    value = numerator / denominator
  }
}

/// `KEY=VALUE`, split at the first equals sign.
struct KeyValue: ExpressibleByArgument {
  let key: String
  let value: String

  init?(argument: String) {
    guard let separator = argument.firstIndex(of: "="), separator != argument.startIndex else {
      return nil
    }
    key = String(argument[..<separator])
    value = String(argument[argument.index(after: separator)...])
  }
}

/// Numbers in the range of single precision, separated by commas.
struct NumberList: ExpressibleByArgument {
  let values: [Double]

  init?(argument: String) {
    let parts = argument.split(separator: ",", omittingEmptySubsequences: false)
    let values = parts.compactMap { Double($0) }
    guard values.count == parts.count, values.allSatisfy({ Float($0).isFinite }) else { return nil }
    self.values = values
  }
}

/// `NAME=?,224,224,3`: sizes in the source framework's order; `?` stays unknown.
struct NamedShape: ExpressibleByArgument {
  let name: String
  let sizes: [Int?]

  init?(argument: String) {
    guard let pair = KeyValue(argument: argument) else { return nil }
    var sizes: [Int?] = []
    for part in pair.value.split(separator: ",", omittingEmptySubsequences: false) {
      if part == "?" || part.lowercased() == "none" {
        sizes.append(nil)
      } else if let size = Int(part), size > 0 {
        sizes.append(size)
      } else {
        return nil
      }
    }
    name = pair.key
    self.sizes = sizes
  }
}

/// `R,G,B` or `FILE` for all features, or `NAME=R,G,B` or `NAME=FILE` for one; the file's name may
/// contain further equals signs.
struct NamedMean: ExpressibleByArgument {
  let name: String?
  let value: Value

  enum Value {
    case numbers(NumberList)
    case file(String)
  }

  init?(argument: String) {
    let pair = KeyValue(argument: argument)
    let text = pair?.value ?? argument
    let numbers = NumberList(argument: text)
    // Numbers that are not finite are not the name of a file.
    let isFile = !text.split(separator: ",").allSatisfy { Double($0) != nil }
    guard numbers != nil || isFile else { return nil }
    name = pair?.key
    value = numbers.map { .numbers($0) } ?? .file(text)
  }
}
