import ByteFormats
import ImportSupport
import TensorCore

/// A Lambda whose Python function becomes layers, one operation at a time.
struct PythonConversion {
  let program: PythonProgram
  let subject: CustomLayerSubject
  /// What the layer becomes if its function cannot be followed; nil if that is an error.
  let fallback: CustomConversion?

  /// The tensors that the function returns, and its steps as text.
  func convert(
    _ call: LayerCall, into network: inout NetworkWriter
  ) throws -> (outputs: [KerasTensor], text: String) {
    guard call.inputs.allSatisfy({ $0.sizes == nil }) else {
      throw call.unsupported("functions of shapes are not supported")
    }
    let before = network
    do {
      // Followed twice: the last step's layer gets the Lambda's name.
      var steps: [[String]: PythonFunction] = [:]
      let log = try program.agreed { function in
        let log = try follow(function, call, before, last: nil).tensors.log
        steps[log] = steps[log] ?? function
        return log
      }
      guard let function = steps[log] else { throw PythonMachine.malformed }
      let (outputs, tensors) = try follow(function, call, before, last: log.count - 1)
      network = tensors.network
      return (outputs, PythonText.short(log.joined(separator: ", ")))
    } catch let error as ModelError {
      network = before
      throw UnsupportedLayers.error(
        for: subject, reading: .failure(error), pseudocode: PythonText.function(program),
        readsFormulas: true)
    }
  }

  private func follow(
    _ function: PythonFunction, _ call: LayerCall, _ network: NetworkWriter, last: Int?
  ) throws -> (outputs: [KerasTensor], tensors: PythonTensors) {
    let machine = PythonMachine()
    let (names, symbols) = try machine.inputs(of: function.code, call.inputs.count)
    let tensors = PythonTensors(network, call, names, last: last)
    machine.tensors = tensors
    let result = try machine.start(function, symbols, program.surroundings)
    return (try tensors.outputs(result, machine), tensors)
  }
}
