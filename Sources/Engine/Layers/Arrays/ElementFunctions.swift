import CoreMLModel
import Kernels
import LibC
import TensorCore

/// A function of each element that the kernels do not have.
enum PointwiseFunction: Sendable {
  case ceil, floor, sign, round, exp2, sin, cos, tan, asin, acos, atan, sinh, cosh, asinh, acosh
  case atanh, erf, gelu, tanhGelu
  case clampedReLU(alpha: Float, beta: Float)

  func apply(
    _ input: UnsafePointer<Float>, _ output: UnsafeMutablePointer<Float>, _ count: Int
  ) {
    @inline(__always) func loop(_ function: (Float) -> Float) {
      for index in 0..<count { output[index] = function(input[index]) }
    }
    switch self {
    case .ceil: loop { $0.rounded(.up) }
    case .floor: loop { $0.rounded(.down) }
    case .sign: loop { $0 > 0 ? 1 : $0 < 0 ? -1 : $0 }
    case .round: loop { $0.rounded(.toNearestOrEven) }
    case .exp2: loop { exp2f($0) }
    case .sin: loop { sinf($0) }
    case .cos: loop { cosf($0) }
    case .tan: loop { tanf($0) }
    case .asin: loop { asinf($0) }
    case .acos: loop { acosf($0) }
    case .atan: loop { atanf($0) }
    case .sinh: loop { sinhf($0) }
    case .cosh: loop { coshf($0) }
    case .asinh: loop { asinhf($0) }
    case .acosh: loop { acoshf($0) }
    case .atanh: loop { atanhf($0) }
    case .erf: loop { Self.erf($0) }
    case .gelu: loop { 0.5 * $0 * (1 + Self.erf($0 * 0.70710678)) }
    case .tanhGelu:
      // x/2 · (1 + tanh u) = x / (1 + exp(−2u))
      loop { x in x / (1 + expf(-1.5957691 * (x + 0.044715 * x * x * x))) }
    case .clampedReLU(let alpha, let beta): loop { min(beta, $0 >= 0 ? $0 : alpha * $0) }
    }
  }

  /// A rational function within 5e-7 of erf, without branches, so that loops of it are vectors; the
  /// coefficients are Eigen's.
  @inline(__always) private static func erf(_ argument: Float) -> Float {
    let x = argument < -4 ? -4 : argument > 4 ? 4 : argument
    let z = x * x
    var p: Float = -2.72614225801306e-10
    p = p * z + 2.77068142495902e-08
    p = p * z - 2.10102402082508e-06
    p = p * z - 5.69250639462346e-05
    p = p * z - 7.34990630326855e-04
    p = p * z - 2.95459980854025e-03
    p = p * z - 1.60960333262415e-02
    var q: Float = -1.45660718464996e-05
    q = q * z - 2.13374055278905e-04
    q = q * z - 1.68282697438203e-03
    q = q * z - 7.37332916720468e-03
    q = q * z - 1.42647390514189e-02
    return x * p / q
  }

  /// Whether 0 stays 0, so that lanes without a channel stay clear.
  var keepsZero: Bool {
    switch self {
    case .exp2, .cos, .cosh, .acos, .acosh: false
    case .clampedReLU(_, let beta): beta >= 0
    default: true
    }
  }
}

/// A function of each element, in whatever layout the input has.
struct PointwiseOperation: NodeOperation {
  var function: PointwiseFunction

  var kind: String { "\(function)" }
  var canRunInPlace: Bool { true }

  func layoutWishes(_ shapes: NodeShapes) -> LayoutWishes { shapes.followingFirstInput() }

  func makeStep(_ context: StepContext) throws -> StepBody {
    let input = context.inputs[0]
    let output = context.outputs[0]
    let from = input.layout
    let to = output.layout
    let function = function
    if from.isDense, to.isDense {
      let total = to.shape.count
      let pieces = max(1, min(context.threadCount * 4, total / 1024))
      return { run in
        let source = UnsafePointer(run.pointer(input))
        let target = run.pointer(output)
        run.pool.forEach(pieces) { piece in
          let share = ThreadPool.share(of: total, piece, pieces)
          function.apply(source + share.lowerBound, target + share.lowerBound, share.count)
        }
      }
    }
    let isWhole = from.hasContiguousPlanes && to.hasContiguousPlanes
    let rows = isWhole ? 1 : to.shape.height
    let count = to.shape.width * to.block * (isWhole ? to.shape.height : 1)
    let clearsLanes = to.hasEmptyLanes && !function.keepsZero
    return { run in
      let source = UnsafePointer(run.pointer(input))
      let target = run.pointer(output)
      run.parallel(to.planes, writing: output) { plane in
        for row in 0..<rows {
          function.apply(
            source + from.planeOffset(plane) + row * from.rowStride,
            target + to.planeOffset(plane) + row * to.rowStride, count)
        }
        if clearsLanes { to.clearEmptyLanes(ofPlane: plane, in: target) }
      }
    }
  }
}

extension LayerLowering {
  fileprivate mutating func map(_ function: PointwiseFunction) throws -> [Graph.ValueID] {
    [add(PointwiseOperation(function: function), inputs, try outputShape())]
  }

  fileprivate mutating func map(_ function: ElementFunction) throws -> [Graph.ValueID] {
    [add(ElementwiseOperation(function: function), inputs, try outputShape())]
  }
}

extension Clip: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    try layer.map(ElementFunction(.clip, alpha: minVal, beta: maxVal))
  }
}

extension ClampedReLU: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    if alpha == 0, beta >= 0 { return try layer.map(ElementFunction(.clip, alpha: 0, beta: beta)) }
    return try layer.map(.clampedReLU(alpha: alpha, beta: beta))
  }
}

extension Gelu: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    switch mode {
    case .exact: try layer.map(.gelu)
    case .tanhApproximation: try layer.map(.tanhGelu)
    case .sigmoidApproximation: try layer.map(ElementFunction(.swish, alpha: 1.702))
    }
  }
}

extension Tanh: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    try layer.map(ElementFunction(.tanh))
  }
}

extension Ceil: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] { try layer.map(.ceil) }
}

extension Floor: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] { try layer.map(.floor) }
}

extension Sign: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] { try layer.map(.sign) }
}

extension Round: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] { try layer.map(.round) }
}

extension Exp2: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] { try layer.map(.exp2) }
}

extension Sin: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] { try layer.map(.sin) }
}

extension Cos: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] { try layer.map(.cos) }
}

extension Tan: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] { try layer.map(.tan) }
}

extension Asin: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] { try layer.map(.asin) }
}

extension Acos: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] { try layer.map(.acos) }
}

extension Atan: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] { try layer.map(.atan) }
}

extension Sinh: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] { try layer.map(.sinh) }
}

extension Cosh: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] { try layer.map(.cosh) }
}

extension Asinh: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] { try layer.map(.asinh) }
}

extension Acosh: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] { try layer.map(.acosh) }
}

extension Atanh: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] { try layer.map(.atanh) }
}

extension Erf: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] { try layer.map(.erf) }
}
