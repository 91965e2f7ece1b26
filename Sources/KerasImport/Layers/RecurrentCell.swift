import CoreMLModel
import ImportSupport

/// What a recurrent layer computes at each step.
protocol RecurrentCell: Sendable {
  /// The layers that are made of it alone.
  static var classes: [SourceLayer] { get }
  /// - Parameter configuration: of the cell, or of the layer that is made of it.
  init(_ configuration: LayerConfiguration) throws
  var weights: [WeightSlot] { get }
  /// The states that a step hands to the next one.
  var states: [RecurrentStateSize] { get }
  /// Which of the states is the output.
  var outputState: Int { get }
  var units: Int { get }
  /// Core ML's own layer of this cell; nil if it has none that computes the same.
  func native(_ weights: CellWeights, _ path: RecurrentPath) throws -> (any LayerParameters)?
  /// Whether Core ML's own layer computes the same only where its functions' arguments, and so the
  /// states, stay between −50 and 50.
  var isClipped: Bool { get }
  /// The cell as an LSTM of several phases; nil if its functions are others than LSTMs have.
  func phased(_ weights: CellWeights) throws -> PhasedCell?
  /// The cell as small layers.
  func steps(_ weights: CellWeights) throws -> RecurrentSteps
}

extension RecurrentCell {
  var outputState: Int { 0 }
  var isClipped: Bool { false }
  func phased(_ weights: CellWeights) throws -> PhasedCell? { nil }
}

/// Name and size of a state, such as h of 128 units.
struct RecurrentStateSize: Sendable {
  var name: String
  var units: Int
}

/// Where a cell finds its weights.
struct CellWeights {
  let call: LayerCall
  /// Before the weights' names, where a layer has several cells.
  var prefix = ""
  /// Elements of an input; nil if they are unknown.
  var inputs: Int?
}

/// A cell whose weights have been read, as layers for one step after the other.
struct RecurrentSteps {
  /// The states after a step, given the prepared input, the states before it and a name.
  typealias Step = (String, [String], String, inout NetworkWriter) throws -> [String]

  /// What of all steps can be computed before the first, given a sequence or one step and a name.
  let prepare: (String, String, inout NetworkWriter) throws -> String
  let step: Step
}

extension NetworkWriter {
  /// A function in a step of a recurrent layer.
  mutating func activate(
    _ function: ActivationFunction, _ blob: String, _ name: String, _ call: LayerCall
  ) throws -> String {
    if function == .linear { return blob }
    let tensor = KerasTensor(blob: blob, shape: [nil, nil], layout: .vector)
    return try apply(function, tensor, name: name, call).blob
  }
}
