import ByteFormats
import Files
import ImportSupport
import PythonSource
import TensorCore

/// The source files of layers.
struct PythonFiles: Sendable {
  let files: [(path: String, module: PythonModule)]

  init(_ paths: [String]) throws {
    files = try paths.map { path in
      try inFile(path) {
        let bytes = try MappedFile.read(path, limit: PythonModule.byteLimit)
        return (path, try PythonModule(parsing: bytes.array(of: UInt8.self)))
      }
    }
  }

  /// A class of layers that one of the files defines. It comes before Keras's class of the same
  /// name, as `custom_objects` do, unless the network's file says that its class is Keras's.
  func source(of layer: ModelDefinition.Layer) throws -> LayerSource? {
    guard !files.isEmpty, !layer.isOfKeras, !layer.isInput else { return nil }
    let name = StoredIdentity.plainName(layer.className)
    let found = files.filter { PythonScope($0.path, $0.module).definesClass(name) }
    guard let first = found.first else { return nil }
    try require(
      found.count == 1, .unsupported,
      "the class \(name) is in \(found.map(\.path).joined(separator: " and in "))",
      layer: layer.name, layerClass: layer.className)
    return LayerSource(files: self, path: first.path, className: name, layer: layer)
  }
}

/// A layer whose class is followed as its source says.
struct LayerSource: Sendable {
  let files: PythonFiles
  let path: String
  let className: String
  let layer: ModelDefinition.Layer

  typealias Result = (outputs: [KerasTensor], tensors: PythonTensors)

  /// What the layer's `call` gives. Its structure is followed first, which says where its weights are.
  func convert(_ call: LayerCall, into network: NetworkWriter) throws -> Result {
    try call.require(
      !call.arguments.isTraining, unsupported: "it is called with training=True")
    var planned = call
    planned.missingWeights = planned.missingWeights ?? .zeros
    let (first, object) = try follow(planned, network, last: nil, stored: nil)
    if call.missingWeights != nil {
      return try follow(planned, network, last: first.tensors.log.count - 1, stored: nil).result
    }
    let stored = try SourceWeights(object, call, isFrozen: !layer.isTrainable).stored
    let second = try follow(call, network, last: nil, stored: stored).result
    return try follow(call, network, last: second.tensors.log.count - 1, stored: stored).result
  }

  private func follow(
    _ call: LayerCall, _ network: NetworkWriter, last: Int?,
    stored: (weights: [Int: StoredWeight], layers: [Int: [StoredWeight]])?
  ) throws -> (result: Result, object: PythonObject) {
    let machine = PythonMachine()
    machine.scopes = files.files.map { PythonScope($0.path, $0.module) }
    machine.layers = PythonLayers(stored)
    let names = LayerFormula.inputNames(call.inputs.count)
    let tensors = PythonTensors(network, call, names, last: last)
    machine.tensors = tensors
    do {
      guard let scope = machine.scopes.first(where: { $0.path == path }),
        case .type(let type)? = try scope.value(className, machine)
      else { throw PythonMachine.malformed }
      let symbols = names.map { PythonSymbol.expression(.name($0)) }
      guard case .object(let object) = try machine.make(type, [], arguments(type, machine)) else {
        throw PythonMachine.malformed
      }
      var positional = try call.arguments.positional.map { try symbol($0, symbols) }
      // A list of one tensor is how files state a tensor.
      if positional.count == 1, case .list(let list) = positional[0], list.elements.count == 1 {
        positional = list.elements
      }
      if positional.isEmpty { positional = symbols }
      let keywords = try call.arguments.keywords.sorted { $0.key < $1.key }.map {
        (name: $0.key, value: try symbol($0.value, symbols))
      }
      let result = try machine.call(object, positional, keywords)
      if call.inputs.contains(where: { $0.mask != nil }) {
        let supports = try machine.attribute("supports_masking", of: object)
        guard try !machine.truth(supports), try type.member("compute_mask", machine) == nil else {
          throw PythonMachine.unsupported("it passes on the mask of its input")
        }
      }
      return ((try tensors.outputs(result, machine), tensors), object)
    } catch let error as ModelError {
      throw ModelError(error.code, "\(machine.place ?? path): \(error.message)", hint: error.hint)
    }
  }

  /// The stored configuration as `__init__` takes it.
  private func arguments(
    _ type: PythonClass, _ machine: PythonMachine
  ) throws -> PythonMachine.Keywords {
    if try type.member("from_config", machine) != nil {
      throw PythonMachine.unsupported("\(className).from_config is not followed")
    }
    var known: [String]?
    if case .function(let function)? = try type.member("__init__", machine)?.value {
      let code = function.code
      let takesAll = code.flags & 8 != 0
      known =
        takesAll
        ? nil : Array(code.variables.prefix(code.argumentCount + code.keywordOnlyCount))
    }
    let base: Set<String> = [
      "name", "trainable", "dtype", "batch_input_shape", "build_input_shape", "batch_shape",
    ]
    var keywords: PythonMachine.Keywords = []
    for (name, value) in layer.fields.members {
      if base.contains(name),
        known.map({ !$0.contains(name) }) ?? (name != "name" && name != "trainable")
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

  private func symbol(
    _ argument: CallArgument, _ tensors: [PythonSymbol]
  ) throws -> PythonSymbol {
    switch argument {
    case .tensor(let index): return tensors[index]
    case .value(let json): return try PythonSymbol(json)
    case .list(let elements): return .list(PythonList(try elements.map { try symbol($0, tensors) }))
    case .object(let members):
      return .dictionary(
        PythonDictionary(
          try members.sorted { $0.key < $1.key }.map { ($0.key, try symbol($0.value, tensors)) }))
    }
  }
}
