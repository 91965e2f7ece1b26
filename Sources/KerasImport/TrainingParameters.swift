import ByteFormats
import CoreMLModel
import TensorCore

/// Makes a model updatable on a device: its trainable layers, the loss and the optimizer that it
/// was compiled with.
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

  /// Nil, with a note that says why, where Core ML has not the file's loss or optimizer.
  init?(_ configuration: JSONValue?, notes: inout [String]) {
    func refuse(_ reason: String) {
      notes.append("--respect-trainable has no effect: \(reason)")
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

  /// Marks the layers, adds the loss on the first output, and asks for its target in training.
  func apply(to model: inout Model, updatableLayers: Set<String>, notes: inout [String]) {
    guard var network = model.neuralNetwork, var description = model.description,
      !updatableLayers.isEmpty, let output = description.output.first
    else {
      notes.append("--respect-trainable has no effect: no layer can be trained")
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

  private func message(input: String, target: String) -> MessageBytes {
    var lossLayer = MessageBytes()
    lossLayer.add(1, "loss_layer")
    var features = MessageBytes()
    features.add(1, input)
    features.add(2, target)
    lossLayer.add(loss == .categoricalCrossEntropy ? 10 : 11, features)
    var message = MessageBytes()
    message.add(1, lossLayer)
    message.add(2, optimizerMessage)
    message.add(3, Self.parameter(1, among: [1]))
    var shuffle = MessageBytes()
    shuffle.add(1, varint: 1)
    message.add(10, shuffle)
    return message
  }

  private var optimizerMessage: MessageBytes {
    var settings = MessageBytes()
    var message = MessageBytes()
    let batch = Self.parameter(16, among: [1, 16, 32])
    switch optimizer {
    case .sgd(let rate, let momentum):
      settings.add(1, Self.parameter(rate))
      settings.add(2, batch)
      settings.add(3, Self.parameter(momentum))
      message.add(10, settings)
    case .adam(let rate, let beta1, let beta2, let epsilon):
      settings.add(1, Self.parameter(rate))
      settings.add(2, batch)
      settings.add(3, Self.parameter(beta1))
      settings.add(4, Self.parameter(beta2))
      settings.add(5, Self.parameter(epsilon))
      message.add(11, settings)
    }
    return message
  }

  /// A number between 0 and 1.
  private static func parameter(_ value: Double) -> MessageBytes {
    var message = MessageBytes()
    if value != 0 { message.add(1, value) }
    var range = MessageBytes()
    range.add(2, 1.0)
    message.add(10, range)
    return message
  }

  private static func parameter(_ value: UInt64, among values: [UInt64]) -> MessageBytes {
    var message = MessageBytes()
    message.add(1, varint: value)
    var packed = MessageBytes()
    for value in values { packed.add(varint: value) }
    var set = MessageBytes()
    set.add(1, packed)
    message.add(11, set)
    return message
  }
}

/// Fields in protobuf's wire form.
private struct MessageBytes {
  private(set) var bytes: [UInt8] = []

  mutating func add(varint value: UInt64) { ProtobufWire.append(varint: value, to: &bytes) }

  mutating func add(_ field: UInt64, varint value: UInt64) {
    add(varint: field << 3)
    add(varint: value)
  }

  mutating func add(_ field: UInt64, _ value: Double) {
    add(varint: field << 3 | 1)
    bytes += (0..<8).map { UInt8(truncatingIfNeeded: value.bitPattern >> (8 * $0)) }
  }

  mutating func add(_ field: UInt64, _ text: String) { add(field, payload: Array(text.utf8)) }

  mutating func add(_ field: UInt64, _ message: MessageBytes) {
    add(field, payload: message.bytes)
  }

  private mutating func add(_ field: UInt64, payload: [UInt8]) {
    add(varint: field << 3 | 2)
    add(varint: UInt64(payload.count))
    bytes += payload
  }
}
