import Formulas
import TensorCore

/// Computations with known arrays, and the preprocessing of `keras.applications`.
extension PythonMachine {
  /// Whether a dtype, such as `np.int32` or "int64", is one of whole numbers.
  static func isInteger(_ type: PythonSymbol) -> Bool {
    let name = (type.path ?? type.string ?? "").split(separator: ".").last ?? ""
    return name.hasPrefix("int") || name.hasPrefix("uint") || name == "long"
  }

  /// The values of another dtype: whole numbers lose their fractions.
  static func converted(_ array: FormulaArray, to type: PythonSymbol) -> FormulaArray {
    let isBool = ["bool", "python.bool", "np.bool_"].contains(type.string ?? type.path ?? "")
    return FormulaArray(
      array.shape,
      array.elements.map {
        isBool ? ($0 == 0 ? 0 : 1) : isInteger(type) ? $0.rounded(.towardZero) : $0
      })
  }

  /// Functions of known arrays that formulas lack; nil for any other function.
  func array(
    _ path: String, _ arguments: [PythonSymbol], _ keywords: Keywords
  ) throws -> PythonSymbol? {
    let name =
      path == "np.identity" ? "eye" : path.split(separator: ".").last.map(String.init) ?? path
    func argument(_ index: Int, _ names: String...) -> PythonSymbol? {
      index < arguments.count ? arguments[index] : keywords.first { names.contains($0.name) }?.value
    }
    let first = argument(
      0, "value", "shape", "dims", "x", "values", "arrays", "object", "input", "tensor", "a",
      "params")
    switch name {
    case "constant", "array", "asarray", "convert_to_tensor", "stack":
      if name != "stack", let first, first.expression != nil,
        argument(1, "dtype").map(Self.isInteger) != true
      {
        return first
      }
      if name != "stack", let type = argument(1, "dtype"), let array = first?.array,
        Self.isInteger(type), array.elements.contains(where: { $0 != $0.rounded() })
      {
        return .array(Self.converted(array, to: type))
      }
      if case .array? = first, name != "stack" { return first }
      if case .sizes? = first { return first }
      if let first, first.array == nil, let elements = first.elements,
        let sizes = PythonSymbol.sizes(of: elements)
      {
        return sizes
      }
      guard let first, first.elements != nil, let array = first.array else { return nil }
      if name == "stack", let axis = argument(1, "axis")?.int, axis != 0 {
        return .array(try stacked(array, axis: axis))
      }
      let ints = (first.elements ?? []).map(\.int)
      return ints.contains(nil) || array.shape.count != 1
        ? .array(array) : .sizes(ints.compactMap { $0 }.map { .known($0) })
    case "concat", "concatenate":
      guard let parts = first?.elements, !parts.isEmpty else { return nil }
      let all = parts.map(\.elements)
      if !all.contains(where: { $0 == nil }),
        let sizes = PythonSymbol.sizes(of: all.flatMap { $0 ?? [] })
      {
        return sizes
      }
      return try joined(parts.compactMap(\.array), parts.count, axis: argument(1, "axis")?.int)
    case "transpose", "permute_dimensions":
      guard let array = first?.array, !array.shape.isEmpty else { return nil }
      let axes =
        argument(1, "perm", "axes")?.elements?.compactMap(\.int) ?? array.shape.indices.reversed()
      guard axes.sorted() == Array(array.shape.indices) else { return nil }
      return .array(array.transposed(axes))
    case "eye", "tril", "triu":
      let given =
        name == "eye"
        ? first?.int.map {
          FormulaArray([$0, $0], [Double](repeating: 1, count: min($0 * $0, 1 << 20)))
        } : argument(0, "x", "m", "input")?.array
      let diagonal = (argument(name == "eye" ? 3 : 1, "k") ?? .int(0)).int
      guard let array = given, array.shape.count >= 2, array.elements.count < 1 << 20, let diagonal,
        array.shape.allSatisfy({ $0 > 0 }), arguments.count <= (name == "eye" ? 1 : 2),
        keywords.allSatisfy({ ["x", "m", "input", "k", "dtype"].contains($0.name) })
      else { return nil }
      let (rows, columns) = (array.shape[array.shape.count - 2], array.shape.last ?? 1)
      return .array(
        FormulaArray(
          array.shape,
          array.elements.enumerated().map { index, value in
            let above = index % columns - index / columns % rows - diagonal
            return name != "triu" && above > 0 || name != "tril" && above < 0 ? 0 : value
          }))
    case "reshape":
      if let order = keywords.first(where: { $0.name == "order" }), order.value.string != "C" {
        throw Self.unsupported("it reshapes in another order than C")
      }
      guard let array = first?.array, let shape = argument(1, "shape", "newshape"),
        var sizes = (shape.int.map { [$0] } ?? shape.elements?.map { $0.int ?? 0 }),
        sizes.count <= Limits.rank
      else { return nil }
      let known = try checkedProduct(sizes.filter { $0 > 0 }, limit: arrayLimit)
      if let open = sizes.firstIndex(of: -1), known > 0 {
        sizes[open] = array.elements.count / known
      }
      guard sizes.allSatisfy({ $0 > 0 }), sizes.reduce(1, *) == array.elements.count else {
        throw Self.unsupported("it reshapes an array to \(sizes)")
      }
      return .array(array.shaped(sizes))
    case "meshgrid":
      let vectors = arguments.compactMap(\.array)
      let isRotated = keywords.first?.value.string == "ij"
      guard vectors.count == 2, arguments.count == 2,
        isRotated || keywords.allSatisfy({ $0.value.string == "xy" })
      else { return nil }
      let grids = try grids(vectors[isRotated ? 1 : 0], vectors[isRotated ? 0 : 1])
      return .list(PythonList(isRotated ? grids.reversed() : grids))
    case "broadcast_to", "tile":
      guard let array = first?.array,
        let given = argument(1, "shape", "multiples", "reps", "repeats")?.elements
      else { return nil }
      return .array(try repeated(array, given, isShape: name == "broadcast_to"))
    case "expand_dims":
      guard let array = first?.array,
        let axis = arguments.dropFirst().first?.int ?? keywords.first?.value.int,
        (-array.shape.count - 1...array.shape.count).contains(axis), !array.shape.isEmpty
      else { return nil }
      var sizes = array.shape
      sizes.insert(1, at: axis < 0 ? sizes.count + 1 + axis : axis)
      return .array(array.shaped(sizes))
    case "prod", "reduce_prod":
      guard let elements = first?.elements, let sizes = PythonSymbol.sizes(of: elements),
        case .sizes(let factors) = sizes
      else { return nil }
      return PythonSymbol(factors.reduce(.known(1), SymbolicSize.product))
    case "range", "arange":
      // A single bound is the stop value.
      let named = [["start"], ["limit", "stop"], ["delta", "step"]].map { names in
        keywords.first { names.contains($0.name) && !$0.value.isNone }?.value
      }
      var bounds = arguments.filter { !$0.isNone } + named.compactMap { $0 }
      if bounds.count == 2, named[2] != nil { bounds.insert(.int(0), at: 0) }
      bounds = bounds.map { bound in
        bound.double.flatMap { Int(exactly: $0) }.map { .int($0) } ?? bound
      }
      return try builtIn("python.range", bounds, []).flatMap {
        PythonSymbol.sizes(of: $0.elements ?? [])
      }
    case "linspace":
      guard arguments.count == 3,
        keywords.allSatisfy({ $0.name == "dtype" && !Self.isInteger($0.value) }),
        let start = first?.double, let end = arguments[1].double,
        let count = arguments[2].int, (2...Self.listLimit).contains(count)
      else { return nil }
      return .array(
        FormulaArray(
          [count], (0..<count).map { start + (end - start) * Double($0) / Double(count - 1) }))
    case "zeros", "ones", "fill", "full", "zeros_like", "ones_like":
      let isLike = name.hasSuffix("like")
      let given = isLike ? first?.array?.shape.map { .int($0) } : first?.elements
      // A constant is the same for every item of the batch.
      guard
        let sizes =
          (first?.int.map { [$0] }
            ?? given?.enumerated().map { axis, size in
              if axis == 0, case .unknownSize(.batch(times: 1)) = size { return 1 }
              return size.int ?? -1
            }),
        sizes.allSatisfy({ $0 >= 0 }), sizes.count <= Limits.rank,
        let value = name.hasPrefix("f")
          ? argument(1, "value", "fill_value")?.double : name.hasPrefix("ones") ? 1 : 0
      else { return nil }
      let count = try checkedProduct(sizes, limit: arrayLimit)
      try take(steps: count / 256)
      return .array(FormulaArray(sizes, [Double](repeating: value, count: count)))
    case "cast":
      switch first {
      case .sizes?, .unknownSize?: return first
      case .tuple?, .list?, .array?:
        return first?.array.map { .array(Self.converted($0, to: argument(1, "dtype") ?? .none)) }
      default:
        guard argument(1, "dtype").map(Self.isInteger) == true, first?.double != nil else {
          return nil
        }
        return try first.map { try call(.library("python.int"), [$0], []) }
      }
    case "matmul", "dot":
      guard arguments.count == 2, keywords.isEmpty, let a = first?.array,
        let b = arguments[1].array,
        a.shape.count == 2, b.shape.count == 2, a.shape[1] == b.shape[0]
      else { return nil }
      let (count, columns) = (a.shape[1], b.shape[1])
      try take(steps: checkedProduct(a.shape + [columns], limit: 1 << 28) / 256)
      return .array(
        FormulaArray(
          [a.shape[0], columns],
          (0..<a.shape[0] * columns).map { place in
            let (row, column) = (place / columns, place % columns)
            return (0..<count).reduce(0) {
              $0 + a.elements[row * count + $1] * b.elements[$1 * columns + column]
            }
          }))
    case "ceil", "floor":
      // Functions of Python's math module, whose results become sizes.
      guard path.hasPrefix("math."), let number = first?.double else { return nil }
      return Int(exactly: name == "ceil" ? number.rounded(.up) : number.rounded(.down)).map {
        .int($0)
      }
    default: return try rearranged(path, arguments, keywords)
    }
  }

  /// An array that is tiled, or broadcast if `isShape`. The batch size counts as 1, since a
  /// constant is the same for every item.
  func repeated(
    _ array: FormulaArray, _ given: [PythonSymbol], isShape: Bool
  ) throws -> FormulaArray {
    let sizes = given.enumerated().compactMap { axis, symbol -> Int? in
      if axis == 0, case .unknownSize(.batch(times: 1)) = symbol { return 1 }
      return symbol.int
    }
    let shape = Array(repeating: 1, count: max(0, sizes.count - array.shape.count)) + array.shape
    let target = isShape ? sizes : zip(shape, sizes).map { $0 * $1 }
    guard sizes.count == given.count, shape.count == sizes.count, shape.count <= Limits.rank,
      zip(shape, target).allSatisfy({ $0 > 0 && $1 > 0 && (!isShape || $0 == $1 || $0 == 1) })
    else { throw Self.unsupported("it repeats an array of \(array.shape) in an unknown way") }
    return try arranged(array.elements, target) { places in
      zip(shape, places).reduce(0) { $0 * $1.0 + $1.1 % $1.0 }
    }
  }

  /// Moves the array's first axis to `axis`.
  func stacked(_ array: FormulaArray, axis: Int) throws -> FormulaArray {
    var shape = Array(array.shape.dropFirst())
    let axis = axis < 0 ? array.shape.count + axis : axis
    guard (0...shape.count).contains(axis) else { throw Self.unsupported("it has no axis \(axis)") }
    shape.insert(array.shape[0], at: axis)
    return try arranged(array.elements, shape) { places in
      var places = places
      places.insert(places.remove(at: axis), at: 0)
      return zip(array.shape, places).reduce(0) { $0 * $1.0 + $1.1 }
    }
  }

  /// `meshgrid` of two vectors, with rows that equal the first one.
  private func grids(_ x: FormulaArray, _ y: FormulaArray) throws -> [PythonSymbol] {
    let shape = [y.elements.count, x.elements.count]
    return [
      .array(try arranged(x.elements, shape) { $0[1] }),
      .array(try arranged(y.elements, shape) { $0[0] }),
    ]
  }

  /// Concatenates arrays.
  private func joined(_ arrays: [FormulaArray], _ count: Int, axis: Int?) throws -> PythonSymbol? {
    guard arrays.count == count, let first = arrays.first?.shape, let axis,
      case let axis = axis < 0 ? axis + first.count : axis, first.indices.contains(axis)
    else { return nil }
    func rest(_ shape: [Int]) -> [Int] { Array(shape[..<axis] + shape[(axis + 1)...]) }
    guard arrays.allSatisfy({ $0.shape.count == first.count && rest($0.shape) == rest(first) })
    else { return nil }
    var shape = first
    shape[axis] = arrays.reduce(0) { $0 + $1.shape[axis] }
    try take(steps: checkedProduct(shape, limit: arrayLimit) / 256)
    let elements = (0..<first[..<axis].reduce(1, *)).flatMap { row in
      arrays.flatMap { array in
        let size = array.shape[axis...].reduce(1, *)
        return array.elements[row * size..<(row + 1) * size]
      }
    }
    return .array(FormulaArray(shape, elements))
  }

  /// The array with the part at `index` replaced by a value.
  func replaced(
    _ index: PythonSymbol, of array: FormulaArray, with value: PythonSymbol
  ) throws -> PythonSymbol {
    let numbers = FormulaArray(array.shape, array.elements.indices.map { Double($0) })
    guard let places = try element(index, of: .array(numbers)).array,
      let zeros = try binary(.multiply, .array(places), .double(0)).array,
      let values = try binary(.add, .array(zeros), value).array,
      values.shape == places.shape
    else { throw Self.unsupported("it changes an array in an unknown way") }
    var elements = array.elements
    for (place, value) in zip(places.elements, values.elements) { elements[Int(place)] = value }
    return .array(FormulaArray(array.shape, elements))
  }

  private func arranged(
    _ elements: [Double], _ shape: [Int], _ source: ([Int]) -> Int
  ) throws -> FormulaArray {
    let count = try checkedProduct(shape, limit: arrayLimit)
    try take(steps: count / 256)
    return FormulaArray(
      shape,
      (0..<count).map { index in
        var rest = index
        let places = shape.reversed().map { size in
          defer { rest /= size }
          return rest % size
        }
        return elements[source(places.reversed())]
      })
  }

  /// The function `preprocess_input` of a module in `keras.applications`; nil for other functions.
  func preprocessed(
    _ path: String, _ positional: [PythonSymbol], _ keywords: Keywords
  ) throws -> PythonSymbol? {
    let parts = path.split(separator: ".").suffix(2).map(String.init)
    guard path.hasPrefix("keras.applications."), parts.last == "preprocess_input",
      let x = positional.first ?? keywords.first(where: { $0.name == "x" })?.value
    else { return nil }
    func keyword(_ name: String) -> PythonSymbol? { keywords.first { $0.name == name }?.value }
    let format = keyword("data_format") ?? (positional.count > 1 ? positional[1] : .none)
    let mode = Self.applications.first { $0.networks.contains(parts[0]) }?.mode
    guard positional.count < 3, format.isNone || format.string == "channels_last",
      let mode = mode ?? keyword("mode")?.string ?? (parts[0] == "imagenet_utils" ? "caffe" : nil)
    else { throw Self.unsupported("it calls \(path) with unknown arguments") }
    let isCaffe = mode == "caffe"
    // Caffe's networks expect BGR.
    let image =
      isCaffe ? try element(.tuple([.ellipsis, .slice(.none, .none, .int(-1))]), of: x) : x
    guard let image = image.expression else { throw Self.unsupported("it calls \(path)") }
    func numbers(_ values: [Double]) throws -> Expression {
      try operand(.array(FormulaArray([values.count], values))) ?? .number(0)
    }
    switch mode {
    case "none": return x
    case "tf":
      return .expression(try .apply(.subtract, .apply(.divide, image, .number(127.5)), .number(1)))
    case "torch":
      let centered = try Expression.apply(
        .subtract, .apply(.divide, image, .number(255)), numbers([0.485, 0.456, 0.406]))
      return .expression(try .apply(.divide, centered, numbers([0.229, 0.224, 0.225])))
    case "caffe":
      return .expression(try .apply(.subtract, image, numbers([103.939, 116.779, 123.68])))
    default: throw Self.unsupported("it calls \(path) with mode=\(mode)")
    }
  }

  /// The preprocessing modes of the modules in `keras.applications`.
  static let applications: [(mode: String, networks: [String])] = [
    ("caffe", ["vgg16", "vgg19", "resnet", "resnet50"]),
    (
      "tf",
      [
        "mobilenet", "mobilenet_v2", "inception_v3", "inception_resnet_v2", "xception", "resnet_v2",
        "nasnet",
      ]
    ), ("torch", ["densenet"]),
    (
      "none",
      ["efficientnet", "efficientnet_v2", "convnext", "mobilenet_v3", "regnet", "resnet_rs"]
    ),
  ]
}
