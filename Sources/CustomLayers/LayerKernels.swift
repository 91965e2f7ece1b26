import Kernels
import TensorCore

/// The kernels for built-in layers.
struct LayerKernels: Sendable {
  let table: any KernelTable.Type

  init() throws { table = try InstructionSet.selected().kernels }

  /// Writes `function(x)` of `count` elements, possibly in place.
  func apply(
    _ function: UnaryFunction, _ input: UnsafePointer<Float>,
    _ output: UnsafeMutablePointer<Float>, _ count: Int,
    _ parameters: UnaryParameters = UnaryParameters()
  ) {
    table.unary(
      UnaryArguments(function: function, input: input, output: output, count: count, parameters))
  }

  /// `output += factor · x`
  func add(
    _ factor: Float, _ input: UnsafePointer<Float>, to output: UnsafeMutablePointer<Float>,
    _ count: Int
  ) {
    var arguments = UnaryArguments(
      function: .linear, input: input, output: output, count: count, .init(alpha: factor))
    arguments.accumulates = true
    table.unary(arguments)
  }
}
