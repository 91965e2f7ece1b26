import ImportSupport

/// What some classes of Keras layers become: their settings and their weights.
protocol KerasLayer: Sendable {
  /// The classes that are read so.
  static var classes: [SourceLayer] { get }
  /// Whether the layer does nothing when a network is run and is left out.
  static var vanishes: Bool { get }
  static var maskPolicy: MaskPolicy { get }
  /// Whether the configuration says which weights are stored.
  static var hasKnownWeights: Bool { get }
  init(_ configuration: LayerConfiguration) throws
  /// Names of its weights in the order in which Keras stores them.
  var weights: [WeightSlot] { get }
  /// Adds the Core ML layers to the network.
  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor]
}

extension KerasLayer {
  static var classNames: [String] { classes.flatMap(\.names) }
  static var vanishes: Bool { false }
  static var maskPolicy: MaskPolicy { .drops }
  static var hasKnownWeights: Bool { true }
  var weights: [WeightSlot] { [] }
}

extension SourceLayer {
  // What several rows say.
  static let dataFormat =
    "`data_format` (Keras 1 `dim_ordering`): wrapped in permutes if it differs"
  static let unrolled = "unrolled steps"
  static let matrices =
    "repeated, multiplied and summed; if large or of unknown length, batchedMatmul of specification 4"
}

struct WeightSlot: Sendable, Equatable {
  var name: String
  var isTrainable: Bool

  init(_ name: String, isTrainable: Bool = true) {
    self.name = name
    self.isTrainable = isTrainable
  }

  /// Slots of the names that are there.
  static func named(_ names: String?...) -> [WeightSlot] {
    names.compactMap { $0.map { WeightSlot($0) } }
  }
}

extension KerasTensor {
  /// The axes but the batch in another order: nothing moves.
  func reordered(_ order: [Int]) -> KerasTensor {
    var result = self
    result.shape = [shape[0]] + order.map { shape[$0] }
    result.layout.axes = order.map { layout.axes[$0 - 1] }
    return result
  }

  /// Two axes in each other's place: nothing moves.
  func exchanging(_ a: Int, _ b: Int) -> KerasTensor {
    var result = self
    result.shape.swapAt(a, b)
    result.layout.axes.swapAt(a - 1, b - 1)
    return result
  }

  /// The tensor as another blob holds it.
  func with(_ blob: String) -> KerasTensor {
    var result = self
    result.blob = blob
    return result
  }
}
