import ByteFormats
import Interpretation
import TensorCore

/// A tensor with the mask of its steps, `[batch, steps]`, which is 1 for valid steps.
struct KerasValue: Sendable {
  var array: DoubleArray
  var mask: DoubleArray?
  /// Whether a layer that is not interpreted may have removed the mask.
  var isMaskUnknown = false

  init(array: DoubleArray, mask: DoubleArray? = nil) {
    self.array = array
    self.mask = mask
  }
}

/// One call of a layer: its settings, inputs and weights.
struct LayerRun {
  let file: String
  let name: String
  var className: String
  var fields: JSONValue
  var inputs: [KerasValue]
  var weights: [DoubleArray]
  let generation: KerasGeneration
  let call: KerasCall
  /// All tensors of the call, including those that are masks.
  let tensors: [DoubleArray]
  var isTraining = false

  var input: DoubleArray { inputs[0].array }

  func outputs() throws -> [KerasValue] {
    let operation = try KerasOperations.byClass[className].orThrow(
      missing("this layer class is not interpreted"))
    try require(!inputs.isEmpty, "it has no inputs")
    try require(
      inputs.allSatisfy { $0.mask == nil || !$0.isMaskUnknown },
      "a layer that is not interpreted may have removed its mask")
    let isQuantized = ["Quantized", "Int4DTypePolicy", "_from_"].contains(
      where: (fields["dtype"] ?? .null).text.contains)
    let run = isQuantized ? try QuantizedWeights.plain(self) : self
    try require(
      fields["lora_rank"].map { $0.isNull || weights.count <= 2 } ?? true,
      "LoRA's matrices are not interpreted")
    if ["TokenAndPositionEmbedding", "PositionalEmbedding"].contains(className),
      fields["vocab_size"] != nil
    {
      throw missing("the class of Keras's examples is not interpreted")
    }
    let other = call.names.subtracting([
      "training", "initial_state", "inputs", "sequences", "query", "value", "key", "mask",
    ]).subtracting(Attentions.arguments[className] ?? [])
    try require(other.isEmpty, "its argument '\(other.min() ?? "")' is not interpreted")
    let rates = ["rate", "stddev", "p", "dropout", "recurrent_dropout"].compactMap {
      field($0)?.double
    }
    let isNoise = Elements.trainingNames.contains(className)
    try require(
      !isTraining || rates.allSatisfy { $0 == 0 } && !(isNoise && rates.isEmpty),
      "it is random in training")
    do {
      return try operation(run)
    } catch let error as ModelError {
      throw error.inLayer(name, class: className).inFile(file)
    }
  }

  func missing(_ message: String) -> InterpretationError {
    InterpretationError(file: file, layer: name, layerClass: className, message)
  }

  func require(_ condition: Bool, _ message: @autoclosure () -> String) throws {
    if !condition { throw missing(message()) }
  }

  /// A tensor argument by its name.
  func tensor(_ name: String) -> DoubleArray? {
    call.keywords[name]?.tensors.first.flatMap { $0 }.map { tensors[$0] }
  }

  /// A positional argument of an operation, a tensor or a number, with at least `rank` axes.
  func operand(_ position: Int, rank: Int = 0) throws -> DoubleArray {
    let argument = call.positional.indices.contains(position) ? call.positional[position] : nil
    var array: DoubleArray?
    switch argument {
    case .tensor(let index)?: array = tensors[index]
    case .value(let value)?:
      let number = value.double ?? value.bool.map { $0 ? 1 : 0 }
      array = number.map { DoubleArray(shape: [], [$0]) }
    case .list, nil: break
    }
    guard let array else { throw missing("its argument \(position + 1) is not interpreted") }
    return try array.reshaped(
      [Int](repeating: 1, count: max(0, rank - array.rank)) + array.shape)
  }

  // MARK: Settings

  func field(_ names: String...) -> JSONValue? {
    for name in names {
      if let value = fields[name], !value.isNull { return value["value"] ?? value }
    }
    return nil
  }

  func bool(_ name: String, default standard: Bool = false) -> Bool {
    field(name)?.bool ?? field(name)?.int.map { $0 != 0 } ?? standard
  }

  func double(_ names: String..., default standard: Double) -> Double {
    for name in names { if let value = field(name)?.double { return value } }
    return standard
  }

  /// One positive size per axis; a single number applies to all axes.
  func sizes(_ names: String..., count: Int, default standard: Int = 1) throws -> [Int] {
    for name in names {
      guard let value = field(name) else { continue }
      let found = value.array?.compactMap(\.int) ?? value["items"]?.array?.compactMap(\.int)
      let numbers = found ?? value.int.map { [Int](repeating: $0, count: count) } ?? []
      let all = numbers.count == 1 ? [Int](repeating: numbers[0], count: count) : numbers
      try require(
        all.count == count && all.allSatisfy { $0 >= 1 && $0 <= 1 << 20 }, "its field '\(name)'")
      return all
    }
    return [Int](repeating: standard, count: count)
  }

  /// The number of spatial axes, according to the class name.
  var axes: Int { className.contains("1D") ? 1 : className.contains("3D") ? 3 : 2 }

  var isChannelsFirst: Bool {
    ["channels_first", "th"].contains(field("data_format", "dim_ordering")?.string ?? "")
  }

  func require(rank: Int) throws {
    try require(input.rank == rank, "an input of shape \(input.shape)")
  }

  func weight(_ index: Int, rank: Int? = nil) throws -> DoubleArray {
    guard weights.indices.contains(index) else {
      throw ModelError(.mismatch, "the file has no weight \(index + 1) of it")
    }
    if let rank, weights[index].rank != rank {
      throw ModelError(.mismatch, "its weight \(index + 1) has the shape \(weights[index].shape)")
    }
    return weights[index]
  }

  /// A weight as a vector of `count` values.
  func vector(_ index: Int, _ count: Int) throws -> [Double] {
    let values = try weight(index).values
    guard values.count == count else {
      throw ModelError(
        .mismatch, "its weight \(index + 1) has \(values.count) values, not \(count)")
    }
    return values
  }

  /// Applies the layer's activation.
  func activated(_ array: DoubleArray, _ names: String..., axis: Int = -1) throws -> DoubleArray {
    for name in names {
      if let value = field(name) { return try Activation(value, self).apply(array, axis: axis) }
    }
    return array
  }

  /// Moves the channel axis to index 1.
  func planes(_ array: DoubleArray) -> DoubleArray {
    if isChannelsFirst { return array }
    return array.transposed([0, array.rank - 1] + Array(1..<array.rank - 1))
  }

  /// Restores the layer's layout after `planes`.
  func layout(_ array: DoubleArray) -> DoubleArray {
    if isChannelsFirst { return array }
    return array.transposed([0] + Array(2..<array.rank) + [1])
  }
}

extension JSONValue {
  /// A list of integers, or a tuple of Keras 3.
  var list: [Int]? { (array ?? self["items"]?.array)?.compactMap(\.int) }
}
