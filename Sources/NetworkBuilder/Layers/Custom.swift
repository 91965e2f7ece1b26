import CoreMLModel
import CustomLayers
import Engine
import TensorCore

/// A layer computed by your own class, which implements Core ML's protocol for custom layers.
///
/// The class gets its inputs and returns its outputs as `[1, 1, channels, height, width]`. It
/// is looked up by name among the classes passed to
/// ``Network/compile(weights:customLayers:threads:)`` and the built-in ones.
public final class Custom: Layer, @unchecked Sendable {
  /// - Parameters:
  ///   - className: the class that computes the layer, here and in an app.
  ///   - parameters: parameters for the class's initializer.
  ///   - weights: weights for the class, in order.
  ///   - outputShape: computes the shape of the result from those of the inputs; if nil, the class
  ///     is asked.
  public init(
    _ className: String, parameters: [String: CustomLayerParameter] = [:],
    weights: [[Float]] = [], outputShape: (@Sendable ([TensorShape]) throws -> TensorShape)? = nil,
    name: String? = nil
  ) {
    super.init(
      name,
      CustomDefinition(
        className: className, parameters: parameters, weights: weights, outputShape: outputShape))
  }
}

struct CustomDefinition: LayerDefinition {
  static let typeName = "Custom"

  var className: String
  var parameters: [String: CustomLayerParameter]
  var weights: [[Float]]
  var outputShape: (@Sendable ([TensorShape]) throws -> TensorShape)?

  func write(_ inputs: [WrittenTensor], _ scope: LayerScope) throws -> WrittenTensor {
    var custom = CoreMLModel.Custom(className, parameters)
    custom.blobs = weights.map { Weights($0) }
    let shape = try outputShape?(inputs.map(\.shape)) ?? shape(custom, inputs, scope)
    return scope.append(custom, inputs, shape: shape)
  }

  /// The output shape, computed by the class.
  private func shape(
    _ custom: CoreMLModel.Custom, _ inputs: [WrittenTensor], _ scope: LayerScope
  ) throws -> TensorShape {
    let shapes = try inputs.map { try $0.knownShape() }
    guard let type = scope.customLayers[className] else {
      var error = scope.customLayers.notFound([className: [scope.name]])
      error.hint =
        "pass it to compile(customLayers:), or set the layer's outputShape to write a model without it"
      throw error
    }
    let outputs = try custom.instantiate(type).outputShapes(forInputShapes: shapes)
    guard let first = outputs.first, outputs.count == 1 else {
      throw ModelError(.unsupported, "returns \(outputs.count) results; one is needed")
    }
    return try TensorShape(blob: first)
  }
}
