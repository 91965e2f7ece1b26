import ByteFormats
import Files
import ImportSupport
import PythonSource
import TensorCore

/// The source files that define layers.
struct PythonFiles: Sendable {
  let files: [(path: String, module: PythonModule)]
  /// The files that define a class.
  private let places: [String: [String]]

  init(_ paths: [String]) throws {
    // Identical files count once.
    var seen: Set<[UInt8]> = []
    self.init(
      try paths.compactMap { path in
        try inFile(path) {
          let bytes = try MappedFile.read(path, limit: PythonModule.byteLimit).array(of: UInt8.self)
          return seen.insert(bytes).inserted ? (path, try PythonModule(parsing: bytes)) : nil
        }
      })
  }

  init(_ files: [(path: String, module: PythonModule)]) {
    self.files = files
    let classes = files.flatMap { path, module in
      PythonScope(path, module).classNames.map { ($0, [path]) }
    }
    places = Dictionary(classes) { $0 + $1 }
  }

  /// The layer's class, if one of the files defines it. Like `custom_objects`, it takes precedence
  /// over Keras's class of the same name, unless the model states that the class is Keras's.
  func source(of layer: ModelDefinition.Layer) throws -> LayerSource? {
    guard !layer.isInput else { return nil }
    var name = StoredIdentity.plainName(layer.className)
    let isOwn = !layer.isOfKeras && places[name] != nil
    if !isOwn {
      guard let inner = LayerSource.wrapped(name, layer.fields).lazy.compactMap(className).first
      else { return nil }
      name = inner
    }
    return LayerSource(
      files: self, path: try path(of: name, for: layer), className: name, layer: layer,
      isWrapper: !isOwn)
  }

  /// The class of the files that a wrapped layer has, or that a layer inside it has.
  func className(_ json: JSONValue) -> String? {
    let name = StoredIdentity.plainName(json["class_name"]?.string ?? "")
    if defines(json) { return name }
    let inner = LayerSource.wrapped(name, json["config"]?.object ?? JSONObject())
    return inner.lazy.compactMap(className).first
  }

  /// Whether the class of a wrapped layer is one of the files.
  func defines(_ json: JSONValue) -> Bool {
    json["module"]?.string.map(StoredIdentity.isKeras) != true
      && places[StoredIdentity.plainName(json["class_name"]?.string ?? "")] != nil
  }

  /// The file that defines a class.
  func path(of name: String, for layer: ModelDefinition.Layer) throws -> String {
    let found = places[name] ?? []
    try require(
      found.count == 1, .unsupported,
      "the class \(name) is in \(found.joined(separator: " and in "))",
      layer: layer.name, layerClass: layer.className)
    return found[0]
  }
}

/// A layer whose class is interpreted from its source.
struct LayerSource: Sendable {
  let files: PythonFiles
  let path: String
  let className: String
  let layer: ModelDefinition.Layer
  /// Whether the layer is a wrapper of Keras around a layer of the class.
  var isWrapper = false
  /// Whether the source is a recipe.
  var isRecipe = false

  /// Keras's layers that apply layers of the source, and the fields that contain these.
  private static let wrappers = [
    "RNN": ["cell"], "StackedRNNCells": ["cells"], "TimeDistributed": ["layer"],
    "Bidirectional": ["layer", "backward_layer"],
  ]

  /// The configurations of the layers inside a wrapper.
  static func wrapped(_ className: String, _ fields: JSONObject) -> [JSONValue] {
    (wrappers[className] ?? []).flatMap { field -> [JSONValue] in
      fields[field].map { $0.array ?? [$0] } ?? []
    }
  }

  typealias Result = (outputs: [KerasTensor], tensors: PythonTensors)

  /// The result of the layer's `call`. A first pass finds the structure, and thus the weights.
  func convert(_ call: LayerCall, into network: KerasWriter) throws -> Result {
    try call.require(!call.arguments.isTraining, unsupported: "it is called with training=True")
    var planned = call
    planned.missingWeights = planned.missingWeights ?? .zeros
    let (first, object) = try follow(planned, network, last: nil, stored: nil)
    if call.missingWeights != nil {
      return try follow(planned, network, last: first.tensors.lastStep, stored: nil).result
    }
    // The file has a layer of a model inside TimeDistributed without the wrapper.
    var owner = object
    if layer.fields[TimeDistributed.isInModel] != nil, case .object(let inner)? = object["layer"] {
      owner = inner
    }
    let stored = try SourceWeights(
      owner, call, isFrozen: !layer.isTrainable, checksNames: !isRecipe
    ).stored
    let second = try follow(call, network, last: nil, stored: stored).result
    return try follow(call, network, last: second.tensors.lastStep, stored: stored).result
  }

  private func follow(
    _ call: LayerCall, _ network: KerasWriter, last: Int?,
    stored: (weights: [Int: StoredWeight], layers: [Int: [StoredWeight]])?
  ) throws -> (result: Result, object: PythonObject) {
    let machine = machine(stored)
    let names = LayerFormula.inputNames(call.inputs.count)
    let tensors = PythonTensors(network, call, names, last: last)
    machine.tensors = tensors
    do {
      let symbols = names.map { PythonSymbol.expression(.name($0)) }
      guard case .object(let object) = try made(machine), let type = object.type else {
        throw PythonMachine.malformed
      }
      machine.root = object
      var positional = try call.arguments.positional.map { try symbol($0, symbols) }
      // Files store a single tensor as a list of one tensor.
      if positional.count == 1, case .list(let list) = positional[0], list.elements.count == 1 {
        positional = list.elements
      }
      if positional.isEmpty { positional = symbols }
      var keywords = try call.arguments.keywords.sorted { $0.key < $1.key }.map {
        (name: $0.key, value: try symbol($0.value, symbols))
      }
      let masks = try masks(type, positional, keywords, tensors, machine)
      keywords += masks.arguments
      let result = try machine.call(object, positional, keywords)
      var outputs = try tensors.outputs(result, machine)
      try mask(&outputs, object, type, positional, masks.all, machine)
      return ((outputs, tensors), object)
    } catch let error as ModelError {
      throw isRecipe
        ? error
        : ModelError(error.code, "\(machine.place ?? path): \(error.message)", hint: error.hint)
    }
  }

  private func machine(
    _ stored: (weights: [Int: StoredWeight], layers: [Int: [StoredWeight]])?
  ) -> PythonMachine {
    let machine = PythonMachine()
    machine.scopes = files.files.map { PythonScope($0.path, $0.module) }
    machine.layers = PythonLayers(stored)
    machine.isRecipe = isRecipe
    return machine
  }

  private func definition(_ machine: PythonMachine) throws -> PythonClass {
    try definition(className, path, machine)
  }

  private func definition(
    _ className: String, _ path: String, _ machine: PythonMachine
  ) throws -> PythonClass {
    guard let scope = machine.scopes.first(where: { $0.path == path }),
      case .type(let type)? = try scope.value(className, machine)
    else { throw PythonMachine.malformed }
    return type
  }

  /// The layer as its configuration describes it.
  private func made(_ machine: PythonMachine) throws -> PythonSymbol {
    guard isWrapper else { return try made(definition(machine), layer.fields, machine) }
    return try made(StoredIdentity.plainName(layer.className), layer.fields, machine)
  }

  private func made(
    _ type: PythonClass, _ fields: JSONObject, _ machine: PythonMachine
  ) throws -> PythonSymbol {
    let configuration = try arguments(type, fields, machine)
    guard let maker = try type.member("from_config", machine) else {
      return try machine.make(type, [], configuration)
    }
    let members = PythonDictionary(configuration.map { ($0.name, $0.value) })
    return try machine.call(maker.value, [.type(type), .dictionary(members)], [])
  }

  /// A wrapper or a cell of Keras.
  private func made(
    _ className: String, _ fields: JSONObject, _ machine: PythonMachine
  ) throws -> PythonSymbol {
    guard case .type(let type)? = try machine.written("keras.layers." + className) else {
      throw PythonMachine.unsupported(
        "a layer of a source beside \(className) is not supported, or not before Keras 2.3")
    }
    var fields = fields
    if className == "Bidirectional", fields["backward_layer"]?.isNull ?? true,
      var backward = fields["layer"]?.object, var config = backward["config"]?.object
    {
      config["go_backwards"] = .bool(config["go_backwards"]?.bool != true)
      backward["config"] = .object(config)
      fields["backward_layer"] = .object(backward)
    }
    let inner = Self.wrappers[className] ?? []
    var others = JSONObject()
    for (name, value) in fields.members
    where !inner.contains(name) && name != TimeDistributed.isInModel { others[name] = value }
    var keywords = try arguments(type, others, machine)
    for field in inner {
      guard let value = fields[field] else { continue }
      let layers = try (value.array ?? [value]).map { try made($0, machine) }
      keywords.append((field, value.array == nil ? layers[0] : .list(PythonList(layers))))
    }
    return try machine.make(type, [], keywords)
  }

  /// A layer inside a wrapper.
  private func made(_ json: JSONValue, _ machine: PythonMachine) throws -> PythonSymbol {
    let name = StoredIdentity.plainName(json["class_name"]?.string ?? "")
    let fields = json["config"]?.object ?? JSONObject()
    guard files.defines(json) else { return try made(name, fields, machine) }
    return try made(definition(name, files.path(of: name, for: layer), machine), fields, machine)
  }

  /// The parameters of a recipe's `__init__`.
  func parameters() throws -> [(name: String, isRequired: Bool)] {
    let machine = machine(nil)
    guard case .function(let function)? = try definition(machine).member("__init__", machine)?.value
    else { return [] }
    let count = function.code.argumentCount
    return (1..<max(1, count)).map {
      (function.code.variables[$0], $0 < count - function.defaults.count)
    }
  }

  /// Interprets only `__init__`, and returns whether the layer keeps leading axes.
  func make() throws -> Bool {
    let machine = machine(nil)
    let type = try definition(machine)
    guard
      case .object(let object) = try machine.make(type, [], arguments(type, layer.fields, machine))
    else {
      return false
    }
    let name = "keeps_leading_axes"
    let keeps = try object[name] ?? type.member(name, machine)?.value
    return try keeps.map(machine.truth) ?? false
  }

  /// The masks of the first argument, and the arguments of `call` that are masks. Keras 3 passes a
  /// list for a list of tensors, even without masks. If several arguments are tensors, it passes
  /// the mask of `x` as `x_mask`.
  private func masks(
    _ type: PythonClass, _ positional: [PythonSymbol], _ keywords: PythonMachine.Keywords,
    _ tensors: PythonTensors, _ machine: PythonMachine
  ) throws -> (arguments: PythonMachine.Keywords, all: PythonSymbol) {
    guard case .function(let function)? = try type.member("call", machine)?.value else {
      return ([], .none)
    }
    let code = function.code
    let names = code.variables.prefix(code.argumentCount + code.keywordOnlyCount)
    let isKeras3 = tensors.call.version.isAtLeast(3, 0)
    let given = zip(names.dropFirst(), positional).map { (name: $0, value: $1) } + keywords
    let inputs = given.filter { PythonTensors.leaves($0.value).contains(where: \.holdsTensor) }
    let isOne = !isKeras3 || inputs.count == 1 || tensors.call.isMaskPassed
    func takes(_ name: String) -> Bool {
      names.contains(name) && !given.contains { $0.name == name }
    }
    func masks(_ symbol: PythonSymbol, isRead: Bool) throws -> PythonSymbol {
      if case .list(let list) = symbol {
        return .list(PythonList(try list.elements.map { try masks($0, isRead: isRead) }))
      }
      if case .dictionary(let members) = symbol {
        return .dictionary(
          PythonDictionary(
            try members.members.map { ($0.key, try masks($0.value, isRead: isRead)) }))
      }
      guard case .expression(let input) = symbol,
        let mask = try tensors.tensor(input, machine).mask
      else { return .none }
      guard try isRead || type.member("compute_mask", machine) != nil else {
        tensors.masks["\(input)"] = mask
        return .library("\(input)")
      }
      guard !mask.isNested else {
        throw PythonMachine.unsupported("its input has a mask with two axes of steps")
      }
      let steps = tensors.add(tensors.network.steps(of: mask), "the mask", machine)
      let isWide = try tensors.tensor(steps, machine).rank > 2
      let whole = PythonSymbol.slice(.none, .none, .none)
      let flat =
        isWide
        ? try machine.element(.tuple([whole, whole, .int(0)]), of: .expression(steps)).expression
        : steps
      guard let name = try flat.map({ try tensors.settled($0, machine) })?.names.first else {
        throw PythonMachine.malformed
      }
      tensors.masks[name] = mask
      return .expression(.name(name))
    }
    let isRead = isOne && takes("mask")
    let all = try positional.first.map { try masks($0, isRead: isRead) } ?? .none
    guard isOne else {
      let read = inputs.filter { takes($0.name + "_mask") }
      return (
        try read.map { ($0.name + "_mask", try masks($0.value, isRead: true)) }
          .filter { !$0.1.isNone }, all
      )
    }
    let hasAny = PythonTensors.leaves(all).contains { !$0.isNone }
    let isPassed = isRead && (hasAny || all.elements != nil && isKeras3)
    return (isPassed ? [("mask", all)] : [], all)
  }

  /// Gives outputs without a mask the result of `compute_mask`; if the class does not define it,
  /// the inputs' masks are passed on.
  private func mask(
    _ outputs: inout [KerasTensor], _ object: PythonObject, _ type: PythonClass,
    _ inputs: [PythonSymbol], _ masks: PythonSymbol, _ machine: PythonMachine
  ) throws {
    guard let tensors = machine.tensors, outputs.contains(where: { $0.mask == nil }) else { return }
    var result = masks
    if try type.member("compute_mask", machine) != nil {
      result = try machine.call(
        machine.attribute("compute_mask", of: object), [inputs.first ?? .none, masks], [])
    } else if try !machine.truth(machine.attribute("supports_masking", of: object)) {
      return
    }
    for (index, leaf) in zip(outputs.indices, PythonTensors.leaves(result))
    where outputs[index].mask == nil {
      switch leaf {
      case .none: break
      case .library(let name): outputs[index].mask = tensors.masks[name]
      case .expression(let mask): outputs[index].mask = try tensors.mask(mask, machine)
      default: throw PythonMachine.unsupported("it computes a mask")
      }
    }
  }

  /// The stored configuration as arguments of `__init__`.
  private func arguments(
    _ type: PythonClass, _ fields: JSONObject, _ machine: PythonMachine
  ) throws -> PythonMachine.Keywords {
    var takesAll = true
    var names: [String] = []
    if case .function(let function)? = try type.member("__init__", machine)?.value {
      let code = function.code
      takesAll = code.flags & 8 != 0
      names = Array(code.variables.prefix(code.argumentCount + code.keywordOnlyCount))
    }
    let base: Set<String> = [
      "name", "trainable", "dtype", "batch_input_shape", "build_input_shape", "batch_shape",
    ]
    var keywords: PythonMachine.Keywords = []
    for (name, value) in fields.members {
      if base.contains(name), !names.contains(name),
        !takesAll || name != "name" && name != "trainable"
      {
        if name == "dtype", let type = PythonValues.plain(value).string, type != "float32" {
          throw PythonMachine.unsupported("its dtype is \(type)")
        }
        continue
      }
      keywords.append((name, try PythonSymbol(value)))
    }
    return keywords
  }

  private func symbol(_ argument: CallArgument, _ tensors: [PythonSymbol]) throws -> PythonSymbol {
    switch argument {
    case .tensor(let index): return tensors[index]
    case .value(let json): return try PythonSymbol(json)
    case .list(let elements): return .list(PythonList(try elements.map { try symbol($0, tensors) }))
    case .object(let members):
      return .dictionary(
        PythonDictionary(try members.map { ($0.name, try symbol($0.value, tensors)) }))
    }
  }
}
