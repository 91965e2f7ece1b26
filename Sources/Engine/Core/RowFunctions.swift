import Kernels

/// Functions of each element, applied one after the other to rows that have just been computed.
struct RowFunctions: Sendable {
  let functions: [ElementFunction]
  let kernel: @Sendable (UnaryArguments) -> Void

  init(_ functions: [ElementFunction], _ kernels: KernelTable) {
    self.functions = functions
    kernel = kernels.unary
  }

  /// Applies them to one row of each of `channels`, which stand `planeStride` floats apart.
  func apply(
    _ row: UnsafeMutablePointer<Float>, count: Int, channels: Int, planeStride: Int
  ) {
    for function in functions {
      var arguments = UnaryArguments(
        function: function.function, input: row, output: row, count: count,
        alpha: function.alpha.value(0), beta: function.beta.value(0), scale: function.scale,
        shift: function.shift)
      if planeStride == count, !function.isPerChannel {
        arguments.count = count * channels
        kernel(arguments)
        continue
      }
      for channel in 0..<channels {
        arguments.input = UnsafePointer(row + channel * planeStride)
        arguments.output = row + channel * planeStride
        arguments.alpha = function.alpha.value(channel)
        arguments.beta = function.beta.value(channel)
        kernel(arguments)
      }
    }
  }

  static func label(_ functions: [ElementFunction]) -> String {
    functions.map { " + \($0.function)" }.joined()
  }
}
