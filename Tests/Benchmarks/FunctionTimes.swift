import Kernels

/// Times of element functions for 2²⁰ values on one thread, relative to the exponential's time.
struct FunctionTimes {
  let name: String
  let nanoseconds: Double
  let ratio: Double

  private static let count = 1 << 20

  static func measure(_ set: InstructionSet, seconds: Double) -> [FunctionTimes] {
    var times: [(name: String, seconds: Double)] = []
    let x = UnsafeMutablePointer<Float>.allocate(capacity: count)
    let y = UnsafeMutablePointer<Float>.allocate(capacity: count)
    let out = UnsafeMutablePointer<Float>.allocate(capacity: count)
    defer { for buffer in [x, y, out] { buffer.deallocate() } }
    for index in 0..<count {
      x[index] = Float(index % 4096) / 4096 * 0.98 + 0.01
      y[index] = Float(index * 7 % 31) / 8 - 2.06
    }
    func add(_ name: String, _ call: () -> Void) {
      let clock = ContinuousClock()
      var best = Double.infinity
      var total = 0.0
      while total < seconds / 2 {
        let time = clock.measure(call) / .seconds(1)
        total += time
        best = min(best, time / Double(count))
      }
      times.append((name, best))
    }
    let unary: [UnaryFunction] = [.exp] + UnaryFunction.allCases.filter { $0 != .exp }
    for function in unary {
      // The inverse hyperbolic cosine is defined from 1 on, the arc functions up to 1.
      let shift: Float = function == .acosh ? 1 : 0
      add(function.rawValue) {
        set.kernels.unary(
          UnaryArguments(
            function: function, input: x, output: out, count: count,
            .init(alpha: 0.3, beta: 1.3, shift: shift)))
      }
    }
    let pair = [CombiningOperand(x), CombiningOperand(y), CombiningOperand(y)]
    for function in CombiningFunction.allCases {
      pair.withUnsafeBufferPointer { operands in
        guard let base = operands.baseAddress else { return }
        add(function.rawValue + ", binary") {
          set.kernels.combine(
            CombiningArguments(
              function: function, operands: base, operandCount: function == .choose ? 3 : 2,
              output: out, count: count))
        }
      }
    }
    return times.map {
      FunctionTimes(
        name: $0.name, nanoseconds: $0.seconds * 1e9, ratio: $0.seconds / times[0].seconds)
    }
  }
}
