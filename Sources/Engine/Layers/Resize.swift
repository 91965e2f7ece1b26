import CoreMLModel
import Kernels
import TensorCore

/// The position of an output row or column between two rows or columns of the input.
struct ResamplingPoint: Sendable, Equatable {
  var lower: Int
  var upper: Int
  /// The weight of the upper one.
  var fraction: Float

  /// - Parameter position: clamped to `0 ..< size`.
  init(_ position: Double, size: Int) {
    let held = min(max(position, 0), Double(size - 1))
    lower = Int(held)
    upper = min(lower + 1, size - 1)
    fraction = Float(held - Double(lower))
  }
}

/// Bilinear interpolation at rows and columns that are the same for all planes.
struct ResampleOperation: NodeOperation {
  var rows: [ResamplingPoint]
  var columns: [ResamplingPoint]

  var kind: String { "bilinear" }

  func layoutWishes(_ shapes: NodeShapes) -> LayoutPreferences { shapes.followingFirstInput() }

  func makeStep(_ context: StepContext) throws -> StepBody {
    let (from, to) = (context.inputs[0].layout, context.outputs[0].layout)
    let (rows, columns) = (rows, columns)
    return context.planeStep(bands: context.bands) { band in
      for y in band.rows {
        interpolateRow(
          InputView(band.source, from.strides), rows[y], columns, band.target + y * to.rowStride,
          block: to.block)
      }
    }
  }
}

/// Computes one row of the output from two rows of the input.
func interpolateRow(
  _ plane: InputView, _ row: ResamplingPoint, _ columns: [ResamplingPoint],
  _ target: UnsafeMutablePointer<Float>, block: Int
) {
  let top = plane.base + row.lower * plane.strides.row
  let bottom = plane.base + row.upper * plane.strides.row
  let fraction = row.fraction
  for (x, column) in columns.enumerated() {
    let left = column.lower &* block
    let right = column.upper &* block
    let share = column.fraction
    for lane in 0..<block {
      let upper =
        top[left &+ lane] * (1 - share) + top[right &+ lane] * share
      let lower =
        bottom[left &+ lane] * (1 - share) + bottom[right &+ lane] * share
      target[x &* block &+ lane] = upper * (1 - fraction) + lower * fraction
    }
  }
}

extension Upsample: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let input = layer.inputShapes[0]
    let output = try layer.outputShape()
    if mode == .nearest {
      func sources(_ size: Int, _ count: Int) -> [Int] { (0..<count).map { $0 * size / count } }
      let operation = PlaneGatherOperation(
        kind: "nearest", rows: sources(input.height, output.height),
        columns: sources(input.width, output.width))
      return [layer.add(operation, layer.inputs, output)]
    }
    let operation = ResampleOperation(
      rows: points(input.height, output.height), columns: points(input.width, output.width))
    return [layer.add(operation, layer.inputs, output)]
  }

  /// The formulas of `LinearUpsampleMode` in the specification; `default` is i · in / out.
  private func points(_ size: Int, _ count: Int) -> [ResamplingPoint] {
    let ratio = Double(size) / Double(count)
    return (0..<count).map { index in
      let i = Double(index)
      let position =
        switch linearUpsampleMode {
        case .default: i * ratio
        case .alignCornersTrue: count == 1 ? 0 : i * Double(size - 1) / Double(count - 1)
        case .alignCornersFalse: i * ratio + 0.5 * ratio - 0.5
        }
      return ResamplingPoint(position, size: size)
    }
  }
}

extension ResizeBilinear: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let input = layer.inputShapes[0]
    let output = try layer.outputShape()
    let method = effectiveMode
    func points(_ size: Int, _ count: Int) -> [ResamplingPoint] {
      method.positions(from: 0, to: Double(size - 1), count: count).map {
        ResamplingPoint($0, size: size)
      }
    }
    let operation = ResampleOperation(
      rows: points(input.height, output.height), columns: points(input.width, output.width))
    return [layer.add(operation, layer.inputs, output)]
  }
}

extension SamplingMethod {
  /// `count` points between `start` and `end`: the formulas of the specification's `SamplingMode`,
  /// with the interval [0, X − 1] shifted to `start`.
  func positions(from start: Double, to end: Double, count: Int) -> [Double] {
    let extent = end - start
    let n = Double(count)
    return (0..<count).map { index in
      let i = Double(index)
      let point =
        switch self {
        case .strictAlignEndpoints: count == 1 ? 0 : i * extent / (n - 1)
        case .alignEndpoints: count == 1 ? extent / 2 : i * extent / (n - 1)
        case .upsample: i * (extent + 1) / n
        case .roiAlign: (i + 0.5) * max(1, extent) / n
        }
      // If a box ends before it starts, Core ML's points run backward.
      return start + min(max(point, min(extent, 0)), max(extent, 0))
    }
  }
}
