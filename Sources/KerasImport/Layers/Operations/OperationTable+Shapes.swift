import CoreMLModel
import TensorCore

extension OperationTable {
  /// Operations that reorder, regroup or concatenate elements.
  static let shapes: [Operation] = [
    Operation("shape") { call, input, _ in
      [KerasTensor(sizes: KnownSizes(values: input.symbolicShape))]
    },
    Operation("reshape") { call, input, network in
      let shape = try call.shape(1, "shape", "newshape", "new_shape", "target_shape").orThrow(
        call.layer.error("its shape is missing"))
      return try call.reshaped(input, shape, into: &network)
    },
    Operation("flatten", "ravel", "batchflatten") { call, input, network in
      return try call.convert([input], as: "Flatten", [:], into: &network)
    },
    Operation("transpose", "permutedimensions") { call, input, network in
      let order = try call.ints(1, "perm", "axes", "pattern")
      return [
        try call.transposed(input, order ?? (0..<input.fullShape.count).reversed(), into: &network)
      ]
    },
    Operation("swapaxes") { call, input, network in
      let a = try call.axis(call.int(1, "axis1", default: -1), of: input)
      let b = try call.axis(call.int(2, "axis2", default: -2), of: input)
      var order = Array(0..<input.rank)
      order.swapAt(a, b)
      return [try call.transposed(input, order, into: &network)]
    },
    Operation("moveaxis") { call, input, network in
      let sources = try (call.ints(1, "source") ?? []).map { try call.axis($0, of: input) }
      let targets = try (call.ints(2, "destination") ?? []).map { try call.axis($0, of: input) }
      guard sources.count == targets.count, Set(sources).count == sources.count else {
        throw call.layer.error("sources and destinations differ in number")
      }
      var order = (0..<input.rank).filter { !sources.contains($0) }
      for (target, source) in zip(targets, sources).sorted(by: { $0.0 < $1.0 }) {
        order.insert(source, at: min(target, order.count))
      }
      return [try call.transposed(input, order, into: &network)]
    },
    Operation("reverse", "reversev2", "flip", "fliplr", "imageflip") { call, network in
      let axes = try call.ints(1, "axis", "dims") ?? [1]
      return [try call.reversed(call.input, axes, into: &network)]
    },
    Operation("flipleftright") { call, network in
      [try call.reversed(call.input, [-2], into: &network)]
    },
    Operation("flipupdown") { call, network in
      [try call.reversed(call.input, [-3], into: &network)]
    },
    Operation("roll") { call, input, network in
      let shifts = try call.ints(1, "shift") ?? []
      let axes = try (call.ints(2, "axis") ?? []).map { try call.axis($0, of: input) }
      try call.layer.require(
        !shifts.isEmpty && shifts.count == axes.count, unsupported: "a shift needs axes")
      var output = input
      for (index, (shift, axis)) in zip(shifts, axes).enumerated() {
        guard let length = input.shape[axis], length > 0 else {
          throw call.layer.unsupported("a shift along an axis of unknown size is not supported")
        }
        let start = ((length - shift) % length + length) % length
        if start == 0 { continue }
        let parts = try [start..<length, 0..<start].map { range in
          try call.slice(output, axis, range, "__\(index)_\(range.lowerBound)__", into: &network)
        }
        output = try network.concatenated(
          axis: axis, call.call(parts, index == axes.count - 1 ? "" : "__\(index)__"))[0]
      }
      return [output]
    },
    Operation("repeat") { call, input, network in
      let count = try call.int(1, "repeats", default: 1)
      guard let named = try call.ints(2, "axis")?.first, (1...4096).contains(count) else {
        throw call.layer.unsupported("repeating elements needs an axis")
      }
      if named == 0 { return [try call.repeatedItems(input, count, into: &network)] }
      try call.layer.requireNoLeadingAxes()
      let axis = try call.axis(named, of: input)
      var layout = input.layout
      if let other = input.index(of: .width) { layout.axes[other - 1] = layout.axes[axis - 1] }
      layout.axes[axis - 1] = .width
      var output = network.relaid(input, to: layout, for: call.name)
      output.blob = network.add(call.name, Upsample([1, count]), [output.blob])
      output.shape[axis] = try input.shape[axis].map {
        try checkedProduct([$0, count], limit: Limits.dimension)
      }
      return [network.settled(output, for: call.name)]
    },
    Operation("broadcastto") { call, input, network in
      [try call.broadcast(input, into: &network)]
    },
    Operation("tril", "triu") { call, network in
      let isLower = call.layer.className.lowercased().contains("tril")
      let input = try call.input
      let diagonal = try call.int(1, "k", default: 0)
      guard input.rank >= 3, let rows = input.shape[input.rank - 2], let columns = input.channels,
        rows * columns <= 1 << 22
      else { throw call.layer.unsupported("a triangle of \(input.shapeText) is not supported") }
      let axes = try ReducibleAxes([input.rank - 2, input.rank - 1], of: input, call.layer)
      let moved = network.relaid(input, to: axes.layout, for: call.name)
      let constant = LoadConstant(
        Weights(
          (0..<rows).flatMap { row in
            (0..<columns).map { column -> Float in
              (isLower ? column - row <= diagonal : column - row >= diagonal) ? 1 : 0
            }
          }), [1, rows, columns])
      let triangle = network.add(call.name + "__triangle__", constant, [])
      return [moved.with(network.product(moved.blob, triangle, call.name))]
    },
    Operation("expanddims") { call, input, network in
      let axis = try call.int(1, "axis", default: -1)
      let index = axis < 0 ? input.fullShape.count + 1 + axis : axis
      if input.leading != nil || input.rank == 5, !input.isShapeAssumed {
        var sizes = try call.layer.known(input.fullShape.dropFirst(), of: input)
        try call.layer.require((1...sizes.count + 1).contains(index), "it has no axis \(axis)")
        sizes.insert(1, at: index - 1)
        return [
          try network.regrouped(
            input, windows: input.leading?.windows ?? 1, sizes, call.name, call.layer)
        ]
      }
      let output = try input.inserting(at: index).orThrow(
        call.layer.unsupported("\(input.shapeText) cannot have one more axis at \(axis)"))
      return [network.settled(output, for: call.name)]
    },
    Operation("squeeze") { call, input, network in
      let named = try call.ints(1, "axis", "squeeze_dims")
      if let leading = input.leading {
        let full = input.fullShape
        let removed = Set(
          named?.map { $0 < 0 ? $0 + full.count : $0 } ?? (1..<full.count).filter { full[$0] == 1 })
        try call.layer.require(
          removed.allSatisfy { (1..<full.count).contains($0) && full[$0] == 1 },
          "only axes of size 1 of \(KerasTensor.text(full)) can be removed")
        let sizes = try call.layer.known(
          (1..<full.count).filter { !removed.contains($0) }.map { full[$0] }, of: input)
        return [
          try network.regrouped(input, windows: leading.windows, sizes, call.name, call.layer)
        ]
      }
      let axes =
        try named.map { try Set($0.map { try call.axis($0, of: input) }) }
        ?? Set((1..<input.rank).filter { input.shape[$0] == 1 })
      guard axes.allSatisfy({ input.shape[$0] == 1 }) else {
        throw call.layer.error("only axes of size 1 of \(input.shapeText) can be removed")
      }
      return [network.settled(input.without(axes), for: call.name)]
    },
    Operation("concat", "concatenate", "concatv2") { call, network in
      if let sizes = try call.joinedSizes() { return [sizes] }
      let axis = try call.int(1, "axis", default: 0)
      return try network.concatenated(axis: axis, call.call(call.inputs(&network)))
    },
    Operation("stack", "pack") { call, network in
      if let sizes = try call.joinedSizes() { return [sizes] }
      let axis = try call.int(1, "axis", default: 0)
      let tensors = try call.inputs(&network)
      guard let first = tensors.first else { throw call.layer.error("it has no inputs") }
      let index = axis < 0 ? first.rank + 1 + axis : axis
      let raised = try tensors.map { tensor -> KerasTensor in
        let raised = try tensor.inserting(at: index).orThrow(
          call.layer.unsupported("\(tensor.shapeText) cannot have one more axis at \(axis)"))
        return network.settled(raised, for: call.name)
      }
      return try network.concatenated(axis: index, call.call(raised))
    },
    Operation("tile") { call, input, network in
      guard let counts = try call.ints(1, "multiples", "repeats", "n"), counts.count == input.rank
      else { throw call.layer.unsupported("repetitions and axes differ in number") }
      return [try call.tiled(input, counts, into: &network)]
    },
  ]
}

extension OperationCall {
  /// Repeats each item of the batch `count` times.
  fileprivate func repeatedItems(
    _ input: KerasTensor, _ count: Int, into network: inout KerasWriter
  ) throws -> KerasTensor {
    let sizes = try layer.known(input.fullShape.dropFirst(), of: input)
    let windows = try checkedProduct(
      [input.leading?.windows ?? 1, count], limit: Limits.dimension)
    let inner = try checkedProduct(sizes, limit: Limits.dimension)
    let rows = try network.reshaped(
      input.gathered, to: [windows / count, 1, inner], name: name + "__items__", layer)
    let copies = try tiled(rows, [1, 1, count, 1], into: &network)
    return try network.regrouped(copies, windows: windows, sizes, name, layer)
  }

  /// The tensor tiled along each axis.
  func tiled(
    _ input: KerasTensor, _ counts: [Int], into network: inout KerasWriter
  ) throws -> KerasTensor {
    var output = input
    for (axis, count) in counts.enumerated() where count != 1 {
      try layer.require(
        axis > 0 && (2...1024).contains(count),
        unsupported: "repeating \(counts) times is not supported")
      output = try network.concatenated(
        axis: axis,
        call([KerasTensor](repeating: output, count: count), "__axis\(axis)__"))[0]
    }
    return output
  }

  /// Reverses the elements along some axes.
  func reversed(
    _ input: KerasTensor, _ axes: [Int], _ suffix: String = "", into network: inout KerasWriter
  ) throws -> KerasTensor {
    var reverse = Reverse()
    reverse.reverseDim = [Bool](repeating: false, count: 5)
    for axis in axes {
      reverse.reverseDim[input.layout.axes[try self.axis(axis, of: input) - 1].blobIndex] = true
    }
    return input.with(network.add(name + suffix, reverse, [input.blob]))
  }

  func transposed(
    _ input: KerasTensor, _ order: [Int], into network: inout KerasWriter
  ) throws -> KerasTensor {
    guard order.sorted() == Array(0..<input.fullShape.count) else {
      throw layer.error("\(order) is not a permutation of the axes of \(input.shapeText)")
    }
    guard order[0] == 0 else { throw layer.unsupported("transposing the batch is not supported") }
    if input.leading != nil { return try network.transposed(leading: input, order, layer) }
    return network.settled(input.reordered(Array(order.dropFirst())), for: name)
  }

  /// The concatenation of sizes; nil if any input is an ordinary tensor.
  func joinedSizes() throws -> KerasTensor? {
    guard case .list(let elements)? = argument(0, "values", "xs") else { return nil }
    let operands = try elements.map { try operand($0) }
    for case .tensor(let tensor) in operands where tensor.sizes == nil { return nil }
    var joined: [SymbolicSize] = []
    for operand in operands {
      switch operand {
      case .tensor(let tensor): joined += tensor.sizes?.values ?? []
      case .constant(let value):
        if let int = value.int {
          joined.append(.known(int))
        } else {
          joined += try (value.array ?? []).map { element in
            let int = try element.int.orThrow(
              layer.unsupported("joining \(value.text) to a shape is not supported"))
            return .known(int)
          }
        }
      }
    }
    return KerasTensor(sizes: KnownSizes(values: joined))
  }
}
