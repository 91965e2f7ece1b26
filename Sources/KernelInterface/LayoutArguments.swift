package enum ScalarFormat: UInt8, Sendable {
  case float32
  case uint8
}

/// Values at any strides → one channel block.
///
///     out[y][x][l] = scale[l] · in[l · channelStride + y · rowStride + x · pixelStride] + bias[l]
///
/// for `l < channels`, 0 for the other lanes. Input strides count elements: planar data has a
/// `pixelStride` of 1, interleaved data a `channelStride` of 1 (-1, from the last channel, reverses
/// the colours).
package struct BlockingArguments: @unchecked Sendable {
  /// Channel 0 of pixel (0, 0); possibly unaligned.
  package var input: UnsafeRawPointer
  package var format: ScalarFormat
  package var channelStride: Int
  package var rowStride: Int
  package var pixelStride: Int
  /// At most `channelBlock`.
  package var channels: Int
  /// `channels` values; nil is 1.
  package var scale: UnsafePointer<Float>?
  /// `channels` values; nil is 0.
  package var bias: UnsafePointer<Float>?
  package var output: UnsafeMutablePointer<Float>
  package var outputRowStride: Int
  package var rows: Int
  package var width: Int

  package init(
    input: UnsafeRawPointer, format: ScalarFormat = .float32, channelStride: Int, rowStride: Int,
    pixelStride: Int, channels: Int, scale: UnsafePointer<Float>? = nil,
    bias: UnsafePointer<Float>? = nil, output: UnsafeMutablePointer<Float>, outputRowStride: Int,
    rows: Int, width: Int
  ) {
    self.input = input
    self.format = format
    self.channelStride = channelStride
    self.rowStride = rowStride
    self.pixelStride = pixelStride
    self.channels = channels
    self.scale = scale
    self.bias = bias
    self.output = output
    self.outputRowStride = outputRowStride
    self.rows = rows
    self.width = width
  }
}

/// One channel block → values at any strides:
/// `out[l · channelStride + y · rowStride + x · pixelStride] = in[y][x][l]` for `l < channels`.
package struct UnblockingArguments: @unchecked Sendable {
  package var input: UnsafePointer<Float>
  package var inputRowStride: Int
  package var output: UnsafeMutablePointer<Float>
  package var channelStride: Int
  package var rowStride: Int
  package var pixelStride: Int
  /// At most `channelBlock`.
  package var channels: Int
  package var rows: Int
  package var width: Int

  package init(
    input: UnsafePointer<Float>, inputRowStride: Int, output: UnsafeMutablePointer<Float>,
    channelStride: Int, rowStride: Int, pixelStride: Int, channels: Int, rows: Int, width: Int
  ) {
    self.input = input
    self.inputRowStride = inputRowStride
    self.output = output
    self.channelStride = channelStride
    self.rowStride = rowStride
    self.pixelStride = pixelStride
    self.channels = channels
    self.rows = rows
    self.width = width
  }
}
