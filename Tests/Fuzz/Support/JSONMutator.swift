import ByteFormats
import TensorCore

/// Changes JSON documents: values become others of any type; members and elements are removed,
/// duplicated, moved, or replaced by those of other documents. The result is always JSON.
package struct JSONMutator: Sendable {
  private let words: [String]
  private let parts: [JSONValue]

  package init(seeds: [[UInt8]]) {
    var words: Set<String> = []
    var parts: [JSONValue] = []
    for seed in seeds {
      guard let value = try? JSONValue(parsing: seed) else { continue }
      value.visit { value in
        switch value {
        case .string(let text) where text.utf8.count < 40: words.insert(text)
        case .array(let elements) where elements.count < 8 && parts.count < 20_000:
          parts.append(value)
        case .object(let object) where object.members.count < 12 && parts.count < 20_000:
          parts.append(value)
        default: break
        }
      }
    }
    self.words = words.sorted()
    self.parts = parts
  }

  /// Makes one to five changes, usually few; bytes that are not JSON get random damage.
  package func mutated(_ bytes: [UInt8], _ random: inout SplitMix64) -> [UInt8] {
    guard var value = try? JSONValue(parsing: bytes) else { return bytes.damaged(&random) }
    for _ in 0...random.below(1 + random.below(5)) {
      var position = random.below(value.nodeCount)
      value = changed(value, at: &position, &random)
    }
    return Array(value.text.utf8)
  }

  /// The document with the node at `position` changed, counted from the outermost.
  private func changed(
    _ value: JSONValue, at position: inout Int, _ random: inout SplitMix64
  ) -> JSONValue {
    if position == 0 {
      position = -1
      return other(value, &random)
    }
    position -= 1
    switch value {
    case .array(var elements):
      for index in elements.indices {
        let count = elements[index].nodeCount
        guard position < count else {
          position -= count
          continue
        }
        if position == 0, random.below(3) == 0 {
          move(index, in: &elements, &random)
          position = -1
        } else {
          elements[index] = changed(elements[index], at: &position, &random)
        }
        return .array(elements)
      }
      return value
    case .object(let object):
      var result = JSONObject()
      for (name, inner) in object.members {
        let count = position < 0 ? 0 : inner.nodeCount
        guard position >= 0, position < count else {
          position -= count
          result[name] = inner
          continue
        }
        if position == 0, random.below(4) == 0 {
          position = -1
          // Removed, or with another name.
          if random.flag() { result[HostileValues.string(&random, object.names)] = inner }
        } else {
          result[name] = changed(inner, at: &position, &random)
        }
      }
      return .object(result)
    default: return value
    }
  }

  private func move(_ index: Int, in elements: inout [JSONValue], _ random: inout SplitMix64) {
    switch random.below(4) {
    case 0: elements.remove(at: index)
    case 1: elements.insert(elements[index], at: index)
    case 2: elements.swapAt(index, random.below(elements.count))
    default:
      elements += Array(repeating: elements[index], count: random.below(8))
    }
  }

  private func other(_ value: JSONValue, _ random: inout SplitMix64) -> JSONValue {
    if random.below(3) > 0 {
      switch value {
      case .int(let old):
        return .int(
          random.below(4) == 0 ? old &+ (random.below(5) - 2) : HostileValues.integer(&random))
      case .double: return .double(HostileValues.number(&random))
      case .string: return .string(HostileValues.string(&random, words))
      case .bool(let old): return .bool(!old)
      case .array where !parts.isEmpty, .object where !parts.isEmpty: return random.pick(parts)
      default: break
      }
    }
    switch random.below(9) {
    case 0: return .null
    case 1: return .bool(random.flag())
    case 2: return .double(HostileValues.number(&random))
    case 3: return .string(HostileValues.string(&random, words))
    case 4: return .array([value])
    case 5: return .array([])
    case 6: return .object(JSONObject())
    case 7: return parts.isEmpty ? .null : random.pick(parts)
    default: return .int(HostileValues.integer(&random))
    }
  }
}

extension JSONValue {
  fileprivate func visit(_ body: (JSONValue) -> Void) {
    body(self)
    switch self {
    case .array(let elements): for element in elements { element.visit(body) }
    case .object(let object): for (_, value) in object.members { value.visit(body) }
    default: break
    }
  }

  fileprivate var nodeCount: Int {
    switch self {
    case .array(let elements): elements.reduce(1) { $0 + $1.nodeCount }
    case .object(let object): object.members.reduce(1) { $0 + $1.value.nodeCount }
    default: 1
    }
  }
}
