import TensorCore

/// How random numbers are spread.
package enum RandomDistribution: Sendable, Equatable {
  case normal(mean: Float, deviation: Float)
  /// Equally between the two.
  case uniform(Float, Float)
  /// 1 with this probability, otherwise 0.
  case bernoulli(Float)
}

/// A layer of random numbers. A negative seed leaves the numbers to the program that runs it.
package protocol RandomLayer: ArrayLayer {
  var seed: Int { get set }
  var distribution: RandomDistribution { get }
  static var ownFields: [Field<Self>] { get }
}

package protocol RandomNormalLayer: RandomLayer {
  var mean: Float { get set }
  var stdDev: Float { get set }
}

extension RandomNormalLayer {
  package var distribution: RandomDistribution { .normal(mean: mean, deviation: stdDev) }
  package static var ownFields: [Field<Self>] {
    [.int("seed", \.seed), .float("mean", \.mean), .float("stdDev", \.stdDev)]
  }
}

package protocol RandomUniformLayer: RandomLayer {
  var minVal: Float { get set }
  var maxVal: Float { get set }
}

extension RandomUniformLayer {
  package var distribution: RandomDistribution { .uniform(minVal, maxVal) }
  package static var ownFields: [Field<Self>] {
    [.int("seed", \.seed), .float("minVal", \.minVal), .float("maxVal", \.maxVal)]
  }
}

package protocol RandomBernoulliLayer: RandomLayer {
  var prob: Float { get set }
}

extension RandomBernoulliLayer {
  package var distribution: RandomDistribution { .bernoulli(prob) }
  package static var ownFields: [Field<Self>] {
    [.int("seed", \.seed), .float("prob", \.prob)]
  }
}

/// In the input's shape.
package protocol RandomLikeLayer: RandomLayer, ShapeKeepingLayer {}

extension RandomLikeLayer {
  package static var fields: [Field<Self>] { ownFields }
}

/// In a shape of its own.
package protocol RandomStaticLayer: RandomLayer {
  var outputShape: [Int] { get set }
}

extension RandomStaticLayer {
  package static var inputCount: ClosedRange<Int> { 0...0 }
  package static var fields: [Field<Self>] { ownFields + [.ints("outputShape", \.outputShape)] }

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    try requireInputs(inputs, atLeast: 0)
    return [try ArrayShape.checked(outputShape, "outputShape")]
  }

  package func check(_ faults: inout Faults) {
    faults.catching { _ = try ArrayShape.checked(outputShape, "outputShape") }
  }
}

/// In the shape that the input holds.
package protocol RandomDynamicLayer: RandomLayer, ValueShapedLayer {
  associatedtype Fixed: RandomStaticLayer
  /// The same numbers without a shape.
  var fixed: Fixed { get }
}

extension RandomDynamicLayer {
  package static var fields: [Field<Self>] { ownFields }

  package func decidingInputs(_ count: Int) -> [Int] { [0] }

  package func resolved(
    _ inputs: [[Int]], _ values: [[Float]]
  ) throws -> any LayerParameters {
    var layer = fixed
    layer.seed = seed
    layer.outputShape = try values[0].wholes("input")
    return layer
  }
}

/// Normally distributed numbers in the input's shape.
package struct RandomNormalLike: RandomNormalLayer, RandomLikeLayer {
  package var seed = 0
  package var mean: Float = 0
  package var stdDev: Float = 0

  package init() {}
}

/// Normally distributed numbers.
package struct RandomNormalStatic: RandomNormalLayer, RandomStaticLayer {
  package var seed = 0
  package var mean: Float = 0
  package var stdDev: Float = 0
  package var outputShape: [Int] = []

  package init() {}
}

/// Normally distributed numbers in the shape that the input holds.
package struct RandomNormalDynamic: RandomNormalLayer, RandomDynamicLayer {
  package var seed = 0
  package var mean: Float = 0
  package var stdDev: Float = 0

  package init() {}

  package var fixed: RandomNormalStatic {
    var layer = RandomNormalStatic()
    (layer.mean, layer.stdDev) = (mean, stdDev)
    return layer
  }
}

/// Equally distributed numbers in the input's shape.
package struct RandomUniformLike: RandomUniformLayer, RandomLikeLayer {
  package var seed = 0
  package var minVal: Float = 0
  package var maxVal: Float = 0

  package init() {}
}

/// Equally distributed numbers.
package struct RandomUniformStatic: RandomUniformLayer, RandomStaticLayer {
  package var seed = 0
  package var minVal: Float = 0
  package var maxVal: Float = 0
  package var outputShape: [Int] = []

  package init() {}
}

/// Equally distributed numbers in the shape that the input holds.
package struct RandomUniformDynamic: RandomUniformLayer, RandomDynamicLayer {
  package var seed = 0
  package var minVal: Float = 0
  package var maxVal: Float = 0

  package init() {}

  package var fixed: RandomUniformStatic {
    var layer = RandomUniformStatic()
    (layer.minVal, layer.maxVal) = (minVal, maxVal)
    return layer
  }
}

/// Ones and zeros in the input's shape.
package struct RandomBernoulliLike: RandomBernoulliLayer, RandomLikeLayer {
  package var seed = 0
  package var prob: Float = 0

  package init() {}
}

/// Ones and zeros.
package struct RandomBernoulliStatic: RandomBernoulliLayer, RandomStaticLayer {
  package var seed = 0
  package var prob: Float = 0
  package var outputShape: [Int] = []

  package init() {}
}

/// Ones and zeros in the shape that the input holds.
package struct RandomBernoulliDynamic: RandomBernoulliLayer, RandomDynamicLayer {
  package var seed = 0
  package var prob: Float = 0

  package init() {}

  package var fixed: RandomBernoulliStatic {
    var layer = RandomBernoulliStatic()
    layer.prob = prob
    return layer
  }
}

/// Random classes, each as often as the input's last axis x says: class c with a probability in
/// proportion to (x[c] + eps) ^ (1 / temperature), of logits exp(x[c] / temperature).
package struct CategoricalDistribution: ArrayLayer {
  package var seed = 0
  package var numSamples = 0
  package var isLogits = false
  package var eps: Float = 0
  package var temperature: Float = 0

  package init() {}

  package static let fields: Fields = [
    .int("seed", \.seed),
    .int("numSamples", \.numSamples),
    .bool("isLogits", \.isLogits),
    .float("eps", \.eps),
    .float("temperature", \.temperature),
  ]

  package var effectiveEps: Float { eps == 0 ? 1e-10 : eps }
  package var effectiveTemperature: Float { temperature == 0 ? 1 : temperature }

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try arrayInput(inputs)
    try require(numSamples > 0, "\(numSamples)", field: "numSamples")
    return [try ArrayShape.checked(shape.dropLast() + [numSamples], "numSamples")]
  }

  package func check(_ faults: inout Faults) {
    faults.require(numSamples > 0, "numSamples", "\(numSamples)")
  }
}
