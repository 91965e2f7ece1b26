import ByteFormats
import ImportSupport

extension KerasWriter {
  /// Adds the layers of an activation whose code is in the file, as of a Lambda.
  mutating func applyCode(
    _ fields: JSONObject, _ tensor: KerasTensor, name: String, _ call: LayerCall
  ) throws -> KerasTensor {
    let subject = CustomLayerSubject(
      layer: call.name, layerClass: call.className, activation: "<lambda>")
    if let blob = try applyRule(rules, subject, to: tensor.blob, tensor.placement) {
      return tensor.with(blob)
    }
    let layer = ModelDefinition.Layer(name: name, className: "Lambda", fields: fields, calls: [])
    let reading = LambdaFunction.reading(of: fields, inputCount: 1)
    let python = try PythonConversion(layer, subject, reading, 1, rules).orThrow(
      UnsupportedLayers.error(for: subject, reading: reading, readsFormulas: true))
    return try python.convert(
      call.with(name: name, inputs: [tensor]), outputCount: 1, shapes: { _, _ in nil }, into: &self
    ).outputs[0]
  }
}
