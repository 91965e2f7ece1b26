import CoreMLModel
import TensorCore

extension NeuralNetworkLayer {
  /// The layer with a bias that restores the mean of its outputs, which changed when the weights W
  /// of `original` became W′:
  ///
  ///     c′ = c − (W′ − W) E[x]
  ///
  /// Taps outside the input are ignored; in a deconvolution with stride s, each output gets one of
  /// s taps. A layer of another type, or with a quantized bias, is unchanged.
  ///
  /// See Nagel, van Baalen, Blankevoort, Welling: Data-Free Quantization Through Weight
  /// Equalization and Bias Correction (2019), where E[x] comes from batch normalizations.
  ///
  /// - Parameter mean: E[x] of each input channel.
  func correctingBias(_ original: NeuralNetworkLayer, mean: [Double]) throws -> NeuralNetworkLayer {
    var layer = self
    switch (original.parameters, parameters) {
    case (let old as Convolution, var new as Convolution):
      let axis = old.isDeconvolution ? 1 : 0
      let pairs = try ChannelPairs(old)
      guard let before = try old.kernel?.values(shape: old.kernelShape, channelAxis: axis),
        let after = try new.kernel?.values(shape: new.kernelShape, channelAxis: axis),
        let bias = try (new.hasBias ? new.bias : nil).floats(count: pairs.outputs),
        let lost = try pairs.change(from: before, to: after, mean: mean)
      else { return self }
      let steps = old.isDeconvolution ? Double(try checkedProduct(old.effectiveSizes().strides)) : 1
      new.bias = Weights(zip(bias, lost).map { Float(Double($0) - $1 / steps) })
      new.hasBias = true
      layer.parameters = new
    case (let old as InnerProduct, var new as InnerProduct):
      let shape = [old.outputChannels, old.inputChannels]
      guard let before = try old.matrix?.values(shape: shape),
        let after = try new.matrix?.values(shape: shape),
        let bias = try (new.hasBias ? new.bias : nil).floats(count: old.outputChannels),
        let lost = try ChannelPairs(old).change(from: before, to: after, mean: mean)
      else { return self }
      new.bias = Weights(zip(bias, lost).map { Float(Double($0) - $1) })
      new.hasBias = true
      layer.parameters = new
    default: break
    }
    return layer
  }
}

extension Weights? {
  /// The values in single precision, zeros if missing; nil for any other precision.
  fileprivate func floats(count: Int) throws -> [Float]? {
    guard let weights = self else { return [Float](repeating: 0, count: count) }
    return weights.floatValue.count > 0 ? try weights.values(shape: [count]).array() : nil
  }
}

extension ChannelPairs {
  /// (W′ − W) E[x]; nil if the mean has the wrong number of channels or is not finite.
  fileprivate func change(
    from before: FloatValues, to after: FloatValues, mean: [Double]
  ) throws -> [Double]? {
    guard mean.count == inputs, mean.allSatisfy(\.isFinite), taps > 0 else { return nil }
    let count = before.count / taps
    let part = max(1, (1 << 16) / taps)
    let memory = try [0, 1].map { _ in
      try AlignedBuffer(checkedByteCount: checkedProduct([4, part, taps]))
    }
    let (x, y) = (
      memory[0].pointer.assumingMemoryBound(to: Float.self),
      memory[1].pointer.assumingMemoryBound(to: Float.self)
    )
    var result = [Double](repeating: 0, count: outputs)
    withExtendedLifetime(memory) {
      for begin in stride(from: 0, to: count, by: part) {
        let range = begin..<min(count, begin + part)
        let values = range.lowerBound * taps..<range.upperBound * taps
        before.copy(values, to: x)
        after.copy(values, to: y)
        for pair in range {
          let (input, output) = self[pair]
          let first = (pair - begin) * taps
          var sum = 0.0
          for tap in first..<first + taps { sum += Double(y[tap]) - Double(x[tap]) }
          result[output] += sum * mean[input]
        }
      }
    }
    return result
  }
}
