import TensorCore

/// The arithmetic of `LayerParameters.multiplyAdds`.
package enum MultiplyAdds {
  /// The product of `uses` and `weights`, all sizes from files, limited to `Limits.multiplyAdds`.
  package static func product(_ uses: [Int]?, _ weights: some Sequence<Int>) -> Int {
    guard let uses else { return 0 }
    return (try? checkedProduct(uses + weights, limit: Limits.multiplyAdds)) ?? Limits.multiplyAdds
  }

  /// A cell that multiplies `gates` matrices with each item of `[Seq, Batch, inputs, …]`, and as
  /// many with the previous state.
  static func recurrent(_ shapes: [[Int]], gates: Int, _ inputs: Int, _ units: Int) -> Int {
    let items = product(shapes.first, []) / max(1, inputs)
    return product([items, gates], [units, inputs + units])
  }
}
