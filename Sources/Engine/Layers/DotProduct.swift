import CoreMLModel
import Kernels
import TensorCore

/// Σ a · b over the channels of each pixel, or the cosine of the angle between the two vectors,
/// with squared lengths of at least 1e-12. Axes of length 1 are repeated.
extension DotProduct: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let shapes = layer.inputShapes
    let output = try layer.outputShape()
    try require(
      shapes[0].channels == shapes[1].channels && output.channels == 1,
      "\(shapes[0].channels) and \(shapes[1].channels) channels", field: "input")
    for shape in shapes {
      let fits = zip(shape.dimensions, output.dimensions).enumerated().allSatisfy {
        $0.offset == 2 || $0.element.0 == 1 || $0.element.0 == $0.element.1
      }
      try require(fits, "\(shape.dimensions) does not fit \(output.dimensions)", field: "input")
    }
    let readers = shapes.map { PixelReader(shape: $0, output: output) }
    let (channels, isCosine) = (shapes[0].channels, cosineSimilarity)
    let operation = ArrayOperation(
      kind: isCosine ? "cosine" : "dot", units: output.count, sumsProducts: true
    ) { buffers, index in
      let x = buffers.inputs[0] + readers[0].offset(index)
      let y = buffers.inputs[1] + readers[1].offset(index)
      var sum = 0.0
      var (xx, yy) = (0.0, 0.0)
      for channel in 0..<channels {
        let p = Double(x[channel &* readers[0].step])
        let q = Double(y[channel &* readers[1].step])
        sum += p * q
        xx += p * p
        yy += q * q
      }
      buffers.output[index] = Float(
        isCosine ? sum / (max(xx, 1e-12).squareRoot() * max(yy, 1e-12).squareRoot()) : sum)
    }
    return [layer.add(operation, layer.inputs, output)]
  }
}

/// Finds channel 0 of the pixel for a pixel of the output, which has one channel.
private struct PixelReader: Sendable {
  let shape: Shape
  let output: Shape
  /// Floats from one channel to the next.
  var step: Int { shape.area }

  func offset(_ index: Int) -> Int {
    let (image, pixel) = index.quotientAndRemainder(dividingBy: output.area)
    let (row, column) = pixel.quotientAndRemainder(dividingBy: output.width)
    let (sequence, batch) = image.quotientAndRemainder(dividingBy: output.batch)
    let item =
      (shape.sequence == 1 ? 0 : sequence) * shape.batch + (shape.batch == 1 ? 0 : batch)
    return item * shape.itemCount + (shape.height == 1 ? 0 : row) * shape.width
      + (shape.width == 1 ? 0 : column)
  }
}
