import KernelInterface

extension Table {
  @inline(never)
  package static func unary(_ a: UnaryArguments) {
    switch a.function {
    case .linear: map(a, linear)
    case .linearRelu: map(a, linearRelu)
    case .relu: map(a, relu)
    case .leaky: map(a, leaky)
    case .thresholdedRelu: map(a, thresholdedRelu)
    case .threshold: map(a, threshold)
    case .clampedRelu: map(a, clampedRelu)
    case .clip: map(a, clip)
    case .hardSigmoid: map(a, hardSigmoid)
    case .abs: map(a, magnitude)
    case .sign: map(a, sign)
    case .floor: map(a, floor)
    case .ceil: map(a, ceiling)
    case .round: map(a, nearest)
    case .square: map(a, square)
    case .sqrt: map(a, squareRoot)
    case .rsqrt: map(a, inverseSquareRoot)
    case .inverse: map(a, inverse)
    case .power: raise(a)
    case .exp: map(a, exponential)
    case .exp2: map(a, powerOfTwo)
    case .expm1: map(a, exponentialMinusOne)
    case .log: map(a, naturalLogarithm)
    case .log1p: map(a, logarithmOnePlus)
    case .sin: map(a, sine)
    case .cos: map(a, cosine)
    case .tan: map(a, tangent)
    case .asin: map(a, arcSine)
    case .acos: map(a, arcCosine)
    case .atan: map(a, arcTangent)
    case .sinh: map(a, hyperbolicSine)
    case .cosh: map(a, hyperbolicCosine)
    case .tanh: map(a, hyperbolicTangent)
    case .asinh: map(a, areaSine)
    case .acosh: map(a, areaCosine)
    case .atanh: map(a, areaTangent)
    case .erf: map(a, errorFunction)
    case .scaledTanh: map(a, scaledTanh)
    case .sigmoid: map(a, sigmoid)
    case .softplus: map(a, softplus)
    case .parametricSoftplus: map(a, parametricSoftplus)
    case .softsign: map(a, softsign)
    case .elu: map(a, elu)
    case .scaledElu: map(a, scaledElu)
    case .swish: mapSwish(a)
    case .hardSwish: map(a, hardSwish)
    case .mish: map(a, mish)
    case .gelu: map(a, gelu)
    case .tanhGelu: map(a, tanhGelu)
    }
  }
}

/// Applies a function to every vector. The tail is padded to a full vector, so that the bits do not
/// depend on the position.
///
/// `function` is always inlined itself: in a long switch, a closure would be called for every vector.
@inline(__always)
func map(_ a: UnaryArguments, _ function: (Vector) -> Vector) {
  map(a) { x, _, _ in function(x) }
}

/// The same for a function with `α` and `β`.
@inline(__always)
func map(_ a: UnaryArguments, _ function: (Vector, Vector, Vector) -> Vector) {
  var alpha = InlineArray<2, Vector>(repeating: splat(a.parameters.alpha))
  var beta = InlineArray<2, Vector>(repeating: splat(a.parameters.beta))
  for half in 0..<vectorsPerBlock {
    if let values = a.parameters.channelAlpha { alpha[half] = load(values + half &* lanes) }
    if let values = a.parameters.channelBeta { beta[half] = load(values + half &* lanes) }
  }
  let scale = splat(a.parameters.scale)
  let shift = splat(a.parameters.shift)
  let isScaled = a.parameters.scale != 1 || a.parameters.shift != 0
  var i = 0
  while i &+ channelBlock <= a.count {
    for half in 0..<vectorsPerBlock {
      let at = i &+ half &* lanes
      var x = load(a.input + at)
      if isScaled { x = multiplyAdd(x, scale, shift) }
      var y = function(x, alpha[half], beta[half])
      if a.accumulates { y += load(a.output + at) }
      store(y, a.output + at)
    }
    i &+= channelBlock
  }
  var half = 0
  while i < a.count {
    let count = min(lanes, a.count &- i)
    var x = load(a.input + i, count: count)
    if isScaled { x = multiplyAdd(x, scale, shift) }
    var y = function(x, alpha[half], beta[half])
    if a.accumulates { y += load(a.output + i, count: count) }
    store(y, a.output + i, count: count)
    half = vectorsPerBlock &- 1
    i &+= count
  }
}

@inline(__always)
private func softplus(_ x: Vector) -> Vector {
  let e = decayingExponential(float(bits(x) | splat(Int32.min)))
  // 1 + e = 2 · (1 + (e - 1) / 2)
  let isHalved = e .> splat(0.414_213_5)
  let f = select(isHalved, multiplyAdd(e, splat(0.5), splat(-0.5)), e)
  return select(x .> .zero, x, .zero) + logarithm(f, select(isHalved, splat(1), .zero))
}

@inline(__always)
private func relu(_ x: Vector) -> Vector { select(x .< .zero, .zero, x) }

@inline(__always)
private func hardSigmoid(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector {
  minimum(maximum(multiplyAdd(x, alpha, beta), .zero), splat(1))
}

@inline(__always)
private func linear(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector {
  multiplyAdd(x, alpha, beta)
}

@inline(__always)
private func linearRelu(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector {
  relu(multiplyAdd(x, alpha, beta))
}

@inline(__always)
private func leaky(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector {
  select(x .< .zero, x * alpha, x)
}

@inline(__always)
private func thresholdedRelu(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector {
  select(x .< alpha, .zero, x)
}

@inline(__always)
private func threshold(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector { maximum(x, alpha) }

@inline(__always)
private func clampedRelu(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector {
  minimum(leaky(x, alpha, beta), beta)
}

@inline(__always)
private func clip(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector {
  minimum(maximum(x, alpha), beta)
}

@inline(__always)
private func square(_ x: Vector) -> Vector { x * x }

@inline(__always)
private func inverseSquareRoot(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector {
  splat(1) / squareRoot(x + alpha)
}

@inline(__always)
private func inverse(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector {
  splat(1) / (x + alpha)
}

@inline(__always)
private func scaledTanh(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector {
  alpha * hyperbolicTangent(beta * x)
}

@inline(__always)
private func parametricSoftplus(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector {
  alpha * softplus(beta * x)
}

@inline(__always)
private func softsign(_ x: Vector) -> Vector { x / (splat(1) + magnitude(x)) }

@inline(__always)
private func elu(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector {
  select(x .< .zero, alpha * exponentialMinusOne(minimum(x, .zero)), x)
}

@inline(__always)
private func scaledElu(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector {
  beta * elu(x, alpha, beta)
}

@inline(__always)
private func hardSwish(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector {
  hardSigmoid(x, alpha, beta) * x
}

@inline(__always)
private func naturalLogarithm(_ x: Vector) -> Vector { logarithm(x) }
