import CoreMLModel
import Formulas
import TensorCore

extension OperationGraph {
  /// Removes operations that move axes, or moves them after others if fewer remain that way.
  func moveAxes() throws {
    for _ in 0..<8 {
      var isChanged = try joinMoves()
      for name in names where movesAxes(name) {
        guard let view = view(name), var region = MovedRegion(self, name, view) else { continue }
        region.grow()
        if region.saving > 0 {
          try region.write()
          isChanged = true
        }
      }
      if try !isChanged && !transposeFactors() && !moveIndices() { return }
    }
  }

  /// Changes the shape of indices instead of that of the rows that they look up. Returns whether any
  /// is changed.
  private func moveIndices() throws -> Bool {
    var isChanged = false
    for name in names where movesAxes(name) {
      guard let rows = operations[name]?.name("x"), let gather = self[rows], let type = type(name),
        gather.type == "gather", isOnly(name, of: rows), numbers(gather, "axis") == [0],
        numbers(gather, "batch_dims").map({ $0 == [0] }) ?? true, let result = shape(name),
        let row = gather.name("x").flatMap({ shape($0) })?.dropFirst(),
        operations[name]?.type != "transpose", result.count > row.count,
        Array(row) == result.suffix(row.count)
      else { continue }
      try replace(name) {
        var arguments: [(String, Argument)] = []
        for input in gather.inputs {
          guard let value = gather.name(input.key) else { continue }
          var x = try variable(value)
          if input.key == "indices" {
            x = try builder.reshaped(x, to: result.dropLast(row.count))
          }
          arguments.append((input.key, .variable(x)))
        }
        return try builder.add("gather", name, arguments, type: type, shape: result)
      }
      isChanged = true
    }
    return isChanged
  }

  /// The operation's result as a view of its input; nil if axes are split or joined.
  fileprivate func view(_ name: String) -> AxisView? {
    guard let operation = operations[name], let x = operation.name("x"), let from = shape(x),
      let to = shape(name)
    else { return nil }
    if operation.type == "transpose" {
      return axes(operation, "perm").map { AxisView(name: x, sources: $0, rank: from.count) }
    }
    var axes = from.indices[...]
    var sources: [Int?] = []
    for size in to {
      if size == 1 {
        sources.append(nil)
        continue
      }
      while let axis = axes.first, from[axis] == 1 { axes.removeFirst() }
      guard let axis = axes.popFirst(), from[axis] == size else { return nil }
      sources.append(axis)
    }
    return axes.allSatisfy { from[$0] == 1 }
      ? AxisView(name: x, sources: sources, rank: from.count) : nil
  }
}

/// A value as a view of another: with its axes reordered, and axes of length 1 added or removed.
private struct AxisView: Equatable {
  /// The name of the other value.
  var name: String
  /// For each axis, the axis of the other value; nil for an added axis of length 1.
  var sources: [Int?]
  /// The other value's rank.
  var rank: Int

  func isLike(_ other: AxisView) -> Bool { sources == other.sources && rank == other.rank }

  /// Whether the elements are in the same order.
  var keepsOrder: Bool {
    let kept = sources.compactMap { $0 }
    return kept == kept.sorted()
  }

  /// The other value's shape.
  func inner(_ shape: [Int]) -> [Int] {
    var result = [Int](repeating: 1, count: rank)
    for (axis, source) in sources.enumerated() { if let source { result[source] = shape[axis] } }
    return result
  }

  /// The operations from the other value to this one.
  func chain(to shape: [Int]) -> AxisChain? {
    var chain = AxisChain(inner(shape))
    let kept = sources.compactMap { $0 }
    chain.transpose(kept + (0..<rank).filter { !kept.contains($0) })
    return chain.reshape(shape) ? chain : nil
  }
}

/// Operations after one that moves axes, which can be computed before the move.
private struct MovedRegion {
  private let graph: OperationGraph
  /// For each value, the view with the axes before the move. If the region computes the value, the
  /// view has its name.
  private var views: [String: AxisView] = [:]
  private var inside: [String] = []
  private var isInside: Set<String> = []
  private var waiting: Set<String> = []
  private var seen: Set<String> = []

  init?(_ graph: OperationGraph, _ name: String, _ view: AxisView) {
    guard graph.shape(name) != nil else { return nil }
    self.graph = graph
    add(name, view)
  }

  private mutating func add(_ name: String, _ view: AxisView) {
    views[name] = view
    waiting.formUnion(graph.users(name).filter { !seen.contains($0) })
  }

  mutating func grow() {
    while let name = waiting.min(by: { graph.position($0) < graph.position($1) }),
      inside.count < 200
    {
      waiting.remove(name)
      seen.insert(name)
      guard !graph.movesAxes(name), let view = view(of: name) else { continue }
      inside.append(name)
      isInside.insert(name)
      add(name, view)
    }
    inside.sort { graph.position($0) < graph.position($1) }
  }

  // MARK: - Costs

  /// The values that are also needed with their own axes.
  private var needed: [String] {
    inside.filter { name in
      graph.isKept(name)
        || graph.users(name).contains { !isInside.contains($0) && way(name, $0) == nil }
    }
  }

  /// The moves from the moved value to the result of `user`, a later operation that moves axes.
  private func way(_ name: String, _ user: String) -> AxisChain? {
    guard graph.movesAxes(user), let view = views[name], let shape = graph.shape(name),
      var chain = view.chain(to: shape), graph.follow(user, &chain)
    else { return nil }
    return chain
  }

  /// The number of operations saved.
  var saving: Int {
    let others = views.filter { !isInside.contains($0.key) }
    if inside.isEmpty || others.contains(where: { views[$0.value.name] != nil }) { return 0 }
    let needed = Set(needed)
    var saving = -needed.count
    for (name, _) in views {
      let ways = graph.users(name).filter { !isInside.contains($0) }.map { way(name, $0) }
      if isInside.contains(name) {
        for case let way? in ways where way.steps.isEmpty || !needed.contains(name) {
          saving += 1 - way.steps.count
        }
      } else if !graph.isKept(name), ways.allSatisfy({ ($0?.steps.count ?? 2) <= 1 }) {
        saving += 1
        for case let way? in ways { saving += 1 - way.steps.count }
      }
    }
    return saving
  }

  // MARK: - Operations

  /// The result of the operation if it reads the views; nil if the operation cannot be moved.
  private mutating func view(of name: String) -> AxisView? {
    guard let operation = graph[name], let shape = graph.shape(name) else { return nil }
    let values = operation.names(operation.argument("values") == nil ? "x" : "values")
    guard let first = values.first(where: { views[$0] != nil }) ?? operation.name("y"),
      var view = views[first]
    else { return nil }
    view.name = name
    let type = operation.type
    if Self.unary.contains(type) { return view }
    if Self.binary.contains(type), let x = operation.name("x"), let y = operation.name("y") {
      return fits(x, view) && fits(y, view) ? view : nil
    }
    guard values.allSatisfy({ fits($0, view, isArray: true) }) else { return nil }
    func sources(_ argument: String) -> [Int]? {
      guard let axes = graph.axes(operation, argument) else { return nil }
      let sources = axes.compactMap { view.sources[$0] }
      return sources.count == axes.count ? sources : nil
    }
    switch type {
    case "softmax", "concat": return sources("axis") == nil ? nil : view
    case _ where type.hasPrefix("reduce_") && !type.hasPrefix("reduce_arg"):
      guard let axes = graph.axes(operation, "axes"), sources("axes") != nil else { return nil }
      if graph.numbers(operation, "keep_dims") != [1] {
        view.sources = view.sources.indices.filter { !axes.contains($0) }.map { view.sources[$0] }
      }
      return view
    case "layer_norm":
      guard let axes = sources("axes") else { return nil }
      let isLast = axes == Array(view.rank - axes.count..<view.rank)
      return isLast || view.rank == 4 && axes == [1] ? view : nil
    case "linear", "conv":
      guard type == "linear" || isProduct(operation), let weight = operation.name("weight"),
        let axis = view.sources[type == "linear" ? shape.count - 1 : 1],
        graph.isConstant(weight)
      else { return nil }
      return axis == view.rank - 1 || axis == 1 && view.rank == 4 ? view : nil
    default: return nil
    }
  }

  /// Whether the value is available with the axes of the view.
  private mutating func fits(_ value: String, _ view: AxisView, isArray: Bool = false) -> Bool {
    if let own = views[value] { return own.isLike(view) }
    if !isArray, graph.number(value) != nil { return true }
    if !isArray, graph.isConstant(value) { return constantShape(value, view) != nil }
    guard graph.movesAxes(value), var own = graph.view(value) else { return false }
    if !own.isLike(view) {
      // The same elements may exist with the axes of the view.
      let inner = view.inner(graph.shape(value) ?? [])
      let others = graph.users(own.name).filter {
        graph.movesAxes($0) && graph.view($0)?.keepsOrder == true
      }
      guard own.keepsOrder, view.keepsOrder,
        let other = ([own.name] + others).first(where: { graph.shape($0) == inner }),
        graph.position(other) < graph.position(value)
      else { return false }
      own = AxisView(name: other, sources: view.sources, rank: view.rank)
    }
    add(value, own)
    return true
  }

  /// The shape of a constant with the axes of the view, if its elements stay in order.
  private func constantShape(_ value: String, _ view: AxisView) -> [Int]? {
    guard let own = graph.shape(value), own.count <= view.sources.count else { return nil }
    let full = [Int](repeating: 1, count: view.sources.count - own.count) + own
    let long = full.indices.filter { full[$0] > 1 }
    let sources = long.compactMap { view.sources[$0] }
    return sources.count == long.count && sources == sources.sorted() ? view.inner(full) : nil
  }

  /// Whether a convolution multiplies the channels of each pixel with a matrix.
  private func isProduct(_ operation: MILOperation) -> Bool {
    guard let weight = operation.name("weight"), let shape = graph.shape(weight) else {
      return false
    }
    return shape.count == 4 && shape[2] == 1 && shape[3] == 1
      && graph.numbers(operation, "strides") == [1, 1]
      && graph.numbers(operation, "pad") == [0, 0, 0, 0]
      && graph.numbers(operation, "groups") == [1]
  }

  private static let binary: Set = ["add", "sub", "mul", "real_div", "maximum", "minimum", "pow"]
  private static let unary = Set(
    ElementFunction.allCases.filter { $0.operandCount == 1 }.compactMap(\.row.operation) + [
      "cast", "clamped_relu", "clip", "elu", "exp2", "identity", "leaky_relu", "linear_activation",
      "relu6", "scaled_tanh", "sigmoid_hard", "threshold", "thresholded_relu",
    ])

  // MARK: - Result

  func write() throws {
    let needed = Set(needed)
    let graph = graph
    // Shapes change while operations are replaced.
    let shapes = Dictionary(uniqueKeysWithValues: views.keys.map { ($0, graph.shape($0) ?? []) })
    var ways: [(user: String, of: String, way: AxisChain)] = []
    for name in views.keys.sorted(by: { graph.position($0) < graph.position($1) }) {
      for user in graph.users(name) where !isInside.contains(user) {
        guard let way = way(name, user), way.steps.isEmpty || !needed.contains(name) else {
          continue
        }
        ways.append((user, name, way))
      }
    }
    var names: [String: String] = [:]
    for (name, view) in views where !isInside.contains(name) { names[name] = view.name }
    for name in inside {
      names[name] = needed.contains(name) ? graph.builder.uniqueName(name + "_moved") : name
    }
    for name in inside {
      guard let operation = graph.operations[name], let view = views[name],
        let shape = shapes[name], let inner = names[name], let type = graph.type(name)
      else { continue }
      func make() throws -> Variable {
        try moved(operation, view, names, type: type, shape: view.inner(shape))
      }
      if !needed.contains(name) {
        try graph.replace(name, make)
        continue
      }
      try graph.add(inner, before: name, make)
      let x = try graph.variable(inner)
      guard let chain = view.chain(to: shape) else { continue }
      try graph.replace(name) { try chain.write(x, name, graph.builder) }
    }
    for (user, name, way) in ways where graph.operations[user] != nil {
      guard let inner = names[name] else { continue }
      if way.steps.isEmpty {
        try graph.substitute(user, inner)
      } else {
        let x = try graph.variable(inner)
        try graph.replace(user) { try way.write(x, user, graph.builder) }
      }
    }
  }

  /// Writes the operation with the axes of the views.
  private func moved(
    _ operation: MILOperation, _ view: AxisView, _ names: [String: String], type: MILDataType,
    shape: [Int]
  ) throws -> Variable {
    let label = operation.outputs[0].name
    var kind = operation.type
    let own =
      operation.inputs.lazy.flatMap { operation.names($0.key) }.compactMap { views[$0] }
      .first ?? view
    var arguments: [(String, Argument)] = []
    for input in operation.inputs {
      let values = try operation.names(input.key).map { value -> Variable in
        if let inner = names[value] { return try graph.variable(inner) }
        if Self.binary.contains(kind), graph.number(value) == nil,
          let shape = constantShape(value, own)
        {
          return try graph.constant(value, shape, input.key, label)()
        }
        return try graph.variable(value)
      }
      var argument = input.key == "values" ? Argument.variables(values) : .variable(values[0])
      if ["axes", "axis"].contains(input.key), let axes = graph.axes(operation, input.key) {
        let sources = axes.compactMap { own.sources[$0] }
        argument = input.key == "axis" ? .int(sources[0]) : .ints(sources)
      } else if input.key == "keep_dims" {
        argument = .flag(true)
      }
      arguments.append((input.key, argument))
    }
    if ["linear", "conv"].contains(kind), let weight = operation.name("weight"),
      let sizes = graph.shape(weight)
    {
      let axis = own.sources[kind == "linear" ? own.sources.count - 1 : 1]
      kind = axis == own.rank - 1 ? "linear" : "conv"
      let form = Array(sizes[..<2]) + (kind == "conv" ? [1, 1] : [])
      let matrix =
        form == sizes
        ? try graph.variable(weight) : try graph.constant(weight, form, "weight", label)()
      arguments =
        arguments.filter { ["x", "bias"].contains($0.0) } + [("weight", .variable(matrix))]
      if kind == "conv" {
        arguments += [
          ("strides", .ints([1, 1])), ("pad_type", .text("custom")), ("pad", .ints([0, 0, 0, 0])),
          ("dilations", .ints([1, 1])), ("groups", .int(1)),
        ]
      }
    }
    return try graph.builder.add(kind, label, arguments, type: type, shape: shape)
  }
}
