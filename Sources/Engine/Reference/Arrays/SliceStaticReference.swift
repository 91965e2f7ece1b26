import CoreMLModel
import TensorCore

extension SliceStatic: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    let input = inputs[0]
    let ranges = try ranges(input.shape)
    let part = ReferenceTensor.indexed(ranges.map(\.count)) { index in
      input[index: zip(index, ranges).map { $1.start + $0 * $1.step }]
    }
    return [part.reshaped(try outputShape(inputs))]
  }
}

extension Reverse: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    let input = inputs[0]
    return [
      ReferenceTensor.indexed(try outputShape(inputs)) { index in
        input[
          index: index.indices.map {
            reverseDim[$0] ? input.shape[$0] - 1 - index[$0] : index[$0]
          }]
      }
    ]
  }
}

extension SlidingWindows: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    let input = inputs[0]
    let axis = try ArrayShape.axis(axis, rank: input.shape.count)
    return [
      ReferenceTensor.indexed(try outputShape(inputs)) { index in
        var source = index
        let window = source.remove(at: axis)
        source[axis] += window * step
        return input[index: source]
      }
    ]
  }
}
