import Formulas
import ImportSupport

/// A layer replaced by a formula, because of a rule or because a Lambda's code was read.
struct FormulaConversion {
  let formula: LayerFormula

  /// The formula as the plan shows it.
  var text: String { formula.expression.description }

  func convert(_ call: LayerCall, into network: inout KerasWriter) throws -> [KerasTensor] {
    // An elementwise formula does not depend on how leading axes are grouped.
    let leading = call.inputs.lazy.compactMap(\.leading).first
    if let leading,
      !formula.expression.isElementwise || !formula.weights.isEmpty
        || call.inputs.contains(where: {
          $0.leading != leading || $0.shape != call.inputs[0].shape
        })
    {
      try call.requireNoLeadingAxes()
    }
    // Core ML's constants do not vary along the sequence axis.
    let varies = formula.weights.contains { $0.values.elements.count > $0.values.shape.last ?? 1 }
    var inputs: [KerasTensor] = []
    for input in call.inputs {
      try call.require(input.sizes == nil, unsupported: "formulas on shapes are not supported")
      let isSequence = varies && leading == nil && input.layout.axes.contains(.sequence)
      inputs.append(
        isSequence && (3...4).contains(input.rank)
          ? network.relaid(input, to: input.rank == 3 ? .steps : .image, for: call.name)
          : network.standard(input, for: call.name))
    }
    let added: (blob: String, placement: Placement)
    do {
      added = try network.add(formula, name: call.name, inputs.map { ($0.blob, $0.placement) })
    } catch {
      // Tensors that lie in different ways.
      let widest = inputs.max { ($0.rank, $0.itemCount ?? 0) < ($1.rank, $1.itemCount ?? 0) }
      guard leading == nil, let widest,
        inputs.contains(where: { $0.rank == widest.rank && $0.layout != widest.layout })
      else { throw error }
      inputs = inputs.map {
        $0.rank == widest.rank ? network.relaid($0, to: widest.layout, for: call.name) : $0
      }
      added = try network.add(formula, name: call.name, inputs.map { ($0.blob, $0.placement) })
    }
    let (blob, placement) = added
    guard var result = KerasTensor(blob: blob, placement: placement) else {
      throw call.unsupported(
        "the result of the formula \(formula.expression) has the shape \(Expression.text(placement.shape)), which has no "
          + "batch or too many axes")
    }
    result.leading = leading
    result.isShapeAssumed = inputs.contains(where: \.isShapeAssumed)
    return [network.settled(result, for: call.name)]
  }
}

extension KerasTensor {
  var placement: Placement { Placement(shape, [Placement.batch] + layout.axes.map(\.blobIndex)) }

  /// Nil without a batch axis, or if Core ML's blobs have too few axes.
  init?(blob: String, placement: Placement) {
    guard placement.places.first == Placement.batch else { return nil }
    // Axes of size 1 go to any free index, starting from the last one.
    let order: [BlobAxis] = [.channel, .width, .height, .sequence]
    guard let places = placement.filled(order.map(\.blobIndex))?.dropFirst() else { return nil }
    let axes = places.compactMap { place in BlobAxis.allCases.first { $0.blobIndex == place } }
    guard axes.count == places.count else { return nil }
    self.init(blob: blob, shape: placement.shape, layout: TensorLayout(axes: axes))
  }
}
