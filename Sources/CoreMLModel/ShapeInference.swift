import TensorCore

/// What is known of the blobs of a network without running it.
public struct InferredShapes: Sendable {
  /// `[Seq, Batch, C, H, W]` by blob; blobs behind an error or an unknown layer are absent.
  public var shapes: [String: [Int]] = [:]
  /// Why layers have no shapes, with the layers' names.
  public var errors: [ModelError] = []
}

extension NeuralNetwork {
  /// The shapes of all blobs for those of the inputs, past every error.
  ///
  /// - Parameter custom: the output shapes of a custom layer; without it they stay unknown.
  public func inferredShapes(
    inputs: [String: [Int]], custom: ((Custom, [[Int]]) throws -> [[Int]])? = nil
  ) -> InferredShapes {
    var result = InferredShapes(shapes: inputs)
    for layer in layers {
      let known = layer.input.compactMap { result.shapes[$0] }
      guard known.count == layer.input.count, let parameters = layer.parameters,
        !(parameters is OpaqueLayer)
      else { continue }
      do {
        var shapes: [[Int]]
        if let parameters = parameters as? Custom {
          guard let custom else { continue }
          shapes = try custom(parameters, known)
        } else {
          shapes = try parameters.outputShapes(known)
        }
        if shapes.count < layer.output.count {
          throw ModelError(
            .malformed, "\(layer.output.count) outputs, where there are \(shapes.count)",
            field: "output")
        }
        shapes = Array(shapes.prefix(layer.output.count))
        for (name, shape) in zip(layer.output, shapes) { result.shapes[name] = shape }
      } catch let error as ModelError {
        result.errors.append(error.inLayer(layer.name, class: parameters.specificationTypeName))
      } catch {
        result.errors.append(ModelError(.internal, "\(error)", layer: layer.name))
      }
    }
    return result
  }
}

extension FeatureType {
  /// The shape `[Seq, Batch, C, H, W]` in which the network sees a feature; nil where it has none,
  /// as scalars, flexible arrays without a default and the exact mapping's shapes do not.
  public func networkShape(
    _ mapping: NeuralNetwork.ArrayInputShapeMapping = .rank5
  ) -> [Int]? {
    let shape: [Int]
    switch kind {
    case .image(let image):
      shape = [1, 1, image.colorSpace.channelCount, image.height, image.width]
    case .multiArray(let array) where mapping == .rank5:
      switch array.shape.count {
      case 1: shape = [1, 1, array.shape[0], 1, 1]
      case 3: shape = [1, 1] + array.shape
      case 5: shape = array.shape
      default: return nil
      }
    default: return nil
    }
    return try? BlobShape(shape).checked
  }
}

extension LayerParameters {
  /// The type's name in the specification; of layers that are not read the one in the file.
  public var specificationTypeName: String {
    (self as? OpaqueLayer)?.message?.name ?? typeName
  }
}
