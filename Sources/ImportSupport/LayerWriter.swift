import CoreMLModel

/// Collects the Core ML layers that a source network's layers become, with unique names of blobs,
/// and the plan that says what became what.
package struct LayerWriter: Sendable {
  package private(set) var layers: [NeuralNetworkLayer] = []
  package private(set) var plan: [PlanEntry] = []
  package var notes: [String] = []
  private let onVisit: (@Sendable (String) -> Void)?
  private var visited = 0
  private var blobs = NamePool()
  private var names = NamePool()
  private var firstLayerOfEntry = 0
  /// Blobs whose axes have been moved already.
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
    plan.append(PlanEntry(layer: name, layerClass: className, becomes: becomes))
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

  /// Hands the layer that made `blob` to `body`; returns what `body` does, or false if there is no
  /// such layer.
  package mutating func edit(
    producerOf blob: String, _ body: (inout NeuralNetworkLayer) -> Bool
  ) -> Bool {
    guard let index = layers.lastIndex(where: { $0.output.contains(blob) }) else { return false }
    return body(&layers[index])
  }

  fileprivate mutating func unique(_ blob: String) -> String { blobs.take(blob) }
}

/// What an importer hands to the conversions of its layers.
package protocol LayerWriting {
  var writer: LayerWriter { get set }
}

extension LayerWriting {
  package var layers: [NeuralNetworkLayer] { writer.layers }
  package var plan: [PlanEntry] { writer.plan }

  package var notes: [String] {
    get { writer.notes }
    // In place: a setter would copy all notes for each that is added.
    _modify { yield &writer.notes }
  }

  /// Tells of a layer of the source.
  package mutating func visit(_ name: String, _ className: String) {
    writer.visit(name, className)
  }

  /// Notes in the plan what was added since the last entry, and returns it.
  @discardableResult
  package mutating func finish(
    _ name: String, _ className: String
  ) -> ArraySlice<NeuralNetworkLayer> { writer.finish(name, className) }

  /// Forgets the layers of an attempt that failed.
  package mutating func abandon() { writer.abandon() }

  /// Notes in the plan that a layer cannot be converted.
  package mutating func refuse(_ name: String, _ className: String, _ refusal: LayerRefusal) {
    writer.refuse(name, className, refusal)
  }

  /// Adds a layer with one output, and returns the output's blob.
  @discardableResult
  package mutating func add(
    _ name: String, _ parameters: some LayerParameters, _ inputs: [String], to output: String? = nil
  ) -> String {
    let output = writer.unique(output ?? name + "_output")
    writer.append(NeuralNetworkLayer(name, parameters, input: inputs, output: [output]))
    return output
  }

  /// Adds a layer with several outputs, and returns their blobs.
  package mutating func add(
    _ name: String, _ parameters: some LayerParameters, _ inputs: [String], outputs: [String]
  ) -> [String] {
    let outputs = outputs.map { writer.unique($0) }
    writer.append(NeuralNetworkLayer(name, parameters, input: inputs, output: outputs))
    return outputs
  }

  /// The blob with its axes moved as `axes` says by the layers of `move`, which are added once.
  package mutating func moved(
    _ blob: String, _ axes: [Int], by move: (inout Self) -> String
  ) -> String {
    if let known = writer[blob, axes] { return known }
    let result = move(&self)
    writer[blob, axes] = result
    return result
  }

  /// Reserves the name of an input's blob.
  package mutating func reserve(_ blob: String) -> String { writer.unique(blob) }
}

extension LayerParameters {
  /// The parameters with another value of a field.
  package func with<Value>(_ field: WritableKeyPath<Self, Value>, _ value: Value) -> Self {
    var result = self
    result[keyPath: field] = value
    return result
  }
}
