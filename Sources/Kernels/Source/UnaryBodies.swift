/// A function of one vector, as a type: a closure would be called for every vector instead of being
/// inlined.
protocol UnaryBody { static func value(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector }

/// A function without `α` and `β`.
protocol PlainBody: UnaryBody { static func value(_ x: Vector) -> Vector }

extension PlainBody {
  @inline(__always)
  static func value(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector { value(x) }
}

enum Linear: UnaryBody {
  @inline(__always)
  static func value(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector {
    multiplyAdd(x, alpha, beta)
  }
}

enum Relu: PlainBody {
  @inline(__always)
  static func value(_ x: Vector) -> Vector { select(x .< .zero, .zero, x) }
}

enum LinearRelu: UnaryBody {
  @inline(__always)
  static func value(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector {
    Relu.value(multiplyAdd(x, alpha, beta))
  }
}

enum Leaky: UnaryBody {
  @inline(__always)
  static func value(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector {
    select(x .< .zero, x * alpha, x)
  }
}

enum ThresholdedRelu: UnaryBody {
  @inline(__always)
  static func value(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector {
    select(x .< alpha, .zero, x)
  }
}

enum Threshold: UnaryBody {
  @inline(__always)
  static func value(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector {
    maximum(x, alpha)
  }
}

enum ClampedRelu: UnaryBody {
  @inline(__always)
  static func value(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector {
    minimum(Leaky.value(x, alpha, beta), beta)
  }
}

enum Clip: UnaryBody {
  @inline(__always)
  static func value(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector {
    minimum(maximum(x, alpha), beta)
  }
}

enum HardSigmoid: UnaryBody {
  @inline(__always)
  static func value(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector {
    minimum(maximum(multiplyAdd(x, alpha, beta), .zero), splat(1))
  }
}

enum Magnitude: PlainBody {
  @inline(__always)
  static func value(_ x: Vector) -> Vector { magnitude(x) }
}

enum Square: PlainBody {
  @inline(__always)
  static func value(_ x: Vector) -> Vector { x * x }
}

enum SquareRoot: PlainBody {
  @inline(__always)
  static func value(_ x: Vector) -> Vector { squareRoot(x) }
}

enum InverseSquareRoot: UnaryBody {
  @inline(__always)
  static func value(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector {
    splat(1) / squareRoot(x + alpha)
  }
}

enum Inverse: UnaryBody {
  @inline(__always)
  static func value(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector {
    splat(1) / (x + alpha)
  }
}

enum Exponential: PlainBody {
  @inline(__always)
  static func value(_ x: Vector) -> Vector { exponential(x) }
}

enum Logarithm: PlainBody {
  @inline(__always)
  static func value(_ x: Vector) -> Vector { logarithm(x) }
}

enum Tanh: PlainBody {
  @inline(__always)
  static func value(_ x: Vector) -> Vector { hyperbolicTangent(x) }
}

enum ScaledTanh: UnaryBody {
  @inline(__always)
  static func value(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector {
    alpha * hyperbolicTangent(beta * x)
  }
}

enum Sigmoid: PlainBody {
  @inline(__always)
  static func value(_ x: Vector) -> Vector { sigmoid(x) }
}

enum Softsign: PlainBody {
  @inline(__always)
  static func value(_ x: Vector) -> Vector { x / (splat(1) + magnitude(x)) }
}

enum Elu: UnaryBody {
  @inline(__always)
  static func value(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector {
    exponentialUnit(x, alpha)
  }
}

enum ScaledElu: UnaryBody {
  @inline(__always)
  static func value(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector {
    beta * exponentialUnit(x, alpha)
  }
}

enum Swish: UnaryBody {
  @inline(__always)
  static func value(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector {
    swish(x, alpha)
  }
}

enum ExponentialMinusOne: PlainBody {
  @inline(__always)
  static func value(_ x: Vector) -> Vector { exponentialMinusOne(x) }
}

enum PowerOfTwo: PlainBody {
  @inline(__always)
  static func value(_ x: Vector) -> Vector { powerOfTwo(x) }
}

enum HardSwish: UnaryBody {
  @inline(__always)
  static func value(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector {
    HardSigmoid.value(x, alpha, beta) * x
  }
}

@inline(__always)
private func exponentialUnit(_ x: Vector, _ alpha: Vector) -> Vector {
  select(x .< .zero, alpha * exponentialMinusOne(minimum(x, .zero)), x)
}
