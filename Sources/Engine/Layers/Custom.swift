import CoreMLModel
import CustomLayers
import TensorCore

/// A layer computed by a class outside the engine, on row-major arrays.
struct CustomOperation: NodeOperation {
  var instance: CustomLayerInstance
  var inputShapes: [[Int]]
  var outputShapes: [[Int]]
  var layer: String
  var className: String
  var hooks: EngineHooks

  var kind: String { className }
  var isRepeatable: Bool { false }

  func makeStep(_ context: StepContext) throws -> StepBody {
    let inputs = context.inputs
    let outputs = context.outputs
    return { run in
      hooks.onCustomLayerCall?(
        CustomLayerCall(
          layer: layer, className: className,
          method: .evaluate(inputCount: inputs.count, outputCount: outputs.count)))
      do {
        try instance.evaluate(
          inputs: zip(inputs, inputShapes).map { operand, shape in
            CustomLayerInput(
              shape: shape,
              elements: UnsafeBufferPointer(
                start: run.pointer(operand), count: operand.layout.shape.count))
          },
          outputs: zip(outputs, outputShapes).map { operand, shape in
            CustomLayerOutput(
              shape: shape,
              elements: UnsafeMutableBufferPointer(
                start: run.pointer(operand), count: operand.layout.shape.count))
          })
      } catch {
        throw customLayerError(error, layer: layer, className: className)
      }
    }
  }
}

/// Adds the layer and its class to an error from a custom layer.
func customLayerError(_ error: any Error, layer: String, className: String) -> ModelError {
  if let error = error as? ModelError {
    return error.inLayer(layer, class: "custom layer \(className)")
  }
  let type = "\(Swift.type(of: error))"
  let text = "\(error)".split(whereSeparator: \.isNewline).joined(separator: " ")
  let own = ModelError(
    .unsupported, "it threw " + (text.hasPrefix(type) ? text : "\(type): \(text)"))
  return own.inLayer(layer, class: "custom layer \(className)")
}

extension CustomLayerRegistry {
  /// The factory for the layer: of its class or, if that is not registered, of the formula that it
  /// contains.
  package func factory(of layer: Custom) -> Factory? {
    if let factory = self[layer.className] { return factory }
    guard case .string?? = layer.parameters["expression"] else { return nil }
    return self[FormulaLayer.className]
  }

  /// The layer with its parameters and weights.
  package func implementation(of layer: Custom) throws -> any CustomLayerImplementation {
    guard let factory = factory(of: layer) else {
      throw ModelError(.unsupported, "the class \(layer.className) is unknown")
    }
    return try layer.instantiate(factory)
  }

  /// The shapes of the layer's outputs, given those of its inputs.
  package func outputShapes(of layer: Custom, _ inputShapes: [[Int]]) throws -> [[Int]] {
    try implementation(of: layer).outputShapes(forInputShapes: inputShapes)
  }
}

extension Custom: EngineLayer {
  /// Creates the implementation and passes it its parameters and weights.
  package func instantiate(
    _ make: CustomLayerRegistry.Factory, layer: String = "", hooks: EngineHooks = EngineHooks()
  ) throws -> any CustomLayerImplementation {
    var values = parameters.compactMapValues { $0 }
    values["engineName"] = .string(className)
    func report(_ method: CustomLayerCall.Method) {
      hooks.onCustomLayerCall?(CustomLayerCall(layer: layer, className: className, method: method))
    }
    report(.initialize(parameters: values))
    let implementation = try make(values)
    let weights = try blobs.map { try $0.customLayerWeight() }
    report(.setWeightData(byteCounts: weights.map(\.bytes.count)))
    try implementation.setWeights(weights)
    return implementation
  }

  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    guard let instance = layer.customLayer else {
      throw ModelError(.internal, "the class '\(className)' has not been created")
    }
    let inputs = layer.inputShapes.map(\.dimensions)
    layer.hooks.onCustomLayerCall?(
      CustomLayerCall(
        layer: layer.layer.name, className: className, method: .outputShapes(inputShapes: inputs)))
    let shapes: [Shape]
    do {
      shapes = try layer.checked(instance.outputShapes(forInputShapes: inputs))
      try require(
        shapes.count == layer.layer.output.count,
        "it returned \(shapes.count) output shapes, but the layer has "
          + "\(counted(layer.layer.output.count, "output"))")
    } catch {
      throw customLayerError(error, layer: layer.layer.name, className: className)
    }
    // Observers of custom layer calls must see all of them.
    if layer.hooks.onCustomLayerCall == nil, layer.inputs.count == 1, shapes.count == 1,
      let operation = instance.equivalent?.operation(
        from: layer.inputShapes[0], to: shapes[0])
    {
      return [layer.add(operation, layer.inputs, shapes[0])]
    }
    let operation = CustomOperation(
      instance: instance, inputShapes: inputs, outputShapes: shapes.map(\.dimensions),
      layer: layer.layer.name, className: className, hooks: layer.hooks)
    return layer.add(operation, layer.inputs, shapes)
  }
}

extension CustomLayerEquivalent {
  /// The equivalent operation, if it produces `output`.
  fileprivate func operation(from input: Shape, to output: Shape) -> (any NodeOperation)? {
    switch self {
    case .function(let function, let alpha, let beta, let scale, let shift):
      guard output == input, alpha.count == 1 || alpha.count == input.channels else { return nil }
      var element = ScaledFunction(
        function, alpha: alpha.count == 1 ? .scalar(alpha[0]) : .perChannel(alpha),
        beta: .scalar(beta))
      element.scale = scale
      element.shift = shift
      return ElementwiseOperation(function: element)
    case .crop(let border):
      let cropped = input.resized(
        height: input.height - 2 * border, width: input.width - 2 * border)
      guard output.resized(height: output.height, width: output.width) == cropped else {
        return nil
      }
      return PlaneGatherOperation(
        kind: "crop", rows: Array(border..<border + output.height),
        columns: Array(border..<border + output.width))
    }
  }
}

extension Weights {
  /// The stored bytes in the form that a custom layer receives.
  package func customLayerWeight() throws -> CustomLayerWeight {
    if floatValue.count > 0 { return try CustomLayerWeight(floatValue.contiguous(), .float32) }
    if float16Value.count > 0 { return CustomLayerWeight(float16Value, .float16) }
    if let quantization {
      throw ModelError(
        .unsupported,
        "\(quantization.numberOfBits)-bit quantized weights; a custom layer needs floats",
        field: "weights", hint: "skip custom layers when compressing the model")
    }
    return CustomLayerWeight(rawValue.count > 0 ? rawValue : int8RawValue, .raw)
  }
}
