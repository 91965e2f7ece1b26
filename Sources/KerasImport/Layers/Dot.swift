import CoreMLModel

/// Σ aᵢ·bᵢ of two vectors, or the cosine of the angle between them.
struct DotLayer: KerasLayer {
  static let classNames = ["Dot"]

  private let axes: [Int]
  private let isNormalized: Bool

  init(_ configuration: LayerConfiguration) throws {
    axes = try configuration.ints("axes") ?? [-1]
    isNormalized = try configuration.bool("normalize", default: false)
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    guard axes.allSatisfy({ $0 == 1 || $0 == -1 }) else {
      throw call.unsupported("the axes \(axes): only vectors are supported")
    }
    return try network.dot(isNormalized: isNormalized, call)
  }
}

extension NetworkWriter {
  mutating func dot(isNormalized: Bool, _ call: LayerCall) throws -> [KerasTensor] {
    guard call.inputs.count == 2 else {
      throw call.error("it takes two inputs, not \(call.inputs.count)")
    }
    guard call.inputs.allSatisfy({ $0.rank == 2 }) else {
      throw call.unsupported(
        "inputs \(call.inputs.map(\.shapeText).joined(separator: ", ")): only vectors are supported"
      )
    }
    var dot = DotProduct()
    dot.cosineSimilarity = isNormalized
    var result = call.inputs[0]
    result.shape = [result.shape[0], 1]
    result.blob = add(call.name, dot, call.inputs.map(\.blob))
    return [result]
  }
}
