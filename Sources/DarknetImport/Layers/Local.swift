import CoreMLModel
import ImportSupport
import TensorCore

extension DarknetLayer {
  /// A convolution with a separate kernel for each position: out[o, y, x] = activation(bias[o, y, x]
  /// + Σ weights[y, x, o, …] · window).
  static let local = DarknetLayer(
    SourceLayer(
      "local",
      becomes:
        "convolution with unit kernels, one with a group per position, wrapped in permutes and "
        + "reshapes; bias"), options: ["filters", "size", "stride", "pad", "activation"]
  ) { section in
    let filters = try section.int("filters", default: 1, in: 1...WindowOptions.filterLimit)
    let size = try section.int("size", default: 1, in: 1...WindowOptions.limit)
    let stride = try section.int("stride", default: 1, in: 1...Limits.dimension)
    // The padding on each side; Darknet computes correct sizes only for 0 and (size − 1) / 2.
    let border = try section.int("pad", default: 0, in: 0...WindowOptions.limit)
    let activation = ActivationFunction(section, default: "logistic")
    if let option = section["pad"], border != 0, 2 * border != size - 1 {
      throw section.error(
        option, "\(border) with a size of \(size) makes Darknet read beyond its input",
        hint: "0, or half of an odd size")
    }
    return { call, network in
      let input = try call.image
      guard input.height + 2 * border >= size, input.width + 2 * border >= size else {
        throw call.error("a window of \(size) does not fit its input's \(input.sizes)")
      }
      let height = (input.height + 2 * border - size) / stride + 1
      let width = (input.width + 2 * border - size) / stride + 1
      let positions = try checkedProduct([height, width], limit: Limits.dimension)
      let output = try DarknetTensor("", filters, height, width)
      let taps = try checkedProduct([size, size], limit: Limits.dimension)
      let window = try checkedProduct([input.channels, taps], limit: Limits.dimension)
      try network.addConstants([window, taps], call)
      let all = try checkedProduct([window, positions], limit: Limits.dimension)
      let bias = try network.weights.take(
        "biases", [filters, height, width], layer: call.name)
      let kernel = try network.weights.take(
        "weights", [positions * filters, window, 1, 1], fanIn: window, layer: call.name)

      // Moves the values of each window to the channel axis.
      var picks = [Float](repeating: 0, count: window * taps)
      for row in 0..<window { picks[row * taps + row % taps] = 1 }
      let windows = network.add(
        call.name + "__windows__",
        Convolution(
          [window, 1, size, size], groups: input.channels, stride: [stride, stride],
          border: [border, border], kernel: Weights(picks)), [input.blob])
      // One position after the other, as groups of one convolution.
      let rows = network.reshaped(windows, 1, window, positions, call.name + "__rows__")
      let transposed = network.permuted(rows, [0, 3, 2, 1], call.name + "__places__")
      let row = network.reshaped(transposed, all, 1, 1, call.name + "__row__")
      let sums = network.add(
        call.name,
        Convolution(
          [positions * filters, window, 1, 1], groups: positions, kernel: Weights(kernel)),
        [row])
      let table = network.reshaped(sums, positions, filters, 1, call.name + "__table__")
      let back = network.permuted(table, [0, 2, 1, 3], call.name + "__back__")
      let image = network.reshaped(back, filters, height, width, call.name + "__image__")
      var add = Bias()
      add.shape = [filters, height, width]
      add.bias = Weights(bias)
      let blob = network.add(call.name + "__bias__", add, [image])
      return try network.activate(activation, output.with(blob), call)
    }
  }
}
