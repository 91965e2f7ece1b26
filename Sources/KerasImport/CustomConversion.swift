import ImportSupport
import TensorCore

/// A layer that becomes a custom layer, because of a rule or because custom layers are allowed.
struct CustomConversion {
  let layer: ModelDefinition.Layer
  let subject: CustomLayerSubject
  /// The matching rule; nil if only `--custom-layers allow` admits the layer.
  let rule: CustomLayerRule?
  /// Whether the rule follows from the class name rather than from the user's rules.
  var isAssumed = false

  /// Fields that describe how the layer is stored, not what it computes.
  static let bookkeeping: Set<String> = [
    "name", "trainable", "dtype", "function", "function_type", "module", "output_shape",
    "output_shape_type", "output_shape_module", "batch_input_shape", "build_input_shape",
    "input_dtype",
  ]

  func convert(
    _ call: LayerCall, outputCount: Int, shapes: CustomLayerShapes,
    into network: inout KerasWriter
  ) throws -> [KerasTensor] {
    guard !call.inputs.isEmpty else { throw call.error("it has no inputs") }
    var inputs: [KerasTensor] = []
    for input in call.inputs { inputs.append(network.standard(input, for: call.name)) }
    let builder = CustomLayerBuilder(
      configuration: layer.fields,
      weights: try call.weights.map {
        (StoredWeight.shortName($0.storedName, layer: layer.name), try $0.values())
      })
    var rule = rule
    if isAssumed {
      rule = try FormulaClasses.rule(for: subject, layer, weightCount: call.weights.count).orThrow(
        call.unsupported(
          "this class is not known to have \(counted(call.weights.count, "weight"))"))
    }
    if let rule, let formula = try builder.formula(rule, inputCount: inputs.count) {
      try call.require(
        outputCount == 1,
        unsupported: "a formula has one result, but the layer has \(counted(outputCount, "output"))"
      )
      if isAssumed {
        network.notes.append(
          "layer '\(call.name)' (\(call.className)) is assumed to compute "
            + "\(formula.expression), judging by its class name, settings and weights: the code is "
            + "not in the file")
      }
      return try FormulaConversion(formula: formula).convert(call, into: &network)
    }
    var ignored = Self.bookkeeping
    if layer.fields["arguments"]?.object?.names.isEmpty == true { ignored.insert("arguments") }
    var custom = try builder.layer(
      rule, className: StoredIdentity.plainName(layer.className), leavingOut: ignored)
    if rule == nil, let function = subject.function {
      custom.parameters["function"] = .string(function)
    }
    let names =
      outputCount == 1
      ? [call.name + "_output"] : (0..<outputCount).map { "\(call.name)_output_\($0)" }
    let blobs = network.add(call.name, custom, inputs.map(\.blob), outputs: names)
    let result = guess(inputs)
    let answers = network.outputShapes(
      of: custom, inputs.map(\.blobShape), shapes, for: call.name)
    return blobs.enumerated().map { index, blob in
      var tensor = result
      if let answers, index < answers.count { tensor = result.with(blobShape: answers[index]) }
      tensor.blob = blob
      return tensor
    }
  }

  /// The assumed output: a Lambda's declared shape, or else that of the input of highest rank.
  private func guess(_ inputs: [KerasTensor]) -> KerasTensor {
    var tensor = inputs.first { input in inputs.allSatisfy { $0.rank <= input.rank } } ?? inputs[0]
    tensor.isShapeAssumed = true
    tensor.mask = nil
    if let stated = ModelDefinition.Layer.shape(layer.fields["output_shape"]) {
      let shape = [tensor.shape[0]] + stated
      if shape.count != tensor.rank {
        switch shape.count {
        case 2: tensor.layout = .vector
        case 3: tensor.layout = .sequence
        case 4: tensor.layout = .image
        default: return tensor
        }
      }
      tensor.shape = shape
    }
    return tensor
  }
}

extension KerasTensor {
  /// `[Seq, 1, C, H, W]`; nil if any size is unknown.
  fileprivate var blobShape: [Int]? {
    guard !isShapeAssumed else { return nil }
    var shape = [1, 1, 1, 1, 1]
    for (axis, size) in zip(layout.axes, self.shape.dropFirst()) {
      guard let size, size > 0 else { return nil }
      shape[axis.blobIndex] = size
    }
    return shape
  }

  /// The tensor with a known shape. Its layout is kept if it contains all axes longer than 1.
  fileprivate func with(blobShape: [Int]) -> KerasTensor {
    guard blobShape.count == 5, blobShape[1] == 1 else { return self }
    let layouts = [layout, .vector, .sequence, .image, .imageSequence]
    let fitting = layouts.first { layout in
      BlobAxis.allCases.allSatisfy { layout.axes.contains($0) || blobShape[$0.blobIndex] == 1 }
    }
    guard let fitting else { return self }
    var tensor = self
    tensor.layout = fitting
    tensor.shape = [shape[0]] + fitting.axes.map { blobShape[$0.blobIndex] }
    tensor.isShapeAssumed = false
    return tensor
  }
}

extension CustomLayerRules {
  /// The rule for a layer; the rule may omit the names of the models that contain the layer.
  func rule(for subject: CustomLayerSubject, _ layer: ModelDefinition.Layer) -> CustomLayerRule? {
    if let rule = rule(for: subject) { return rule }
    guard layer.name != subject.layer else { return nil }
    var unprefixed = subject
    unprefixed.layer = layer.name
    return rule(for: unprefixed)
  }
}
