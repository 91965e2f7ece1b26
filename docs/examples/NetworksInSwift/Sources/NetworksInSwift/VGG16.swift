import NetworkBuilder

/// VGG-16 of Simonyan and Zisserman (2014), or a narrower network with the same layers.
struct VGG16 {
  let fc2: NetworkTensor
  var network: Network

  /// - Parameters:
  ///   - side: height and width of the input.
  ///   - divisor: divides the numbers of channels and neurons.
  init(side: Int = 224, dividedBy divisor: Int = 1, classes: Int = 1000) {
    func block(_ x: NetworkTensor, _ number: Int, _ channels: Int, _ count: Int) -> NetworkTensor {
      let layers = (1...count).map { index in
        Convolution(
          kernel: (3, 3), channels: channels / divisor, activation: .relu,
          name: "block\(number)_conv\(index)")
      }
      return layers.reduce(x) { $0 --> $1 } --> Pooling(kernel: (2, 2))
    }

    let input = Input(width: side, height: side, channels: 3)
    let block1 = block(input, 1, 64, 2)
    let block2 = block(block1, 2, 128, 2)
    let block3 = block(block2, 3, 256, 3)
    let block4 = block(block3, 4, 512, 3)
    let block5 = block(block4, 5, 512, 3)
    let fc2 =
      block5
      --> Dense(neurons: 4096 / divisor, activation: .relu, name: "fc1")
      --> Dense(neurons: 4096 / divisor, activation: .relu, name: "fc2")
    let output = fc2 --> Dense(neurons: classes, activation: .softmax, name: "predictions")

    self.fc2 = fc2
    network = Network(input: input, output: output)
  }
}
