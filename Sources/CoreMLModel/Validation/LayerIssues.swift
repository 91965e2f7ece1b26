import TensorCore

extension LayerParameters {
  /// All problems with the parameters that do not depend on the network.
  var parameterFaults: [ModelError] {
    var faults = ValidationIssues()
    check(&faults)
    for weight in Self.fields.compactMap(\.weight) where weight.isNeeded(self) {
      faults.require(self[keyPath: weight.path] != nil, weight.name, "the values are missing")
    }
    if !(self is Custom) {
      for weights in weights { faults.catching { try weights.requireValues() } }
      faults.requireOnePrecision(weights)
    }
    return faults.errors
  }
}

/// Errors that are collected rather than thrown.
package struct ValidationIssues {
  private(set) var errors: [ModelError] = []
  /// Findings that Core ML accepts but that are probably mistakes.
  private(set) var doubts: [ModelError] = []

  /// Parts of the description that the model's results contradict.
  private(set) var contradictions: [ModelError] = []

  /// Records an output's sizes if results of this shape contradict them.
  mutating func contradict(
    _ output: FeatureDescription, _ shape: [Int]?, isRank5: Bool = false, by producer: String
  ) {
    guard let shape, let text = output.type?.contradiction(shape, isRank5: isRank5, of: producer)
    else { return }
    contradictions.append(ModelError(.malformed, text, field: "description.output.\(output.name)"))
  }

  /// Records a doubt unless the condition holds.
  mutating func doubt(
    unless condition: Bool, _ field: String, _ message: @autoclosure () -> String
  ) {
    if !condition { doubts.append(ModelError(.malformed, message(), field: field)) }
  }

  mutating func append(_ errors: [ModelError]) { self.errors += errors }

  /// The same findings as doubts, which Core ML accepts.
  var asDoubts: ValidationIssues {
    var faults = ValidationIssues()
    faults.doubts = errors + doubts
    return faults
  }

  /// Adds the findings from a part of the model, after `location` adds the part's location to each.
  mutating func append(_ part: ValidationIssues, _ location: (ModelError) -> ModelError) {
    errors += part.errors.map(location)
    doubts += part.doubts.map(location)
    contradictions += part.contradictions.map(location)
  }

  mutating func require(
    _ condition: Bool, _ field: String, _ message: @autoclosure () -> String,
    hint: String? = nil
  ) {
    if !condition { errors.append(ModelError(.malformed, message(), field: field, hint: hint)) }
  }

  mutating func catching(_ body: () throws -> Void) {
    do { try body() } catch let error as ModelError { errors.append(error) } catch {
      errors.append(ModelError(.internal, "\(error)"))
    }
  }

  mutating func requireBroadcastable(_ shape: [Int], _ field: String) {
    require(
      [1, 3].contains(shape.count), field, "\(shape) is invalid; one or three sizes are needed",
      hint: "it can be [1], [C], [1, H, W] or [C, H, W]")
  }

  /// Recurrent layers support only six functions.
  mutating func requireRecurrent(_ activations: [Activation], _ count: Int) {
    require(
      activations.count == count, "activations",
      "\(activations.count) functions; \(count) are needed")
    for activation in activations {
      let isPossible =
        switch activation.function {
        case .linear, .sigmoid, .tanh, .relu, .scaledTanh, .sigmoidHard: true
        default: false
        }
      require(
        isPossible, "activations",
        "\(activation.function.map { "\($0)" } ?? "the function is missing") in a recurrent layer",
        hint: "only linear, sigmoid, tanh, ReLU, scaledTanh and sigmoidHard are possible")
    }
  }

  /// A layer that quantizes its input needs weights of signed bytes with one scale.
  mutating func requireDynamicCodes(_ weights: Weights?) {
    guard let weights, weights.int8RawValue.count > 0, weights.quantization?.numberOfBits == 8,
      case .linear(let scale, let bias)? = weights.quantization?.kind, scale.count == 1,
      bias.isEmpty
    else {
      return require(
        false, "int8DynamicQuantize",
        "the weights must be signed bytes with one scale and without a bias")
    }
  }

  /// All weights of a layer must be full precision, all half precision, or all quantized.
  mutating func requireOnePrecision(_ weights: [NamedWeights]) {
    let kinds = weights.filter { $0.values.storedCount > 0 }.map { weight in
      weight.values.floatValue.count > 0
        ? "full" : weight.values.float16Value.count > 0 ? "half" : "quantized"
    }
    let names = Set(kinds).sorted()
    require(
      !names.contains("half") || names.count == 1, "weights",
      "\(names.joined(separator: " and ")) precision in one layer")
  }
}
