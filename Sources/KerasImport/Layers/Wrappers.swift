import ImportSupport

/// A layer for each step of a sequence. Core ML's layers do that along the sequence axis anyway, so
/// the inner layer is converted with that axis out of sight.
struct TimeDistributed: KerasLayer {
  static let classNames = ["TimeDistributed"]

  private let inner: any KerasLayer
  private let innerClass: String

  init(_ configuration: LayerConfiguration) throws {
    (inner, innerClass) = try configuration.wrappedLayer()
  }

  var weights: [WeightSlot] { inner.weights }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    var input = network.standard(try call.input, for: call.name)
    guard input.rank >= 3 else { throw call.error("its input \(input.shapeText) is no sequence") }
    if input.layout.axes[0] != .sequence {
      guard input.rank == 4, type(of: inner).classNames == Dense.classNames else {
        throw call.unsupported("TimeDistributed(\(innerClass)) of an input \(input.shapeText)")
      }
      return try inner.convert(call, into: &network)
    }
    let steps = input.shape.remove(at: 1)
    input.layout.axes.removeFirst()
    let innerCall = LayerCall(
      name: call.name, className: call.className, inputs: [input], version: call.version,
      weights: call.weights, preferredImage: call.preferredImage,
      randomWeights: call.randomWeights)
    return try inner.convert(innerCall, into: &network).map { output in
      guard !output.layout.axes.contains(.sequence) else {
        throw call.unsupported("TimeDistributed(\(innerClass)): sequences in a sequence")
      }
      var output = output
      output.shape.insert(steps, at: 1)
      output.layout.axes.insert(.sequence, at: 0)
      return output
    }
  }
}

/// Keras 1's name for TimeDistributed(Dense).
struct TimeDistributedDense: KerasLayer {
  static let classNames = ["TimeDistributedDense"]

  private let dense: Dense

  init(_ configuration: LayerConfiguration) throws { dense = try Dense(configuration) }

  var weights: [WeightSlot] { dense.weights }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    try dense.convert(call, into: &network)
  }
}

extension LayerConfiguration {
  /// The layer inside a wrapper, and its class.
  func wrappedLayer() throws -> (any KerasLayer, String) {
    guard let (_, json) = field("layer"), let innerClass = json["class_name"]?.string else {
      throw missing(["layer"])
    }
    guard let type = KerasLayerRegistry.type(named: innerClass) else {
      throw unsupported(
        nil, "\(className)(\(innerClass)): this class of layers is not supported",
        hint: "a rule makes it a custom layer: --custom-layers FILE.json with "
          + CustomLayerSubject(layer: name, layerClass: className).suggestedRule)
    }
    let configuration = LayerConfiguration(
      name: name, className: "\(className)(\(innerClass))",
      fields: json["config"]?.object ?? JSONObject(), version: version)
    return (try type.init(configuration), innerClass)
  }
}
