import ImportSupport

/// Some classes of Keras layers, and their conversion.
protocol KerasLayer: Sendable {
  /// The classes that this type converts.
  static var classes: [SourceLayer] { get }
  /// Whether the layer does nothing at inference and is left out.
  static var vanishes: Bool { get }
  static var maskPolicy: MaskPolicy { get }
  static var leadingAxes: LeadingAxesPolicy { get }
  /// Whether the configuration determines the layer's weights.
  static var hasKnownWeights: Bool { get }
  /// Reads a layer's settings.
  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer
}

extension KerasLayer {
  static var classNames: [String] { classes.flatMap(\.names) }
  static var vanishes: Bool { false }
  static var maskPolicy: MaskPolicy { .drops }
  static var leadingAxes: LeadingAxesPolicy { .refuses }
  static var hasKnownWeights: Bool { true }

  /// A layer of this type.
  static func conversion(
    _ weights: [WeightSlot] = [], _ convert: @escaping ConfiguredLayer.Conversion
  ) -> ConfiguredLayer {
    ConfiguredLayer(type: self, weights: weights, leadingAxes: leadingAxes, convert: convert)
  }
}

/// A layer with its settings.
struct ConfiguredLayer: Sendable {
  let type: any KerasLayer.Type
  /// The names of the weights in Keras's storage order.
  let weights: [WeightSlot]
  var leadingAxes: LeadingAxesPolicy
  /// The operation that the layer calls, if it is one.
  var operation: Operation?
  let convert: Conversion

  /// Adds the Core ML layers to the network.
  typealias Conversion = @Sendable (LayerCall, inout KerasWriter) throws -> [KerasTensor]
}

/// A layer whose settings several functions read.
protocol KerasLayerSettings: KerasLayer {
  init(_ configuration: LayerConfiguration) throws
  var weights: [WeightSlot] { get }
  func convert(_ call: LayerCall, into network: inout KerasWriter) throws -> [KerasTensor]
}

extension KerasLayerSettings {
  var weights: [WeightSlot] { [] }

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let settings = try Self(configuration)
    return conversion(settings.weights) { try settings.convert($0, into: &$1) }
  }
}

extension SourceLayer {
  // Text that several rows share.
  static let dataFormat =
    "`data_format` (Keras 1 `dim_ordering`): wrapped in permutes if it differs"
  static let unrolled = "unrolled steps"
  static let matrices = "batchedMatmul; before specification 4 repeated, multiplied and summed"
}

struct WeightSlot: Sendable, Equatable {
  var name: String
  var isTrainable: Bool

  init(_ name: String, isTrainable: Bool = true) {
    self.name = name
    self.isTrainable = isTrainable
  }

  /// Slots for the names that are not nil.
  static func named(_ names: String?...) -> [WeightSlot] {
    names.compactMap { $0.map { WeightSlot($0) } }
  }
}

extension KerasTensor {
  /// Reorders the axes after the batch without moving elements.
  func reordered(_ order: [Int]) -> KerasTensor {
    var result = self
    result.shape = [shape[0]] + order.map { shape[$0] }
    result.layout.axes = order.map { layout.axes[$0 - 1] }
    return result
  }

  /// Swaps two axes without moving elements.
  func exchanging(_ a: Int, _ b: Int) -> KerasTensor {
    var result = self
    result.shape.swapAt(a, b)
    result.layout.axes.swapAt(a - 1, b - 1)
    return result
  }

  /// The same tensor with another blob.
  func with(_ blob: String) -> KerasTensor {
    var result = self
    result.blob = blob
    return result
  }
}
