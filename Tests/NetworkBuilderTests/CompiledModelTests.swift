import Foundation
import NetworkBuilder
import TensorCore
import TestSupport
import Testing

struct CompiledModelTests {
  /// x + 1, for any shape.
  private final class Increment: CustomLayer {
    static let className = "Increment"
    let step: Float

    init(parameters: [String: CustomLayerParameter]) throws {
      step = parameters["step"]?.floatValue ?? 0
    }

    func setWeightData(_ weights: [Bytes]) throws {}
    func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]] { [inputShapes[0]] }

    func evaluate(inputs: [CustomLayerInput], outputs: [CustomLayerOutput]) throws {
      for index in inputs[0].elements.indices {
        outputs[0].elements[index] = inputs[0].elements[index] + step
      }
    }
  }

  @Test func customLayers() throws {
    let input = Input(width: 1, height: 2, channels: 2)
    let output =
      input --> Custom("Increment", parameters: ["step": .double(2)], name: "two")
      --> ActivationLayer(.custom(className: "Increment", parameters: ["step": .double(1)]))
    let network = Network(input: input, output: output)
    let model = try network.compile(weights: .random(), customLayers: [Increment.self])
    #expect(try model.predict([1, 2, 3, 4]).output.floats == [4, 5, 6, 7])
    let error = modelError { _ = try network.compile(weights: .random()) }
    #expect(error?.description.contains("'Increment' (of layer 'two')") == true)
    // A document can be written for a class that exists only in the app.
    let elsewhere = Network(
      input: input, output: input --> Custom("Elsewhere", outputShape: { $0[0] }) --> Softmax())
    #expect(try elsewhere.model(weights: .random()).validate().isEmpty)
  }

  /// a − b, repeated as many times as the parameter `results` says.
  private final class Difference: CustomLayer {
    static let className = "Difference"
    let results: Int

    init(parameters: [String: CustomLayerParameter]) throws {
      results = Int(parameters["results"]?.floatValue ?? 1)
    }

    func setWeightData(_ weights: [Bytes]) throws {}

    func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]] {
      [[Int]](repeating: inputShapes[0], count: results)
    }

    func evaluate(inputs: [CustomLayerInput], outputs: [CustomLayerOutput]) throws {
      for index in inputs[0].elements.indices {
        outputs[0].elements[index] = inputs[0].elements[index] - inputs[1].elements[index]
      }
    }
  }

  @Test func aCustomLayerOfTwoInputs() throws {
    let a = Input(width: 1, height: 1, channels: 3, name: "a")
    let b = Input(width: 1, height: 1, channels: 3, name: "b")
    let model = try Network(inputs: [a, b], outputs: [[a, b] --> Custom("Difference")])
      .compile(weights: .random(), customLayers: [Difference.self])
    let values: [String: InputValue] = ["a": .floats([1, 2, 3]), "b": .floats([3, 1, 0])]
    #expect(try model.predict(values).output.floats == [-2, 1, 3])
    #expect(
      modelError { _ = try model.predict([1, 2, 3]) }?.description
        == "one value, but the network has 2 inputs")
    let two = Network(
      inputs: [a, b],
      outputs: [[a, b] --> Custom("Difference", parameters: ["results": .int(2)], name: "two")])
    #expect(
      modelError { _ = try two.model(weights: .random(), customLayers: [Difference.self]) }?
        .description == "layer 'two' (Custom): returns 2 results; one is needed")
  }

  /// The values of inputs can be kept like those of other tensors.
  @Test func keptInputs() throws {
    let input = Input(width: 2, height: 1, channels: 2)
    var network = Network(input: input, output: input --> Pooling(kernel: (2, 1)))
    network.keep(input)
    let prediction = try network.compile(weights: .random()).predict([1, 2, 3, 4])
    #expect(prediction.output.floats == [3, 4])
    #expect(try prediction.value(of: input).floats == [1, 2, 3, 4])
  }

  @Test func bestElements() throws {
    let input = Input(width: 1, height: 1, channels: 5)
    let model = try Network(input: input, output: input --> ActivationLayer(.linear))
      .compile(weights: .random())
    let output = try model.predict([1, .nan, 3, 3, -.infinity]).output
    #expect(output.top(3).map(\.index) == [2, 3, 0])
    #expect(output.top(9).map(\.index) == [2, 3, 0, 4, 1])
    #expect(output.top(-1).isEmpty)
  }

  @Test func valuesThatDoNotFit() throws {
    let input = Input(width: 2, height: 3, channels: 1, name: "frame")
    let pooled = input --> Pooling(kernel: (2, 2))
    let model = try Network(input: input, output: pooled).compile(weights: .random())
    #expect(
      modelError { _ = try model.predict([1, 2]) }?.description
        == "input 'frame': 2 values; 3 × 2 × 1 = 6 are needed")
    #expect(
      modelError { _ = try model.predict(["other": .floats([])]) }?.description
        == "the network has no input 'other'")
    #expect(
      modelError { _ = try model.predict([:]) }?.description == "no value for input 'frame'")
    let picture = Image(
      width: 3, height: 2, channelCount: 1, samples: Bytes([1, 2, 3, 4, 5, 6] as [UInt8]))
    #expect(
      modelError { _ = try model.predict(picture) }?.description
        == "input 'frame': an image of 2 × 3 × 1; 3 × 2 × 1 is needed")
    let prediction = try model.predict((1...6).map { Float($0) })
    #expect(prediction.output.floats == [4])
    #expect(modelError { _ = try prediction.value(of: input) }?.hint?.contains("keep") == true)
  }

  @Test func summary() throws {
    let input = Input()
    let dense = Dense(neurons: 10, name: "fc")
    let output =
      input --> Resize(width: 28, height: 28, colors: .grayscale)
      --> Convolution(kernel: (5, 5), channels: 200, activation: .relu)
      --> Pooling(kernel: (28, 28)) --> dense --> Dense(neurons: 200, bias: false) --> dense
    // 200 · 25 + 200; 10 · 200 + 10; 200 · 10
    #expect(
      try Network(input: input, output: output).summary() == """
        layer          type         output         parameters
        input          Input        ? × ? × ?               0
        resize_1       Resize       28 × 28 × 1             0
        convolution_1  Convolution  28 × 28 × 200       5,200
        pooling_1      Pooling      1 × 1 × 200             0
        fc             Dense        1 × 1 × 10          2,010
        dense_1        Dense        1 × 1 × 200         2,000
        fc_2           Dense        1 × 1 × 10       (shared)
        9,210 parameters
        """)
  }

  @Test func theWrittenFileIsTheSameAndRunsTheSame() throws {
    let digits = DigitNetwork()
    let weights = WeightSource.folder(fixtures.path("lenet"))
    try withTemporaryFolder { folder in
      let (a, b) = ("\(folder)/a.mlmodel", "\(folder)/b.mlmodel")
      try digits.network.write(to: a, weights: weights)
      try DigitNetwork().network.write(to: b, weights: weights)
      #expect(try Data(contentsOf: URL(filePath: a)) == Data(contentsOf: URL(filePath: b)))
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 2)
      let model = try Model(contentsOf: a)
      #expect(model.validate().isEmpty)
      #expect(model.specificationVersion == 1)
      #expect(try model == digits.network.model(weights: weights))
      let outcome = modelError {
        try digits.network.write(to: "\(folder)/none/a.mlmodel", weights: weights)
      }
      #expect(outcome?.code == .cannotCreate)
    }
  }
}
