import CoreMLModel
import TensorCore

extension NonMaximumSuppression: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    var outputs = try outputShapes(inputs.map(\.shape)).map { ReferenceTensor(shape: $0) }
    outputs[2] = outputs[2].mapped { _ in -1 }
    let (boxes, scores) = (inputs[0], inputs[1])
    let classes = scores.shape[2]
    for item in 0..<boxes.shape[0] {
      let rows = (0..<boxes.shape[1]).map { box in
        (0..<classes).map { scores[index: [item, box, $0]] }
      }
      var left = rows.indices.map { ($0, rows[$0].max() ?? 0) }
      var kept = 0
      while kept < maxBoxes,
        let best = left.max(by: { $0.1 < $1.1 || $0.1 == $1.1 && $0.0 > $1.0 }),
        kept == 0 || best.1 >= Double(scoreThreshold)
      {
        for position in 0..<4 {
          outputs[0].elements[outputs[0].offset([item, kept, position])] =
            boxes[index: [item, best.0, position]]
        }
        for type in 0..<classes {
          outputs[1].elements[outputs[1].offset([item, kept, type])] = rows[best.0][type]
        }
        outputs[2].elements[outputs[2].offset([item, kept])] = Double(best.0)
        kept += 1
        left.removeAll { other, score in
          let isOfClass =
            !perClassSuppression
            || rows[other].firstIndex(of: score) == rows[best.0].firstIndex(of: best.1)
          return other == best.0
            || isOfClass && overlap(boxes, item, other, best.0) > Double(iouThreshold)
        }
      }
      outputs[3].elements[item] = Double(kept)
    }
    return outputs
  }

  private func overlap(_ boxes: ReferenceTensor, _ item: Int, _ a: Int, _ b: Int) -> Double {
    func side(_ box: Int, _ axis: Int) -> (Double, Double, Double) {
      let center = boxes[index: [item, box, axis]]
      let length = boxes[index: [item, box, axis + 2]]
      return (center - length / 2, center + length / 2, length)
    }
    let shared = (0..<2).reduce(1.0) { area, axis in
      let (p, q) = (side(a, axis), side(b, axis))
      return area * Swift.max(0, Swift.min(p.1, q.1) - Swift.max(p.0, q.0))
    }
    let areas = [a, b].map { side($0, 0).2 * side($0, 1).2 }
    let union = areas[0] + areas[1] - shared
    return union > 0 ? shared / union : 0
  }
}
