import ByteFormats
import Formulas
import ImportSupport
import TensorCore

/// A layer that becomes a custom layer because a rule says so or all layers may.
struct CustomCaffeLayer {
  let layer: LayerCall
  /// The rule; nil if only `--custom-layers allow` permits the layer.
  let rule: CustomLayerRule?

  /// Fields about the layer's position in the network, not what it computes.
  private static let bookkeeping: Set<String> = [
    "name", "type", "bottom", "top", "phase", "loss_weight", "param", "blobs", "propagate_down",
    "include", "exclude", "engine", "weight_filler", "bias_filler", "filler",
  ]

  /// The error for an unknown type; the hint shows a rule to paste.
  static func unknownType(_ layer: LayerCall) -> ModelError {
    let subject = CustomLayerSubject(layer: layer.name, layerClass: layer.type)
    return layer.unsupported(
      "this layer type is not supported"
        + (UnconvertedLayers.reason(of: layer.type).map { ": " + $0 } ?? question(layer)),
      hint: "make it a custom layer with a rule: \(setting: "customLayers") FILE.json with "
        + subject.suggestedRule)
  }

  /// A question about a probably misspelled type.
  static func question(_ layer: LayerCall) -> String {
    UnsupportedLayers.question(layer.type, CaffeLayerRegistry.types.flatMap { $0.source.names })
  }

  /// The refusal, with the values that a rule for the layer can use.
  static func refusal(of layer: LayerCall, _ error: ModelError) -> LayerRefusal {
    var refusal = LayerRefusal(error)
    refusal.configuration = object(layer.message)
    refusal.weights = layer.blobs.indices.map(String.init)
    return refusal
  }

  func convert(_ shapes: CustomLayerShapes, _ network: inout CaffeWriter) throws -> [CaffeTensor] {
    let inputs = layer.inputs
    let first = try inputs.first.orThrow(
      layer.unsupported("it has no bottoms, but a custom layer needs an input"))
    try layer.require(!layer.tops.isEmpty, "it has no tops", field: "top")
    let blobs = try layer.blobs.enumerated().map { index, blob in
      layer.usage.use(index)
      return (name: "\(index)", values: try blob.values())
    }
    let configuration = Self.object(layer.message)
    let builder = CustomLayerBuilder(
      configuration: rule == nil ? Self.flattened(configuration) : configuration, weights: blobs)
    if let rule, let formula = try builder.formula(rule, inputCount: inputs.count) {
      return [try convert(formula, &network)]
    }
    let custom = try builder.layer(rule, className: layer.type, leavingOut: Self.bookkeeping)
    let outputs = network.add(layer.name, custom, inputs.map(\.blob), outputs: layer.tops)
    let known = network.outputShapes(
      of: custom, inputs.map { $0.isShapeAssumed ? nil : $0.blobShape }, shapes, for: layer.name)
    return outputs.enumerated().map { index, blob in
      if let known, index < known.count { return first.with(blob, blobShape: known[index]) }
      var tensor = first.with(blob)
      tensor.isShapeAssumed = true
      return tensor
    }
  }

  private func convert(
    _ formula: LayerFormula, _ network: inout CaffeWriter
  ) throws -> CaffeTensor {
    try layer.require(
      layer.tops.count == 1,
      unsupported: "a formula has one result, but the layer has \(layer.tops.count) tops")
    let placed = layer.inputs.map { input in
      let tensor = input.rank == 5 ? input : network.placed(input, for: layer.name)
      return (
        blob: tensor.blob, placement: Placement(tensor.shape.map { $0 }, tensor.axes.map { $0 })
      )
    }
    let result = try network.add(formula, name: layer.name, placed, to: layer.tops[0])
    // Axes of length 1 go to free Core ML axes, the last ones first.
    let axes = try result.placement.filled([4, 3, 2, 1, 0]).orThrow(
      layer.unsupported("the formula's result has more than five axes"))
    var tensor = CaffeTensor(result.blob, result.placement.shape.map { $0 ?? 1 }, axes: axes)
    tensor.isShapeAssumed = layer.inputs.contains(where: \.isShapeAssumed)
    return tensor
  }

  /// The settings of a layer as JSON: lists as lists, messages as objects.
  private static func object(_ message: CaffeMessage) -> JSONObject {
    var object = JSONObject()
    for field in message.fields where !bookkeeping.contains(field.name) {
      let values = field.values.map(json)
      object[field.name] =
        values.count == 1 && field.type?.isRepeated != true ? values[0] : .array(values)
    }
    return object
  }

  private static func json(_ value: CaffeValue) -> JSONValue {
    switch value {
    case .integer(let value): .int(value)
    // The shortest decimal that identifies the single-precision number.
    case .number(let value): .double(Double("\(Float(value))") ?? value)
    case .bool(let value): .bool(value)
    case .string(let value): .string(value)
    case .symbol(let name, _): value.bool.map { .bool($0) } ?? .string(name)
    case .message(let message): .object(object(message))
    case .floats, .doubles: .array((value.numbers ?? []).map { .double($0) })
    case .bytes(let bytes): .string("\(bytes.count) bytes")
    }
  }

  /// The settings inside messages, moved up to the layer unless their names clash.
  private static func flattened(_ object: JSONObject) -> JSONObject {
    var result = JSONObject()
    for (name, value) in object.members {
      guard let inner = value.object else {
        // A single value of a repeated field, such as kernel_size.
        result[name] = value.array.flatMap { $0.count == 1 ? $0[0] : nil } ?? value
        continue
      }
      for (innerName, innerValue) in flattened(inner).members {
        result[result[innerName] == nil ? innerName : "\(name).\(innerName)"] = innerValue
      }
    }
    return result
  }
}

extension CaffeTensor {
  /// A tensor with the given Core ML shape; keeps this tensor's axes if they suffice.
  fileprivate func with(_ blob: String, blobShape: [Int]) -> CaffeTensor {
    guard blobShape.count == 5 else { return CaffeTensor(exact: blob, blobShape) }
    var positions = axes
    if rank != 5 || blobShape.indices.contains(where: { blobShape[$0] != 1 && !axes.contains($0) })
    {
      positions = blobShape[0] == 1 ? [1, 2, 3, 4] : [0, 1, 2, 3, 4]
    }
    return CaffeTensor(blob, positions.map { blobShape[$0] }, axes: positions)
  }
}
