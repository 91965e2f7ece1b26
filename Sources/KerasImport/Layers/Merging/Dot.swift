import CoreMLModel
import ImportSupport
import TensorCore

/// Σ aᵢ·bᵢ over one axis of each of two tensors, or the cosine of the angle between them.
enum DotLayer: KerasLayer {
  static let classes = [SourceLayer](
    "Dot", becomes: "dot; for sequences a matrix product, \(SourceLayer.matrices)",
    options: "`axes`, `normalize`", refused: "`normalize` of tensors of more than three axes")

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let axes = try configuration.ints("axes") ?? [-1]
    let isNormalized = try configuration.bool("normalize", default: false)
    return conversion { call, network in
      [try network.dot(axes: axes, isNormalized: isNormalized, call)]
    }
  }
}

extension KerasWriter {
  mutating func dot(axes: [Int], isNormalized: Bool, _ call: LayerCall) throws -> KerasTensor {
    guard call.inputs.count == 2, let first = axes.first, let last = axes.last, axes.count <= 2
    else { throw call.error("it takes two inputs but gets \(call.inputs.count)") }
    var (a, b) = (call.inputs[0], call.inputs[1])
    if a.rank == 2, b.rank == 2 {
      var result = a
      a = relaid(a, to: .vector, for: call.name)
      b = relaid(b, to: .vector, for: call.name)
      result.shape = [result.shape[0], 1]
      result.layout = .vector
      result.blob = add(
        call.name, DotProduct().with(\.cosineSimilarity, isNormalized), [a.blob, b.blob])
      return result
    }
    if a.rank > 3 || b.rank > 3 {
      return try outerDot(a, b, [first, last], isNormalized: isNormalized, call)
    }
    var summed: [Int] = []
    for (tensor, axis) in [(a, first), (b, last)] { summed.append(try call.axis(axis, of: tensor)) }
    var matrices: [KerasTensor] = []
    for (position, var tensor) in [a, b].enumerated() {
      var axis = summed[position]
      if isNormalized {
        let name = "\(call.name)__unit_\(position)__"
        tensor = withChannelAxis(axis, of: [tensor], for: name) { network, tensors in
          return tensors[0].with(network.unitNormalized(tensors[0].blob, .c, name))
        }
      }
      if tensor.rank == 2 {
        // Treats a vector as a matrix with one row.
        tensor.shape.insert(1, at: 1)
        tensor.layout.axes.insert(
          BlobAxis.allCases.first { $0 != tensor.layout.axes[0] } ?? .sequence, at: 0)
        axis = 2
      }
      matrices.append(axis == (position == 0 ? 2 : 1) ? tensor : transposed(tensor))
    }
    var result = try matrixProduct(matrices[0], matrices[1], call.name, call)
    if a.rank == 2 {
      result.shape.remove(at: 1)
      result.layout.axes.removeFirst()
    } else if b.rank == 2 {
      result.shape.removeLast()
      result.layout.axes.removeLast()
    }
    return result
  }

  /// The product with all axes of `a` except the summed one, followed by those of `b`.
  private mutating func outerDot(
    _ a: KerasTensor, _ b: KerasTensor, _ axes: [Int], isNormalized: Bool, _ call: LayerCall
  ) throws -> KerasTensor {
    try call.require(
      !isNormalized,
      unsupported: "normalize is not supported for inputs \(a.shapeText), \(b.shapeText)")
    var sizes: [Int] = []
    var matrices: [KerasTensor] = []
    for (position, tensor) in [a, b].enumerated() {
      let axis = try call.axis(axes[position], of: tensor)
      let others = (1..<tensor.rank).filter { $0 != axis }
      let known = tensor.shape.dropFirst().compactMap { $0 }
      guard known.count == tensor.rank - 1, !tensor.isShapeAssumed else {
        throw call.unknownSize(of: tensor)
      }
      let made = others.map { known[$0 - 1] }
      let name = "\(call.name)__matrix_\(position)__"
      let matrix = try reshaped(
        settled(tensor.reordered(others + [axis]), for: name),
        to: [try checkedProduct(made, limit: Limits.dimension), known[axis - 1]], name: name, call)
      matrices.append(position == 0 ? matrix : transposed(matrix))
      sizes += made
    }
    let product = try matrixProduct(
      matrices[0], matrices[1], call.name + "__product__", call)
    return try reshaped(
      settled(product, for: call.name + "_product"), to: sizes, preferred: call.preferredImage,
      call)
  }
}
