import NetworkBuilder

/// The first module of Inception-v3: four branches with 64, 64, 96 and 32 channels, concatenated.
func inceptionModule(_ x: NetworkTensor) -> NetworkTensor {
  func convolution(_ size: Int, _ channels: Int, _ name: String) -> Convolution {
    Convolution(kernel: (size, size), channels: channels, activation: .relu, name: name)
  }
  let average = AveragePooling(kernel: (3, 3), stride: (1, 1), padding: .same)

  return Concatenate([
    x --> convolution(1, 64, "mixed_conv"),
    x --> convolution(1, 48, "mixed_tower_conv")
      --> convolution(5, 64, "mixed_tower_conv_1"),
    x --> convolution(1, 64, "mixed_tower_1_conv")
      --> convolution(3, 96, "mixed_tower_1_conv_1")
      --> convolution(3, 96, "mixed_tower_1_conv_2"),
    x --> average
      --> convolution(1, 32, "mixed_tower_2_conv"),
  ])
}
