import CoreMLModel
import CustomLayers
import TensorCore

extension Custom: ReferenceLayer {
  /// The results of the class, in single precision: a custom layer is its own reference.
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    guard let make = settings.customLayers.factory(of: self) else {
      throw ModelError(.unsupported, "implementation named '\(className)' was not found")
    }
    let layer = try settings.instances.instance(ofLayer: settings.layerIndex, className: className)
    {
      try instantiate(make)
    }
    return try layer.answers(to: inputs.map(\.tensor)).map(ReferenceTensor.init)
  }

  /// The results of a layer outside a network.
  package func answers(
    to inputs: [Tensor], _ make: CustomLayerRegistry.Factory
  ) throws -> [Tensor] {
    try CustomLayerInstance(instantiate(make)).answers(to: inputs)
  }
}

extension CustomLayerInstance {
  fileprivate func answers(to inputs: [Tensor]) throws -> [Tensor] {
    let shapes = try outputShapes(forInputShapes: inputs.map(\.shape))
    for shape in shapes {
      try require(
        (1...Limits.rank).contains(shape.count) && shape.allSatisfy({ $0 > 0 }), .unsupported,
        "the layer gives an output of shape \(shape)")
      _ = try checkedProduct(shape, limit: Limits.tensorElements)
    }
    var outputs = shapes.map { Tensor(shape: $0) }
    try evaluate(inputs[...], [], &outputs, 0, [])
    return outputs
  }

  /// Accesses the inputs, then the outputs, in nested closures, and calls the layer.
  private func evaluate(
    _ inputs: ArraySlice<Tensor>, _ opened: [CustomLayerInput],
    _ outputs: inout [Tensor], _ index: Int, _ openedOutputs: [CustomLayerOutput]
  ) throws {
    if let input = inputs.first {
      try input.withUnsafeElements { elements in
        try evaluate(
          inputs.dropFirst(),
          opened + [CustomLayerInput(shape: input.shape, elements: elements)], &outputs, index,
          openedOutputs)
      }
    } else if index < outputs.count {
      var output = outputs[index]
      try output.withUnsafeMutableElements { elements in
        try evaluate(
          inputs, opened, &outputs, index + 1,
          openedOutputs + [CustomLayerOutput(shape: outputs[index].shape, elements: elements)])
      }
      outputs[index] = output
    } else {
      try evaluate(inputs: opened, outputs: openedOutputs)
    }
  }
}
