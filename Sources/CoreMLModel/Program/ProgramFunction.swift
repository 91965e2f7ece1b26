import TensorCore

extension ModelDescription {
  /// The name of the program's function that this interface describes.
  package var programFunction: String { defaultFunctionName.isEmpty ? "main" : defaultFunctionName }
}

extension Model {
  /// The model with the named function of its program only, and that function's interface; without
  /// a name, the model with the interface of its default function.
  ///
  /// - Throws: `.mismatch` if there is no such function.
  package func selectingFunction(_ name: String?) throws -> Model {
    guard case .mlProgram(var program)? = type, var description else {
      try require(name == nil, .mismatch, "the model has no functions, which only ML Programs have")
      return self
    }
    if name == nil, description.functions.isEmpty { return self }
    let wanted = name ?? description.programFunction
    let names = program.functions.map(\.key)
    let interface = description.functions.first { $0.name == wanted }
    guard names.contains(wanted), interface != nil || wanted == description.programFunction else {
      throw ModelError(
        .mismatch, "the program has no function '\(wanted)'",
        hint: "its functions are " + names.map { "'\($0)'" }.joined(separator: ", "))
    }
    if let interface {
      (description.input, description.output) = (interface.input, interface.output)
      if !interface.state.isEmpty { description.state = interface.state }
      description.predictedFeatureName = interface.predictedFeatureName
      description.predictedProbabilitiesName = interface.predictedProbabilitiesName
      description.defaultFunctionName = wanted
    }
    var model = self
    model.description = description
    if name != nil {
      program.functions = program.functions.filter { $0.key == wanted }
      model.type = .mlProgram(program)
    }
    return model
  }
}
