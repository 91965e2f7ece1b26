import NetworkBuilder

/// A small network that classifies ten digits.
struct DigitNetwork {
  let resize = Resize(width: 28, height: 28, colors: .grayscale, scale: 1 / 255)
  let features: NetworkTensor
  var network: Network

  init() {
    let input = Input()
    let features =
      input
      --> resize
      --> Convolution(kernel: (5, 5), channels: 4, activation: .relu, name: "conv1")
      --> Pooling(kernel: (2, 2))
      --> Convolution(kernel: (5, 5), channels: 8, activation: .relu, name: "conv2")
      --> Pooling(kernel: (2, 2))
    let output =
      features
      --> Dense(neurons: 16, activation: .relu, name: "fc1")
      --> Dense(neurons: 10, name: "fc2")
      --> Softmax()

    self.features = features
    network = Network(input: input, output: output)
  }
}
