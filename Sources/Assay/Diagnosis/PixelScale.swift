import ImportSupport

/// The preprocessing of pixels x from 0 to 255: scale · x + offset for each color.
struct PixelScale: Sendable {
  /// Its usual name.
  let name: String
  /// In the order red, green, blue, as is `offset`.
  let scale: [Double]
  let offset: [Double]
  /// The options of `convert` and `edit` that produce it.
  let options: String

  /// (x · scale − mean) / std
  private init(
    _ name: String, scale: Double = 1, mean: [Double] = [0, 0, 0], std: [Double] = [1, 1, 1],
    options: String
  ) {
    self.name = name
    self.scale = std.map { scale / $0 }
    offset = zip(mean, std).map { -$0 / $1 }
    self.options = options
  }

  private init(_ name: String, _ preset: PreprocessingPreset) {
    self.init(
      name, scale: preset.scale, mean: preset.mean, std: preset.std ?? [1, 1, 1],
      options: "\(setting: "preset") \(preset.rawValue)")
  }

  private static let photoMean = PreprocessingPreset.kerasTorch.mean
  private static let caffeMean = PreprocessingPreset.caffe.mean

  /// The common preprocessings. Sources: `keras.applications.imagenet_utils.preprocess_input` (its
  /// modes tf, caffe and torch), torchvision's `Normalize`, Caffe's `ilsvrc_2012_mean.npy`, the
  /// prototxt of MobileNet-Caffe.
  static let usual: [PixelScale] = [
    PixelScale("0 to 255", options: "\(setting: "imageScale") 1"),
    PixelScale("0 to 1", scale: 1 / 255, options: "\(setting: "imageScale") 1/255"),
    PixelScale("−1 to 1", .kerasTF),
    PixelScale(
      "−0.5 to 0.5", scale: 1 / 255, mean: [0.5, 0.5, 0.5],
      options: "\(setting: "imageScale") 1/255 \(setting: "imageMean") 0.5"),
    PixelScale("0 to 1 minus ImageNet's mean, divided by its deviation", .kerasTorch),
    PixelScale(
      "0 to 1 minus ImageNet's mean", scale: 1 / 255, mean: photoMean,
      options: "\(setting: "imageScale") 1/255 \(setting: "imageMean") 0.485,0.456,0.406"),
    PixelScale(
      "0 to 255 minus VGG's mean", mean: caffeMean,
      options: "\(setting: "imageMean") 123.68,116.779,103.939"),
    PixelScale(
      "0 to 255 minus the mean of Caffe's ImageNet",
      mean: [122.67891434, 116.66876762, 104.00698793],
      options: "\(setting: "imageMean") 122.67891434,116.66876762,104.00698793"),
    PixelScale(
      "0 to 255 minus 104, 117, 123", mean: [123, 117, 104],
      options: "\(setting: "imageMean") 123,117,104"),
    PixelScale(
      "0 to 255 minus VGG's mean, times 0.017", scale: 0.017, mean: caffeMean.map { $0 * 0.017 },
      options: "\(setting: "imageScale") 0.017 \(setting: "imageMean") 2.10256,1.985243,1.766963"),
    PixelScale(
      "(x − 127.5) / 128", scale: 1 / 128, mean: [0.99609375, 0.99609375, 0.99609375],
      options: "\(setting: "imageScale") 1/128 \(setting: "imageMean") 0.99609375"),
    PixelScale(
      "x / 128 − 1", scale: 1 / 128, mean: [1, 1, 1],
      options: "\(setting: "imageScale") 1/128 \(setting: "imageMean") 1"),
    PixelScale("x / 256", scale: 1 / 256, options: "\(setting: "imageScale") 1/256"),
  ]

  /// A variant with other values; `scale` and `offset` have three elements.
  init(_ name: String, scale: [Double], offset: [Double]) {
    (self.name, self.scale, self.offset) = (name, scale, offset)
    func list(_ values: [Double]) -> String {
      Set(values).count == 1 ? "\(values[0])" : values.map { "\($0)" }.joined(separator: ",")
    }
    options =
      Set(scale).count == 1
      ? "\(setting: "imageScale") \(scale[0]) \(setting: "imageMean")="
        + list(offset.map { 0 - $0 })
      : "\(setting: "imageScale") 1 \(setting: "imageMean")="
        + list(zip(offset, scale).map { 0 - $0 / $1 })
        + " \(setting: "imageStd")=" + list(scale.map { 1 / $0 })
  }

  /// Whether both are nearly the same function.
  func isNear(_ other: PixelScale) -> Bool {
    (0..<3).allSatisfy { color in
      [0.0, 255].allSatisfy { x in
        abs(applied(x, color) - other.applied(x, color))
          <= 1e-4 * max(1e-3, abs(scale[color]) * 255)
      }
    }
  }

  /// Applies it to a value of one channel; color 0 is red.
  func applied(_ x: Double, _ color: Int) -> Double { scale[color] * x + offset[color] }
}
