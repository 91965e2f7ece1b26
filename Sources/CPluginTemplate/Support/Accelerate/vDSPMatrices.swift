// The names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// Copies n rows of m values; rows begin ta values apart in a and tc in c.
public func vDSP_mmov(
  _ a: UnsafePointer<Float>, _ c: UnsafeMutablePointer<Float>, _ m: vDSP_Length, _ n: vDSP_Length,
  _ ta: vDSP_Length, _ tc: vDSP_Length
) {
  for row in 0..<Int(n) {
    (c + row * Int(tc)).update(from: a + row * Int(ta), count: Int(m))
  }
}

public func vDSP_mmovD(
  _ a: UnsafePointer<Double>, _ c: UnsafeMutablePointer<Double>, _ m: vDSP_Length, _ n: vDSP_Length,
  _ ta: vDSP_Length, _ tc: vDSP_Length
) {
  for row in 0..<Int(n) {
    (c + row * Int(tc)).update(from: a + row * Int(ta), count: Int(m))
  }
}

/// The m rows of n values of c are the columns of a.
public func vDSP_mtrans(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ c: UnsafeMutablePointer<Float>, _ ic: vDSP_Stride,
  _ m: vDSP_Length, _ n: vDSP_Length
) {
  for row in 0..<Int(m) {
    for column in 0..<Int(n) {
      c[(row * Int(n) + column) * ic] = a[(column * Int(m) + row) * ia]
    }
  }
}

public func vDSP_mtransD(
  _ a: UnsafePointer<Double>, _ ia: vDSP_Stride, _ c: UnsafeMutablePointer<Double>,
  _ ic: vDSP_Stride, _ m: vDSP_Length, _ n: vDSP_Length
) {
  for row in 0..<Int(m) {
    for column in 0..<Int(n) {
      c[(row * Int(n) + column) * ic] = a[(column * Int(m) + row) * ia]
    }
  }
}

/// c = a · b, of m rows, n columns and p products each
public func vDSP_mmul(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ b: UnsafePointer<Float>, _ ib: vDSP_Stride,
  _ c: UnsafeMutablePointer<Float>, _ ic: vDSP_Stride, _ m: vDSP_Length, _ n: vDSP_Length,
  _ p: vDSP_Length
) {
  for row in 0..<Int(m) {
    for column in 0..<Int(n) {
      var sum: Float = 0
      for k in 0..<Int(p) {
        sum += a[(row * Int(p) + k) * ia] * b[(k * Int(n) + column) * ib]
      }
      c[(row * Int(n) + column) * ic] = sum
    }
  }
}

public func vDSP_mmulD(
  _ a: UnsafePointer<Double>, _ ia: vDSP_Stride, _ b: UnsafePointer<Double>, _ ib: vDSP_Stride,
  _ c: UnsafeMutablePointer<Double>, _ ic: vDSP_Stride, _ m: vDSP_Length, _ n: vDSP_Length,
  _ p: vDSP_Length
) {
  for row in 0..<Int(m) {
    for column in 0..<Int(n) {
      var sum: Double = 0
      for k in 0..<Int(p) {
        sum += a[(row * Int(p) + k) * ia] * b[(k * Int(n) + column) * ib]
      }
      c[(row * Int(n) + column) * ic] = sum
    }
  }
}
