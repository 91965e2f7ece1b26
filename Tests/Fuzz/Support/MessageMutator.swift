import ByteFormats
import TensorCore

/// Changes encoded messages by their schema: values become huge, negative or NaN, names become
/// other names, messages are moved, duplicated, removed, created or replaced by others of their
/// oneof. The result is always an encoded message.
package struct MessageMutator: Sendable {
  private let schema: ProtobufSchema
  /// Text from the seeds.
  private let words: [String]
  /// Messages from the seeds, by the name of their schema.
  private let messages: [String: [MessageTree]]
  private static let largest = 48 << 10

  package init(schema: ProtobufSchema, seeds: [[UInt8]]) {
    self.schema = schema
    var words: Set<String> = []
    var messages: [String: [MessageTree]] = [:]
    for seed in seeds {
      guard let tree = try? MessageTree(seed, schema: schema) else { continue }
      tree.visit { message in
        let name = message.schema?.name ?? ""
        if messages[name, default: []].count < 200 { messages[name, default: []].append(message) }
        for case .text(let text) in message.fields.map(\.value) where text.count < 40 {
          words.insert(String(decoding: text, as: UTF8.self))
        }
      }
    }
    self.words = words.sorted()
    self.messages = messages
  }

  /// Makes one to five changes, usually few; bytes that are not a message get random damage.
  package func mutated(_ bytes: [UInt8], _ random: inout SplitMix64) -> [UInt8] {
    guard var tree = try? MessageTree(bytes, schema: schema) else { return bytes.damaged(&random) }
    var names: [[UInt8]] = []
    tree.visit { message in
      for case .text(let text) in message.fields.map(\.value) { names.append(text) }
    }
    for _ in 0...random.below(1 + random.below(5)) {
      var position = random.below(tree.slotCount)
      tree.change(at: &position) { change(&$0, $1, names, &random) }
    }
    let result = tree.encoded
    return result.count <= Self.largest ? result : bytes.damaged(&random)
  }

  private func change(
    _ message: inout MessageTree, _ index: Int, _ names: [[UInt8]], _ random: inout SplitMix64
  ) {
    switch random.below(16) {
    case 0: message.fields.remove(at: index)
    case 1: message.fields.insert(message.fields[index], at: index)
    case 2: message.fields.swapAt(index, random.below(message.fields.count))
    case 3, 4: add(to: &message, &random)
    case 5: becomeOther(&message.fields[index], of: message.schema, &random)
    default: change(&message.fields[index].value, names, &random)
    }
  }

  private func change(
    _ value: inout MessageTree.Value, _ names: [[UInt8]], _ random: inout SplitMix64
  ) {
    switch value {
    case .varint(let old): value = .varint(varint(old, &random))
    case .fixed32:
      value = .fixed32(Float(HostileValues.number(&random)).bitPattern)
    case .fixed64(let old):
      value = .fixed64(
        random.flag() ? HostileValues.number(&random).bitPattern : varint(old, &random))
    case .text:
      value = .text(
        random.below(3) > 0 && !names.isEmpty
          ? random.pick(names) : Array(HostileValues.string(&random, words).utf8))
    case .bytes(let content):
      value = .bytes(content.isEmpty ? [0] : content.damaged(&random))
    case .packed(var values):
      changeList(&values, &random)
      value = .packed(values)
    case .message(let message):
      guard let others = messages[message.schema?.name ?? ""], random.below(4) > 0 else {
        value = .message(MessageTree(schema: message.schema))
        return
      }
      value = .message(random.pick(others))
    }
  }

  private func changeList(
    _ values: inout [MessageTree.Value], _ random: inout SplitMix64
  ) {
    guard !values.isEmpty else {
      values = [.varint(UInt64(bitPattern: Int64(HostileValues.integer(&random))))]
      return
    }
    let index = random.below(values.count)
    switch random.below(6) {
    case 0: values.remove(at: index)
    case 1: values.insert(values[index], at: index)
    case 2: values += Array(repeating: values[index], count: random.below(12))
    default: change(&values[index], [], &random)
    }
  }

  private func varint(_ old: UInt64, _ random: inout SplitMix64) -> UInt64 {
    switch random.below(4) {
    case 0: old &+ 1
    case 1: old &- 1
    default: UInt64(bitPattern: Int64(HostileValues.integer(&random)))
    }
  }

  /// Adds another field of the message's schema.
  private func add(to message: inout MessageTree, _ random: inout SplitMix64) {
    guard let schema = message.schema, !schema.fields.isEmpty else { return }
    let field = random.pick(schema.fields)
    message.fields.append(
      MessageTree.Field(number: field.number, value: made(field, depth: 3, &random)))
  }

  /// Replaces the field with another one of its oneof, or of the same kind.
  private func becomeOther(
    _ field: inout MessageTree.Field, of schema: ProtobufSchema?, _ random: inout SplitMix64
  ) {
    guard let schema, let index = schema.index(of: field.number) else { return }
    let own = schema.fields[index]
    let others = schema.fields.filter { $0.choice != nil && $0.choice == own.choice }
    guard !others.isEmpty else { return }
    let other = random.pick(others)
    field.number = other.number
    if random.below(4) > 0 { field.value = made(other, depth: 3, &random) }
  }

  /// A new value: a message from the seeds, or one with some of its fields.
  private func made(
    _ field: ProtobufSchema.Field, depth: Int, _ random: inout SplitMix64
  ) -> MessageTree.Value {
    switch field.kind {
    case .varint:
      let count = field.isRepeated ? random.below(5) : 0
      let values = (0...count).map { _ in
        MessageTree.Value.varint(UInt64(bitPattern: Int64(HostileValues.integer(&random))))
      }
      return field.isRepeated ? .packed(values) : values[0]
    case .fixed32:
      let count = field.isRepeated ? random.below(20) : 0
      let values = (0...count).map { _ in
        MessageTree.Value.fixed32(Float(HostileValues.number(&random)).bitPattern)
      }
      return field.isRepeated ? .packed(values) : values[0]
    case .fixed64: return .fixed64(HostileValues.number(&random).bitPattern)
    case .string: return .text(Array(HostileValues.string(&random, words).utf8))
    case .bytes: return .bytes((0..<random.below(16)).map { _ in UInt8(random.below(256)) })
    case .message(let schema):
      if let others = messages[schema.name], random.flag() { return .message(random.pick(others)) }
      var message = MessageTree(schema: schema)
      guard depth > 0, !schema.fields.isEmpty else { return .message(message) }
      for _ in 0..<random.below(5) {
        let field = random.pick(schema.fields)
        message.fields.append(
          MessageTree.Field(number: field.number, value: made(field, depth: depth - 1, &random)))
      }
      return .message(message)
    }
  }
}

extension MessageTree {
  /// Visits the message and all nested messages, outermost first.
  fileprivate func visit(_ body: (MessageTree) -> Void) {
    body(self)
    for case .message(let inner) in fields.map(\.value) { inner.visit(body) }
  }

  /// The number of fields of the message and all nested messages.
  fileprivate var slotCount: Int {
    fields.reduce(0) {
      if case .message(let inner) = $1.value { $0 + 1 + inner.slotCount } else { $0 + 1 }
    }
  }

  /// Passes the field at `position`, in the order of `slotCount`, and its message to `body`.
  ///
  /// - Parameter position: counted down; negative after the field has been passed.
  fileprivate mutating func change(
    at position: inout Int, _ body: (inout MessageTree, Int) -> Void
  ) {
    for index in fields.indices {
      if position == 0 {
        body(&self, index)
        position = -1
        return
      }
      position -= 1
      if case .message(var inner) = fields[index].value {
        inner.change(at: &position, body)
        if position < 0 {
          fields[index].value = .message(inner)
          return
        }
      }
    }
  }
}
