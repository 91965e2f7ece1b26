import CoreMLModel
import TensorCore

extension Padding: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    [try layer.onPlanes { layer, value, output in try lower(&layer, value, output) }]
  }

  private func lower(
    _ layer: inout LayerLowering, _ value: Graph.ValueID, _ output: Shape
  ) throws -> Graph.ValueID {
    let input = layer.graph.shape(value)
    let top = paddingAmounts?.top ?? 0
    let left = paddingAmounts?.left ?? 0
    var fill: Float = 0
    if case .constant(let value) = kind { fill = value }
    let isZero = fill == 0 && isConstant
    let operation = PlaneGatherOperation(
      kind: "padding", rows: try sources(input.height, output.height, top),
      columns: try sources(input.width, output.width, left), fill: fill,
      border: isZero ? (top, left) : nil)
    return layer.add(operation, [value], output)
  }

  private var isConstant: Bool {
    switch kind {
    case .constant, nil: true
    default: false
    }
  }

  /// The input's row or column for each of the output's; −1 for the constant.
  private func sources(_ size: Int, _ count: Int, _ before: Int) throws -> [Int] {
    try (0..<count).map { position in
      let index = position - before
      if index >= 0 && index < size { return index }
      switch kind {
      case .constant, nil: return -1
      case .replication: return min(max(index, 0), size - 1)
      case .reflection:
        let mirrored = index < 0 ? -index : 2 * (size - 1) - index
        try require(
          mirrored >= 0 && mirrored < size,
          "the reflection exceeds the input's size of \(size)",
          field: "paddingAmounts")
        return mirrored
      }
    }
  }
}
