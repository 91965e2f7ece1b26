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
  fileprivate func branch() throws -> [ProgramValue] {
    let (first, second) = try blocks()
    let condition = try lowering.blob(value("pred"), named: label + "_condition")
    let states = first.statesWritten.union(second.statesWritten).sorted()
    let before = lowering.states
    let targets = (operation.outputs.map(\.name) + states).map { lowering.uniqueBlob($0) }
    var results: [[ProgramValue]] = []
    let networks = try [first, second].map { block in
      try lowering.block {
        lowering.states = before
        try lowering.lower(block)
        let values = try block.outputs.map { try lowering.value($0) } + lowering.states(states)
        try require(
          values.count == targets.count,
          "a block gives \(counted(block.outputs.count, "value")); "
            + "\(operation.outputs.count) are needed")
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
    let values = zip(targets, results[0]).map { $1.with(blob: $0) }
    lowering.setStates(states, values.suffix(states.count))
    return values.dropLast(states.count)
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
    let states = condition.statesWritten.union(body.statesWritten).sorted()
    let before = lowering.states
    let names = operation.outputs.map(\.name) + states
    let variables = try zip(names, initial + lowering.states(states)).map { name, value in
      let blob = lowering.uniqueBlob(name)
      try lowering.copy(value, to: blob, name: blob)
      return value.with(blob: blob)
    }
    let stateVariables = variables.suffix(states.count)
    let test = lowering.uniqueBlob(label + "_condition")
    var layer = Loop()
    layer.conditionVar = test
    layer.conditionNetwork = try lowering.block {
      for (input, variable) in zip(condition.inputs, variables) {
        lowering.define(input.name, variable)
      }
      lowering.setStates(states, stateVariables)
      try lowering.lower(condition)
      try require(
        condition.outputs.count == 1, "the condition gives \(condition.outputs.count) values")
      try lowering.copy(lowering.value(condition.outputs[0]), to: test, name: test)
      for (value, variable) in try zip(lowering.states(states), stateVariables)
      where value.blob != variable.blob {
        if let blob = variable.blob { try lowering.copy(value, to: blob, name: blob) }
      }
    }
    var changes = false
    layer.bodyNetwork = try lowering.block {
      for (input, variable) in zip(body.inputs, variables) { lowering.define(input.name, variable) }
      lowering.setStates(states, stateVariables)
      try lowering.lower(body)
      let results = try body.outputs.map { try lowering.value($0) } + lowering.states(states)
      try require(
        results.count == variables.count,
        "the body gives \(counted(body.outputs.count, "value")), the loop has \(initial.count)")
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
    if changes {
      lowering.states = before
      return try unrolled(condition, body, initial)
    }
    lowering.append(NeuralNetworkLayer(label, layer, input: [], output: []))
    lowering.setStates(states, stateVariables)
    return variables.dropLast(states.count)
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
          "the shape of a loop variable changes, and the number of steps depends on a block or on "
            + "random numbers"))
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
    guard case .value(let value)?? = operation.argument("classes")?.first else {
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
    _ = try call.update("input", with: "data")
    return []
  },
  OperationRule("coreml_update_state", "state value", "writes a state and returns the new value") {
    [try $0.update("state", with: "value")]
  },
]

extension OperationCall {
  fileprivate func state(_ argument: String = "input") throws -> (name: String, value: ProgramValue)
  {
    guard case .state(let name) = try value(argument).content, let current = lowering.states[name]
    else { throw ModelError(.malformed, "not a state", field: argument) }
    return (name, current)
  }

  /// Gives a state the value of another argument.
  fileprivate func update(_ argument: String, with data: String) throws -> ProgramValue {
    let (name, old) = try state(argument)
    let value = try value(data)
    try require(
      value.shape == old.shape && value.type == old.type,
      "the state is \(ProgramText.type(old.type, old.shape)), the value "
        + ProgramText.type(value.type, value.shape), field: data)
    lowering.states[name] = value
    return value
  }
}

extension ProgramLowering {
  fileprivate func states(_ names: [String]) throws -> [ProgramValue] {
    try names.map {
      try states[$0].orThrow(ModelError(.malformed, "'\($0)' is not a state", field: "state"))
    }
  }

  fileprivate func setStates(_ names: [String], _ values: some Sequence<ProgramValue>) {
    for (name, value) in zip(names, values) { states[name] = value }
  }
}

extension MILBlock {
  /// The names of the states that the block changes.
  fileprivate var statesWritten: Set<String> {
    operations.reduce(into: []) { names, operation in
      for block in operation.blocks { names.formUnion(block.statesWritten) }
      let argument = ["write_state": "input", "coreml_update_state": "state"][operation.type]
      if let name = argument.flatMap(operation.name) { names.insert(name) }
    }
  }
}
