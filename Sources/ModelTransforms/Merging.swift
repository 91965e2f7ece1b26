import CoreMLModel
import TensorCore

extension Model {
  /// A pipeline of models: an input takes an earlier model's output of the same name; a model's
  /// only input may take the only free output instead. All others are the pipeline's inputs.
  ///
  /// - Parameter models: the models with their names.
  /// - Returns: the pipeline, and a note for each renamed feature.
  /// - Throws: `.mismatch` if the types of an output and an input differ, or nothing is passed on.
  package static func pipeline(
    of models: [(name: String, model: Model)]
  ) throws -> (model: Model, notes: [String]) {
    var notes: [String] = []
    var names = NamePool()
    var used = NamePool()
    var pipeline = Pipeline()
    var inputs: [FeatureDescription] = []
    var available: [FeatureDescription] = []
    var read: Set<String> = []
    var metadata = Metadata()
    for (location, (name, given)) in models.enumerated() {
      try require(given.description != nil, "the model has no description", file: name)
      if case .mlProgram? = given.type {
        throw ModelError(
          .unsupported, "a pipeline of ML Programs is not supported", file: name,
          hint: "merge all programs as functions with -o FILE.mlpackage")
      }
      var changes: [String: String] = [:]
      var isConnected = location == 0
      let own = given.description?.input ?? []
      let free = available.filter { !read.contains($0.name) }
      for input in own {
        var source = available.first { $0.name == input.name }
        if source == nil, own.count == 1, free.count == 1 { source = free[0] }
        guard let source else { continue }
        try source.requirePassing(to: input, of: name)
        changes[input.name] = source.name
        read.insert(source.name)
        isConnected = true
      }
      try require(
        isConnected, .mismatch, "no input takes an output of the models before",
        file: name,
        hint: "rename a feature with \(setting: "rename"): the outputs are "
          + available.map { "'\($0.name)'" }.joined(separator: ", "))
      for feature in given.featureNames where changes[feature] == nil {
        let isShared =
          own.contains { $0.name == feature } && inputs.contains { $0.name == feature }
        if isShared {
          try inputs.first { $0.name == feature }?.requirePassing(
            to: own.first { $0.name == feature }, of: name)
        } else {
          changes[feature] = used.take(feature)
        }
      }
      for (old, new) in changes.sorted(by: { $0.key < $1.key }) where old != new {
        notes.append("'\(old)' of \(name) is '\(new)' in the pipeline")
      }
      let model = try given.renamingFeatures(changes)
      let description = model.description ?? ModelDescription()
      inputs += description.input.filter { input in
        !(available + inputs).contains { $0.name == input.name }
      }
      available += description.output
      if case .pipeline(let inner)? = model.type {
        for index in inner.models.indices {
          pipeline.models.append(inner.models[index])
          pipeline.names.append(names.take(model.pipelineName(index)))
        }
      } else {
        pipeline.models.append(model)
        pipeline.names.append(names.take(name))
      }
      metadata.add(description.metadata)
    }
    var result = Model()
    let last = models.isEmpty ? nil : pipeline.models.last?.description
    result.description?.input = inputs
    result.description?.output = available.filter { !read.contains($0.name) }
    result.description?.metadata = metadata
    result.type = .pipeline(pipeline)
    if let label = last?.predictedFeatureName, !label.isEmpty {
      result.description?.predictedFeatureName = label
      result.description?.predictedProbabilitiesName = last?.predictedProbabilitiesName ?? ""
      result.type =
        last?.predictedProbabilitiesName.isEmpty == false
        ? .pipelineClassifier(pipeline) : .pipelineRegressor(pipeline)
    }
    result.specificationVersion = result.minimumSpecificationVersion
    return (result, notes)
  }

  /// A program with the functions of several programs; equal weights are stored once. The only
  /// function of a program gets the program's name.
  package static func functions(of models: [(name: String, model: Model)]) throws -> Model {
    var result = Model()
    var all = MILProgram()
    var description = ModelDescription()
    var metadata = Metadata()
    for (location, (name, given)) in models.enumerated() {
      guard case .mlProgram(var program)? = given.type, let own = given.description else {
        throw ModelError(
          .unsupported, "is not an ML Program, and only those have functions", file: name,
          hint: "make a pipeline with -o FILE.mlmodel, or convert it to an .mlpackage first")
      }
      let isOnly = program.functions.count == 1
      if location > 0 { try program.moveWeights(to: "\(location)") }
      var descriptions = own.functions
      if descriptions.isEmpty {
        var only = FunctionDescription()
        only.name = program.functions.first?.key ?? ""
        (only.input, only.output, only.state) = (own.input, own.output, own.state)
        only.predictedFeatureName = own.predictedFeatureName
        only.predictedProbabilitiesName = own.predictedProbabilitiesName
        descriptions = [only]
      }
      if isOnly {
        let function = MILProgram.identifier(name)
        program.functions[0].key = function
        descriptions[0].name = function
      }
      for function in program.functions {
        try require(
          !all.functions.contains { $0.key == function.key }, .mismatch,
          "another program has a function '\(function.key)', too", file: name,
          hint: "rename it with \(setting: "renameFunction"), or rename the file")
      }
      if location == 0 {
        result = given
        all = program
        description = own
        description.functions = descriptions
        description.defaultFunctionName = own.defaultFunctionName
        if isOnly { description.defaultFunctionName = descriptions[0].name }
      } else {
        all.functions += program.functions
        all.weightFiles.merge(program.weightFiles) { $1 }
        description.functions += descriptions
      }
      metadata.add(own.metadata)
    }
    description.metadata = metadata
    result.description = description
    result.type = .mlProgram(try all.withoutUnusedWeights())
    // Functions require iOS 18.
    result.specificationVersion = max(9, result.minimumSpecificationVersion)
    return result
  }
}

extension Metadata {
  /// Adds the entries that only `other` has.
  mutating func add(_ other: Metadata?) {
    guard let other else { return }
    for path in [\Metadata.shortDescription, \.versionString, \.author, \.license]
    where self[keyPath: path].isEmpty { self[keyPath: path] = other[keyPath: path] }
    userDefined.merge(other.userDefined) { own, _ in own }
  }
}

extension FeatureDescription {
  /// - Throws: `.mismatch` if `input` does not accept the values of this feature.
  fileprivate func requirePassing(to input: FeatureDescription?, of model: String) throws {
    func sizes(_ feature: FeatureDescription?) -> (kind: String, sizes: [Int]) {
      switch feature?.type?.kind {
      case .image(let image):
        (
          "a \(image.colorSpace.channelCount == 1 ? "gray" : "color") image",
          [image.width, image.height]
        )
      case .multiArray(let array): ("an array", array.shape.filter { $0 != 1 })
      case .dictionary: ("a dictionary", [])
      case .string: ("a string", [])
      case .int64, .double: ("a number", [])
      case .state, .opaque, nil: ("another type", [])
      }
    }
    let (from, to) = (sizes(self), sizes(input))
    let isFlexible = input?.type?.isFlexible == true || type?.isFlexible == true
    try require(
      from.kind == to.kind && (isFlexible || from.sizes == to.sizes), .mismatch,
      "its input '\(input?.name ?? "")' is \(to.kind) \(to.sizes), but '\(name)' is \(from.kind) \(from.sizes)",
      file: model)
  }
}

extension MILProgram {
  /// Renames the weight files so that those of several programs differ.
  fileprivate mutating func moveWeights(to prefix: String) throws {
    weightFiles = Dictionary(uniqueKeysWithValues: weightFiles.map { ($0.key + prefix, $0.value) })
    for index in functions.indices {
      functions[index].value?.editBodies { body in
        body.editOperations { operation in
          operation.mapValues { value in
            guard case .file(var location)? = value.content else { return value }
            location.fileName += prefix
            var value = value
            value.content = .file(location)
            return value
          }
        }
      }
    }
  }
}
