import ByteFormats
import CoreMLModel
import Formulas
import ImportSupport
import LibC
import TensorCore

/// The power of each frame of a signal in triangular bins on the mel scale: convolutions with
/// waves, and a matrix product.
enum MelSpectrogram: KerasLayer {
  static let classes = [SourceLayer](
    "MelSpectrogram", becomes: "padding, convolutions, unary layers, innerProduct",
    options: "`top_db` counts from the largest value of each item, in Keras from that of the batch",
    refused: "a signal without a batch, a window that is an array, `fft_length` beyond 4096")

  private static func mel(_ hertz: Double) -> Double { 1127 * log(1 + hertz / 700) }

  /// The windowed waves of all frequencies.
  private static func waves(
    _ wave: (Double) -> Double, _ size: Int, _ length: Int, _ window: String
  ) -> FloatValues {
    let turn = 2 * Double.pi
    // As in TensorFlow, the last value of a window with odd length equals its first value.
    let period = Double(max(length - length % 2, 1))
    let base = window == "hann" ? 0.5 : window == "hamming" ? 0.54 : 1
    let start = (size - length) / 2
    return FloatValues(
      (0..<size).flatMap { row in
        let position = row - start
        let share = base - (1 - base) * cos(turn * Double(position) / period)
        return (0...size / 2).map {
          (0..<length).contains(position)
            ? Float(share * wave(turn * Double(row * $0 % size) / Double(size))) : 0
        }
      }
    ).shaped([size, 1, size / 2 + 1])
  }

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let size = try configuration.int("fft_length", default: 2048, atLeast: 2)
    let step = try configuration.int("sequence_stride", default: 512)
    let window = try configuration.string("window", default: "")
    let shortened = try configuration.int("sequence_length", default: size)
    // Keras shortens the frames only if there is a window.
    let length = window.isEmpty ? size : shortened
    let rate = try configuration.double("sampling_rate", default: 16000)
    let count = try configuration.int("num_mel_bins", default: 128)
    let ends = try [
      configuration.double("min_freq", default: 20),
      configuration.double("max_freq", default: rate / 2),
    ].map(Self.mel)
    let bins = size / 2 + 1
    try configuration.require(
      size <= 4096 && length <= size && count <= 4096 && ends[0] < ends[1]
        && ["", "hann", "hamming"].contains(window), nil,
      unsupported: "these frequencies or sizes are not supported")
    // The weights of the bins, `[mel bins, bins of the transform]`.
    let triangles = FloatValues(
      (0..<count).flatMap { row in
        let edges = (row...row + 2).map {
          ends[0] + (ends[1] - ends[0]) * Double($0) / Double(count + 1)
        }
        return (0..<bins).map { bin in
          let position = Self.mel(rate / 2 * Double(bin) / Double(bins - 1))
          let sides = [
            (position - edges[0]) / (edges[1] - edges[0]),
            (edges[2] - position) / (edges[2] - edges[1]),
          ]
          return bin == 0 ? 0 : Float(max(0, min(sides[0], sides[1])))
        }
      }
    ).shaped([count, bins])
    let exponent = try configuration.double("mag_exp", default: 2)
    // The formula of the power, a function of x * x + y * y.
    let power = exponent == 2 ? "x * x + y * y" : "pow(x * x + y * y, \(exponent / 2))"
    let least = try configuration.double("min_power", default: 1e-10)
    let reference = try abs(configuration.double("ref_power", default: 1))
    let decibels =
      try configuration.bool("power_to_db", default: true)
      ? "4.342944819032518 * log(max(x, \(least))) - \(10 * log10(max(reference, least)))" : nil
    let range = try configuration.double("top_db", default: 80)
    return conversion { call, network in
      let input = try call.input
      try call.require(input.rank == 2, unsupported: "\(input.shapeText) is not a batch of signals")
      let border = JSONValue.array([.int(size / 2), .int(size / 2)])
      let padded = try call.step(
        "pad", [input], "padded",
        ["paddings": .array([.array([.int(0), .int(0)]), border]), "mode": .string("reflect")],
        &network)
      let signal = try padded.inserting(at: 2).orThrow(call.error("its input has no free axis"))
      func formula(_ text: String, _ inputs: [KerasTensor], _ name: String) throws -> KerasTensor {
        try FormulaConversion(
          formula: LayerFormula(
            Expression(parsing: text), inputs: Array(["x", "y"].prefix(inputs.count)))
        ).convert(call.with(name: "\(call.name)__\(name)__", inputs: inputs), into: &network)[0]
      }
      let parts = try [
        ("real", waves(cos, size, length, window)), ("imag", waves(sin, size, length, window)),
      ].map { path, kernel in
        let weight = StoredWeight(name: "\(path)/kernel", storedName: path, shape: kernel.shape) {
          kernel
        }
        return try call.with(name: call.name, inputs: [signal], weights: [weight]).part(
          "Conv1D", [signal], path,
          [
            "filters": .int(size / 2 + 1), "kernel_size": .int(size), "strides": .int(step),
            "use_bias": .bool(false),
          ], &network)
      }
      var result = network.channelProduct(
        try formula(power, parts, "power"), Weights(triangles), inputs: size / 2 + 1,
        outputs: triangles.shape[0], call.name + "__mel__")
      if let decibels {
        result = try formula(decibels, [result], "decibels")
        let largest = try network.reduced(.max, result, [1, 2], call.name + "__largest__", call)
        let least = largest.with(
          network.affine(largest.blob, 1, Float(-range), call.name + "__least__"))
        result = try call.step("maximum", [result, least], "bounded", [:], &network)
      }
      return [network.settled(result.exchanging(1, 2), for: call.name)]
    }
  }
}
