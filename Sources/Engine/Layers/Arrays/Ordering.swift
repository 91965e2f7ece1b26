import CoreMLModel
import TensorCore

/// The lines along an axis of a row-major array: `length` elements each, `inner` apart.
struct AxisWalk: Sendable {
  let length: Int
  let inner: Int
  let outer: Int

  init(_ shape: Shape, _ axis: Int) throws {
    let axis = try ArrayShape.axis(axis, rank: shape.rank)
    length = shape.dimensions[axis]
    inner = shape.dimensions[(axis + 1)...].reduce(1, *)
    outer = shape.dimensions[..<axis].reduce(1, *)
  }

  var lines: Int { outer * inner }

  /// The first element of line `index` in an array of `length` elements along the axis.
  func start(_ index: Int, length: Int) -> Int { index / inner * length * inner + index % inner }
}

extension LayerLowering {
  fileprivate mutating func extremum(_ axis: Int, isLargest: Bool) throws -> [Graph.ValueID] {
    let walk = try AxisWalk(inputShapes[0], axis)
    let kind = isLargest ? "argmax" : "argmin"
    let operation = ArrayOperation(kind: kind, units: walk.lines) { buffers, line in
      let values = buffers.input + walk.start(line, length: walk.length)
      var best = 0
      for index in 1..<max(1, walk.length) {
        let (value, held) = (values[index &* walk.inner], values[best &* walk.inner])
        if isLargest ? value > held : value < held { best = index }
      }
      buffers.output[line] = Float(best)
    }
    return [add(operation, inputs, try outputShape())]
  }

  /// Indices along the axis in sorted order, and the sorted elements.
  fileprivate mutating func sorted(
    _ axis: Int, descending: Bool, count: Int?, _ shapes: [Shape]
  ) throws -> [Graph.ValueID] {
    let walk = try AxisWalk(inputShapes[0], axis)
    let kept = count ?? walk.length
    let givesValues = count != nil
    let operation = ArrayOperation(kind: "sort", units: walk.lines) { buffers, line in
      let values = buffers.input + walk.start(line, length: walk.length)
      func value(_ position: Int) -> Float { values[position &* walk.inner] }
      // Equal elements keep their order.
      let positions = (0..<walk.length).sorted { a, b in
        let (x, y) = (value(a), value(b))
        return x == y || x.isNaN || y.isNaN ? a < b : descending ? x > y : x < y
      }
      let start = walk.start(line, length: kept)
      for index in 0..<kept {
        let target = start + index * walk.inner
        if givesValues { buffers.outputs[0][target] = value(positions[index]) }
        let output = givesValues ? 1 : 0
        if output < buffers.outputs.count {
          buffers.outputs[output][target] = Float(positions[index])
        }
      }
    }
    return add(operation, inputs, shapes)
  }
}

extension ArgMax: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    try layer.extremum(axis, isLargest: true)
  }
}

extension ArgMin: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    try layer.extremum(axis, isLargest: false)
  }
}

extension TopK: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let shapes = Array(try layer.outputShapes().prefix(layer.layer.output.count))
    return try layer.sorted(axis, descending: !useBottomK, count: count, shapes)
  }
}

extension ArgSort: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    try layer.sorted(axis, descending: descending, count: nil, try layer.outputShapes())
  }
}

extension CumSum: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let shape = try layer.outputShape()
    let walk = try AxisWalk(shape, axis)
    let (excludes, reverses) = (excludeFinalSum, reverse)
    let operation = ArrayOperation(kind: "running sum", units: walk.lines) { buffers, line in
      let start = walk.start(line, length: walk.length)
      var total = 0.0
      for index in 0..<walk.length {
        let position = start + (reverses ? walk.length - 1 - index : index) * walk.inner
        let before = total
        total += Double(buffers.input[position])
        buffers.output[position] = Float(excludes ? before : total)
      }
    }
    return [layer.add(operation, layer.inputs, shape)]
  }
}
