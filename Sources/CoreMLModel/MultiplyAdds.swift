import TensorCore

/// The arithmetic of `LayerParameters.multiplyAdds`.
package enum MultiplyAdds {
  /// The product of the sizes in `uses` and `weights`, capped at `Limits.multiplyAdds`.
  package static func product(_ uses: [Int]?, _ weights: some Sequence<Int>) -> Int {
    guard let uses else { return 0 }
    return (try? checkedProduct(uses + weights, limit: Limits.multiplyAdds)) ?? Limits.multiplyAdds
  }

  /// The multiply-adds of a cell that applies `gates` matrices to each item of `[Seq, Batch,
  /// inputs, …]`, and as many to the previous state.
  static func recurrent(_ shapes: [[Int]], gates: Int, _ inputs: Int, _ units: Int) -> Int {
    let items = product(shapes.first, []) / max(1, inputs)
    return product([items, gates], [units, inputs + units])
  }
}
