import ByteFormats

/// The effect of `training=True` on a layer's output.
private enum TrainingEffect {
  case random
  /// The layer normalizes by statistics of its input, or adapts to it.
  case statistics

  /// Classes that adapt to their input during training.
  private static let adapting = ["SpectralNormalization", "Quantize", "QBatchNorm", "Batchnorm"]

  /// The effect on a layer and its inner layers; nil if there is none.
  init?(_ className: String, _ fields: JSONObject, depth: Int = 0) {
    guard depth < 8 else { return nil }
    if Dropout.randomNames.contains(className) {
      let amounts = ["rate", "stddev", "p", "sigma", "drop_rate"].compactMap { fields[$0]?.double }
      if amounts.first == 0 { return nil }
      self = .random
      return
    }
    var effect: TrainingEffect?
    if BatchNormalization.classNames.contains(className)
      || Self.adapting.contains(where: className.contains)
    {
      effect = .statistics
    }
    for member in fields.members {
      if member.name.contains("drop"), member.value.double ?? 0 > 0 { effect = .random }
      for value in member.value.array ?? [member.value] {
        guard let inner = value["class_name"]?.string, let config = value["config"]?.object else {
          continue
        }
        effect = effect ?? TrainingEffect(inner, config, depth: depth + 1)
      }
    }
    guard let effect else { return nil }
    self = effect
  }
}

extension LayerCall {
  /// Whether a layer that differs in training is in training mode in this call.
  func trains(_ isTrainable: Bool) -> Bool {
    // Frozen layers of tf.keras are never in training mode.
    arguments.isTraining && !version.isAtLeast(3, 0) && (isTrainable || !version.isTensorFlowKeras)
  }

  /// - Throws: `.unsupported` if the layer's training output is random or unknown.
  func requireSameInTraining(
    _ configuration: LayerConfiguration, _ network: inout KerasWriter
  ) throws {
    guard arguments.isTraining,
      let effect = TrainingEffect(configuration.kind, configuration.fields)
    else { return }
    if version.isAtLeast(3, 0) {
      network.notes.append(
        "layer '\(name)' (\(className)) is called with training=True, which Keras 3's predict() "
          + "overrides: it is converted as for inference")
      return
    }
    let hint = "save the model without training=True in the call"
    switch effect {
    case .random:
      throw unsupported(
        "it is called with training=True, so its result is random at prediction", hint: hint)
    case .statistics:
      let isPlain = BatchNormalization.classNames.contains(configuration.kind)
      try require(
        isPlain && inputs.allSatisfy { $0.mask == nil },
        unsupported:
          "it is called with training=True: "
          + (isPlain
            ? "statistics of the batch with a mask are not supported"
            : "what a layer inside it computes from the batch is not supported"),
        hint: hint)
    }
  }
}
