import CoreMLModel
import TensorCore

/// A custom layer by its name, or by its index among the custom layers, counted from 0.
package enum CustomLayerSelection: Sendable, Equatable {
  case name(String)
  case index(Int)
}

extension Model {
  /// The names of the custom layers; in a pipeline, those of each model in order.
  package var customLayerNames: [String] {
    (neuralNetwork?.layers ?? []).filter { $0.parameters is Custom }.map(\.name)
      + pipelineModels.flatMap(\.customLayerNames)
  }

  /// The model with a custom layer that `body` has changed: its class, description, parameters or
  /// weights.
  ///
  /// - Throws: `.mismatch` if there is no such custom layer; errors from `body`.
  package func editingCustomLayer(
    _ selection: CustomLayerSelection, _ body: (inout Custom) throws -> Void
  ) throws -> Model {
    let names = customLayerNames
    let position: Int?
    switch selection {
    case .name(let name): position = names.firstIndex(of: name)
    case .index(let index): position = names.indices.contains(index) ? index : nil
    }
    guard let position else {
      let what =
        switch selection {
        case .name(let name): "'\(name)'"
        case .index(let index): "#\(index)"
        }
      throw ModelError(
        .mismatch, "the model has no custom layer \(what)",
        hint: names.isEmpty
          ? "it has no custom layers"
          : "it has " + names.enumerated().map { "#\($0) '\($1)'" }.joined(separator: ", "))
    }
    var model = self
    var rest = position
    try model.editCustomLayer(&rest, body)
    return model
  }

  /// Edits the custom layer at `position`, which decreases by the number of custom layers passed.
  private mutating func editCustomLayer(
    _ position: inout Int, _ body: (inout Custom) throws -> Void
  ) throws {
    if var network = neuralNetwork {
      for index in network.layers.indices {
        guard var custom = network.layers[index].parameters as? Custom else { continue }
        position -= 1
        guard position == -1 else { continue }
        let name = network.layers[index].name
        do { try body(&custom) } catch let error as ModelError {
          throw error.inLayer(name, class: custom.className)
        }
        network.layers[index].parameters = custom
      }
      neuralNetwork = network
    }
    var models = pipelineModels
    for index in models.indices { try models[index].editCustomLayer(&position, body) }
    pipelineModels = models
  }
}
