import CAssayPlugin
import Foundation

/// The program's functions, which are vectorised for its processor and are those of its own layers.
private var host: UnsafePointer<assay_host>? { assay_plugin_host() }

private typealias HostUnary =
  @convention(c) (UnsafePointer<Float>?, UnsafeMutablePointer<Float>?, Int) -> Void
private typealias HostBinary =
  @convention(c) (
    UnsafePointer<Float>?, UnsafePointer<Float>?, UnsafeMutablePointer<Float>?, Int
  ) -> Void

@inline(__always)
private func apply(
  _ function: HostUnary?, _ x: UnsafePointer<Float>, _ y: UnsafeMutablePointer<Float>,
  _ count: Int32, _ plain: (Float) -> Float
) {
  if let function { return function(x, y, max(0, Int(count))) }
  apply(x, y, count, plain)
}

@inline(__always)
private func apply<Value>(
  _ x: UnsafePointer<Value>, _ y: UnsafeMutablePointer<Value>, _ count: Int32,
  _ body: (Value) -> Value
) {
  for i in 0..<max(0, Int(count)) { y[i] = body(x[i]) }
}

@inline(__always)
private func apply(
  _ function: HostBinary?, _ a: UnsafePointer<Float>, _ b: UnsafePointer<Float>,
  _ result: UnsafeMutablePointer<Float>, _ count: Int32, _ plain: (Float, Float) -> Float
) {
  if let function { return function(a, b, result, max(0, Int(count))) }
  apply(a, b, result, count, plain)
}

@inline(__always)
private func apply<Value>(
  _ a: UnsafePointer<Value>, _ b: UnsafePointer<Value>, _ result: UnsafeMutablePointer<Value>,
  _ count: Int32, _ body: (Value, Value) -> Value
) {
  for i in 0..<max(0, Int(count)) { result[i] = body(a[i], b[i]) }
}

/// y = exp(x)
public func vvexpf(
  _ y: UnsafeMutablePointer<Float>, _ x: UnsafePointer<Float>, _ n: UnsafePointer<Int32>
) {
  apply(host?.pointee.exponential, x, y, n.pointee) { expf($0) }
}

public func vvexp(
  _ y: UnsafeMutablePointer<Double>, _ x: UnsafePointer<Double>, _ n: UnsafePointer<Int32>
) {
  apply(x, y, n.pointee) { exp($0) }
}

/// y = 2^x
public func vvexp2f(
  _ y: UnsafeMutablePointer<Float>, _ x: UnsafePointer<Float>, _ n: UnsafePointer<Int32>
) {
  apply(x, y, n.pointee) { exp2f($0) }
}

public func vvexp2(
  _ y: UnsafeMutablePointer<Double>, _ x: UnsafePointer<Double>, _ n: UnsafePointer<Int32>
) {
  apply(x, y, n.pointee) { exp2($0) }
}

/// y = exp(x) − 1
public func vvexpm1f(
  _ y: UnsafeMutablePointer<Float>, _ x: UnsafePointer<Float>, _ n: UnsafePointer<Int32>
) {
  apply(x, y, n.pointee) { expm1f($0) }
}

public func vvexpm1(
  _ y: UnsafeMutablePointer<Double>, _ x: UnsafePointer<Double>, _ n: UnsafePointer<Int32>
) {
  apply(x, y, n.pointee) { expm1($0) }
}

/// y = log(x)
public func vvlogf(
  _ y: UnsafeMutablePointer<Float>, _ x: UnsafePointer<Float>, _ n: UnsafePointer<Int32>
) {
  apply(host?.pointee.logarithm, x, y, n.pointee) { logf($0) }
}

public func vvlog(
  _ y: UnsafeMutablePointer<Double>, _ x: UnsafePointer<Double>, _ n: UnsafePointer<Int32>
) {
  apply(x, y, n.pointee) { log($0) }
}

/// y = log(1 + x)
public func vvlog1pf(
  _ y: UnsafeMutablePointer<Float>, _ x: UnsafePointer<Float>, _ n: UnsafePointer<Int32>
) {
  apply(x, y, n.pointee) { log1pf($0) }
}

public func vvlog1p(
  _ y: UnsafeMutablePointer<Double>, _ x: UnsafePointer<Double>, _ n: UnsafePointer<Int32>
) {
  apply(x, y, n.pointee) { log1p($0) }
}

/// y = log₂(x)
public func vvlog2f(
  _ y: UnsafeMutablePointer<Float>, _ x: UnsafePointer<Float>, _ n: UnsafePointer<Int32>
) {
  apply(x, y, n.pointee) { log2f($0) }
}

public func vvlog2(
  _ y: UnsafeMutablePointer<Double>, _ x: UnsafePointer<Double>, _ n: UnsafePointer<Int32>
) {
  apply(x, y, n.pointee) { log2($0) }
}

/// y = log₁₀(x)
public func vvlog10f(
  _ y: UnsafeMutablePointer<Float>, _ x: UnsafePointer<Float>, _ n: UnsafePointer<Int32>
) {
  apply(x, y, n.pointee) { log10f($0) }
}

public func vvlog10(
  _ y: UnsafeMutablePointer<Double>, _ x: UnsafePointer<Double>, _ n: UnsafePointer<Int32>
) {
  apply(x, y, n.pointee) { log10($0) }
}

/// y = tanh(x)
public func vvtanhf(
  _ y: UnsafeMutablePointer<Float>, _ x: UnsafePointer<Float>, _ n: UnsafePointer<Int32>
) {
  apply(host?.pointee.tangent_hyperbolic, x, y, n.pointee) { tanhf($0) }
}

public func vvtanh(
  _ y: UnsafeMutablePointer<Double>, _ x: UnsafePointer<Double>, _ n: UnsafePointer<Int32>
) {
  apply(x, y, n.pointee) { tanh($0) }
}

/// y = sinh(x)
public func vvsinhf(
  _ y: UnsafeMutablePointer<Float>, _ x: UnsafePointer<Float>, _ n: UnsafePointer<Int32>
) {
  apply(x, y, n.pointee) { sinhf($0) }
}

public func vvsinh(
  _ y: UnsafeMutablePointer<Double>, _ x: UnsafePointer<Double>, _ n: UnsafePointer<Int32>
) {
  apply(x, y, n.pointee) { sinh($0) }
}

/// y = cosh(x)
public func vvcoshf(
  _ y: UnsafeMutablePointer<Float>, _ x: UnsafePointer<Float>, _ n: UnsafePointer<Int32>
) {
  apply(x, y, n.pointee) { coshf($0) }
}

public func vvcosh(
  _ y: UnsafeMutablePointer<Double>, _ x: UnsafePointer<Double>, _ n: UnsafePointer<Int32>
) {
  apply(x, y, n.pointee) { cosh($0) }
}

/// y = sin(x)
public func vvsinf(
  _ y: UnsafeMutablePointer<Float>, _ x: UnsafePointer<Float>, _ n: UnsafePointer<Int32>
) {
  apply(x, y, n.pointee) { sinf($0) }
}

public func vvsin(
  _ y: UnsafeMutablePointer<Double>, _ x: UnsafePointer<Double>, _ n: UnsafePointer<Int32>
) {
  apply(x, y, n.pointee) { sin($0) }
}

/// y = cos(x)
public func vvcosf(
  _ y: UnsafeMutablePointer<Float>, _ x: UnsafePointer<Float>, _ n: UnsafePointer<Int32>
) {
  apply(x, y, n.pointee) { cosf($0) }
}

public func vvcos(
  _ y: UnsafeMutablePointer<Double>, _ x: UnsafePointer<Double>, _ n: UnsafePointer<Int32>
) {
  apply(x, y, n.pointee) { cos($0) }
}

/// y = tan(x)
public func vvtanf(
  _ y: UnsafeMutablePointer<Float>, _ x: UnsafePointer<Float>, _ n: UnsafePointer<Int32>
) {
  apply(x, y, n.pointee) { tanf($0) }
}

public func vvtan(
  _ y: UnsafeMutablePointer<Double>, _ x: UnsafePointer<Double>, _ n: UnsafePointer<Int32>
) {
  apply(x, y, n.pointee) { tan($0) }
}

/// y = arcsin(x)
public func vvasinf(
  _ y: UnsafeMutablePointer<Float>, _ x: UnsafePointer<Float>, _ n: UnsafePointer<Int32>
) {
  apply(x, y, n.pointee) { asinf($0) }
}

public func vvasin(
  _ y: UnsafeMutablePointer<Double>, _ x: UnsafePointer<Double>, _ n: UnsafePointer<Int32>
) {
  apply(x, y, n.pointee) { asin($0) }
}

/// y = arccos(x)
public func vvacosf(
  _ y: UnsafeMutablePointer<Float>, _ x: UnsafePointer<Float>, _ n: UnsafePointer<Int32>
) {
  apply(x, y, n.pointee) { acosf($0) }
}

public func vvacos(
  _ y: UnsafeMutablePointer<Double>, _ x: UnsafePointer<Double>, _ n: UnsafePointer<Int32>
) {
  apply(x, y, n.pointee) { acos($0) }
}

/// y = arctan(x)
public func vvatanf(
  _ y: UnsafeMutablePointer<Float>, _ x: UnsafePointer<Float>, _ n: UnsafePointer<Int32>
) {
  apply(x, y, n.pointee) { atanf($0) }
}

public func vvatan(
  _ y: UnsafeMutablePointer<Double>, _ x: UnsafePointer<Double>, _ n: UnsafePointer<Int32>
) {
  apply(x, y, n.pointee) { atan($0) }
}

/// y = √x
public func vvsqrtf(
  _ y: UnsafeMutablePointer<Float>, _ x: UnsafePointer<Float>, _ n: UnsafePointer<Int32>
) {
  apply(host?.pointee.square_root, x, y, n.pointee) { $0.squareRoot() }
}

public func vvsqrt(
  _ y: UnsafeMutablePointer<Double>, _ x: UnsafePointer<Double>, _ n: UnsafePointer<Int32>
) {
  apply(x, y, n.pointee) { $0.squareRoot() }
}

/// y = ∛x
public func vvcbrtf(
  _ y: UnsafeMutablePointer<Float>, _ x: UnsafePointer<Float>, _ n: UnsafePointer<Int32>
) {
  apply(x, y, n.pointee) { cbrtf($0) }
}

public func vvcbrt(
  _ y: UnsafeMutablePointer<Double>, _ x: UnsafePointer<Double>, _ n: UnsafePointer<Int32>
) {
  apply(x, y, n.pointee) { cbrt($0) }
}

/// y = 1 / √x
public func vvrsqrtf(
  _ y: UnsafeMutablePointer<Float>, _ x: UnsafePointer<Float>, _ n: UnsafePointer<Int32>
) {
  apply(x, y, n.pointee) { 1 / $0.squareRoot() }
}

public func vvrsqrt(
  _ y: UnsafeMutablePointer<Double>, _ x: UnsafePointer<Double>, _ n: UnsafePointer<Int32>
) {
  apply(x, y, n.pointee) { 1 / $0.squareRoot() }
}

/// y = 1 / x
public func vvrecf(
  _ y: UnsafeMutablePointer<Float>, _ x: UnsafePointer<Float>, _ n: UnsafePointer<Int32>
) {
  apply(x, y, n.pointee) { 1 / $0 }
}

public func vvrec(
  _ y: UnsafeMutablePointer<Double>, _ x: UnsafePointer<Double>, _ n: UnsafePointer<Int32>
) {
  apply(x, y, n.pointee) { 1 / $0 }
}

/// y = |x|
public func vvfabsf(
  _ y: UnsafeMutablePointer<Float>, _ x: UnsafePointer<Float>, _ n: UnsafePointer<Int32>
) {
  apply(x, y, n.pointee) { abs($0) }
}

public func vvfabs(
  _ y: UnsafeMutablePointer<Double>, _ x: UnsafePointer<Double>, _ n: UnsafePointer<Int32>
) {
  apply(x, y, n.pointee) { abs($0) }
}

/// y = ⌊x⌋
public func vvfloorf(
  _ y: UnsafeMutablePointer<Float>, _ x: UnsafePointer<Float>, _ n: UnsafePointer<Int32>
) {
  apply(x, y, n.pointee) { $0.rounded(.down) }
}

public func vvfloor(
  _ y: UnsafeMutablePointer<Double>, _ x: UnsafePointer<Double>, _ n: UnsafePointer<Int32>
) {
  apply(x, y, n.pointee) { $0.rounded(.down) }
}

/// y = ⌈x⌉
public func vvceilf(
  _ y: UnsafeMutablePointer<Float>, _ x: UnsafePointer<Float>, _ n: UnsafePointer<Int32>
) {
  apply(x, y, n.pointee) { $0.rounded(.up) }
}

public func vvceil(
  _ y: UnsafeMutablePointer<Double>, _ x: UnsafePointer<Double>, _ n: UnsafePointer<Int32>
) {
  apply(x, y, n.pointee) { $0.rounded(.up) }
}

/// y = x without its fraction
public func vvintf(
  _ y: UnsafeMutablePointer<Float>, _ x: UnsafePointer<Float>, _ n: UnsafePointer<Int32>
) {
  apply(x, y, n.pointee) { $0.rounded(.towardZero) }
}

public func vvint(
  _ y: UnsafeMutablePointer<Double>, _ x: UnsafePointer<Double>, _ n: UnsafePointer<Int32>
) {
  apply(x, y, n.pointee) { $0.rounded(.towardZero) }
}

/// y = the nearest integer, an even one of two
public func vvnintf(
  _ y: UnsafeMutablePointer<Float>, _ x: UnsafePointer<Float>, _ n: UnsafePointer<Int32>
) {
  apply(x, y, n.pointee) { $0.rounded(.toNearestOrEven) }
}

public func vvnint(
  _ y: UnsafeMutablePointer<Double>, _ x: UnsafePointer<Double>, _ n: UnsafePointer<Int32>
) {
  apply(x, y, n.pointee) { $0.rounded(.toNearestOrEven) }
}

/// z = y / x
public func vvdivf(
  _ z: UnsafeMutablePointer<Float>, _ y: UnsafePointer<Float>, _ x: UnsafePointer<Float>,
  _ n: UnsafePointer<Int32>
) {
  apply(host?.pointee.divide, y, x, z, n.pointee) { $0 / $1 }
}

public func vvdiv(
  _ z: UnsafeMutablePointer<Double>, _ y: UnsafePointer<Double>, _ x: UnsafePointer<Double>,
  _ n: UnsafePointer<Int32>
) {
  apply(y, x, z, n.pointee) { $0 / $1 }
}

/// z = x^y; the exponents come first.
public func vvpowf(
  _ z: UnsafeMutablePointer<Float>, _ y: UnsafePointer<Float>, _ x: UnsafePointer<Float>,
  _ n: UnsafePointer<Int32>
) {
  apply(y, x, z, n.pointee) { powf($1, $0) }
}

public func vvpow(
  _ z: UnsafeMutablePointer<Double>, _ y: UnsafePointer<Double>, _ x: UnsafePointer<Double>,
  _ n: UnsafePointer<Int32>
) {
  apply(y, x, z, n.pointee) { pow($1, $0) }
}

/// z = the angle of (x, y)
public func vvatan2f(
  _ z: UnsafeMutablePointer<Float>, _ y: UnsafePointer<Float>, _ x: UnsafePointer<Float>,
  _ n: UnsafePointer<Int32>
) {
  apply(y, x, z, n.pointee) { atan2f($0, $1) }
}

public func vvatan2(
  _ z: UnsafeMutablePointer<Double>, _ y: UnsafePointer<Double>, _ x: UnsafePointer<Double>,
  _ n: UnsafePointer<Int32>
) {
  apply(y, x, z, n.pointee) { atan2($0, $1) }
}

/// z = the remainder of y / x, with the sign of y
public func vvfmodf(
  _ z: UnsafeMutablePointer<Float>, _ y: UnsafePointer<Float>, _ x: UnsafePointer<Float>,
  _ n: UnsafePointer<Int32>
) {
  apply(y, x, z, n.pointee) { fmodf($0, $1) }
}

public func vvfmod(
  _ z: UnsafeMutablePointer<Double>, _ y: UnsafePointer<Double>, _ x: UnsafePointer<Double>,
  _ n: UnsafePointer<Int32>
) {
  apply(y, x, z, n.pointee) { fmod($0, $1) }
}

/// z = |y| with the sign of x
public func vvcopysignf(
  _ z: UnsafeMutablePointer<Float>, _ y: UnsafePointer<Float>, _ x: UnsafePointer<Float>,
  _ n: UnsafePointer<Int32>
) {
  apply(y, x, z, n.pointee) { copysignf($0, $1) }
}

public func vvcopysign(
  _ z: UnsafeMutablePointer<Double>, _ y: UnsafePointer<Double>, _ x: UnsafePointer<Double>,
  _ n: UnsafePointer<Int32>
) {
  apply(y, x, z, n.pointee) { copysign($0, $1) }
}

/// z = x^y, y being one value
public func vvpowsf(
  _ z: UnsafeMutablePointer<Float>, _ y: UnsafePointer<Float>, _ x: UnsafePointer<Float>,
  _ n: UnsafePointer<Int32>
) {
  let exponent = y.pointee
  apply(x, z, n.pointee) { powf($0, exponent) }
}

public func vvpows(
  _ z: UnsafeMutablePointer<Double>, _ y: UnsafePointer<Double>, _ x: UnsafePointer<Double>,
  _ n: UnsafePointer<Int32>
) {
  let exponent = y.pointee
  apply(x, z, n.pointee) { pow($0, exponent) }
}
