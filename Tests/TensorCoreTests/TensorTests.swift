import Testing

@testable import TensorCore

@Suite struct TensorTests {
  @Test func transposesRowMajor() {
    let tensor = Tensor(shape: [2, 3], [1, 2, 3, 4, 5, 6])
    #expect(tensor.transposed([1, 0]) == Tensor(shape: [3, 2], [1, 4, 2, 5, 3, 6]))
  }

  @Test func transposedValuesReadInPieces() throws {
    let values = FloatValues((0..<24).map(Float.init)).shaped([2, 3, 4]).transposed([2, 0, 1])
    let whole = try values.array()
    #expect(whole.prefix(7) == [0, 4, 8, 12, 16, 20, 1])
    for start in 0..<24 {
      for end in start..<25 {
        var piece = [Float](repeating: -1, count: max(1, end - start))
        piece.withUnsafeMutableBufferPointer { values.copy(start..<end, to: $0.baseAddress!) }
        #expect(Array(piece.prefix(end - start)) == Array(whole[start..<end]))
      }
    }
  }

  @Test func writesDoNotReachACopy() {
    let a = Tensor(shape: [2])
    var b = a
    b.withUnsafeMutableElements { $0[0] = 1 }
    #expect(a.elements == [0, 0] && b.elements == [1, 0])
  }

  @Test func productsThatOverflowAreErrors() {
    #expect(throws: ModelError.self) { try checkedProduct([Int.max, 2]) }
    #expect(throws: ModelError.self) { try checkedProduct([1 << 20, 1 << 20], limit: 1 << 31) }
    #expect(throws: ModelError.self) { try checkedProduct([-1]) }
  }
}
