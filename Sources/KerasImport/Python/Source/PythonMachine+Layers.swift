import ByteFormats
import Formulas
import TensorCore

extension PythonMachine {
  /// Functions that only sources of layers may call, not formulas; nil for other functions.
  func sourced(
    _ path: String, _ positional: [PythonSymbol], _ keywords: Keywords
  ) throws -> PythonSymbol? {
    if let made = try model(path, positional, keywords)
      ?? kerasLayer(path, positional, keywords)
      ?? variable(path, positional, keywords)
    {
      return made
    }
    let first = positional.first ?? keywords.first?.value
    if path.hasSuffix("Layer.__init__"), case .object(let object)? = first {
      return try method(
        "__init__", of: object, after: object.type?.lineage.last, Array(positional.dropFirst()),
        keywords)
    }
    let unused = [
      "tf.random.", "keras.random.", "keras.backend.random_", "keras.optimizers.",
      "tf.optimizers.", "keras.metrics.", "keras.losses.", "keras.backend.clear_session",
      "keras.callbacks.",
    ]
    if unused.contains(where: path.hasPrefix) {
      // An error only if it is used.
      return .library(path)
    }
    // A list of tensors is stacked to one tensor.
    let name = path.split(separator: ".").last.map(String.init) ?? path
    let axis = positional.count > 1 ? positional[1] : keywords.first { $0.name == "axis" }?.value
    if !path.hasPrefix("python."),
      Self.takesOneTensor.contains(name) || name == "stack" && axis?.int ?? 0 == 0, let first,
      first.elements != nil, first.holdsTensor
    {
      // Stacks along a new axis after the batch, then moves it to the front.
      let whole = try call(.library("tf.stack"), [first, .int(1)], [])
      guard let stacked = whole.expression else { throw Self.malformed }
      let rank = try sizes(of: stacked, path).count
      let transposed = PythonSymbol.transposed(stacked, [1, 0] + (2..<max(2, rank)))
      if ["convert_to_tensor", "cast", "stack"].contains(name) { return transposed }
      return try call(
        .library(path), [transposed] + positional.dropFirst(),
        positional.isEmpty ? Array(keywords.dropFirst()) : keywords)
    }
    if name == "concat" || name == "concatenate", let place = axis?.int,
      case .transposed(_, let axes)? = first?.elements?.first, axes.indices.contains(place)
    {
      let parts = (first?.elements ?? []).compactMap { part -> PythonSymbol? in
        if case .transposed(let x, axes) = part { .expression(x) } else { nil }
      }
      let list = PythonSymbol.list(PythonList(parts))
      if parts.count == first?.elements?.count,
        let whole = try call(.library(path), [list, .int(axes[place])], []).expression
      {
        return .transposed(whole, axes)
      }
    }
    if case .transposed(let x, let axes)? = first {
      if name == "transpose" || name == "permute_dimensions",
        let order = (axis ?? keywords.last?.value)?.elements?.compactMap(\.int),
        order.sorted() == Array(axes.indices)
      {
        return try call(.library(path), [.expression(x), .tuple(order.map { .int(axes[$0]) })], [])
      }
      if Self.takesOneTensor.contains(name), let place = axis?.int, axes.indices.contains(place),
        positional.count + keywords.count <= 2
      {
        let rest = axes.enumerated().filter { $0.offset != place }.map { index, axis in
          PythonSymbol.int(axis > axes[place] ? axis - 1 : axis)
        }
        let reduced = try call(.library(path), [.expression(x), .int(axes[place])], [])
        return try call(.library("tf.transpose"), [reduced, .tuple(rest)], [])
      }
    }
    if name == "transpose" || name == "permute_dimensions", case .expression(let x)? = first,
      let axes = (positional.dropFirst().first ?? keywords.last?.value)?.elements?.compactMap(
        \.int),
      let batch = axes.first, batch != 0, try axes.sorted() == Array(0..<sizes(of: x, path).count)
    {
      return .transposed(x, axes)
    }
    if name == "broadcast_to", case .expression(let x)? = first,
      let shape = (positional.dropFirst().first ?? keywords.last?.value)?.elements
    {
      return try broadcast(x, to: shape)
    }
    if ["os.getenv", "os.environ.get"].contains(path), let variable = first?.string {
      tensors?.network.notes.append(
        "the environment variable \(variable), which a source reads, is assumed not to be set")
      return positional.dropFirst().first ?? PythonSymbol.none
    }
    if ["tf.unstack", "keras.ops.unstack"].contains(path),
      case .transposed(let x, let axes)? = first,
      let count = try sizes(of: x, path)[axes[0]].known
    {
      return .list(PythonList(try (0..<count).map { try element(.int($0), of: positional[0]) }))
    }
    if path == "keras.initializers.made" {
      let shape = positional.first ?? keywords.first { $0.name == "shape" }?.value
      if let sizes = shape?.elements { return .method(.tuple(sizes), Self.madeValue) }
    }
    if Self.isTraining(path) {
      return path.hasSuffix(".get") && first?.isNone ?? true
        ? PythonSymbol.none : .library("keras.initializers.made")
    }
    if path.hasSuffix(".InputSpec") { return PythonSymbol.none }
    if path == "sys.stderr.write", let text = first?.string {
      if let tensors {
        let call = tensors.call
        tensors.network.notes.append("layer '\(call.name)' (\(call.className)): \(text)")
      }
      return PythonSymbol.none
    }
    switch (path, positional.count) {
    case ("keras.activations.get", _):
      switch first {
      case .none?, nil: return .library("keras.activations.linear")
      case .string(let name)?:
        guard StoredIdentity.package(name) == nil else { return nil }
        return .library("keras.activations." + ActivationFunction.plainName(name))
      case .dictionary(let members)?:
        return try members["config"].map { try sourced(path, [$0], []) } ?? nil
      default: return first
      }
    case ("tf.TensorShape", 1), ("tf.dimension_value", 1), ("tf.compat.dimension_value", 1):
      return positional[0].elements.map { PythonSymbol.tuple($0) } ?? positional[0]
    case ("python.hasattr", 2) where first?.holdsTensor == true && first?.elements == nil:
      let known = ["shape", "get_shape", "_keras_shape", "dtype", "ndim"]
      return .bool(positional[1].string.map(known.contains) ?? false)
    case ("python.hasattr", 2), ("python.getattr", 2...3):
      guard let name = positional[1].string, case .object(let object) = positional[0] else {
        return nil
      }
      let has = try object[name] != nil || object.type?.member(name, self) != nil
      if path == "python.hasattr" { return .bool(has) }
      if !has, positional.count == 3 { return positional[2] }
      return try attribute(name, of: object)
    case ("python.setattr", 3):
      try set(positional[1].string ?? "", of: positional[0], to: positional[2])
      return PythonSymbol.none
    case ("functools.partial", 1...):
      return .partial(positional[0], Array(positional.dropFirst()), keywords)
    case ("python.callable", 1):
      switch positional[0] {
      case .partial, .library, .function, .bound, .type, .object, .method: return .bool(true)
      case .none, .string, .int, .double, .bool, .tuple, .list: return .bool(false)
      default: return nil
      }
    case ("python.all", 1): return .bool(try elements(positional[0]).allSatisfy { try truth($0) })
    case ("python.any", 1): return .bool(try elements(positional[0]).contains { try truth($0) })
    case ("python.set", 0...1):
      return .tuple(
        try (positional.first.map(elements) ?? []).reduce(into: []) { unique, element in
          try take(steps: unique.count / 16)
          let isKnown = try unique.contains { other in
            guard let isEqual = element.equals(other) else {
              throw Self.unsupported("it makes a set of values that cannot be compared")
            }
            return isEqual
          }
          if !isKnown { unique.append(element) }
        })
    case ("python.sorted", 1):
      let elements = try elements(positional[0])
      let (numbers, texts) = (elements.compactMap(\.int), elements.compactMap(\.string))
      guard keywords.isEmpty, elements.count == max(numbers.count, texts.count),
        texts.allSatisfy({ $0.allSatisfy(\.isASCII) })
      else { return nil }
      return .list(
        PythonList(
          texts.isEmpty ? numbers.sorted().map { .int($0) } : texts.sorted().map { .string($0) }))
    case ("python.slice", 1...3):
      let bounds = positional.count == 1 ? [.none] + positional : positional
      return .slice(bounds[0], bounds[1], bounds.count > 2 ? bounds[2] : .none)
    case ("itertools.combinations", 2):
      let elements = try elements(positional[0])
      guard positional[1].int == 2 else { return nil }
      return .tuple(
        try bounded(
          elements.indices.flatMap { first in
            elements[(first + 1)...].map { .tuple([elements[first], $0]) }
          }))
    case ("python.format", 2):
      guard let number = positional[0].int, let format = positional[1].string,
        number >= 0, let width = Int(format.drop { ":0".contains($0) }.filter { $0 != "d" }),
        format.hasPrefix(":0"), width < 20
      else { return nil }
      let digits = String(number)
      return .string(String(repeating: "0", count: max(0, width - digits.count)) + digits)
    case ("python.super", 2):
      guard case .type(let type) = positional[0], case .object(let object) = positional[1] else {
        return nil
      }
      return .parent(object, type)
    case ("python.isinstance", 2): return try isInstance(positional[0], positional[1])
    default: return nil
    }
  }

  /// Broadcasts a tensor along its axes and along new leading axes.
  private func broadcast(_ x: Expression, to shape: [PythonSymbol]) throws -> PythonSymbol {
    let sizes = try sizes(of: x, "shape")
    let more = shape.count - sizes.count
    let own = shape.suffix(sizes.count).map(\.size)
    var times = shape.prefix(max(0, more)).compactMap(\.int)
    guard more >= 0, times.count == more, own.first == .batch(times: 1),
      sizes.first == .batch(times: 1)
    else { throw Self.unsupported("it repeats a tensor in an unknown way") }
    for (size, target) in zip(sizes, own).dropFirst() {
      guard let target = target?.known, let size = size.known, size == target || size == 1 else {
        throw Self.unsupported("it repeats a tensor in an unknown way")
      }
      times.append(target / size)
    }
    let whole = PythonSymbol.slice(.none, .none, .none)
    let parts = [whole] + [PythonSymbol](repeating: .none, count: more) + [.ellipsis]
    let wide = more > 0 ? try element(.tuple(parts), of: .expression(x)) : .expression(x)
    let tiled = try call(
      .library("tf.tile"), [wide, .tuple([.int(1)] + times.map { .int($0) })], [])
    guard more > 0, let tiled = tiled.expression else { return tiled }
    return .transposed(tiled, Array(1...more) + [0] + (more + 1..<shape.count))
  }

  /// Functions with a single tensor as their first argument.
  private static let takesOneTensor: Set<String> = [
    "convert_to_tensor", "cast", "reduce_sum", "reduce_mean", "reduce_max", "reduce_min",
    "reduce_prod", "sum", "mean", "max", "min", "transpose", "permute_dimensions",
  ]

  /// Nil if the answer depends only on Python's built-in types.
  private func isInstance(_ value: PythonSymbol, _ types: PythonSymbol) throws -> PythonSymbol? {
    var rest = false
    for type in types.elements ?? [types] {
      switch (type, value) {
      case (.type(let type), .object(let object)):
        if object.type?.lineage.contains(where: { $0 === type }) == true { return .bool(true) }
      case (.type, _): break
      case (.library(let path), _) where path.hasPrefix("python."): rest = true
      case (.library(let path), .object(let object)):
        guard let name = KerasClass.name(path) else {
          throw Self.unsupported("it checks whether a layer is \(path)")
        }
        if name == "Layer" || name == object.layerClass { return .bool(true) }
      case (.library(let path), _):
        guard KerasClass.name(path) == nil else { break }
        throw Self.unsupported("it checks whether a value is \(path)")
      default: throw Self.unsupported("it checks the type of a value")
      }
    }
    return rest ? nil : .bool(false)
  }
}
