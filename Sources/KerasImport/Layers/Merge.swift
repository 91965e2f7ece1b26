import CoreMLModel
import TensorCore

extension NetworkWriter {
  /// The inputs in one layout, with the shape of their element-wise combination. Tensors of fewer
  /// axes get theirs after the batch, as Keras does it.
  mutating func merged(_ call: LayerCall) throws -> (inputs: [KerasTensor], result: KerasTensor) {
    var standard: [KerasTensor] = []
    for input in call.inputs { standard.append(self.standard(input, for: call.name)) }
    guard var widest = standard.first else { throw call.error("it has no inputs") }
    for input in standard where input.rank > widest.rank { widest = input }
    var inputs: [KerasTensor] = []
    for var input in standard {
      // Align the axes at the end.
      let layout = TensorLayout(axes: Array(widest.layout.axes.suffix(input.rank - 1)))
      input = relaid(input, to: layout, for: call.name)
      inputs.append(input)
    }
    var result = widest
    // Guessed shapes give way to known ones.
    let known = inputs.filter { !$0.isGuess && $0.rank == widest.rank }
    if let first = known.first {
      result.shape = first.shape
      result.isGuess = false
      for input in known.dropFirst() {
        for axis in 1..<input.rank {
          let (a, b) = (result.shape[axis], input.shape[axis])
          guard a == b || a == nil || b == nil || a == 1 || b == 1 else {
            throw call.error(
              "its inputs \(call.inputs.map(\.shapeText).joined(separator: ", ")) do not fit")
          }
          if a == nil || a == 1 { result.shape[axis] = b }
        }
      }
    }
    return (inputs, result)
  }

  mutating func elementwise(_ parameters: some LayerParameters, _ call: LayerCall) throws
    -> [KerasTensor]
  {
    var (inputs, result) = try merged(call)
    result.blob = add(call.name, parameters, inputs.map(\.blob))
    return [result]
  }

  /// Joins the inputs along `axis`.
  mutating func concatenated(axis: Int, _ call: LayerCall) throws -> [KerasTensor] {
    var standard: [KerasTensor] = []
    for input in call.inputs { standard.append(self.standard(input, for: call.name)) }
    guard let first = standard.first else { throw call.error("it has no inputs") }
    let axis = try call.axis(axis, of: first)
    var inputs: [KerasTensor] = []
    for input in standard {
      guard input.rank == first.rank else {
        throw call.error(
          "its inputs \(call.inputs.map(\.shapeText).joined(separator: ", ")) have different ranks")
      }
      inputs.append(relaid(input, to: first.layout, for: call.name))
    }
    var shape = inputs.first(where: { !$0.isGuess })?.shape ?? first.shape
    for other in 1..<first.rank where other != axis {
      let sizes = Set(inputs.filter { !$0.isGuess }.compactMap { $0.shape[other] })
      guard sizes.count <= 1 else {
        throw call.error(
          "its inputs \(call.inputs.map(\.shapeText).joined(separator: ", ")) differ in axis "
            + "\(other)")
      }
      shape[other] = sizes.first
    }
    let parts = inputs.map { $0.shape[axis] }
    shape[axis] =
      try parts.contains(nil)
      ? nil : checkedSum(parts.compactMap { $0 }, limit: Limits.dimension)
    let isGuess = inputs.contains(where: \.isGuess)
    func joined(_ network: inout NetworkWriter, _ tensors: [KerasTensor]) -> KerasTensor {
      var result = tensors[0]
      result.shape = shape
      result.isGuess = isGuess
      var concat = Concat()
      concat.sequenceConcat = tensors[0].layout.axes[axis - 1] == .sequence
      result.blob = network.add(call.name, concat, tensors.map(\.blob))
      return result
    }
    if first.layout.axes[axis - 1] == .sequence { return [joined(&self, inputs)] }
    return [withChannelAxis(axis, of: inputs, for: call.name, joined)]
  }
}

/// The sum of the inputs.
struct AddLayer: KerasLayer {
  static let classNames = ["Add"]

  init(_ configuration: LayerConfiguration) throws {}

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    try network.elementwise(Add(), call)
  }
}

/// The first input less the second.
struct SubtractLayer: KerasLayer {
  static let classNames = ["Subtract"]

  init(_ configuration: LayerConfiguration) throws {}

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    var (inputs, result) = try network.merged(call)
    guard inputs.count == 2 else { throw call.error("it takes two inputs, not \(inputs.count)") }
    let negated = network.add(
      call.name + "__neg__", Activation(.linear(alpha: -1, beta: 0)), [inputs[1].blob])
    result.blob = network.add(call.name, Add(), [inputs[0].blob, negated])
    return [result]
  }
}

/// The product of the inputs.
struct MultiplyLayer: KerasLayer {
  static let classNames = ["Multiply"]

  init(_ configuration: LayerConfiguration) throws {}

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    try network.elementwise(Multiply(), call)
  }
}

/// The mean of the inputs.
struct AverageLayer: KerasLayer {
  static let classNames = ["Average"]

  init(_ configuration: LayerConfiguration) throws {}

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    try network.elementwise(Average(), call)
  }
}

/// The largest of the inputs, element by element.
struct MaximumLayer: KerasLayer {
  static let classNames = ["Maximum"]

  init(_ configuration: LayerConfiguration) throws {}

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    try network.elementwise(Max(), call)
  }
}

/// The smallest of the inputs, element by element.
struct MinimumLayer: KerasLayer {
  static let classNames = ["Minimum"]

  init(_ configuration: LayerConfiguration) throws {}

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    try network.elementwise(Min(), call)
  }
}

/// The inputs one after the other along an axis.
struct ConcatenateLayer: KerasLayer {
  static let classNames = ["Concatenate"]

  private let axis: Int

  init(_ configuration: LayerConfiguration) throws {
    axis = try configuration.ints("axis")?.first ?? -1
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    try network.concatenated(axis: axis, call)
  }
}

/// Keras 1's layer for all of these.
struct MergeLayer: KerasLayer {
  static let classNames = ["Merge"]

  private enum Mode: String {
    case sum, mul, ave, max, concat, cos, dot
  }

  private let mode: Mode
  private let axis: Int

  init(_ configuration: LayerConfiguration) throws {
    let name = try configuration.string("mode", default: "sum")
    guard let mode = Mode(rawValue: name) else {
      throw configuration.unsupported(
        "mode", "'\(name)' is not supported", hint: "sum, mul, ave, max, concat, cos and dot are")
    }
    self.mode = mode
    axis = try configuration.int("concat_axis", default: -1, atLeast: -Limits.rank)
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    switch mode {
    case .sum: try network.elementwise(Add(), call)
    case .mul: try network.elementwise(Multiply(), call)
    case .ave: try network.elementwise(Average(), call)
    case .max: try network.elementwise(Max(), call)
    case .concat: try network.concatenated(axis: axis, call)
    case .cos: try network.dot(isNormalized: true, call)
    case .dot: try network.dot(isNormalized: false, call)
    }
  }
}
