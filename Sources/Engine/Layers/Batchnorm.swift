import CoreMLModel
import Kernels
import TensorCore

/// gamma · (x − mean) / √(variance + ε) + beta, with mean and variance computed from the blob: for
/// each channel of each item, or for each channel over all items.
struct InstanceNormOperation: NodeOperation {
  var gamma: [Float]
  var beta: [Float]
  var epsilon: Float
  var isPerItem: Bool

  var kind: String { isPerItem ? "instance normalization" : "normalization" }

  func layoutWishes(_ shapes: NodeShapes) -> LayoutPreferences {
    LayoutPreferences(inputs: [.blocked], outputs: [.blocked])
  }

  func makeStep(_ context: StepContext) throws -> StepBody {
    let input = context.inputs[0]
    let output = context.outputs[0]
    let from = input.layout
    let to = output.layout
    let blocks = to.channelBlocks
    let images = to.shape.images
    let groups = isPerItem ? images : 1
    let perGroup = images / groups
    let padding = [Float](repeating: 0, count: blocks * to.block - gamma.count)
    let gamma = try Constant(gamma + padding)
    let beta = try Constant(beta + padding)
    let epsilon = Double(epsilon)
    let kernels = context.kernels
    return { run in
      let source = UnsafePointer(run.pointer(input))
      let target = run.pointer(output)
      run.parallel(groups * blocks, writing: output) { unit in
        let group = unit / blocks
        let block = unit % blocks
        let planes = (0..<perGroup).map { (group * perGroup + $0) * blocks + block }
        let statistics = LaneStatistics(
          planes.map { source + from.planeOffset($0) }, from, kernels)
        withUnsafeTemporaryAllocation(of: Float.self, capacity: 2 * to.block) { factors in
          guard let scale = factors.baseAddress else { return }
          let shift = scale + to.block
          for lane in 0..<to.block {
            let deviation = (statistics.variances[lane] + epsilon).squareRoot()
            let factor = Double((gamma.pointer + block * to.block)[lane]) / deviation
            scale[lane] = Float(factor)
            shift[lane] = Float(
              Double((beta.pointer + block * to.block)[lane]) - statistics.means[lane] * factor)
          }
          for plane in planes {
            kernels.scaleLanes(
              source + from.planeOffset(plane), from, target + to.planeOffset(plane), to,
              UnaryParameters(channelAlpha: scale, channelBeta: shift))
          }
        }
      }
    }
  }
}

/// Mean and population variance of each lane of a channel block over some planes.
struct LaneStatistics {
  private(set) var means: [Double]
  private(set) var variances: [Double]

  /// Makes two passes: the variance is computed from differences from the mean.
  init(_ planes: [UnsafePointer<Float>], _ layout: BlobLayout, _ kernels: any KernelTable.Type) {
    let block = layout.block
    let count = Double(layout.shape.area * planes.count)
    var means = [Double](repeating: 0, count: block)
    var variances = means
    let rowCount = layout.shape.width
    // Sums rows in single precision, and their sums in double precision.
    withUnsafeTemporaryAllocation(of: Float.self, capacity: block * (rowCount + 1)) { memory in
      guard let sums = memory.baseAddress else { return }
      let differences = sums + block
      func add(_ input: UnsafePointer<Float>, _ function: Reduction, to totals: inout [Double]) {
        kernels.reduceBlock(function, input, pixels: rowCount, to: sums)
        for lane in 0..<block { totals[lane] += Double(sums[lane]) }
      }
      for plane in planes {
        for row in 0..<layout.shape.height { add(plane + row * layout.rowStride, .sum, to: &means) }
      }
      for lane in 0..<block { means[lane] /= count }
      let centers = means.map { Float(-$0) }
      let ones = [Float](repeating: 1, count: block)
      for plane in planes {
        for row in 0..<layout.shape.height {
          centers.withUnsafeBufferPointer { center in
            ones.withUnsafeBufferPointer { one in
              kernels.unary(
                UnaryArguments(
                  function: .linear, input: plane + row * layout.rowStride, output: differences,
                  count: rowCount * block,
                  .init(channelAlpha: one.baseAddress, channelBeta: center.baseAddress)))
            }
          }
          add(differences, .sumOfSquares, to: &variances)
        }
      }
    }
    for lane in 0..<block { variances[lane] /= count }
    self.means = means
    self.variances = variances
  }
}

extension KernelTable {
  /// Computes out = alpha[lane] · x + beta[lane] over one plane of blocks.
  static func scaleLanes(
    _ source: UnsafePointer<Float>, _ from: BlobLayout, _ target: UnsafeMutablePointer<Float>,
    _ to: BlobLayout, _ parameters: UnaryParameters
  ) {
    for row in 0..<to.shape.height {
      unary(
        UnaryArguments(
          function: .linear, input: source + row * from.rowStride,
          output: target + row * to.rowStride, count: to.shape.width * to.block, parameters))
    }
  }
}

extension Batchnorm: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let shape = try layer.outputShape()
    try require(
      channels == shape.channels, "\(channels), but the input has \(shape.channels)",
      field: "channels")
    if computeMeanVar {
      let operation = InstanceNormOperation(
        gamma: try layer.values(gamma, [channels], "gamma").array(),
        beta: try layer.values(beta, [channels], "beta").array(), epsilon: effectiveEpsilon,
        isPerItem: instanceNormalization)
      return [layer.add(operation, layer.inputs, shape)]
    }
    let (scale, bias) = try channelAffine()
    let function = ScaledFunction.affine(
      scale: scale.map { Float($0) }, bias: bias.map { Float($0) })
    return [layer.add(ElementwiseOperation(function: function), layer.inputs, shape)]
  }
}
