import ByteFormats
import TensorCore

/// An operation of TensorFlow's graph, as tf.keras 2.0 to 2.3 stores it (`TensorFlowOpLayer`): its
/// type, attributes and constant inputs.
struct GraphNode: Sendable {
  let operation: String
  private let attributes: JSONObject
  private let constants: [Int: JSONValue]

  init(_ configuration: LayerConfiguration) throws {
    guard let (_, node) = configuration.field("node_def"), let operation = node["op"]?.string else {
      throw configuration.unsupported(
        "node_def", "it is not a JSON operation",
        hint: "save the model again with TensorFlow 2.4 or later")
    }
    self.operation = operation
    attributes = node["attr"]?.object ?? JSONObject()
    var constants: [Int: JSONValue] = [:]
    for (index, value) in configuration["constants"]?.object?.members ?? [] {
      guard let index = Int(index), (0..<64).contains(index) else { continue }
      constants[index] = value
    }
    self.constants = constants
  }

  /// The arguments for the function with the same name.
  func arguments(_ call: LayerCall) throws -> CallArguments {
    var arguments = CallArguments()
    var positional: [CallArgument] = []
    var next = 0
    while positional.count < call.inputs.count + constants.count {
      if let constant = constants[positional.count] {
        positional.append(.value(constant))
      } else if next < call.inputs.count {
        positional.append(.tensor(next))
        next += 1
      } else {
        throw call.error("its constants \(constants.keys.sorted()) are not among its inputs")
      }
    }
    for (name, value) in attributes.members {
      guard let value = Self.value(value) else { continue }
      arguments.keywords[name == "keep_dims" ? "keepdims" : name] = .value(value)
    }
    switch operation {
    case "ConcatV2":
      guard let axis = positional.popLast() else { break }
      arguments.keywords["axis"] = axis
      positional = [.list(positional)]
    case "Pack", "AddN": positional = [.list(positional)]
    case "Split" where positional.count == 2:
      arguments.keywords["axis"] = positional[0]
      positional = [positional[1], arguments.keywords["num_split"] ?? .value(.int(1))]
    case "StridedSlice" where positional.count == 4:
      positional = [positional[0], .value(try slices(positional, arguments, call))]
    case "MirrorPad":
      let mode = arguments.keywords["mode"]?.constant?.string ?? ""
      arguments.keywords["mode"] = .value(.string(mode.lowercased()))
    default: break
    }
    arguments.positional = positional
    return arguments
  }

  /// The value of an attribute; nil for element types, which are ignored.
  private static func value(_ json: JSONValue) -> JSONValue? {
    if let text = json["i"]?.string { return Int(text).map { .int($0) } }
    if let number = json["i"] ?? json["f"] ?? json["b"] { return number }
    if let text = json["s"]?.string {
      return Base64.decode(text.utf8).map { .string(String(decoding: $0, as: UTF8.self)) }
    }
    if let elements = json["list"]?["i"]?.array {
      return .array(elements.map { $0.string.flatMap { Int($0) }.map { .int($0) } ?? $0 })
    }
    return nil
  }

  /// The starts, ends and steps of a slice with its masks, as a Python slice.
  private func slices(
    _ positional: [CallArgument], _ arguments: CallArguments, _ call: LayerCall
  ) throws -> JSONValue {
    let numbers = positional[1...].map { $0.constant?.array?.compactMap(\.int) ?? [] }
    func mask(_ name: String) -> Int { arguments.keywords[name]?.constant?.int ?? 0 }
    let count = numbers[0].count
    guard (1...Limits.rank).contains(count), numbers.allSatisfy({ $0.count == count }) else {
      throw call.unsupported("a slice with bounds computed at run time is not supported")
    }
    return .array(
      (0..<count).map { index in
        func isSet(_ name: String) -> Bool { mask(name) >> index & 1 == 1 }
        var object = JSONObject()
        if isSet("ellipsis_mask") {
          object["class_name"] = .string("__ellipsis__")
          return .object(object)
        }
        if isSet("new_axis_mask") { return .null }
        if isSet("shrink_axis_mask") { return .int(numbers[0][index]) }
        object["start"] = isSet("begin_mask") ? .null : .int(numbers[0][index])
        object["stop"] = isSet("end_mask") ? .null : .int(numbers[1][index])
        object["step"] = numbers[2][index] == 1 ? .null : .int(numbers[2][index])
        return .object(object)
      })
  }
}
