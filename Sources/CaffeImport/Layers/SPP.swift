import CoreMLModel
import Formulas
import ImportSupport
import TensorCore

/// Pooling into 1, 4, 16, … bins, concatenated
enum SPP: SingleInputConverter {
  static let source = SourceLayer(
    "SPP", becomes: "pooling and flatten for each level, concat",
    options: "`pyramid_height`, `pool`")

  static func top(of layer: LayerCall, _ network: inout CaffeWriter) throws -> CaffeTensor {
    let input = layer.input
    try layer.requireImages(input)
    let parameters = layer.parameters("spp_param")
    let height = try parameters.int("pyramid_height", atLeast: 1, atMost: 16)
    let name = try parameters.symbol("pool")
    let method = try PoolingWindows.Method(rawValue: name).orThrow(
      parameters.unsupported("pool", name))
    let image = network.images(input, for: layer.name)
    if method == .stochastic { try network.requirePositive(image, layer) }
    let extents = Array(input.shape.suffix(2))
    var parts: [String] = []
    var count = 0
    for level in 0..<height {
      let bins = 1 << level
      let kernel = extents.map { ($0 + bins - 1) / bins }
      let padding = zip(kernel, extents).map { ($0 * bins - $1 + 1) / 2 }
      var windows = PoolingWindows(method: method, kernel: kernel, stride: kernel, padding: padding)
      try windows.fit(extents, layer)
      let pooled = try network.pooled(image, windows, layer.part("level\(level)"))
      parts.append(network.add(layer.part("flatten\(level)"), Flatten(), [pooled.blob]))
      count += try checkedProduct(Array(pooled.shape[1...]))
    }
    let top = layer.tops[0]
    let result =
      parts.count == 1
      ? network.add(layer.name, Activation(.linear(alpha: 1, beta: 0)), parts, to: top)
      : network.joined(parts, alongSequence: false, layer.name, to: top)
    return CaffeTensor(result, [input.shape[0], count], axes: [image.axes[0], Placement.channel])
  }
}
