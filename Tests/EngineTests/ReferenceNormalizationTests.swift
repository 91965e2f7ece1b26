import CoreMLModel
import TensorCore
import Testing

@testable import Engine

@Suite struct ReferenceNormalizationTests {
  @Test func batchnorm() throws {
    let golden = Goldens("batchnorm")
    var layer = Batchnorm()
    layer.channels = 3
    layer.gamma = try golden.weights("gamma")
    layer.beta = try golden.weights("beta")
    layer.computeMeanVar = true
    try golden.check(layer, ["input"], ["batch"])
    layer.instanceNormalization = true
    try golden.check(layer, ["input"], ["instance"])
    layer.computeMeanVar = false
    layer.instanceNormalization = false
    layer.mean = try golden.weights("mean")
    layer.variance = try golden.weights("variance")
    layer.epsilon = 0.001
    try golden.check(layer, ["input"], ["stored"])
  }

  @Test func meanVariance() throws {
    var layer = MeanVarianceNormalize()
    try Goldens("mvn").check(layer, ["input"], ["mean"])
    layer.normalizeVariance = true
    layer.epsilon = 0.25
    try Goldens("mvn").check(layer, ["input"], ["channel"])
    layer.acrossChannels = true
    layer.epsilon = 0
    try Goldens("mvn").check(layer, ["input"], ["across"])
  }

  @Test func others() throws {
    var l2 = L2Normalize()
    l2.epsilon = 0.5
    try Goldens("l2normalize").check(l2)
    try Goldens("softmax").check(Softmax())
    var lrn = LRN()
    lrn.alpha = 0.5
    lrn.beta = 0.75
    lrn.k = 2
    for size in [5, 4] {
      lrn.localSize = size
      try Goldens("lrn_\(size)").check(lrn)
    }
  }

  @Test func dense() throws {
    let golden = Goldens("innerProduct")
    var layer = InnerProduct()
    layer.inputChannels = 12
    layer.outputChannels = 5
    layer.matrix = try golden.weights("weights")
    layer.hasBias = true
    layer.bias = try golden.weights("bias")
    try golden.check(layer)
  }

  @Test func embedding() throws {
    let golden = Goldens("embedding")
    var layer = Embedding()
    layer.inputDim = 7
    layer.outputChannels = 4
    layer.matrix = try golden.weights("weights")
    layer.hasBias = true
    layer.bias = try golden.weights("bias")
    try golden.check(layer)
    for index in [7, -1, .nan, .infinity] as [Double] {
      let input = ReferenceTensor(shape: [1, 1, 1, 1, 1], [index])
      #expect(throws: ModelError.self) {
        try layer.referenceOutputs([input], ReferenceSettings())
      }
    }
  }
}
