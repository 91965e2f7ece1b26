import CoreMLModel
import LibC
import TensorCore

extension OperationTable {
  /// Operations on two operands that are broadcast to each other.
  static let arithmetic: [Operation] = [
    Operation("add", "addv2", "radd", "biasadd") { try $0.combine(.sum, &$1) },
    Operation("addn") { try $0.combineAll(.sum, &$1) },
    Operation("subtract", "sub", "rsub") { try $0.combine(.difference, &$1) },
    Operation("multiply", "mul", "rmul") { try $0.combine(.product, &$1) },
    Operation("divide", "truediv", "truedivide", "div", "realdiv", "rtruediv") {
      try $0.combine(.quotient, &$1)
    },
    Operation("pow", "power") { call, network in
      // A positive number raised to a tensor and a tensor raised to a number need only
      // specification version 1.
      let base = try call.operand(0, "x", "x1").scalar
      if base ?? 0 > 0 { return try call.combine(.power, &network) }
      guard try call.operand(1, "y", "x2").scalar == nil else {
        return try call.combine(.power, &network)
      }
      return try call.broadcast(PowBroadcastable(), &network)
    },
    Operation("maximum") { try $0.combine(.maximum, &$1) },
    Operation("minimum") { try $0.combine(.minimum, &$1) },
    Operation("floordiv", "floordivide", "rfloordiv") { call, network in
      if let sizes = try call.sizeQuotient() { return [sizes] }
      return try call.broadcast(FloorDivBroadcastable(), &network)
    },
    Operation("mod", "floormod", "remainder", "rmod") { try $0.broadcast(ModBroadcastable(), &$1) },
  ]
}

/// A way to combine two operands.
private enum Combination {
  case sum, difference, product, quotient, power, maximum, minimum

  /// The combination of two sizes.
  func size(_ a: SymbolicSize, _ b: SymbolicSize) -> SymbolicSize {
    switch self {
    case .sum: .combined(a, b, +)
    case .difference: .combined(a, b, -)
    case .product: .product(a, b)
    case .quotient: .quotient(a, b, isWhole: false)
    case .power: .combined(a, b, pow)
    case .maximum: .combined(a, b, max)
    case .minimum: .combined(a, b, min)
    }
  }
}

extension OperationCall {
  fileprivate func combine(
    _ combination: Combination, _ network: inout KerasWriter, _ suffix: String = ""
  ) throws -> [KerasTensor] {
    var a = try operand(0, "x", "x1", "value", "a")
    var b = try operand(1, "y", "x2", "bias", "b")
    // A size that is combined with a tensor is a number.
    if case .tensor(let tensor) = b, tensor.sizes == nil { a = a.asNumber }
    if case .tensor(let tensor) = a, tensor.sizes == nil { b = b.asNumber }
    switch (a, b) {
    case (.tensor(let a), .tensor(let b)) where a.sizes == nil && b.sizes == nil:
      return try combine(combination, a, b, &network, name + suffix)
    case (.tensor(let tensor), .constant) where tensor.sizes == nil:
      if let number = b.scalar {
        return [tensor.with(network.combine(combination, tensor.blob, with: number, name + suffix))]
      }
      let constant = try self.tensor(b, like: tensor, &network)
      return try combine(combination, tensor, constant, &network, name + suffix)
    case (.constant, .tensor(let tensor)) where tensor.sizes == nil:
      if let number = a.scalar {
        return [tensor.with(network.combine(combination, number, with: tensor.blob, name + suffix))]
      }
      let constant = try self.tensor(a, like: tensor, &network)
      return try combine(combination, constant, tensor, &network, name + suffix)
    default: return [try combineSizes(combination, a, b)]
    }
  }

  fileprivate func combineAll(
    _ combination: Combination, _ network: inout KerasWriter
  ) throws -> [KerasTensor] {
    let tensors = try inputs(&network)
    guard combination == .sum, tensors.count > 1 else { return tensors }
    return try network.elementwise(Add(), call(tensors))
  }

  /// Arithmetic on sizes, computed at conversion time.
  private func combineSizes(_ combination: Combination, _ a: Operand, _ b: Operand) throws
    -> KerasTensor
  {
    func sizes(_ operand: Operand) throws -> KnownSizes {
      switch operand {
      case .tensor(let tensor):
        if let sizes = tensor.sizes { return sizes }
      case .constant(let value):
        if let number = value.double { return KnownSizes(SymbolicSize(number)) }
        if let values = value.array?.map(\.int), !values.contains(nil) {
          return KnownSizes(values: values.compactMap { $0 }.map { .known($0) })
        }
      }
      throw layer.unsupported("arithmetic on a shape and a tensor is not supported")
    }
    let (x, y) = (try sizes(a), try sizes(b))
    guard x.values.count == y.values.count || x.isScalar || y.isScalar else {
      throw layer.error("shapes of \(x.values.count) and \(y.values.count) sizes")
    }
    if let x = x.scalar, let y = y.scalar {
      return KerasTensor(sizes: KnownSizes(combination.size(x, y)))
    }
    return KerasTensor(
      sizes: KnownSizes(
        values: (0..<max(x.values.count, y.values.count)).map { index in
          combination.size(x.scalar ?? x.values[index], y.scalar ?? y.values[index])
        }))
  }

  /// The floor of a size divided by a number; nil for tensors.
  fileprivate func sizeQuotient() throws -> KerasTensor? {
    guard case .tensor(let tensor) = try operand(0, "x", "x1"), let size = tensor.sizes?.scalar,
      let divisor = try operand(1, "y", "x2").asNumber.scalar
    else { return nil }
    return KerasTensor(sizes: KnownSizes(.quotient(size, SymbolicSize(divisor), isWhole: true)))
  }

  private func combine(
    _ combination: Combination, _ a: KerasTensor, _ b: KerasTensor,
    _ network: inout KerasWriter, _ name: String
  ) throws -> [KerasTensor] {
    func elementwise(_ parameters: any LayerParameters, _ b: KerasTensor) throws -> [KerasTensor] {
      var call = call([a, b])
      call = LayerCall(
        name: name, className: call.className, inputs: call.inputs, version: call.version,
        weights: [], preferredImage: call.preferredImage)
      return try network.elementwise(parameters, call)
    }
    var b = b
    switch combination {
    case .sum: return try elementwise(Add(), b)
    case .product: return try elementwise(Multiply(), b)
    case .maximum: return try elementwise(Max(), b)
    case .minimum: return try elementwise(Min(), b)
    case .difference:
      b.blob = network.affine(b.blob, -1, 0, name + "__neg__")
      return try elementwise(Add(), b)
    case .quotient where network.maximumVersion < 4:
      b.blob = network.unary(.inverse, b.blob, name + "__inverse__", epsilon: .leastNormalMagnitude)
      return try elementwise(Multiply(), b)
    case .quotient, .power:
      let (inputs, result) = try network.merged(call([a, b]))
      let layer: any LayerParameters =
        combination == .power ? PowBroadcastable() : DivideBroadcastable()
      return [result.with(network.add(name, layer, inputs.map(\.blob)))]
    }
  }
}

extension KerasWriter {
  /// Combines a tensor on the left with a number on the right.
  fileprivate mutating func combine(
    _ combination: Combination, _ blob: String, with number: Double, _ name: String
  ) -> String {
    let value = Float(number)
    switch combination {
    case .sum: return affine(blob, 1, value, name)
    case .difference: return affine(blob, 1, -value, name)
    case .product: return affine(blob, value, 0, name)
    case .quotient: return affine(blob, Float(1 / number), 0, name)
    case .maximum: return unary(.threshold, blob, name, alpha: value)
    case .minimum: return smaller(blob, value, name)
    case .power:
      if number == 2 { return product(blob, blob, name) }
      if number == 0.5 { return unary(.sqrt, blob, name) }
      return unary(.power, blob, name, alpha: value)
    }
  }

  /// Combines a number on the left with a tensor on the right.
  fileprivate mutating func combine(
    _ combination: Combination, _ number: Double, with blob: String, _ name: String
  ) -> String {
    let value = Float(number)
    switch combination {
    case .sum, .product, .maximum, .minimum:
      return combine(combination, blob, with: number, name)
    case .difference: return affine(blob, -1, value, name)
    case .quotient: return quotient(value, blob, name)
    case .power:
      // aˣ = exp(x · ln a)
      return add(name, Unary().with(\.type, .exp).with(\.scale, Float(log(number))), [blob])
    }
  }

  /// number / x, which is infinite for x = 0. Before version 4, there is only an inverse, which
  /// adds a constant to x = 0.
  mutating func quotient(_ number: Float, _ blob: String, _ name: String) -> String {
    if maximumVersion < 4 {
      let inverse = unary(.inverse, blob, name + "__inverse__", epsilon: .leastNormalMagnitude)
      return affine(inverse, number, 0, name)
    }
    let dividend = add(name + "__dividend__", LoadConstant(Weights([number]), [1, 1, 1]), [])
    return add(name, DivideBroadcastable(), [dividend, blob])
  }

  /// min(x, limit) = −max(−limit, −x)
  mutating func smaller(_ blob: String, _ limit: Float, _ name: String) -> String {
    let negated = affine(blob, -1, 0, name + "__neg__")
    let clipped = unary(.threshold, negated, name + "__clip__", alpha: -limit)
    return affine(clipped, -1, 0, name)
  }
}
