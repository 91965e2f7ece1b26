import CoreMLModel
import TensorCore

/// Branches and loops as operations with blocks. A nested network writes blobs of the enclosing
/// network; the block returns those that are read afterwards.
extension NetworkLowering {
  struct ControlCall {
    let layer: NeuralNetworkLayer
    let label: String
    /// The shapes in the networks of the layer.
    let inside: [InferredShapes]
    /// The blobs that are read after the layer.
    let live: Set<String>
  }

  func control(_ call: ControlCall, _ scope: inout Scope, _ failures: inout [Failure]) throws {
    let mark = builder.operations.count
    try require(
      call.inside.count == (call.layer.parameters as? any ControlLayer)?.networks.count,
      .unsupported,
      "networks are nested too deeply")
    let (names, results) =
      switch call.layer.parameters {
      case let branch as Branch: try self.branch(branch, call, scope, &failures)
      case let loop as Loop: try self.loop(loop, call, scope, &failures)
      default: throw ModelError(.unsupported, "ML Programs have no operation for it")
      }
    for (name, result) in zip(names, results) {
      scope.blobs[name] = builder.rename(result, to: scope.variableName(name), since: mark)
      scope.values[name] = nil
    }
  }

  private typealias Results = (names: [String], variables: [Variable])

  private func branch(
    _ branch: Branch, _ call: ControlCall, _ scope: Scope, _ failures: inout [Failure]
  ) throws -> Results {
    let (layer, label, inside, live) = (call.layer, call.label, call.inside, call.live)
    let names = layer.blobsWrittenInside.intersection(live).sorted()
    if names.isEmpty { return ([], []) }
    let condition = try scalar(variable(layer.input.first ?? "", scope), .bool)
    var outputs: [[(type: MILDataType, shape: [Int])]] = []
    func block(_ network: NeuralNetwork?, _ inferred: InferredShapes) throws -> MILBlock {
      var inner = scope
      (inner.inferred, inner.live, inner.isInside) = (inferred, live, true)
      return try builder.block {
        if let network { try lower(network, &inner, &failures) }
        let results = try names.map { name in
          // Blobs that only the other network writes are zeros.
          let other = inside.first { $0.shapes[name] != nil } ?? inferred
          return try inner.blobs[name] == nil ? zeros(name, label, other) : result(name, inner)
        }
        outputs.append(results.map { ($0.type, $0.shape) })
        return results
      }
    }
    let blocks = [
      try block(branch.ifBranch, inside[0]),
      try block(branch.elseBranch, inside.count > 1 ? inside[1] : scope.inferred),
    ]
    for (name, (a, b)) in zip(names, zip(outputs[0], outputs[1])) {
      try require(
        a.shape == b.shape, .unsupported, "the shape of '\(name)' depends on which network runs")
    }
    let results = try builder.add(
      "cond", label, [("pred", .variable(condition))], blocks: blocks, outputs: outputs[0])
    return (names, results)
  }

  private func loop(
    _ loop: Loop, _ call: ControlCall, _ scope: Scope, _ failures: inout [Failure]
  ) throws -> Results {
    let (layer, label, inside, live) = (call.layer, call.label, call.inside, call.live)
    guard let body = loop.bodyNetwork, let bodyShapes = inside.last else {
      throw ModelError(.malformed, "the network has no layers", field: "bodyNetwork")
    }
    let condition = loop.conditionNetwork.flatMap { $0.layers.isEmpty ? nil : $0 }
    let count = try count(loop, layer, label, scope)
    try require(
      count != nil || condition != nil, "nothing terminates the loop", field: "conditionNetwork")
    let readInside = body.blobsRead.union(condition?.blobsRead ?? [])
    let names = body.blobsWritten.filter {
      live.contains($0) || scope.blobs[$0] != nil && readInside.contains($0)
    }.sorted()
    if let changed = condition?.blobsWritten.subtracting([loop.conditionVar])
      .intersection(live.union(body.blobsRead).union(names)).min()
    {
      throw ModelError(
        .unsupported, "the condition changes '\(changed)', which other layers read",
        field: "conditionNetwork")
    }
    let initial = try names.map { name in
      // Blobs that only the loop writes start as zeros.
      try scope.blobs[name] == nil ? zeros(name, label, bodyShapes) : result(name, scope)
    }

    /// A block with its own variables, starting with the iteration count.
    func block(
      _ inferred: InferredShapes?, _ make: (inout Scope, _ done: Variable?) throws -> [Variable]
    ) throws -> MILBlock {
      func own(_ variable: Variable, _ name: String) -> Variable {
        var own = variable
        own.name = builder.uniqueName(name + "_before")
        return own
      }
      let done = count.map { _ in
        Variable(name: builder.uniqueName("\(label)_done"), type: .int32, shape: [])
      }
      let variables = zip(initial, names).map { own($0, $1) }
      var inner = scope
      inner.inferred = inferred ?? scope.inferred
      (inner.live, inner.isInside) = (live.union(readInside), true)
      for name in body.blobsWritten { inner.values[name] = nil }
      for (name, variable) in zip(names, variables) { inner.blobs[name] = variable }
      return try builder.block((done.map { [$0] } ?? []) + variables) { try make(&inner, done) }
    }
    let test = try block(condition == nil ? nil : inside.first) { inner, done in
      var holds: [Variable] = []
      if let condition {
        try lower(condition, &inner, &failures)
        holds.append(try scalar(variable(loop.conditionVar, inner), .bool))
      }
      if let done, let count {
        holds += try builder.add(
          "less", label, [("x", .variable(done)), ("y", .variable(count))], type: .int32,
          outputs: [(.bool, [])])
      }
      if holds.count == 1 { return holds }
      return try builder.add(
        "logical_and", label, [("x", .variable(holds[0])), ("y", .variable(holds[1]))],
        type: .bool, outputs: [(.bool, [])])
    }
    let step = try block(bodyShapes) { inner, done in
      try lower(body, &inner, &failures)
      let next = try done.map {
        try builder.add(
          "add", label, [("x", .variable($0)), ("y", .int(1))], type: .int32,
          outputs: [(.int32, [])])
      }
      let results = try names.map { try result($0, inner) }
      for (name, (result, start)) in zip(names, zip(results, initial)) {
        try require(
          result.shape == start.shape, .unsupported, "the loop changes the shape of '\(name)'")
      }
      return (next ?? []) + results
    }
    var variables = initial
    if count != nil {
      variables.insert(
        try builder.constant(MILValue(ints: [0], []), name: "\(label)_start"), at: 0)
    }
    let results = try builder.add(
      "while_loop", label, [("loop_vars", .variables(variables))], blocks: [test, step],
      outputs: variables.map { ($0.type, $0.shape) })
    return (names, Array(results.suffix(names.count)))
  }

  /// The maximum number of iterations.
  private func count(
    _ loop: Loop, _ layer: NeuralNetworkLayer, _ label: String, _ scope: Scope
  ) throws -> Variable? {
    if let name = layer.input.first { return try scalar(variable(name, scope), .int32) }
    if loop.maxLoopIterations <= 0 { return nil }
    return try builder.constant(
      MILValue(ints: [loop.maxLoopIterations], []), name: "\(label)_count")
  }

  /// The first element.
  private func scalar(_ variable: Variable, _ type: MILDataType) throws -> Variable {
    var first = variable
    let count = try checkedProduct(variable.shape)
    if count > 1 {
      first = try builder.add(
        "slice_by_index", variable.name,
        [
          ("x", .variable(builder.reshape(variable, to: [count]))), ("begin", .ints([0])),
          ("end", .ints([1])),
        ], type: variable.type, shape: [1])
    }
    return try builder.reshape(builder.cast(first, to: type), to: [])
  }

  /// A blob in its own shape. Scalars may be counters, for which half precision is too coarse.
  private func result(_ name: String, _ scope: Scope) throws -> Variable {
    let variable = try variable(name, scope)
    let shape = try scope.inferred.shapes[name].orThrow(
      ModelError(.unsupported, "the shape of '\(name)' depends on what runs"))
    return try builder.reshape(builder.cast(variable, to: type(shape)), to: shape)
  }

  private func type(_ shape: [Int]) -> MILDataType {
    shape.allSatisfy { $0 == 1 } ? .float32 : options.precision
  }

  private func zeros(_ name: String, _ label: String, _ inferred: InferredShapes) throws -> Variable
  {
    let shape = try inferred.shapes[name].orThrow(
      ModelError(.unsupported, "the shape of '\(name)' depends on what runs"))
    return try builder.add(
      "fill", label, [("shape", .ints(shape)), ("value", .number(0))], type: type(shape),
      shape: shape)
  }
}
