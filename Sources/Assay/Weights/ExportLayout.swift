import CoreMLModel
import TensorCore

/// The order of the weights' axes in files.
package enum ExportLayout: String, Sendable, CaseIterable {
  /// The order in the `.mlmodel`: O, I, H, W for a convolution.
  case coreml
  /// The order of the source framework: H, W, I, O and I, O in Keras; Core ML's in Caffe and
  /// Darknet.
  case source
  /// O, H, W, I, as in Metal Performance Shaders; also for a dense layer that reads planes.
  case mps
}

/// A weight as an array, and the permutation of its axes in a file.
struct WeightOrder: Equatable {
  /// The shape in Core ML's order.
  var shape: [Int]
  /// Axis `i` of the file is axis `axes[i]` of `shape`.
  var axes: [Int]

  init(_ shape: [Int], _ axes: [Int]? = nil) {
    self.shape = shape
    self.axes = axes ?? Array(shape.indices)
  }

  var fileShape: [Int] { axes.map { shape[$0] } }

  /// Reorders values for the file. Precondition: their number matches `shape`.
  func file(_ values: FloatValues) throws -> FloatValues {
    try values.reshaped(shape).transposed(axes)
  }

  /// Reorders values from the file to Core ML's order.
  func model(_ values: FloatValues) -> FloatValues {
    let inverse = shape.indices.map { axis in axes.firstIndex(of: axis) ?? axis }
    return values.shaped(fileShape).transposed(inverse)
  }
}

/// The orders of a model's weights in one layout.
struct WeightOrders {
  private let layout: ExportLayout
  private let isKeras: Bool
  private let shapes: [String: [Int]]
  private let producers: [String: NeuralNetworkLayer]

  /// - Throws: `.mismatch` if the layout is the source framework's and the model does not record
  ///   which framework that is.
  init(_ layout: ExportLayout, of model: Model) throws {
    self.layout = layout
    let recorded = model.description?.metadata?.userDefined ?? [:]
    let source =
      recorded["assay.source"] ?? recorded["com.github.apple.coremltools.source"]
      ?? recorded["source"]
    if layout == .source, source == nil {
      throw ModelError(
        .mismatch, "the model does not say which framework it came from",
        hint: "use \(setting: "weightFiles") layout=coreml or mps instead")
    }
    let name = source?.lowercased() ?? ""
    isKeras = name.hasPrefix("keras") || name.hasPrefix("tensorflow") || name.hasPrefix("tf")
    shapes = layout == .mps ? model.inferredBlobShapes() : [:]
    let layers = model.neuralNetwork?.layers ?? []
    producers = Dictionary(first: layers.flatMap { layer in layer.output.map { ($0, layer) } })
  }

  func order(of weight: NamedWeights, in layer: NeuralNetworkLayer) -> WeightOrder {
    let own = WeightOrder(weight.shape)
    switch layout {
    case .coreml: return own
    case .source: return isKeras ? keras(weight, layer) ?? own : own
    case .mps: return mps(weight, layer) ?? own
    }
  }

  private func keras(_ weight: NamedWeights, _ layer: NeuralNetworkLayer) -> WeightOrder? {
    let shape = weight.shape
    if let convolution = layer.parameters as? Convolution, shape.count == 4 {
      let groups = convolution.effectiveGroups
      // A depthwise kernel: each input channel has its own filters.
      if convolution.kernelChannels == 1, groups > 1, shape[0] % groups == 0 {
        return WeightOrder([groups, shape[0] / groups, shape[2], shape[3]], [2, 3, 0, 1])
      }
      return WeightOrder(shape, [2, 3, 1, 0])
    }
    if layer.parameters is Convolution3D, shape.count == 5 {
      return WeightOrder(shape, [2, 3, 4, 1, 0])
    }
    // Dense layers, embeddings, and the matrices of each gate.
    return shape.count == 2 ? WeightOrder(shape, [1, 0]) : nil
  }

  private func mps(_ weight: NamedWeights, _ layer: NeuralNetworkLayer) -> WeightOrder? {
    let shape = weight.shape
    if let convolution = layer.parameters as? Convolution, shape.count == 4 {
      return WeightOrder(shape, convolution.isDeconvolution ? [1, 2, 3, 0] : [0, 2, 3, 1])
    }
    guard layer.parameters is InnerProduct, shape.count == 2, let blob = layer.input.first,
      let planes = planes(blob), planes.reduce(1, *) == shape[1]
    else { return nil }
    return WeightOrder([shape[0]] + planes, [0, 2, 3, 1])
  }

  /// The `[C, H, W]` of a dense layer's input if it is planes, directly or flattened with channels
  /// first.
  private func planes(_ blob: String) -> [Int]? {
    if let producer = producers[blob], let flatten = producer.parameters as? Flatten {
      guard flatten.mode == .channelFirst, let input = producer.input.first else { return nil }
      return planes(input)
    }
    guard let shape = shapes[blob], shape.count == 5, shape[3] * shape[4] > 1 else { return nil }
    return Array(shape[2...])
  }
}
