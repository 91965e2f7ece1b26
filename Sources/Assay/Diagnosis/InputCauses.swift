import CoreMLModel
import ModelPrediction
import TensorCore

extension DiagnosisSubject {
  /// What the network may have received instead.
  var inputCauses: [Cause] {
    channelInputs.flatMap { preparations(of: $0.name, axis: $0.axis) } + orderCauses
  }

  /// Every usual preparation of pixels, in both channel orders.
  private func preparations(of name: String, axis: Int) -> [Cause] {
    guard let blob = trial.blobs[name] else { return [] }
    let isGray = blob.shape[axis] == 1
    let isImage = if case .image? = values[name] { true } else { false }
    let current = isImage ? networkScale(of: name, isGray: isGray) : arrayScale(blob)
    // An array outside the usual ranges is not pixels; a pipeline hides its preprocessing.
    if current == nil, !isImage || model.neuralNetwork == nil {
      return isGray ? [] : [reversedColors(name, axis)]
    }
    let isBGR = model.imageType(of: name)?.colorSpace == .bgr
    let scales = PixelScale.usual + (isImage ? current.map(variants) ?? [] : [])
    return scales.flatMap { scale -> [Cause] in
      let isSame = current.map(scale.isNear) ?? false
      return (isGray ? [false] : [false, true]).compactMap { isReversed -> Cause? in
        if isSame, !isReversed { return nil }
        let (given, taken) = isBGR == isReversed ? ("RGB", "BGR") : ("BGR", "RGB")
        let pixels =
          isSame ? given : "pixels \(scale.name)" + (isReversed ? " in \(given)" : "")
        let options =
          (isReversed ? ["\(setting: "color") \(isBGR ? "rgb" : "bgr")"] : [])
          + (isSame ? [] : [scale.options])
        return Cause(
          .input,
          "the framework was given \(pixels) for '\(name)'"
            + (isReversed ? "; this model expects \(taken)" : ""),
          remedy: isImage
            ? "convert or edit with " + options.joined(separator: " ")
            : "prepare the array the same way"
        ) { trial in
          trial.prepare(
            name, axis: axis, isArrayOf: isImage ? nil : current, as: scale,
            isBlueFirst: isBGR != isReversed, isReversed: isReversed)
        }
      }
    }
  }

  private func reversedColors(_ name: String, _ axis: Int) -> Cause {
    Cause(.input, "the channels of '\(name)' are in the other order (BGR for RGB)") { trial in
      trial.blobs[name] = trial.blobs[name]?.reversed(axis)
      return true
    }
  }

  /// The network's preprocessing of an image; nil for a pipeline, or if it subtracts a mean image.
  private func networkScale(of name: String, isGray: Bool) -> PixelScale? {
    guard let network = model.neuralNetwork else { return nil }
    let preprocessing = network.preprocessing.last {
      $0.featureName == name || $0.featureName.isEmpty
    }
    switch preprocessing?.preprocessor {
    case nil: return PixelScale.usual[0]
    case .meanImage: return nil
    case .scaler(let scaler):
      let offset =
        isGray
        ? [scaler.grayBias, scaler.grayBias, scaler.grayBias]
        : [scaler.redBias, scaler.greenBias, scaler.blueBias]
      let scale = Double(scaler.channelScale)
      return PixelScale("as now", scale: [scale, scale, scale], offset: offset.map(Double.init))
    }
  }

  /// The preprocessing of an array's pixels, guessed from its range; nil if it is not a range of
  /// pixels.
  private func arrayScale(_ blob: Tensor) -> PixelScale? {
    let (least, largest) = blob.withUnsafeElements { ($0.min() ?? 0, $0.max() ?? 0) }
    if least >= 0, largest >= 2, largest <= 255 { return PixelScale.usual[0] }
    if least >= 0, largest <= 1 { return PixelScale.usual[1] }
    if least >= -1, largest <= 1 { return PixelScale.usual[2] }
    return nil
  }

  /// Common mistakes in the network's scale and offset.
  private func variants(of current: PixelScale) -> [PixelScale] {
    let (scale, offset) = (current.scale, current.offset)
    guard offset.contains(where: { $0 != 0 }) else { return [] }
    return [
      PixelScale(
        "shifted before they are scaled", scale: scale,
        offset: zip(scale, offset).map { $0 * $1 }),
      PixelScale(
        "scaled before they are shifted", scale: scale,
        offset: zip(scale, offset).map { $1 / $0 }),
      PixelScale("scaled only", scale: scale, offset: [0, 0, 0]),
      PixelScale("shifted only", scale: [1, 1, 1], offset: offset),
      PixelScale(
        "shifted by the same values in the other order of colors", scale: scale,
        offset: offset.reversed()),
      PixelScale("shifted the other way", scale: scale, offset: offset.map { 0 - $0 }),
    ]
  }

  /// Axes that were confused, and inputs in a different order.
  private var orderCauses: [Cause] {
    trial.blobs.keys.sorted().flatMap { name -> [Cause] in
      guard let shape = trial.blobs[name]?.shape else { return [] }
      func cause(_ summary: String, _ change: @escaping @Sendable (Tensor) -> Tensor) -> Cause {
        Cause(.input, summary) { trial in
          guard let blob = trial.blobs[name] else { return false }
          let changed = change(blob)
          trial.blobs[name] = changed
          return changed.shape == shape && changed != blob
        }
      }
      let sizes = shape.suffix(3)
      let rank = shape.count
      return [
        cause("height and width of '\(name)' are swapped") { $0.withLastAxes([0, 2, 1]) },
        cause("'\(name)' holds numbers with channels last that were read with channels first") {
          guard sizes.count == 3 else { return $0 }
          let outer = shape.dropLast(3).reduce(1, *)
          return $0.reshaped([outer, shape[rank - 2], shape[rank - 1], shape[rank - 3]])
            .transposed([0, 3, 1, 2]).reshaped(shape)
        },
        cause("'\(name)' holds numbers with channels first that were read with channels last") {
          guard sizes.count == 3 else { return $0 }
          let outer = shape.dropLast(3).reduce(1, *)
          return $0.reshaped([outer] + sizes).transposed([0, 2, 3, 1]).reshaped(shape)
        },
        cause("'\(name)' is upside down") {
          rank > 1 ? $0.reversed(rank - 2) : $0
        },
        cause("'\(name)' is mirrored") { rank > 0 ? $0.reversed(rank - 1) : $0 },
        cause("the time steps of '\(name)' are in reverse order") {
          rank > 0 ? $0.reversed(0) : $0
        },
      ]
    } + swappedInputs
  }

  private var swappedInputs: [Cause] {
    let names = trial.blobs.keys.sorted()
    return names.indices.flatMap { first in
      names[(first + 1)...].compactMap { other -> Cause? in
        let name = names[first]
        guard trial.blobs[name]?.shape == trial.blobs[other]?.shape else { return nil }
        return Cause(
          .input, "the inputs '\(name)' and '\(other)' are swapped",
          remedy: "name them: \(name)=FILE \(other)=FILE"
        ) { trial in
          (trial.blobs[name], trial.blobs[other]) = (trial.blobs[other], trial.blobs[name])
          return true
        }
      }
    }
  }
}

extension Trial {
  /// Passes the prepared pixels to the network, and removes its own preprocessing.
  ///
  /// - Parameter past: the preprocessing of an array; nil for an image, whose blob has raw pixels.
  fileprivate mutating func prepare(
    _ name: String, axis: Int, isArrayOf past: PixelScale?, as scale: PixelScale,
    isBlueFirst: Bool, isReversed: Bool
  ) -> Bool {
    guard var blob = blobs[name] else { return false }
    if past == nil { removePreprocessing(of: name) }
    if isReversed { blob = blob.reversed(axis) }
    blobs[name] = blob.mapChannels(axis) { channel, value in
      let color = isBlueFirst ? 2 - channel : channel
      let pixel = past.map { (Double(value) - $0.offset[color]) / $0.scale[color] } ?? Double(value)
      return Float(scale.applied(pixel, color))
    }
    return true
  }

  private mutating func removePreprocessing(of name: String) {
    guard let network = model.neuralNetwork, !network.preprocessing.isEmpty else { return }
    model.neuralNetwork?.preprocessing.removeAll {
      $0.featureName == name || $0.featureName.isEmpty
    }
    changes.append("without the preprocessing of \(name)")
  }
}
