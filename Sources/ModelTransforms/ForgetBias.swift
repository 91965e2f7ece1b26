import CoreMLModel
import TensorCore

/// The meaning of an LSTM's field `forgetBias`. According to the specification it adds 1 to the
/// bias of the forget gate, but coremltools set it although the stored bias already included the 1.
public enum ForgetBias: String, Sendable, CaseIterable {
  /// Adds nothing, as Core ML does.
  case ignore
  /// Adds 1 to the forget gate's bias.
  case add
}

extension Model {
  /// What the field means in this model, as its user-defined metadata records it.
  public var forgetBias: ForgetBias {
    get {
      (description?.metadata?.userDefined[Self.forgetBiasKey]).flatMap(ForgetBias.init) ?? .ignore
    }
    set {
      var metadata = description?.metadata ?? Metadata()
      metadata.userDefined[Self.forgetBiasKey] = newValue == .ignore ? nil : newValue.rawValue
      description?.metadata = metadata
    }
  }

  private static let forgetBiasKey = "assay.forgetBias"

  /// The model with the 1 for `forgetBias` added to the stored biases, and the field set to false.
  public func withForgetBiasInWeights() throws -> Model {
    try editingForgetBias { parameters, bias in
      guard parameters.forgetBias else { return }
      parameters.forgetBias = false
      bias(1)
    }
  }

  /// The model with `forgetBias` true, the stored biases reduced by 1, and a record of that.
  public func withForgetBiasInField() throws -> Model {
    var model = try editingForgetBias { parameters, bias in
      guard !parameters.forgetBias else { return }
      parameters.forgetBias = true
      bias(-1)
    }
    model.forgetBias = .add
    return model
  }

  private func editingForgetBias(
    _ body: (inout LSTMParameters, (Float) -> Void) -> Void
  ) throws -> Model {
    var model = self
    if var network = neuralNetwork {
      for index in network.layers.indices {
        switch network.layers[index].parameters {
        case var layer as UniDirectionalLSTM:
          var weights = layer.weightParams.map { [$0] } ?? []
          try Self.edit(&layer.params, &weights, units: layer.outputVectorSize, body)
          layer.weightParams = weights.first
          network.layers[index].parameters = layer
        case var layer as BiDirectionalLSTM:
          try Self.edit(&layer.params, &layer.weightParams, units: layer.outputVectorSize, body)
          network.layers[index].parameters = layer
        default: continue
        }
      }
      model.neuralNetwork = network
    }
    model.pipelineModels = try pipelineModels.map { try $0.editingForgetBias(body) }
    return model
  }

  private static func edit(
    _ parameters: inout LSTMParameters?, _ weights: inout [LSTMWeights], units: Int,
    _ body: (inout LSTMParameters, (Float) -> Void) -> Void
  ) throws {
    var edited = parameters ?? LSTMParameters()
    guard !edited.coupledInputAndForgetGate else { return }
    var amount: Float = 0
    body(&edited) { amount = $0 }
    guard amount != 0 else { return }
    try require((0...Limits.dimension).contains(units), "\(units)", field: "outputVectorSize")
    let zeros = Weights([Float](repeating: 0, count: edited.hasBiasVectors ? 0 : units))
    for index in weights.indices {
      if !edited.hasBiasVectors {
        weights[index].inputGate.bias = zeros
        weights[index].forgetGate.bias = zeros
        weights[index].blockInput.bias = zeros
        weights[index].outputGate.bias = zeros
      }
      let bias = weights[index].forgetGate.bias ?? Weights()
      try require(
        bias.floatValue.count == units, .unsupported,
        "the bias of a forget gate must be float32", field: "forgetGateBiasVector"
      )
      weights[index].forgetGate.bias = try Weights(bias.floatValue.array().map { $0 + amount })
    }
    edited.hasBiasVectors = true
    parameters = edited
  }
}
