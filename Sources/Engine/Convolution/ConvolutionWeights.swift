import Kernels
import TensorCore

/// The part that ordinary and transposed convolutions share, including what passes fuse into them.
struct ConvolutionWeights: Sendable {
  /// The weights in the order of the document.
  var values: StoredWeights
  var groups: Int
  /// Input and output channels per group.
  var groupInputs: Int
  var groupOutputs: Int
  /// One factor per output channel, from a later layer.
  var scale: [Float]?
  var bias: [Float]?
  /// A function that kernels can fuse.
  var activation: ScaledFunction?

  var inputs: Int { groupInputs * groups }
  var outputs: Int { groupOutputs * groups }

  func path(block: Int) -> ConvolutionPath {
    ConvolutionPath(groups: groups, inputs: inputs, outputs: outputs, block: block)
  }

  /// The weights of an ordinary convolution's first group, in place or copied.
  func view(_ window: WindowGeometry, _ kernels: any KernelTable.Type) throws -> WeightView {
    view(window, try values.contiguous(kernels))
  }

  func view(_ window: WindowGeometry, _ bytes: Bytes) -> WeightView {
    let layout = WeightLayout(
      outputChannels: groupOutputs, inputChannels: groupInputs, kernelHeight: window.kernel[0],
      kernelWidth: window.kernel[1])
    return WeightView(bytes: bytes, layout: layout, groupStride: groupOutputs * layout.outputStride)
  }

  /// Applies y ← factor · y + offset, with one pair per output channel.
  mutating func apply(scale factors: [Double], bias offsets: [Double]) {
    let old = bias
    bias = (0..<outputs).map { Float(Double(old?[$0] ?? 0) * factors[$0] + offsets[$0]) }
    if factors.allSatisfy({ $0 == 1 }) { return }
    let before = scale
    scale = (0..<outputs).map { Float(Double(before?[$0] ?? 1) * factors[$0]) }
  }

  /// The sizes of the convolution, with channels padded to whole blocks.
  func geometry(_ output: Shape, _ kernels: any KernelTable.Type) -> ConvolutionGeometry {
    ConvolutionGeometry(output, inputs: inputs, outputs: outputs, block: kernels.channelBlock)
  }
}
