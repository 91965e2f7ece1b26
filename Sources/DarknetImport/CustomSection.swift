import CoreMLModel
import ImportSupport
import TensorCore

/// A section that becomes a custom layer, by a rule or because all may. It is taken to have no
/// weights in the file and to keep the sizes of its input.
struct CustomSection: Sendable {
  let section: ConfigurationSection
  /// Nil where `--custom-layers allow` says so.
  let rule: CustomLayerRule?

  func convert(_ call: LayerCall, into network: inout DarknetNetwork) throws -> DarknetTensor {
    let input = try call.input
    var configuration = JSONObject()
    for option in section.options {
      configuration[option.key] = Self.value(option.value)
    }
    let builder = CustomLayerBuilder(configuration: configuration, weights: [])
    let custom =
      try rule.map { try builder.layer($0) }
      ?? builder.layer(className: section.name, leavingOut: [])
    network.writer.notes.append(
      "'\(call.name)' is taken to have no weights and an output of the size of its input")
    return input.with(network.add(call.name, custom, [input.blob]))
  }
  private static func value(_ text: String) -> JSONValue {
    if let number = Int(text) { return .int(number) }
    if let number = Double(text), number.isFinite { return .double(number) }
    return .string(text)
  }
}
