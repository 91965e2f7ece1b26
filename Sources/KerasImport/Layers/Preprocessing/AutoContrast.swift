import CoreMLModel
import ImportSupport

/// Stretches each channel to the full range of values: (x − min) · (largest − smallest value) /
/// (max − min) + smallest value. Constant channels are unchanged.
enum AutoContrast: KerasLayer {
  static let classes = [SourceLayer](
    "AutoContrast", becomes: "min, max, a product", options: "`value_range`", version: 4)

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let range = try configuration.numbers("value_range") ?? [0, 255]
    guard range.count == 2, range[0] < range[1] else {
      throw configuration.unsupported("value_range", "\(range) is not a range")
    }
    let format = try configuration.dataFormat ?? .channelsLast
    return conversion { call, network in
      var image = network.relaid(try call.input, to: format.layout, for: call.name)
      guard image.rank == 4 else {
        throw call.error("its input \(image.shapeText) is not an image")
      }
      let name = call.name
      let least = network.reduced(.min, .hw, image.blob, name + "__min__")
      let most = network.reduced(.max, .hw, image.blob, name + "__max__")
      let width = network.difference(most, least, name + "__width__")
      let factor = network.affine(
        network.unary(.inverse, width, name + "__inverse__", epsilon: .leastNormalMagnitude),
        Float(range[1] - range[0]), 0, name + "__factor__")
      let above = network.difference(image.blob, least, name + "__above__")
      let stretched = network.affine(
        network.product(above, factor, name + "__stretched__"), 1, Float(range[0]),
        name + "__moved__")
      let isFlat = network.add(name + "__flat__", Equal(), [width])
      image.blob = network.add(name, WhereBroadcastable(), [isFlat, image.blob, stretched])
      return [image]
    }
  }
}
