import CoreMLModel
import ImportSupport
import TensorCore

extension KerasWriter {
  /// The inputs in a common layout, and the shape of their elementwise combination. Tensors of
  /// lower rank get axes of size 1 after the batch, as in Keras.
  mutating func merged(_ call: LayerCall) throws -> (inputs: [KerasTensor], result: KerasTensor) {
    var standard: [KerasTensor] = []
    for input in call.inputs { standard.append(self.standard(input, for: call.name)) }
    guard var widest = standard.first else { throw call.error("it has no inputs") }
    for input in standard where input.rank > widest.rank { widest = input }
    var inputs: [KerasTensor] = []
    for var input in standard {
      // Aligns the last axes.
      let layout = TensorLayout(axes: Array(widest.layout.axes.suffix(input.rank - 1)))
      input = relaid(input, to: layout, for: call.name)
      inputs.append(input)
    }
    var result = widest
    // Known shapes take precedence over assumed ones.
    if let first = inputs.first(where: { !$0.isShapeAssumed && $0.rank == widest.rank }) {
      result.shape = first.shape
      result.isShapeAssumed = false
      for input in inputs where !input.isShapeAssumed {
        for (axis, b) in zip(widest.rank - input.rank + 1..<widest.rank, input.shape.dropFirst()) {
          let a = result.shape[axis]
          try call.require(
            a == b || a == nil || b == nil || a == 1 || b == 1,
            "its inputs \(call.inputs.map(\.shapeText).joined(separator: ", ")) do not match")
          // An unknown size remains unknown beside 1.
          if a == 1 || a == nil && b != 1 { result.shape[axis] = b }
        }
      }
    }
    return (inputs, result)
  }

  /// Applies one layer to the inputs. Sums and products broadcast their inputs; for other layers,
  /// adding zeros broadcasts them first.
  mutating func elementwise(
    _ parameters: any LayerParameters, _ call: LayerCall
  ) throws -> [KerasTensor] {
    let (inputs, result) = try merged(call)
    return [combined(parameters, inputs, result, call.name)]
  }

  private mutating func combined(
    _ parameters: any LayerParameters, _ inputs: [KerasTensor], _ result: KerasTensor,
    _ name: String
  ) -> KerasTensor {
    var inputs = inputs
    if !(parameters is Add), !(parameters is Multiply),
      inputs.contains(where: { $0.isNarrower(than: result) })
    {
      let zeros = inputs.enumerated().map { index, input in
        affine(input.blob, 0, 0, "\(name)__zero_\(index)__")
      }
      let zero = sum(zeros, name + "__zeros__")
      for (index, input) in inputs.enumerated() where input.isNarrower(than: result) {
        inputs[index].blob = sum([input.blob, zero], "\(name)__stretched_\(index)__")
      }
    }
    return result.with(add(name, parameters, inputs.map(\.blob)))
  }

  /// A product, maximum or minimum as since Keras 3.4: masked steps are 1 in a product, or 0 if
  /// all inputs are masked; in a maximum or minimum they have the value of the other operand.
  fileprivate mutating func masked(
    _ parameters: any LayerParameters, _ call: LayerCall
  ) throws -> [KerasTensor] {
    var (inputs, result) = try merged(call)
    try call.require(
      zip(inputs, call.inputs).allSatisfy { $1.mask == nil || $0.rank == 3 },
      unsupported: "masks are supported for sequences only, not for \(result.shapeText)")
    let counts = zip(inputs, call.inputs).map { input, source in
      source.mask.map { relaid(steps(of: $0), to: input.layout, for: call.name).blob }
    }
    func chosen(_ count: String, _ a: String, _ b: String?, _ name: String) -> String {
      var other = affine(count, -1, 1, name + "masked__")
      if let b { other = product(b, other, name + "other__") }
      return sum([product(a, count, name + "kept__"), other], name)
    }
    if parameters is Multiply {
      for (index, count) in counts.enumerated() {
        guard let count else { continue }
        inputs[index].blob = chosen(count, inputs[index].blob, nil, "\(call.name)__\(index)__")
      }
      let valid = counts.compactMap { $0 }
      guard valid.count == inputs.count else {
        return [combined(parameters, inputs, result, call.name)]
      }
      let all = combined(parameters, inputs, result, call.name + "__all__").blob
      let any = valid.count == 1 ? valid[0] : add(call.name + "__any__", Max(), valid)
      return [result.with(product(all, any, call.name))]
    }
    var partial = inputs[0]
    var valid = counts[0]
    for (index, var input) in inputs.enumerated().dropFirst() {
      let name = "\(call.name)__\(index)__"
      let count = counts[index]
      if let count { input.blob = chosen(count, input.blob, partial.blob, name + "input__") }
      if let valid { partial.blob = chosen(valid, partial.blob, input.blob, name + "partial__") }
      valid = valid.flatMap { valid in count.map { add(name + "any__", Max(), [valid, $0]) } }
      let isLast = index == inputs.count - 1
      partial.blob =
        combined(parameters, [partial, input], result, isLast ? call.name : name).blob
    }
    return [result.with(partial.blob)]
  }

  /// Concatenates the inputs along `axis`.
  mutating func concatenated(axis: Int, _ call: LayerCall) throws -> [KerasTensor] {
    var standard: [KerasTensor] = []
    for input in call.inputs { standard.append(self.standard(input, for: call.name)) }
    guard let first = standard.first else { throw call.error("it has no inputs") }
    let axis = try call.axis(axis, of: first)
    if standard.count == 1 { return standard }
    var inputs: [KerasTensor] = []
    for input in standard {
      try call.require(
        input.rank == first.rank,
        "its inputs \(call.inputs.map(\.shapeText).joined(separator: ", ")) have different ranks")
      inputs.append(relaid(input, to: first.layout, for: call.name))
    }
    var shape = inputs.first(where: { !$0.isShapeAssumed })?.shape ?? first.shape
    for other in 1..<first.rank where other != axis {
      let sizes = Set(inputs.filter { !$0.isShapeAssumed }.compactMap { $0.shape[other] })
      try call.require(
        sizes.count <= 1,
        "its inputs \(call.inputs.map(\.shapeText).joined(separator: ", ")) differ in axis "
          + "\(other)")
      shape[other] = sizes.first
    }
    let parts = inputs.map { $0.shape[axis] }
    shape[axis] =
      try parts.contains(nil) ? nil : checkedSum(parts.compactMap { $0 }, limit: Limits.dimension)
    let isShapeAssumed = inputs.contains(where: \.isShapeAssumed)
    func joined(_ network: inout KerasWriter, _ tensors: [KerasTensor]) -> KerasTensor {
      var result = tensors[0]
      result.shape = shape
      result.isShapeAssumed = isShapeAssumed
      var concat = Concat()
      concat.sequenceConcat = tensors[0].layout.axes[axis - 1] == .sequence
      result.blob = network.add(call.name, concat, tensors.map(\.blob))
      return result
    }
    if first.layout.axes[axis - 1] == .sequence { return [joined(&self, inputs)] }
    return [withChannelAxis(axis, of: inputs, for: call.name, joined)]
  }
}

extension KerasTensor {
  /// Whether the tensor must be broadcast to combine it into `result`.
  fileprivate func isNarrower(than result: KerasTensor) -> Bool {
    rank < result.rank || zip(shape, result.shape).dropFirst().contains { $0 == 1 && $1 != 1 }
  }
}

/// Combines the inputs element by element.
enum ElementwiseMergeLayer: KerasLayer {
  static let classes = [
    SourceLayer("Add", becomes: "add", options: "inputs that broadcast"),
    SourceLayer("Multiply", becomes: "multiply"),
    SourceLayer("Average", becomes: "average; inputs are broadcast first"),
    SourceLayer("Maximum", becomes: "max; inputs are broadcast first"),
    SourceLayer("Minimum", becomes: "min; inputs are broadcast first"),
  ]
  static let maskPolicy = MaskPolicy.merges
  static let leadingAxes = LeadingAxesPolicy.keeps

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let layer: any LayerParameters =
      switch configuration.kind {
      case "Add": Add()
      case "Multiply": Multiply()
      case "Average": Average()
      case "Maximum": Max()
      default: Min()
      }
    return conversion { call, network in
      // Since Keras 3.4, products, maxima and minima ignore masked steps.
      guard layer is Multiply || layer is Max || layer is Min, call.version.isAtLeast(3, 4),
        call.inputs.contains(where: { $0.mask != nil })
      else { return try network.elementwise(layer, call) }
      return try network.masked(layer, call)
    }
  }
}

/// The first input minus the second.
enum SubtractLayer: KerasLayer {
  static let classes = [SourceLayer("Subtract", becomes: "a linear activation and add")]
  static let maskPolicy = MaskPolicy.merges
  static let leadingAxes = LeadingAxesPolicy.keeps

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    conversion { call, network in
      let (inputs, result) = try network.merged(call)
      try call.require(inputs.count == 2, "it takes two inputs but gets \(inputs.count)")
      return [result.with(network.difference(inputs[0].blob, inputs[1].blob, call.name))]
    }
  }
}

/// Concatenates the inputs along an axis.
enum ConcatenateLayer: KerasLayer {
  static let classes = [SourceLayer](
    "Concatenate", becomes: "concat, wrapped in permutes", options: "any `axis` but the batch")
  static let maskPolicy = MaskPolicy.decides
  static let leadingAxes = LeadingAxesPolicy.keeps

  /// Concatenates the masks along the steps. Along other axes, a step is valid if it is valid in
  /// all inputs, or since Keras 3.4, in any input.
  private static func mask(_ call: LayerCall, _ axis: Int) throws -> StepMask? {
    let isNested = call.inputs.contains { $0.mask?.isNested == true }
    guard call.inputs.contains(where: { $0.mask != nil }), call.inputs[0].rank == 3 || isNested
    else { return StepMask.common(call.inputs.compactMap(\.mask)) }
    let axis = try call.axis(axis, of: call.inputs[0])
    try call.require(
      !isNested || axis == 3 && call.inputs.allSatisfy { $0.mask?.isNested != false },
      unsupported: "masks of sequences of sequences are not joined along the steps")
    if axis == 1 { return .joined(call.inputs.map { ($0.mask, $0) }) }
    return StepMask.merged(call.inputs, call.version)
  }

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let axis = try configuration.ints("axis")?.first ?? -1
    return conversion { call, network in
      var results = try network.concatenated(axis: axis, call)
      results[0].mask = try mask(call, axis)
      return results
    }
  }
}

/// Keras 1's layer for all of these operations.
enum MergeLayer: KerasLayer {
  static let classes = [SourceLayer](
    "Merge", becomes: "like the layers above",
    options: "`mode` sum, mul, ave, max, concat, cos, dot", refused: "a Python function as `mode`"
  )
  static let maskPolicy = MaskPolicy.merges

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let mode = try configuration.string("mode", default: "sum")
    let layers: [String: any LayerParameters] = [
      "sum": Add(), "mul": Multiply(), "ave": Average(), "max": Max(),
    ]
    try configuration.require(
      layers[mode] != nil || ["concat", "cos", "dot"].contains(mode), "mode",
      unsupported: "'\(mode)' is not supported",
      hint: "sum, mul, ave, max, concat, cos and dot are supported")
    let axis = try configuration.int("concat_axis", default: -1, atLeast: -Limits.rank)
    let dotAxes: [Int]
    if let (field, value) = configuration.field("dot_axes"), let lists = value.array,
      lists.contains(where: { $0.array != nil })
    {
      dotAxes = try lists.flatMap { try configuration.ints(field, $0) }
    } else {
      dotAxes = try configuration.ints("dot_axes") ?? [-1]
    }
    return conversion { call, network in
      if let layer = layers[mode] { return try network.elementwise(layer, call) }
      if mode == "concat" { return try network.concatenated(axis: axis, call) }
      return [try network.dot(axes: dotAxes, isNormalized: mode == "cos", call)]
    }
  }
}
