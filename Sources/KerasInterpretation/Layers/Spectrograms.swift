import Interpretation
import LibC
import TensorCore

/// Spectrograms: STFTSpectrogram multiplies frames by stored waves.
enum Spectrograms {
  static let operations: [String: KerasOperations.Operation] = [
    "STFTSpectrogram": spectrogram, "MelSpectrogram": mel,
  ]

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
      let (row, position) = (index / (count * length), index % (count * length))
      let sample = position / length * step + position % length - before
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

  /// The power spectrum of windows, reflected at both ends, in triangular bins on the mel scale.
  private static func mel(_ run: LayerRun) throws -> [KerasValue] {
    try run.require(rank: 2)
    func size(_ name: String, _ standard: Int) throws -> Int {
      try run.sizes(name, count: 1, default: standard)[0]
    }
    let (total, count) = (try size("fft_length", 2048), try size("num_mel_bins", 128))
    let length = try run.field("window") == nil ? total : size("sequence_length", total)
    let step = try size("sequence_stride", 512)
    let (batch, samples, border) = (run.input.shape[0], run.input.shape[1], total / 2)
    try run.require(length <= total && border < samples, "windows longer than its input")
    let frames = (samples + 2 * border - total) / step + 1
    let windows = ["hann": 0.5, "hamming": 0.46]
    let swing = windows[run.field("window")?.string ?? ""] ?? 0
    func scale(_ hertz: Double) -> Double { 1127 * log1p(hertz / 700) }
    let rate = run.double("sampling_rate", default: 16000)
    let low = scale(run.double("min_freq", default: 20))
    let width =
      (scale(run.double("max_freq", default: rate / 2)) - low) / Double(count + 1)
    let (least, reference) = (
      run.double("min_power", default: 1e-10), abs(run.double("ref_power", default: 1))
    )
    let exponent = run.double("mag_exp", default: 2)
    var result = try DoubleArray(shape: [batch, count, frames])
    for item in 0..<batch {
      for frame in 0..<frames {
        for bin in 1...border {
          var (real, imaginary) = (0.0, 0.0)
          for position in 0..<length {
            var sample = abs(frame * step + (total - length) / 2 + position - border)
            if sample >= samples { sample = 2 * samples - 2 - sample }
            let share = Double(position) / Double(max(1, length - length % 2))
            let value =
              run.input.values[item * samples + sample] * (1 - swing - swing * cos(2 * .pi * share))
            let angle = 2 * .pi * Double(bin * position % total) / Double(total)
            (real, imaginary) = (real + value * cos(angle), imaginary + value * sin(angle))
          }
          let power = pow(hypot(real, imaginary), exponent)
          let position = (scale(rate * Double(bin) / Double(total / 2 * 2)) - low) / width
          for row in 0..<count {
            let share = max(0, 1 - abs(position - Double(row + 1)))
            result.values[(item * count + row) * frames + frame] += share * power
          }
        }
      }
    }
    if run.bool("power_to_db", default: true) {
      result = result.map { 10 * (log10(max($0, least)) - log10(max(reference, least))) }
      let floor = (result.values.max() ?? 0) - run.double("top_db", default: 80)
      result = result.map { max($0, floor) }
    }
    return [KerasValue(array: result)]
  }
}
