/// A function of one vector, as a type: a closure would stay a function of its own that is called
/// for every vector.
protocol UnaryBody {
  static func value(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector
}

enum Linear: UnaryBody {
  @inline(__always)
  static func value(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector {
    multiplyAdd(x, alpha, beta)
  }
}

enum Relu: UnaryBody {
  @inline(__always)
  static func value(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector {
    select(x .< .zero, .zero, x)
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

enum Magnitude: UnaryBody {
  @inline(__always)
  static func value(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector {
    magnitude(x)
  }
}

enum Square: UnaryBody {
  @inline(__always)
  static func value(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector {
    x * x
  }
}

enum SquareRoot: UnaryBody {
  @inline(__always)
  static func value(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector {
    squareRoot(x)
  }
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

enum Exponential: UnaryBody {
  @inline(__always)
  static func value(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector {
    exponential(x)
  }
}

enum Logarithm: UnaryBody {
  @inline(__always)
  static func value(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector {
    logarithm(x)
  }
}

enum Tanh: UnaryBody {
  @inline(__always)
  static func value(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector {
    hyperbolicTangent(x)
  }
}

enum ScaledTanh: UnaryBody {
  @inline(__always)
  static func value(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector {
    alpha * hyperbolicTangent(beta * x)
  }
}

enum Sigmoid: UnaryBody {
  @inline(__always)
  static func value(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector {
    sigmoid(x)
  }
}

enum Softplus: UnaryBody {
  @inline(__always)
  static func value(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector {
    softplus(x)
  }
}

enum ParametricSoftplus: UnaryBody {
  @inline(__always)
  static func value(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector {
    alpha * softplus(beta * x)
  }
}

enum Softsign: UnaryBody {
  @inline(__always)
  static func value(_ x: Vector, _ alpha: Vector, _ beta: Vector) -> Vector {
    x / (splat(1) + magnitude(x))
  }
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

@inline(__always)
private func exponentialUnit(_ x: Vector, _ alpha: Vector) -> Vector {
  select(x .< .zero, alpha * exponentialMinusOne(minimum(x, .zero)), x)
}
