import Interpretation
import LibC
import TensorCore

/// STFTSpectrogram: the product of each frame of each channel with stored waves.
enum Spectrograms {
  static let operations: [String: KerasOperations.Operation] = ["STFTSpectrogram": spectrogram]

  private static func spectrogram(_ run: LayerRun) throws -> [KerasValue] {
    try run.require(rank: 3)
    let x = run.planes(run.input)
    let length = try run.weight(0, rank: 3).shape[0]
    let step = try run.sizes("frame_step", count: 1, default: max(length / 2, 1))[0]
    let (isSame, steps) = (run.field("padding")?.string == "same", x.shape[2])
    let count =
      isSame ? (steps + step - 1) / step : steps < length ? 0 : (steps - length) / step + 1
    let before = isSame ? max((count - 1) * step + length - steps, 0) / 2 : 0
    var frames = try DoubleArray(shape: [x.shape[0], x.shape[1], count, length])
    for index in frames.values.indices {
      let (row, place) = (index / (count * length), index % (count * length))
      let sample = place / length * step + place % length - before
      if (0..<steps).contains(sample) { frames.values[index] = x.values[row * steps + sample] }
    }
    let parts = try run.weights.indices.map { index in
      let waves = try run.weight(index, rank: 3)
      return try Products.product(frames, waves.reshaped([waves.shape[0], waves.shape[2]]))
    }
    let mode = run.field("mode")?.string ?? "log"
    try run.require(
      parts.count == (["real", "imag"].contains(mode) ? 1 : 2)
        && parts.allSatisfy { $0.shape == parts[0].shape }, "mode '\(mode)'")
    var result = parts[0]
    if mode == "stft" {
      result = DoubleArray.concatenated(parts, axis: 3)
    } else if parts.count == 2 {
      let bins = parts[0].shape[3]
      for index in result.values.indices {
        let (real, imaginary) = (parts[0].values[index], parts[1].values[index])
        let power = real * real + imaginary * imaginary
        let isInner = index % bins > 0 && index % bins < bins - 1
        result.values[index] =
          switch mode {
          case "angle": atan2(imaginary, real)
          case "psd": isInner ? 2 * power : power
          case "magnitude": max(power, 1e-7).squareRoot()
          default: log(max(max(power, 1e-7).squareRoot(), 1e-7))
          }
      }
    }
    let (batch, channels, bins) = (result.shape[0], result.shape[1], result.shape[3])
    let isFirst = run.isChannelsFirst
    if run.bool("expand_dims") {
      return [KerasValue(array: isFirst ? result : result.transposed([0, 2, 3, 1]))]
    }
    return [
      KerasValue(
        array: try isFirst
          ? result.transposed([0, 1, 3, 2]).reshaped([batch, channels * bins, count])
          : result.transposed([0, 2, 1, 3]).reshaped([batch, count, channels * bins]))
    ]
  }
}
