import Assay
import NetworkBuilder
import Testing

/// Both libraries in one file: their names do not conflict, and a network described with one is a
/// model for the other.
struct BesideAssayTests {
  @Test func aDescribedNetworkIsPredicted() throws {
    let input = Input(width: 5, height: 4, channels: 3)
    let features: NetworkTensor =
      input --> Convolution(kernel: (3, 3), channels: 2) --> Pooling(kernel: (2, 2)) --> Softmax()
    let network = Network(input: input, output: Concatenate([features, features], name: "twice"))
    let model: Model = try network.model(weights: .random())
    let predictor = try Predictor(model: model)

    let floats = (0..<60).map { Float($0 % 7) - 3 }
    let prediction: Prediction = try predictor.predict([
      "input": .array(Tensor(shape: [1, 4, 5, 3], floats))
    ])
    let own = try network.compile(weights: .random()).predict(floats).output
    // The model's metadata put rows first and channels last.
    #expect(prediction.outputs.map(\.name) == ["twice"])
    #expect(prediction.outputs.first?.value == Tensor(shape: [1, 2, 2, 4], own.floats))
    #expect(own.shape.description == "2 × 2 × 4")
  }
}
