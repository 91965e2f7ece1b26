import KernelInterface

/// See `UnaryArguments`.
@inline(never)
func unary(_ a: UnaryArguments) {
  switch a.function {
  case .linear: map(a) { x, alpha, beta in multiplyAdd(x, alpha, beta) }
  case .relu: map(a) { x, _, _ in select(x .< .zero, .zero, x) }
  case .leaky: map(a) { x, alpha, _ in select(x .< .zero, x * alpha, x) }
  case .thresholdedRelu: map(a) { x, alpha, _ in select(x .< alpha, .zero, x) }
  case .threshold: map(a) { x, alpha, _ in maximum(x, alpha) }
  case .clip: map(a) { x, alpha, beta in minimum(maximum(x, alpha), beta) }
  case .hardSigmoid:
    map(a) { x, alpha, beta in minimum(maximum(multiplyAdd(x, alpha, beta), .zero), splat(1)) }
  case .abs: map(a) { x, _, _ in magnitude(x) }
  case .square: map(a) { x, _, _ in x * x }
  case .sqrt: map(a) { x, _, _ in squareRoot(x) }
  case .rsqrt: map(a) { x, alpha, _ in splat(1) / squareRoot(x + alpha) }
  case .inverse: map(a) { x, alpha, _ in splat(1) / (x + alpha) }
  case .power: raise(a)
  case .exp: map(a) { x, _, _ in exponential(x) }
  case .log: map(a) { x, _, _ in logarithm(x) }
  case .tanh: map(a) { x, _, _ in hyperbolicTangent(x) }
  case .scaledTanh: map(a) { x, alpha, beta in alpha * hyperbolicTangent(beta * x) }
  case .sigmoid: map(a) { x, _, _ in sigmoid(x) }
  case .softplus: map(a) { x, _, _ in softplus(x) }
  case .parametricSoftplus: map(a) { x, alpha, beta in alpha * softplus(beta * x) }
  case .softsign: map(a) { x, _, _ in x / (splat(1) + magnitude(x)) }
  case .elu: map(a) { x, alpha, _ in exponentialUnit(x, alpha) }
  case .scaledElu: map(a) { x, alpha, beta in beta * exponentialUnit(x, alpha) }
  case .swish: map(a) { x, alpha, _ in swish(x, alpha) }
  }
}

@inline(__always)
private func exponentialUnit(_ x: Vector, _ alpha: Vector) -> Vector {
  select(x .< .zero, alpha * exponentialMinusOne(minimum(x, .zero)), x)
}

/// Applies `body` to every vector; a tail goes through a vector of its own, so that the bits do not
/// depend on the position.
@inline(__always)
func map(
  _ a: UnaryArguments, _ body: (_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector
) {
  var alpha = InlineArray<2, Vector>(repeating: splat(a.alpha))
  var beta = InlineArray<2, Vector>(repeating: splat(a.beta))
  for half in 0..<vectorsPerBlock {
    if let values = a.channelAlpha { alpha[half] = load(values + half &* lanes) }
    if let values = a.channelBeta { beta[half] = load(values + half &* lanes) }
  }
  let scale = splat(a.scale)
  let shift = splat(a.shift)
  let isScaled = a.scale != 1 || a.shift != 0
  var i = 0
  while i &+ channelBlock <= a.count {
    for half in 0..<vectorsPerBlock {
      let at = i &+ half &* lanes
      var x = load(a.input + at)
      if isScaled { x = multiplyAdd(x, scale, shift) }
      store(body(x, alpha[half], beta[half]), a.output + at)
    }
    i &+= channelBlock
  }
  var half = 0
  while i < a.count {
    let count = min(lanes, a.count &- i)
    var x = load(a.input + i, count: count)
    if isScaled { x = multiplyAdd(x, scale, shift) }
    store(body(x, alpha[half], beta[half]), a.output + i, count: count)
    half = vectorsPerBlock &- 1
    i &+= count
  }
}
