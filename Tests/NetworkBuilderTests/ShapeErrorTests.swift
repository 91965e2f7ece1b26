import NetworkBuilder
import TestSupport
import Testing

/// Mismatched shapes cause an error with the layer and both shapes.
struct ShapeErrorTests {
  private func message(_ input: Input, _ output: NetworkTensor) -> String? {
    message(Network(input: input, output: output))
  }

  private func message(_ network: Network) -> String? {
    modelError { _ = try network.model(weights: .random()) }?.description
  }

  @Test func aSizeThatIsNotKnown() {
    let input = Input()
    #expect(
      message(
        input,
        input --> ActivationLayer(.relu) --> Convolution(kernel: (3, 3), channels: 4, name: "conv1")
      )
        == "layer 'conv1' (Convolution): needs the size of its input, which is unknown: ? × ? × ?"
    )
    #expect(
      message(input, input --> Dense(neurons: 3, name: "fc"))
        == "layer 'fc' (Dense): needs the size of its input, which is unknown: ? × ? × ?")
    let strip = Input(width: 8, channels: 3, name: "strip")
    #expect(
      message(strip, strip --> Pooling(kernel: (2, 2), name: "pool"))
        == "layer 'pool' (Pooling): needs the size of its input, which is unknown: ? × 8 × 3")
    #expect(
      message(input, input --> Softmax())
        == "the size of the input 'input' is unknown: ? × ? × ?")
  }

  @Test func tensorsThatDoNotFitTogether() {
    let input = Input(width: 8, height: 8, channels: 3)
    let a = input --> Convolution(kernel: (1, 1), channels: 4, name: "a")
    let b = input --> Convolution(kernel: (1, 1), channels: 5, name: "b")
    let c = input --> Pooling(kernel: (2, 2), name: "c")
    #expect(
      message(input, Add([a, b], name: "sum"))
        == "layer 'sum' (Add): 'a' is 8 × 8 × 4 and 'b' is 8 × 8 × 5: they must be the same")
    #expect(
      message(input, Concatenate([a, b, c], name: "all"))
        == "layer 'all' (Concatenate): 'a' is 8 × 8 × 4 and 'c' is 4 × 4 × 3: height and width must "
        + "be the same")
    #expect(
      message(input, [a, b] --> Softmax(name: "two"))
        == "layer 'two' (Softmax): takes one input but gets 2")
  }

  @Test func windowsThatDoNotFit() {
    let input = Input(width: 4, height: 3, channels: 6)
    #expect(
      message(
        input,
        input --> Convolution(kernel: (5, 5), channels: 2, padding: .valid, name: "conv"))
        == "layer 'conv' (Convolution): kernelSize: a kernel that spans 5 does not match the input's 3 "
        + "and padding of 0; the input is 3 × 4 × 6")
    #expect(
      message(input, input --> Pooling(kernel: (2, 4), name: "pool"))?.hasSuffix(
        "; the input is 3 × 4 × 6") == true)
    #expect(
      message(input, input --> Convolution(kernel: (1, 1), channels: 4, groups: 4, name: "conv"))?
        .hasPrefix("layer 'conv' (Convolution): groups: the input's 6 and the result's") == true)
  }

  @Test(arguments: [0, -1, .max])
  func numbersThatAreNoSizes(_ size: Int) {
    let input = Input(width: 4, height: 4, channels: 2)
    let layers: [Layer] = [
      Convolution(kernel: (size, 1), channels: 2), Convolution(kernel: (1, 1), channels: size),
      Convolution(kernel: (1, 1), channels: 2, stride: (1, size)),
      Convolution(kernel: (1, 1), channels: 2, dilation: (size, 1)),
      Convolution(kernel: (1, 1), channels: 2, groups: size),
      Convolution(
        kernel: (1, 1), channels: 2, padding: .explicit(top: size, bottom: -1, left: 0, right: 0)),
      DepthwiseConvolution(kernel: (1, 1), multiplier: size), Dense(neurons: size),
      Pooling(kernel: (size, size), padding: .same),
      AveragePooling(kernel: (2, 2), stride: (size, 1)),
    ]
    for layer in layers { #expect(message(input, input --> layer)?.hasPrefix("layer '") == true) }
    let odd = Input(width: size, height: 4, channels: 2)
    #expect(message(odd, odd --> Softmax()) != nil)
    let start = Input()
    #expect(
      message(start, start --> Resize(width: size, height: 2, name: "resize") --> Softmax())?
        .hasPrefix("layer 'resize' (Resize): width: ") == true)
  }

  @Test func aResizeInTheMiddle() {
    let input = Input(width: 8, height: 8, channels: 3)
    #expect(
      message(
        input,
        input --> Softmax(name: "a") --> Resize(width: 2, height: 2, name: "small") --> Softmax())
        == "layer 'small' (Resize): comes after 'a', which is not an image")
  }

  @Test func namesAndInterface() {
    let input = Input(width: 2, height: 2, channels: 2)
    let other = Input(width: 2, height: 2, channels: 2, name: "other")
    #expect(
      message(input, input --> Softmax(name: "x") --> ActivationLayer(.relu, name: "x"))
        == "layer 'x' (Activation): another layer or input has the same name")
    #expect(
      message(input, other --> Softmax())?.contains("no output depends on input 'input'") == true)
    #expect(
      message(input, Add([input, other]))?.contains("an input, 'other', that is not among") == true)
    #expect(message(Network(inputs: [input], outputs: []))?.contains("no output") == true)
    #expect(message(input, input)?.contains("an input cannot be an output") == true)
    let output = input --> Softmax()
    #expect(
      message(Network(inputs: [input], outputs: [output, output]))?.contains("twice") == true)
    var network = Network(input: input, output: output)
    network.keep(other --> Softmax())
    #expect(
      modelError { _ = try network.compile(weights: .random()) }?.description.contains(
        "not part of the network") == true)
  }

  @Test func aSharedLayerOfDifferentSizes() {
    let a = Input(width: 2, height: 2, channels: 2)
    let b = Input(width: 2, height: 2, channels: 3)
    let shared = Dense(neurons: 4, name: "fc")
    #expect(
      message(Network(inputs: [a, b], outputs: [Add([a --> shared, b --> shared])]))
        == "layer 'fc_2' (Dense): weights: its weights are 4 × 2 × 2 × 2 for one input and "
        + "4 × 2 × 2 × 3 for another")
  }
}
