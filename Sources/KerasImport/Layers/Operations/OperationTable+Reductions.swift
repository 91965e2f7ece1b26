import ByteFormats
import CoreMLModel

extension OperationTable {
  /// Sums, means and extrema along axes.
  static let reductions: [Operation] = [
    reduction(.avg, "reducemean", "mean"), reduction(.sum, "reducesum", "sum"),
    reduction(.max, "reducemax", "max", "amax"), reduction(.min, "reducemin", "min", "amin"),
    reduction(.prod, "reduceprod", "prod"), reduction(.max, ofConditions: true, "any", "reduceany"),
    reduction(.min, ofConditions: true, "all", "reduceall"),
    Operation("var", "reducevariance", "variance") { call, input, network in
      let axes = try call.axes(of: input)
      let (_, variance) = try call.moments(input, axes, into: &network)
      return [try call.kept(variance, axes, &network)]
    },
    Operation("std", "reducestd") { call, input, network in
      let axes = try call.axes(of: input)
      let (_, variance) = try call.moments(input, axes, into: &network)
      let root = variance.with(network.unary(.sqrt, variance.blob, call.name, epsilon: 0))
      return [try call.kept(root, axes, &network)]
    },
    Operation("moments") { call, input, network in
      let axes = try call.axes(of: input)
      let mean = try network.reduced(.avg, input, axes, call.name + "__mean__", call.layer)
      let (_, variance) = try call.moments(
        input, axes, call.name + "__variance__", into: &network)
      return [try call.kept(mean, axes, &network), try call.kept(variance, axes, &network)]
    },
    Operation("logsumexp", "reducelogsumexp") { call, input, network in
      let axes = try call.axes(of: input)
      let largest = try network.reduced(.max, input, axes, call.name + "__max__", call.layer)
      var minus = largest
      minus.blob = network.affine(largest.blob, -1, 0, call.name + "__neg__")
      var exponentials = try network.elementwise(
        Add(), call.call([input, minus], "__difference__"))[0]
      exponentials.blob = network.unary(.exp, exponentials.blob, call.name + "__exp__")
      var sum = try network.reduced(.sum, exponentials, axes, call.name + "__sum__", call.layer)
      sum.blob = network.unary(
        .log, sum.blob, call.name + "__log__", epsilon: .leastNormalMagnitude)
      let result = try network.elementwise(
        Add(), call.call([sum, largest]))[0]
      return [try call.kept(result, axes, &network)]
    },
    Operation("norm", "euclideannorm") { call, input, network in
      let order = try call.constant(1, "ord")
      let isOne = order?.double == 1
      let axes = try call.axes(of: input, position: 2)
      // Along two axes, orders 1 and 2 are matrix norms.
      let isPlain = order == nil || ["euclidean", "fro"].contains(order?.string)
      guard isPlain || axes.count == 1 && (isOne || order?.double == 2) else {
        throw call.layer.unsupported(
          "a norm of the order \(order?.text ?? "") along \(axes.count) axes is not supported")
      }
      let terms = input.with(
        isOne
          ? network.unary(.abs, input.blob, call.name + "__terms__")
          : network.product(input.blob, input.blob, call.name + "__terms__"))
      var sum = try network.reduced(
        .sum, terms, axes, isOne ? call.name : call.name + "__sum__", call.layer)
      if !isOne { sum.blob = network.unary(.sqrt, sum.blob, call.name, epsilon: 0) }
      return [try call.kept(sum, axes, position: 3, &network)]
    },
    Operation("countnonzero") { call, input, network in
      let counts = input.with(network.add(call.name + "__nonzero__", NotEqual(), [input.blob]))
      let axes = try call.axes(of: input)
      let sum = try network.reduced(.sum, counts, axes, call.name, call.layer)
      return [try call.kept(sum, axes, &network)]
    },
  ]

  private static func reduction(
    _ mode: Reduce.Operation, ofConditions: Bool = false, _ names: String...
  ) -> Operation {
    Operation(names: names) { call, network in
      if let merged = try call.mergedList(mode, &network) { return merged }
      var input = try call.input
      if ofConditions {
        input.blob = network.add(call.name + "__nonzero__", NotEqual(), [input.blob])
      }
      let axes = try call.axes(of: input)
      let result = try network.reduced(mode, input, axes, call.name, call.layer)
      return [try call.kept(result, axes, &network)]
    }
  }
}

extension OperationCall {
  /// The elementwise sum, mean or extremum of a list of tensors; nil for a single tensor.
  fileprivate func mergedList(
    _ mode: Reduce.Operation, _ network: inout KerasWriter
  ) throws -> [KerasTensor]? {
    let classes: [Reduce.Operation: String] = [
      .sum: "Add", .avg: "Average", .max: "Maximum", .min: "Minimum", .prod: "Multiply",
    ]
    guard case .list? = argument(0, "input_tensor", "x", "a"), let className = classes[mode],
      try ints(1, "axis", "axes", "reduction_indices") == [0]
    else { return nil }
    return try convert(inputs(&network), as: className, JSONObject(), into: &network)
  }

  /// The axes of a reduction.
  fileprivate func axes(of tensor: KerasTensor, position: Int = 1) throws -> Set<Int> {
    let named = try ints(position, "axis", "axes", "reduction_indices").orThrow(
      layer.unsupported("reducing the batch axis is not supported"))
    return Set(try named.map { try axis($0, of: tensor) })
  }

  /// The reduced tensor, keeping the reduced axes only if `keepdims` is set.
  fileprivate func kept(
    _ tensor: KerasTensor, _ axes: Set<Int>, position: Int = 2, _ network: inout KerasWriter
  ) throws -> KerasTensor {
    let keepsAxes = try bool(position, "keepdims", "keep_dims", default: false)
    return network.settled(keepsAxes ? tensor : tensor.without(axes), for: name)
  }

  /// x − mean, and the variance.
  func moments(
    _ tensor: KerasTensor, _ axes: Set<Int>, _ target: String? = nil,
    into network: inout KerasWriter
  ) throws -> (centered: KerasTensor, variance: KerasTensor) {
    let name = target ?? self.name
    var mean = try network.reduced(.avg, tensor, axes, name + "__mean__", layer)
    mean.blob = network.affine(mean.blob, -1, 0, name + "__neg__")
    let centered = try network.elementwise(
      Add(), call([tensor, mean], target == nil ? "__centered__" : "__variance__centered__"))[0]
    let squares = centered.with(network.product(centered.blob, centered.blob, name + "__squares__"))
    return (centered, try network.reduced(.avg, squares, axes, name + "__variance__", layer))
  }
}

extension KerasWriter {
  /// The tensor reduced over some axes, which keep length 1.
  mutating func reduced(
    _ mode: Reduce.Operation, _ tensor: KerasTensor, _ axes: Set<Int>, _ name: String,
    _ call: LayerCall
  ) throws -> KerasTensor {
    var input = tensor
    // Core ML cannot reduce the sequence axis, so another axis replaces it.
    if let sequence = input.index(of: .sequence), axes.contains(sequence) {
      let free = [BlobAxis.width, .height, .channel].first { place in
        guard let other = input.index(of: place) else { return true }
        return !axes.contains(other)
      }
      guard let free else { throw call.unsupported("reducing \(input.shapeText) is not supported") }
      var layout = input.layout
      if let other = input.index(of: free) { layout.axes[other - 1] = .sequence }
      layout.axes[sequence - 1] = free
      input = relaid(input, to: layout, for: name)
    }
    let steps = Reduce.Axis.steps(over: Set(axes.map { input.layout.axes[$0 - 1].blobIndex }))
    for (index, step) in steps.enumerated() {
      let isLast = index == steps.count - 1
      input.blob = reduced(mode, step.axis, input.blob, isLast ? name : "\(name)__\(index)__")
    }
    for axis in axes { input.shape[axis] = 1 }
    return input
  }
}

extension KerasTensor {
  /// The tensor without these axes, all of which have size 1.
  func without(_ removed: Set<Int>) -> KerasTensor {
    var tensor = self
    tensor.shape = shape.indices.filter { !removed.contains($0) }.map { shape[$0] }
    tensor.layout.axes = layout.axes.indices.filter { !removed.contains($0 + 1) }
      .map { layout.axes[$0] }
    return tensor
  }

  /// The tensor with an additional axis of size 1; nil if its blob has no free axis.
  func inserting(at index: Int) -> KerasTensor? {
    guard (1...rank).contains(index) else { return nil }
    // Prefers the sequence axis if the result is a sequence or a sequence of images.
    let order: [BlobAxis] = rank == 3 ? [.height, .width, .channel, .sequence] : BlobAxis.allCases
    guard let free = order.first(where: { !layout.axes.contains($0) }) else { return nil }
    var tensor = self
    tensor.shape.insert(1, at: index)
    tensor.layout.axes.insert(free, at: index - 1)
    return tensor
  }
}
