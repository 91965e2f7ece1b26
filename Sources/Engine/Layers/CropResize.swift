import CoreMLModel
import Kernels
import TensorCore

/// Cuts boxes out of row-major images and resizes them by bilinear interpolation. A box of four
/// numbers is cut from every image of the batch; in a box of five, the first number selects the
/// image.
struct CropResizeOperation: NodeOperation {
  var parameters: CropResize

  var kind: String { "crop and resize" }

  func makeStep(_ context: StepContext) throws -> StepBody {
    let image = context.inputs[0]
    let boxes = context.inputs[1]
    let output = context.outputs[0]
    let shape = image.layout.shape
    let result = output.layout.shape
    let boxSize = boxes.layout.shape.itemCount
    let method = parameters.effectiveMode
    let parameters = parameters
    return { run in
      let source = UnsafePointer(run.pointer(image))
      let numbers = UnsafePointer(run.pointer(boxes))
      let target = run.pointer(output)
      for box in 0..<result.sequence {
        let values = (0..<boxSize).map { Double(numbers[box * boxSize + $0]) }
        try require(
          values.allSatisfy(\.isFinite), .mismatch,
          "box \(box) has a coordinate that is not a finite number")
        let corners = parameters.corners(Array(values.suffix(4)), shape)
        let rows = method.positions(
          from: corners.top, to: corners.bottom, count: result.height
        ).map { ResamplingPoint($0, size: shape.height) }
        let columns = method.positions(
          from: corners.left, to: corners.right, count: result.width
        ).map { ResamplingPoint($0, size: shape.width) }
        var named: Int?
        if boxSize == 5 {
          try require(
            values[0] > -1 && values[0] < Double(shape.batch), .mismatch,
            "box \(box) refers to image \(values[0]) of \(shape.batch)")
          named = Int(values[0])
        }
        run.pool.forEach(result.batch * result.channels) { unit in
          let (batch, channel) = unit.quotientAndRemainder(dividingBy: result.channels)
          let plane = source + ((named ?? batch) * shape.channels + channel) * shape.area
          var to = target + ((box * result.batch + batch) * result.channels + channel) * result.area
          for row in rows {
            interpolateRow(InputView(plane, Strides(row: shape.width)), row, columns, to, block: 1)
            to += result.width
          }
        }
      }
    }
  }
}

extension CropResize: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let (image, boxes) = (layer.inputShapes[0], layer.inputShapes[1])
    let output = try layer.outputShape()
    try require(
      (boxes.itemCount == 4 || boxes.itemCount == 5) && boxes.batch == 1 && image.sequence == 1,
      "images \(image.dimensions) with boxes \(boxes.dimensions)", field: "input")
    try require(
      output.sequence == boxes.sequence && output.channels == image.channels
        && output.batch == (boxes.itemCount == 5 ? 1 : image.batch),
      "an output of \(output.dimensions)", field: "targetSize")
    return [layer.add(CropResizeOperation(parameters: self), layer.inputs, output)]
  }

  fileprivate func corners(
    _ c: [Double], _ image: Shape
  ) -> (top: Double, left: Double, bottom: Double, right: Double) {
    let scale = Double(effectiveSpatialScale)
    let y = scale * (normalizedCoordinates ? Double(image.height - 1) : 1)
    let x = scale * (normalizedCoordinates ? Double(image.width - 1) : 1)
    return switch effectiveBoxMode {
    case .cornersHeightFirst: (y * c[0], x * c[1], y * c[2], x * c[3])
    case .cornersWidthFirst: (y * c[1], x * c[0], y * c[3], x * c[2])
    case .centerSizeHeightFirst:
      (y * (c[0] - c[2] / 2), x * (c[1] - c[3] / 2), y * (c[0] + c[2] / 2), x * (c[1] + c[3] / 2))
    case .centerSizeWidthFirst:
      (y * (c[1] - c[3] / 2), x * (c[0] - c[2] / 2), y * (c[1] + c[3] / 2), x * (c[0] + c[2] / 2))
    }
  }
}
