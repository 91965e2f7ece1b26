/// A function of one value, with parameters `α` and `β` in some formulas.
///
/// Error bounds are in units in the last place (ULP) of the correctly rounded result, over all
/// floats and on every instruction set. If no bound is given, the only errors are those of rounding
/// each operation. NaN stays NaN.
package enum UnaryFunction: String, CaseIterable, Sendable {
  /// `α·x + β`
  case linear
  /// `max(α·x + β, 0)`
  case linearRelu = "linear + relu"
  /// `max(x, 0)`
  case relu
  /// `x < 0 ? α·x : x`
  case leaky
  /// `x >= α ? x : 0`
  case thresholdedRelu
  /// `max(x, α)`
  case threshold
  /// `min(x < 0 ? α·x : x, β)`
  case clampedRelu
  /// `min(max(x, α), β)`
  case clip
  /// `min(max(α·x + β, 0), 1)`
  case hardSigmoid
  case abs
  /// 1, −1, or the zero itself.
  case sign
  case floor, ceil
  /// Rounds to the nearest integer, ties to even.
  case round
  case square
  case sqrt
  /// `1 / √(x + α)`
  case rsqrt
  /// `1 / (x + α)`
  case inverse
  /// `x^α`, as C's `pow`; 2 ULP.
  case power
  /// 2 ULP.
  case exp
  /// `2^x`; 2 ULP.
  case exp2
  /// `exp(x) - 1`; 2 ULP.
  case expm1
  /// Natural logarithm; 2 ULP.
  case log
  /// `log(1 + x)`; 2 ULP.
  case log1p
  /// 2 ULP; arguments beyond 2^20 go through the C library, lane by lane.
  case sin, cos, tan
  /// 2 ULP.
  case asin, acos, atan
  /// 2 ULP.
  case sinh, cosh, tanh
  /// 2 ULP.
  case asinh, acosh, atanh
  /// `2/√π · ∫₀ˣ exp(-t²) dt`; 2 ULP.
  case erf
  /// `α·tanh(β·x)`
  case scaledTanh
  /// `1 / (1 + exp(-x))`; 2 ULP.
  case sigmoid
  /// `log(1 + exp(x))`; 2 ULP.
  case softplus
  /// `α·log(1 + exp(β·x))`
  case parametricSoftplus
  /// `x / (1 + |x|)`
  case softsign
  /// `x < 0 ? α·(exp(x) - 1) : x`
  case elu
  /// `β·(x < 0 ? α·(exp(x) - 1) : x)`
  case scaledElu
  /// `x / (1 + exp(-α·x))`
  case swish
  /// `x · min(max(α·x + β, 0), 1)`
  case hardSwish
  /// `x · tanh(log(1 + exp(x)))`; 2 ULP, and 3 without fused multiply-adds.
  case mish
  /// `x/2 · (1 + erf(x/√2))`; 2 ULP, and 3 without fused multiply-adds.
  case gelu
  /// `x/2 · (1 + tanh(√(2/π) · (x + 0.044715 · x³)))`; 2 ULP.
  case tanhGelu
}

/// What a function is applied with.
package struct UnaryParameters: @unchecked Sendable {
  package var alpha: Float
  package var beta: Float
  package var scale: Float
  package var shift: Float
  /// `α` (or `β`) per lane of a channel block instead of a single value: `channelBlock` floats that
  /// repeat over the data. `count` is then a multiple of `channelBlock`.
  package var channelAlpha: UnsafePointer<Float>?
  package var channelBeta: UnsafePointer<Float>?

  package init(alpha: Float = 0, beta: Float = 0, scale: Float = 1, shift: Float = 0) {
    (self.alpha, self.beta, self.scale, self.shift) = (alpha, beta, scale, shift)
  }

  package init(channelAlpha: UnsafePointer<Float>?, channelBeta: UnsafePointer<Float>?) {
    self.init()
    (self.channelAlpha, self.channelBeta) = (channelAlpha, channelBeta)
  }
}

/// `out[i] = function(x[i] · scale + shift)`, or that added to the output; input and output
/// may have the same address. A result does not depend on the position of its element.
package struct UnaryArguments: @unchecked Sendable {
  package var function: UnaryFunction
  package var input: UnsafePointer<Float>
  package var output: UnsafeMutablePointer<Float>
  package var count: Int
  package var parameters: UnaryParameters
  /// Whether results are added to the output.
  package var accumulates = false

  package init(
    function: UnaryFunction, input: UnsafePointer<Float>, output: UnsafeMutablePointer<Float>,
    count: Int, _ parameters: UnaryParameters = UnaryParameters()
  ) {
    (self.function, self.input, self.output, self.count) = (function, input, output, count)
    self.parameters = parameters
  }
}

/// A function of several values, applied from left to right.
package enum CombiningFunction: String, CaseIterable, Sendable {
  case add, multiply, maximum, minimum
  /// The sum divided by the number of operands.
  case average
  case subtract, divide
  /// `⌊a / b⌋`, exact below 2^24.
  case floorDivide
  /// `a - b · ⌊a / b⌋`, with the sign of the divisor. Quotients beyond 2^22 go through the C
  /// library, lane by lane.
  case modulo
  /// `a^b`, as C's `pow`; 2 ULP.
  case power
  /// 1 if true, else 0.
  case equal, notEqual, less, lessEqual, greater, greaterEqual
  /// `equal`, `notEqual` and so on of logical operands: every value except zero is true.
  case logicalAnd, logicalOr, logicalXor
  /// `a ≠ 0 ? b : c` for three operands.
  case choose
}

/// How an operand is broadcast to the elements of a blocked row.
package enum Broadcast: Sendable {
  /// One value per element.
  case none
  /// `channelBlock` values that repeat: one per channel.
  case channel
  /// One value per pixel: lane 0 of blocked data.
  case pixel
  /// A single value.
  case all
}

package struct CombiningOperand: @unchecked Sendable {
  package var values: UnsafePointer<Float>
  package var broadcast: Broadcast

  package init(_ values: UnsafePointer<Float>, _ broadcast: Broadcast = .none) {
    (self.values, self.broadcast) = (values, broadcast)
  }
}

/// `out[i] = function(operand0[i], operand1[i], …)`. The output may have the address of an
/// operand that is not broadcast. If an operand has one value per channel or per pixel, `count` is
/// a multiple of `channelBlock`. The maximum or minimum of values that include NaN is NaN.
package struct CombiningArguments: @unchecked Sendable {
  package var function: CombiningFunction
  package var operands: UnsafePointer<CombiningOperand>
  package var operandCount: Int
  package var output: UnsafeMutablePointer<Float>
  package var count: Int

  package init(
    function: CombiningFunction, operands: UnsafePointer<CombiningOperand>, operandCount: Int,
    output: UnsafeMutablePointer<Float>, count: Int
  ) {
    (self.function, self.operands, self.operandCount) = (function, operands, operandCount)
    (self.output, self.count) = (output, count)
  }
}
