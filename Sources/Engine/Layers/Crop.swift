import CoreMLModel
import TensorCore

extension Crop: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let input = layer.inputShapes[0]
    let output = try layer.outputShape()
    let isAlone = layer.inputs.count == 1
    let top = isAlone ? cropAmounts?.top ?? 0 : offset.first ?? 0
    let left = isAlone ? cropAmounts?.left ?? 0 : offset.last ?? 0
    try require(
      top >= 0 && left >= 0 && top <= input.height - output.height
        && left <= input.width - output.width,
      "\(output.height)×\(output.width) from (\(top), \(left)) is not inside the input's "
        + "\(input.height)×\(input.width)", field: isAlone ? "cropAmounts" : "offset")
    let operation = PlaneGatherOperation(
      kind: "crop", rows: Array(top..<top + output.height),
      columns: Array(left..<left + output.width))
    return [layer.add(operation, [layer.inputs[0]], output)]
  }
}
