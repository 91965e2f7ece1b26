import CoreMLModel
import ImportSupport

/// [relu(x), relu(−x)] along an axis, where relu(x) = max(0, x) + negative_slope · min(0, x)
/// (Shang et al. 2016).
enum ConcatenatedReLU: CaffeLayerConverter {
  static let source = SourceLayer(
    "CReLU", becomes: "activation ReLU or leakyReLU, of x and of −x; concat",
    options:
      "`crelu_param.axis` or `concat_axis`, default 1; `crelu_param.negative_slope`")

  static func batchAxis(_ layer: LayerCall, _ batch: OmittedBatch) throws -> Int? {
    layer.batch(batch, besides: try axis(layer))
  }

  private static func axis(_ layer: LayerCall) throws -> Int {
    let parameters = layer.parameters("crelu_param")
    let field = parameters.has("concat_axis") ? "concat_axis" : "axis"
    return try layer.onlyInput.axis(
      parameters.int(field, default: 1), "\(parameters.path).\(field)", of: layer)
  }

  static func convert(_ layer: LayerCall, _ network: inout CaffeWriter) throws -> [CaffeTensor] {
    let input = network.five(try layer.onlyInput, for: layer.name)
    let parameters = layer.parameters("crelu_param")
    let slope = try parameters.float("negative_slope", default: 0)
    let function = Activation(slope == 0 ? .relu : .leakyReLU(alpha: slope))
    let opposite = network.affine(input.blob, -1, layer.part("opposite"))
    let halves = [
      network.add(layer.part("positive"), function, [input.blob]),
      network.add(layer.part("negative"), function, [opposite]),
    ]
    return [
      try network.joined(
        halves.map { input.with($0) }, axis: try axis(layer), layer, output: layer.tops[0])
    ]
  }
}
