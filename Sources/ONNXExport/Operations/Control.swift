import CoreMLModel
import TensorCore

/// Loops and branches, whose blocks become graphs that read the values around them.
let controlRules: [String: ONNXRule] = [
  "while_loop": { call in
    let (condition, body) = try call.blocks()
    let initial = try call.values("loop_vars")
    func test(_ variables: [GraphValue]) throws -> GraphValue {
      let value = try call.program.results(of: condition, variables).first.orThrow(
        call.unsupported("a condition without a value"))
      return try call.reshape(value, [])
    }
    func variable(_ name: String, _ type: MILDataType, _ shape: [Int?]) -> GraphValue {
      GraphValue(name: call.graph.unique("\(call.label)_\(name)"), type: type, shape: shape)
    }
    let variables = try body.inputs.map { input in
      let tensor = try (input.type?.tensor).orThrow(
        call.unsupported("a variable that is a list", field: input.name))
      return try variable(input.name, tensor.dataType, tensor.checkedSizes)
    }
    let inputs = [variable("step", .int64, []), variable("goes_on", .bool, [])] + variables
    let graph = try call.graph(inputs) {
      let next = try call.program.results(of: body, variables)
      return try [test(next)] + next
    }
    return try call.addAll(
      "Loop", [.missing, test(initial)] + initial, [("body", .graph(graph))],
      outputs: initial.count)
  },
  "cond": { call in
    let (first, second) = try call.blocks()
    func branch(_ block: MILBlock) throws -> AttributeValue {
      .graph(try call.graph([]) { try call.program.results(of: block, []) })
    }
    return try call.addAll(
      "If", [call.reshape(call.value("pred"), [])],
      [("then_branch", branch(first)), ("else_branch", branch(second))],
      outputs: call.operation.outputs.count)
  },
]

extension ExportedOperation {
  /// A graph with these inputs, and the results of `body` as its outputs.
  fileprivate func graph(
    _ inputs: [GraphValue], _ body: () throws -> [GraphValue]
  ) throws -> ONNXGraph {
    func info(_ value: GraphValue) throws -> ONNXValueInfo {
      ONNXValueInfo(
        value.name, try ONNXDataType(value.type),
        value.shape.enumerated().map { axis, size in
          size.map { .number($0) } ?? .name("\(value.name)_\(axis)")
        })
    }
    var result = ONNXGraph()
    result.name = label
    result.inputs = try inputs.map(info)
    result.nodes = try graph.nested {
      // An output must be the result of a node of the graph.
      result.outputs = try body().map { try info(add("Identity", [$0])) }
    }
    return result
  }
}
