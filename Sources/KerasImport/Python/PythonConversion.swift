import ByteFormats
import ImportSupport
import TensorCore

/// A Lambda whose Python function becomes layers, one operation at a time.
struct PythonConversion {
  enum Source {
    case formula(FormulaConversion)
    case code(PythonProgram)
    /// A function of which the file has only the name.
    case named(NamedFunction)
    /// The source of a layer's class.
    case type(LayerSource)
  }

  let source: Source
  let subject: CustomLayerSubject
  /// Whether the Lambda has a function that computes its output's mask.
  private let hasMaskFunction: Bool
  /// The custom layer to use if the function cannot be interpreted; nil makes that an error.
  private let fallback: CustomConversion?

  /// - Parameter reading: the formula that the function is equivalent to, if any.
  /// - Returns: nil if the file lacks the function's code and its name is unknown.
  init?(
    _ layer: ModelDefinition.Layer, _ subject: CustomLayerSubject,
    _ reading: Result<PythonFormula, ModelError>?, _ inputCount: Int, _ rules: CustomLayerRules
  ) {
    if case .success(let found)? = reading {
      source = .formula(
        FormulaConversion(formula: LayerFormula(found.expression, inputs: found.inputs)))
    } else if let program = LambdaFunction.program(in: layer.fields, inputCount: inputCount) {
      source = .code(program)
    } else if let name = LambdaFunction.fullName(in: layer.fields),
      let function = NamedFunction(name, layer.fields["arguments"]?.object ?? JSONObject())
    {
      source = .named(function)
    } else {
      return nil
    }
    self.subject = subject
    hasMaskFunction = layer.fields["mask"].map { !$0.isNull } ?? false
    fallback = rules.allowsAll ? CustomConversion(layer: layer, subject: subject, rule: nil) : nil
  }

  /// Converts a layer whose class is defined in a source file.
  init(_ source: LayerSource, _ subject: CustomLayerSubject, _ rules: CustomLayerRules) {
    self.source = .type(source)
    self.subject = subject
    hasMaskFunction = false
    fallback =
      rules.allowsAll ? CustomConversion(layer: source.layer, subject: subject, rule: nil) : nil
  }

  var formula: FormulaConversion? {
    if case .formula(let formula) = source { formula } else { nil }
  }

  /// The tensors that the function returns, a description of its steps, and the inputs whose masks it
  /// removes; only the fallback's outputs if the function cannot be followed.
  func convert(
    _ call: LayerCall, outputCount: Int, shapes: CustomLayerShapes, into network: inout KerasWriter
  ) throws -> (outputs: [KerasTensor], text: String?, unmasked: [Int]) {
    do {
      if formula == nil { try call.requireNoLeadingAxes() }
      let converted = try convert(call, into: &network)
      try network.requireRanks(call)
      return converted
    } catch {
      guard let fallback else { throw error }
      let outputs = try fallback.convert(
        call, outputCount: outputCount, shapes: shapes, into: &network)
      return (outputs, nil, [])
    }
  }

  private func convert(
    _ call: LayerCall, into network: inout KerasWriter
  ) throws -> (outputs: [KerasTensor], text: String, unmasked: [Int]) {
    try call.require(
      !hasMaskFunction, unsupported: "mask: a function for the mask is not supported",
      hint: "save the model without it: a layer may be called with its mask instead")
    if let formula { return (try formula.convert(call, into: &network), formula.text, []) }
    guard call.inputs.allSatisfy({ $0.sizes == nil }) else {
      throw call.unsupported("functions of shapes are not supported")
    }
    let before = network
    do {
      // Interpreted twice, so that the layer of the last step gets the Lambda's name.
      let (outputs, tensors): ([KerasTensor], PythonTensors)
      switch source {
      case .formula: throw PythonMachine.malformed
      case .code(let program):
        var steps: [[String]: PythonFunction] = [:]
        let log = try program.agreed { function in
          let log = try follow(function, program, call, before, last: nil).tensors.log
          steps[log] = steps[log] ?? function
          return log
        }
        guard let function = steps[log] else { throw PythonMachine.malformed }
        (outputs, tensors) = try follow(function, program, call, before, last: log.count - 1)
      case .type(let type): (outputs, tensors) = try type.convert(call, into: before)
      case .named(let function):
        let count = try follow(function, call, before, last: nil).tensors.log.count
        (outputs, tensors) = try follow(function, call, before, last: count - 1)
        tensors.network.notes.append(
          "layer '\(call.name)' is assumed to be \(tensors.log.last ?? "its input"), judging by the "
            + "name of its function: its code is not in the file")
      }
      network = tensors.network
      let names = LayerFormula.inputNames(call.inputs.count)
      let unmasked = names.indices.filter {
        call.inputs[$0].mask != nil && tensors.tensors[names[$0]]?.mask == nil
      }
      return (outputs, PythonText.short(tensors.log.joined(separator: ", ")), unmasked)
    } catch let error as ModelError {
      network = before
      var pseudocode: String?
      if case .type = source {
        throw ModelError(
          error.code, "its source cannot be followed: \(error.message)", layer: call.name,
          layerClass: call.className,
          hint: error.hint ?? UnsupportedLayers.error(for: subject, hasSource: true).hint)
      }
      if case .code(let program) = source { pseudocode = PythonText.function(program) }
      throw UnsupportedLayers.error(
        for: subject, reading: .failure(error), pseudocode: pseudocode, readsFormulas: true)
    }
  }

  private func follow(
    _ function: PythonFunction, _ program: PythonProgram, _ call: LayerCall,
    _ network: KerasWriter, last: Int?
  ) throws -> (outputs: [KerasTensor], tensors: PythonTensors) {
    let machine = PythonMachine()
    let (names, symbols) = try machine.inputs(of: function.code, call.inputs.count)
    let tensors = PythonTensors(network, call, names, last: last)
    machine.tensors = tensors
    let result = try machine.start(function, symbols, program.surroundings)
    return (try tensors.outputs(result, machine), tensors)
  }

  private func follow(
    _ function: NamedFunction, _ call: LayerCall, _ network: KerasWriter, last: Int?
  ) throws -> (outputs: [KerasTensor], tensors: PythonTensors) {
    let machine = PythonMachine()
    let names = LayerFormula.inputNames(call.inputs.count)
    let tensors = PythonTensors(network, call, names, last: last)
    machine.tensors = tensors
    let symbols = names.map { PythonSymbol.expression(.name($0)) }
    let input = symbols.count == 1 ? symbols[0] : .list(PythonList(symbols))
    return (try tensors.outputs(function.value(input, machine), machine), tensors)
  }
}
