import KernelInterface

extension Table {
  @inline(never)
  package static func unary(_ a: UnaryArguments) {
    switch a.function {
    case .linear: map(a, Linear.self)
    case .linearRelu: map(a, LinearRelu.self)
    case .relu: map(a, Relu.self)
    case .leaky: map(a, Leaky.self)
    case .thresholdedRelu: map(a, ThresholdedRelu.self)
    case .threshold: map(a, Threshold.self)
    case .clampedRelu: map(a, ClampedRelu.self)
    case .clip: map(a, Clip.self)
    case .hardSigmoid: map(a, HardSigmoid.self)
    case .abs: map(a, Magnitude.self)
    case .sign: map(a, Sign.self)
    case .floor: map(a, Floor.self)
    case .ceil: map(a, Ceiling.self)
    case .round: map(a, Nearest.self)
    case .square: map(a, Square.self)
    case .sqrt: map(a, SquareRoot.self)
    case .rsqrt: map(a, InverseSquareRoot.self)
    case .inverse: map(a, Inverse.self)
    case .power: raise(a)
    case .exp: map(a, Exponential.self)
    case .exp2: map(a, PowerOfTwo.self)
    case .expm1: map(a, ExponentialMinusOne.self)
    case .log: map(a, Logarithm.self)
    case .log1p: map(a, LogarithmOnePlus.self)
    case .sin: map(a, Sine.self)
    case .cos: map(a, Cosine.self)
    case .tan: map(a, Tangent.self)
    case .asin: map(a, ArcSine.self)
    case .acos: map(a, ArcCosine.self)
    case .atan: map(a, ArcTangent.self)
    case .sinh: map(a, HyperbolicSine.self)
    case .cosh: map(a, HyperbolicCosine.self)
    case .tanh: map(a, Tanh.self)
    case .asinh: map(a, AreaSine.self)
    case .acosh: map(a, AreaCosine.self)
    case .atanh: map(a, AreaTangent.self)
    case .erf: map(a, ErrorFunction.self)
    case .scaledTanh: map(a, ScaledTanh.self)
    case .sigmoid: map(a, Sigmoid.self)
    case .softplus: map(a, Softplus.self)
    case .parametricSoftplus: map(a, ParametricSoftplus.self)
    case .softsign: map(a, Softsign.self)
    case .elu: map(a, Elu.self)
    case .scaledElu: map(a, ScaledElu.self)
    case .swish: mapSwish(a)
    case .hardSwish: map(a, HardSwish.self)
    case .mish: map(a, Mish.self)
    case .gelu: map(a, Gelu.self)
    case .tanhGelu: map(a, TanhGelu.self)
    }
  }
}

/// Applies the function to every vector. The tail is padded to a full vector, so that the bits do
/// not depend on the position.
@inline(__always)
func map<Body: UnaryBody>(_ a: UnaryArguments, _: Body.Type) {
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
      var y = Body.value(x, alpha[half], beta[half])
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
    var y = Body.value(x, alpha[half], beta[half])
    if a.accumulates { y += load(a.output + i, count: count) }
    store(y, a.output + i, count: count)
    half = vectorsPerBlock &- 1
    i &+= count
  }
}

private enum Softplus: PlainBody {
  @inline(__always)
  static func value(_ x: Vector) -> Vector {
    let e = decayingExponential(float(bits(x) | splat(Int32.min)))
    // 1 + e = 2 · (1 + (e - 1) / 2)
    let isHalved = e .> splat(0.414_213_5)
    let f = select(isHalved, multiplyAdd(e, splat(0.5), splat(-0.5)), e)
    return select(x .> .zero, x, .zero) + logarithm(f, select(isHalved, splat(1), .zero))
  }
}

private enum ParametricSoftplus: UnaryBody {
  @inline(__always)
  static func value(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector {
    alpha * Softplus.value(beta * x)
  }
}
