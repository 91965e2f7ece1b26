import CoreMLModel
import ImportSupport

/// The maximum of each window, or the mean of its elements, not counting the padding.
///
/// The mean over a volume's window is the mean over its depth of the means over height and width,
/// because the number of elements outside the padding is a product.
enum PoolingLayer: KerasLayer {
  private static let pooling =
    "pooling; for sequences along the width, wrapped in permutes; for volumes one over height and "
    + "width, one over the depth"

  static let classes = [
    SourceLayer(
      "MaxPooling2D", "MaxPool2D", "MaxPooling1D", "MaxPool1D", "MaxPooling3D", "MaxPool3D",
      becomes: pooling, options: "`strides`, `padding`, \(SourceLayer.dataFormat)"),
    SourceLayer(
      "AveragePooling2D", "AvgPool2D", "AveragePooling1D", "AvgPool1D", "AveragePooling3D",
      "AvgPool3D", becomes: pooling + "; padding is not counted",
      options: "`strides`, `padding`, \(SourceLayer.dataFormat)"),
  ]
  static let leadingAxes = LeadingAxesPolicy.steps

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let type: Pooling.PoolingType = configuration.kind.hasPrefix("Max") ? .max : .average
    let axes = try SpatialAxes(configuration)
    let size = try configuration.sizes(
      "pool_size", "pool_length", count: axes.count,
      default: [Int](repeating: 2, count: axes.count))
    let strides = try configuration.sizes("strides", "stride", count: axes.count, default: size)
    let border = try configuration.border()
    return conversion { call, network in
      let input = try axes.input(call, &network)
      if axes.count == 3 { _ = try call.known(axes.lengths(input), of: input) }
      if border == .same {
        axes.noteNarrowWindows(
          axes.lengths(input), extents: size, strides: strides, call, &network)
      }
      let lengths = axes.lengths(input).enumerated().map { axis, length in
        border.length(length, extent: size[axis], stride: strides[axis])
      }
      try call.require(
        !lengths.contains(0) || input.isShapeAssumed,
        "its input \(input.shapeText) is smaller than its window of \(KerasTensor.product(size))")
      return [
        axes.apply(input, to: lengths, call, &network) { plane in
          Pooling.windows(type, plane(size, 1), strides: plane(strides, 1), border)
        }
      ]
    }
  }
}

/// The maximum or mean of each channel.
enum GlobalPooling: KerasLayer {
  static let classes = [
    SourceLayer(
      "GlobalMaxPooling2D", "GlobalMaxPool2D", "GlobalMaxPooling1D", "GlobalMaxPool1D",
      "GlobalMaxPooling3D", "GlobalMaxPool3D", becomes: "pooling globalPooling; two for volumes",
      options: "`keepdims`"),
    SourceLayer(
      "GlobalAveragePooling2D", "GlobalAvgPool2D", "GlobalAveragePooling1D", "GlobalAvgPool1D",
      "GlobalAveragePooling3D", "GlobalAvgPool3D",
      becomes:
        "pooling globalPooling; two for volumes; a sum divided by a count for masked sequences",
      options: "`keepdims`"),
  ]

  /// The mean over the unmasked steps.
  private static func average(
    of mask: StepMask, _ keepsAxes: Bool, _ call: LayerCall, _ network: inout KerasWriter
  ) throws -> KerasTensor {
    var result = network.relaid(try call.input, to: .steps, for: call.name)
    let counts = network.relaid(network.steps(of: mask), to: .steps, for: call.name).blob
    let kept = network.product(result.blob, counts, call.name + "__kept__")
    let sum = network.reduced(.sum, .w, kept, call.name + "__sum__")
    let inverse = network.unary(
      .power, network.reduced(.sum, .w, counts, call.name + "__count__"),
      call.name + "__inverse__", alpha: -1)
    result.blob = network.product(sum, inverse, call.name)
    result.shape[1] = 1
    result.mask = nil
    return keepsAxes ? result : result.without([1])
  }

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let type: Pooling.PoolingType = configuration.kind.hasPrefix("GlobalMax") ? .max : .average
    let axes = try SpatialAxes(configuration)
    let keepsAxes = try configuration.bool("keepdims", default: false)
    return conversion { call, network in
      if axes.count == 1, type == .average, let mask = try call.input.mask {
        return [try average(of: mask, keepsAxes, call, &network)]
      }
      let input = try axes.input(call, &network)
      var pooling = Pooling.global(type)
      if axes.count == 1, let length = input.size(of: .width), !input.isShapeAssumed {
        pooling.kernelSize = [1, length]
        pooling.stride = [1, length]
        pooling.globalPooling = false
      }
      let ones = [Int?](repeating: 1, count: axes.count)
      var output = axes.apply(input, to: ones, call, &network) { _ in pooling }
      if keepsAxes { return [output] }
      if axes.count == 1, !network.isStepwise {
        // W has length 1; coremltools moves it back to the sequence anyway.
        var permute = Permute()
        permute.axis = TensorLayout.steps.permutation(to: .sequence)
        output.blob = network.add(call.name + "_permute_", permute, [output.blob])
      }
      let kept = input.layout.axes.indices.filter {
        input.layout.axes[$0] == .channel || axes.count == 2 && input.layout.axes[$0] == .sequence
      }
      output.shape = [input.shape[0]] + kept.map { input.shape[$0 + 1] }
      output.layout = TensorLayout(axes: kept.map { input.layout.axes[$0] })
      return [output]
    }
  }
}

extension Pooling {
  /// Pooling windows of `size`; means exclude the padding.
  static func windows(
    _ type: PoolingType, _ size: [Int], strides: [Int], _ border: LayerConfiguration.Border
  ) -> Pooling {
    var pooling = Pooling()
    pooling.type = type
    pooling.kernelSize = size
    pooling.stride = strides
    pooling.padding = border.poolingPadding
    pooling.avgPoolExcludePadding = true
    return pooling
  }

  /// A single window over the whole plane, of any size.
  static func global(_ type: PoolingType) -> Pooling {
    var pooling = windows(type, [0, 0], strides: [0, 0], .valid)
    pooling.globalPooling = true
    return pooling
  }
}
