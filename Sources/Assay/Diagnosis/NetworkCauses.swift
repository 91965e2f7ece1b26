import CoreMLModel
import ModelTransforms
import TensorCore

extension DiagnosisSubject {
  /// Conventions of layers that frameworks handle differently, each changed throughout the network.
  var networkCauses: [Cause] {
    paddingCauses + normalizationCauses + activationCauses + recurrentCauses + resizingCauses
      + precisionCauses
  }

  /// One cause for all layers of a type.
  func cause<Layer: LayerParameters>(
    _ summary: String, remedy: String? = nil,
    _ change: @escaping @Sendable (inout Layer) throws -> Void
  ) -> Cause {
    Cause(.network, summary, remedy: remedy) { trial in
      try trial.changeLayers(Layer.self, summary, change)
    }
  }

  private var paddingCauses: [Cause] {
    [
      Cause(
        .network,
        "an odd row or column of padding is on the other side (TensorFlow: below and right; Torch "
          + "and Caffe: on all sides)"
      ) { trial in
        let name = "padding"
        let convolutions = trial.changeLayers(Convolution.self, name) { layer in
          switch layer.padding {
          case .same(let same): layer.padding = .same(same.onOtherSide)
          case .valid(let valid): layer.padding = .valid(valid.onOtherSide(strides: layer.stride))
          case nil: break
          }
        }
        let poolings = trial.changeLayers(Pooling.self, name) { layer in
          switch layer.padding {
          case .same(let same): layer.padding = .same(same.onOtherSide)
          case .valid(let valid) where !layer.globalPooling:
            layer.padding = .valid(valid.onOtherSide(strides: layer.stride))
          default: break
          }
        }
        return convolutions || poolings
      },
      cause("average pooling counts the padding as zeros, or excludes it") {
        (layer: inout Pooling) in
        guard layer.type == .average, !layer.globalPooling else { return }
        layer.avgPoolExcludePadding.toggle()
      },
      cause("pooling sizes are rounded in the other direction (up in Caffe, down elsewhere)") {
        (layer: inout Pooling) in
        switch layer.padding {
        case .valid(let valid):
          let amounts = valid.paddingAmounts ?? BorderAmounts()
          guard amounts.top == amounts.bottom, amounts.left == amounts.right, !layer.globalPooling
          else { return }
          var complete = ValidCompletePadding()
          complete.paddingAmounts = [amounts.top, amounts.left]
          layer.padding = .includeLastPixel(complete)
        case .includeLastPixel(let complete):
          let amounts = complete.paddingAmounts.count == 2 ? complete.paddingAmounts : [0, 0]
          var valid = ValidPadding()
          valid.paddingAmounts = BorderAmounts(
            top: amounts[0], bottom: amounts[0], left: amounts[1], right: amounts[1])
          layer.padding = .valid(valid)
        default: break
        }
      },
      cause("pooling takes the maximum instead of the average, or vice versa") {
        (layer: inout Pooling) in
        if layer.type != .l2 { layer.type = layer.type == .max ? .average : .max }
      },
    ]
  }

  private var normalizationCauses: [Cause] {
    [1e-3, 1e-5, 1e-4, 1e-6, 2e-5, 1.001e-5, 1e-2, 1e-7, 1e-12].map { (epsilon: Float) in
      Cause(.network, "the epsilon of normalizations is \(epsilon)") { trial in
        let name = "epsilon \(epsilon)"
        func isOther(_ current: Float) -> Bool { abs(current - epsilon) > epsilon / 100 }
        let batch = trial.changeLayers(Batchnorm.self, name) {
          if isOther($0.effectiveEpsilon) { $0.epsilon = epsilon }
        }
        let layers = trial.changeLayers(LayerNormalization.self, name) {
          if isOther($0.eps) { $0.eps = epsilon }
        }
        return batch || layers
      }
    } + [
      cause("batch normalizations use the statistics of the input, as in training") {
        (layer: inout Batchnorm) in
        guard !layer.computeMeanVar else { return }
        layer.computeMeanVar = true
        layer.instanceNormalization = true
      },
      cause("the variances of batch normalizations are standard deviations") {
        (layer: inout Batchnorm) in
        layer.variance = try layer.variance.map {
          Weights(try $0.values(shape: [layer.channels]).array().map { $0 * $0 })
        }
      },
      cause("mean and variance of batch normalizations are swapped") { (layer: inout Batchnorm) in
        if layer.mean != nil, layer.variance != nil { swap(&layer.mean, &layer.variance) }
      },
      cause("gamma and beta of batch normalizations are swapped") { (layer: inout Batchnorm) in
        if layer.gamma != nil, layer.beta != nil { swap(&layer.gamma, &layer.beta) }
      },
    ]
  }

  private var activationCauses: [Cause] {
    let slopes: [Float] = [0.01, 0.1, 0.2, 0.3, 0.25, 0.05, 0]
    return slopes.map { slope in
      cause("the slope of leaky ReLUs is \(slope)") { (layer: inout Activation) in
        if case .leakyReLU(let alpha)? = layer.function, abs(alpha - slope) > 1e-6 {
          layer.function = .leakyReLU(alpha: slope)
        }
      }
    } + [
      cause("ReLUs are leaky, with slope 0.1") { (layer: inout Activation) in
        if case .relu? = layer.function { layer.function = .leakyReLU(alpha: 0.1) }
      },
      cause("alpha of ELUs is 1") { (layer: inout Activation) in
        if case .elu? = layer.function { layer.function = .elu(alpha: 1) }
      },
      cause("GELUs are computed with tanh instead of erf, or vice versa") { (layer: inout Gelu) in
        layer.mode = layer.mode == .exact ? .tanhApproximation : .exact
      },
    ]
  }

  private var resizingCauses: [Cause] {
    [
      cause(
        "images are enlarged by nearest neighbor instead of linear interpolation, or vice versa"
      ) {
        (layer: inout Upsample) in
        layer.mode = layer.mode == .nearest ? .bilinear : .nearest
      },
      cause("corners are aligned when images are enlarged") { (layer: inout Upsample) in
        if layer.mode == .bilinear { layer.linearUpsampleMode = .alignCornersTrue }
      },
      cause("centers of pixels are aligned when images are enlarged (half-pixel convention)") {
        (layer: inout Upsample) in
        if layer.mode == .bilinear { layer.linearUpsampleMode = .alignCornersFalse }
      },
    ]
      + SamplingMethod.allCases.map { mode in
        cause("images are resized linearly by the convention \(mode)") {
          (layer: inout ResizeBilinear) in
          if layer.effectiveMode != mode { layer.mode = mode }
        }
      }
  }

  private var precisionCauses: [Cause] {
    let summary = "the weights are in half precision"
    return [
      Cause(.network, summary, remedy: "pass \(setting: "tolerance") fp16") { trial in
        let changed = try trial.model.withHalfPrecisionWeights()
        guard changed != trial.model else { return false }
        trial.model = changed
        trial.changes.append(summary)
        return true
      }
    ]
  }
}

extension SamePadding {
  fileprivate var onOtherSide: SamePadding {
    var other = self
    other.asymmetryMode = asymmetryMode == .bottomRightHeavy ? .topLeftHeavy : .bottomRightHeavy
    return other
  }
}

extension ValidPadding {
  /// The padding with both ends of each axis swapped. Equal amounts before strides of 2 or more
  /// become padding that drops the first row and column.
  fileprivate func onOtherSide(strides: [Int]) -> ValidPadding {
    guard let amounts = paddingAmounts else { return self }
    var other = self
    if amounts.top != amounts.bottom || amounts.left != amounts.right {
      other.paddingAmounts = BorderAmounts(
        top: amounts.bottom, bottom: amounts.top, left: amounts.right, right: amounts.left)
    } else if amounts.top + amounts.left > 0, strides.contains(where: { $0 > 1 }) {
      other.paddingAmounts = BorderAmounts(
        top: max(0, amounts.top - 1), bottom: amounts.bottom + min(1, amounts.top),
        left: max(0, amounts.left - 1), right: amounts.right + min(1, amounts.left))
    }
    return other
  }
}
