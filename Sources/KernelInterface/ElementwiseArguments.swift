/// A function of one value, with `α` and `β` where the formula has them.
package enum UnaryFunction: UInt8, CaseIterable, Sendable {
  /// `α·x + β`
  case linear
  /// `max(x, 0)`
  case relu
  /// `x < 0 ? α·x : x`
  case leaky
  /// `x >= α ? x : 0`
  case thresholdedRelu
  /// `max(x, α)`
  case threshold
  /// `min(max(x, α), β)`
  case clip
  /// `min(max(α·x + β, 0), 1)`
  case hardSigmoid
  case abs
  case square
  case sqrt
  /// `1 / √(x + α)`
  case rsqrt
  /// `1 / (x + α)`
  case inverse
  /// `x^α`, as C's `pow`
  case power
  case exp
  /// Natural logarithm.
  case log
  case tanh
  /// `α·tanh(β·x)`
  case scaledTanh
  /// `1 / (1 + exp(-x))`
  case sigmoid
  /// `log(1 + exp(x))`
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
}

/// `out[i] = function(x[i] · scale + shift)`, or that added to what stands there; input and output may
/// be the same address. A result
/// does not depend on the position of its element.
package struct UnaryArguments: @unchecked Sendable {
  package var function: UnaryFunction
  package var input: UnsafePointer<Float>
  package var output: UnsafeMutablePointer<Float>
  package var count: Int
  package var alpha: Float
  package var beta: Float
  /// `α` (or `β`) one a lane of a channel block, `channelBlock` floats that repeat over the data,
  /// instead of a single one. `count` is then a multiple of `channelBlock`.
  package var channelAlpha: UnsafePointer<Float>?
  package var channelBeta: UnsafePointer<Float>?
  package var scale: Float
  package var shift: Float
  /// Whether results are added to the output.
  package var accumulates: Bool

  package init(
    function: UnaryFunction, input: UnsafePointer<Float>, output: UnsafeMutablePointer<Float>,
    count: Int, alpha: Float = 0, beta: Float = 0, channelAlpha: UnsafePointer<Float>? = nil,
    channelBeta: UnsafePointer<Float>? = nil, scale: Float = 1, shift: Float = 0,
    accumulates: Bool = false
  ) {
    self.function = function
    self.input = input
    self.output = output
    self.count = count
    self.alpha = alpha
    self.beta = beta
    self.channelAlpha = channelAlpha
    self.channelBeta = channelBeta
    self.scale = scale
    self.shift = shift
    self.accumulates = accumulates
  }
}

/// A function of several values, applied from the first to the last.
package enum CombiningFunction: UInt8, CaseIterable, Sendable {
  case add, multiply, maximum, minimum
  /// The sum divided by the number of operands.
  case average
  case subtract, divide
}

/// How an operand meets the elements of a blocked row.
package enum Broadcast: UInt8, Sendable {
  /// One value an element.
  case none
  /// `channelBlock` values that repeat: one a channel.
  case channel
  /// Blocked data of which lane 0 of every pixel counts: one value a pixel.
  case pixel
}

package struct CombiningOperand: @unchecked Sendable {
  package var values: UnsafePointer<Float>
  package var broadcast: Broadcast

  package init(_ values: UnsafePointer<Float>, _ broadcast: Broadcast = .none) {
    self.values = values
    self.broadcast = broadcast
  }
}

/// `out[i] = function(operand0[i], operand1[i], …)`. The output may be the address of an operand
/// that is not broadcast. Where an operand is broadcast, `count` is a multiple of `channelBlock`.
/// A NaN in any operand wins a maximum and a minimum.
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
    self.function = function
    self.operands = operands
    self.operandCount = operandCount
    self.output = output
    self.count = count
  }
}
