import CoreMLModel

extension Convolution {
  /// - Parameters:
  ///   - shape: `[outputs, inputs per group, height, width]`.
  ///   - border: `[rows, columns]` of padding on each side.
  package init(
    _ shape: [Int], groups: Int = 1, stride: [Int] = [1, 1], dilation: [Int] = [1, 1],
    border: [Int] = [0, 0], kernel: Weights? = nil, bias: Weights? = nil
  ) {
    self.init()
    outputChannels = shape[0]
    kernelChannels = shape[1]
    kernelSize = Array(shape[2...])
    nGroups = groups
    self.stride = stride
    dilationFactor = dilation
    padding = .valid(.around(border[0], border[1]))
    self.kernel = kernel
    hasBias = bias != nil
    self.bias = bias
  }
}

extension ValidPadding {
  package static func around(_ rows: Int, _ columns: Int) -> ValidPadding {
    var padding = ValidPadding()
    padding.paddingAmounts = BorderAmounts(top: rows, bottom: rows, left: columns, right: columns)
    return padding
  }

  package static func around(_ amount: Int) -> ValidPadding { around(amount, amount) }
}
