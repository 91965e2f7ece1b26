import ByteFormats
import Interpretation
import KerasFormat
import LibC
import TensorCore

/// Lambdas that are formulas: runs their instructions one by one on arrays of doubles.
enum Lambdas {
  static let operations: [String: KerasOperations.Operation] = ["Lambda": run]

  static func run(_ run: LayerRun) throws -> [KerasValue] {
    guard let fields = run.fields.object,
      fields["function_type"]?.string != "function",
      let stored = fields["function"].flatMap({ StoredFunction($0) }), stored.defaults.isEmpty,
      stored.closure.isEmpty, fields["arguments"]?.object?.members.isEmpty != false,
      stored.code.argumentCount == 1
    else { throw run.missing("its function is not interpreted") }
    var results: [DoubleArray] = []
    var reason: (any Error)?
    for reading in stored.code.readings {
      do {
        var function = LambdaRun(run, stored.code)
        results.append(try function.result(of: reading.operations))
      } catch { reason = reason ?? error }
    }
    guard let first = results.first else { throw reason ?? run.missing("its code is unknown") }
    try run.require(
      results.allSatisfy { $0.shape == first.shape && $0.values == first.values },
      "Python versions disagree about it")
    // A Lambda without a mask function drops the mask.
    return [KerasValue(array: first)]
  }
}

/// One call of a Lambda's function.
private struct LambdaRun {
  private enum Value {
    case array(DoubleArray)
    case number(Double)
    case name(String)
    case list([Value])
    case slice(Int?, Int?)
    case none
    /// The names of a call's keyword arguments.
    case names([String])
    case null
  }

  private let run: LayerRun
  private let code: PythonCode
  private var stack: [Value] = []
  private var locals: [Int: Value]
  private var names: [String] = []

  init(_ run: LayerRun, _ code: PythonCode) {
    (self.run, self.code) = (run, code)
    let inputs = run.inputs.map { Value.array($0.array) }
    locals = [0: inputs.count == 1 ? inputs[0] : .list(inputs)]
  }

  private var unknown: InterpretationError { run.missing("its function is not interpreted") }

  private mutating func pop() throws -> Value {
    guard let value = stack.popLast() else { throw unknown }
    return value
  }

  private mutating func pop(_ count: Int) throws -> [Value] {
    guard count >= 0, count <= stack.count else { throw unknown }
    defer { stack.removeLast(count) }
    return Array(stack.suffix(count))
  }

  mutating func result(of operations: [PythonOperation]) throws -> DoubleArray {
    for operation in operations {
      switch operation {
      case .result:
        guard case .array(let array) = try pop() else { throw unknown }
        return array
      case .nothing: break
      case .pop: _ = try pop()
      case .null: stack.append(.null)
      case .constant(let index):
        guard code.constants.indices.contains(index) else { throw unknown }
        stack.append(try value(code.constants[index]))
      case .local(let index):
        guard let value = locals[index] else { throw unknown }
        stack.append(value)
      case .setLocal(let index): locals[index] = try pop()
      case .global(let index): stack.append(.name(try name(index)))
      case .attribute(let index): stack.append(try member(index))
      case .method(let index):
        let function = try member(index)
        stack += [.null, function]
      case .sign(.negative): stack.append(try calculated("subtract", .number(0), pop()))
      case .binary(let function):
        let operands = try pop(2)
        stack.append(try calculated(function.rawValue, operands[0], operands[1]))
      case .tuple(let count), .list(let count): stack.append(.list(try pop(count)))
      case .slice(let count):
        let parts = try pop(count)
        guard count == 2 else { throw unknown }
        stack.append(.slice(try bound(parts[0]), try bound(parts[1])))
      case .sliced:
        let parts = try pop(3)
        stack.append(try part(parts[0], [.slice(try bound(parts[1]), try bound(parts[2]))]))
      case .subscripted:
        let parts = try pop(2)
        if case .list(let indices) = parts[1] {
          stack.append(try part(parts[0], indices))
        } else {
          stack.append(try part(parts[0], [parts[1]]))
        }
      case .names(let index):
        guard code.constants.indices.contains(index),
          case .names(let all) = try value(code.constants[index])
        else { throw unknown }
        names = all
      case .callWithNames(let count), .plainCallWithNames(let count):
        guard case .names(let all) = try pop() else { throw unknown }
        names = all
        try call(count, isPlain: operation == .plainCallWithNames(count))
      case .call(let count): try call(count, isPlain: false)
      case .plainCall(let count), .classicCall(let count, named: 0): try call(count, isPlain: true)
      default: throw unknown
      }
    }
    throw unknown
  }

  private func name(_ index: Int) throws -> String {
    guard code.names.indices.contains(index) else { throw unknown }
    return code.names[index]
  }

  /// A member of a module; the last name alone identifies the function.
  private mutating func member(_ index: Int) throws -> Value {
    guard case .name = try pop() else { throw unknown }
    return .name(try name(index))
  }

  private func value(_ constant: PythonMarshal.Value) throws -> Value {
    switch constant {
    case .none: return .none
    case .int(let number): return .number(Double(number))
    case .double(let number): return .number(number)
    case .bool(let flag): return .number(flag ? 1 : 0)
    case .tuple(let items):
      let texts = items.compactMap { if case .string(let text) = $0 { text } else { nil } }
      return !items.isEmpty && texts.count == items.count
        ? .names(texts) : .list(try items.map(value))
    default: throw unknown
    }
  }

  private func bound(_ value: Value) throws -> Int? {
    switch value {
    case .none: return nil
    case .number(let number): return Int(exactly: number)
    default: throw unknown
    }
  }

  /// x[a:b, :, c]; an index removes its axis.
  private func part(_ value: Value, _ indices: [Value]) throws -> Value {
    if case .list(let items) = value, indices.count == 1, let index = try bound(indices[0]),
      items.indices.contains(index < 0 ? index + items.count : index)
    {
      return items[index < 0 ? index + items.count : index]
    }
    guard case .array(var array) = value, indices.count <= array.rank else { throw unknown }
    var removed: Set<Int> = []
    for (axis, index) in indices.enumerated() {
      let size = array.shape[axis]
      func position(_ bound: Int) -> Int { min(size, max(0, bound < 0 ? bound + size : bound)) }
      if case .slice(let low, let high) = index {
        let (start, end) = (low.map(position) ?? 0, high.map(position) ?? size)
        array = array.slice(axis, start..<max(start, end))
      } else if let number = try bound(index), (-size..<size).contains(number) {
        let start = number < 0 ? number + size : number
        array = array.slice(axis, start..<start + 1)
        removed.insert(axis)
      } else {
        throw unknown
      }
    }
    let shape = array.shape.indices.filter { !removed.contains($0) }.map { array.shape[$0] }
    return .array(try array.reshaped(shape))
  }

  private static let pairs: [String: @Sendable (Double, Double) -> Double] = [
    "add": { $0 + $1 }, "subtract": { $0 - $1 }, "multiply": { $0 * $1 }, "divide": { $0 / $1 },
    "truediv": { $0 / $1 }, "power": { pow($0, $1) }, "pow": { pow($0, $1) },
    "maximum": { max($0, $1) }, "minimum": { min($0, $1) },
  ]

  private static let functions: [String: @Sendable (Double) -> Double] = [
    "log": { log($0) }, "sqrt": { sqrt($0) }, "square": { $0 * $0 }, "abs": { abs($0) },
    "sin": { sin($0) }, "cos": { cos($0) }, "negative": { -$0 }, "floor": { floor($0) },
    "ceil": { ceil($0) }, "erf": { erf($0) },
  ]

  private func calculated(_ name: String, _ first: Value, _ second: Value) throws -> Value {
    guard let function = Self.pairs[name] else { throw unknown }
    switch (first, second) {
    case (.number(let a), .number(let b)): return .number(function(a, b))
    case (.array(let a), .number(let b)): return .array(a.map { function($0, b) })
    case (.number(let a), .array(let b)): return .array(b.map { function(a, $0) })
    case (.array(let a), .array(let b)):
      let rank = max(a.rank, b.rank)
      func filled(_ array: DoubleArray) throws -> DoubleArray {
        try array.reshaped([Int](repeating: 1, count: rank - array.rank) + array.shape)
      }
      return .array(try Merges.broadcast(filled(a), filled(b), function))
    default: throw unknown
    }
  }

  private mutating func call(_ count: Int, isPlain: Bool) throws {
    var arguments = try pop(count)
    var function = try pop()
    if !isPlain, case let other = try pop() {
      if case .null = function {
        function = other
      } else if case .null = other {
      } else {
        throw unknown
      }
    }
    guard case .name(let name) = function, names.count <= count else { throw unknown }
    let named = Dictionary(
      zip(names, arguments.suffix(names.count)), uniquingKeysWith: { first, _ in first })
    arguments.removeLast(names.count)
    names = []
    if arguments.count == 2, named.isEmpty, Self.pairs[name] != nil {
      return stack.append(try calculated(name, arguments[0], arguments[1]))
    }
    guard case .array(let x)? = arguments.first else { throw unknown }
    // What `gelu` computes depends on the library.
    let activation = name == "gelu" ? nil : Activation.function(name, run.generation)
    if let element = Self.functions[name] ?? activation, arguments.count == 1, named.isEmpty {
      return stack.append(.array(x.map(element)))
    }
    if ["clip", "clip_by_value"].contains(name), arguments.count == 3, named.isEmpty {
      let low = try calculated("maximum", arguments[0], arguments[1])
      return stack.append(try calculated("minimum", low, arguments[2]))
    }
    stack.append(.array(try reduced(x, name, Array(arguments.dropFirst()), named)))
  }

  /// Sums, means and extremes along axes.
  private func reduced(
    _ array: DoubleArray, _ name: String, _ arguments: [Value], _ named: [String: Value]
  ) throws -> DoubleArray {
    guard Set(named.keys).isSubset(of: ["axis", "keepdims", "keep_dims"]), arguments.count <= 2
    else { throw unknown }
    let keeps = try (named["keepdims"] ?? named["keep_dims"] ?? arguments.dropFirst().first).map(
      bound)
    var axes = Array(0..<array.rank)
    if let axis = named["axis"] ?? arguments.first {
      if case .list(let items) = axis {
        axes = try items.map { try array.axis(bound($0) ?? array.rank) ?? -1 }
      } else if let index = try bound(axis) {
        axes = [array.axis(index) ?? -1]
      }
    }
    let kind = name.hasPrefix("reduce_") ? String(name.dropFirst(7)) : name
    guard ["sum", "mean", "max", "min"].contains(kind), !axes.contains(-1) else { throw unknown }
    var result = array
    for axis in axes {
      let parts = (0..<result.shape[axis]).map { result.slice(axis, $0..<$0 + 1) }
      guard var total = parts.first else { throw unknown }
      for other in parts.dropFirst() {
        total = try Merges.broadcast(total, other) { a, b in
          kind == "max" ? max(a, b) : kind == "min" ? min(a, b) : a + b
        }
      }
      result = kind == "mean" ? total.map { $0 / Double(parts.count) } : total
    }
    if keeps == 1 { return result }
    return try result.reshaped(
      result.shape.indices.filter { !axes.contains($0) }.map { result.shape[$0] })
  }
}
