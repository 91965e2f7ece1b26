/// Convolution weights as they are in a file, in floats: `w[o][i][ky][kx]` is element
/// `o · outputStride + i · inputStride + ky · rowStride + kx · columnStride`. Negative strides flip
/// the kernel.
package struct WeightLayout: Sendable {
  package var outputStride: Int
  package var inputStride: Int
  package var rowStride: Int
  package var columnStride: Int
  package var outputChannels: Int
  package var inputChannels: Int
  package var kernelHeight: Int
  package var kernelWidth: Int

  package init(
    outputStride: Int, inputStride: Int, rowStride: Int, columnStride: Int, outputChannels: Int,
    inputChannels: Int, kernelHeight: Int, kernelWidth: Int
  ) {
    self.outputStride = outputStride
    self.inputStride = inputStride
    self.rowStride = rowStride
    self.columnStride = columnStride
    self.outputChannels = outputChannels
    self.inputChannels = inputChannels
    self.kernelHeight = kernelHeight
    self.kernelWidth = kernelWidth
  }
}

/// Weights as they are in a file → panels of output channels, side by side as tiles compute them.
/// Channels beyond the counts become zeros. Where the number of output blocks is not a multiple of
/// those of a panel, the last panel is as narrow as what is left, in blocks.
package struct PackingArguments: @unchecked Sendable {
  /// Of weight (0, 0, 0, 0); possibly unaligned.
  package var source: UnsafeRawPointer
  package var layout: WeightLayout
  /// The panels to pack.
  package var panels: Range<Int>
  /// Of panel 0.
  package var packed: UnsafeMutablePointer<Float>

  package init(
    source: UnsafeRawPointer, layout: WeightLayout, panels: Range<Int>,
    packed: UnsafeMutablePointer<Float>
  ) {
    self.source = source
    self.layout = layout
    self.panels = panels
    self.packed = packed
  }
}
