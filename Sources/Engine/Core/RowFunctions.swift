import Kernels

/// Element functions, applied one after the other to rows that have just been computed.
struct RowFunctions: Sendable {
  let functions: [ScaledFunction]
  let kernel: @Sendable (UnaryArguments) -> Void

  init(_ functions: [ScaledFunction], _ kernels: any KernelTable.Type) {
    self.functions = functions
    kernel = kernels.unary
  }

  /// Applies the functions to one row of each of `channels` planes, `planeStride` floats apart.
  func apply(_ row: UnsafeMutablePointer<Float>, count: Int, channels: Int, planeStride: Int) {
    for function in functions {
      var arguments = UnaryArguments(
        function: function.function, input: row, output: row, count: count, function.parameters(0))
      if planeStride == count, !function.isPerChannel {
        arguments.count = count * channels
        kernel(arguments)
        continue
      }
      for channel in 0..<channels {
        arguments.input = UnsafePointer(row + channel * planeStride)
        arguments.output = row + channel * planeStride
        arguments.parameters = function.parameters(channel)
        kernel(arguments)
      }
    }
  }

  /// Adds the functions' results for adjacent rows to `sums`.
  func add(
    _ rows: UnsafeMutablePointer<Float>, to sums: UnsafeMutablePointer<Float>, count: Int,
    channels: Int
  ) {
    let all = functions.isEmpty ? [ScaledFunction(.linear, alpha: 1)] : functions
    for (index, function) in all.enumerated() {
      let isLast = index == all.count - 1
      let isAlike = !function.isPerChannel
      for channel in 0..<(isAlike ? 1 : channels) {
        let start = channel * count
        var arguments = UnaryArguments(
          function: function.function, input: rows + start,
          output: (isLast ? sums : rows) + start, count: isAlike ? count * channels : count,
          function.parameters(channel))
        arguments.accumulates = isLast
        kernel(arguments)
      }
    }
  }

  static func label(_ functions: [ScaledFunction]) -> String {
    functions.map { " + \($0.function)" }.joined()
  }
}
