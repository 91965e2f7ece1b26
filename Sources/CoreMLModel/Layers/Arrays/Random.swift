import TensorCore

/// A distribution of random numbers.
package enum RandomDistribution: Sendable, Equatable {
  case normal(mean: Float, deviation: Float)
  /// Uniform between the bounds.
  case uniform(Float, Float)
  /// 1 with this probability, otherwise 0.
  case bernoulli(Float)
}

/// The parameters of a distribution.
package protocol RandomParameters: Sendable, Equatable {
  /// The distribution's part of the names of layer types.
  static var name: String { get }
  static var fields: [(name: String, path: WritableKeyPath<Self, Float>)] { get }
  var distribution: RandomDistribution { get }
  init()
}

package struct NormalParameters: RandomParameters {
  package static let name = "Normal"
  package static var fields: [(name: String, path: WritableKeyPath<Self, Float>)] {
    [("mean", \.mean), ("stdDev", \.stdDev)]
  }

  package var mean: Float = 0
  package var stdDev: Float = 0

  package init() {}

  package var distribution: RandomDistribution { .normal(mean: mean, deviation: stdDev) }
}

package struct UniformParameters: RandomParameters {
  package static let name = "Uniform"
  package static var fields: [(name: String, path: WritableKeyPath<Self, Float>)] {
    [("minVal", \.minVal), ("maxVal", \.maxVal)]
  }

  package var minVal: Float = 0
  package var maxVal: Float = 0

  package init() {}

  package var distribution: RandomDistribution { .uniform(minVal, maxVal) }
}

package struct BernoulliParameters: RandomParameters {
  package static let name = "Bernoulli"
  package static var fields: [(name: String, path: WritableKeyPath<Self, Float>)] {
    [("prob", \.prob)]
  }

  package var prob: Float = 0

  package init() {}

  package var distribution: RandomDistribution { .bernoulli(prob) }
}

/// A layer of random numbers. With a negative seed, the runtime chooses the numbers.
package protocol RandomLayer: ArrayLayer {
  associatedtype Parameters: RandomParameters
  var seed: Int { get set }
  var parameters: Parameters { get set }
}

extension RandomLayer {
  fileprivate static var randomFields: [Field<Self>] {
    let parameters: WritableKeyPath<Self, Parameters> = \.parameters
    return [.int("seed", \.seed)]
      + Parameters.fields.map { .float($0.name, parameters.appending(path: $0.path)) }
  }
}

/// Random numbers in the input's shape.
package struct RandomLike<Parameters: RandomParameters>: RandomLayer, ShapeKeepingLayer {
  package static var typeName: String { "random\(Parameters.name)Like" }
  package static var fields: Fields { randomFields }

  package var seed = 0
  package var parameters = Parameters()

  package init() {}
}

/// Random numbers in a fixed shape.
package struct RandomStatic<Parameters: RandomParameters>: RandomLayer {
  package static var typeName: String { "random\(Parameters.name)Static" }
  package static var inputCount: ClosedRange<Int> { 0...0 }
  package static var fields: Fields { randomFields + [.ints("outputShape", \.outputShape)] }

  package var seed = 0
  package var parameters = Parameters()
  package var outputShape: [Int] = []

  package init() {}

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    try requireInputs(inputs, atLeast: 0)
    return [try ArrayShape.checked(outputShape, "outputShape")]
  }

  package func check(_ faults: inout ValidationIssues) {
    faults.catching { _ = try ArrayShape.checked(outputShape, "outputShape") }
  }
}

/// Random numbers in the shape that the input holds.
package struct RandomDynamic<Parameters: RandomParameters>: RandomLayer, ShapedByInputLayer {
  package static var typeName: String { "random\(Parameters.name)Dynamic" }
  package static var fields: Fields { randomFields }

  package var seed = 0
  package var parameters = Parameters()

  package init() {}

  package func fixed(_ shape: [Int]) -> RandomStatic<Parameters> {
    var layer = RandomStatic<Parameters>()
    (layer.seed, layer.parameters, layer.outputShape) = (seed, parameters, shape)
    return layer
  }
}

package typealias RandomNormalLike = RandomLike<NormalParameters>
package typealias RandomNormalStatic = RandomStatic<NormalParameters>
package typealias RandomNormalDynamic = RandomDynamic<NormalParameters>
package typealias RandomUniformLike = RandomLike<UniformParameters>
package typealias RandomUniformStatic = RandomStatic<UniformParameters>
package typealias RandomUniformDynamic = RandomDynamic<UniformParameters>
package typealias RandomBernoulliLike = RandomLike<BernoulliParameters>
package typealias RandomBernoulliStatic = RandomStatic<BernoulliParameters>
package typealias RandomBernoulliDynamic = RandomDynamic<BernoulliParameters>

/// Random classes, drawn from a distribution x along the input's last axis: the probability of c is
/// proportional to (x[c] + eps) ^ (1 / temperature), or to exp(x[c] / temperature) for logits.
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

  package func check(_ faults: inout ValidationIssues) {
    faults.require(numSamples > 0, "numSamples", "\(numSamples)")
  }
}
