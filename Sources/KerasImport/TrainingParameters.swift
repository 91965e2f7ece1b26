import ByteFormats
import CoreMLModel
import TensorCore

/// Makes a model updatable on a device, with its trainable layers and the loss and optimizer that
/// it was compiled with.
struct TrainingParameters {
  private enum Loss {
    case categoricalCrossEntropy
    case meanSquaredError
  }

  private enum Optimizer {
    case sgd(learningRate: Double, momentum: Double)
    case adam(learningRate: Double, beta1: Double, beta2: Double, epsilon: Double)
  }

  private let loss: Loss
  private let optimizer: Optimizer

  /// Nil, with a note that states the reason, if Core ML lacks the file's loss or optimizer.
  init?(_ configuration: JSONValue?, notes: inout [String]) {
    func refuse(_ reason: String) {
      notes.append("\(setting: "respectTrainable") has no effect: \(reason)")
    }
    guard let configuration else {
      refuse("the model was saved without its loss and optimizer")
      return nil
    }
    switch Self.name(configuration["loss"]) {
    case "categorical_crossentropy", "CategoricalCrossentropy": loss = .categoricalCrossEntropy
    case "mean_squared_error", "mse", "MSE", "MeanSquaredError": loss = .meanSquaredError
    case let other:
      refuse("Core ML has no loss '\(other ?? "of several parts")'")
      return nil
    }
    let settings = configuration["optimizer_config"]?["config"]
    func number(_ names: String..., default standard: Double) -> Double {
      names.lazy.compactMap { settings?[$0]?.double }.first ?? standard
    }
    let rate = number("learning_rate", "lr", default: 0.01)
    switch configuration["optimizer_config"]?["class_name"]?.string {
    case "SGD": optimizer = .sgd(learningRate: rate, momentum: number("momentum", default: 0))
    case "Adam":
      optimizer = .adam(
        learningRate: rate, beta1: number("beta_1", default: 0.9),
        beta2: number("beta_2", default: 0.999), epsilon: number("epsilon", default: 1e-7))
    case let other:
      refuse("Core ML has no optimizer '\(other ?? "")'")
      return nil
    }
  }

  private static func name(_ json: JSONValue?) -> String? {
    json?.string ?? json?["config"]?["name"]?.string ?? json?["class_name"]?.string
  }

  /// Marks layers as updatable, and adds a loss for the first output, with its target as input.
  func apply(to model: inout Model, updatableLayers: Set<String>, notes: inout [String]) {
    guard var network = model.neuralNetwork, var description = model.description,
      !updatableLayers.isEmpty, let output = description.output.first
    else {
      notes.append("\(setting: "respectTrainable") has no effect: the model has no trainable layer")
      return
    }
    for index in network.layers.indices where updatableLayers.contains(network.layers[index].name) {
      network.layers[index].isUpdatable = true
      switch network.layers[index].parameters {
      case var layer as Convolution:
        layer.kernel?.isUpdatable = true
        layer.bias?.isUpdatable = true
        network.layers[index].parameters = layer
      case var layer as InnerProduct:
        layer.matrix?.isUpdatable = true
        layer.bias?.isUpdatable = true
        network.layers[index].parameters = layer
      default: break
      }
    }
    let target = output.name + "_true"
    network.updateParams = OpaqueMessage(
      field: 10, name: "updateParams",
      payload: Bytes(message(input: output.name, target: target).bytes))
    description.trainingInput = description.input
    let kind: FeatureType.Kind? =
      loss == .meanSquaredError
      ? output.type?.kind : .multiArray(ArrayFeatureType(shape: [1], dataType: .int32))
    if let kind { description.trainingInput.append(FeatureDescription(name: target, kind: kind)) }
    model.neuralNetwork = network
    model.description = description
    model.isUpdatable = true
    model.specificationVersion = max(model.specificationVersion, 4)
  }

  // MARK: NetworkUpdateParameters

  private func message(input: String, target: String) -> WireMessage {
    let features: WireMessage = [1: .text(input), 2: .text(target)]
    return [
      1: .message([
        1: .text("loss_layer"), (loss == .categoricalCrossEntropy ? 10 : 11): .message(features),
      ]),
      2: .message(optimizerMessage), 3: Self.parameter(1, among: [1]),
      10: .message([1: .varint(1)]),
    ]
  }

  private var optimizerMessage: WireMessage {
    let batch = Self.parameter(16, among: [1, 16, 32])
    switch optimizer {
    case .sgd(let rate, let momentum):
      return [10: .message([1: Self.parameter(rate), 2: batch, 3: Self.parameter(momentum)])]
    case .adam(let rate, let beta1, let beta2, let epsilon):
      return [
        11: .message([
          1: Self.parameter(rate), 2: batch, 3: Self.parameter(beta1), 4: Self.parameter(beta2),
          5: Self.parameter(epsilon),
        ])
      ]
    }
  }

  /// A parameter with the range 0 to 1.
  private static func parameter(_ value: Double) -> WireMessage.Value {
    let range = WireMessage.Value.message([2: .number(1)])
    return .message(value == 0 ? [10: range] : [1: .number(value), 10: range])
  }

  private static func parameter(_ value: UInt64, among values: [UInt64]) -> WireMessage.Value {
    .message([1: .varint(value), 11: .message([1: .packed(values)])])
  }
}

/// A message in protobuf's wire format, built from its fields by number.
private struct WireMessage: ExpressibleByDictionaryLiteral {
  indirect enum Value {
    case varint(UInt64)
    case number(Double)
    case text(String)
    case packed([UInt64])
    case message(WireMessage)
  }

  private(set) var bytes: [UInt8] = []

  init(dictionaryLiteral fields: (UInt64, Value)...) {
    for (field, value) in fields { add(field, value) }
  }

  private mutating func add(_ field: UInt64, _ value: Value) {
    switch value {
    case .varint(let value):
      append(field << 3)
      append(value)
    case .number(let value):
      append(field << 3 | 1)
      bytes += (0..<8).map { UInt8(truncatingIfNeeded: value.bitPattern >> (8 * $0)) }
    case .text(let text): add(field, Array(text.utf8))
    case .packed(let values):
      var payload: [UInt8] = []
      for value in values { ProtobufWire.append(varint: value, to: &payload) }
      add(field, payload)
    case .message(let message): add(field, message.bytes)
    }
  }

  private mutating func add(_ field: UInt64, _ payload: [UInt8]) {
    append(field << 3 | 2)
    append(UInt64(payload.count))
    bytes += payload
  }

  private mutating func append(_ value: UInt64) { ProtobufWire.append(varint: value, to: &bytes) }
}
