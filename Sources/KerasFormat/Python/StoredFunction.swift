/// A Python function whose code a file holds.
///
/// The code stands as base64 or, in older files, as the bytes themselves, one a character; alone,
/// in a list `[code, defaults, closure]`, or in an object around that.
package struct StoredFunction: Sendable {
  package let code: PythonCode
  package let defaults: [JSONValue]
  package let closure: [JSONValue]

  private init?(_ text: String?, _ defaults: [JSONValue] = [], _ closure: [JSONValue] = []) {
    guard let code = text.flatMap(Self.code) else { return nil }
    (self.code, self.defaults, self.closure) = (code, defaults, closure)
  }

  /// Nil if the code is not there, or cannot be read.
  package init?(_ json: JSONValue, depth: Int = 0) {
    guard depth < 8 else { return nil }
    switch json {
    case .string(let text): self.init(text)
    case .array(let elements):
      self.init(elements.first?.string, Self.values(elements, 1), Self.values(elements, 2))
    case .object(let object):
      guard let config = object["items"] ?? object["config"] else { return nil }
      if object["items"] == nil,
        let found = StoredFunction(
          config["code"]?.string, Self.list(config["defaults"]), Self.list(config["closure"]))
      {
        self = found
      } else {
        self.init(config, depth: depth + 1)
      }
    default: return nil
    }
  }

  private static func values(_ elements: [JSONValue], _ index: Int) -> [JSONValue] {
    index < elements.count ? list(elements[index]) : []
  }

  /// A list, which may stand as a tuple of Keras 2.13's.
  private static func list(_ json: JSONValue?) -> [JSONValue] {
    json?.array ?? json?["items"]?.array ?? []
  }

  private static func code(_ text: String) -> PythonCode? {
    if let bytes = Base64.decode(text.utf8), let code = PythonMarshal.function(bytes) {
      return code
    }
    var bytes: [UInt8] = []
    for scalar in text.unicodeScalars {
      if scalar.value < 0x100 {
        bytes.append(UInt8(scalar.value))
      } else {
        // Python's raw_unicode_escape reads \uXXXX in the bytes as one character.
        let digits = String(scalar.value, radix: 16)
        let width = scalar.value < 0x10000 ? 4 : 8
        bytes += Array((width == 4 ? "\\u" : "\\U").utf8)
        bytes += Array(String(repeating: "0", count: width - digits.count).utf8)
        bytes += Array(digits.utf8)
      }
    }
    return PythonMarshal.function(bytes)
  }
}
