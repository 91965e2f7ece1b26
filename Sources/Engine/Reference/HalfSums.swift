import CoreMLModel
import TensorCore

/// A layer whose sums devices may keep in half precision: of products in convolutions, inner
/// products, matrix products and gates, and of elements in averages.
protocol HalfSumLayer: ReferenceLayer {}

/// A sum in double precision, or one that is rounded to half precision after each addition, like
/// fused multiply-adds of halves.
struct ReferenceSum {
  private(set) var value: Double
  private let isHalf: Bool

  init(_ settings: ReferenceSettings) { self.init(0, settings) }

  init(_ value: Double, _ settings: ReferenceSettings) {
    self.value = value
    isHalf = settings.hasHalfSums
  }

  mutating func add(_ term: Double) {
    value += term
    if isHalf { value = Half.rounded(value) }
  }

  mutating func add(_ terms: some Sequence<Double>) { for term in terms { add(term) } }
}

/// Computes a layer by its reference formula, with sums in half precision.
private struct HalfSumOperation: NodeOperation {
  let layer: any HalfSumLayer
  let settings: ReferenceSettings
  let inputShapes: [[Int]]

  var kind: String { "sums in half precision" }

  func makeStep(_ context: StepContext) throws -> StepBody {
    let (inputs, outputs) = (context.inputs, context.outputs)
    return { run in
      let values = zip(inputs, inputShapes).map { operand, shape in
        let elements = UnsafeBufferPointer(
          start: run.pointer(operand), count: operand.layout.shape.count)
        return ReferenceTensor(shape: shape, elements.map(Double.init))
      }
      let results = try layer.exactReferenceOutputs(values, settings)
      for (operand, result) in zip(outputs, results) {
        let target = run.pointer(operand)
        for index in result.elements.indices { target[index] = Float(result.elements[index]) }
      }
    }
  }
}

extension LayerLowering {
  /// Adds the layer as its reference formula, with sums in half precision.
  mutating func addHalfSums(_ parameters: any HalfSumLayer) throws -> [Graph.ValueID] {
    let shapes = inputShapes.map(\.dimensions)
    var settings = ReferenceSettings()
    settings.hasHalfSums = true
    let operation = HalfSumOperation(layer: parameters, settings: settings, inputShapes: shapes)
    let results = try parameters.blobShapes(shapes).prefix(layer.output.count)
    return add(operation, inputs, try checked(Array(results)))
  }
}
