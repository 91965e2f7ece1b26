import CoreMLModel
import TensorCore

extension PreprocessingPreset {
  package var colorSpace: ImageFeatureType.ColorSpace {
    switch self {
    case .kerasTF, .kerasTorch: .rgb
    case .kerasCaffe, .caffe: .bgr
    }
  }

  package var scale: Double {
    switch self {
    case .kerasTF: 1 / 127.5
    case .kerasTorch: 1 / 255
    case .kerasCaffe, .caffe: 1
    }
  }

  /// The red, green and blue means, subtracted after scaling.
  package var mean: [Double] {
    switch self {
    case .kerasTF: [1, 1, 1]
    case .kerasCaffe, .caffe: [123.68, 116.779, 103.939]
    case .kerasTorch: [0.485, 0.456, 0.406]
    }
  }

  /// The red, green and blue standard deviations by which the result is divided.
  package var std: [Double]? { self == .kerasTorch ? [0.229, 0.224, 0.225] : nil }
}

extension ImagePreprocessing {
  /// Whether any preprocessing is requested.
  package var isUsed: Bool {
    preset != nil || !color.isEmpty || !scale.isEmpty || !redBias.isEmpty || !greenBias.isEmpty
      || !blueBias.isEmpty || !grayBias.isEmpty || !mean.isEmpty || !std.isEmpty
      || !meanImage.isEmpty
  }
}

/// Core ML's scaler for one image input, and a scale layer if the color channels' deviations
/// differ.
///
/// y = (s·x + b − m) / σ. A single σ is part of the scaler: s/σ · x + (b − m)/σ.
package struct ImageScaler {
  private let name: String
  private let color: ImageFeatureType.ColorSpace
  package private(set) var scaler = NeuralNetworkImageScaler()
  /// 1 / σ of red, green and blue, if they differ.
  private var channelFactors: [Double]?

  package init(_ options: ImagePreprocessing, name: String, type: ImageFeatureType) throws {
    self.name = name
    color = type.colorSpace
    let isGray = color == .grayscale
    let scale = options.scale[name] ?? options.preset?.scale ?? 1
    try require(
      scale.isFinite && scale != 0, .mismatch,
      "\(setting: "imageScale") of '\(name)' must be a number other than 0")
    let mean = try Self.values(
      options.mean[name] ?? options.preset?.mean ?? [0], isGray: isGray, "\(setting: "imageMean")",
      name)
    let std = try Self.values(
      options.std[name] ?? options.preset?.std ?? [1], isGray: isGray, "\(setting: "imageStd")",
      name)
    guard std.allSatisfy({ $0 > 0 && $0.isFinite }) else {
      throw ModelError(.mismatch, "\(setting: "imageStd") of '\(name)' must be positive")
    }
    let common = Set(std).count == 1 ? std[0] : 1
    if Set(std).count > 1 { channelFactors = std.map { 1 / $0 } }
    let bias = [options.redBias, options.greenBias, options.blueBias].map { $0[name] ?? 0 }
    let gray = options.grayBias[name] ?? 0
    scaler.channelScale = Float(scale / common)
    if isGray {
      scaler.grayBias = Float((gray - mean[0]) / common)
      (scaler.redBias, scaler.greenBias, scaler.blueBias) = (
        Float(bias[0]), Float(bias[1]), Float(bias[2])
      )
    } else {
      scaler.redBias = Float((bias[0] - mean[0]) / common)
      scaler.greenBias = Float((bias[1] - mean[1]) / common)
      scaler.blueBias = Float((bias[2] - mean[2]) / common)
      scaler.grayBias = Float(gray)
    }
    try scaler.requireFinite(name)
  }

  /// Three values, or one for all channels; gray images accept only one value.
  private static func values(
    _ values: [Double], isGray: Bool, _ option: String, _ name: String
  ) throws -> [Double] {
    if isGray, Set(values).count == 1 { return [values[0]] }
    if isGray, values.count == 3 {
      throw ModelError(.mismatch, "\(option): '\(name)' is gray and takes one value, not \(values)")
    }
    switch values.count {
    case 1: return [values[0], values[0], values[0]]
    case 3: return values
    default:
      throw ModelError(.mismatch, "\(option) of '\(name)' takes one or three values, not \(values)")
    }
  }

  /// Adds the scaler to the network's preprocessing, and the scale layer.
  package func add(to network: inout NeuralNetwork) throws {
    var preprocessing = NeuralNetworkPreprocessing()
    preprocessing.featureName = name
    preprocessing.preprocessor = .scaler(scaler)
    network.preprocessing.append(preprocessing)
    guard let channelFactors else { return }
    var blob = name + "_scaled"
    let taken = Set(network.layers.flatMap { $0.input + $0.output })
    while taken.contains(blob) { blob += "_" }
    for index in network.layers.indices {
      network.layers[index].input = network.layers[index].input.map { $0 == name ? blob : $0 }
    }
    var scale = Scale()
    scale.shapeScale = [3, 1, 1]
    let inOrder = color == .bgr ? channelFactors.reversed() : channelFactors
    scale.scale = Weights(inOrder.map { Float($0) })
    network.layers.insert(
      NeuralNetworkLayer(name + "__std__", scale, input: [name], output: [blob]), at: 0)
  }
}

extension ImagePreprocessing {
  /// A color space for all images applies to those with as many channels.
  ///
  /// - Throws: `.mismatch` if it applies to none of the images.
  package func requireColor(of description: ModelDescription) throws {
    let images = (description.input + description.output).compactMap { feature in
      if case .image(let image)? = feature.type?.kind { image } else { nil }
    }
    guard let count = color.all?.channelCount, !images.isEmpty else { return }
    try require(
      images.contains { $0.colorSpace.channelCount == count }, .mismatch,
      "\(setting: "color") has \(counted(count, "channel")), but no image of the model has")
  }
}

extension NeuralNetworkImageScaler {
  /// - Throws: `.mismatch` if a number is NaN or too large for single precision.
  package func requireFinite(_ name: String) throws {
    try require(
      [channelScale, redBias, greenBias, blueBias, grayBias].allSatisfy(\.isFinite), .mismatch,
      "\(setting: "imageScale") and \(setting: "imageMean") of '\(name)' must be numbers in the range of single precision"
    )
  }
}
