// The names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// d = a · b + c
public func vDSP_vma(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ b: UnsafePointer<Float>, _ ib: vDSP_Stride,
  _ c: UnsafePointer<Float>, _ ic: vDSP_Stride, _ d: UnsafeMutablePointer<Float>, _ id: vDSP_Stride,
  _ n: vDSP_Length
) {
  map(Strided(a, ia), Strided(b, ib), Strided(c, ic), StridedResult(d, id), n) { $0 * $1 + $2 }
}

public func vDSP_vmaD(
  _ a: UnsafePointer<Double>, _ ia: vDSP_Stride, _ b: UnsafePointer<Double>, _ ib: vDSP_Stride,
  _ c: UnsafePointer<Double>, _ ic: vDSP_Stride, _ d: UnsafeMutablePointer<Double>,
  _ id: vDSP_Stride, _ n: vDSP_Length
) {
  map(Strided(a, ia), Strided(b, ib), Strided(c, ic), StridedResult(d, id), n) { $0 * $1 + $2 }
}

/// d = a · b − c
public func vDSP_vmsb(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ b: UnsafePointer<Float>, _ ib: vDSP_Stride,
  _ c: UnsafePointer<Float>, _ ic: vDSP_Stride, _ d: UnsafeMutablePointer<Float>, _ id: vDSP_Stride,
  _ n: vDSP_Length
) {
  map(Strided(a, ia), Strided(b, ib), Strided(c, ic), StridedResult(d, id), n) { $0 * $1 - $2 }
}

public func vDSP_vmsbD(
  _ a: UnsafePointer<Double>, _ ia: vDSP_Stride, _ b: UnsafePointer<Double>, _ ib: vDSP_Stride,
  _ c: UnsafePointer<Double>, _ ic: vDSP_Stride, _ d: UnsafeMutablePointer<Double>,
  _ id: vDSP_Stride, _ n: vDSP_Length
) {
  map(Strided(a, ia), Strided(b, ib), Strided(c, ic), StridedResult(d, id), n) { $0 * $1 - $2 }
}

/// d = (a + b) · c
public func vDSP_vam(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ b: UnsafePointer<Float>, _ ib: vDSP_Stride,
  _ c: UnsafePointer<Float>, _ ic: vDSP_Stride, _ d: UnsafeMutablePointer<Float>, _ id: vDSP_Stride,
  _ n: vDSP_Length
) {
  map(Strided(a, ia), Strided(b, ib), Strided(c, ic), StridedResult(d, id), n) { ($0 + $1) * $2 }
}

public func vDSP_vamD(
  _ a: UnsafePointer<Double>, _ ia: vDSP_Stride, _ b: UnsafePointer<Double>, _ ib: vDSP_Stride,
  _ c: UnsafePointer<Double>, _ ic: vDSP_Stride, _ d: UnsafeMutablePointer<Double>,
  _ id: vDSP_Stride, _ n: vDSP_Length
) {
  map(Strided(a, ia), Strided(b, ib), Strided(c, ic), StridedResult(d, id), n) { ($0 + $1) * $2 }
}

/// d = (a − b) · c
public func vDSP_vsbm(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ b: UnsafePointer<Float>, _ ib: vDSP_Stride,
  _ c: UnsafePointer<Float>, _ ic: vDSP_Stride, _ d: UnsafeMutablePointer<Float>, _ id: vDSP_Stride,
  _ n: vDSP_Length
) {
  map(Strided(a, ia), Strided(b, ib), Strided(c, ic), StridedResult(d, id), n) { ($0 - $1) * $2 }
}

public func vDSP_vsbmD(
  _ a: UnsafePointer<Double>, _ ia: vDSP_Stride, _ b: UnsafePointer<Double>, _ ib: vDSP_Stride,
  _ c: UnsafePointer<Double>, _ ic: vDSP_Stride, _ d: UnsafeMutablePointer<Double>,
  _ id: vDSP_Stride, _ n: vDSP_Length
) {
  map(Strided(a, ia), Strided(b, ib), Strided(c, ic), StridedResult(d, id), n) { ($0 - $1) * $2 }
}

/// d = a · b + c, b being one value
public func vDSP_vsma(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ b: UnsafePointer<Float>,
  _ c: UnsafePointer<Float>, _ ic: vDSP_Stride, _ d: UnsafeMutablePointer<Float>, _ id: vDSP_Stride,
  _ n: vDSP_Length
) {
  let b = Lanes(repeating: b.pointee)
  map(Strided(a, ia), Strided(c, ic), StridedResult(d, id), n) { $0 * b + $1 }
}

public func vDSP_vsmaD(
  _ a: UnsafePointer<Double>, _ ia: vDSP_Stride, _ b: UnsafePointer<Double>,
  _ c: UnsafePointer<Double>, _ ic: vDSP_Stride, _ d: UnsafeMutablePointer<Double>,
  _ id: vDSP_Stride, _ n: vDSP_Length
) {
  let b = Lanes(repeating: b.pointee)
  map(Strided(a, ia), Strided(c, ic), StridedResult(d, id), n) { $0 * b + $1 }
}

/// d = a · b − c, b being one value
public func vDSP_vsmsb(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ b: UnsafePointer<Float>,
  _ c: UnsafePointer<Float>, _ ic: vDSP_Stride, _ d: UnsafeMutablePointer<Float>, _ id: vDSP_Stride,
  _ n: vDSP_Length
) {
  let b = Lanes(repeating: b.pointee)
  map(Strided(a, ia), Strided(c, ic), StridedResult(d, id), n) { $0 * b - $1 }
}

public func vDSP_vsmsbD(
  _ a: UnsafePointer<Double>, _ ia: vDSP_Stride, _ b: UnsafePointer<Double>,
  _ c: UnsafePointer<Double>, _ ic: vDSP_Stride, _ d: UnsafeMutablePointer<Double>,
  _ id: vDSP_Stride, _ n: vDSP_Length
) {
  let b = Lanes(repeating: b.pointee)
  map(Strided(a, ia), Strided(c, ic), StridedResult(d, id), n) { $0 * b - $1 }
}

/// d = a · b + c, c being one value
public func vDSP_vmsa(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ b: UnsafePointer<Float>, _ ib: vDSP_Stride,
  _ c: UnsafePointer<Float>, _ d: UnsafeMutablePointer<Float>, _ id: vDSP_Stride, _ n: vDSP_Length
) {
  let c = Lanes(repeating: c.pointee)
  map(Strided(a, ia), Strided(b, ib), StridedResult(d, id), n) { $0 * $1 + c }
}

public func vDSP_vmsaD(
  _ a: UnsafePointer<Double>, _ ia: vDSP_Stride, _ b: UnsafePointer<Double>, _ ib: vDSP_Stride,
  _ c: UnsafePointer<Double>, _ d: UnsafeMutablePointer<Double>, _ id: vDSP_Stride, _ n: vDSP_Length
) {
  let c = Lanes(repeating: c.pointee)
  map(Strided(a, ia), Strided(b, ib), StridedResult(d, id), n) { $0 * $1 + c }
}

/// d = (a + b) · c, c being one value
public func vDSP_vasm(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ b: UnsafePointer<Float>, _ ib: vDSP_Stride,
  _ c: UnsafePointer<Float>, _ d: UnsafeMutablePointer<Float>, _ id: vDSP_Stride, _ n: vDSP_Length
) {
  let c = Lanes(repeating: c.pointee)
  map(Strided(a, ia), Strided(b, ib), StridedResult(d, id), n) { ($0 + $1) * c }
}

public func vDSP_vasmD(
  _ a: UnsafePointer<Double>, _ ia: vDSP_Stride, _ b: UnsafePointer<Double>, _ ib: vDSP_Stride,
  _ c: UnsafePointer<Double>, _ d: UnsafeMutablePointer<Double>, _ id: vDSP_Stride, _ n: vDSP_Length
) {
  let c = Lanes(repeating: c.pointee)
  map(Strided(a, ia), Strided(b, ib), StridedResult(d, id), n) { ($0 + $1) * c }
}

/// d = (a − b) · c, c being one value
public func vDSP_vsbsm(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ b: UnsafePointer<Float>, _ ib: vDSP_Stride,
  _ c: UnsafePointer<Float>, _ d: UnsafeMutablePointer<Float>, _ id: vDSP_Stride, _ n: vDSP_Length
) {
  let c = Lanes(repeating: c.pointee)
  map(Strided(a, ia), Strided(b, ib), StridedResult(d, id), n) { ($0 - $1) * c }
}

public func vDSP_vsbsmD(
  _ a: UnsafePointer<Double>, _ ia: vDSP_Stride, _ b: UnsafePointer<Double>, _ ib: vDSP_Stride,
  _ c: UnsafePointer<Double>, _ d: UnsafeMutablePointer<Double>, _ id: vDSP_Stride, _ n: vDSP_Length
) {
  let c = Lanes(repeating: c.pointee)
  map(Strided(a, ia), Strided(b, ib), StridedResult(d, id), n) { ($0 - $1) * c }
}

/// d = a + c · (b − a), c being one value
public func vDSP_vintb(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ b: UnsafePointer<Float>, _ ib: vDSP_Stride,
  _ c: UnsafePointer<Float>, _ d: UnsafeMutablePointer<Float>, _ id: vDSP_Stride, _ n: vDSP_Length
) {
  let c = Lanes(repeating: c.pointee)
  map(Strided(a, ia), Strided(b, ib), StridedResult(d, id), n) { $0 + c * ($1 - $0) }
}

public func vDSP_vintbD(
  _ a: UnsafePointer<Double>, _ ia: vDSP_Stride, _ b: UnsafePointer<Double>, _ ib: vDSP_Stride,
  _ c: UnsafePointer<Double>, _ d: UnsafeMutablePointer<Double>, _ id: vDSP_Stride, _ n: vDSP_Length
) {
  let c = Lanes(repeating: c.pointee)
  map(Strided(a, ia), Strided(b, ib), StridedResult(d, id), n) { $0 + c * ($1 - $0) }
}
