import Formulas
import TensorCore

/// Calculations with known arrays, and what the networks of `keras.applications` do to an image.
extension PythonMachine {
  /// An array repeated along its axes. The size of the batch counts as 1: a constant goes with each
  /// item of it.
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

  /// An array whose first axis has become another one.
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

  /// `meshgrid` of two vectors, with rows of the first.
  func grids(_ x: FormulaArray, _ y: FormulaArray) throws -> PythonSymbol {
    let shape = [y.elements.count, x.elements.count]
    return .list(
      PythonList([
        .array(try arranged(x.elements, shape) { $0[1] }),
        .array(try arranged(y.elements, shape) { $0[0] }),
      ]))
  }

  private func arranged(
    _ elements: [Double], _ shape: [Int], _ source: ([Int]) -> Int
  ) throws -> FormulaArray {
    let count = try checkedProduct(shape, limit: 1 << 20)
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

  /// The functions `preprocess_input` of `keras.applications`; nil for other functions.
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
    // Caffe's networks expect blue first.
    let image =
      isCaffe ? try element(.tuple([.ellipsis, .slice(.none, .none, .int(-1))]), of: x) : x
    guard let image = image.expression else { throw Self.unsupported("it calls \(path)") }
    func numbers(_ values: [Double]) throws -> Expression {
      try operand(.array(FormulaArray([values.count], values))) ?? .number(0)
    }
    switch mode {
    case "none": return x
    case "tf":
      return .expression(
        try .apply(.subtract, .apply(.divide, image, .number(127.5)), .number(1)))
    case "torch":
      let centered = try Expression.apply(
        .subtract, .apply(.divide, image, .number(255)), numbers([0.485, 0.456, 0.406]))
      return .expression(try .apply(.divide, centered, numbers([0.229, 0.224, 0.225])))
    case "caffe":
      return .expression(try .apply(.subtract, image, numbers([103.939, 116.779, 123.68])))
    default: throw Self.unsupported("it calls \(path) with mode=\(mode)")
    }
  }

  /// What the modules of networks do.
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
