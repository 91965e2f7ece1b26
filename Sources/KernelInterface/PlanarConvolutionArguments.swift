/// A convolution with stride 1 from planes to planes, for few output channels.
///
///     out[o][y][x] = bias[o] + Σ(i, ky, kx)
///       in[i][y + ky · dilationY][x + kx · dilationX] · w[o / g][i][ky][kx][o % g]
///
/// with `g`, the table's `planarGroup(outputs)`, output channels side by side in the weights, and zeros where
/// the last ones are fewer. The order of the sum is the order of the indices. Nothing outside the
/// rows and columns that the formula names is read.
package struct PlanarConvolutionArguments: @unchecked Sendable {
  /// Tap (0, 0) of output pixel (0, 0), channel 0.
  package var input: UnsafePointer<Float>
  package var inputRowStride: Int
  package var inputPlaneStride: Int
  package var inputs: Int
  package var weights: UnsafePointer<Float>
  package var kernelHeight: Int
  package var kernelWidth: Int
  package var dilationY: Int
  package var dilationX: Int
  package var output: UnsafeMutablePointer<Float>
  package var outputRowStride: Int
  package var outputPlaneStride: Int
  package var outputs: Int
  package var rows: Int
  package var width: Int
  /// One a channel.
  package var bias: UnsafePointer<Float>

  package init(
    input: UnsafePointer<Float>, inputRowStride: Int, inputPlaneStride: Int, inputs: Int,
    weights: UnsafePointer<Float>, kernelHeight: Int, kernelWidth: Int, dilationY: Int = 1,
    dilationX: Int = 1, output: UnsafeMutablePointer<Float>, outputRowStride: Int,
    outputPlaneStride: Int, outputs: Int, rows: Int, width: Int, bias: UnsafePointer<Float>
  ) {
    self.input = input
    self.inputRowStride = inputRowStride
    self.inputPlaneStride = inputPlaneStride
    self.inputs = inputs
    self.weights = weights
    self.kernelHeight = kernelHeight
    self.kernelWidth = kernelWidth
    self.dilationY = dilationY
    self.dilationX = dilationX
    self.output = output
    self.outputRowStride = outputRowStride
    self.outputPlaneStride = outputPlaneStride
    self.outputs = outputs
    self.rows = rows
    self.width = width
    self.bias = bias
  }

}
