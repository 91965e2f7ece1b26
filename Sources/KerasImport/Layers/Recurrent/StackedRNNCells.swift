import ByteFormats
import CoreMLModel
import ImportSupport
import TensorCore

/// Stacked cells, each of which receives the previous cell's output.
struct StackedRNNCells: RecurrentCell {
  static let classes: [SourceLayer] = []

  private let cells: [any RecurrentCell]

  init(_ configuration: LayerConfiguration) throws {
    guard let (field, value) = configuration.field("cells"), let elements = value.array,
      !elements.isEmpty, elements.count <= Limits.rank * Limits.rank
    else { throw configuration.missing(["cells"]) }
    cells = try elements.map { try configuration.recurrentCell(field, $0) }
  }

  /// Keras 2.2 stores the states of the last cell first, which does not affect the output.
  var states: [RecurrentStateSize] {
    cells.enumerated().flatMap { index, cell in
      cell.states.map { RecurrentStateSize(name: "\($0.name)_\(index)", units: $0.units) }
    }
  }
  var units: Int { cells[cells.count - 1].units }
  var outputState: Int {
    cells.dropLast().reduce(0) { $0 + $1.states.count } + cells[cells.count - 1].outputState
  }

  var weights: [WeightSlot] {
    cells.enumerated().flatMap { index, cell in
      cell.weights.map { WeightSlot("cell_\(index)_\($0.name)", isTrainable: $0.isTrainable) }
    }
  }

  /// Nil, since no Core ML layer has several cells.
  func native(
    _ weights: CellWeights, _ path: RecurrentPath, _ network: KerasWriter
  ) -> (any LayerParameters)? { nil }

  func steps(_ weights: CellWeights) throws -> RecurrentSteps {
    var inputs = weights.inputs
    let steps = try cells.enumerated().map { index, cell in
      let steps = try cell.steps(
        CellWeights(call: weights.call, prefix: weights.prefix + "cell_\(index)_", inputs: inputs))
      inputs = cell.units
      return steps
    }
    return RecurrentSteps(prepare: steps[0].prepare) { prepared, states, name, network in
      var rest = states[...]
      var next: [String] = []
      var input = prepared
      for (index, cell) in cells.enumerated() {
        let own = Array(rest.prefix(cell.states.count))
        rest = rest.dropFirst(cell.states.count)
        let name = "\(name)cell_\(index)_"
        if index > 0 { input = try steps[index].prepare(input, name + "x", &network) }
        let after = try steps[index].step(input, own, name, &network)
        input = after[cell.outputState]
        next += after
      }
      return next
    }
  }
}

extension LayerConfiguration {
  static let cellTypes: [String: any RecurrentCell.Type] = [
    "SimpleRNNCell": SimpleRNNCell.self, "GRUCell": GRUCell.self, "LSTMCell": LSTMCell.self,
    "StackedRNNCells": StackedRNNCells.self,
  ]

  func recurrentCell(_ name: String) throws -> any RecurrentCell {
    guard let (name, value) = field(name) else { throw missing([name]) }
    return try recurrentCell(name, value)
  }

  fileprivate func recurrentCell(_ name: String, _ json: JSONValue) throws -> any RecurrentCell {
    guard let configuration = inner(json) else { throw missing([name]) }
    let type = try Self.cellTypes[configuration.kind].orThrow(
      unsupported(
        name, "cells of the class '\(configuration.kind)' are not supported",
        hint: UnsupportedLayers.sourceHint
          + "; SimpleRNNCell, GRUCell, LSTMCell and StackedRNNCells need none"))
    let cell = try type.init(configuration)
    try configuration.requireRead()
    return cell
  }
}
