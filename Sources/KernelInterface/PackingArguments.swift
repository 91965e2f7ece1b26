/// Weights as they stand in a file → panels for `convolution`, or blocks for `depthwiseConvolution`.
///
///     packed[panel][inputBlock][ky][kx][c][column] =
///       source[o · outputStride + i · inputStride + ky · rowStride + kx · columnStride]
///
/// with `o = panel · panelWidth + column` and `i = inputBlock · blockChannels + c`. Strides count
/// floats and may be negative (a flipped kernel). Channels beyond the counts become zeros. Where
/// the number of output blocks is not a multiple of `panelBlocks`, the last panel is as narrow as
/// what is left, in blocks. The panels of a call are those that begin in
/// `firstPanel ..< firstPanel + panelCount`; `packed` is always the address of panel 0.
///
/// Depthwise weights are packed with `inputChannels` and `blockChannels` 1 and `panelBlocks` 1.
package struct PackingArguments: @unchecked Sendable {
  /// Possibly unaligned.
  package var source: UnsafeRawPointer
  package var outputStride: Int
  package var inputStride: Int
  package var rowStride: Int
  package var columnStride: Int
  package var outputChannels: Int
  package var inputChannels: Int
  package var kernelHeight: Int
  package var kernelWidth: Int
  package var blockChannels: Int
  /// Channel blocks a full panel holds: the table's `panelBlocks`, or 1.
  package var panelBlocks: Int
  package var firstPanel: Int
  package var panelCount: Int
  package var packed: UnsafeMutablePointer<Float>

  package init(
    source: UnsafeRawPointer, outputStride: Int, inputStride: Int, rowStride: Int,
    columnStride: Int, outputChannels: Int, inputChannels: Int, kernelHeight: Int,
    kernelWidth: Int, blockChannels: Int, panelBlocks: Int, firstPanel: Int, panelCount: Int,
    packed: UnsafeMutablePointer<Float>
  ) {
    self.source = source
    self.outputStride = outputStride
    self.inputStride = inputStride
    self.rowStride = rowStride
    self.columnStride = columnStride
    self.outputChannels = outputChannels
    self.inputChannels = inputChannels
    self.kernelHeight = kernelHeight
    self.kernelWidth = kernelWidth
    self.blockChannels = blockChannels
    self.panelBlocks = panelBlocks
    self.firstPanel = firstPanel
    self.panelCount = panelCount
    self.packed = packed
  }
}
