import CoreMLModel
import Kernels
import LibC
import TensorCore

/// A function of two values.
enum BinaryFunction: Sendable {
  case add, subtract, multiply, divide, floorDivide, modulo, power, maximum, minimum
  case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
  case and, or, exclusiveOr

  /// The kernel that computes the function, on planes of any layout, too.
  var kernel: CombiningFunction? {
    switch self {
    case .add: .add
    case .subtract: .subtract
    case .multiply: .multiply
    case .divide: .divide
    case .maximum: .maximum
    case .minimum: .minimum
    default: nil
    }
  }

  /// Computes `count` values; an operand's step is 1, or 0 where it has one value for all.
  func row(
    _ a: UnsafePointer<Float>, _ aStep: Int, _ b: UnsafePointer<Float>, _ bStep: Int,
    _ out: UnsafeMutablePointer<Float>, _ count: Int
  ) {
    @inline(__always) func loop(_ function: (Float, Float) -> Float) {
      switch (aStep, bStep) {
      case (0, 0): out.update(repeating: function(a[0], b[0]), count: count)
      case (0, _):
        let value = a[0]
        for index in 0..<count { out[index] = function(value, b[index]) }
      case (_, 0):
        let value = b[0]
        for index in 0..<count { out[index] = function(a[index], value) }
      default: for index in 0..<count { out[index] = function(a[index], b[index]) }
      }
    }
    switch self {
    case .add: loop { $0 + $1 }
    case .subtract: loop { $0 - $1 }
    case .multiply: loop { $0 * $1 }
    case .divide: loop { $0 / $1 }
    // Doubles, so that the quotient of two floats is never rounded up to a whole number.
    case .floorDivide: loop { Float((Double($0) / Double($1)).rounded(.down)) }
    case .modulo:
      loop { a, b in
        let rest = fmodf(a, b)
        return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest
      }
    case .power: loop { powf($0, $1) }
    case .maximum: loop { $0 > $1 || $0.isNaN ? $0 : $1 }
    case .minimum: loop { $0 < $1 || $0.isNaN ? $0 : $1 }
    case .equal: loop { $0 == $1 ? 1 : 0 }
    case .notEqual: loop { $0 != $1 ? 1 : 0 }
    case .less: loop { $0 < $1 ? 1 : 0 }
    case .lessOrEqual: loop { $0 <= $1 ? 1 : 0 }
    case .greater: loop { $0 > $1 ? 1 : 0 }
    case .greaterOrEqual: loop { $0 >= $1 ? 1 : 0 }
    case .and: loop { $0 != 0 && $1 != 0 ? 1 : 0 }
    case .or: loop { $0 != 0 || $1 != 0 ? 1 : 0 }
    case .exclusiveOr: loop { ($0 != 0) != ($1 != 0) ? 1 : 0 }
    }
  }
}

/// A function of two arrays that stretch to a common shape, in a walk over `sizes`.
struct BroadcastOperation: NodeOperation {
  var function: BinaryFunction
  var sizes: [Int]
  var firstStrides: [Int]
  var secondStrides: [Int]
  /// Whether the operands repeat whole axes of `[Seq, Batch, C, H, W]`.
  var fitsPlanes: Bool

  var kind: String { "\(function)" }

  func layoutWishes(_ shapes: NodeShapes) -> LayoutWishes {
    guard let kernel = function.kernel, fitsPlanes, shapes.producedBlocks.contains(.blocked) else {
      return shapes.allDense()
    }
    return CombineOperation(function: kernel).layoutWishes(shapes)
  }

  func describe(_ context: StepContext) -> StepNote { StepNote(kernel: kind) }

  func makeStep(_ context: StepContext) throws -> StepBody {
    let output = context.outputs[0]
    if let kernel = function.kernel, !output.layout.isDense {
      return try CombineOperation(function: kernel).makeStep(context)
    }
    let (first, second) = (context.inputs[0], context.inputs[1])
    let length = sizes.last ?? 1
    let outer = Array(sizes.dropLast())
    let (aStep, bStep) = (firstStrides.last ?? 0, secondStrides.last ?? 0)
    let (aSteps, bSteps) = (Array(firstStrides.dropLast()), Array(secondStrides.dropLast()))
    // Long rows are cut, short ones gathered.
    let chunk = 1 << 13
    let chunks = (length + chunk - 1) / chunk
    let count = outer.reduce(1, *) * chunks
    let pieces = min(count, context.threadCount * 8)
    let function = function
    let combine = function.kernel.map { kernel in (kernel, context.kernels.combine) }
    return { run in
      let a = UnsafePointer(run.pointer(first))
      let b = UnsafePointer(run.pointer(second))
      let target = run.pointer(output)
      run.pool.forEach(pieces) { piece in
        for unit in ThreadPool.share(of: count, piece, pieces) {
          let start = unit % chunks * chunk
          let run = min(chunk, length - start)
          var row = unit / chunks
          let to = target + row * length + start
          var from = (a + start * aStep, b + start * bStep)
          for axis in outer.indices.reversed() {
            let place = row % outer[axis]
            row /= outer[axis]
            from.0 += place * aSteps[axis]
            from.1 += place * bSteps[axis]
          }
          if let (kernel, combine) = combine, aStep == 1, bStep == 1 {
            withUnsafeTemporaryAllocation(of: CombiningOperand.self, capacity: 2) { operands in
              operands.initializeElement(at: 0, to: CombiningOperand(from.0))
              operands.initializeElement(at: 1, to: CombiningOperand(from.1))
              guard let operands = operands.baseAddress else { return }
              combine(
                CombiningArguments(
                  function: kernel, operands: UnsafePointer(operands), operandCount: 2, output: to,
                  count: run))
            }
          } else {
            function.row(from.0, aStep, from.1, bStep, to, run)
          }
        }
      }
    }
  }
}

extension LayerLowering {
  /// A function of two values of any shapes that stretch to `shape`.
  mutating func broadcast(
    _ function: BinaryFunction, _ a: Graph.ValueID, _ b: Graph.ValueID, _ shape: Shape
  ) throws -> Graph.ValueID {
    for (value, other) in [(b, a), (a, b)] where graph.shape(other) == shape {
      // A number for all elements; a quotient's would have to be rounded first.
      guard let constant = graph.values[value].constant, graph.shape(value).count == 1 else {
        continue
      }
      let number = constant.pointer[0]
      let linear: ElementFunction? =
        switch function {
        case .add: ElementFunction(.linear, alpha: 1, beta: number)
        case .multiply: ElementFunction(.linear, alpha: number, beta: 0)
        case .subtract where value == b: ElementFunction(.linear, alpha: 1, beta: -number)
        default: nil
        }
      if let linear { return add(ElementwiseOperation(function: linear), [other], shape) }
    }
    if let kernel = function.kernel, graph.shape(a) == shape, graph.shape(b) == shape {
      return add(CombineOperation(function: kernel), [a, b], shape)
    }
    let operands = try [a, b].map { value in
      let own = graph.shape(value).dimensions
      let padded = [Int](repeating: 1, count: shape.rank - own.count) + own
      return try view(value, try Shape(padded))
    }
    let planes = try shape.planes.dimensions
    let fits = try operands.allSatisfy { operand in
      zip(try graph.shape(operand).planes.dimensions, planes).allSatisfy { $0 == 1 || $0 == $1 }
    }
    let strides = operands.map {
      ArrayStrides.stretched(graph.shape($0).dimensions, to: shape.dimensions)
    }
    let walk = ArrayStrides.merged(shape.dimensions, strides)
    let operation = BroadcastOperation(
      function: function, sizes: walk.sizes, firstStrides: walk.operands[0],
      secondStrides: walk.operands[1], fitsPlanes: fits)
    return add(operation, operands, shape)
  }

  /// The function of all inputs, from the first to the last.
  fileprivate mutating func broadcast(_ function: BinaryFunction) throws -> [Graph.ValueID] {
    let shape = try outputShape()
    if inputs.count > 2, let kernel = function.kernel,
      inputShapes.allSatisfy({ $0 == shape })
    {
      return [add(CombineOperation(function: kernel), inputs, shape)]
    }
    var result = inputs[0]
    for (index, input) in inputs.enumerated().dropFirst() {
      let isLast = index == inputs.count - 1
      let shapes = [graph.shape(result).dimensions, graph.shape(input).dimensions]
      let stretched = isLast ? shape : try Shape(try ArrayShape.broadcast(shapes))
      result = try broadcast(function, result, input, stretched)
    }
    return [result]
  }
}

extension AddBroadcastable: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] { try layer.broadcast(.add) }
}

extension SubtractBroadcastable: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    try layer.broadcast(.subtract)
  }
}

extension MultiplyBroadcastable: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    try layer.broadcast(.multiply)
  }
}

extension DivideBroadcastable: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    try layer.broadcast(.divide)
  }
}

extension FloorDivBroadcastable: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    try layer.broadcast(.floorDivide)
  }
}

extension ModBroadcastable: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    try layer.broadcast(.modulo)
  }
}

extension PowBroadcastable: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    try layer.broadcast(.power)
  }
}

extension MaxBroadcastable: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    try layer.broadcast(.maximum)
  }
}

extension MinBroadcastable: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    try layer.broadcast(.minimum)
  }
}
