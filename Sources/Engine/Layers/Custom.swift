import CoreMLModel
import CustomLayers
import TensorCore

/// A layer that a class outside of the engine computes, on row-major arrays.
struct CustomOperation: Operation {
  /// Calls one implementation, which need not be safe for several threads; a network runs one
  /// prediction at a time.
  final class Implementation: @unchecked Sendable {
    let layer: any CustomLayerImplementation
    init(_ layer: any CustomLayerImplementation) { self.layer = layer }
  }

  var implementation: Implementation
  var inputShapes: [[Int]]
  var outputShapes: [[Int]]
  var layer: String
  var className: String
  var hooks: EngineHooks

  var kind: String { className }

  func layoutWishes(_ shapes: NodeShapes) -> LayoutWishes { shapes.allDense() }

  func makeStep(_ context: StepContext) throws -> StepBody {
    let inputs = context.inputs
    let outputs = context.outputs
    return { run in
      hooks.onCustomLayerCall?(
        CustomLayerCall(
          layer: layer, className: className,
          method: .evaluate(inputCount: inputs.count, outputCount: outputs.count)))
      do {
        try implementation.layer.evaluate(
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

/// An error of a custom layer, with the layer and its class.
func customLayerError(_ error: any Error, layer: String, className: String) -> ModelError {
  let own = error as? ModelError ?? ModelError(.unsupported, "\(error)")
  return own.inLayer(layer, class: "custom layer \(className)")
}

extension Custom: EngineLayer {
  /// Makes the implementation and hands it its parameters and weights.
  public func instantiate(
    _ make: CustomLayerRegistry.Factory, layer: String = "", hooks: EngineHooks = EngineHooks()
  ) throws -> any CustomLayerImplementation {
    var values: [String: CustomLayerParameter] = [:]
    for (name, value) in parameters {
      switch value {
      case .double(let value): values[name] = .double(value)
      case .string(let value): values[name] = .string(value)
      case .int(let value): values[name] = .int(value)
      case .long(let value): values[name] = .long(value)
      case .bool(let value): values[name] = .bool(value)
      case nil: break
      }
    }
    values["engineName"] = .string(className)
    func report(_ method: CustomLayerCall.Method) {
      hooks.onCustomLayerCall?(
        CustomLayerCall(layer: layer, className: className, method: method))
    }
    report(.initialize(parameters: values))
    let implementation = try make(values)
    let weights = try blobs.map { try $0.storedBytes() }
    report(.setWeightData(byteCounts: weights.map(\.count)))
    try implementation.setWeightData(weights)
    return implementation
  }

  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    guard let implementation = layer.customLayer else {
      throw ModelError(.internal, "the class '\(className)' has not been made")
    }
    let inputs = layer.inputShapes.map(\.dimensions)
    layer.hooks.onCustomLayerCall?(
      CustomLayerCall(
        layer: layer.layer.name, className: className, method: .outputShapes(inputShapes: inputs)))
    let shapes: [Shape]
    do {
      shapes = try layer.checked(implementation.outputShapes(forInputShapes: inputs))
      guard shapes.count == layer.layer.output.count else {
        throw ModelError(
          .malformed,
          "it gives \(shapes.count) output shapes where the layer has "
            + "\(layer.layer.output.count) outputs")
      }
    } catch {
      throw customLayerError(error, layer: layer.layer.name, className: className)
    }
    // Whoever follows the calls wants to see all of them.
    if layer.hooks.onCustomLayerCall == nil, layer.inputs.count == 1, shapes.count == 1,
      let operation = implementation.equivalent?.operation(
        from: layer.inputShapes[0], to: shapes[0])
    {
      return [layer.add(operation, layer.inputs, shapes[0])]
    }
    let operation = CustomOperation(
      implementation: CustomOperation.Implementation(implementation), inputShapes: inputs,
      outputShapes: shapes.map(\.dimensions), layer: layer.layer.name, className: className,
      hooks: layer.hooks)
    return layer.add(operation, layer.inputs, shapes)
  }
}

extension CustomLayerEquivalent {
  /// The operation, where it gives `output`.
  fileprivate func operation(from input: Shape, to output: Shape) -> (any Operation)? {
    switch self {
    case .function(let function, let alpha, let beta, let scale, let shift):
      guard output == input, alpha.count == 1 || alpha.count == input.channels else { return nil }
      var element = ElementFunction(
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
  /// What a custom layer gets: the stored bytes of floats or half floats.
  public func storedBytes() throws -> Bytes {
    if floatValue.count > 0 { return floatValue.contiguousBytes ?? Bytes(floatValue.array()) }
    if float16Value.count > 0 { return float16Value }
    guard rawValue.count == 0, int8RawValue.count == 0 else {
      throw ModelError(.unsupported, "quantised weights of a custom layer", field: "weights")
    }
    return Bytes()
  }
}
