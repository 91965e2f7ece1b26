import CoreMLModel
import ImportSupport
import TensorCore

/// Repeats steps, rows, columns and slices, or interpolates between rows and columns of an image.
enum UpSampling: KerasLayer {
  static let classes = [
    SourceLayer("UpSampling1D", becomes: "upsample"),
    SourceLayer(
      "UpSampling2D",
      becomes: "upsample; other interpolations become two 1 × 1 convolutions, one along each axis",
      options:
        "`size`; `interpolation` nearest, bilinear, bicubic, area, lanczos3, lanczos5, gaussian, mitchellcubic. TensorFlow 2's bilinear needs specification 5"
    ),
    SourceLayer("UpSampling3D", becomes: "two upsamples"),
  ]
  static let leadingAxes = LeadingAxesPolicy.steps

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let axes = try SpatialAxes(configuration)
    let declaredAxes = axes
    // Whether the data format is missing, as in Keras 1.0, and follows from neighboring layers.
    let isUndeclared = try configuration.version.isKeras1 && configuration.dataFormat == nil
    let size = try configuration.sizes(
      "size", "length", count: axes.count, default: [Int](repeating: 2, count: axes.count))
    let interpolation =
      axes.count == 2 ? try configuration.interpolation(default: "nearest") : .nearest
    return conversion { call, network in
      let axes =
        isUndeclared ? SpatialAxes(declaredAxes.count, call.preferredImage) : declaredAxes
      let input = try axes.input(call, &network)
      if axes.count == 3 { _ = try call.known(axes.lengths(input), of: input) }
      let lengths = try zip(axes.lengths(input), size).map { length, factor in
        try length.map { try checkedProduct([$0, factor], limit: Limits.dimension) }
      }
      // TensorFlow 2 uses half-pixel centers, which Core ML supports since version 5.
      let isCentered = interpolation == .bilinear && call.version.isTensorFlow2
      guard
        interpolation == .nearest
          || interpolation == .bilinear && (!isCentered || network.maximumVersion >= 5)
      else {
        let sizes = try call.sizes(axes.resized(input, to: lengths))
        return [try network.resampled(input, to: sizes, interpolation, call)]
      }
      return [
        axes.apply(input, to: lengths, call, &network) { plane in
          var upsample = Upsample(plane(size, 1))
          if interpolation == .bilinear {
            upsample.mode = .bilinear
            if isCentered { upsample.linearUpsampleMode = .alignCornersFalse }
          }
          return upsample
        }
      ]
    }
  }
}

extension Upsample {
  /// Repeats rows and columns.
  init(_ factors: [Int]) {
    self.init()
    mode = .nearest
    scalingFactor = factors
  }
}
