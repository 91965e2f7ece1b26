// The names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// c = −a
public func vDSP_vneg(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ c: UnsafeMutablePointer<Float>, _ ic: vDSP_Stride,
  _ n: vDSP_Length
) {
  map(Strided(a, ia), StridedResult(c, ic), n) { -$0 }
}

public func vDSP_vnegD(
  _ a: UnsafePointer<Double>, _ ia: vDSP_Stride, _ c: UnsafeMutablePointer<Double>,
  _ ic: vDSP_Stride, _ n: vDSP_Length
) {
  map(Strided(a, ia), StridedResult(c, ic), n) { -$0 }
}

/// c = |a|
public func vDSP_vabs(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ c: UnsafeMutablePointer<Float>, _ ic: vDSP_Stride,
  _ n: vDSP_Length
) {
  map(Strided(a, ia), StridedResult(c, ic), n) { magnitude($0) }
}

public func vDSP_vabsD(
  _ a: UnsafePointer<Double>, _ ia: vDSP_Stride, _ c: UnsafeMutablePointer<Double>,
  _ ic: vDSP_Stride, _ n: vDSP_Length
) {
  map(Strided(a, ia), StridedResult(c, ic), n) { magnitude($0) }
}

/// c = −|a|
public func vDSP_vnabs(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ c: UnsafeMutablePointer<Float>, _ ic: vDSP_Stride,
  _ n: vDSP_Length
) {
  map(Strided(a, ia), StridedResult(c, ic), n) { -magnitude($0) }
}

public func vDSP_vnabsD(
  _ a: UnsafePointer<Double>, _ ia: vDSP_Stride, _ c: UnsafeMutablePointer<Double>,
  _ ic: vDSP_Stride, _ n: vDSP_Length
) {
  map(Strided(a, ia), StridedResult(c, ic), n) { -magnitude($0) }
}

/// c = a²
public func vDSP_vsq(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ c: UnsafeMutablePointer<Float>, _ ic: vDSP_Stride,
  _ n: vDSP_Length
) {
  map(Strided(a, ia), StridedResult(c, ic), n) { $0 * $0 }
}

public func vDSP_vsqD(
  _ a: UnsafePointer<Double>, _ ia: vDSP_Stride, _ c: UnsafeMutablePointer<Double>,
  _ ic: vDSP_Stride, _ n: vDSP_Length
) {
  map(Strided(a, ia), StridedResult(c, ic), n) { $0 * $0 }
}

/// c = a · |a|
public func vDSP_vssq(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ c: UnsafeMutablePointer<Float>, _ ic: vDSP_Stride,
  _ n: vDSP_Length
) {
  map(Strided(a, ia), StridedResult(c, ic), n) { $0 * magnitude($0) }
}

public func vDSP_vssqD(
  _ a: UnsafePointer<Double>, _ ia: vDSP_Stride, _ c: UnsafeMutablePointer<Double>,
  _ ic: vDSP_Stride, _ n: vDSP_Length
) {
  map(Strided(a, ia), StridedResult(c, ic), n) { $0 * magnitude($0) }
}

/// c = a without its integer part
public func vDSP_vfrac(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ c: UnsafeMutablePointer<Float>, _ ic: vDSP_Stride,
  _ n: vDSP_Length
) {
  map(Strided(a, ia), StridedResult(c, ic), n) { $0 - $0.rounded(.towardZero) }
}

public func vDSP_vfracD(
  _ a: UnsafePointer<Double>, _ ia: vDSP_Stride, _ c: UnsafeMutablePointer<Double>,
  _ ic: vDSP_Stride, _ n: vDSP_Length
) {
  map(Strided(a, ia), StridedResult(c, ic), n) { $0 - $0.rounded(.towardZero) }
}

/// c = a, a being one value
public func vDSP_vfill(
  _ a: UnsafePointer<Float>, _ c: UnsafeMutablePointer<Float>, _ ic: vDSP_Stride, _ n: vDSP_Length
) {
  let a = Lanes(repeating: a.pointee)
  inPieces(n) { StridedResult(c, ic).store(a, $0, $1) }
}

public func vDSP_vfillD(
  _ a: UnsafePointer<Double>, _ c: UnsafeMutablePointer<Double>, _ ic: vDSP_Stride, _ n: vDSP_Length
) {
  let a = Lanes(repeating: a.pointee)
  inPieces(n) { StridedResult(c, ic).store(a, $0, $1) }
}

/// c = 0
public func vDSP_vclr(_ c: UnsafeMutablePointer<Float>, _ ic: vDSP_Stride, _ n: vDSP_Length) {
  inPieces(n) { StridedResult(c, ic).store(Lanes(repeating: 0), $0, $1) }
}

public func vDSP_vclrD(_ c: UnsafeMutablePointer<Double>, _ ic: vDSP_Stride, _ n: vDSP_Length) {
  inPieces(n) { StridedResult(c, ic).store(Lanes(repeating: 0), $0, $1) }
}

/// c[i] = a + i · b, a and b being one value each
public func vDSP_vramp(
  _ a: UnsafePointer<Float>, _ b: UnsafePointer<Float>, _ c: UnsafeMutablePointer<Float>,
  _ ic: vDSP_Stride, _ n: vDSP_Length
) {
  let (a, b) = (a.pointee, b.pointee)
  for i in 0..<Int(n) { c[i * ic] = a + Float(i) * b }
}

public func vDSP_vrampD(
  _ a: UnsafePointer<Double>, _ b: UnsafePointer<Double>, _ c: UnsafeMutablePointer<Double>,
  _ ic: vDSP_Stride, _ n: vDSP_Length
) {
  let (a, b) = (a.pointee, b.pointee)
  for i in 0..<Int(n) { c[i * ic] = a + Double(i) * b }
}

/// Turns the order of c around.
public func vDSP_vrvrs(_ c: UnsafeMutablePointer<Float>, _ ic: vDSP_Stride, _ n: vDSP_Length) {
  for i in 0..<Int(n) / 2 {
    let other = (Int(n) - 1 - i) * ic
    (c[i * ic], c[other]) = (c[other], c[i * ic])
  }
}

public func vDSP_vrvrsD(_ c: UnsafeMutablePointer<Double>, _ ic: vDSP_Stride, _ n: vDSP_Length) {
  for i in 0..<Int(n) / 2 {
    let other = (Int(n) - 1 - i) * ic
    (c[i * ic], c[other]) = (c[other], c[i * ic])
  }
}

/// Exchanges a and b.
public func vDSP_vswap(
  _ a: UnsafeMutablePointer<Float>, _ ia: vDSP_Stride, _ b: UnsafeMutablePointer<Float>,
  _ ib: vDSP_Stride, _ n: vDSP_Length
) {
  for i in 0..<Int(n) { (a[i * ia], b[i * ib]) = (b[i * ib], a[i * ia]) }
}

public func vDSP_vswapD(
  _ a: UnsafeMutablePointer<Double>, _ ia: vDSP_Stride, _ b: UnsafeMutablePointer<Double>,
  _ ib: vDSP_Stride, _ n: vDSP_Length
) {
  for i in 0..<Int(n) { (a[i * ia], b[i * ib]) = (b[i * ib], a[i * ia]) }
}
