import CoreMLModel
import TensorCore

extension Pooling3D: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    let shape = try outputShape(inputs)
    let input = inputs[0]
    let windows = try windows(Array(input.shape[2...]))
    return [
      ReferenceTensor.indexed(shape) { index in
        let places = (0..<3).map { (axis) -> Range<Int> in
          let window = windows[axis]
          let start = index[axis + 2] * window.stride - window.before
          let size = input.shape[axis + 2]
          return Swift.max(
            0, Swift.min(size, start))..<Swift.max(0, Swift.min(size, start + window.kernel))
        }
        var values: [Double] = []
        for z in places[0] {
          for y in places[1] {
            for x in places[2] { values.append(input[index: [index[0], index[1], z, y, x]]) }
          }
        }
        if type == .max { return values.max() ?? -.infinity }
        let count =
          countExcludePadding ? values.count : windows.reduce(1) { $0 * $1.kernel }
        return values.reduce(0, +) / Double(count)
      }
    ]
  }
}

extension GlobalPooling3D: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
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
