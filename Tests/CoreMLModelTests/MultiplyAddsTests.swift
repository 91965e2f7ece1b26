import Testing

@testable import CoreMLModel

/// Counts calculated by hand from the layers' definitions.
@Suite struct MultiplyAddsTests {
  private func count(_ layer: some LayerParameters, _ inputs: [Int]...) throws -> Int {
    layer.multiplyAdds(inputs, try layer.blobShapes(inputs))
  }

  private func convolution(_ change: (inout Convolution) -> Void = { _ in }) -> Convolution {
    var layer = Convolution()
    layer.outputChannels = 8
    layer.kernelChannels = 6
    layer.kernelSize = [3, 5]
    layer.stride = [2, 2]
    layer.padding = .same(SamePadding())
    change(&layer)
    return layer
  }

  /// 2 images with 8 channels of 5 × 4 pixels, each a sum of 6 · 3 · 5 products.
  @Test func convolutions() throws {
    #expect(try count(convolution(), [1, 2, 6, 10, 8]) == 2 * 8 * 20 * 90)
  }

  /// The same number of pixels, with 8 channels that each see 3 of 6 channels: half as many
  /// products.
  @Test func convolutionsInGroups() throws {
    let layer = convolution {
      $0.nGroups = 2
      $0.kernelChannels = 3
    }
    #expect(try count(layer, [1, 2, 6, 10, 8]) == 2 * 8 * 20 * 45)
  }

  /// Each of 6 · 10 · 8 elements contributes to 8 channels with 15 weights; with two groups, to 4
  /// of them.
  @Test(arguments: [(1, 8), (2, 4)])
  func deconvolutions(groups: Int, outputs: Int) throws {
    let layer = convolution {
      $0.isDeconvolution = true
      $0.nGroups = groups
    }
    #expect(try count(layer, [1, 1, 6, 10, 8]) == 480 * outputs * 15)
  }

  /// 3 × 2 × 2 voxels with 4 channels, each a sum of 2 · 2 · 3 · 3 products over half of 4
  /// channels.
  @Test func convolutionsOfVolumes() throws {
    var layer = Convolution3D()
    (layer.inputChannels, layer.outputChannels, layer.nGroups) = (4, 4, 2)
    layer.window.kernel = [2, 3, 3]
    layer.window.paddingType = .valid
    #expect(try count(layer, [1, 4, 4, 4, 4]) == 12 * 4 * 36)
    // Each of 4 · 8 elements contributes to 2 channels with 18 weights.
    layer.isDeconvolution = true
    #expect(try count(layer, [1, 4, 2, 2, 2]) == 32 * 2 * 18)
  }

  /// 7 vectors of 30 elements, times 30 × 5.
  @Test func innerProducts() throws {
    var layer = InnerProduct()
    (layer.inputChannels, layer.outputChannels) = (30, 5)
    #expect(try count(layer, [7, 1, 30, 1, 1]) == 7 * 30 * 5)
  }

  /// 2 · 3 products of 4 × 5 and 5 × 6 matrices; 8 rows times a 5 × 6 matrix.
  @Test func matrixProducts() throws {
    var layer = BatchedMatMul()
    #expect(try count(layer, [2, 1, 4, 5], [3, 5, 6]) == 6 * 4 * 5 * 6)
    (layer.weightMatrixFirstDimension, layer.weightMatrixSecondDimension) = (5, 6)
    #expect(try count(layer, [2, 4, 5]) == 8 * 5 * 6)
  }

  /// 9 steps of 2 items: each gate multiplies 16 × 10 weights with the input and 16 × 16 weights
  /// with the state.
  @Test func recurrentLayers() throws {
    let gate = 9 * 2 * (16 * 10 + 16 * 16)
    let input = [9, 2, 10, 1, 1]
    var simple = SimpleRecurrent()
    (simple.inputVectorSize, simple.outputVectorSize) = (10, 16)
    #expect(try count(simple, input, [1, 2, 16, 1, 1]) == gate)
    var gru = GRU()
    (gru.inputVectorSize, gru.outputVectorSize) = (10, 16)
    #expect(try count(gru, input) == 3 * gate)
    var lstm = UniDirectionalLSTM()
    (lstm.inputVectorSize, lstm.outputVectorSize) = (10, 16)
    #expect(try count(lstm, input) == 4 * gate)
    lstm.params = LSTMParameters()
    lstm.params?.coupledInputAndForgetGate = true
    #expect(try count(lstm, input) == 3 * gate)
    var both = BiDirectionalLSTM()
    (both.inputVectorSize, both.outputVectorSize) = (10, 16)
    #expect(try count(both, input) == 2 * 4 * gate)
  }

  /// 3 × 3 sums of 7 products each.
  @Test func dotProducts() throws {
    let shape = [1, 1, 7, 3, 3]
    #expect(try count(DotProduct(), shape, shape) == 7 * 9)
  }

  @Test func whatIsDoneToEachElementIsNotCounted() throws {
    #expect(try count(Softmax(), [1, 1, 7, 3, 3]) == 0)
    #expect(try count(Multiply(), [1, 1, 7, 3, 3], [1, 1, 7, 3, 3]) == 0)
  }

  @Test func impossibleSizesDoNotOverflow() {
    var layer = Convolution()
    (layer.outputChannels, layer.kernelChannels) = (1, .max)
    layer.kernelSize = [.max, .max]
    #expect(layer.multiplyAdds([], [[1, 1, 1, .max, .max]]) == 1 << 45)
    #expect(layer.multiplyAdds([], []) == 0)
  }
}
