// The names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// c = Σ a
public func vDSP_sve(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ c: UnsafeMutablePointer<Float>, _ n: vDSP_Length
) {
  c.pointee = fold(Strided(a, ia), n, 0) { $0 += $1 }
}

public func vDSP_sveD(
  _ a: UnsafePointer<Double>, _ ia: vDSP_Stride, _ c: UnsafeMutablePointer<Double>, _ n: vDSP_Length
) {
  c.pointee = fold(Strided(a, ia), n, 0) { $0 += $1 }
}

/// c = Σ a²
public func vDSP_svesq(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ c: UnsafeMutablePointer<Float>, _ n: vDSP_Length
) {
  c.pointee = fold(Strided(a, ia), n, 0) { $0 += $1 * $1 }
}

public func vDSP_svesqD(
  _ a: UnsafePointer<Double>, _ ia: vDSP_Stride, _ c: UnsafeMutablePointer<Double>, _ n: vDSP_Length
) {
  c.pointee = fold(Strided(a, ia), n, 0) { $0 += $1 * $1 }
}

/// c = Σ |a|
public func vDSP_svemg(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ c: UnsafeMutablePointer<Float>, _ n: vDSP_Length
) {
  c.pointee = fold(Strided(a, ia), n, 0) { $0 += abs($1) }
}

public func vDSP_svemgD(
  _ a: UnsafePointer<Double>, _ ia: vDSP_Stride, _ c: UnsafeMutablePointer<Double>, _ n: vDSP_Length
) {
  c.pointee = fold(Strided(a, ia), n, 0) { $0 += abs($1) }
}

/// c = Σ a / n
public func vDSP_meanv(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ c: UnsafeMutablePointer<Float>, _ n: vDSP_Length
) {
  c.pointee = fold(Strided(a, ia), n, 0) { $0 += $1 } / Float(n)
}

public func vDSP_meanvD(
  _ a: UnsafePointer<Double>, _ ia: vDSP_Stride, _ c: UnsafeMutablePointer<Double>, _ n: vDSP_Length
) {
  c.pointee = fold(Strided(a, ia), n, 0) { $0 += $1 } / Double(n)
}

/// c = Σ |a| / n
public func vDSP_meamgv(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ c: UnsafeMutablePointer<Float>, _ n: vDSP_Length
) {
  c.pointee = fold(Strided(a, ia), n, 0) { $0 += abs($1) } / Float(n)
}

public func vDSP_meamgvD(
  _ a: UnsafePointer<Double>, _ ia: vDSP_Stride, _ c: UnsafeMutablePointer<Double>, _ n: vDSP_Length
) {
  c.pointee = fold(Strided(a, ia), n, 0) { $0 += abs($1) } / Double(n)
}

/// c = Σ a² / n
public func vDSP_measqv(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ c: UnsafeMutablePointer<Float>, _ n: vDSP_Length
) {
  c.pointee = fold(Strided(a, ia), n, 0) { $0 += $1 * $1 } / Float(n)
}

public func vDSP_measqvD(
  _ a: UnsafePointer<Double>, _ ia: vDSP_Stride, _ c: UnsafeMutablePointer<Double>, _ n: vDSP_Length
) {
  c.pointee = fold(Strided(a, ia), n, 0) { $0 += $1 * $1 } / Double(n)
}

/// c = √(Σ a² / n)
public func vDSP_rmsqv(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ c: UnsafeMutablePointer<Float>, _ n: vDSP_Length
) {
  c.pointee = (fold(Strided(a, ia), n, 0) { $0 += $1 * $1 } / Float(n)).squareRoot()
}

public func vDSP_rmsqvD(
  _ a: UnsafePointer<Double>, _ ia: vDSP_Stride, _ c: UnsafeMutablePointer<Double>, _ n: vDSP_Length
) {
  c.pointee = (fold(Strided(a, ia), n, 0) { $0 += $1 * $1 } / Double(n)).squareRoot()
}

/// c = max a, −∞ of nothing
public func vDSP_maxv(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ c: UnsafeMutablePointer<Float>, _ n: vDSP_Length
) {
  c.pointee = fold(Strided(a, ia), n, -.infinity) { $0 = max($0, $1) }
}

public func vDSP_maxvD(
  _ a: UnsafePointer<Double>, _ ia: vDSP_Stride, _ c: UnsafeMutablePointer<Double>, _ n: vDSP_Length
) {
  c.pointee = fold(Strided(a, ia), n, -.infinity) { $0 = max($0, $1) }
}

/// c = min a, ∞ of nothing
public func vDSP_minv(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ c: UnsafeMutablePointer<Float>, _ n: vDSP_Length
) {
  c.pointee = fold(Strided(a, ia), n, .infinity) { $0 = min($0, $1) }
}

public func vDSP_minvD(
  _ a: UnsafePointer<Double>, _ ia: vDSP_Stride, _ c: UnsafeMutablePointer<Double>, _ n: vDSP_Length
) {
  c.pointee = fold(Strided(a, ia), n, .infinity) { $0 = min($0, $1) }
}

/// c = max |a|, 0 of nothing
public func vDSP_maxmgv(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ c: UnsafeMutablePointer<Float>, _ n: vDSP_Length
) {
  c.pointee = fold(Strided(a, ia), n, 0) { $0 = max($0, abs($1)) }
}

public func vDSP_maxmgvD(
  _ a: UnsafePointer<Double>, _ ia: vDSP_Stride, _ c: UnsafeMutablePointer<Double>, _ n: vDSP_Length
) {
  c.pointee = fold(Strided(a, ia), n, 0) { $0 = max($0, abs($1)) }
}

/// c = max a, and the place of the first such value, times the stride
public func vDSP_maxvi(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ c: UnsafeMutablePointer<Float>,
  _ place: UnsafeMutablePointer<vDSP_Length>, _ n: vDSP_Length
) {
  (c.pointee, place.pointee) = (-.infinity, 0)
  for i in 0..<Int(n) where a[i * ia] > c.pointee {
    (c.pointee, place.pointee) = (a[i * ia], vDSP_Length(abs(i * ia)))
  }
}

public func vDSP_maxviD(
  _ a: UnsafePointer<Double>, _ ia: vDSP_Stride, _ c: UnsafeMutablePointer<Double>,
  _ place: UnsafeMutablePointer<vDSP_Length>, _ n: vDSP_Length
) {
  (c.pointee, place.pointee) = (-.infinity, 0)
  for i in 0..<Int(n) where a[i * ia] > c.pointee {
    (c.pointee, place.pointee) = (a[i * ia], vDSP_Length(abs(i * ia)))
  }
}

/// c = min a, and the place of the first such value, times the stride
public func vDSP_minvi(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ c: UnsafeMutablePointer<Float>,
  _ place: UnsafeMutablePointer<vDSP_Length>, _ n: vDSP_Length
) {
  (c.pointee, place.pointee) = (.infinity, 0)
  for i in 0..<Int(n) where a[i * ia] < c.pointee {
    (c.pointee, place.pointee) = (a[i * ia], vDSP_Length(abs(i * ia)))
  }
}

public func vDSP_minviD(
  _ a: UnsafePointer<Double>, _ ia: vDSP_Stride, _ c: UnsafeMutablePointer<Double>,
  _ place: UnsafeMutablePointer<vDSP_Length>, _ n: vDSP_Length
) {
  (c.pointee, place.pointee) = (.infinity, 0)
  for i in 0..<Int(n) where a[i * ia] < c.pointee {
    (c.pointee, place.pointee) = (a[i * ia], vDSP_Length(abs(i * ia)))
  }
}

/// c = Σ a · b
public func vDSP_dotpr(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ b: UnsafePointer<Float>, _ ib: vDSP_Stride,
  _ c: UnsafeMutablePointer<Float>, _ n: vDSP_Length
) {
  var sum: Float = 0
  for i in 0..<Int(n) { sum += a[i * ia] * b[i * ib] }
  c.pointee = sum
}

public func vDSP_dotprD(
  _ a: UnsafePointer<Double>, _ ia: vDSP_Stride, _ b: UnsafePointer<Double>, _ ib: vDSP_Stride,
  _ c: UnsafeMutablePointer<Double>, _ n: vDSP_Length
) {
  var sum: Double = 0
  for i in 0..<Int(n) { sum += a[i * ia] * b[i * ib] }
  c.pointee = sum
}

/// c = Σ (a − b)²
public func vDSP_distancesq(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ b: UnsafePointer<Float>, _ ib: vDSP_Stride,
  _ c: UnsafeMutablePointer<Float>, _ n: vDSP_Length
) {
  var sum: Float = 0
  for i in 0..<Int(n) {
    let difference = a[i * ia] - b[i * ib]
    sum += difference * difference
  }
  c.pointee = sum
}

public func vDSP_distancesqD(
  _ a: UnsafePointer<Double>, _ ia: vDSP_Stride, _ b: UnsafePointer<Double>, _ ib: vDSP_Stride,
  _ c: UnsafeMutablePointer<Double>, _ n: vDSP_Length
) {
  var sum: Double = 0
  for i in 0..<Int(n) {
    let difference = a[i * ia] - b[i * ib]
    sum += difference * difference
  }
  c.pointee = sum
}
