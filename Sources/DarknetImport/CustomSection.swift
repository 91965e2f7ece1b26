import ByteFormats
import Formulas
import ImportSupport

/// A section that becomes a custom layer because a rule says so or all sections may. It is assumed
/// to have no weights in the file and, if its class is unavailable, to keep the size of its input.
struct CustomSection: Sendable {
  let section: ConfigurationSection
  /// The rule; nil if `--custom-layers allow` applies.
  let rule: CustomLayerRule?
  let shapes: CustomLayerShapes

  func convert(_ call: LayerCall, into network: inout DarknetWriter) throws -> DarknetTensor {
    let input = try call.input
    let builder = CustomLayerBuilder(configuration: Self.configuration(of: section), weights: [])
    if let rule, let formula = try builder.formula(rule, inputCount: 1) {
      let result = try network.add(formula, name: call.name, [(input.blob, input.placement)])
      let tensor = try DarknetTensor(result.blob, result.placement).orThrow(
        call.unsupported(
          "the formula gives \(Expression.text(result.placement.shape)), which is not an image"))
      return tensor
    }
    let custom = try builder.layer(rule, className: section.name, leavingOut: [])
    let known = network.outputShapes(
      of: custom, [[1, 1, input.channels, input.height, input.width]], shapes, for: call.name)
    let blob = network.add(call.name, custom, [input.blob])
    if let shape = known?.first, shape.count == 5, shape[0] == 1, shape[1] == 1 {
      network.writer.notes.append("'\(call.name)' is assumed to have no weights")
      return try DarknetTensor(blob, shape[2], shape[3], shape[4])
    }
    network.writer.notes.append(
      "'\(call.name)' is assumed to have no weights and to keep the size of its input")
    return input.with(blob)
  }

  static func configuration(of section: ConfigurationSection) -> JSONObject {
    var configuration = JSONObject()
    for option in section.options { configuration[option.key] = value(option.value) }
    return configuration
  }

  private static func value(_ text: String) -> JSONValue {
    if let number = Int(text) { return .int(number) }
    if let number = Double(text), number.isFinite { return .double(number) }
    return .string(text)
  }
}

extension DarknetTensor {
  /// Darknet's axes are batch, channels, rows and columns.
  var placement: Placement { Placement([nil, channels, height, width], [1, 2, 3, 4]) }

  /// Nil unless the shape is that of a batch of images.
  init?(_ blob: String, _ placement: Placement) throws {
    let sizes = placement.shape.dropFirst().compactMap { $0 }
    guard placement.places.count == 4, sizes.count == 3,
      zip(placement.places, [1, 2, 3, 4]).enumerated().allSatisfy({ axis, pair in
        pair.0 == pair.1 || pair.0 == nil && placement.shape[axis] == 1
      })
    else { return nil }
    try self.init(blob, sizes[0], sizes[1], sizes[2])
  }
}
