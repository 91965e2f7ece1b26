import ImportSupport

/// A type of Caffe layer, with its conversion.
struct CaffeLayerType: Sendable {
  let source: SourceLayer
  let inputAxes: @Sendable (_ layer: LayerCall, _ bottom: Int, _ shape: [Int]) -> [Int]?
  let batchAxis: @Sendable (LayerCall, OmittedBatch) throws -> Int?
  let convert: @Sendable (LayerCall, inout CaffeWriter) throws -> [CaffeTensor]

  init<Converter: CaffeLayerConverter>(_: Converter.Type) {
    source = Converter.source
    inputAxes = Converter.inputAxes
    batchAxis = Converter.batchAxis
    convert = Converter.convert
  }

  /// Nil for a function that Caffe lacks.
  init?(_ formula: ActivationFormula) {
    guard let source = formula.caffe else { return nil }
    self.source = source
    inputAxes = { _, _, _ in nil }
    batchAxis = { $0.sharesBatch ? $1.axis : nil }
    convert = { layer, network in
      try layer.requireBottoms(1...1)
      let values = try formula.fields.map { message, name, standard in
        let parameters = layer.parameters(message)
        return try standard.map { try parameters.float(name, default: $0) }
          ?? parameters.float(name)
      }
      let names = ActivationNames(
        layer.name, prefix: layer.name + "_", suffix: "", output: layer.tops[0])
      return [layer.input.with(network.add(formula, layer.input.blob, names, values))]
    }
  }
}
