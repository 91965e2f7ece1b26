import Foundation
import NetworkBuilder
import TensorCore
import TestSupport
import Testing

/// The code in `docs/networks-in-swift.md`; the page contains no other code.
struct TutorialTests {
  private let image: Image

  init() throws { image = try fixtures.picture("lenet.npz", "picture") }

  private func copyWeights(to folder: String) throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: fixtures.path("lenet")) {
      try FileManager.default.copyItem(
        atPath: fixtures.path("lenet/\(name)"), toPath: "\(folder)/\(name)")
    }
  }

  @Test func aFirstNetwork() throws {
    let input = Input()
    let output =
      input
      --> Resize(width: 28, height: 28, colors: .grayscale, scale: 1 / 255)
      --> Convolution(kernel: (5, 5), channels: 4, activation: .relu, name: "conv1")
      --> Pooling(kernel: (2, 2))
      --> Convolution(kernel: (5, 5), channels: 8, activation: .relu, name: "conv2")
      --> Pooling(kernel: (2, 2))
      --> Dense(neurons: 16, activation: .relu, name: "fc1")
      --> Dense(neurons: 10, name: "fc2")
      --> Softmax()
    let network = Network(input: input, output: output)
    #expect(try Self.page().contains(network.summary()))

    try withTemporaryFolder { folder in
      try copyWeights(to: folder)
      let model = try network.compile(weights: .folder(folder))
      let zeros = try network.compile { name, count, kind in
        [Float](repeating: 0, count: count)
      }
      #expect(try zeros.predict(image).output.floats == [Float](repeating: 0.1, count: 10))

      let prediction = try model.predict(image)
      for score in prediction.output.top(3) {
        print("digit \(score.index): \(score.value)")
      }
      let expected = try fixtures.floats("lenet.npz", "softmax")
      #expect(difference(prediction.output.floats, from: expected) <= 1)

      try network.write(to: "\(folder)/digits.mlmodel", weights: .folder(folder))
      #expect(try Model(contentsOf: "\(folder)/digits.mlmodel").validate().isEmpty)

      let images = [image, image]
      let runner = Runner(model, framesInFlight: 3)
      for result in runner.predictions(of: images.map { .image($0) }) {
        let best = try result.get().output.top(1)[0]
        print("digit \(best.index): \(best.value)")
      }
    }
  }

  @Test func insideAndInPart() throws {
    let digits = DigitNetwork()
    let (network, features, resize) = (digits.network, digits.features, digits.resize)
    let folder = fixtures.path("lenet")
    let model = try network.compile(weights: .folder(folder))
    var inspected = network
    inspected.keep(features)
    let inside = try inspected.compile(weights: .folder(folder)).predict(image)
    print(try inside.value(of: features).floats)

    resize.crop = .rectangle(x: 4, y: 4, width: 20, height: 20)
    let part = try model.predict(image)
    #expect(part.output.floats != inside.output.floats)
  }

  /// In a corner, the kernel of ones covers four ones: the sum s is 5, its swish s / (1 + exp(−s)).
  @Test func otherLayers() throws {
    let input = Input(width: 8, height: 8, channels: 4)
    let convolved =
      input
      --> DepthwiseConvolution(kernel: (3, 3), padding: Padding.same, name: "depthwise")
      --> ActivationLayer(Activation.leakyReLU(alpha: 0.1))
    let swish: Layer = Custom("Swish", parameters: ["beta": .double(1)])
    let sum = Add([input, convolved], activation: .relu) --> swish
    let shape: TensorShape = try sum.shape()
    let weights = WeightSource { name, count, kind in
      [Float](repeating: kind == WeightKind.bias ? 0 : 1, count: count)
    }
    let model: CompiledModel = try Network(input: input, output: sum).compile(weights: weights)
    let ones = InputValue.floats([Float](repeating: 1, count: shape.count ?? 0))
    let prediction: NetworkPrediction = try model.predict(ones)
    let value: NetworkValue = prediction.output
    let results: RunnerResults<[InputValue]> = Runner(model).predictions(of: [ones])
    for result in results { print(try result.get().output.floats == value.floats) }
    #expect(abs(value.floats[0] - 5 / (1 + exp(-5))) < 1e-5)
  }

  @Test func errorOnThePage() throws {
    let error = modelError {
      _ = try DigitNetwork().network.model(
        weights: .dictionary(["conv1_W": [Float](repeating: 0, count: 90)]))
    }
    #expect(try Self.page().contains(try #require(error?.description)))
  }

  @Test func anyLayerOfCoreML() throws {
    let input = Input(width: 2, height: 1, channels: 2)
    let roots = input --> CoreMLLayer("unary", ["type": "SQRT", "scale": 1])
    let sum = [roots, roots] --> CoreMLLayer("addBroadcastable")
    let channel = sum --> CoreMLLayer("splitND", ["axis": -3, "numSplits": 2], output: 1, of: 2)
    let model = try Network(input: input, output: channel).compile(weights: .random())
    #expect(try model.predict([1, 4, 9, 16]).output.floats == [4, 8])
  }

  private static func page() throws -> String {
    try String(
      contentsOfFile: packageRoot + "/docs/networks-in-swift.md", encoding: .utf8)
  }

  /// Each Swift block on the page is, line for line, in code that tests compile.
  @Test func thePageHoldsCompiledCode() throws {
    let example = packageRoot + "/docs/examples/NetworksInSwift"
    let sources = try [
      #filePath, "\(example)/Package.swift",
      "\(example)/Sources/NetworksInSwift/DigitNetwork.swift",
      "\(example)/Sources/NetworksInSwift/InceptionModule.swift",
      "\(example)/Sources/NetworksInSwift/VGG16.swift",
    ].map { Self.trimmedLines(try String(contentsOfFile: $0, encoding: .utf8)) }
    let blocks = try Self.page().components(separatedBy: "```swift\n").dropFirst()
      .compactMap { $0.components(separatedBy: "```").first }
    #expect(blocks.count > 10)
    for block in blocks {
      let lines = Self.trimmedLines(block.trimmingCharacters(in: .newlines))
      let isFound = sources.contains { source in
        source.indices.contains { source[$0...].starts(with: lines) }
      }
      #expect(isFound, "not in the example or in this file:\n\(block)")
    }
  }

  private static func trimmedLines(_ text: String) -> [String] {
    text.components(separatedBy: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
  }
}
