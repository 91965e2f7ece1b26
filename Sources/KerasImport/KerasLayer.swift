import ImportSupport

/// The settings and weights of some classes of Keras layers, and their conversion.
protocol KerasLayer: Sendable {
  /// The classes that this type reads.
  static var classes: [SourceLayer] { get }
  /// Whether the layer does nothing at inference and is left out.
  static var vanishes: Bool { get }
  static var maskPolicy: MaskPolicy { get }
  /// Whether the configuration determines which weights are stored.
  static var hasKnownWeights: Bool { get }
  init(_ configuration: LayerConfiguration) throws
  var leadingAxes: LeadingAxesPolicy { get }
  /// Names of the weights in the order in which Keras stores them.
  var weights: [WeightSlot] { get }
  /// Adds the Core ML layers to the network.
  func convert(_ call: LayerCall, into network: inout KerasWriter) throws -> [KerasTensor]
}

extension KerasLayer {
  static var classNames: [String] { classes.flatMap(\.names) }
  static var vanishes: Bool { false }
  static var maskPolicy: MaskPolicy { .drops }
  static var hasKnownWeights: Bool { true }
  var leadingAxes: LeadingAxesPolicy { .refuses }
  var weights: [WeightSlot] { [] }
}

extension SourceLayer {
  // Text shared by several rows.
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
  /// The axes except the batch in another order, without moving elements.
  func reordered(_ order: [Int]) -> KerasTensor {
    var result = self
    result.shape = [shape[0]] + order.map { shape[$0] }
    result.layout.axes = order.map { layout.axes[$0 - 1] }
    return result
  }

  /// Two axes exchanged, without moving elements.
  func exchanging(_ a: Int, _ b: Int) -> KerasTensor {
    var result = self
    result.shape.swapAt(a, b)
    result.layout.axes.swapAt(a - 1, b - 1)
    return result
  }

  /// The same tensor in another blob.
  func with(_ blob: String) -> KerasTensor {
    var result = self
    result.blob = blob
    return result
  }
}
