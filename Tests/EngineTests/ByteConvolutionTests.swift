import CoreMLModel
import Kernels
import TensorCore
import TestSupport
import Testing

@testable import Engine

/// Convolutions of integers: exactly those of the rounded input in double precision, and no further
/// from those of the input itself than rounding explains.
@Suite struct ByteConvolutionTests {
  private typealias Net = TestNetwork

  private struct Trial {
    var inputs = 40
    var outputs = 35
    var kernel = [3, 3]
    var stride = [1, 1]
    var dilation = [1, 1]
    var bits = 8
    var storage = CompressedWeightTests.Storage.linear
    var hasResidual = false
    /// What is added to inputs between −1 and 1.
    var shift: Float = 0
  }

  private func model(_ trial: Trial) -> Model {
    let convolution = Net.convolution(trial.inputs, trial.outputs, kernel: trial.kernel) {
      $0.stride = trial.stride
      $0.dilationFactor = trial.dilation
      $0.kernel = trial.storage.weights(
        [trial.outputs, trial.inputs, trial.kernel[0], trial.kernel[1]], bits: trial.bits, seed: 4)
    }
    var layers = [Net.layer("convolution", convolution, "in", trial.hasResidual ? "sum" : "out")]
    if trial.hasResidual {
      layers.append(
        NeuralNetworkLayer("add", Add(), input: ["sum", "in"], output: ["added"]))
      layers.append(Net.layer("relu", Activation(.relu), "added", "out"))
    }
    return Net.model([trial.inputs, 13, 11], layers)
  }

  private func fast(
    _ model: Model, _ input: Tensor, _ set: InstructionSet, threads: Int = 1
  ) throws -> Tensor {
    var options = CompileOptions()
    (options.instructionSet, options.threads) = (set, threads)
    options.usesIntegers = true
    options.inputShapes["in"] = input.shape
    let network = try CompiledNetwork(model: model, options: options)
    #expect(network.steps.contains { $0.usesIntegers && $0.kernel.hasPrefix("integers ") })
    return try #require(try network.predict(["in": input])["out"])
  }

  /// The images rounded to 256 values from the smallest to the largest and 0, and their distances.
  private func rounded(_ input: Tensor) -> (tensor: Tensor, steps: [Double]) {
    let count = input.shape[2...].reduce(1, *)
    var (elements, steps) = ([Float](), [Double]())
    for image in stride(from: 0, to: input.elements.count, by: count) {
      let values = input.elements[image..<image + count]
      let (low, high) = (min(0, values.min() ?? 0), max(0, values.max() ?? 0))
      let step = high / 255 - low / 255
      let zero = -128 - (low * (1 / step)).rounded(.toNearestOrEven)
      for value in values {
        let code = (Double(value * (1 / step)) + Double(zero)).rounded(.toNearestOrEven)
        elements.append((Float(min(max(code, -128), 127)) - zero) * step)
      }
      steps.append(Double(step))
    }
    return (Tensor(shape: input.shape, elements), steps)
  }

  @Test func roundedInputsGiveExactSums() throws {
    let trials = [
      Trial(), Trial(kernel: [1, 1]), Trial(kernel: [1, 1], stride: [2, 2]),
      Trial(inputs: 9, outputs: 1, kernel: [2, 3]), Trial(kernel: [5, 5], stride: [2, 1]),
      Trial(outputs: 64, dilation: [2, 1]), Trial(bits: 3, shift: 1),
      Trial(inputs: 16, kernel: [7, 1], storage: .linearOfAll, shift: -1),
      Trial(outputs: 40, hasResidual: true), Trial(outputs: 40, kernel: [1, 1], hasResidual: true),
    ]
    for trial in trials {
      let model = model(trial)
      // The second image has a range of its own.
      var input = Net.tensor([1, 2, trial.inputs, 13, 11])
      let half = input.elements.count / 2
      input = Tensor(
        shape: input.shape,
        input.elements.enumerated().map {
          ($1 + trial.shift) * ($0 < half ? 1 : 100)
        })
      let (coded, steps) = rounded(input)
      let convolution = try #require(
        model.neuralNetwork?.layers[0].parameters as? Convolution)
      let shape = [trial.outputs, trial.inputs, trial.kernel[0], trial.kernel[1]]
      let values = try convolution.kernel.values(shape, "weights", channelAxis: 0)
      let perOutput = values.count / trial.outputs
      func reference(_ input: Tensor) throws -> [Double] {
        try #require(
          try ReferenceNetwork(model: model).predict(["in": ReferenceTensor(input)])["out"]
        ).elements
      }
      // The residual is not rounded.
      let exact = try reference(trial.hasResidual ? input : coded)
      let plain = try reference(input)
      let largest = exact.reduce(0) { max($0, abs($1)) }
      for set in InstructionSet.allCases where set.isAvailable && set.multipliesBytes {
        let found = try fast(model, input, set)
        for threads in [2, 7] {
          #expect(try fast(model, input, set, threads: threads) == found, "\(set) \(trial)")
        }
        let perImage = found.elements.count / 2
        let area = perImage / trial.outputs
        for (index, value) in found.elements.enumerated() {
          let output = index % perImage / area
          let weights = values[output * perOutput..<(output + 1) * perOutput]
          let sum = weights.reduce(0.0) { $0 + Double(abs($1)) }
          // A value is at most half a step from its code, a sum at most half a step times Σ |w|.
          let bound = steps[index / perImage] / 2 * sum * 1.001 + 1e-5 * largest
          #expect(abs(Double(value) - plain[index]) <= bound, "\(set) \(trial)")
          if trial.hasResidual { continue }
          #expect(abs(Double(value) - exact[index]) <= 2e-6 * largest, "\(set) \(trial)")
        }
      }
    }
  }

  /// An image with a value that is not finite becomes NaN, the others do not.
  @Test func numbersThatAreNotFinite() throws {
    let trial = Trial()
    let plain = Net.tensor([1, 2, trial.inputs, 13, 11])
    for set in InstructionSet.allCases where set.isAvailable && set.multipliesBytes {
      let expected = try fast(model(trial), plain, set).elements
      for value in [Float.nan, .infinity, -.infinity] {
        var elements = plain.elements.map { $0 }
        elements[elements.count - 77] = value
        let found = try fast(model(trial), Tensor(shape: plain.shape, elements), set).elements
        let half = found.count / 2
        #expect(found[..<half].elementsEqual(expected[..<half]))
        #expect(found[half...].allSatisfy { $0.isNaN }, "\(set) \(value)")
      }
      let zeros = Tensor(shape: plain.shape, [Float](repeating: 0, count: plain.elements.count))
      let convolution = model(trial).neuralNetwork?.layers[0].parameters as? Convolution
      let bias = try convolution?.bias?.floatValue.array() ?? []
      #expect(bias.count == trial.outputs)
      let found = try fast(model(trial), zeros, set).elements
      let area = 13 * 11
      for (index, value) in bias.enumerated() { #expect(found[index * area] == value) }
    }
  }

  @Test func weightsWithoutLinearCodesAreAnError() throws {
    for storage in [CompressedWeightTests.Storage.table, .half] {
      let failure = #expect(throws: ModelError.self) {
        _ = try self.fast(
          self.model(Trial(storage: storage)), Net.tensor([1, 1, 40, 13, 11]), .widest)
      }
      #expect(failure?.code == .unsupported && failure?.hint?.contains("compress") == true)
    }
  }
}
