/// The layout of convolution weights in a file, in floats: `w[o][i][ky][kx]` is element `o ·
/// outputStride + i · inputStride + ky · rowStride + kx · columnStride`. Negative strides flip the
/// kernel.
package struct WeightLayout: Sendable {
  package var outputStride: Int
  package var inputStride: Int
  package var rowStride: Int
  package var columnStride: Int
  package var outputChannels: Int
  package var inputChannels: Int
  package var kernelHeight: Int
  package var kernelWidth: Int

  /// Contiguous weights.
  package init(outputChannels: Int, inputChannels: Int, kernelHeight: Int = 1, kernelWidth: Int = 1)
  {
    inputStride = kernelHeight &* kernelWidth
    outputStride = inputChannels &* inputStride
    rowStride = kernelWidth
    columnStride = 1
    (self.outputChannels, self.inputChannels) = (outputChannels, inputChannels)
    (self.kernelHeight, self.kernelWidth) = (kernelHeight, kernelWidth)
  }
}

/// Packs weights from a file into panels of adjacent output channels, in the order in which tiles
/// use them. Channels beyond the counts become zeros. If the number of output blocks is not a
/// multiple of the blocks per panel, the last panel is narrower.
package struct PackingArguments: @unchecked Sendable {
  /// Address of weight (0, 0, 0, 0); possibly unaligned.
  package var source: UnsafeRawPointer
  package var layout: WeightLayout
  /// The panels to pack.
  package var panels: Range<Int>
  /// Start of panel 0.
  package var packed: UnsafeMutablePointer<Float>

  package init(
    source: UnsafeRawPointer, layout: WeightLayout, panels: Range<Int>,
    packed: UnsafeMutablePointer<Float>
  ) {
    (self.source, self.layout, self.panels, self.packed) = (source, layout, panels, packed)
  }
}
