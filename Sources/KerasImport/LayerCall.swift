import CoreMLModel
import ImportSupport
import TensorCore

/// One call of a layer.
struct LayerCall: LayerErrors, Sendable {
  /// The name of the Core ML layer.
  let name: String
  let className: String
  var layerClass: String { className }
  var inputs: [KerasTensor]
  let version: KerasVersion
  /// The layer's weights in Keras's order.
  let weights: [StoredWeight]
  /// The image layout that layers downstream prefer, for a layer that can choose.
  let preferredImage: LayerConfiguration.DataFormat
  /// The weights file, if the architecture is in another file.
  var weightsPath: String?
  /// The source of weights if there is no weights file.
  var missingWeights: MissingWeights?
  /// All arguments of the call, including `inputs`.
  var arguments = CallArguments()
  /// Whether the call has an argument `mask`.
  var isMaskPassed = false

  /// The call with another name and other inputs, for a part of the layer.
  func with(name: String, inputs: [KerasTensor], weights: [StoredWeight]? = nil) -> LayerCall {
    LayerCall(
      name: name, className: className, inputs: inputs, version: version,
      weights: weights ?? self.weights, preferredImage: preferredImage,
      weightsPath: weightsPath, missingWeights: missingWeights)
  }

  /// The only input.
  var input: KerasTensor {
    get throws {
      guard inputs.count == 1 else { throw error("it takes one input but gets \(inputs.count)") }
      return inputs[0]
    }
  }

  /// The weight `name` with the given shape; nil matches any size.
  func weight(_ name: String, _ shape: [Int?]) throws -> FloatValues {
    if let missingWeights { return try missing(name, shape, missingWeights) }
    guard let weightsPath else { return try stored(name, shape) }
    return try inFile(weightsPath) { try stored(name, shape) }
  }

  /// A weight with one value per element of `tensor`, and with length 1 along shared axes.
  ///
  /// Keras 1 does not store `shared_axes`. If none are stated, they follow from the shape of the
  /// first weight, which aligns with the tensor's last axes: each of its sizes is 1 or the
  /// tensor's.
  func elementWeight(
    _ name: String, of tensor: KerasTensor, sharedAxes: [Int]
  ) throws -> FloatValues {
    var shape: [Int?] = (1..<tensor.rank).map { axis in
      sharedAxes.contains(axis) ? 1 : tensor.isShapeAssumed ? nil : tensor.shape[axis]
    }
    if sharedAxes.isEmpty, let stored = weights.first?.shape,
      !stored.isEmpty, stored.count <= shape.count,
      zip(stored.reversed(), shape.reversed()).allSatisfy({ $0 == 1 || $0 == ($1 ?? $0) })
    {
      shape = stored
    }
    let values = try weight(name, shape)
    let ones = [Int](repeating: 1, count: tensor.rank - 1 - values.shape.count)
    return values.shaped(ones + values.shape)
  }

  /// A stored value per channel, or the default for all channels.
  func numbers(
    _ name: String, _ channels: Int, isStored: Bool, default standard: Float
  ) throws -> [Float] {
    try isStored
      ? weight(name, [channels]).array() : [Float](repeating: standard, count: channels)
  }

  private func stored(_ name: String, _ shape: [Int?]) throws -> FloatValues {
    let weight = try weights.first(where: { $0.name == name }).orThrow(
      error("weight '\(name)' is missing from the file"))
    let values = try weight.values()
    let fits =
      values.shape.count == shape.count
      && zip(values.shape, shape).allSatisfy { $1 == nil || $0 == $1 }
    guard fits else {
      throw error(
        "weight '\(weight.storedName)' has the shape \(KerasTensor.text(values.shape)), "
          + "but the configuration requires \(KerasTensor.text(shape))")
    }
    return values
  }

  private func missing(
    _ name: String, _ shape: [Int?], _ source: MissingWeights
  ) throws -> FloatValues {
    let sizes = shape.compactMap { $0 }
    guard sizes.count == shape.count else {
      throw error(
        "weight '\(name)' of shape \(KerasTensor.text(shape)) is not in a file and its size is unknown"
      )
    }
    // The inputs of a kernel [h, w, C, outputs], or of a depthwise kernel [h, w, C, multiplier].
    let inputs = name.hasPrefix("depthwise") ? sizes.prefix(2) : sizes.dropLast()
    return try source.values(
      "\(self.name)/\(name)", shape: sizes,
      fanIn: checkedProduct(inputs, limit: Limits.tensorElements))
  }

  func unknownSize(of tensor: KerasTensor) -> ModelError {
    error(
      "its input \(tensor.shapeText) has an unknown size", code: .mismatch,
      hint: "fix it with \(setting: "inputShape")")
  }

  /// The given sizes of a tensor, all of which must be known.
  func known(_ sizes: some Collection<Int?>, of tensor: KerasTensor) throws -> [Int] {
    let known = sizes.compactMap { $0 }
    guard known.count == sizes.count, !tensor.isShapeAssumed else { throw unknownSize(of: tensor) }
    return known
  }

  /// Limits the sizes of outputs so that their products cannot overflow.
  func requireSizes(of outputs: [KerasTensor]) throws {
    for tensor in outputs {
      try require(
        tensor.shape.allSatisfy { $0.map((0...Limits.dimension).contains) ?? true },
        "its output would have the shape \(tensor.shapeText)", code: .limitExceeded)
    }
  }
}
