/// Merges two element functions into one that has a kernel: min(max(x, a), b) from a threshold
/// between two negations, which is how converters write a bounded rectifier, and max(α·x + β, 0)
/// from the normalization and rectifier before a convolution.
enum ElementwiseChaining: Pass {
  static let name = "elementwise-chaining"

  static func run(_ graph: inout Graph, _ context: PassContext) throws -> Bool {
    var changed = false
    while try fuse(
      &graph,
      { producer, node, _ in
        guard let first = (producer.operation as? ElementwiseOperation)?.function,
          let second = (node.operation as? ElementwiseOperation)?.function
        else { return nil }
        return chained(first, second).map { ElementwiseOperation(function: $0) }
      })
    { changed = true }
    return changed
  }

  /// second ∘ first, if that is a single function.
  private static func chained(
    _ first: ScaledFunction, _ second: ScaledFunction
  ) -> ScaledFunction? {
    switch (first.bounds, second.bounds) {
    case (let inner?, let outer?):
      let lower = max(outer.lower, min(outer.upper, inner.lower))
      let upper = max(outer.lower, min(outer.upper, inner.upper))
      if lower == 0, upper == .infinity { return ScaledFunction(.relu) }
      return ScaledFunction(.clip, alpha: lower, beta: upper)
    default: break
    }
    if first.function == .linear, second == ScaledFunction(.relu) {
      var function = first
      function.function = .linearRelu
      return function
    }
    // −max(−x, a) = min(x, −a): the preceding negation becomes part of the threshold.
    if first.isNegation, second.function == .threshold, second.scale == 1, second.shift == 0 {
      var function = second
      function.scale = -1
      return function
    }
    if first.function == .threshold, first.scale == -1, first.shift == 0, second.isNegation,
      case .scalar(let bound) = first.alpha
    {
      return ScaledFunction(.clip, alpha: -.infinity, beta: -bound)
    }
    return nil
  }
}

extension ScaledFunction {
  fileprivate var isNegation: Bool {
    function == .linear && alpha.isAlways(-1) && beta.isAlways(0) && scale == 1 && shift == 0
  }

  /// The bounds to which the function clamps its argument, if it only clamps.
  fileprivate var bounds: (lower: Float, upper: Float)? {
    guard scale == 1, shift == 0 else { return nil }
    switch (function, alpha, beta) {
    case (.relu, _, _): return (0, .infinity)
    case (.threshold, .scalar(let lower), _): return (lower, .infinity)
    case (.clip, .scalar(let lower), .scalar(let upper)): return (lower, upper)
    default: return nil
    }
  }
}
