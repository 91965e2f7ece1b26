import CAssayPlugin
import Kernels

/// The table of vectorized functions for plug-ins: the kernels of the built-in layers, so that both
/// compute the same bits.
enum HostFunctions {
  // `unsafe`: written once, before its first use.
  nonisolated(unsafe) static let table: UnsafePointer<assay_host> = {
    let table = UnsafeMutablePointer<assay_host>.allocate(capacity: 1)
    table.initialize(
      to: assay_host(
        size: MemoryLayout<assay_host>.size,
        exponential: { HostFunctions.unary(.exp, $0, $1, $2) },
        logarithm: { HostFunctions.unary(.log, $0, $1, $2) },
        tangent_hyperbolic: { HostFunctions.unary(.tanh, $0, $1, $2) },
        sigmoid: { HostFunctions.unary(.sigmoid, $0, $1, $2) },
        square_root: { HostFunctions.unary(.sqrt, $0, $1, $2) },
        add: { HostFunctions.combine(.add, $0, $1, $2, $3) },
        subtract: { HostFunctions.combine(.subtract, $0, $1, $2, $3) },
        multiply: { HostFunctions.combine(.multiply, $0, $1, $2, $3) },
        divide: { HostFunctions.combine(.divide, $0, $1, $2, $3) },
        scale_add: { HostFunctions.unary(.linear, $0, $3, $4, .init(alpha: $1, beta: $2)) },
        sum: { HostFunctions.sum(.sum, $0, $1) },
        sum_of_squares: { HostFunctions.sum(.sumOfSquares, $0, $1) },
        exponential_minus_one: { HostFunctions.unary(.expm1, $0, $1, $2) },
        logarithm_one_plus: { HostFunctions.unary(.log1p, $0, $1, $2) },
        sine: { HostFunctions.unary(.sin, $0, $1, $2) },
        cosine: { HostFunctions.unary(.cos, $0, $1, $2) },
        tangent: { HostFunctions.unary(.tan, $0, $1, $2) },
        arc_sine: { HostFunctions.unary(.asin, $0, $1, $2) },
        arc_cosine: { HostFunctions.unary(.acos, $0, $1, $2) },
        arc_tangent: { HostFunctions.unary(.atan, $0, $1, $2) },
        hyperbolic_sine: { HostFunctions.unary(.sinh, $0, $1, $2) },
        hyperbolic_cosine: { HostFunctions.unary(.cosh, $0, $1, $2) },
        power: { HostFunctions.combine(.power, $0, $1, $2, $3) },
        power_of_one: { HostFunctions.unary(.power, $0, $2, $3, .init(alpha: $1)) }))
    return UnsafePointer(table)
  }()

  private static let kernels = ((try? InstructionSet.selected()) ?? .widest).kernels

  private static func unary(
    _ function: UnaryFunction, _ x: UnsafePointer<Float>?, _ y: UnsafeMutablePointer<Float>?,
    _ count: Int, _ parameters: UnaryParameters = UnaryParameters()
  ) {
    guard let x, let y, count > 0 else { return }
    kernels.unary(UnaryArguments(function: function, input: x, output: y, count: count, parameters))
  }

  private static func sum(
    _ reduction: Reduction, _ x: UnsafePointer<Float>?, _ count: Int
  ) -> Double {
    guard let x, count > 0 else { return 0 }
    return kernels.sum(reduction, x, count)
  }

  private static func combine(
    _ function: CombiningFunction, _ a: UnsafePointer<Float>?, _ b: UnsafePointer<Float>?,
    _ y: UnsafeMutablePointer<Float>?, _ count: Int
  ) {
    guard let a, let b, let y, count > 0 else { return }
    withUnsafeTemporaryAllocation(of: CombiningOperand.self, capacity: 2) { operands in
      guard let base = operands.baseAddress else { return }
      base.initialize(to: CombiningOperand(a))
      (base + 1).initialize(to: CombiningOperand(b))
      kernels.combine(
        CombiningArguments(
          function: function, operands: UnsafePointer(base), operandCount: 2, output: y,
          count: count))
    }
  }
}
