import CoreMLModel
import ImportSupport

/// The computation of a recurrent layer in each step.
protocol RecurrentCell: Sendable {
  /// The layers that consist of this cell alone.
  static var classes: [SourceLayer] { get }
  /// - Parameter configuration: the configuration of the cell, or of a layer that consists of it.
  init(_ configuration: LayerConfiguration) throws
  var weights: [WeightSlot] { get }
  /// The states that a step passes to the next.
  var states: [RecurrentStateSize] { get }
  /// The index of the state that is the output.
  var outputState: Int { get }
  var units: Int { get }
  /// Core ML's layer for this cell; nil if none computes the same.
  func native(
    _ weights: CellWeights, _ path: RecurrentPath, _ network: KerasWriter
  ) throws -> (any LayerParameters)?
  /// Whether Core ML's layer is equivalent only while the arguments of its functions, and thus the
  /// states, stay between −50 and 50.
  var isClipped: Bool { get }
  /// The cell as an LSTM with several phases; nil if it uses functions that LSTMs lack.
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

/// Reads the weights of a cell.
struct CellWeights {
  let call: LayerCall
  /// Prefix of the weights' names, for layers with several cells.
  var prefix = ""
  /// Elements of an input; nil if unknown.
  var inputs: Int?
}

/// A cell with its weights, as layers that run one step after the other.
struct RecurrentSteps {
  /// Returns the states after a step, given the prepared input, the previous states and a name.
  typealias Step = (String, [String], String, inout KerasWriter) throws -> [String]

  /// Computes everything that does not depend on the states, given a sequence or one step and a
  /// name.
  let prepare: (String, String, inout KerasWriter) throws -> String
  let step: Step
}

extension KerasWriter {
  /// A function in a step of a recurrent layer.
  mutating func activate(
    _ function: ActivationFunction, _ blob: String, _ name: String, _ call: LayerCall
  ) throws -> String {
    if function == .linear { return blob }
    let tensor = KerasTensor(blob: blob, shape: [nil, nil], layout: .vector)
    return try apply(function, tensor, name: name, call).blob
  }
}
