import TensorCore

/// The shapes of a network's blobs, as far as they are known without running it.
package struct InferredShapes: Sendable {
  /// Shapes by blob; blobs after an error or an unknown layer are missing.
  package var shapes: [String: [Int]] = [:]
  /// Reasons why layers have no shapes, with the layers' names.
  package var errors: [ModelError] = []
  /// The shapes in the networks inside the layer at an index, in order.
  package var inside: [Int: [InferredShapes]] = [:]

  package init(shapes: [String: [Int]] = [:]) { self.shapes = shapes }

  /// The same, with the shape `[1]` for scalars, as they appear outside a network.
  fileprivate var withAxes: InferredShapes {
    var result = self
    result.shapes = shapes.mapValues { $0.isEmpty ? [1] : $0 }
    result.inside = inside.mapValues { $0.map(\.withAxes) }
    return result
  }
}

extension NeuralNetwork {
  /// The shapes of all blobs for the given input shapes; inference continues after errors.
  ///
  /// - Parameter custom: returns the output shapes of a custom layer; without it they stay unknown.
  package func inferredShapes(
    inputs: [String: [Int]], custom: ((Custom, [[Int]]) throws -> [[Int]])? = nil
  ) -> InferredShapes {
    shapesOfAnyRank(inputs, 3, custom).withAxes
  }

  /// The same, keeping rank 0.
  ///
  /// - Parameter depth: how many levels of nested networks to look into; blobs written deeper have
  ///   unknown shapes.
  fileprivate func shapesOfAnyRank(
    _ inputs: [String: [Int]], _ depth: Int, _ custom: ((Custom, [[Int]]) throws -> [[Int]])?
  ) -> InferredShapes {
    var result = InferredShapes(shapes: inputs)
    var values: [String: [Float]] = [:]
    for (index, layer) in layers.enumerated() {
      if let control = layer.parameters as? any ControlLayer {
        let written = layer.blobsWrittenInside
        if depth > 0 {
          result.inside[index] = control.shapesInside(
            result.shapes, written: written, depth: depth - 1, custom)
        }
        let ends = result.inside[index]?.map(\.shapes) ?? []
        for name in written {
          result.shapes[name] = control.shapeBehind(name, before: result.shapes[name], ends)
        }
      }
      guard let parameters = layer.parameters, !(parameters is OpaqueLayer) else { continue }
      let known = layer.input.compactMap {
        result.shapes[$0].map(type(of: parameters).seenShape)
      }
      guard known.count == layer.input.count else { continue }
      do {
        var shapes: [[Int]]
        if let parameters = parameters as? Custom {
          guard let custom else { continue }
          shapes = try custom(parameters, known)
        } else if let dynamic = parameters as? any DynamicLayer,
          case let deciding = dynamic.decidingInputs(known.count), !deciding.isEmpty
        {
          // Too few inputs are reported with the layer's other problems.
          let names = deciding.filter(layer.input.indices.contains).map { layer.input[$0] }
          let given = names.compactMap { values[$0] }
          guard given.count == deciding.count || !type(of: dynamic).sizesDependOnValues
          else { continue }
          shapes =
            given.count == deciding.count
            ? try dynamic.blobShapes(known, given) : try parameters.blobShapes(known)
        } else {
          shapes = try parameters.blobShapes(known)
        }
        if shapes.count < layer.output.count {
          throw ModelError(
            .malformed,
            "the layer names \(counted(layer.output.count, "output")) but has \(shapes.count)",
            field: "output")
        }
        shapes = Array(shapes.prefix(layer.output.count))
        for (name, shape) in zip(layer.output, shapes) { result.shapes[name] = shape }
        if let name = layer.output.first { values[name] = parameters.knownValues(known) }
      } catch let error as ModelError {
        result.errors.append(error.inLayer(layer.name, class: parameters.specificationTypeName))
      } catch {
        result.errors.append(ModelError(.internal, "\(error)", layer: layer.name))
      }
    }
    return result
  }
}

extension ControlLayer {
  /// The shapes in each network. In a loop, blobs whose shapes change are unknown.
  fileprivate func shapesInside(
    _ shapes: [String: [Int]], written: Set<String>, depth: Int,
    _ custom: ((Custom, [[Int]]) throws -> [[Int]])?
  ) -> [InferredShapes] {
    guard self is Loop else { return networks.map { $0.shapesOfAnyRank(shapes, depth, custom) } }
    func run(_ start: [String: [Int]]) -> [InferredShapes] {
      var shapes = start
      return networks.map { network in
        let inferred = network.shapesOfAnyRank(shapes, depth, custom)
        shapes = inferred.shapes
        return inferred
      }
    }
    let first = run(shapes)
    let end = first.last?.shapes ?? [:]
    let changing = written.filter { shapes[$0] != nil && shapes[$0] != end[$0] }
    return changing.isEmpty ? first : run(shapes.filter { !written.contains($0.key) })
  }

  /// The shape of a blob after the layer; nil if it depends on which networks run.
  fileprivate func shapeBehind(
    _ name: String, before: [Int]?, _ ends: [[String: [Int]]]
  ) -> [Int]? {
    let isBranch = self is Branch
    // Without a second network, or if a loop never runs, the blob stays unchanged.
    var shapes = isBranch ? ends.map { $0[name] } : [ends.last?[name]]
    if let before, !isBranch || ends.count < 2 { shapes.append(before) }
    guard let first = shapes.first, shapes.allSatisfy({ $0 == first }) else { return nil }
    return first
  }
}

extension NeuralNetwork {
  /// The blobs that the layers, and networks nested in them, write.
  package var blobsWritten: Set<String> {
    layers.reduce(into: []) { $0.formUnion($1.blobsWrittenInside.union($1.output)) }
  }
}

extension NeuralNetworkLayer {
  /// The blobs that nested networks write.
  package var blobsWrittenInside: Set<String> {
    let networks = (parameters as? any ControlLayer)?.networks ?? []
    return networks.reduce(into: []) { $0.formUnion($1.blobsWritten) }
  }
}

extension LayerParameters {
  /// The values of a small constant, from which sizes may be computed.
  package func knownValues(_ inputs: [[Int]]) -> [Float]? {
    switch self {
    case let constant as LoadConstantND:
      guard let count = try? checkedProduct(constant.shape, limit: 1024) else { return nil }
      return try? constant.data?.values(shape: [count]).array()
    case is GetShape: return inputs.first?.map { Float($0) }
    default: return nil
    }
  }
}

extension FeatureType {
  /// The feature's shape in `network`: with exact mapping the declared one, otherwise `[Seq, Batch,
  /// C, H, W]`. Nil for features without a shape, such as scalars and flexible arrays without a
  /// default.
  package func networkShape(in network: NeuralNetwork) -> [Int]? {
    let shape: [Int]
    switch kind {
    case .image(let image):
      let item = [1, image.colorSpace.channelCount, image.height, image.width]
      shape = network.imageInputShapeMapping == .rank4 ? item : [1] + item
    case .multiArray(let array) where network.arrayInputShapeMapping == .exact:
      guard !array.shape.isEmpty, array.shape.count <= Limits.rank else { return nil }
      shape = array.shape
    case .multiArray(let array):
      switch array.shape.count {
      case 1: shape = [1, 1, array.shape[0], 1, 1]
      case 3: shape = [1, 1] + array.shape
      case 5: shape = array.shape
      default: return nil
      }
    default: return nil
    }
    return try? checkedShape(shape)
  }
}

extension LayerParameters {
  /// The type's name in the specification; for unread layers, the name in the file.
  package var specificationTypeName: String { (self as? OpaqueLayer)?.message?.name ?? typeName }
}
