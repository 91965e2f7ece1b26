import CoreMLModel
import TensorCore

extension LayerCall {
  /// Classes of Keras's published examples, which many projects copy.
  static let exampleNames: Set<String> = ["DepthToSpace", "Normalize", "PatchEncoder", "Patches"]

  /// Converts a layer whose inputs may have leading axes.
  ///
  /// - Parameter configuration: the layer's, to read its axes once more if they are counted from
  ///   the start.
  func outputs(
    of layer: ConfiguredLayer, _ configuration: LayerConfiguration,
    into network: inout KerasWriter
  ) throws -> [KerasTensor] {
    if layer.type != EmbeddingSimilarity.self { try requireNoTables() }
    try requireSameInTraining(configuration, &network)
    if Self.exampleNames.contains(className), layer.operation == nil {
      network.notes.append(
        "layer '\(name)' (\(className)) is assumed to be the class that Keras's examples publish by this "
          + "name, judging by its settings and weights: its code is not in the file")
    }
    if let operation = layer.operation,
      configuration[TimeDistributed.isInModel] != nil
    {
      return try stepwise(operation, configuration, into: &network)
    }
    guard let leading = inputs.lazy.compactMap(\.leading).first else {
      return try layer.convert(self, &network)
    }
    switch layer.leadingAxes {
    case .decides: return try layer.convert(self, &network)
    case .refuses: throw leadingAxesError
    case .keeps, .steps: break
    }
    let tensors = inputs.filter { $0.sizes == nil }
    guard tensors.allSatisfy({ $0.leading == leading }),
      Set(tensors.map(\.shape.count)).count == 1
    else {
      throw unsupported(
        "its inputs \(inputs.map { KerasTensor.text($0.fullShape) }.joined(separator: ", ")) differ "
          + "in axes that Core ML's blobs do not have")
    }
    let outputs: [KerasTensor]
    if layer.leadingAxes == .steps {
      outputs = try convertSteps(layer, tensors[0].gathered, into: &network)
    } else {
      let axes = AxesFromEnd(rank: tensors[0].fullShape.count, leading: leading.sizes.count)
      var call = self
      call.inputs = inputs.map(\.gathered)
      var fields = configuration.fields
      try axes.rewrite(&call.arguments, &fields, of: layer.operation, self)
      var adapted = configuration
      adapted.fields = fields
      outputs = try layer.type.configured(adapted).convert(call, &network)
    }
    return try outputs.map { output in
      guard output.rank > 1, output.shape[1] == tensors[0].shape[1] else { throw leadingAxesError }
      let sizes = leading.sizes + output.shape.dropFirst(2).compactMap { $0 }
      var result = output
      result.leading = leading
      // An ordinary tensor again.
      guard leading.windows == 1, sizes.count <= 4 else { return result }
      return try network.regrouped(output, windows: 1, sizes, name + "_axes", self)
    }
  }

  func requireNoLeadingAxes() throws {
    try requireNoTables()
    if inputs.contains(where: { $0.leading != nil }) { throw leadingAxesError }
  }

  private func requireNoTables() throws {
    try require(
      !inputs.contains { $0.table != nil },
      unsupported: "the table of an embedding is an input of EmbeddingSimilarity alone")
  }

  private var leadingAxesError: ModelError {
    unsupported(
      "\(inputs.map { KerasTensor.text($0.fullShape) }.joined(separator: ", ")) has windows in the "
        + "batch, or more axes than Core ML's blobs, which this layer does not support")
  }

  /// Applies an operation to each step of a sequence: its axes are those of a step.
  private func stepwise(
    _ operation: Operation, _ configuration: LayerConfiguration, into network: inout KerasWriter
  ) throws -> [KerasTensor] {
    let name = operation.names[0]
    let isStepwise =
      OperationTable.isOfElements(name) || OperationTable.keepingLeadingAxes[name] != nil
    guard let rank = inputs.first(where: { $0.sizes == nil })?.rank, isStepwise,
      inputs.allSatisfy({ $0.leading == nil })
    else {
      throw unsupported(
        "the operation in a model inside TimeDistributed is not supported",
        hint: "apply the model's layers without TimeDistributed, or make it a layer")
    }
    var (call, adapted) = (self, configuration)
    try AxesFromEnd(rank: rank - 1, leading: 0).rewrite(
      &call.arguments, &adapted.fields, of: operation, self)
    return try KerasOperationLayer.configured(adapted).convert(call, &network)
  }

  /// Applies a layer for images to each step of a sequence of images.
  private func convertSteps(
    _ layer: ConfiguredLayer, _ sequence: KerasTensor, into network: inout KerasWriter
  ) throws -> [KerasTensor] {
    guard inputs.count == 1, sequence.rank == 5 else { throw leadingAxesError }
    return try network.stepwise(
      layer, with(name: name, inputs: [network.relaid(sequence, to: .imageSequence, for: name)]))
  }
}

extension KerasTensor {
  func requireAllAxes(ofOutput position: Int, _ node: KerasGraph.Node) throws {
    guard leading != nil || table != nil else { return }
    if table != nil {
      throw ModelError(
        .unsupported, "output \(position + 1) of the model is the table of an embedding",
        layer: node.name, layerClass: node.layer.className)
    }
    throw ModelError(
      .unsupported,
      "output \(position + 1) of the model, \(Self.text(fullShape)), has windows in the batch, or "
        + "more axes than Core ML's blobs", layer: node.name, layerClass: node.layer.className)
  }
}
