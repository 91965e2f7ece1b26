import CoreMLModel
import TensorCore

extension Padding: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let whole = try layer.outputShape()
    // Two axes are H and W here, but C in a buffer.
    let isMatrix = whole.rank == 2
    let planes = [layer.inputShapes[0], whole].map { [1, 1, 1] + $0.dimensions }
    let shapes = isMatrix ? try layer.checked(planes) : [layer.inputShapes[0], whole]
    let (input, output) = (shapes[0], shapes[1])
    let inputs = isMatrix ? [layer.add(ViewOperation(), layer.inputs, input)] : layer.inputs
    let top = paddingAmounts?.top ?? 0
    let left = paddingAmounts?.left ?? 0
    var fill: Float = 0
    if case .constant(let value) = kind { fill = value }
    let isZero = fill == 0 && isConstant
    let operation = PlaneGatherOperation(
      kind: "padding", rows: try sources(input.height, output.height, top),
      columns: try sources(input.width, output.width, left), fill: fill,
      border: isZero ? (top, left) : nil)
    let result = layer.add(operation, inputs, output)
    return [isMatrix ? layer.add(ViewOperation(), [result], whole) : result]
  }

  private var isConstant: Bool {
    switch kind {
    case .constant, nil: true
    default: false
    }
  }

  /// The row or column of the input that each of the output's repeats; −1 for the constant.
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
