public enum Reduction: UInt8, CaseIterable, Sendable {
  case sum, sumOfSquares, sumOfMagnitudes, product, maximum, minimum
}

/// A contiguous vector → one value, in an order that depends on `count` alone. An empty vector
/// gives the neutral element (0, 1, -∞, ∞).
public struct ReductionArguments: @unchecked Sendable {
  public var function: Reduction
  public var input: UnsafePointer<Float>
  public var count: Int

  public init(function: Reduction, input: UnsafePointer<Float>, count: Int) {
    self.function = function
    self.input = input
    self.count = count
  }
}

/// The rows of one channel block → one value a channel (`channelBlock` floats), in an order that
/// depends on the sizes alone.
public struct PlaneReductionArguments: @unchecked Sendable {
  public var function: Reduction
  public var input: UnsafePointer<Float>
  public var inputRowStride: Int
  public var rows: Int
  public var width: Int
  public var output: UnsafeMutablePointer<Float>

  public init(
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
public struct SoftmaxArguments: @unchecked Sendable {
  public var input: UnsafePointer<Float>
  public var output: UnsafeMutablePointer<Float>
  public var count: Int

  public init(input: UnsafePointer<Float>, output: UnsafeMutablePointer<Float>, count: Int) {
    self.input = input
    self.output = output
    self.count = count
  }
}

/// The softmax over the channels of each of `pixels` adjacent blocked pixels; in place is allowed.
/// Lanes beyond `channels` become zeros.
public struct BlockedSoftmaxArguments: @unchecked Sendable {
  public var input: UnsafePointer<Float>
  public var inputBlockStride: Int
  public var output: UnsafeMutablePointer<Float>
  public var outputBlockStride: Int
  public var pixels: Int
  public var channels: Int

  public init(
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
