import ByteFormats

/// The differences between the versions of Keras.
struct KerasGeneration: Sendable {
  /// 1, 2 or 3.
  let major: Int
  let isTheano: Bool
  /// Whether images are resized bilinearly with half-pixel centers.
  let hasHalfPixelCenters: Bool
  /// Whether it is tf.keras, or Keras on TensorFlow.
  let isTensorFlow: Bool
  /// Whether Bidirectional returns zeros for masked steps.
  let zeroesMaskedSteps: Bool
  /// Whether TimeDistributed passes masks to its layer.
  let masksSteps: Bool
  /// Whether products, maxima and minima apply masks, since Keras 3.4.
  let combinesMasked: Bool
  /// Whether MultiHeadAttention removes the masks of its inputs for the calls after it, since 3.8.
  let attentionRemovesMasks: Bool
  /// Whether MultiHeadAttention uses the masks of its inputs, since 2.10.
  let attentionUsesMasks: Bool
  /// Whether masked softmax returns 0 for masked elements, since 3.14.
  let softmaxDropsMasked: Bool

  init(version: String?, backend: String?, _ configuration: JSONValue) {
    let numbers = (version ?? "").split { $0 == "." || $0 == "-" }.map { Int($0) ?? 0 }
    let text = configuration.text
    major =
      numbers.first
      ?? (text.contains("keras_history")
        ? 3
        : text.contains("border_mode")
          || text.contains("output_dim\":") && !text.contains("units") ? 1 : 2)
    isTheano = backend == "theano"
    let isUnknown = numbers.isEmpty && text.contains("\"ragged\"")
    let minor = numbers.count > 1 ? numbers[1] : 0
    isTensorFlow =
      version?.hasSuffix("-tf") == true || major > 2 || major == 2 && minor >= 4 || isUnknown
    masksSteps = isTensorFlow || major == 2 && (numbers.isEmpty || minor >= 2)
    let major = major
    func isKeras3(since version: Int) -> Bool {
      major > 3 || major == 3 && (numbers.count < 2 || minor >= version)
    }
    attentionRemovesMasks = isKeras3(since: 8)
    softmaxDropsMasked = isKeras3(since: 14)
    combinesMasked = isKeras3(since: 4)
    attentionUsesMasks = major > 2 || numbers.isEmpty || major == 2 && minor >= 10
    zeroesMaskedSteps = isTensorFlow && (major > 2 || minor >= 3 || isUnknown)
    hasHalfPixelCenters = major > 2 || major == 2 && numbers.count > 1 && numbers[1] >= 3
  }
}
