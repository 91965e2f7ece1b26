// The names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// c = a + b
public func vDSP_vadd(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ b: UnsafePointer<Float>, _ ib: vDSP_Stride,
  _ c: UnsafeMutablePointer<Float>, _ ic: vDSP_Stride, _ n: vDSP_Length
) {
  map(Strided(a, ia), Strided(b, ib), StridedResult(c, ic), n) { $0 + $1 }
}

public func vDSP_vaddD(
  _ a: UnsafePointer<Double>, _ ia: vDSP_Stride, _ b: UnsafePointer<Double>, _ ib: vDSP_Stride,
  _ c: UnsafeMutablePointer<Double>, _ ic: vDSP_Stride, _ n: vDSP_Length
) {
  map(Strided(a, ia), Strided(b, ib), StridedResult(c, ic), n) { $0 + $1 }
}

/// c = a − b; b comes first.
public func vDSP_vsub(
  _ b: UnsafePointer<Float>, _ ib: vDSP_Stride, _ a: UnsafePointer<Float>, _ ia: vDSP_Stride,
  _ c: UnsafeMutablePointer<Float>, _ ic: vDSP_Stride, _ n: vDSP_Length
) {
  map(Strided(b, ib), Strided(a, ia), StridedResult(c, ic), n) { $1 - $0 }
}

public func vDSP_vsubD(
  _ b: UnsafePointer<Double>, _ ib: vDSP_Stride, _ a: UnsafePointer<Double>, _ ia: vDSP_Stride,
  _ c: UnsafeMutablePointer<Double>, _ ic: vDSP_Stride, _ n: vDSP_Length
) {
  map(Strided(b, ib), Strided(a, ia), StridedResult(c, ic), n) { $1 - $0 }
}

/// c = a · b
public func vDSP_vmul(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ b: UnsafePointer<Float>, _ ib: vDSP_Stride,
  _ c: UnsafeMutablePointer<Float>, _ ic: vDSP_Stride, _ n: vDSP_Length
) {
  map(Strided(a, ia), Strided(b, ib), StridedResult(c, ic), n) { $0 * $1 }
}

public func vDSP_vmulD(
  _ a: UnsafePointer<Double>, _ ia: vDSP_Stride, _ b: UnsafePointer<Double>, _ ib: vDSP_Stride,
  _ c: UnsafeMutablePointer<Double>, _ ic: vDSP_Stride, _ n: vDSP_Length
) {
  map(Strided(a, ia), Strided(b, ib), StridedResult(c, ic), n) { $0 * $1 }
}

/// c = a / b; b comes first.
public func vDSP_vdiv(
  _ b: UnsafePointer<Float>, _ ib: vDSP_Stride, _ a: UnsafePointer<Float>, _ ia: vDSP_Stride,
  _ c: UnsafeMutablePointer<Float>, _ ic: vDSP_Stride, _ n: vDSP_Length
) {
  map(Strided(b, ib), Strided(a, ia), StridedResult(c, ic), n) { $1 / $0 }
}

public func vDSP_vdivD(
  _ b: UnsafePointer<Double>, _ ib: vDSP_Stride, _ a: UnsafePointer<Double>, _ ia: vDSP_Stride,
  _ c: UnsafeMutablePointer<Double>, _ ic: vDSP_Stride, _ n: vDSP_Length
) {
  map(Strided(b, ib), Strided(a, ia), StridedResult(c, ic), n) { $1 / $0 }
}

/// c = max(a, b)
public func vDSP_vmax(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ b: UnsafePointer<Float>, _ ib: vDSP_Stride,
  _ c: UnsafeMutablePointer<Float>, _ ic: vDSP_Stride, _ n: vDSP_Length
) {
  map(Strided(a, ia), Strided(b, ib), StridedResult(c, ic), n) { larger($0, $1) }
}

public func vDSP_vmaxD(
  _ a: UnsafePointer<Double>, _ ia: vDSP_Stride, _ b: UnsafePointer<Double>, _ ib: vDSP_Stride,
  _ c: UnsafeMutablePointer<Double>, _ ic: vDSP_Stride, _ n: vDSP_Length
) {
  map(Strided(a, ia), Strided(b, ib), StridedResult(c, ic), n) { larger($0, $1) }
}

/// c = min(a, b)
public func vDSP_vmin(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ b: UnsafePointer<Float>, _ ib: vDSP_Stride,
  _ c: UnsafeMutablePointer<Float>, _ ic: vDSP_Stride, _ n: vDSP_Length
) {
  map(Strided(a, ia), Strided(b, ib), StridedResult(c, ic), n) { smaller($0, $1) }
}

public func vDSP_vminD(
  _ a: UnsafePointer<Double>, _ ia: vDSP_Stride, _ b: UnsafePointer<Double>, _ ib: vDSP_Stride,
  _ c: UnsafeMutablePointer<Double>, _ ic: vDSP_Stride, _ n: vDSP_Length
) {
  map(Strided(a, ia), Strided(b, ib), StridedResult(c, ic), n) { smaller($0, $1) }
}

/// c = max(|a|, |b|)
public func vDSP_vmaxmg(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ b: UnsafePointer<Float>, _ ib: vDSP_Stride,
  _ c: UnsafeMutablePointer<Float>, _ ic: vDSP_Stride, _ n: vDSP_Length
) {
  map(
    Strided(a, ia), Strided(b, ib), StridedResult(c, ic), n
  ) { larger(magnitude($0), magnitude($1)) }
}

public func vDSP_vmaxmgD(
  _ a: UnsafePointer<Double>, _ ia: vDSP_Stride, _ b: UnsafePointer<Double>, _ ib: vDSP_Stride,
  _ c: UnsafeMutablePointer<Double>, _ ic: vDSP_Stride, _ n: vDSP_Length
) {
  map(
    Strided(a, ia), Strided(b, ib), StridedResult(c, ic), n
  ) { larger(magnitude($0), magnitude($1)) }
}

/// c = min(|a|, |b|)
public func vDSP_vminmg(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ b: UnsafePointer<Float>, _ ib: vDSP_Stride,
  _ c: UnsafeMutablePointer<Float>, _ ic: vDSP_Stride, _ n: vDSP_Length
) {
  map(
    Strided(a, ia), Strided(b, ib), StridedResult(c, ic), n
  ) { smaller(magnitude($0), magnitude($1)) }
}

public func vDSP_vminmgD(
  _ a: UnsafePointer<Double>, _ ia: vDSP_Stride, _ b: UnsafePointer<Double>, _ ib: vDSP_Stride,
  _ c: UnsafeMutablePointer<Double>, _ ic: vDSP_Stride, _ n: vDSP_Length
) {
  map(
    Strided(a, ia), Strided(b, ib), StridedResult(c, ic), n
  ) { smaller(magnitude($0), magnitude($1)) }
}
