import ByteFormats
import CoreMLModel
import TensorCore

/// Classifier labels, and states, which become inputs and outputs.
let interfaceRules: [String: ONNXRule] = [
  "classify": { call in
    call.program.labels = try call.classes()
    let scores = try call.value("probabilities")
    if call.operation.outputs.count > 1 {
      call.program.define(call.operation.outputs[1].name, scores)
    }
    return []
  },
  "read_state": { call in [try call.state()] },
  "write_state": { try $0.writtenState("input", "data") },
  "coreml_update_state": { try $0.writtenState("state", "value") },
]

/// Random numbers, which differ in each run.
let randomRules: [String: ONNXRule] = [
  "random_normal": one { call in
    try call.random(
      "RandomNormal",
      [("mean", .float(call.float("mean", 0))), ("scale", .float(call.float("stddev", 1)))])
  },
  "random_uniform": one { call in
    try call.random(
      "RandomUniform",
      [("low", .float(call.float("low", 0))), ("high", .float(call.float("high", 1)))])
  },
  "random_bernoulli": { call in
    let uniform = try call.random("RandomUniform", [])
    let isSet = try call.add(
      "Less", [uniform, call.scalar(call.float("prob", 0.5), uniform.type)], type: .bool)
    return [try call.cast(isSet, to: call.declared().type)]
  },
]

extension ExportedOperation {
  fileprivate func random(
    _ type: String, _ attributes: [(String, AttributeValue)]
  ) throws -> GraphValue {
    let (shape, seed) = (try ints("shape") ?? [], try int("seed", -1))
    let declared = try declared()
    let isFloat = declared.type.isFloat
    return try add(
      type, [],
      attributes + [
        ("shape", .ints(shape)),
        ("dtype", .int(ONNXDataType(isFloat ? declared.type : .float32).rawValue)),
      ] + (seed >= 0 ? [("seed", .float(Float(seed)))] : []),
      type: isFloat ? declared.type : .float32, shape: shape)
  }

  /// The labels of a classifier, from a list.
  fileprivate func classes() throws -> [String] {
    for binding in operation.argument("classes") ?? [] {
      let value: MILValue? =
        switch binding {
        case .value(let value)?: value
        case .name(let name)?: program.lists[name]
        case nil: nil
        }
      guard case .immediate(let immediate)? = value?.content,
        case .list(let list)? = immediate.content
      else { continue }
      return try list.values.map { value in
        let elements = try program.elements(value)
        return try elements.string ?? String(elements.ints().first ?? 0)
      }
    }
    return []
  }

  private func stateName(_ argument: String) throws -> String {
    try operation.name(argument).orThrow(missing(argument))
  }

  fileprivate func state() throws -> GraphValue {
    let name = try stateName("input")
    return try program.states[name].orThrow(
      ModelError(.malformed, "'\(name)' is not a state", field: "input"))
  }

  fileprivate func writtenState(_ state: String, _ value: String) throws -> [GraphValue] {
    let (name, value) = (try stateName(state), try self.value(value))
    program.setState(name, value)
    return [value]
  }
}
