import CoreMLModel
import Formulas
import LibC
import TensorCore

extension FormulaLowering {
  // MARK: Sums, products, extremes

  mutating func sum(_ lines: [Line], _ constant: Value?) throws -> Value {
    var result = lines[0]
    if lines.count > 1 {
      // A factor or offset common to all terms is applied to their sum.
      let isCommon = lines.allSatisfy { $0.scale == lines[0].scale && !Line.isLarge($0.shift) }
      let scale = isCommon ? lines[0].scale : 1
      var shift = 0.0
      let blobs = lines.map { line in
        if Line.isLarge(line.shift) { return settled(line) }
        shift += line.shift
        return settled(Line(blob: line.blob, scale: line.scale / scale))
      }
      result = Line(
        blob: add("sum", Add(), blobs, try broadcast(blobs)), scale: scale, shift: shift)
    }
    guard let constant else { return .line(result) }
    if let number = constant.number { return .line(result.plus(number)) }
    if Line.isLarge(result.shift) { result = Line(blob: settled(result)) }
    let blob = settled(Line(blob: result.blob, scale: result.scale))
    guard case .constant(let array) = constant, let shape = scaleShape(array, shapes[blob]) else {
      let blobs = [blob, try self.blob(constant)]
      return .line(Line(blob: add("sum", Add(), blobs, try broadcast(blobs)), shift: result.shift))
    }
    var bias = Bias()
    bias.shape = shape
    bias.bias = Weights(array.elements.map { Float($0 + result.shift) })
    return .line(Line(blob: add("bias", bias, [blob], shapes[blob])))
  }

  mutating func product(_ lines: [Line], _ constant: Value?) throws -> Value {
    var result = lines[0]
    if lines.count > 1 {
      let blobs = lines.map { $0.shift == 0 ? $0.blob : settled($0) }
      let scale = lines.reduce(1) { $1.shift == 0 ? $0 * $1.scale : $0 }
      result = Line(blob: add("product", Multiply(), blobs, try broadcast(blobs)), scale: scale)
    }
    guard let constant else { return .line(result) }
    if let number = constant.number { return .line(result.times(number)) }
    guard case .constant(let array) = constant, let shape = scaleShape(array, shapes[result.blob])
    else {
      let blobs = [settled(result), try blob(constant)]
      return .line(Line(blob: add("product", Multiply(), blobs, try broadcast(blobs))))
    }
    var scale = Scale()
    scale.shapeScale = shape
    scale.scale = Weights(array.elements.map { Float($0 * result.scale) })
    if result.shift != 0 {
      scale.hasBias = true
      scale.shapeBias = shape
      scale.bias = Weights(array.elements.map { Float($0 * result.shift) })
    }
    return .line(Line(blob: add("scale", scale, [result.blob], shapes[result.blob])))
  }

  /// The shape `[C]`, `[1, H, W]` or `[C, H, W]` of a constant that broadcasts to a blob of known
  /// size without enlarging it.
  private func scaleShape(_ array: FormulaArray, _ blob: [Int?]) -> [Int]? {
    guard array.shape.count == 5, array.shape[0] == 1, array.shape[1] == 1,
      zip(array.shape, blob).allSatisfy({ $0 == 1 || $0 == $1 })
    else { return nil }
    let (channels, height, width) = (array.shape[2], array.shape[3], array.shape[4])
    if height == 1, width == 1 { return [channels] }
    guard height == blob[3], width == blob[4], channels == 1 || channels == blob[2] else {
      return nil
    }
    return [channels, height, width]
  }

  mutating func greatest(_ lines: [Line], _ constant: Value?) throws -> Value {
    if lines.count == 2, constant == nil, lines[0].blob == lines[1].blob,
      lines[0].shift == 0, lines[1].shift == 0
    {
      let slopes = [lines[0].scale, lines[1].scale].sorted()
      if slopes[1] == 1, slopes[0] >= 0 {
        let blob = lines[0].blob
        return .line(
          Line(
            blob: add(
              "leaky", Activation(.leakyReLU(alpha: Float(slopes[0]))), [blob], shapes[blob])))
      }
    }
    guard lines.count == 1, let number = constant?.number else {
      return try extreme(Max(), "max", lines, constant)
    }
    if number == 0 { return rectified(lines[0]) }
    return .line(unary(.threshold, lines[0], alpha: Float(number)))
  }

  mutating func extreme(
    _ parameters: any LayerParameters, _ kind: String, _ lines: [Line], _ constant: Value?
  ) throws -> Value {
    var blobs = lines.map { settled($0) }
    if let constant { blobs.append(try blob(constant)) }
    guard blobs.count > 1 else { return .line(Line(blob: blobs[0])) }
    let shape = try broadcast(blobs)
    // These layers require operands with the same shape.
    if let wide = blobs.first(where: { shapes[$0] == shape }),
      blobs.contains(where: { shapes[$0] != shape })
    {
      let zeros = settled(Line(blob: wide, scale: 0))
      for (index, blob) in blobs.enumerated() where shapes[blob] != shape {
        blobs[index] = add("stretched", Add(), [blob, zeros], shape)
      }
    }
    return .line(Line(blob: add(kind, parameters, blobs, shape)))
  }

  private func broadcast(_ blobs: [Int]) throws -> [Int?] {
    try Expression.broadcast(blobs.map { shapes[$0] })
  }

  private mutating func rectified(_ line: Line) -> Value {
    // A positive factor can be applied after ReLU.
    let isScaled = line.shift == 0 && line.scale > 0
    let input = isScaled ? line.blob : settled(line)
    let blob = add("relu", Activation(.relu), [input], shapes[input])
    return .line(Line(blob: blob, scale: isScaled ? line.scale : 1))
  }

  /// A function of scale · x + shift; the layer itself applies scale and shift.
  private mutating func unary(
    _ operation: Unary.Operation, _ line: Line, alpha: Float = 0
  ) -> Line {
    var layer = Unary()
    layer.type = operation
    layer.alpha = alpha
    layer.epsilon = .leastNormalMagnitude
    var blob = line.blob
    if Float(line.scale) == 0 {
      blob = settled(line)
      layer.scale = 1
    } else {
      layer.scale = Float(line.scale)
      layer.shift = Float(line.shift)
    }
    return Line(blob: add("\(operation)", layer, [blob], shapes[blob]))
  }

  // MARK: Functions

  mutating func apply(_ function: ElementFunction, _ operands: [Value]) throws -> Value {
    switch function {
    case .divide: return try quotient(operands[0], operands[1])
    case .power: return try power(operands[0], operands[1])
    case .clip: return try clipped(operands)
    case .less: return try comparison(LessThan(), GreaterThan(), operands)
    case .lessEqual: return try comparison(LessEqual(), GreaterEqual(), operands)
    case .greater: return try comparison(GreaterThan(), LessThan(), operands)
    case .greaterEqual: return try comparison(GreaterEqual(), LessEqual(), operands)
    case .equal: return try comparison(Equal(), Equal(), operands)
    case .notEqual: return try comparison(NotEqual(), NotEqual(), operands)
    default: break
    }
    let known = ElementFunction.layers[function]
    if function.operandCount > 1 && function != .elu, let (kind, parameters) = known {
      return try layer(parameters, kind, operands)
    }
    guard case .line(let line) = operands[0] else {
      throw ModelError(.unsupported, "\(function) of a constant is not supported")
    }
    switch function {
    case .negative: return .line(line.times(-1))
    case .abs: return .line(unary(.abs, line))
    case .sqrt: return .line(unary(.sqrt, line))
    case .rsqrt: return .line(unary(.rsqrt, line))
    case .reciprocal: return .line(unary(.inverse, line))
    case .square: return try product([line, line], nil)
    case .exp: return .line(unary(.exp, line))
    case .expm1: return .line(unary(.exp, line).plus(-1))
    case .log: return .line(unary(.log, line))
    case .log1p: return .line(unary(.log, line.plus(1)))
    case .relu: return rectified(line)
    case .tanh where line.shift == 0 && line.scale != 1:
      return activation(
        "tanh", .scaledTanh(alpha: 1, beta: Float(line.scale)), Line(blob: line.blob))
    case .elu:
      let alpha = try operands[1].number.orThrow(
        ModelError(.unsupported, "elu with an array as alpha is not supported"))
      return activation("elu", .elu(alpha: Float(alpha)), line)
    default:
      if let plain = Activation.Function.plain[function.rawValue] {
        return activation(function.rawValue, plain.function, line)
      }
      guard let (kind, parameters) = known else {
        throw ModelError(.internal, "there is no layer for \(function)")
      }
      return try layer(parameters, kind, operands)
    }
  }

  private mutating func activation(
    _ kind: String, _ function: Activation.Function, _ line: Line
  ) -> Value {
    let input = settled(line)
    return .line(Line(blob: add(kind, Activation(function), [input], shapes[input])))
  }

  private mutating func layer(
    _ parameters: any LayerParameters, _ kind: String, _ operands: [Value]
  ) throws -> Value {
    var blobs: [Int] = []
    for operand in operands { blobs.append(try blob(operand)) }
    return .line(Line(blob: add(kind, parameters, blobs, try broadcast(blobs))))
  }

  private mutating func comparison<Forward: ComparisonLayer, Backward: ComparisonLayer>(
    _ forward: Forward, _ backward: Backward, _ operands: [Value]
  ) throws -> Value {
    // A constant operand becomes part of the layer.
    if let number = operands[1].number {
      var parameters = forward
      parameters.alpha = Float(number)
      return try layer(parameters, "condition", [operands[0]])
    }
    if let number = operands[0].number {
      var parameters = backward
      parameters.alpha = Float(number)
      return try layer(parameters, "condition", [operands[1]])
    }
    return try layer(forward, "condition", operands)
  }

  private mutating func quotient(_ a: Value, _ b: Value) throws -> Value {
    switch (a, b) {
    case (.line(let line), .constant(let array)):
      if let number = b.number {
        return .line(Line(blob: line.blob, scale: line.scale / number, shift: line.shift / number))
      }
      return try product(
        [line], .constant(FormulaArray(array.shape, array.elements.map { 1 / $0 })))
    case (.constant, .line(let divisor)):
      return try product([unary(.inverse, divisor)], a)
    case (.line(let line), .line(let divisor)):
      return try product([line, unary(.inverse, divisor)], nil)
    case (.constant, .constant):
      throw ModelError(.internal, "a quotient of constants is not supported")
    }
  }

  private mutating func power(_ a: Value, _ b: Value) throws -> Value {
    if case .line(let line) = a, let exponent = b.number {
      switch exponent {
      case 0.5: return .line(unary(.sqrt, line))
      case 1: return a
      case 2: return try product([line, line], nil)
      case -1: return .line(unary(.inverse, line))
      case -0.5: return .line(unary(.rsqrt, line))
      default: return .line(unary(.power, line, alpha: Float(exponent)))
      }
    }
    if let base = a.number, base > 0, case .line(let line) = b {
      return .line(unary(.exp, line.times(log(base))))
    }
    return try layer(PowBroadcastable(), "power", [a, b])
  }

  private mutating func clipped(_ operands: [Value]) throws -> Value {
    guard case .line(let line) = operands[0], let low = operands[1].number,
      let high = operands[2].number
    else {
      let raised = try layer(MaxBroadcastable(), "max", [operands[0], operands[1]])
      return try layer(MinBroadcastable(), "min", [raised, operands[2]])
    }
    if low == 0, high == 1 {
      return activation(
        "hard_sigmoid", .sigmoidHard(alpha: Float(line.scale), beta: Float(line.shift)),
        Line(blob: line.blob))
    }
    guard case .line(let raised) = try greatest([line], operands[1]),
      case .line(let lowered) = try greatest(
        [raised.times(-1)], .constant(FormulaArray(-high)))
    else { throw ModelError(.internal, "a clip of a constant is not supported") }
    return .line(lowered.times(-1))
  }
}

extension ElementFunction {
  /// Functions that correspond to a single Core ML layer.
  package static let layers: [ElementFunction: (kind: String, any LayerParameters)] = [
    .choose: ("where", WhereBroadcastable()), .floorDivide: ("quotient", FloorDivBroadcastable()),
    .modulo: ("modulo", ModBroadcastable()), .logicalAnd: ("and", LogicalAnd()),
    .logicalOr: ("or", LogicalOr()), .logicalNot: ("not", LogicalNot()), .sign: ("sign", Sign()),
    .floor: ("floor", Floor()), .ceil: ("ceil", Ceil()), .round: ("round", Round()),
    .sin: ("sin", Sin()), .cos: ("cos", Cos()), .tan: ("tan", Tan()), .asin: ("asin", Asin()),
    .acos: ("acos", Acos()), .atan: ("atan", Atan()), .sinh: ("sinh", Sinh()),
    .cosh: ("cosh", Cosh()), .erf: ("erf", Erf()),
  ]
}
