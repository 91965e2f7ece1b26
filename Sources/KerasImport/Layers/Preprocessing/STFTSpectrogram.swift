import ByteFormats
import Formulas
import ImportSupport
import TensorCore

/// The Fourier transform of each frame of each channel: convolutions with stored waves.
enum STFTSpectrogram: KerasLayer {
  static let classes = [SourceLayer](
    "STFTSpectrogram", becomes: "convolutions, multiply, add, unary layers",
    options: "`mode`, `frame_step`, `padding`, `expand_dims`, `data_format`")

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let mode = try configuration.string("mode", default: "log")
    let length = try configuration.int("frame_length", default: 256)
    let step = try configuration.int("frame_step", default: length / 2)
    var power = 1
    while power < length { power *= 2 }
    let bins = try configuration.int("fft_length", default: power) / 2 + 1
    let padding = try configuration.string("padding", default: "valid")
    let isImage = try configuration.bool("expand_dims", default: false)
    let isChannelsFirst = try configuration.dataFormat == .channelsFirst
    let slots = WeightSlot.named(
      mode == "imag" ? nil : "real_kernel", mode == "real" ? nil : "imag_kernel")
    return conversion(slots) { call, network in
      var input = try call.input
      try call.require(
        input.rank == 3, "its input \(input.shapeText) is not a sequence of channels")
      if isChannelsFirst { input = input.exchanging(1, 2) }
      let channels = try call.known([input.channels], of: input)[0]
      let joined = mode == "stft"
      let width = joined ? 2 * bins : bins
      let filters = try checkedProduct([channels, width], limit: Limits.dimension)
      let waves = try slots.map { slot in
        let stored = try call.weight(slot.name, [length, 1, bins])
        guard mode == "psd" else { return try stored.array() }
        // All bins except the first and the last have twice the power.
        return try stored.array().enumerated().map { index, wave in
          index % bins > 0 && index % bins < bins - 1 ? wave * Float(2).squareRoot() : wave
        }
      }
      var parts = try (joined ? 0..<1 : waves.indices).map { part in
        let kernel = FloatValues(
          (0..<length).flatMap { row in
            let places = row * bins..<(row + 1) * bins
            let one = joined ? waves.flatMap { $0[places] } : Array(waves[part][places])
            return (0..<channels).flatMap { _ in one }
          }
        ).shaped([length, 1, filters])
        let path = slots[part].name
        let weight = StoredWeight(name: "\(path)/kernel", storedName: path, shape: kernel.shape) {
          kernel
        }
        return try call.with(name: call.name, inputs: [input], weights: [weight]).part(
          "Conv1D", [input], path,
          [
            "filters": .int(filters), "kernel_size": .int(length), "strides": .int(step),
            "groups": .int(channels), "padding": .string(padding), "use_bias": .bool(false),
          ], &network)
      }
      if mode == "angle" {
        parts = [try call.step("arctan2", parts.reversed(), "angle", [:], &network)]
      }
      if parts.count == 2 {
        let power = "x * x + y * y"
        let size = "sqrt(max(\(power), 1e-7))"
        let text = ["psd": power, "magnitude": size][mode] ?? "log(max(\(size), 1e-7))"
        parts = try FormulaConversion(
          formula: LayerFormula(Expression(parsing: text), inputs: ["x", "y"])
        ).convert(call.with(name: call.name + "__\(mode)__", inputs: parts), into: &network)
      }
      var result = parts[0]
      if isImage {
        if channels == 1, let image = result.inserting(at: 2) {
          result = image
        } else {
          let steps = try call.known([result.shape[1]], of: result)
          result = try network.reshaped(
            result, to: steps + [channels, width], name: call.name + "__channels__", call)
        }
        // The axes are steps, bins, channels, or with channels first, channels, steps, bins.
        result = isChannelsFirst ? result.exchanging(1, 2) : result.exchanging(2, 3)
      } else if isChannelsFirst {
        result = result.exchanging(1, 2)
      }
      return [network.settled(result, for: call.name)]
    }
  }
}
