import CVector
import KernelInterface

#if KERNELS_AVX512 || KERNELS_AVX2
  extension RowSums {
    /// Expands codes of 1, 2 or 4 bits by a table in registers, which is also used for linear
    /// codes.
    @inline(__always)
    mutating func add<let bits: Int>(
      _: Count<bits>, _ a: DenseArguments, row: Int, vector: Int
    ) {
      let width = Int32(truncatingIfNeeded: bits)
      let codes = IntegerVector.laneNumbers
      var low = InlineArray<rows, Vector>(repeating: .zero)
      var high = low
      for r in 0..<rows {
        switch a.weights.format {
        case .linear(_, let scales, let biases):
          let (scale, bias) = (splat(scales[row &+ r]), splat(biases[row &+ r]))
          low[r] = vector_scale(codes & splat((1 &<< width) &- 1), scale, bias)
          high[r] = vector_scale(codes &+ splat(8), scale, bias)
        case .table(_, let table):
          withUnsafeTemporaryAllocation(of: Float.self, capacity: 16) { values in
            for code in 0..<16 { values[code] = table[code & ((1 &<< bits) &- 1)] }
            guard let base = values.baseAddress else { return }
            low[r] = load(base)
            high[r] = load(base + (16 &- lanes))
          }
        case .float32, .float16, .fixed: break
        }
      }
      let first = a.weights.first &+ row &* a.weights.stride
      let w = a.weights.base + (first &* bits) &>> 3
      let rowBytes = (a.weights.stride &* bits) &>> 3
      add(a, vector: vector, 0..<a.columns) { r, k in
        a.fetchAhead(first &+ r &* a.weights.stride, bits: bits, rows: rows, column: k)
      } whole: { r, k in
        vector_look_up_loose(
          vector_loose_codes(w + (r &* rowBytes &+ (k &* bits) &>> 3), width), width, low[r],
          high[r])
      } tail: { r, k, count in
        let bytes = loadBytes(
          w + (r &* rowBytes &+ (k &* bits) &>> 3), count: (count &* bits &+ 7) &>> 3)
        let value = withUnsafeBytes(of: bytes) { bytes in
          bytes.baseAddress.map {
            vector_look_up_loose(vector_loose_codes($0, width), width, low[r], high[r])
          } ?? .zero
        }
        return keep(count, of: value)
      }
    }
  }

  extension IntegerVector {
    /// 0, 1, 2, …
    fileprivate static var laneNumbers: IntegerVector {
      @inline(__always) get {
        var numbers = IntegerVector.zero
        for lane in 0..<lanes { numbers[lane] = Int32(truncatingIfNeeded: lane) }
        return numbers
      }
    }
  }
#endif
