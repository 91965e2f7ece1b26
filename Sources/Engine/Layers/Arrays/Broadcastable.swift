import CoreMLModel
import Kernels
import TensorCore

/// A function of arrays broadcast to a common shape, computed as a traversal of `sizes`.
struct BroadcastOperation: NodeOperation {
  var function: CombiningFunction
  var sizes: [Int]
  /// Strides of each operand; the last one is 1, or 0 if a row repeats a single value.
  var strides: [[Int]]
  /// Whether the operands repeat whole axes of `[Seq, Batch, C, H, W]`.
  var fitsPlanes: Bool

  var kind: String { "\(function)" }

  func layoutWishes(_ shapes: NodeShapes) -> LayoutPreferences {
    guard fitsPlanes, shapes.producedBlocks.contains(.blocked) else { return shapes.allDense() }
    return CombineOperation(function: function).layoutWishes(shapes)
  }

  func describe(_ context: StepContext) -> StepNote { StepNote(kernel: kind) }

  func makeStep(_ context: StepContext) throws -> StepBody {
    let inputs = context.inputs
    let output = context.outputs[0]
    if !output.layout.isDense { return try CombineOperation(function: function).makeStep(context) }
    let length = sizes.last ?? 1
    let outer = Array(sizes.dropLast())
    let broadcasts = strides.map { $0.last == 0 ? Broadcast.all : .none }
    // Long rows are divided, short ones combined.
    let chunk = 1 << 13
    let chunks = (length + chunk - 1) / chunk
    let count = outer.reduce(1, *) * chunks
    let pieces = min(count, context.threadCount * 8)
    let (function, strides) = (function, strides)
    let combine = context.kernels.combine
    return { run in
      let sources = inputs.map { UnsafePointer(run.pointer($0)) }
      let target = run.pointer(output)
      run.pool.forEach(pieces) { piece in
        withUnsafeTemporaryAllocation(of: CombiningOperand.self, capacity: sources.count) {
          operands in
          guard let first = operands.baseAddress else { return }
          for unit in ThreadPool.share(of: count, piece, pieces) {
            let start = unit % chunks * chunk
            for (index, source) in sources.enumerated() {
              var row = unit / chunks
              var offset = broadcasts[index] == .all ? 0 : start
              for axis in outer.indices.reversed() {
                offset += row % outer[axis] * strides[index][axis]
                row /= outer[axis]
              }
              (first + index).initialize(to: CombiningOperand(source + offset, broadcasts[index]))
            }
            combine(
              CombiningArguments(
                function: function, operands: first, operandCount: sources.count,
                output: target + unit / chunks * length + start, count: min(chunk, length - start)))
          }
        }
      }
    }
  }
}

extension Float {
  /// Whether division by the number equals multiplication by its reciprocal: whether it is a power
  /// of two.
  fileprivate var hasExactReciprocal: Bool {
    isNormal && (1 / self).isNormal && magnitude.significand == 1
  }
}

extension LayerLowering {
  /// The value with axes of length 1 in front, up to the rank.
  mutating func padded(_ value: Graph.ValueID, rank: Int) throws -> Graph.ValueID {
    let own = graph.shape(value).dimensions
    return try view(value, Shape([Int](repeating: 1, count: max(0, rank - own.count)) + own))
  }

  /// A function of values broadcast to `shape`.
  mutating func broadcast(
    _ function: CombiningFunction, _ values: [Graph.ValueID], _ shape: Shape
  ) throws -> Graph.ValueID {
    if values.count == 2 {
      for (value, other) in [(values[1], values[0]), (values[0], values[1])]
      where graph.shape(other) == shape {
        // A single number for all elements. The reciprocal of a divisor must be exact.
        guard let constant = graph.values[value].constant, graph.shape(value).count == 1 else {
          continue
        }
        let number = constant.pointer[0]
        let linear: ScaledFunction? =
          switch function {
          case .add: ScaledFunction(.linear, alpha: 1, beta: number)
          case .multiply: ScaledFunction(.linear, alpha: number, beta: 0)
          case .subtract where value == values[1]:
            ScaledFunction(.linear, alpha: 1, beta: -number)
          case .divide where value == values[1] && number.hasExactReciprocal:
            ScaledFunction(.linear, alpha: 1 / number, beta: 0)
          default: nil
          }
        if let linear { return add(ElementwiseOperation(function: linear), [other], shape) }
      }
    }
    if values.allSatisfy({ graph.shape($0) == shape }) {
      return add(CombineOperation(function: function), values, shape)
    }
    let operands = try values.map { try padded($0, rank: shape.rank) }
    let fits = operands.allSatisfy { graph.shape($0).hasPlanes(repeatedTo: shape) }
    let strides = operands.map {
      ArrayStrides.broadcast(graph.shape($0).dimensions, to: shape.dimensions)
    }
    let walk = ArrayStrides.merged(shape.dimensions, strides)
    let operation = BroadcastOperation(
      function: function, sizes: walk.sizes, strides: walk.operands, fitsPlanes: fits)
    return add(operation, operands, shape)
  }

  /// The function of all inputs, from first to last.
  fileprivate mutating func broadcast(_ function: CombiningFunction) throws -> Graph.ValueID {
    let shape = try outputShape()
    if inputs.count > 2, inputShapes.allSatisfy({ $0 == shape }) {
      return try broadcast(function, inputs, shape)
    }
    var result = inputs[0]
    for (index, input) in inputs.enumerated().dropFirst() {
      let isLast = index == inputs.count - 1
      let shapes = [graph.shape(result).dimensions, graph.shape(input).dimensions]
      let joined = isLast ? shape : try Shape(try ArrayShape.broadcast(shapes))
      result = try broadcast(function, [result, input], joined)
    }
    return result
  }
}

/// A function of pairs of elements from arrays broadcast to a common shape.
protocol PairLayer: EngineLayer { static var function: CombiningFunction { get } }

extension PairLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    [try layer.broadcast(Self.function)]
  }
}

extension PairLayer where Self: ComparisonLayer {
  /// Compares a single input with `alpha`.
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let inputs = layer.inputs
    let other = try inputs.count > 1 ? inputs[1] : layer.constant([alpha], Shape([1]))
    return [try layer.broadcast(Self.function, [inputs[0], other], try layer.outputShape())]
  }
}

extension AddBroadcastable: PairLayer { static let function = CombiningFunction.add }
extension SubtractBroadcastable: PairLayer { static let function = CombiningFunction.subtract }
extension MultiplyBroadcastable: PairLayer { static let function = CombiningFunction.multiply }
extension DivideBroadcastable: PairLayer { static let function = CombiningFunction.divide }
extension FloorDivBroadcastable: PairLayer { static let function = CombiningFunction.floorDivide }
extension ModBroadcastable: PairLayer { static let function = CombiningFunction.modulo }
extension PowBroadcastable: PairLayer { static let function = CombiningFunction.power }
extension MaxBroadcastable: PairLayer { static let function = CombiningFunction.maximum }
extension MinBroadcastable: PairLayer { static let function = CombiningFunction.minimum }
extension LogicalAnd: PairLayer { static let function = CombiningFunction.logicalAnd }
extension LogicalOr: PairLayer { static let function = CombiningFunction.logicalOr }
extension LogicalXor: PairLayer { static let function = CombiningFunction.logicalXor }
extension Equal: PairLayer { static let function = CombiningFunction.equal }
extension NotEqual: PairLayer { static let function = CombiningFunction.notEqual }
extension LessThan: PairLayer { static let function = CombiningFunction.less }
extension LessEqual: PairLayer { static let function = CombiningFunction.lessEqual }
extension GreaterThan: PairLayer { static let function = CombiningFunction.greater }
extension GreaterEqual: PairLayer { static let function = CombiningFunction.greaterEqual }

extension LogicalNot: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let zero = try layer.constant([0], Shape([1]))
    return [try layer.broadcast(.equal, [layer.inputs[0], zero], try layer.outputShape())]
  }
}

extension WhereBroadcastable: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    [try layer.broadcast(.choose, layer.inputs, try layer.outputShape())]
  }
}
