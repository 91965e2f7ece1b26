extension KerasSource {
  /// The Lambda layers whose functions are in the file, and the Python versions that can run all of
  /// them; other versions may crash.
  package var lambdas: (names: [String], versions: [String]) {
    var names: [String] = []
    var versions = PythonVersion.all.map(\.name)
    func add(_ model: ModelDefinition) {
      for layer in model.layers {
        if let nested = layer.nested { add(nested) }
        guard layer.className == "Lambda",
          let program = LambdaFunction.program(in: layer.fields, inputCount: 1)
        else { continue }
        if !names.contains(layer.name) { names.append(layer.name) }
        versions.removeAll { !program.versions.contains($0) }
      }
    }
    add(definition)
    return (names, versions.flatMap { Self.members[$0] ?? [$0] })
  }

  /// The Python versions that share their instructions with another version.
  private static let members = [
    "3.4": ["3.4", "3.5"], "3.6": ["3.6", "3.7"], "3.8": ["3.8", "3.9"],
  ]
}

extension PythonProgram {
  /// The most likely Python versions for these instructions.
  fileprivate var versions: [String] {
    let found = PythonVersion.all.filter { $0.layouts.contains(code.layout) }.compactMap {
      version in
      PythonInstructions.read(code, as: version).map { operations in
        (
          name: version.name,
          strangers: operations.count { if case .other = $0 { true } else { false } }
        )
      }
    }
    let fewest = found.map(\.strangers).min()
    return found.filter { $0.strangers == fewest }.map(\.name)
  }
}
