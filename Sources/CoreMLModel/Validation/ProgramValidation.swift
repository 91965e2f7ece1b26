import TensorCore

extension MILProgram {
  /// The maximum nesting depth of blocks in operations.
  private static let depth = 16

  func check(_ description: ModelDescription, _ faults: inout ValidationIssues) {
    var names: Set<String> = []
    for entry in functions {
      faults.require(
        names.insert(entry.key).inserted, "mlProgram.functions",
        "two functions are named '\(entry.key)'")
      guard let function = entry.value, let body = function.body else {
        faults.require(
          false, "mlProgram.functions.\(entry.key)",
          "the function has no operations for '\(entry.value?.opset ?? "")'")
        continue
      }
      var own = ValidationIssues()
      var known: [String: Bool] = [:]
      for input in function.inputs { own.define(input.name, &known) }
      body.check(&own, known, depth: Self.depth)
      faults.append(own) { error in
        var error = error
        error.field = error.field ?? "mlProgram.functions.\(entry.key)"
        return error
      }
    }
    let main = description.programFunction
    guard let function = function(main), let body = function.body else {
      return faults.require(
        names.contains(main), "mlProgram.functions", "the program has no function '\(main)'")
    }
    let inputs = Set(function.inputs.map(\.name))
    for input in description.input where !inputs.contains(input.name) {
      faults.require(
        false, "description.input.\(input.name)", "the function '\(main)' has no such input")
    }
    let types = Dictionary(
      (function.inputs + body.operations.flatMap(\.outputs)).map { ($0.name, $0.type?.tensor) },
      uniquingKeysWith: { $1 })
    for output in description.output {
      let field = "description.output.\(output.name)"
      faults.require(
        body.outputs.contains(output.name), field, "the function '\(main)' has no such output")
      if description.hasFlexibleInput { continue }
      faults.contradict(output, types[output.name]??.shape, by: "the function '\(main)'")
    }
  }
}

extension ValidationIssues {
  /// Records the name of a value, which must be unique among the blocks that see it.
  fileprivate mutating func define(_ name: String, _ known: inout [String: Bool]) {
    let isNew = !name.isEmpty && known.updateValue(true, forKey: name) == nil
    if !isNew {
      append([
        ModelError(
          .malformed, name.isEmpty ? "a value has no name" : "two values are named '\(name)'")
      ])
    }
  }
}

extension MILBlock {
  fileprivate func check(_ faults: inout ValidationIssues, _ outer: [String: Bool], depth: Int) {
    if depth == 0 {
      return faults.append([ModelError(.limitExceeded, "blocks are nested too deep")])
    }
    var known = outer
    for input in inputs { faults.define(input.name, &known) }
    for operation in operations {
      var own = ValidationIssues()
      for argument in operation.inputs {
        for binding in argument.bindings {
          switch binding {
          case .name(let name):
            own.require(
              known[name] != nil, argument.key,
              "neither an input nor an earlier operation produces '\(name)'")
          case .value: break
          case nil: own.require(false, argument.key, "the argument has no value")
          }
        }
      }
      own.require(
        Set(operation.inputs.map(\.key)).count == operation.inputs.count, "inputs",
        "an argument is given twice")
      for block in operation.blocks { block.check(&own, known, depth: depth - 1) }
      for output in operation.outputs { own.define(output.name, &known) }
      faults.append(own) {
        $0.layer == nil ? $0.inLayer(operation.label, class: operation.type) : $0
      }
    }
    for output in outputs where known[output] == nil {
      faults.append([
        ModelError(.malformed, "no operation of the block produces its output '\(output)'")
      ])
    }
  }
}
