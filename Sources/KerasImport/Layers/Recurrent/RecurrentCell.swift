import CoreMLModel
import ImportSupport

/// The computation of a recurrent layer at each step.
protocol RecurrentCell: Sendable {
  /// The layer classes that consist of this cell alone.
  static var classes: [SourceLayer] { get }
  /// - Parameter configuration: the configuration of the cell, or of a layer that consists of it.
  init(_ configuration: LayerConfiguration) throws
  var weights: [WeightSlot] { get }
  /// The states that one step passes to the next.
  var states: [RecurrentStateSize] { get }
  /// The index of the state that is the output.
  var outputState: Int { get }
  var units: Int { get }
  /// Core ML's layer for this cell; nil if there is no equivalent one.
  func native(
    _ weights: CellWeights, _ path: RecurrentPath, _ network: KerasWriter
  ) throws -> (any LayerParameters)?
  /// Whether Core ML's layer is equivalent only as long as the arguments of its functions, and thus
  /// the states, are between −50 and 50.
  var isClipped: Bool { get }
  /// The cell as a phased LSTM; nil if it needs functions that LSTMs lack.
  func phased(_ weights: CellWeights) throws -> PhasedCell?
  /// The cell as separate layers for each step.
  func steps(_ weights: CellWeights) throws -> RecurrentSteps
}

extension RecurrentCell {
  var outputState: Int { 0 }
  var isClipped: Bool { false }
  func phased(_ weights: CellWeights) throws -> PhasedCell? { nil }
}

/// The name and size of a state, such as h with 128 units.
struct RecurrentStateSize: Sendable {
  var name: String
  var units: Int
}

/// The source of a cell's weights.
struct CellWeights {
  let call: LayerCall
  /// The prefix of the weights' names, for layers with several cells.
  var prefix = ""
  /// The size of the input; nil if it is unknown.
  var inputs: Int?
}

/// A cell with its weights, as layers for one step at a time.
struct RecurrentSteps {
  /// Returns the next states, given the prepared input, the previous states and a name.
  typealias Step = (String, [String], String, inout KerasWriter) throws -> [String]

  /// Computes everything that does not depend on the states, given a sequence or a single step, and
  /// a name.
  let prepare: (String, String, inout KerasWriter) throws -> String
  let step: Step
}

extension KerasWriter {
  /// Applies an activation within a step of a recurrent layer.
  mutating func activate(
    _ function: ActivationFunction, _ blob: String, _ name: String, _ call: LayerCall
  ) throws -> String {
    if function == .linear { return blob }
    let tensor = KerasTensor(blob: blob, shape: [nil, nil], layout: .vector)
    return try apply(function, tensor, name: name, call).blob
  }
}
