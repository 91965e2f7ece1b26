import CoreMLModel
import TensorCore

extension OperationTable {
  /// Sums, means and extremes along axes.
  static let reductions: [Operation] = [
    reduction(.avg, "reducemean", "mean"), reduction(.sum, "reducesum", "sum"),
    reduction(.max, "reducemax", "max", "amax"), reduction(.min, "reducemin", "min", "amin"),
    reduction(.prod, "reduceprod", "prod"),
  ]

  private static func reduction(_ mode: Reduce.Operation, _ names: String...) -> Operation {
    Operation(names) { call, network in
      try call.reduced(mode, try call.input, into: &network)
    }
  }
}

extension Operation {
  fileprivate init(
    _ names: [String],
    convert: @escaping @Sendable (OperationCall, inout NetworkWriter) throws -> [KerasTensor]
  ) {
    self.names = names
    self.convert = convert
  }
}

extension OperationCall {
  /// The input reduced over the axes that the call names.
  fileprivate func reduced(
    _ mode: Reduce.Operation, _ tensor: KerasTensor, into network: inout NetworkWriter
  ) throws -> [KerasTensor] {
    guard let named = try ints(1, "axis", "reduction_indices") else {
      throw layer.unsupported("a reduction over the batch, too")
    }
    let axes = Set(try named.map { try axis($0, of: tensor) })
    let keepsAxes = try bool(2, "keepdims", "keep_dims", default: false)
    var input = tensor
    // The sequence axis cannot be reduced: another one takes its place.
    if let sequence = input.index(of: .sequence), axes.contains(sequence) {
      let free = [BlobAxis.width, .height, .channel].first { !input.layout.axes.contains($0) }
      guard let free else { throw layer.unsupported("a reduction of \(input.shapeText)") }
      var layout = input.layout
      layout.axes[sequence - 1] = free
      input = network.relaid(input, to: layout, for: name)
    }
    var places = Set(axes.map { input.layout.axes[$0 - 1] })
    // One step takes several axes where it can.
    var steps: [Reduce.Axis] = []
    if places == [.channel, .height, .width] {
      steps = [.chw]
    } else {
      if places.isSuperset(of: [.height, .width]) {
        steps.append(.hw)
        places.subtract([.height, .width])
      }
      for (place, axis) in [(BlobAxis.channel, Reduce.Axis.c), (.height, .h), (.width, .w)]
      where places.contains(place) {
        steps.append(axis)
      }
    }
    for (index, step) in steps.enumerated() {
      let isLast = index == steps.count - 1
      input.blob = network.reduced(mode, step, input.blob, isLast ? name : "\(name)__\(index)__")
    }
    for axis in axes { input.shape[axis] = 1 }
    if !keepsAxes { input = input.without(axes) }
    return [network.settled(input, for: name)]
  }
}

extension KerasTensor {
  /// The tensor without these axes, which have one element.
  func without(_ removed: Set<Int>) -> KerasTensor {
    var tensor = self
    tensor.shape = shape.indices.filter { !removed.contains($0) }.map { shape[$0] }
    tensor.layout.axes = layout.axes.indices.filter { !removed.contains($0 + 1) }
      .map { layout.axes[$0] }
    return tensor
  }

  /// The tensor with an axis of one element more; nil where Core ML's blob has none left.
  func inserting(at index: Int) -> KerasTensor? {
    guard (1...rank).contains(index) else { return nil }
    // The sequence before others, as sequences and sequences of images want it.
    let order: [BlobAxis] = rank == 3 ? [.height, .width, .channel, .sequence] : BlobAxis.allCases
    guard let free = order.first(where: { !layout.axes.contains($0) }) else { return nil }
    var tensor = self
    tensor.shape.insert(1, at: index)
    tensor.layout.axes.insert(free, at: index - 1)
    return tensor
  }
}
