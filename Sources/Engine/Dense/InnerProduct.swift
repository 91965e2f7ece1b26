import CoreMLModel
import Kernels
import TensorCore

/// out[o] = activation(bias[o] + Σ weights[o, i] · in[i]), on row-major items.
struct DenseOperation: NodeOperation {
  /// `[outputChannels, inputChannels]`, read in place even if compressed; for several vectors,
  /// compressed weights are expanded a few rows at a time.
  var weights: StoredWeights
  /// One factor per output, from a later layer; only for compressed weights.
  var scale: [Float]?
  var bias: [Float]?
  var activation: ScaledFunction?

  var kind: String { "dense" + activation.label }
  var sumsProducts: Bool { true }

  /// More weights than this (64 MB) are not copied just to apply a factor.
  private static let scalableCount = 16 << 20

  /// Applies y ← factor · y + offset, with one pair per output. Returns false if there are too many
  /// weights.
  mutating func apply(scale factors: [Double], bias offsets: [Double]) throws -> Bool {
    if !factors.allSatisfy({ $0 == 1 }) {
      switch weights {
      case .floats(let values):
        guard values.count <= Self.scalableCount else { return false }
        var scaled = try values.array()
        let columns = scaled.count / factors.count
        for index in scaled.indices { scaled[index] *= Float(factors[index / columns]) }
        weights = .floats(FloatValues(scaled))
      case .compressed:
        let before = scale
        scale = factors.indices.map { Float(Double(before?[$0] ?? 1) * factors[$0]) }
      }
    }
    let old = bias
    bias = factors.indices.map { Float(Double(old?[$0] ?? 0) * factors[$0] + offsets[$0]) }
    return true
  }

  func describe(_ context: StepContext) -> StepNote {
    if usesFixedRows(context) {
      return StepNote(
        kernel: "row dot products, 24-bit rows",
        weightBytes: FixedRowMatrix.byteCount(
          rows: context.outputs[0].layout.shape.channels,
          columns: context.inputs[0].layout.shape.itemCount))
    }
    return StepNote(kernel: "row dot products" + (weights.compressed.map { ", \($0.label)" } ?? ""))
  }

  private func usesFixedRows(_ context: StepContext) -> Bool {
    let output = context.outputs[0].layout.shape
    return weights.compressed == nil
      && FixedRowMatrix.isUsed(
        rows: output.channels, columns: context.inputs[0].layout.shape.itemCount,
        vectors: output.images, streamed: context.streamedWeights)
  }

  /// The number of weights that a prediction reads for only a few vectors.
  func streamedWeights(_ output: Shape) -> Int {
    guard case .floats(let values) = weights, output.images <= FixedRowMatrix.mostVectors else {
      return 0
    }
    return values.count
  }

  private func matrix(_ context: StepContext, rows: Int, columns: Int) throws -> DenseMatrix {
    if let compressed = expands(context) {
      return .expanded(compressed, scale: scale, columns: columns, context.kernels)
    }
    if let format = try weights.compressed?.rowFormat(rows) {
      return .compressed(format, columns: columns)
    }
    if usesFixedRows(context), case .floats(let values) = weights {
      return .fixed(try FixedRowMatrix(values, rows: rows, columns: columns, context))
    }
    return .floats(try weights.contiguous(context.kernels), columns: columns)
  }

  /// For more vectors than this, codes are expanded once for all of them.
  private static let mostVectors = 2

  /// The compressed weights if some rows must be expanded before the kernel reads them.
  private func expands(_ context: StepContext) -> CompressedWeights? {
    weights.compressed.flatMap {
      scale != nil || $0.roundsToHalf
        || !$0.isHalf && context.outputs[0].layout.shape.images > Self.mostVectors
        ? $0 : nil
    }
  }

  /// Working memory of a thread.
  private func threadFloats(_ context: StepContext) -> Int {
    let columns = context.inputs[0].layout.shape.itemCount
    if usesFixedRows(context) { return FixedRowMatrix.scratchFloats(columns: columns) }
    return expands(context) == nil ? 0 : DenseMatrix.expandedRows * columns
  }

  func scratchFloats(_ context: StepContext) throws -> Int {
    try checkedProduct([context.threadCount, threadFloats(context)])
  }

  func makeStep(_ context: StepContext) throws -> StepBody {
    let input = context.inputs[0]
    let output = context.outputs[0]
    let columns = input.layout.shape.itemCount
    let rows = output.layout.shape.channels
    let images = output.layout.shape.images
    let matrix = try matrix(context, rows: rows, columns: columns)
    let kernels = context.kernels
    let unit = Self.unitRows(rows, context)
    let epilogue = try FusedEpilogue(bias: bias, activation, channels: rows)
    let scratch = context.scratch
    let threadFloats = threadFloats(context)
    return { run in
      let source = run.pointer(input)
      let target = run.pointer(output)
      let memory = matrix.begin(run.pool) ? run.pointer(scratch) : nil
      run.pool.share((rows + unit - 1) / unit) { thread, units in
        let near = memory.map { $0 + thread * threadFloats }
        for index in units {
          let first = index * unit
          matrix.forEachPart(of: first..<min(first + unit, rows), near) { part, weights in
            let first = part.lowerBound
            var arguments = DenseArguments(
              weights: weights, rows: part.count, columns: columns,
              input: InputView(source, Strides(row: columns)),
              output: OutputView(target + first, Strides(row: rows)))
            arguments.batch = images
            arguments.epilogue = epilogue.from(first)
            kernels.dense(arguments)
          }
        }
      }
    }
  }

  /// Rows per unit: few enough to share evenly, but enough to outweigh the call.
  private static func unitRows(_ rows: Int, _ context: StepContext) -> Int {
    max(8, min(64, rows / (context.threadCount * 4) / 8 * 8))
  }
}

extension InnerProduct: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let exact = try layer.outputShape()
    let isExact = exact.rank == 3
    // In `[a, b, C]`, every row is an item.
    let input =
      try isExact ? Shape(layer.inputShapes[0].dimensions + [1, 1]) : layer.inputShapes[0]
    let shape = try isExact ? Shape(exact.dimensions + [1, 1]) : exact
    try require(
      input.itemCount == inputChannels,
      "\(inputChannels), but an input item has \(input.itemCount) values", field: "inputChannels")
    try require(
      shape.itemCount == outputChannels,
      "\(outputChannels), but the output has \(shape.itemCount)", field: "outputChannels")
    let value = int8DynamicQuantize ? layer.rounded(layer.inputs[0]) : layer.inputs[0]
    let stored = try layer.stored(matrix, [outputChannels, inputChannels], "weights")
    let offsets = hasBias ? try layer.values(bias, [outputChannels], "bias").array() : nil
    // A classifier's large dense layers with a small batch are not worth a copy.
    let isPacked =
      LinearOperation.pays(rows: input.images)
      && inputChannels * outputChannels <= input.images << 20
    let operation: any NodeOperation =
      isPacked
      ? LinearOperation(stored, inputs: inputChannels, outputs: outputChannels, bias: offsets)
      : DenseOperation(weights: stored, bias: offsets)
    guard isExact else { return [layer.add(operation, [value], shape)] }
    let rows = layer.add(ViewOperation(), [value], input)
    return [layer.add(ViewOperation(), [layer.add(operation, [rows], shape)], exact)]
  }
}
