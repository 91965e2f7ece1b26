import CoreMLModel
import Kernels
import TensorCore

/// x / (k + α / localSize · Σ x²)^β, summed over `localSize` channels centered on the element's.
struct LocalResponseOperation: NodeOperation {
  var alpha: Float
  var beta: Float
  var localSize: Int
  var k: Float

  var kind: String { "local response normalization" }

  /// Room for the squares and their sums.
  func scratchFloats(_ context: StepContext) throws -> Int {
    try checkedProduct([2, context.inputs[0].layout.shape.count])
  }

  func makeStep(_ context: StepContext) throws -> StepBody {
    let input = context.inputs[0]
    let output = context.outputs[0]
    let scratch = context.scratch
    let shape = input.layout.shape
    let area = shape.area
    let kernels = context.kernels
    let (before, size) = ((localSize - 1) / 2, localSize)
    let (alpha, beta, k) = (alpha / Float(localSize), beta, k)
    return { run in
      let source = UnsafePointer(run.pointer(input))
      let target = run.pointer(output)
      let squares = run.pointer(scratch)
      let sums = squares + shape.count
      run.pool.forEach(shape.images * shape.channels) { plane in
        kernels.unary(
          UnaryArguments(
            function: .square, input: source + plane * area, output: squares + plane * area,
            count: area))
      }
      run.pool.forEach(shape.images * shape.channels) { plane in
        let (image, channel) = plane.quotientAndRemainder(dividingBy: shape.channels)
        let first = max(0, channel - before)
        let last = min(shape.channels, channel - before + min(size, shape.channels + before))
        let total = sums + plane * area
        let planes = squares + image * shape.itemCount
        for index in 0..<area {
          var sum: Float = 0
          for neighbor in first..<last { sum += planes[neighbor &* area &+ index] }
          total[index] = sum
        }
        kernels.unary(
          UnaryArguments(
            function: .power, input: total, output: total, count: area,
            .init(alpha: -beta, scale: alpha, shift: k)))
        withUnsafeTemporaryAllocation(of: CombiningOperand.self, capacity: 2) { operands in
          guard let both = operands.baseAddress else { return }
          both.initialize(to: CombiningOperand(source + plane * area))
          (both + 1).initialize(to: CombiningOperand(total))
          kernels.combine(
            CombiningArguments(
              function: .multiply, operands: both, operandCount: 2, output: target + plane * area,
              count: area))
        }
      }
    }
  }
}

/// (x − mean) / (√variance + ε), or x − mean, over H·W of each channel or over C·H·W.
///
/// The specification gives no formula. This is the formula of Caffe's MVN layer, for which Core ML
/// added the layer.
extension MeanVarianceNormalize: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let shape = try layer.outputShape()
    let length = acrossChannels ? shape.itemCount : shape.area
    let (epsilon, normalizesVariance) = (Double(effectiveEpsilon), normalizeVariance)
    let operation = ArrayOperation(
      kind: "mean and variance normalization", units: shape.count / length, canRunInPlace: true
    ) { buffers, unit in
      let (from, to) = (buffers.input + unit * length, buffers.output + unit * length)
      let mean = buffers.kernels.sum(.sum, from, length) / Double(length)
      buffers.kernels.unary(
        UnaryArguments(
          function: .linear, input: from, output: to, count: length,
          .init(alpha: 1, beta: Float(-mean))))
      if !normalizesVariance { return }
      let variance = buffers.kernels.sum(.sumOfSquares, to, length) / Double(length)
      buffers.kernels.unary(
        UnaryArguments(
          function: .linear, input: to, output: to, count: length,
          .init(alpha: Float(1 / (variance.squareRoot() + epsilon)))))
    }
    return [layer.add(operation, layer.inputs, shape)]
  }
}

/// x / √(Σ x² + ε) over C·H·W.
extension L2Normalize: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let shape = try layer.outputShape()
    let (length, epsilon) = (shape.itemCount, Double(effectiveEpsilon))
    let operation = ArrayOperation(
      kind: "L2 normalization", units: shape.images, canRunInPlace: true
    ) { buffers, image in
      let from = buffers.input + image * length
      let squares = buffers.kernels.sum(.sumOfSquares, from, length)
      buffers.kernels.unary(
        UnaryArguments(
          function: .linear, input: from, output: buffers.output + image * length, count: length,
          .init(alpha: Float(1 / (squares + epsilon).squareRoot()))))
    }
    return [layer.add(operation, layer.inputs, shape)]
  }
}

extension LRN: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    try require(
      localSize > 0 && localSize <= Limits.dimension, "\(localSize) channels", field: "localSize")
    let operation = LocalResponseOperation(
      alpha: alpha, beta: beta, localSize: localSize, k: effectiveK)
    return [layer.add(operation, layer.inputs, try layer.outputShape())]
  }
}
