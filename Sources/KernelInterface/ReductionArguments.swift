package enum Reduction: UInt8, CaseIterable, Sendable {
  case sum, sumOfSquares, sumOfMagnitudes, product, maximum, minimum
}

/// A contiguous vector → one value, in an order that depends on `count` alone. An empty vector
/// gives the neutral element (0, 1, -∞, ∞).
package struct ReductionArguments: @unchecked Sendable {
  package var function: Reduction
  package var input: UnsafePointer<Float>
  package var count: Int

  package init(function: Reduction, input: UnsafePointer<Float>, count: Int) {
    self.function = function
    self.input = input
    self.count = count
  }
}

/// The rows of one channel block → one value a channel (`channelBlock` floats), in an order that
/// depends on the sizes alone.
package struct PlaneReductionArguments: @unchecked Sendable {
  package var function: Reduction
  package var input: UnsafePointer<Float>
  package var inputRowStride: Int
  package var rows: Int
  package var width: Int
  package var output: UnsafeMutablePointer<Float>

  package init(
    function: Reduction, input: UnsafePointer<Float>, inputRowStride: Int, rows: Int, width: Int,
    output: UnsafeMutablePointer<Float>
  ) {
    self.function = function
    self.input = input
    self.inputRowStride = inputRowStride
    self.rows = rows
    self.width = width
    self.output = output
  }
}

/// `out[i] = exp(x[i] - max) / Σ exp(x[j] - max)` over a contiguous vector; in place is allowed.
package struct SoftmaxArguments: @unchecked Sendable {
  package var input: UnsafePointer<Float>
  package var output: UnsafeMutablePointer<Float>
  package var count: Int

  package init(input: UnsafePointer<Float>, output: UnsafeMutablePointer<Float>, count: Int) {
    self.input = input
    self.output = output
    self.count = count
  }
}

/// The softmax over the channels of each of `pixels` adjacent blocked pixels; in place is allowed.
/// Lanes beyond `channels` become zeros.
package struct BlockedSoftmaxArguments: @unchecked Sendable {
  package var input: UnsafePointer<Float>
  package var inputBlockStride: Int
  package var output: UnsafeMutablePointer<Float>
  package var outputBlockStride: Int
  package var pixels: Int
  package var channels: Int

  package init(
    input: UnsafePointer<Float>, inputBlockStride: Int, output: UnsafeMutablePointer<Float>,
    outputBlockStride: Int, pixels: Int, channels: Int
  ) {
    self.input = input
    self.inputBlockStride = inputBlockStride
    self.output = output
    self.outputBlockStride = outputBlockStride
    self.pixels = pixels
    self.channels = channels
  }
}
