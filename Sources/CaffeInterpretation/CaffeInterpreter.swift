import CaffeFormat
import Interpretation
import TensorCore

/// Runs a Caffe network as BVLC's Caffe and its forks do in the TEST phase, layer by layer.
///
/// Written from `src/caffe/net.cpp` and `src/caffe/layers` of BVLC/caffe, and for types missing
/// there, from the forks named with each layer. A result is named after its layer; further tops are
/// `LAYER:1`, `LAYER:2`, …
package struct CaffeInterpreter: SourceInterpreter {
  package let inputs: [SourceInput]
  private let file: String
  private let layers: [ListedLayer]
  private let weights: CopiedWeights
  private let outputs: Set<String>

  /// - Parameter state: determines which layers are included.
  package init(_ source: CaffeSource, state: CaffeState = CaffeState()) throws {
    file = source.path
    let list = try CaffeLayerList(source, state)
    (inputs, layers, outputs) = (list.inputs, list.layers, list.outputs)
    weights = CopiedWeights(source.weights, to: layers)
  }

  package func run(
    _ inputs: [String: DoubleArray], visit: Visitor, takeOver: Substitute
  ) throws -> [String: DoubleArray] {
    var blobs: [String: DoubleArray] = [:]
    var results: [String: DoubleArray] = [:]
    for input in self.inputs {
      let value = try inputs[input.name].orThrow(
        ModelError(.mismatch, "input '\(input.name)' has no value", file: file))
      blobs[input.name] = value
    }
    for layer in layers {
      let bottoms = try layer.bottoms.map { name in
        let value = try blobs[name].orThrow(
          ModelError(
            .malformed, "no layer produces its bottom '\(name)'", file: file, layer: layer.name,
            layerClass: layer.type))
        return value
      }
      let tops: [DoubleArray]
      let isOwn: Bool
      do {
        tops = try run(layer, bottoms)
        isOwn = true
      } catch let error as InterpretationError {
        tops = try error.values(layer.name, takeOver)
        isOwn = false
      }
      for name in layer.lastRead { blobs[name] = nil }
      for (index, name) in layer.tops.enumerated() where index < tops.count {
        let label = index == 0 ? layer.name : "\(layer.name):\(index)"
        let value = isOwn ? try visit(label, tops[index]) ?? tops[index] : tops[index]
        if layer.keptTops.contains(index) { blobs[name] = value }
        if outputs.contains(name) { results[name] = value }
      }
    }
    return results
  }

  private func run(_ layer: ListedLayer, _ bottoms: [DoubleArray]) throws -> [DoubleArray] {
    let run = LayerRun(
      file: file, name: layer.name, type: layer.type, message: layer.message, bottoms: bottoms,
      topCount: layer.tops.count, weights: weights[layer])
    let operation = try CaffeOperations.byType[layer.type].orThrow(
      run.missing("this layer type is not interpreted"))
    try run.require(
      operation.bottoms.contains(bottoms.count), "it has \(bottoms.count) bottoms")
    do {
      return try operation.run(run)
    } catch let error as ModelError {
      throw error.inLayer(layer.name, class: layer.type).inFile(file)
    }
  }

  /// The supported layer types.
  package static var types: Set<String> { Set(CaffeOperations.byType.keys) }
}
