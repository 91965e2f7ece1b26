import CoreMLModel
import TensorCore

extension Pooling3D: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let input = inputs[0]
    let shape = try outputShape(inputs)
    let kernels = window.kernel
    let strides = window.stride.map { Swift.max($0, 1) }
    let leading = (0..<3).map { axis in
      switch window.paddingType {
      case .custom: window.padding[2 * axis]
      case .valid: 0
      case .same:
        samePadding(
          covered: (shape[axis + 2] - 1) * strides[axis] + kernels[axis],
          size: input.shape[axis + 2], .bottomRightHeavy
        ).leading
      }
    }
    return try arrayOutput(inputs) { index in
      let positions = (0..<3).map { (axis) -> Range<Int> in
        let start = index[axis + 2] * strides[axis] - leading[axis]
        let size = input.shape[axis + 2]
        return Swift.max(
          0, Swift.min(size, start))..<Swift.max(0, Swift.min(size, start + kernels[axis]))
      }
      var values: [Double] = []
      for z in positions[0] {
        for y in positions[1] {
          for x in positions[2] { values.append(input[index: [index[0], index[1], z, y, x]]) }
        }
      }
      if type == .max { return values.max() ?? -.infinity }
      let count =
        countExcludePadding ? values.count : kernels.reduce(1, *)
      return values.reduce(0, +) / Double(count)
    }
  }
}

extension GlobalPooling3D: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let shape = try outputShape(inputs)
    let input = inputs[0]
    let volume = input.shape[2...].reduce(1, *)
    let elements = stride(from: 0, to: input.elements.count, by: volume).map { start in
      let values = input.elements[start..<start + volume]
      return type == .max ? values.max() ?? 0 : values.reduce(0, +) / Double(volume)
    }
    return [ReferenceTensor(shape: shape, elements)]
  }
}
