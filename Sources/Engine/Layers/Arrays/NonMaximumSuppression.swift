import CoreMLModel
import TensorCore

extension NonMaximumSuppression: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let shapes = try layer.outputShapes()
    let boxes = layer.inputShapes[0].dimensions
    let count = boxes[1]
    let classes = layer.inputShapes[1].dimensions[2]
    let settings = self
    let kept = maxBoxes
    let operation = ArrayOperation(kind: "suppression", units: boxes[0]) { buffers, item in
      let boxes = buffers.inputs[0] + item * count * 4
      let scores = buffers.inputs[1] + item * count * classes
      let positions = settings.positions(boxes, scores, count: count, classes: classes)
      for (output, width) in zip(buffers.outputs, [4, classes, 1]) {
        (output + item * kept * width).update(
          repeating: width == 1 && output == buffers.outputs[2] ? -1 : 0, count: kept * width)
      }
      for (index, position) in positions.enumerated() {
        (buffers.outputs[0] + (item * kept + index) * 4).update(
          from: boxes + position * 4, count: 4)
        (buffers.outputs[1] + (item * kept + index) * classes).update(
          from: scores + position * classes, count: classes)
        buffers.outputs[2][item * kept + index] = Float(position)
      }
      buffers.outputs[3][item] = Float(positions.count)
    }
    return layer.add(operation, layer.inputs, shapes)
  }

  /// The boxes to keep, best first.
  private func positions(
    _ boxes: UnsafePointer<Float>, _ scores: UnsafePointer<Float>, count: Int, classes: Int
  ) -> [Int] {
    var best = [(score: Float, type: Int)](repeating: (-.infinity, 0), count: count)
    for box in 0..<count {
      for type in 0..<classes where scores[box * classes + type] > best[box].score {
        best[box] = (scores[box * classes + type], type)
      }
    }
    let order = (0..<count).sorted {
      best[$0].score == best[$1].score ? $0 < $1 : best[$0].score > best[$1].score
    }
    var kept: [Int] = []
    for box in order where kept.count < maxBoxes {
      if !kept.isEmpty, best[box].score < scoreThreshold { break }
      let isCovered = kept.contains { other in
        (!perClassSuppression || best[other].type == best[box].type)
          && overlap(boxes + box * 4, boxes + other * 4) > Double(iouThreshold)
      }
      if !isCovered { kept.append(box) }
    }
    return kept
  }

  /// Intersection over union, in double precision so that the threshold applies exactly as given.
  private func overlap(_ a: UnsafePointer<Float>, _ b: UnsafePointer<Float>) -> Double {
    func common(_ axis: Int) -> Double {
      let (x, y) = (Double(a[axis]), Double(b[axis]))
      let (w, h) = (Double(a[axis + 2]) / 2, Double(b[axis + 2]) / 2)
      return max(0, min(x + w, y + h) - max(x - w, y - h))
    }
    let shared = common(0) * common(1)
    let total = Double(a[2]) * Double(a[3]) + Double(b[2]) * Double(b[3]) - shared
    return total > 0 ? shared / total : 0
  }
}
