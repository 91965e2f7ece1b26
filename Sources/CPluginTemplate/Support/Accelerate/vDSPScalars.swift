// The names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// c = a + b, b being one value
public func vDSP_vsadd(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ b: UnsafePointer<Float>,
  _ c: UnsafeMutablePointer<Float>, _ ic: vDSP_Stride, _ n: vDSP_Length
) {
  let b = Lanes(repeating: b.pointee)
  map(Strided(a, ia), StridedResult(c, ic), n) { $0 + b }
}

public func vDSP_vsaddD(
  _ a: UnsafePointer<Double>, _ ia: vDSP_Stride, _ b: UnsafePointer<Double>,
  _ c: UnsafeMutablePointer<Double>, _ ic: vDSP_Stride, _ n: vDSP_Length
) {
  let b = Lanes(repeating: b.pointee)
  map(Strided(a, ia), StridedResult(c, ic), n) { $0 + b }
}

/// c = a · b, b being one value
public func vDSP_vsmul(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ b: UnsafePointer<Float>,
  _ c: UnsafeMutablePointer<Float>, _ ic: vDSP_Stride, _ n: vDSP_Length
) {
  let b = Lanes(repeating: b.pointee)
  map(Strided(a, ia), StridedResult(c, ic), n) { $0 * b }
}

public func vDSP_vsmulD(
  _ a: UnsafePointer<Double>, _ ia: vDSP_Stride, _ b: UnsafePointer<Double>,
  _ c: UnsafeMutablePointer<Double>, _ ic: vDSP_Stride, _ n: vDSP_Length
) {
  let b = Lanes(repeating: b.pointee)
  map(Strided(a, ia), StridedResult(c, ic), n) { $0 * b }
}

/// c = a / b, b being one value
public func vDSP_vsdiv(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ b: UnsafePointer<Float>,
  _ c: UnsafeMutablePointer<Float>, _ ic: vDSP_Stride, _ n: vDSP_Length
) {
  let b = Lanes(repeating: b.pointee)
  map(Strided(a, ia), StridedResult(c, ic), n) { $0 / b }
}

public func vDSP_vsdivD(
  _ a: UnsafePointer<Double>, _ ia: vDSP_Stride, _ b: UnsafePointer<Double>,
  _ c: UnsafeMutablePointer<Double>, _ ic: vDSP_Stride, _ n: vDSP_Length
) {
  let b = Lanes(repeating: b.pointee)
  map(Strided(a, ia), StridedResult(c, ic), n) { $0 / b }
}

/// c = a / b, a being one value
public func vDSP_svdiv(
  _ a: UnsafePointer<Float>, _ b: UnsafePointer<Float>, _ ib: vDSP_Stride,
  _ c: UnsafeMutablePointer<Float>, _ ic: vDSP_Stride, _ n: vDSP_Length
) {
  let a = Lanes(repeating: a.pointee)
  map(Strided(b, ib), StridedResult(c, ic), n) { a / $0 }
}

public func vDSP_svdivD(
  _ a: UnsafePointer<Double>, _ b: UnsafePointer<Double>, _ ib: vDSP_Stride,
  _ c: UnsafeMutablePointer<Double>, _ ic: vDSP_Stride, _ n: vDSP_Length
) {
  let a = Lanes(repeating: a.pointee)
  map(Strided(b, ib), StridedResult(c, ic), n) { a / $0 }
}

/// d = a · b + c, b and c being one value each
public func vDSP_vsmsa(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ b: UnsafePointer<Float>,
  _ c: UnsafePointer<Float>, _ d: UnsafeMutablePointer<Float>, _ id: vDSP_Stride, _ n: vDSP_Length
) {
  let b = Lanes(repeating: b.pointee)
  let c = Lanes(repeating: c.pointee)
  map(Strided(a, ia), StridedResult(d, id), n) { $0 * b + c }
}

public func vDSP_vsmsaD(
  _ a: UnsafePointer<Double>, _ ia: vDSP_Stride, _ b: UnsafePointer<Double>,
  _ c: UnsafePointer<Double>, _ d: UnsafeMutablePointer<Double>, _ id: vDSP_Stride, _ n: vDSP_Length
) {
  let b = Lanes(repeating: b.pointee)
  let c = Lanes(repeating: c.pointee)
  map(Strided(a, ia), StridedResult(d, id), n) { $0 * b + c }
}

/// d = min(max(a, b), c), b and c being one value each
public func vDSP_vclip(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ b: UnsafePointer<Float>,
  _ c: UnsafePointer<Float>, _ d: UnsafeMutablePointer<Float>, _ id: vDSP_Stride, _ n: vDSP_Length
) {
  let b = Lanes(repeating: b.pointee)
  let c = Lanes(repeating: c.pointee)
  map(Strided(a, ia), StridedResult(d, id), n) { smaller(larger($0, b), c) }
}

public func vDSP_vclipD(
  _ a: UnsafePointer<Double>, _ ia: vDSP_Stride, _ b: UnsafePointer<Double>,
  _ c: UnsafePointer<Double>, _ d: UnsafeMutablePointer<Double>, _ id: vDSP_Stride, _ n: vDSP_Length
) {
  let b = Lanes(repeating: b.pointee)
  let c = Lanes(repeating: c.pointee)
  map(Strided(a, ia), StridedResult(d, id), n) { smaller(larger($0, b), c) }
}

/// c = a where a ≥ b, else b
public func vDSP_vthr(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ b: UnsafePointer<Float>,
  _ c: UnsafeMutablePointer<Float>, _ ic: vDSP_Stride, _ n: vDSP_Length
) {
  let b = Lanes(repeating: b.pointee)
  map(Strided(a, ia), StridedResult(c, ic), n) { b.replacing(with: $0, where: $0 .>= b) }
}

public func vDSP_vthrD(
  _ a: UnsafePointer<Double>, _ ia: vDSP_Stride, _ b: UnsafePointer<Double>,
  _ c: UnsafeMutablePointer<Double>, _ ic: vDSP_Stride, _ n: vDSP_Length
) {
  let b = Lanes(repeating: b.pointee)
  map(Strided(a, ia), StridedResult(c, ic), n) { b.replacing(with: $0, where: $0 .>= b) }
}

/// c = a where a ≥ b, else 0
public func vDSP_vthres(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ b: UnsafePointer<Float>,
  _ c: UnsafeMutablePointer<Float>, _ ic: vDSP_Stride, _ n: vDSP_Length
) {
  let b = Lanes(repeating: b.pointee)
  map(
    Strided(a, ia), StridedResult(c, ic), n
  ) { Lanes(repeating: 0).replacing(with: $0, where: $0 .>= b) }
}

public func vDSP_vthresD(
  _ a: UnsafePointer<Double>, _ ia: vDSP_Stride, _ b: UnsafePointer<Double>,
  _ c: UnsafeMutablePointer<Double>, _ ic: vDSP_Stride, _ n: vDSP_Length
) {
  let b = Lanes(repeating: b.pointee)
  map(
    Strided(a, ia), StridedResult(c, ic), n
  ) { Lanes(repeating: 0).replacing(with: $0, where: $0 .>= b) }
}

/// d = c where a ≥ b, else −c
public func vDSP_vthrsc(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ b: UnsafePointer<Float>,
  _ c: UnsafePointer<Float>, _ d: UnsafeMutablePointer<Float>, _ id: vDSP_Stride, _ n: vDSP_Length
) {
  let b = Lanes(repeating: b.pointee)
  let c = Lanes(repeating: c.pointee)
  map(Strided(a, ia), StridedResult(d, id), n) { (-c).replacing(with: c, where: $0 .>= b) }
}

public func vDSP_vthrscD(
  _ a: UnsafePointer<Double>, _ ia: vDSP_Stride, _ b: UnsafePointer<Double>,
  _ c: UnsafePointer<Double>, _ d: UnsafeMutablePointer<Double>, _ id: vDSP_Stride, _ n: vDSP_Length
) {
  let b = Lanes(repeating: b.pointee)
  let c = Lanes(repeating: c.pointee)
  map(Strided(a, ia), StridedResult(d, id), n) { (-c).replacing(with: c, where: $0 .>= b) }
}

/// d = c where b ≤ a, else −c
public func vDSP_vlim(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ b: UnsafePointer<Float>,
  _ c: UnsafePointer<Float>, _ d: UnsafeMutablePointer<Float>, _ id: vDSP_Stride, _ n: vDSP_Length
) {
  let b = Lanes(repeating: b.pointee)
  let c = Lanes(repeating: c.pointee)
  map(Strided(a, ia), StridedResult(d, id), n) { (-c).replacing(with: c, where: b .<= $0) }
}

public func vDSP_vlimD(
  _ a: UnsafePointer<Double>, _ ia: vDSP_Stride, _ b: UnsafePointer<Double>,
  _ c: UnsafePointer<Double>, _ d: UnsafeMutablePointer<Double>, _ id: vDSP_Stride, _ n: vDSP_Length
) {
  let b = Lanes(repeating: b.pointee)
  let c = Lanes(repeating: c.pointee)
  map(Strided(a, ia), StridedResult(d, id), n) { (-c).replacing(with: c, where: b .<= $0) }
}
