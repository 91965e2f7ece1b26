/// Planes and one channel block: the first `extent.blocks` lanes of each pixel are channels.
package struct LayoutArguments: @unchecked Sendable {
  package var input: InputView
  package var output: OutputView
  /// Channels, rows and columns.
  package var extent: Extent
  /// One per channel, for `block`; nil is 1.
  package var scale: UnsafePointer<Float>?
  /// One per channel, for `block`; nil is 0.
  package var bias: UnsafePointer<Float>?

  package init(input: InputView, output: OutputView, extent: Extent) {
    (self.input, self.output, self.extent) = (input, output, extent)
  }
}

/// Four rows of a plane, and the rows of their transforms.
package struct PlanarPairRows: @unchecked Sendable {
  package var rows: InlineArray<4, UnsafePointer<Float>>
  package var output: OutputView
  package var count: Int
  /// The rows that many floats after the last two, which the next call needs, are prefetched; they
  /// need not exist.
  package var ahead: Int

  package init(
    rows: InlineArray<4, UnsafePointer<Float>>, output: OutputView, count: Int, ahead: Int
  ) {
    (self.rows, self.output, self.count, self.ahead) = (rows, output, count, ahead)
  }
}
