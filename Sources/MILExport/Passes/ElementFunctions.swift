import CoreMLModel
import Formulas
import LibC
import TensorCore

/// Recognizes elementwise functions by their values, whatever operations compute them.
extension OperationGraph {
  /// Replaces the addition of a negated value with `sub`.
  func recognizeDifferences() throws {
    for name in names {
      guard let sum = operations[name], sum.type == "add", let x = sum.name("x"),
        let y = sum.name("y")
      else { continue }
      for (a, b) in [(x, y), (y, x)] {
        guard let negated = self[b], negated.type == "linear_activation",
          numbers(negated, "alpha") == [-1], numbers(negated, "beta") == [0],
          let z = negated.name("x"), isOnly(name, of: b), a != b, !isConstant(a)
        else { continue }
        try write("sub", name, a, [("y", .variable(try variable(z)))])
        break
      }
    }
  }

  /// Replaces an operation with another one whose result has the same shape.
  func write(
    _ operation: String, _ value: String, _ x: String, _ arguments: [(String, Argument)] = []
  ) throws {
    let (input, result) = (try variable(x), try variable(value))
    try replace(value) {
      try builder.add(
        operation, value, [("x", .variable(input))] + arguments, type: result.type,
        shape: result.shape)
    }
  }

  /// Replaces elementwise operations that together compute a function that MIL has.
  func recognizeFunctions() throws {
    for name in names.reversed() where operations[name] != nil {
      guard let type = type(name), type == .float32 || type == .float16 else { continue }
      for part in parts(before: name).reversed() {
        let removed = part.inside.dropFirst().filter { inner in
          !isKept(inner) && users(inner).allSatisfy(part.inside.contains)
        }
        guard
          let function = RecognizedFunction(
            tolerance: type == .float32 ? 1e-6 : 2e-3,
            {
              self.values(of: part, at: $0)
            }), function.count <= removed.count
        else { continue }
        try write(function, name, part.input)
        break
      }
    }
  }

  private func write(_ function: RecognizedFunction, _ name: String, _ x: String) throws {
    switch function {
    case .identity: try substitute(name, x)
    case .operation(let operation, let arguments): try write(operation, name, x, arguments)
    case .gated(let alpha, let beta):
      let (input, result) = (try variable(x), try variable(name))
      let output = [(type: result.type, shape: result.shape)]
      try replace(name) {
        let gate = try builder.add(
          "sigmoid_hard", name,
          [("x", .variable(input)), ("alpha", .number(alpha)), ("beta", .number(beta))],
          type: result.type, outputs: output)[0]
        return try builder.add(
          "mul", name, [("x", .variable(input)), ("y", .variable(gate))], type: result.type,
          outputs: output)[0]
      }
    }
  }

  /// Operations that compute a value from a single one; `inside` starts with the last of them.
  private struct Part {
    var input: String
    var inside: [String]
  }

  /// The parts that end with a value, each contained in the next.
  private func parts(before name: String) -> [Part] {
    guard let shape = shape(name), let type = type(name) else { return [] }
    var (inside, open, result): ([String], Set<String>, [Part]) = ([], [name], [])
    while let next = open.max(by: { position($0) < position($1) }), inside.count < 32,
      self.shape(next) == shape, self.type(next) == type, let operation = self[next],
      let inputs = elementInputs(operation), operation.outputs[0].name == next
    {
      inside.append(next)
      open.remove(next)
      open.formUnion(inputs)
      if open.count == 1, let input = open.first, self.shape(input) == shape,
        self.type(input) == type
      {
        result.append(Part(input: input, inside: inside))
      }
    }
    return result
  }

  /// The inputs of an elementwise operation, except constants; nil for all other operations.
  private func elementInputs(_ operation: MILOperation) -> [String]? {
    guard let x = operation.name("x") else { return nil }
    if Self.functions[operation.type] != nil { return isConstant(x) ? nil : [x] }
    guard Self.pairFunctions[operation.type] != nil, let y = operation.name("y") else {
      return nil
    }
    let inputs = [x, y].filter { number($0) == nil }
    return inputs.isEmpty || inputs.contains(where: isConstant) ? nil : inputs
  }

  private func values(of part: Part, at points: [Double]) -> [Double] {
    var known = [part.input: points]
    for name in part.inside.reversed() {
      guard let operation = operations[name], let x = operation.name("x") else { return [] }
      func values(_ value: String) -> [Double] {
        known[value] ?? [Double](repeating: number(value) ?? .nan, count: points.count)
      }
      if let function = Self.functions[operation.type] {
        let arguments = { key in self.numbers(operation, key)?.first.map { Double($0) } }
        known[name] = values(x).map { function($0, arguments) }
      } else if let function = Self.pairFunctions[operation.type], let y = operation.name("y") {
        known[name] = zip(values(x), values(y)).map { function($0, $1) }
      }
    }
    return part.inside.first.flatMap { known[$0] } ?? []
  }

  private typealias Arguments = (String) -> Double?

  private static let pairFunctions: [String: @Sendable (Double, Double) -> Double] = [
    "add": { $0 + $1 }, "sub": { $0 - $1 }, "mul": { $0 * $1 }, "real_div": { $0 / $1 },
    "maximum": { max($0, $1) }, "minimum": { min($0, $1) }, "pow": { pow($0, $1) },
  ]

  /// The operations with one input, except those whose defaults are uncertain.
  private static let functions = functionsWithArguments.merging(
    (ElementFunction.activations + [.abs, .square, .sqrt, .exp, .erf]).map(plain)
  ) { $1 }

  private static func plain(
    _ function: ElementFunction
  ) -> (String, @Sendable (Double, Arguments) -> Double) {
    (function.row.operation ?? "", { x, _ in function.value([x]) })
  }

  private static let functionsWithArguments: [String: @Sendable (Double, Arguments) -> Double] = [
    "relu6": { x, _ in min(max(x, 0), 6) },
    "linear_activation": { x, a in (a("alpha") ?? .nan) * x + (a("beta") ?? .nan) },
    "sigmoid_hard": { x, a in
      min(max((a("alpha") ?? .nan) * x + (a("beta") ?? .nan), 0), 1)
    },
    "leaky_relu": { x, a in x < 0 ? (a("alpha") ?? .nan) * x : x },
    "threshold": { x, a in max(x, a("alpha") ?? .nan) },
    "clip": { x, a in min(max(x, a("alpha") ?? .nan), a("beta") ?? .nan) },
    "inverse": { x, a in 1 / (x + (a("epsilon") ?? .nan)) },
    "log": { x, a in log(x + (a("epsilon") ?? .nan)) },
    "scaled_tanh": { x, a in (a("alpha") ?? .nan) * tanh((a("beta") ?? .nan) * x) },
  ]
}

/// A function that an operation computes.
enum RecognizedFunction {
  case identity
  case operation(String, [(String, Argument)])
  /// x · min(max(alpha · x + beta, 0), 1)
  case gated(alpha: Float, beta: Float)

  /// The number of operations.
  var count: Int {
    switch self {
    case .identity: 0
    case .operation: 1
    case .gated: 2
    }
  }

  /// The points where functions are compared: dense where they bend, a few far away.
  private static let points: [Double] =
    (-192...192).map { Double($0) / 16 } + [
      -1e6, -1e4, -300, -100, -50, -30, -20, -15, -1e-3, -1e-6, -1e-12, 1e-12, 1e-6, 1e-3, 15, 20,
      30, 50, 100, 300, 1e4, 1e6,
    ]
  /// A few of these points suffice to exclude most functions.
  private static let fewPoints: [Double] = [-1e6, -4, -1, -0.5, 0.25, 1, 3, 1e6]

  private typealias Candidate = (String, [(String, Argument)], @Sendable (Double) -> Double)

  private static let operations: [Candidate] =
    ElementFunction.activations.map { candidate($0) } + others

  private static let others: [Candidate] = [
    candidate(.gelu, [("mode", .text("EXACT"))]),
    candidate(.tanhGelu, [("mode", .text("TANH_APPROXIMATION"))]),
    ("gelu", [("mode", .text("SIGMOID_APPROXIMATION"))], { $0 / (1 + exp(-1.702 * $0)) }),
    ("relu6", [], { min(max($0, 0), 6) }),
  ]

  private static func candidate(
    _ function: ElementFunction, _ arguments: [(String, Argument)] = []
  ) -> Candidate { (function.row.operation ?? "", arguments, { function.value([$0]) }) }

  /// - Parameters:
  ///   - tolerance: the largest error, relative to max(|f(x)|, min(1, |x|)).
  ///   - function: the values at some points.
  init?(tolerance: Double, _ function: ([Double]) -> [Double]) {
    func error(_ values: [Double], _ points: [Double], _ f: (Double) -> Double) -> Double {
      zip(points, values).reduce(0) { largest, point in
        let expected = f(point.0)
        let error = abs(point.1 - expected)
        if error == 0 { return largest }
        let relative = error / max(min(1, abs(point.0)), abs(expected))
        return relative.isNaN ? .infinity : max(largest, relative)
      }
    }
    let few = function(Self.fewPoints)
    func fits(_ f: (Double) -> Double) -> Bool {
      few.count == Self.fewPoints.count && error(few, Self.fewPoints, f) <= tolerance
    }
    var candidates = Self.operations.filter { fits($0.2) }.map { (Self.operation($0, $1), $2) }
    if fits({ $0 }) { candidates.append((.identity, { $0 })) }
    let (low, high) = (few.first ?? .nan, few.last ?? .nan)
    let clipped = { @Sendable (x: Double) in min(max(x, low), high) }
    if low < high, max(abs(low), abs(high)) < 1e4, fits(clipped) {
      candidates.append(
        (
          .operation("clip", [("alpha", .number(Float(low))), ("beta", .number(Float(high)))]),
          clipped
        ))
    }
    let slope = Float(low / -1e6)
    let leaky = { @Sendable (x: Double) in x < 0 ? Double(slope) * x : x }
    if fits(leaky) {
      candidates.append((.operation("leaky_relu", [("alpha", .number(slope))]), leaky))
    }
    let isGate = low == 0 && abs(high - 1) <= tolerance
    let isGated = low == 0 && abs(high / 1e6 - 1) <= tolerance
    if candidates.isEmpty, !isGate, !isGated { return nil }
    let all = function(Self.points)
    if isGate || isGated {
      // The factor of x, or the function itself, rises linearly from 0 to 1.
      let gate = isGate ? all : zip(all, Self.points).map { $1 == 0 ? .nan : $0 / $1 }
      let middle = zip(Self.points, gate).filter { $0.1 > 0.05 && $0.1 < 0.95 }
      if let (x, y) = middle.first, let (u, v) = middle.last, u > x {
        let alpha = Float((v - y) / (u - x))
        let beta = Float(y - (v - y) / (u - x) * x)
        let line = { @Sendable (x: Double) in min(max(Double(alpha) * x + Double(beta), 0), 1) }
        candidates.append(
          isGate
            ? (
              .operation("sigmoid_hard", [("alpha", .number(alpha)), ("beta", .number(beta))]), line
            ) : (.gated(alpha: alpha, beta: beta), { @Sendable in $0 * line($0) }))
      }
    }
    let errors = candidates.map { error(all, Self.points, $0.1) }
    guard let best = errors.indices.min(by: { errors[$0] < errors[$1] }), errors[best] <= tolerance
    else { return nil }
    self = candidates[best].0
  }
}
