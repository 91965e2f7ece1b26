import CoreMLModel
import Kernels
import TensorCore

/// out[o] = activation(bias[o] + Σ weights[o, i] · in[i]), on the row-major items.
struct DenseOperation: Operation {
  /// `[outputChannels, inputChannels]`, read where it stands, in single or half precision.
  var weights: Bytes
  var format = WeightFormat.float32
  var bias: [Float]?
  var activation = FusedFunction.none

  var kind: String { "dense" }

  /// Weights above this are not copied for a factor's sake: 64 MB.
  private static let scalableCount = 16 << 20

  /// y ← factor · y + offset, a pair for each output; false where the weights are too large for it.
  mutating func apply(scale factors: [Double], bias offsets: [Double]) -> Bool {
    if !factors.allSatisfy({ $0 == 1 }) {
      let size = format == .float32 ? 4 : 2
      guard weights.count / size <= Self.scalableCount else { return false }
      var scaled = [Float](repeating: 0, count: weights.count / size)
      if format == .float32 {
        scaled = weights.array(of: Float.self)
      } else {
        weights.withUnsafeBytes { source in
          scaled.withUnsafeMutableBufferPointer { Half.convert(source, to: $0) }
        }
      }
      let columns = scaled.count / factors.count
      for index in scaled.indices { scaled[index] *= Float(factors[index / columns]) }
      weights = Bytes(scaled)
      format = .float32
    }
    let old = bias
    bias = factors.indices.map { Float(Double(old?[$0] ?? 0) * factors[$0] + offsets[$0]) }
    return true
  }

  func layoutWishes(_ shapes: NodeShapes) -> LayoutWishes { shapes.allDense() }

  func multiplyAdds(_ shapes: NodeShapes) -> Int {
    shapes.outputs[0].count * shapes.inputs[0].itemCount
  }

  func describe(_ context: StepContext) -> StepNote { StepNote(kernel: "row dot products") }

  func makeStep(_ context: StepContext) throws -> StepBody {
    let bytes = weights
    let format = format
    let size = format == .float32 ? 4 : 2
    let input = context.inputs[0]
    let output = context.outputs[0]
    let columns = input.layout.shape.itemCount
    let rows = output.layout.shape.channels
    let images = output.layout.shape.images
    let bias = try bias.map { try Constant($0) }
    let dense = context.kernels.dense
    // Rows of a unit: few enough to share out evenly, enough to outweigh the call.
    let unit = max(8, min(64, rows / (context.threadCount * 4) / 8 * 8))
    let (epilogue, slopes) = try activation.epilogue(paddedChannels: rows)
    return { run in
      let source = run.pointer(input)
      let target = run.pointer(output)
      bytes.withUnsafeBytes { matrix in
        guard let base = matrix.baseAddress else { return }
        run.pool.forEach((rows + unit - 1) / unit) { index in
          let first = index * unit
          var applied = epilogue
          applied.slopes = slopes.map { $0.pointer + first }
          dense(
            DenseArguments(
              weights: base + first * columns * size, format: format, rowStride: columns,
              rows: min(unit, rows - first), columns: columns, input: source,
              inputStride: columns, batch: images, bias: bias.map { $0.pointer + first },
              output: target + first, outputStride: rows, epilogue: applied))
        }
      }
    }
  }
}

extension InnerProduct: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let exact = try layer.outputShape()
    let isExact = exact.rank == 3
    // Of `[a, b, C]` every row is an item.
    let input =
      try isExact ? Shape(layer.inputShapes[0].dimensions + [1, 1]) : layer.inputShapes[0]
    let shape = try isExact ? Shape(exact.dimensions + [1, 1]) : exact
    try layer.require(
      input.itemCount == inputChannels, "inputChannels",
      "\(inputChannels) where an item of the input has \(input.itemCount) values")
    try layer.require(
      shape.itemCount == outputChannels, "outputChannels",
      "\(outputChannels) where the output has \(shape.itemCount)")
    guard !int8DynamicQuantize else {
      throw ModelError(
        .unsupported, "dynamic quantisation cannot be run", field: "int8DynamicQuantize")
    }
    let (bytes, format) = try denseWeights(layer)
    let operation = DenseOperation(
      weights: bytes, format: format,
      bias: hasBias ? try layer.values(bias, [outputChannels], "bias").array() : nil)
    guard isExact else { return [layer.add(operation, layer.inputs, shape)] }
    let rows = layer.add(ViewOperation(), layer.inputs, input)
    return [layer.add(ViewOperation(), [layer.add(operation, [rows], shape)], exact)]
  }

  /// Halves stay as they are: they are expanded in registers, and half as much is read.
  private func denseWeights(_ layer: LayerLowering) throws -> (Bytes, WeightFormat) {
    let values = try checkedProduct([outputChannels, inputChannels], limit: Limits.tensorElements)
    if let matrix, matrix.float16Value.count == values * 2, matrix.storedCount == values {
      return (matrix.float16Value, .float16)
    }
    let shape = [outputChannels, inputChannels]
    return (try layer.values(matrix, shape, "weights").contiguous(), .float32)
  }
}
