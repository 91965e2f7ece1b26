import ByteFormats
import Interpretation
import KerasFormat
import TensorCore

/// Assigns stored arrays to layers: in order, as Keras does, or by name if the model has every name
/// but other layers are known to have weights. A nested model's arrays are in Keras's order:
/// trainable ones first.
enum WeightAssignment {
  static func assigned(
    _ stored: any LayerWeights, to model: KerasModel, file: String
  ) throws -> [ObjectIdentifier: [DoubleArray]] {
    let groups = try stored.layerNames.map { (name: $0, arrays: try stored.weights(of: $0)) }
    var result: [ObjectIdentifier: [DoubleArray]] = [:]
    let named = Dictionary(groups.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    // Keras 1 stores the layers of a model inside a Sequential model separately.
    func flat(_ model: KerasModel) -> [KerasModel.Layer] {
      model.layers.flatMap { layer in
        guard let nested = layer.nested, named[layer.name] == nil else { return [layer] }
        return flat(nested)
      }
    }
    let isFlat = model.layers.contains { $0.nested != nil && named[$0.name] == nil }
    let layers = isFlat && groups.contains { !$0.arrays.isEmpty } ? flat(model) : model.layers
    let owners = layers.filter { $0.nested != nil || ParameterCount($0).total > 0 }
    let filled = groups.filter { !$0.arrays.isEmpty }
    let names = Set(layers.map(\.name))
    let isByName =
      Set(owners.map(\.name)) != Set(filled.map(\.name))
      && filled.allSatisfy { names.contains($0.name) }
    try require(
      isByName || owners.count == filled.count || groups.isEmpty, .mismatch,
      "\(owners.count) layers have weights, the file has \(filled.count)", file: file)
    guard !groups.isEmpty else { return result }
    let pairs =
      isByName
      ? layers.compactMap { layer in named[layer.name].map { (layer, $0) } }
      : Array(zip(owners, filled))
    for (layer, group) in pairs {
      let arrays = try group.arrays.map { try array($0.shape, $0.values()) }
      if let nested = layer.nested {
        try distribute(arrays, nested, layer, &result)
      } else {
        result[ObjectIdentifier(layer)] = arrays
      }
    }
    return result
  }

  static func array(_ shape: [Int], _ values: FloatValues) throws -> DoubleArray {
    let values = try values.array().map(Double.init)
    return try DoubleArray(shape: [values.count], values).reshaped(shape)
  }

  private static func distribute(
    _ arrays: [DoubleArray], _ model: KerasModel, _ owner: KerasModel.Layer,
    _ result: inout [ObjectIdentifier: [DoubleArray]]
  ) throws {
    var layers: [(layer: KerasModel.Layer, count: ParameterCount)] = []
    func collect(_ model: KerasModel, _ isFrozen: Bool) {
      for layer in model.layers {
        let frozen = isFrozen || layer.fields["trainable"]?.bool == false
        if let nested = layer.nested {
          collect(nested, frozen)
        } else {
          layers.append((layer, ParameterCount(layer, isFrozen: frozen)))
        }
      }
    }
    collect(model, owner.fields["trainable"]?.bool == false)
    try require(
      layers.reduce(0, { $0 + $1.count.total }) == arrays.count, .mismatch,
      "the number of weights that its layers need differs from the \(arrays.count) in the file",
      layer: owner.name, layerClass: owner.className)
    var position = 0
    for isTrainable in [true, false] {
      for (layer, count) in layers {
        let length = isTrainable ? count.trainable : count.fixed
        result[ObjectIdentifier(layer), default: []] += arrays[position..<position + length]
        position += length
      }
    }
  }
}

/// The number of arrays that Keras stores for a layer.
struct ParameterCount {
  var trainable = 0
  var fixed = 0
  var total: Int { trainable + fixed }

  init(_ layer: KerasModel.Layer, isFrozen: Bool = false) {
    self.init(layer.className, layer.fields)
    if isFrozen { (trainable, fixed) = (0, total) }
  }

  init(_ className: String, _ fields: JSONValue) {
    let hasBias = fields["use_bias"]?.bool ?? fields["bias"]?.bool ?? true
    let isKeras1 = fields["inner_activation"] != nil || fields["consume_less"] != nil
    switch className {
    case "TimeDistributed", "Bidirectional":
      let inner = fields["layer"] ?? .null
      self = ParameterCount(ClassIdentity.name(inner), inner["config"] ?? .null)
      if className == "Bidirectional" { (trainable, fixed) = (2 * trainable, 2 * fixed) }
    case "BatchNormalization":
      let isScaled = fields["scale"]?.bool ?? true
      let isCentered = fields["center"]?.bool ?? true
      (trainable, fixed) = ((isScaled ? 1 : 0) + (isCentered ? 1 : 0), 2)
      if fields["renorm"]?.bool == true { fixed += 3 }
    case "LayerNormalization", "GroupNormalization":
      trainable = ["scale", "center"].count { fields[$0]?.bool ?? true }
    case "Embedding", "PReLU": trainable = 1
    case "EinsumDense": trainable = fields["bias_axes"]?.isNull == false ? 2 : 1
    case "SeparableConv2D", "SeparableConvolution2D", "SeparableConv1D":
      trainable = hasBias ? 3 : 2
    case "LSTM" where isKeras1: trainable = fields["consume_less"]?.string == "gpu" ? 3 : 12
    case "GRU" where isKeras1: trainable = fields["consume_less"]?.string == "gpu" ? 3 : 9
    case "LSTM", "GRU", "SimpleRNN": trainable = hasBias ? 3 : 2
    case "Dense", "TimeDistributedDense", "Conv1D", "Conv2D", "Conv3D", "Convolution1D",
      "Convolution2D", "Convolution3D", "AtrousConvolution1D", "AtrousConvolution2D",
      "Deconvolution2D", "Conv2DTranspose", "DepthwiseConv2D", "DepthwiseConv1D",
      "Conv1DTranspose", "Conv3DTranspose":
      trainable = hasBias ? 2 : 1
    default: break
    }
  }
}
