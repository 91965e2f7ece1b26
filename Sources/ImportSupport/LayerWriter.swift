import CoreMLModel

/// Collects the Core ML layers of a converted network, makes blob names unique, and records the
/// plan with the result of each source layer.
package struct LayerWriter: Sendable {
  package private(set) var layers: [NeuralNetworkLayer] = []
  package private(set) var plan: [PlanEntry] = []
  package var notes: [String] = []
  private let onVisit: (@Sendable (String) -> Void)?
  private var visited = 0
  private var blobs = NamePool()
  private var names = NamePool()
  private var firstLayerOfEntry = 0
  /// Blobs whose axes have already been moved.
  private var moves: [Move: String] = [:]

  private struct Move: Hashable {
    var blob: String
    var axes: [Int]
  }

  package init(onVisit: (@Sendable (String) -> Void)?) { self.onVisit = onVisit }

  fileprivate mutating func visit(_ name: String, _ className: String) {
    onVisit?("\(visited) : \(name), \(className)")
    visited += 1
  }

  fileprivate mutating func finish(
    _ name: String, _ className: String
  ) -> ArraySlice<NeuralNetworkLayer> {
    let added = layers[firstLayerOfEntry...]
    let becomes = added.map {
      "\($0.parameters.map { type(of: $0).typeName } ?? "?") '\($0.name)'"
    }
    plan.append(
      PlanEntry(
        layer: name, layerClass: className, becomes: becomes,
        isCustom: added.contains { $0.parameters is Custom }))
    firstLayerOfEntry = layers.count
    return added
  }

  fileprivate mutating func refuse(_ name: String, _ className: String, _ refusal: LayerRefusal) {
    abandon()
    plan.append(PlanEntry(layer: name, layerClass: className, becomes: [], refusal: refusal))
  }

  fileprivate mutating func abandon() {
    names.remove(layers[firstLayerOfEntry...].map(\.name))
    layers.removeSubrange(firstLayerOfEntry...)
    moves = [:]
  }

  fileprivate subscript(blob: String, axes: [Int]) -> String? {
    get { moves[Move(blob: blob, axes: axes)] }
    set { moves[Move(blob: blob, axes: axes)] = newValue }
  }

  fileprivate mutating func append(_ layer: NeuralNetworkLayer) {
    var layer = layer
    layer.name = names.take(layer.name)
    layers.append(layer)
  }

  /// Passes the layer that produces `blob` to `body`, and returns the result of `body`; false if
  /// there is no such layer.
  package mutating func edit(
    producerOf blob: String, _ body: (inout NeuralNetworkLayer) -> Bool
  ) -> Bool {
    guard let index = layers.lastIndex(where: { $0.output.contains(blob) }) else { return false }
    return body(&layers[index])
  }

  fileprivate mutating func edit(
    from start: Int, _ body: (inout NeuralNetworkLayer) throws -> Void
  ) rethrows {
    for index in layers.indices[start...] { try body(&layers[index]) }
  }

  fileprivate mutating func unique(_ blob: String) -> String { blobs.take(blob) }
}

/// An importer with a writer to which its layers' conversions add Core ML layers.
package protocol LayerWriting { var writer: LayerWriter { get set } }

extension LayerWriting {
  package var layers: [NeuralNetworkLayer] { writer.layers }
  package var plan: [PlanEntry] { writer.plan }

  package var notes: [String] {
    get { writer.notes }
    // Modifies in place: a setter would copy all notes for each added note.
    _modify { yield &writer.notes }
  }

  /// Passes all layers from index `start` on to `body`.
  package mutating func editLayers(
    from start: Int, _ body: (inout NeuralNetworkLayer) throws -> Void
  ) rethrows { try writer.edit(from: start, body) }

  /// Reports that a source layer is being converted.
  package mutating func visit(_ name: String, _ className: String) { writer.visit(name, className) }

  /// Records the layers added since the last entry in the plan, and returns them.
  @discardableResult
  package mutating func finish(
    _ name: String, _ className: String
  ) -> ArraySlice<NeuralNetworkLayer> { writer.finish(name, className) }

  /// Discards the layers of a failed conversion attempt.
  package mutating func abandon() { writer.abandon() }

  /// Records in the plan that a layer cannot be converted.
  package mutating func refuse(_ name: String, _ className: String, _ refusal: LayerRefusal) {
    writer.refuse(name, className, refusal)
  }

  /// Adds a layer with one output, and returns the output blob.
  @discardableResult
  package mutating func add(
    _ name: String, _ parameters: any LayerParameters, _ inputs: [String], to output: String? = nil
  ) -> String {
    let output = writer.unique(output ?? name + "_output")
    writer.append(NeuralNetworkLayer(name, parameters, input: inputs, output: [output]))
    return output
  }

  /// Adds a layer with several outputs, and returns the output blobs.
  package mutating func add(
    _ name: String, _ parameters: any LayerParameters, _ inputs: [String], outputs: [String]
  ) -> [String] {
    let outputs = outputs.map { writer.unique($0) }
    writer.append(NeuralNetworkLayer(name, parameters, input: inputs, output: outputs))
    return outputs
  }

  /// The blob with its axes moved by the layers that `move` adds; the layers are added once per
  /// blob and `axes`.
  package mutating func moved(
    _ blob: String, _ axes: [Int], by move: (inout Self) -> String
  ) -> String {
    if let known = writer[blob, axes] { return known }
    let result = move(&self)
    writer[blob, axes] = result
    return result
  }

  /// Reserves the blob name of an input.
  package mutating func reserve(_ blob: String) -> String { writer.unique(blob) }
}
