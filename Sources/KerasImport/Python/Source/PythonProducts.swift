import Formulas
import TensorCore

/// The axes of two operands and of their product, as letters of an `einsum` equation.
struct ProductLetters {
  var x: [Character]
  var y: [Character]
  var result: [Character]

  /// The same product with its operands swapped.
  var transposed: ProductLetters { ProductLetters(x: y, y: x, result: result) }

  private init(x: [Character], y: [Character], result: [Character]) {
    (self.x, self.y, self.result) = (x, y, result)
  }

  /// Nil if the product is unknown.
  ///
  /// - Parameter function: `matmul`, `dot` or `tensordot`, if there is no equation.
  init?(
    _ equation: String?, _ function: String, _ first: Int, _ second: Int, axes: PythonSymbol?,
    isRotated: Bool
  ) throws {
    guard first + second <= 16 else { return nil }
    let names = Array("abcdefghijklmnop")
    if function == "tensordot" {
      let x = Array(names[..<first])
      var y = Array(names[first..<first + second])
      var pairs = axes?.int.map { count in (0..<max(count, 0)).map { (first - count + $0, $0) } }
      if let sides = axes?.elements?.map({
        $0.int.map { [$0] } ?? $0.elements?.compactMap(\.int) ?? []
      }),
        sides.count == 2, sides[0].count == sides[1].count
      {
        pairs = zip(sides[0], sides[1]).map {
          ($0 < 0 ? $0 + first : $0, $1 < 0 ? $1 + second : $1)
        }
      }
      guard let pairs, !pairs.isEmpty,
        pairs.allSatisfy({ x.indices.contains($0.0) && y.indices.contains($0.1) })
      else { return nil }
      for (left, right) in pairs { y[right] = x[left] }
      let others = (x + y).filter { [y] letter in x.contains(letter) != y.contains(letter) }
      self.init(x: x, y: y, result: others)
      return
    }
    var text = equation
    if function == "matmul" || function == "dot" {
      guard first > 1 else { return nil }
      switch (second, function, isRotated) {
      case (1, _, false): text = "...k,k->..."
      case (2..., "matmul", false): text = "...ik,...km->...im"
      case (2..., "matmul", true): text = "...ik,...mk->...im"
      case (2..., "dot", false):
        let rest = String(names.suffix(second - 2))
        text = "...k,\(rest)km->...\(rest)m"
      default: return nil
      }
    }
    // The axes of an ellipsis are numbered from the last one.
    func letters(_ term: Substring, _ rank: Int) -> [Character]? {
      guard let dots = term.firstRange(of: "...") else { return Array(term) }
      guard rank >= term.count - 3 else { return nil }
      let more = (0..<rank - term.count + 3).reversed().map { Character(String($0)) }
      return Array(term[..<dots.lowerBound]) + more + Array(term[dots.upperBound...])
    }
    let sides = (text ?? "").filter { $0 != " " }.split(
      separator: "->", omittingEmptySubsequences: false)
    let terms = sides.first?.split(separator: ",") ?? []
    guard sides.count == 2, terms.count == 2, let x = letters(terms[0], first),
      let y = letters(terms[1], second), x.count == first, y.count == second
    else { return nil }
    let dotted = (x + y).filter(\.isNumber)
    let most = dotted.compactMap { $0.wholeNumberValue }.max().map { $0 + 1 } ?? 0
    let plain = sides[1].replacing("...", with: "")
    guard let result = letters(sides[1], most + plain.count) else { return nil }
    self.init(x: x, y: y, result: result)
  }
}

extension PythonTensors {
  /// The product of a tensor and an array.
  func product(
    _ x: PythonSymbol, _ array: FormulaArray, _ letters: ProductLetters, _ machine: PythonMachine,
    _ dense: (PythonSymbol, FormulaArray) throws -> PythonSymbol
  ) throws -> PythonSymbol? {
    let (left, right, result) = (letters.x, letters.y, letters.result)
    let all = Set(left).union(right)
    guard Set(left).count == left.count, Set(right).count == right.count,
      Set(result).count == result.count, all.isSuperset(of: result)
    else { return nil }
    let contracted = left.filter { right.contains($0) && !result.contains($0) }
    guard all.subtracting(result) == Set(contracted) else { return nil }
    let sizes: [SymbolicSize]
    if case .array(let known) = x {
      sizes = known.shape.map { .known($0) }
    } else {
      guard case .expression(let expression) = x, let batch = left.first, result.first == batch,
        !right.contains(batch)
      else { return nil }
      sizes = try machine.sizes(of: expression, "shape")
    }
    func size(_ letter: Character) -> Int? {
      right.firstIndex(of: letter).map { array.shape[$0] }
        ?? left.firstIndex(of: letter).flatMap { sizes[$0].known }
    }
    guard sizes.count == left.count,
      left.allSatisfy({ letter in
        !right.contains(letter) || sizes[left.firstIndex(of: letter) ?? 0].known == size(letter)
      })
    else { return nil }
    func transposed(_ symbol: PythonSymbol, _ from: [Character], _ to: [Character]) throws
      -> PythonSymbol
    {
      if from == to { return symbol }
      let axes = to.compactMap { letter in from.firstIndex(of: letter).map { PythonSymbol.int($0) }
      }
      return try machine.call(.library("tf.transpose"), [symbol, .tuple(axes)], [])
    }
    func reshaped(_ symbol: PythonSymbol, _ letters: [Character], _ last: Int?) throws
      -> PythonSymbol
    {
      let sizes = letters.dropFirst().map { size($0).map { PythonSymbol.int($0) } ?? .none }
      guard sizes.allSatisfy({ !$0.isNone }) else {
        throw PythonMachine.unsupported("a product in it has axes of unknown size")
      }
      let shape = [PythonSymbol.int(-1)] + sizes + (last.map { [.int($0)] } ?? [])
      return try machine.call(.library("tf.reshape"), [symbol, .tuple(shape)], [])
    }
    let free = right.filter { !left.contains($0) }
    let kept = left.filter { !contracted.contains($0) }
    guard !free.isEmpty, !contracted.isEmpty, x.expression != nil,
      !kept.contains(where: right.contains)
    else {
      // Multiplies with broadcasting, and then sums.
      let order = result + contracted
      func spread(_ symbol: PythonSymbol, _ own: [Character]) throws -> PythonSymbol {
        let transposed = try transposed(symbol, own, order.filter(own.contains))
        return try machine.element(
          .tuple(order.map { own.contains($0) ? .slice(.none, .none, .none) : .none }),
          of: transposed)
      }
      let product = try machine.binary(
        .multiply, spread(x, left), spread(.array(array), right))
      if contracted.isEmpty { return product }
      let axes = contracted.indices.map { PythonSymbol.int($0 - contracted.count) }
      return try machine.call(.library("tf.reduce_sum"), [product, .tuple(axes)], [])
    }
    let matrix = array.transposed((contracted + free).compactMap { right.firstIndex(of: $0) })
    let count = contracted.compactMap(size).reduce(1, *)
    var value = try transposed(x, left, kept + contracted)
    if contracted.count > 1 { value = try reshaped(value, kept, count) }
    value = try dense(value, matrix.shaped([count, array.elements.count / count]))
    if free.count > 1 { value = try reshaped(value, kept + free, nil) }
    return try transposed(value, kept + free, result)
  }
}
