import CoreMLModel
import TensorCore

/// Pools over H and W, then over D. For maximum and average, this equals 3D pooling.
extension Pooling3D: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let input = layer.inputShapes[0].dimensions
    let output = try layer.outputShape()
    let windows = try windows(Array(input[2...]))
    let flat = output.dimensions[3] * output.dimensions[4]
    // Depths become channels of the planes.
    let planes = try layer.lower(pooling(windows[1], windows[2]), layer.inputs)[0]
    let columns = try layer.view(planes, try Shape([input[0], input[1], input[2], flat]))
    let result = try layer.lower(pooling(windows[0], .elements(flat)), [columns])[0]
    return [try layer.view(result, output)]
  }

  private func pooling(_ rows: AxisWindow, _ columns: AxisWindow) -> Pooling {
    var pooling = Pooling()
    pooling.type = type == .max ? .max : .average
    pooling.kernelSize = [rows.kernel, columns.kernel]
    pooling.stride = [rows.stride, columns.stride]
    var padding = ValidPadding()
    padding.paddingAmounts = BorderAmounts(
      top: rows.before, bottom: rows.after, left: columns.before, right: columns.after)
    pooling.padding = .valid(padding)
    pooling.avgPoolExcludePadding = countExcludePadding
    return pooling
  }
}

extension GlobalPooling3D: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    func over<Reduction: AxesReductionLayer>(_ type: Reduction.Type) -> Reduction {
      var reduction = Reduction()
      reduction.axes = [2, 3, 4]
      reduction.keepDims = true
      return reduction
    }
    _ = try layer.outputShape()
    return try type == .max
      ? layer.lower(over(ReduceMax.self), layer.inputs)
      : layer.lower(over(ReduceMean.self), layer.inputs)
  }
}
