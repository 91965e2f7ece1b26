import CoreMLModel
import Kernels
import TensorCore

/// A function of several blobs, element by element. Axes of length 1 are repeated.
struct CombineOperation: NodeOperation {
  var function: CombiningFunction

  var kind: String { "\(function)" }
  var canRunInPlace: Bool { true }

  func layoutWishes(_ shapes: NodeShapes) -> LayoutPreferences {
    if shapes.inputs.allSatisfy({ $0.hasPlanes(of: shapes.outputs[0]) }),
      !shapes.producedBlocks.contains(.blocked)
    {
      return shapes.followingFirstInput()
    }
    return LayoutPreferences(inputs: shapes.inputs.map { _ in .blocked }, outputs: [.blocked])
  }

  func makeStep(_ context: StepContext) throws -> StepBody {
    let inputs = context.inputs
    let output = context.outputs[0]
    let layout = output.layout
    let readers = inputs.map { BroadcastReader($0.layout, layout) }
    let isWhole =
      layout.hasContiguousPlanes && inputs.allSatisfy { $0.layout == layout }
    // In lanes without a channel, 0 / 0 would corrupt sums over channels.
    let clearsLanes =
      layout.hasEmptyLanes && (!function.keepsZero || readers.contains { $0.repeatsChannels })
    let rows = isWhole ? 1 : layout.shape.height
    let count = layout.shape.width * layout.block * (isWhole ? layout.shape.height : 1)
    let combine = context.kernels.combine
    let function = function
    if isWhole, layout.isDense {
      return try BroadcastOperation(
        function: function, sizes: [layout.shape.count], strides: inputs.map { _ in [1] },
        fitsPlanes: true
      ).makeStep(context)
    }
    return { run in
      let target = run.pointer(output)
      let sources = inputs.map { UnsafePointer(run.pointer($0)) }
      run.parallel(layout.planes, writing: output) { plane in
        withUnsafeTemporaryAllocation(of: CombiningOperand.self, capacity: sources.count) {
          operands in
          withUnsafeTemporaryAllocation(
            of: Float.self, capacity: sources.count * layout.block
          ) { splats in
            guard let first = operands.baseAddress, let splat = splats.baseAddress else { return }
            for row in 0..<rows {
              for (index, reader) in readers.enumerated() {
                (first + index).initialize(
                  to: reader.operand(
                    sources[index], plane: plane, row: row, splat: splat + index * layout.block))
              }
              combine(
                CombiningArguments(
                  function: function, operands: first, operandCount: sources.count,
                  output: target + layout.planeOffset(plane) + row * layout.rowStride,
                  count: count))
            }
          }
        }
        if clearsLanes { layout.clearEmptyLanes(ofPlane: plane, in: target) }
      }
    }
  }
}

extension CombiningFunction {
  /// Whether the function maps zeros to 0, so that lanes without a channel stay clear.
  fileprivate var keepsZero: Bool {
    switch self {
    case .divide, .floorDivide, .modulo, .power, .equal, .lessEqual, .greaterEqual: false
    default: true
    }
  }
}

/// Finds the values for one row of the output in an operand that is broadcast.
struct BroadcastReader: Sendable {
  private let layout: BlobLayout
  private let output: BlobLayout
  private let repeatsRows: Bool
  private let repeatsColumns: Bool
  let repeatsChannels: Bool

  init(_ layout: BlobLayout, _ output: BlobLayout) {
    self.layout = layout
    self.output = output
    repeatsRows = layout.shape.height != output.shape.height
    repeatsColumns = layout.shape.width != output.shape.width
    repeatsChannels = layout.shape.channels != output.shape.channels
  }

  /// - Parameter splat: room for `block` floats.
  func operand(
    _ buffer: UnsafePointer<Float>, plane: Int, row: Int, splat: UnsafeMutablePointer<Float>
  ) -> CombiningOperand {
    let image = plane / output.channelBlocks
    let sequence = layout.shape.sequence == 1 ? 0 : image / output.shape.batch
    let batch = layout.shape.batch == 1 ? 0 : image % output.shape.batch
    let channelBlock = repeatsChannels ? 0 : plane % output.channelBlocks
    let values =
      buffer + layout.origin + (sequence * layout.shape.batch + batch) * layout.imageStride
      + channelBlock * layout.planeStride + (repeatsRows ? 0 : row * layout.rowStride)
    switch (repeatsChannels, repeatsColumns) {
    case (false, false): return CombiningOperand(values)
    case (false, true): return CombiningOperand(values, .channel)
    case (true, false): return CombiningOperand(values, .pixel)
    case (true, true):
      splat.update(repeating: values[0], count: output.block)
      return CombiningOperand(UnsafePointer(splat), .channel)
    }
  }
}

extension LayerLowering {
  /// Adds the function of all inputs; passes a single input through.
  fileprivate mutating func combine(_ function: CombiningFunction) throws -> [Graph.ValueID] {
    let shape = try outputShape()
    if inputs.count == 1 { return inputs }
    let operands = try inputs.map { try padded($0, rank: shape.rank) }
    // Blocks of a single channel would be mostly empty.
    let isRepeated = shape.channels == 1 && operands.contains { graph.shape($0) != shape }
    guard !isRepeated, operands.allSatisfy({ graph.shape($0).hasPlanes(repeatedTo: shape) }) else {
      return [try broadcast(function, operands, shape)]
    }
    return [add(CombineOperation(function: function), operands, shape)]
  }
}

extension Add: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    guard layer.inputs.count == 1 else { return try layer.combine(.add) }
    let function = ScaledFunction(.linear, alpha: 1, beta: alpha)
    return [
      layer.add(ElementwiseOperation(function: function), layer.inputs, try layer.outputShape())
    ]
  }
}

extension Multiply: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    guard layer.inputs.count == 1 else { return try layer.combine(.multiply) }
    let function = ScaledFunction(.linear, alpha: alpha, beta: 0)
    return [
      layer.add(ElementwiseOperation(function: function), layer.inputs, try layer.outputShape())
    ]
  }
}

extension Average: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] { try layer.combine(.average) }
}

extension Max: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] { try layer.combine(.maximum) }
}

extension Min: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] { try layer.combine(.minimum) }
}
