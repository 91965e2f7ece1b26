import Formulas
import TensorCore

extension PythonMachine {
  typealias Keywords = [(name: String, value: PythonSymbol)]

  /// The result of a call.
  func call(
    _ function: PythonSymbol, _ positional: [PythonSymbol], _ keywords: Keywords
  ) throws -> PythonSymbol {
    switch function {
    case .function(let function): return try call(function, positional, keywords)
    case .type(let type): return try make(type, positional, keywords)
    case .object(let object): return try call(object, positional, keywords)
    case .bound(let function, let first):
      return try call(function, [first] + positional, keywords)
    case .method(.object(let object), let name):
      return try method(name, of: object, after: nil, positional, keywords)
    case .method(.parent(let object, let type), let name):
      return try method(name, of: object, after: type, positional, keywords)
    case .partial(let function, let first, let named):
      let rest = named.filter { given in !keywords.contains { $0.name == given.name } }
      return try call(function, first + positional, rest + keywords)
    case .method(let value, let name)
    where Self.arrayMethods.contains(name) && value.expression == nil && value.array != nil:
      // Sizes and axes may be passed as a tuple or as separate arguments.
      let isMany = positional.count > 1 && ["reshape", "transpose"].contains(name)
      return try call(
        .library("np." + name),
        [.array(value.array ?? .init(0))] + (isMany ? [.tuple(positional)] : positional), keywords)
    case .array where positional.isEmpty && keywords.isEmpty: return function  // w.value()
    case .method(.dictionary(let members), "update"):
      for case .dictionary(let more) in positional {
        for (key, value) in more.members { members[key] = value }
      }
      for (name, value) in keywords { members[name] = value }
      return .none
    case .method(.string(let text), "format") where !keywords.isEmpty && positional.isEmpty:
      return .string(
        keywords.reduce(text) { $0.replacing("{\($1.name)}", with: $1.value.plainText) })
    case .method(let value, let name):
      guard keywords.isEmpty else {
        throw Self.unsupported("it calls '.\(name)' with '\(keywords[0].name)'")
      }
      return try method(name, of: value, positional)
    case .library(let path):
      let isLayer = path.hasPrefix("keras.layers.") || KerasClass.name(path) != nil
      if isLayer || path.hasPrefix("python.") { return try call(path, positional, keywords) }
      return try recorded(positional + keywords.map(\.value)) {
        try call(path, positional, keywords)
      }
    // A NumPy type as a function, such as np.float32(2).
    case .string(let type) where type.hasPrefix("float") && positional.count == 1:
      return positional[0]
    case .string(let type) where type.hasPrefix("int") && positional.count == 1:
      return positional[0].double == nil
        ? try call(.library("tf.cast"), [positional[0], function], [])
        : try call(.library("python.int"), positional, [])
    default: throw Self.unsupported("it calls an unknown function")
    }
  }

  private func call(
    _ path: String, _ positional: [PythonSymbol], _ keywords: Keywords
  ) throws -> PythonSymbol {
    // Around a source's layer, these are followed, too.
    var isWritten = !["keras.layers.TimeDistributed", "keras.layers.Bidirectional"].contains(path)
    if case .object(let inner)? = positional.first, inner.type != nil { isWritten = true }
    if isWritten, let written = try written(path),
      PythonSignature.of(path) == nil
        || !(positional + keywords.map(\.value)).contains(where: \.holdsTensor)
    {
      return try call(written, positional, keywords)
    }
    if layers != nil, let result = try sourced(path, positional, keywords) { return result }
    if path == "keras.activations.hard_sigmoid", let tensors {
      let library = tensors.call.version.isAtLeast(3, 0) ? "keras.ops" : "keras.backend"
      return try call(library + ".hard_sigmoid", positional, keywords)
    }
    if path.hasPrefix("python."), let result = try builtIn(path, positional, keywords) {
      return result
    }
    if let result = try setting(path, positional, keywords)
      ?? preprocessed(path, positional, keywords)
    {
      return result
    }
    if let result = try tensors?.call(path, positional, keywords, self) { return result }
    if let array = try array(path, positional, keywords) { return array }
    func argument(_ symbol: PythonSymbol) throws -> PythonSymbol {
      switch symbol {
      case .array, .sizes: return try operand(symbol).map { .expression($0) } ?? symbol
      default: return symbol
      }
    }
    let result = try PythonLibraries.call(
      path, positional.map(argument), keywords.map { ($0.name, try argument($0.value)) })
    guard let expression = result.expression else { return result }
    if path.hasPrefix("math.") || path.hasPrefix("python."), expression.number?.isFinite == false {
      throw Self.unsupported("\(path) in it gives no finite number")
    }
    return try value(expression)
  }

  // MARK: Attributes and methods

  func attribute(_ name: String, of symbol: PythonSymbol) throws -> PythonSymbol {
    switch symbol {
    case .object(let object): return try attribute(name, of: object)
    case .type(let type): return try attribute(name, of: type)
    case .parent(let object, let type): return try attribute(name, of: object, after: type)
    case .module(let scope):
      guard let value = try scope.value(name, self) else {
        throw Self.unsupported("\(scope.path) does not define '\(name)'")
      }
      return value
    case .library(let path):
      let whole = PythonLibraries.path(path + "." + name)
      return PythonLibraries.constant(whole) ?? .library(whole)
    case .expression(let expression):
      switch name {
      case "shape", "_keras_shape": return .tuple(try shape(of: expression, name))
      case "get_shape": return .method(symbol, name)
      case "dtype": return .string("float32")
      case "ndim": return .int(try shape(of: expression, name).count)
      default: throw Self.unsupported("it uses '.\(name)' of a tensor")
      }
    case .tuple(let elements) where name == "ndims" || name == "rank":
      return .int(elements.count)
    // A Dimension of TensorFlow 1, or a weight.
    case .int, .double, .none, .unknownSize:
      guard name == "value" else { break }
      return symbol
    case .array where name == "value": return symbol
    // The result of `top_k`.
    case .list(let list) where list.elements.count == 2 && ["values", "indices"].contains(name):
      return list.elements[name == "values" ? 0 : 1]
    case .sizes(let sizes) where name == "shape": return .tuple([.int(sizes.count)])
    case .array(let array) where name == "shape": return .tuple(array.shape.map { .int($0) })
    case .array(let array) where name == "size": return .int(array.elements.count)
    case .array where name == "dtype": return .string("float32")
    case .array where name == "T": return try call(.library("np.transpose"), [symbol], [])
    case .array(let array) where name == "ndim": return .int(array.shape.count)
    case .array: return .method(symbol, name)
    case .tuple, .list, .string, .dictionary, .sizes: return .method(symbol, name)
    default: break
    }
    throw Self.unsupported("it uses '.\(name)' of a value")
  }

  /// The sizes of a tensor as returned by `K.int_shape`.
  private func shape(of expression: Expression, _ name: String) throws -> [PythonSymbol] {
    try sizes(of: expression, name).map { size in
      if size.known == nil, size != .batch(times: 1) { hidesSizes = true }
      return size.known.map { .int($0) } ?? .none
    }
  }

  func sizes(of expression: Expression, _ name: String) throws -> [SymbolicSize] {
    guard let tensors else { throw Self.unsupported("it uses '.\(name)' of a tensor") }
    let tensor = try tensors.tensor(expression, self)
    guard tensor.sizes == nil, !tensor.isShapeAssumed else {
      throw Self.unsupported("it needs the shape of a tensor whose shape is unknown")
    }
    return tensor.symbolicShape
  }

  private func method(
    _ name: String, of symbol: PythonSymbol, _ arguments: [PythonSymbol]
  ) throws -> PythonSymbol {
    switch (symbol, name, arguments.count) {
    case (.expression(let expression), "get_shape", 0):
      return .tuple(try shape(of: expression, name))
    case (.tuple, "as_list", 0), (.list, "copy", 0):
      return .list(PythonList(symbol.elements ?? []))
    case (.list(let list), "append", 1):
      list.elements = try bounded(list.elements + arguments)
      return .none
    case (.list(let list), "extend", 1):
      list.elements = try bounded(list.elements + elements(arguments[0]))
      return .none
    case (.list(let list), "insert", 2):
      guard let position = arguments[0].int, (0...list.elements.count).contains(position) else {
        break
      }
      list.elements = try bounded(list.elements)
      list.elements.insert(arguments[1], at: position)
      return .none
    case (.list(let list), "pop", 0...1):
      let position = arguments.isEmpty ? -1 : arguments[0].int ?? Int.max
      guard (-list.elements.count..<list.elements.count).contains(position) else { break }
      return list.elements.remove(at: position < 0 ? position + list.elements.count : position)
    case (.list(let list), "reverse", 0):
      list.elements.reverse()
      return .none
    case (.tuple, "index", 1), (.list, "index", 1):
      let position = (symbol.elements ?? []).firstIndex { $0.equals(arguments[0]) == true }
      guard let position else { break }
      return .int(position)
    case (.dictionary(let members), "get", 1...2):
      return members[try PythonDictionary.key(arguments[0])]
        ?? (arguments.count > 1 ? arguments[1] : .none)
    case (.dictionary(let members), "items", 0):
      return .list(PythonList(zip(members.keys, members.members).map { .tuple([$0, $1.value]) }))
    case (.dictionary(let members), "values", 0):
      return .list(PythonList(members.members.map(\.value)))
    case (.dictionary(let members), "keys", 0):
      return .list(PythonList(members.keys))
    case (.dictionary(let members), "pop", 1...2):
      let key = try PythonDictionary.key(arguments[0])
      guard let value = members[key] ?? arguments.dropFirst().first else { break }
      members[key] = nil
      return value
    case (.string(let text), "lower", 0): return .string(text.lowercased())
    case (.string(let text), "upper", 0): return .string(text.uppercased())
    case (.string(let text), "format", _): return .string(Self.filled(text, arguments))
    case (.array(let array), "astype", 1):
      return .array(Self.converted(array, to: arguments[0]))
    case (.array, "copy", 0), (.array, "numpy", 0),
      (.array, "read_value", 0),
      (.sizes, "astype", 1):
      return symbol
    case (.string(let text), "startswith", 1):
      return .bool(arguments[0].string.map { text.hasPrefix($0) } ?? false)
    default: break
    }
    throw Self.unsupported("it calls '.\(name)' of a value")
  }

  /// Methods of NumPy arrays that are also NumPy functions of the same name.
  private static let arrayMethods: Set<String> = [
    "sum", "mean", "max", "min", "prod", "std", "var", "reshape", "transpose", "flatten", "ravel",
    "repeat", "squeeze", "swapaxes", "take", "dot", "round", "clip", "any", "all",
  ]

  /// A string with its `{}` replaced by values.
  static func filled(_ text: String, _ values: [PythonSymbol]) -> String {
    let parts = text.split(separator: "{}", omittingEmptySubsequences: false)
    guard parts.count == values.count + 1 else { return text }
    return zip(parts, values.map(\.plainText) + [""]).map { $0 + $1 }.joined()
  }

  // MARK: Functions of Python

  /// Built-in functions of Python; nil if formulas have a function of the same name.
  func builtIn(
    _ path: String, _ arguments: [PythonSymbol], _ keywords: Keywords
  ) throws -> PythonSymbol? {
    let first = arguments.first
    if !keywords.isEmpty, ["enumerate", "sum"].contains(path.dropFirst(7)) {
      guard arguments.count == 1, keywords.count == 1, keywords[0].name == "start" else {
        return nil
      }
      return try builtIn(path, arguments + [keywords[0].value], [])
    }
    switch (path.dropFirst(7), arguments.count) {
    case ("len", 1):
      if case .expression(let expression)? = first {
        guard let size = try shape(of: expression, "shape").first, let count = size.int else {
          break
        }
        return .int(count)
      }
      if let text = first?.string { return .int(text.count) }
      return try first.map { .int(try elements($0).count) }
    case ("range", 1...3), ("xrange", 1...3):
      let numbers = arguments.compactMap(\.int)
      guard numbers.count == arguments.count,
        numbers.allSatisfy({ $0.magnitude <= UInt(Limits.dimension) })
      else { throw Self.unsupported("it counts to an unknown number") }
      let (start, end, step) = (
        numbers.count > 1 ? numbers[0] : 0, numbers.count > 1 ? numbers[1] : numbers[0],
        numbers.count > 2 ? numbers[2] : 1
      )
      guard step != 0, (end - start) / step <= Self.listLimit else { break }
      return .tuple(Array(stride(from: start, to: end, by: step)).map { .int($0) })
    case ("dict", 0...1):
      let members = PythonDictionary(keywords.map { ($0.name, $0.value) })
      if case .dictionary(let given)? = first {
        return .dictionary(
          PythonDictionary(given.members.map { ($0.key, $0.value) } + members.members))
      }
      return first == nil ? .dictionary(members) : nil
    case ("list", 0...1): return .list(PythonList(try first.map(elements) ?? []))
    case ("tuple", 0...1): return .tuple(try first.map(elements) ?? [])
    case ("reversed", 1): return try first.map { .tuple(try elements($0).reversed()) }
    case ("enumerate", 1...2):
      guard let start = arguments.count > 1 ? arguments[1].int : 0 else { break }
      return try first.map {
        .tuple(try elements($0).enumerated().map { .tuple([.int(start &+ $0), $1]) })
      }
    case ("zip", 1...8):
      let lists = try arguments.map(elements)
      let count = lists.map(\.count).min() ?? 0
      return .tuple((0..<count).map { index in .tuple(lists.map { $0[index] }) })
    case ("map", 2):
      return .tuple(try elements(arguments[1]).map { try call(arguments[0], [$0], []) })
    case ("sum", 1...2):
      var total = arguments.count > 1 ? arguments[1] : .int(0)
      guard first?.elements != nil else { break }
      for element in try elements(arguments[0]) {
        total =
          try total.equals(.int(0)) == true ? element : binary(.add, total, element)
      }
      return total
    case ("max", _), ("min", _):
      let values = try arguments.count == 1 ? elements(arguments[0]) : arguments
      let numbers = values.compactMap(\.double)
      guard keywords.isEmpty, !numbers.isEmpty, numbers.count == values.count else { break }
      let best = path.hasSuffix("max") ? numbers.max() : numbers.min()
      return values.first { $0.double == best }
    case ("int", 1):
      if case .unknownSize? = first { return first }
      if let text = first?.string, let number = Int(text) { return .int(number) }
      guard let number = first?.double, let whole = Int(exactly: number.rounded(.towardZero)) else {
        break
      }
      return .int(whole)
    case ("float", 1):
      if case .unknownSize? = first { return first }
      if let text = first?.string, let number = Double(text) { return .double(number) }
      guard let number = first?.double else { break }
      return .double(number)
    case ("abs", 1), ("round", 1), ("bool", 1):
      if path.hasSuffix("bool") { return try first.map { .bool(try truth($0)) } }
      guard let number = first?.double else { break }
      if path.hasSuffix("abs") {
        return first?.int.map { .int($0 < 0 ? 0 &- $0 : $0) } ?? .double(number.magnitude)
      }
      return Int(exactly: number.rounded(.toNearestOrEven)).map { .int($0) }
    case ("str", 1): return first.map { .string($0.plainText) }
    case ("print", _): return PythonSymbol.none
    case ("isinstance", 2):
      let types = try (arguments[1].elements ?? [arguments[1]]).map { symbol -> String in
        guard case .library(let path) = symbol else {
          throw Self.unsupported("it checks the type of a value")
        }
        return path
      }
      guard let kind = first?.kind ?? (types.allSatisfy { $0.hasPrefix("python.") } ? "" : nil)
      else {
        break
      }
      return .bool(types.contains("python." + kind))
    default: break
    }
    if ["python.abs", "python.pow", "python.float"].contains(path) { return nil }
    throw Self.unsupported("it calls \(path.dropFirst(7))")
  }

  /// Settings of the libraries, and questions about a tensor or its shape; nil for other functions.
  private func setting(
    _ path: String, _ arguments: [PythonSymbol], _ keywords: Keywords
  ) throws -> PythonSymbol? {
    switch path {
    case "keras.backend.epsilon", "keras.config.epsilon": return .double(1e-7)
    case "keras.backend.floatx", "keras.config.floatx": return .string("float32")
    case "keras.backend.backend", "keras.config.backend": return .string("tensorflow")
    case "keras.backend.learning_phase": return .int(0)
    case "keras.backend.is_keras_tensor", "keras.backend.is_tensor", "tf.is_tensor":
      guard let first = arguments.first, case .expression = first else { return .bool(false) }
      return .bool(true)
    case "keras.backend.is_sparse": return .bool(false)
    case "keras.backend.in_train_phase", "keras.backend.in_test_phase":
      guard arguments.count >= 2 else { return nil }
      let chosen = arguments[path.hasSuffix("train_phase") ? 1 : 0]
      guard case .expression = chosen else { return try call(chosen, [], []) }
      return chosen
    case "keras.backend.image_data_format", "keras.config.image_data_format",
      "keras.backend.image_dim_ordering":
      guard let tensors else { throw Self.unsupported("it depends on the order of axes") }
      let isOld = path.hasSuffix("ordering")
      return .string(
        tensors.isChannelsFirst ? isOld ? "th" : "channels_first" : isOld ? "tf" : "channels_last")
    case "keras.backend.int_shape", "keras.backend.shape", "tf.shape", "keras.ops.shape",
      "keras.backend.ndim", "tf.rank", "tf.size", "np.shape":
      let named = keywords.first { $0.name == "x" || $0.name == "input" }?.value
      let sizes: [SymbolicSize]
      switch arguments.first ?? named {
      case .expression(let expression)? where tensors != nil:
        if ["keras.backend.int_shape", "np.shape"].contains(path) {
          return .tuple(try shape(of: expression, path))
        }
        sizes = try self.sizes(of: expression, path)
      case .array(let array)?: sizes = array.shape.map { .known($0) }
      default: throw PythonLibraries.refusal(path)
      }
      switch path {
      case "keras.backend.int_shape", "np.shape": return .tuple(sizes.map { PythonSymbol($0) })
      case "keras.ops.shape": return .tuple(sizes.map { PythonSymbol($0) })
      case "keras.backend.ndim", "tf.rank": return .int(sizes.count)
      case "tf.size": return PythonSymbol(sizes.reduce(.known(1), SymbolicSize.product))
      default: return .sizes(sizes)
      }
    default: return nil
    }
  }
}
