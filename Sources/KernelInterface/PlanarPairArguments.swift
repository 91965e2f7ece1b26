/// Two rows of a convolution with stride 1 and three rows of taps, from planes to planes, by
/// Winograd's F(2, 3) along the columns: two thirds of the multiply-adds. The input is what
/// `PlanarPairRows` makes, of at least one plane; there is at least one column of taps.
///
/// The weights stand as `[output / g][half][input][column][row of the half][output % g]`, with `g`,
/// the table's `planarGroup(outputs)`, output channels side by side and zeros where the last ones
/// are fewer; of a column of weights `v`, `half` 0 has `(v₀ + v₁ + v₂) / 2` and
/// `(v₀ − v₁ + v₂) / 2`, and `half` 1 has `v₀` and `v₂`.
package struct PlanarPairArguments: @unchecked Sendable {
  /// Transformed rows from the first column that the first pixel needs.
  package var input: UnsafePointer<Float>
  package var inputRowStride: Int
  package var inputPlaneStride: Int
  package var inputs: Int
  package var weights: UnsafePointer<Float>
  package var kernelWidth: Int
  package var dilationX: Int
  package var output: UnsafeMutablePointer<Float>
  package var outputRowStride: Int
  package var outputPlaneStride: Int
  package var outputs: Int
  /// One or two rows, the second of which is computed but not written where it is one.
  package var rows: Int
  package var width: Int
  /// One a channel.
  package var bias: UnsafePointer<Float>

  package init(
    input: UnsafePointer<Float>, inputRowStride: Int, inputPlaneStride: Int, inputs: Int,
    weights: UnsafePointer<Float>, kernelWidth: Int, dilationX: Int = 1,
    output: UnsafeMutablePointer<Float>, outputRowStride: Int, outputPlaneStride: Int, outputs: Int,
    rows: Int, width: Int, bias: UnsafePointer<Float>
  ) {
    self.input = input
    self.inputRowStride = inputRowStride
    self.inputPlaneStride = inputPlaneStride
    self.inputs = inputs
    self.weights = weights
    self.kernelWidth = kernelWidth
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

/// Four rows `d` of a plane become `d₁ + d₂`, `d₂ − d₁`, `d₀ − d₂` and `d₃ − d₁`. The rows `ahead`
/// floats from the last two, which the next call needs, are asked for; they need not exist.
package struct PlanarPairRows: @unchecked Sendable {
  package var d0: UnsafePointer<Float>
  package var d1: UnsafePointer<Float>
  package var d2: UnsafePointer<Float>
  package var d3: UnsafePointer<Float>
  package var output: UnsafeMutablePointer<Float>
  package var outputRowStride: Int
  package var count: Int
  package var ahead: Int

  package init(
    d0: UnsafePointer<Float>, d1: UnsafePointer<Float>, d2: UnsafePointer<Float>,
    d3: UnsafePointer<Float>, output: UnsafeMutablePointer<Float>, outputRowStride: Int, count: Int,
    ahead: Int
  ) {
    self.d0 = d0
    self.d1 = d1
    self.d2 = d2
    self.d3 = d3
    self.output = output
    self.outputRowStride = outputRowStride
    self.count = count
    self.ahead = ahead
  }
}
