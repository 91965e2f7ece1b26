import Kernels
import TensorCore

/// A formula compiled for inputs of given shapes, in single precision. Vector kernels run it block
/// by block, so that intermediate results stay in the cache.
///
/// Not thread-safe: only one `run` at a time.
package final class VectorProgram {
  package static let block = 2048
  /// Maximum number of intermediate arrays between slices and reductions.
  static let stepLimit = 64

  fileprivate struct Instruction {
    var function: KernelFunction
    var operands: [Int]
    var target: Int
  }

  /// Reads a block of a strided array, broadcast to the shape of the result.
  fileprivate struct Load {
    var register: Int
    var array: Int
    var offset: Int
    var reader: StridedReader
  }

  fileprivate enum Step {
    /// Fills `array` block by block: first the loads, then the instructions.
    case compute(
      array: Int, count: Int, loads: [Load],
      instructions: [Instruction], result: Int)
    case reduce(
      array: Int, reduction: Expression.Reduction, input: ArrayView, outer: [Int], inner: [Int])
  }

  package private(set) var outputShape: [Int] = []
  private let kernels: any KernelTable.Type
  private let inputCount: Int
  private var steps: [Step] = []
  /// Element counts of the arrays: inputs, then constants, then results of steps.
  private var counts: [Int] = []
  private var constants: [Int: [Float]] = [:]
  private var views: [String: ArrayView] = [:]
  private var known: [Expression: ArrayView] = [:]
  private var storage: [Int: AlignedBuffer] = [:]
  private var registers: AlignedBuffer
  private var registerCount = 0
  private var filled: [(register: Int, value: Float)] = []

  /// - Parameters:
  ///   - inputs: names and shapes, in the order of `run`.
  ///   - weights: arrays that the formula uses.
  /// - Throws: `ModelError` if the shapes do not fit the formula.
  package init(
    _ expression: Expression, inputs: [(name: String, shape: [Int])],
    weights: [String: FormulaArray], kernels: any KernelTable.Type
  ) throws {
    self.kernels = kernels
    inputCount = inputs.count
    registers = AlignedBuffer(byteCount: 0)
    for (name, shape) in inputs { views[name] = try array(shape) }
    for name in weights.keys.sorted() {
      guard let weight = weights[name] else { continue }
      let view = try array(weight.shape)
      constants[view.array] = weight.elements.map { Float($0) }
      views[name] = view
    }
    let view = try materialized(expression, isResult: true)
    guard steps.count <= Self.stepLimit else {
      throw ModelError(
        .limitExceeded,
        "the formula has \(steps.count) nested parts and reductions; "
          + "the limit is \(Self.stepLimit)")
    }
    outputShape = view.shape
    for (array, values) in constants {
      storage[array] = try AlignedBuffer(checkedByteCount: max(4, values.count * 4))
      for (index, value) in values.enumerated() { pointer(array)[index] = value }
    }
    for (index, step) in steps.enumerated() where index < steps.count - 1 {
      let array = step.array
      storage[array] = try AlignedBuffer(checkedByteCount: max(4, counts[array] * 4))
    }
    registers = try AlignedBuffer(checkedByteCount: max(4, registerCount * Self.block * 4))
    for (register, value) in filled {
      self.register(register).update(repeating: value, count: Self.block)
    }
  }

  /// - Precondition: the number of elements matches the shapes.
  package func run(_ inputs: [UnsafePointer<Float>], _ output: UnsafeMutablePointer<Float>) {
    func source(_ array: Int) -> UnsafePointer<Float> {
      array < inputCount ? inputs[array] : UnsafePointer(pointer(array))
    }
    for (index, step) in steps.enumerated() {
      let target = index == steps.count - 1 ? output : pointer(step.array)
      switch step {
      case .compute(_, let count, let loads, let instructions, let result):
        for begin in stride(from: 0, to: count, by: Self.block) {
          let length = min(Self.block, count - begin)
          for load in loads {
            load.reader.copy(
              begin..<begin + length, from: source(load.array) + load.offset,
              to: register(load.register))
          }
          for instruction in instructions { run(instruction, length) }
          (target + begin).update(from: register(result), count: length)
        }
      case .reduce(_, let reduction, let input, let outer, let inner):
        reduction.run(source(input.array), input, outer, inner, target)
      }
    }
  }

  private func register(_ index: Int) -> UnsafeMutablePointer<Float> {
    registers.pointer.assumingMemoryBound(to: Float.self) + index * Self.block
  }

  private func pointer(_ array: Int) -> UnsafeMutablePointer<Float> {
    guard let buffer = storage[array] else {
      return registers.pointer.assumingMemoryBound(to: Float.self)
    }
    return buffer.pointer.assumingMemoryBound(to: Float.self)
  }
}

// MARK: Compiling

extension VectorProgram {
  private func array(_ shape: [Int]) throws -> ArrayView {
    counts.append(try checkedProduct(shape, limit: Limits.tensorElements))
    return ArrayView(shape, array: counts.count - 1)
  }

  private func shape(_ expression: Expression) throws -> [Int] {
    if let view = known[expression] { return view.shape }
    if case .name(let name) = expression.node { return try views.value(named: name).shape }
    return try expression.resultShape(expression.operands.map { try shape($0) }).compactMap { $0 }
  }

  /// The value as an array; computed in steps if it is not one already.
  private func materialized(_ expression: Expression, isResult: Bool = false) throws -> ArrayView {
    if !isResult, let view = known[expression] { return view }
    var view: ArrayView
    switch expression.node {
    case .name(let name) where !isResult:
      view = try views.value(named: name)
    case .slice(let operand, let items) where !isResult:
      view = try materialized(operand).part(items)
    case .reduce(let reduction, let operand, let axes, let keepsAxes):
      let input = try materialized(operand)
      let inner = try Expression.axes(axes, rank: input.shape.count)
      let outer = input.shape.indices.filter { !inner.contains($0) }
      view = try array(
        keepsAxes
          ? input.shape.enumerated().map { inner.contains($0) ? 1 : $1 }
          : outer.map { input.shape[$0] })
      steps.append(
        .reduce(array: view.array, reduction: reduction, input: input, outer: outer, inner: inner))
    default: view = try computed(expression)
    }
    known[expression] = view
    return view
  }

  private func computed(_ expression: Expression) throws -> ArrayView {
    let shape = try shape(expression)
    // First computes the operands that must be complete arrays.
    try materializeParts(expression)
    let view = try array(shape)
    var loads: [Load] = []
    var instructions: [Instruction] = []
    var placed: [Expression: Int] = [:]
    func newRegister() -> Int {
      registerCount += 1
      return registerCount - 1
    }
    func emit(_ expression: Expression) throws -> Int {
      if let register = placed[expression] { return register }
      let register: Int
      switch expression.node {
      case .number(let value):
        register = newRegister()
        filled.append((register, Float(value)))
      case .apply(let function, let operands):
        if let kernel = KernelFunction(function, operands) {
          let sources = try operands.prefix(kernel.operandCount).map(emit)
          register = newRegister()
          instructions.append(Instruction(function: kernel, operands: sources, target: register))
        } else if let others = try function.expanded(operands) {
          register = try emit(others)
        } else {
          throw ModelError(.unsupported, "no kernel computes \(function)")
        }
      case .name, .reduce, .slice:
        let view = try materialized(expression)
        register = newRegister()
        let wide = view.broadcast(to: shape)
        loads.append(
          Load(
            register: register, array: view.array, offset: view.offset,
            reader: StridedReader(shape: shape, strides: wide.strides)))
      }
      placed[expression] = register
      return register
    }
    let result = try emit(expression)
    steps.append(
      .compute(
        array: view.array, count: counts[view.array], loads: loads, instructions: instructions,
        result: result))
    return view
  }

  private func materializeParts(_ expression: Expression) throws {
    switch expression.node {
    case .number, .name: break
    case .apply(_, let operands):
      for operand in operands { try materializeParts(operand) }
    case .reduce, .slice: _ = try materialized(expression)
    }
  }
}

extension VectorProgram.Step {
  fileprivate var array: Int {
    switch self {
    case .compute(let array, _, _, _, _), .reduce(let array, _, _, _, _): array
    }
  }
}

// MARK: Running

extension VectorProgram {
  private func run(_ instruction: Instruction, _ count: Int) {
    let target = register(instruction.target)
    switch instruction.function {
    case .unary(let function, let alpha, let beta):
      kernels.unary(
        UnaryArguments(
          function: function, input: register(instruction.operands[0]), output: target,
          count: count, .init(alpha: alpha, beta: beta)))
    case .combining(let function):
      withUnsafeTemporaryAllocation(
        of: CombiningOperand.self, capacity: instruction.operands.count
      ) { operands in
        for (index, operand) in instruction.operands.enumerated() {
          operands.initializeElement(at: index, to: CombiningOperand(register(operand)))
        }
        guard let base = operands.baseAddress else { return }
        kernels.combine(
          CombiningArguments(
            function: function, operands: base, operandCount: operands.count, output: target,
            count: count))
      }
    }
  }
}

/// A function that a kernel computes in one call.
private enum KernelFunction {
  case unary(UnaryFunction, alpha: Float = 0, beta: Float = 0)
  case combining(CombiningFunction)

  /// The maximum number of operands.
  var operandCount: Int { if case .unary = self { 1 } else { 3 } }

  /// The kernel for `function`. Operands after the first that are numbers can become its
  /// parameters. Kernels and formulas use the same names for most functions.
  init?(_ function: ElementFunction, _ operands: [Expression]) {
    let numbers = operands.dropFirst().compactMap { $0.number.map { Float($0) } }
    switch (function, numbers.count) {
    case (.negative, _): self = .unary(.linear, alpha: -1)
    case (.reciprocal, _): self = .unary(.inverse)
    case (.swish, _): self = .unary(.swish, alpha: 1)
    case (.elu, 1): self = .unary(.elu, alpha: numbers[0])
    case (.power, 1): self = .unary(.power, alpha: numbers[0])
    case (.clip, 2): self = .unary(.clip, alpha: numbers[0], beta: numbers[1])
    case (.elu, _), (.clip, _): return nil
    default:
      if let function = CombiningFunction(rawValue: function.rawValue) {
        self = .combining(function)
      } else if let function = UnaryFunction(rawValue: function.rawValue) {
        self = .unary(function)
      } else {
        return nil
      }
    }
  }
}

extension ElementFunction {
  /// An equivalent expression for a function without a kernel.
  fileprivate func expanded(_ operands: [Expression]) throws -> Expression? {
    switch self {
    case .logicalNot: return try .apply(.equal, operands[0], .number(0))
    case .clip: return try .apply(.minimum, .apply(.maximum, operands[0], operands[1]), operands[2])
    case .elu:
      let below = try Expression.apply(.multiply, operands[1], .apply(.expm1, operands[0]))
      return try .apply(.choose, .apply(.greater, operands[0], .number(0)), operands[0], below)
    default: return nil
    }
  }
}
