/// The input as it is: kraken's `identity`, and its `dropout`, which acts in training only.
final class Identity: BuiltInCustomLayer, CustomLayerWithEquivalent {
  static let className = "identity"
  static let otherNames = ["Identity", "dropout", "Dropout"]
  static let notes = CustomLayerNotes("y = x", parameters: ["`dim`, `p`: have no effect"])

  init(parameters: [String: CustomLayerParameter]) throws {}

  func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]] {
    [try onlyInput(inputShapes)]
  }

  package var equivalent: CustomLayerEquivalent? { .function(.linear, alpha: [1]) }

  func evaluate(inputs: [CustomLayerInput], outputs: [CustomLayerOutput]) throws {
    mapElements(inputs, outputs) { source, target, count in
      target.update(from: source, count: count)
    }
  }
}
