import CoreMLModel
import MILImport
import ModelTransforms
import TensorCore

extension [CompressedLayer] {
  /// The results with the errors of the weights of `written`, the model as stored in its file.
  ///
  /// - Parameter original: the model that was compressed.
  package func measured(in written: Model, against original: Model) throws -> [CompressedLayer] {
    guard case .mlProgram(let old)? = original.type, case .mlProgram(let new)? = written.type else {
      return try measuredLayers(written, original)
    }
    var result = self
    let names = Set(filter(\.isChanged).map(\.name))
    var constants: [String: [MILElements]] = [:]
    try old.forEachConstant(named: names) { constants[$0, default: []].append($1) }
    var positions = Dictionary(grouping: indices) { self[$0].name }
    try new.forEachConstant(named: names) { name, elements in
      guard let position = positions[name]?.removeFirst(),
        let before = constants[name]?.removeFirst()
      else { return }
      result[position].error = try CompressionError(
        FloatValues(before.floats()), FloatValues(elements.floats()))
    }
    return result
  }

  private func measuredLayers(_ written: Model, _ original: Model) throws -> [CompressedLayer] {
    func layers(_ model: Model) -> [NeuralNetworkLayer] {
      model.networks.flatMap { $0.model.neuralNetwork?.layers ?? [] }
        .filter { $0.parameters?.weights.isEmpty == false }
    }
    var result = self
    for (position, (before, after)) in zip(layers(original), layers(written)).enumerated()
    where indices.contains(position) && self[position].isChanged {
      var error = CompressionError()
      let pairs = zip(before.parameters?.weights ?? [], after.parameters?.weights ?? [])
      for (old, new) in pairs where new.values.floatValue.count == 0 {
        func values(_ weights: NamedWeights, in layer: NeuralNetworkLayer) throws -> FloatValues {
          let axis = (layer.parameters as? Convolution)?.scaleAxis ?? weights.channelAxis
          return try weights.values.values(shape: weights.shape, channelAxis: axis)
        }
        error.add(try CompressionError(values(old, in: before), values(new, in: after)))
      }
      result[position].error = error
    }
    return result
  }
}
