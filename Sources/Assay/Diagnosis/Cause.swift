import CoreMLModel
import ModelPrediction
import TensorCore

/// A possible reason for a difference, tested by a prediction that assumes it.
public struct Cause: Sendable {
  /// The part of a prediction that a cause changes; two causes of one part are never combined.
  public enum Part: String, Sendable {
    /// How the expected values and the outputs belong together.
    case outputs
    /// What the network receives.
    case input
    /// The network's layers and weights.
    case network
  }

  /// The difference, as a sentence without its period.
  public let summary: String
  /// The option or command that fixes the difference; nil if there is none.
  public let remedy: String?
  /// The part of the prediction that it changes.
  public let part: Part
  /// Applies the change; false if there is nothing to change.
  let apply: @Sendable (inout Trial) throws -> Bool

  init(
    _ part: Part, _ summary: String, remedy: String? = nil,
    _ apply: @escaping @Sendable (inout Trial) throws -> Bool
  ) {
    (self.part, self.summary, self.remedy, self.apply) = (part, summary, remedy, apply)
  }
}

/// A prediction with its expected values; causes change either.
struct Trial: Sendable {
  var model: Model
  /// The causes that changed `model`; trials with the same ones share a compiled network.
  var changes: [String] = []
  var blobs: [String: Tensor]
  /// The expected values by output.
  var expected: [String: Tensor]
  /// Changes of the values of an output, in order.
  var output: [@Sendable (_ name: String, Tensor) -> Tensor] = []

  /// Changes the layers of type `Layer`; returns whether any of them differs then.
  mutating func changeLayers<Layer: LayerParameters>(
    _ type: Layer.Type, _ name: String, _ change: (inout Layer) throws -> Void
  ) rethrows -> Bool {
    guard var network = model.neuralNetwork else { return false }
    var isChanged = false
    for index in network.layers.indices {
      guard let old = network.layers[index].parameters as? Layer else { continue }
      var layer = old
      try change(&layer)
      if layer == old { continue }
      network.layers[index].parameters = layer
      isChanged = true
    }
    guard isChanged else { return false }
    model.neuralNetwork = network
    changes.append(name)
    return true
  }
}
