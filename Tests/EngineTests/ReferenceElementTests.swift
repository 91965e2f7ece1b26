import CoreMLModel
import TensorCore
import Testing

@testable import Engine

@Suite struct ReferenceElementTests {
  @Test func activations() throws {
    let golden = Goldens("activation")
    let alpha = try golden.weights("alpha")
    let functions: [(String, Activation.Function)] = [
      ("linear", .linear(alpha: 0.5, beta: -2)), ("relu", .relu),
      ("leakyReLU", .leakyReLU(alpha: 0.25)), ("thresholdedReLU", .thresholdedReLU(alpha: 0.75)),
      ("tanh", .tanh), ("scaledTanh", .scaledTanh(alpha: 1.5, beta: 0.75)), ("sigmoid", .sigmoid),
      ("sigmoidHard", .sigmoidHard(alpha: 0.25, beta: 0.5)), ("elu", .elu(alpha: 1.5)),
      ("softsign", .softsign), ("softplus", .softplus), ("prelu", .prelu(alpha: alpha)),
      ("prelu_shared", .prelu(alpha: Weights([try golden.values("alpha")[0]]))),
      (
        "parametricSoftplus",
        .parametricSoftplus(alpha: alpha, beta: try golden.weights("beta"))
      ),
    ]
    for (name, function) in functions {
      try golden.check(Activation(function), ["input"], [name])
    }
  }

  @Test(arguments: Unary.Operation.allCases)
  func unary(operation: Unary.Operation) throws {
    var layer = Unary()
    layer.type = operation
    layer.alpha = 1.5
    // The logarithm in the goldens has no epsilon.
    layer.epsilon = operation == .log ? 0 : 0.5
    layer.scale = operation == .abs ? -2 : 2
    layer.shift = 0.25
    try Goldens("unary").check(layer, ["input"], ["\(operation)"])
  }

  /// log(2 · 1 + 0.25 + 0.75) = log 3
  @Test func logarithmWithEpsilon() throws {
    var layer = Unary()
    (layer.type, layer.scale, layer.shift, layer.epsilon) = (.log, 2, 0.25, 0.75)
    let input = ReferenceTensor(shape: [1, 1, 1, 1, 1], [1])
    let output = try layer.referenceOutputs([input], ReferenceSettings())[0].elements
    #expect(abs((output.first ?? 0) - 1.0986122886681098) < 1e-15)
  }

  @Test func unaryDefaults() throws {
    var layer = Unary()
    layer.type = .inverse
    try Goldens("unary").check(layer, ["input"], ["inverse_defaults"])
  }

  @Test func elementwise() throws {
    let golden = Goldens("elementwise")
    let layers: [any ReferenceLayer] = [Add(), Multiply(), Average(), Max(), Min()]
    for layer in layers {
      try golden.check(layer, ["a", "b", "c"], [layer.typeName])
    }
  }

  @Test func scalars() throws {
    let input = ReferenceTensor(shape: [1, 1, 2, 1, 1], [1, -2])
    var add = Add()
    add.alpha = 0.5
    #expect(
      try add.referenceOutputs([input], ReferenceSettings())[0].elements == [1.5, -1.5])
    var multiply = Multiply()
    multiply.alpha = -3
    #expect(
      try multiply.referenceOutputs([input], ReferenceSettings())[0].elements == [-3, 6])
  }

  @Test func dot() throws {
    var layer = DotProduct()
    try Goldens("dot").check(layer, ["a", "b"], ["dot"])
    layer.cosineSimilarity = true
    try Goldens("dot").check(layer, ["a", "b"], ["cosine"])
  }

  @Test func scaleAndBias() throws {
    let golden = Goldens("scale")
    var scale = Scale()
    scale.shapeScale = [3]
    scale.scale = try golden.weights("scale")
    scale.hasBias = true
    scale.shapeBias = [1, 2, 4]
    scale.bias = try golden.weights("bias")
    try golden.check(scale)
    scale.hasBias = false
    scale.shapeScale = [3, 2, 4]
    scale.scale = try golden.weights("full")
    try golden.check(scale, ["input"], ["scaled"])
    let values = try golden.values("scale")
    scale.shapeScale = [1]
    scale.scale = Weights([values[0]])
    scale.hasBias = true
    scale.shapeBias = [1]
    scale.bias = Weights([values[1]])
    try golden.check(scale, ["input"], ["single"])
    var bias = Bias()
    bias.shape = [3, 2, 4]
    bias.bias = try golden.weights("full")
    try golden.check(bias, ["input"], ["biased"])
  }

  @Test func loadConstant() throws {
    var layer = LoadConstant()
    layer.shape = [2, 1, 2]
    layer.data = Weights([1, 2, 3, 4])
    let output = try layer.referenceOutputs([], ReferenceSettings())[0]
    #expect(output == ReferenceTensor(shape: [1, 1, 2, 1, 2], [1, 2, 3, 4]))
  }
}
