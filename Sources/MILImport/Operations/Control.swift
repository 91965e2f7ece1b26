import CoreMLModel
import TensorCore

let controlRules: [OperationRule] = [
  OperationRule("cond", "pred", "runs one of two blocks") { try $0.branch() },
  OperationRule("while_loop", "loop_vars", "repeats a block while a condition holds") {
    try $0.loop()
  },
  OperationRule("classify", "probabilities classes", "the class with the largest probability") {
    try $0.classify()
  },
]

extension OperationCall {
  private func blocks() throws -> (MILBlock, MILBlock) {
    try require(operation.blocks.count == 2, "\(operation.blocks.count) blocks; two are needed")
    return (operation.blocks[0], operation.blocks[1])
  }

  fileprivate func branch() throws -> [ProgramValue] {
    let (first, second) = try blocks()
    let condition = try lowering.blob(value("pred"), named: label + "_condition")
    let targets = operation.outputs.map { lowering.uniqueBlob($0.name) }
    var results: [[ProgramValue]] = []
    let networks = try [first, second].map { block in
      try lowering.block {
        try lowering.lower(block)
        let values = try block.outputs.map { try lowering.value($0) }
        try require(
          values.count == targets.count,
          "a block gives \(counted(values.count, "value")); \(targets.count) are needed")
        for (value, target) in zip(values, targets) {
          try lowering.copy(value, to: target, name: target)
        }
        results.append(values)
      }
    }
    for (a, b) in zip(results[0], results[1]) {
      try require(
        a.shape == b.shape && a.type == b.type, .unsupported,
        "the blocks give \(ProgramText.type(a.type, a.shape)) and "
          + ProgramText.type(b.type, b.shape))
    }
    var layer = Branch()
    (layer.ifBranch, layer.elseBranch) = (networks[0], networks[1])
    lowering.append(NeuralNetworkLayer(label, layer, input: [condition], output: []))
    return zip(targets, results[0]).map { $1.with(blob: $0) }
  }

  fileprivate func loop() throws -> [ProgramValue] {
    let (condition, body) = try blocks()
    let initial = try values("loop_vars")
    for block in [condition, body] {
      try require(
        block.inputs.count == initial.count,
        "a block takes \(counted(block.inputs.count, "value")), the loop has \(initial.count)")
    }
    if initial.contains(where: { $0.list == .growing }) {
      return try unrolled(condition, body, initial)
    }
    let variables = try zip(operation.outputs, initial).map { output, value in
      let blob = lowering.uniqueBlob(output.name)
      try lowering.copy(value, to: blob, name: blob)
      return value.with(blob: blob)
    }
    let test = lowering.uniqueBlob(label + "_condition")
    var layer = Loop()
    layer.conditionVar = test
    layer.conditionNetwork = try lowering.block {
      for (input, variable) in zip(condition.inputs, variables) {
        lowering.define(input.name, variable)
      }
      try lowering.lower(condition)
      try require(
        condition.outputs.count == 1, "the condition gives \(condition.outputs.count) values")
      try lowering.copy(lowering.value(condition.outputs[0]), to: test, name: test)
    }
    var changes = false
    layer.bodyNetwork = try lowering.block {
      for (input, variable) in zip(body.inputs, variables) { lowering.define(input.name, variable) }
      try lowering.lower(body)
      let results = try body.outputs.map { try lowering.value($0) }
      try require(
        results.count == variables.count,
        "the body gives \(counted(results.count, "value")), the loop has \(variables.count)")
      changes = zip(results, variables).contains { $0.blobShape != $1.blobShape }
      if changes { return }
      for (result, variable) in zip(results, variables) {
        try require(
          result.type == variable.type,
          "a value of the loop changes from \(variable.type.name) to \(result.type.name)")
      }
      // All results are read before any variable changes.
      let positions = try results.map { result in
        let position = lowering.uniqueBlob(label + "_next")
        try lowering.copy(result, to: position, name: position)
        return result.with(blob: position)
      }
      for (position, variable) in zip(positions, variables) {
        if let blob = variable.blob { try lowering.copy(position, to: blob, name: blob) }
      }
    }
    if changes { return try unrolled(condition, body, initial) }
    lowering.append(NeuralNetworkLayer(label, layer, input: [], output: []))
    return variables
  }

  /// Unrolls a loop in which shapes change; its condition must follow from the inputs.
  private func unrolled(
    _ condition: MILBlock, _ body: MILBlock, _ initial: [ProgramValue]
  ) throws -> [ProgramValue] {
    var variables = initial
    func run(_ block: MILBlock) throws -> [ProgramValue] {
      for (input, variable) in zip(block.inputs, variables) {
        lowering.define(input.name, variable)
      }
      try lowering.lower(block)
      return try block.outputs.map { try lowering.value($0) }
    }
    while true {
      try lowering.countStep()
      let test = try run(condition).first.orThrow(
        ModelError(.malformed, "the condition gives no value"))
      let holds = try (lowering.elements(test)?.ints().first).orThrow(
        ModelError(
          .unsupported,
          "the shape of a loop variable changes, and the number of steps is known only during a "
            + "prediction knows"))
      if holds == 0 { return variables }
      let results = try run(body)
      try require(
        results.count == variables.count,
        "the body gives \(counted(results.count, "value")), the loop has \(variables.count)")
      variables = results
    }
  }

  fileprivate func classify() throws -> [ProgramValue] {
    let probabilities = try value("probabilities")
    guard case .value(let value)? = operation.argument("classes")?.first?.content else {
      throw ModelError(.unsupported, "the operation does not contain the classes", field: "classes")
    }
    let texts = try labels(value)
    let count = try checkedProduct(probabilities.shape)
    try require(
      texts.count == count, "\(texts.count) classes for \(count) probabilities", field: "classes")
    let blob = try lowering.blob(probabilities, named: label)
    lowering.classes = (blob, texts.labels)
    return []
  }

  private func labels(
    _ value: MILValue
  ) throws -> (count: Int, labels: NeuralNetworkClassifier.ClassLabels) {
    let files = lowering.program.weightFiles
    guard case .immediate(let immediate)? = value.content, case .list(let list)? = immediate.content
    else {
      let elements = try MILElements(value, files: files)
      if let texts = elements.strings { return (texts.count, .string(texts)) }
      return (elements.count, .int64(try elements.ints()))
    }
    let elements = try list.values.map { try MILElements($0, files: files) }
    let texts = elements.compactMap(\.string)
    if texts.count == elements.count { return (texts.count, .string(texts)) }
    return (elements.count, .int64(try elements.flatMap { try $0.ints() }))
  }
}

/// Buffers that persist between predictions. By default, each prediction starts with zeros.
let stateRules: [OperationRule] = [
  OperationRule("read_state", "input", "reads a state") { [try $0.state().value] },
  OperationRule("write_state", "input data", "writes a state") { call in
    let (name, old) = try call.state()
    let data = try call.value("data")
    try require(
      data.shape == old.shape && data.type == old.type,
      "the state is \(ProgramText.type(old.type, old.shape)), the value "
        + ProgramText.type(data.type, data.shape), field: "data")
    try require(
      call.lowering.depth == 0, .unsupported, "changing a state inside a block is not supported")
    call.lowering.states[name] = data
    return []
  },
  OperationRule("coreml_update_state", "state value", "writes a state and returns the new value") {
    call in
    guard case .state(let name) = try call.value("state").content else {
      throw ModelError(.malformed, "not a state", field: "state")
    }
    try require(
      call.lowering.depth == 0, .unsupported, "changing a state inside a block is not supported")
    let value = try call.value("value")
    call.lowering.states[name] = value
    return [value]
  },
]

extension OperationCall {
  fileprivate func state() throws -> (name: String, value: ProgramValue) {
    guard case .state(let name) = try value("input").content, let current = lowering.states[name]
    else { throw ModelError(.malformed, "not a state", field: "input") }
    return (name, current)
  }
}
