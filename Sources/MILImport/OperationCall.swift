import CoreMLModel
import TensorCore

/// An operation being converted: its arguments, and the layers that it becomes.
struct OperationCall: OperationArguments {
  let operation: MILOperation
  let lowering: ProgramLowering

  var label: String { operation.label }

  // MARK: - Arguments

  /// The values of an argument; empty if it is missing.
  func values(_ name: String) throws -> [ProgramValue] {
    try inArgument(name) {
      // In iOS 16, operations on weights have attributes instead of arguments.
      if operation.argument(name) == nil, let value = operation.attribute(name) {
        return [ProgramValue(try MILElements(value, files: lowering.program.weightFiles))]
      }
      return try (operation.argument(name) ?? []).map { binding in
        switch binding {
        case .name(let value): return try lowering.value(value)
        case .value(let value):
          return ProgramValue(try MILElements(value, files: lowering.program.weightFiles))
        case nil: throw ModelError(.malformed, "the argument has no value")
        }
      }
    }
  }

  func optional(_ name: String) throws -> ProgramValue? {
    let values = try values(name)
    try require(values.count <= 1, "\(values.count) values; one is needed", field: name)
    return values.first
  }

  func value(_ name: String) throws -> ProgramValue {
    try optional(name).orThrow(missing(name))
  }

  /// The argument `x`, of one of these ranks.
  func input(ranks: ClosedRange<Int>) throws -> ProgramValue {
    let (x, low, high) = (try value("x"), ranks.lowerBound, ranks.upperBound)
    let wanted =
      low == high
      ? ", not \(low)"
      : high > 5 ? "; at least \(low) is needed" : "; \(low) to \(high) are supported"
    try require(ranks.contains(x.rank), "the input has rank \(x.rank)\(wanted)", field: "x")
    return x
  }

  /// The elements of an argument that must not depend on the inputs; nil if it is missing.
  package func elements(_ name: String) throws -> MILElements? {
    try inArgument(name) {
      guard let value = try optional(name) else { return nil }
      return try lowering.elements(value).orThrow(
        ModelError(
          .unsupported, "the argument depends on values that are known only during a prediction",
          hint:
            "sizes and places must follow from the shapes and values of the inputs, outside loops"))
    }
  }

  package func ints(_ name: String) throws -> [Int]? {
    try inArgument(name) { try elements(name)?.ints() }
  }

  func int(_ name: String) throws -> Int? { try ints(name)?.first }

  func axis(_ name: String, rank: Int, _ missing: Int) throws -> Int {
    try ArrayShape.axis(try int(name) ?? missing, rank: rank, name)
  }

  // MARK: - Layers

  /// Adds a layer and returns its results; the layer determines their shapes.
  func addAll(
    _ parameters: any LayerParameters, _ inputs: [ProgramValue], types: [MILDataType]
  ) throws -> [ProgramValue] {
    let given = inputs.map(\.blobShape)
    if given.contains(where: { $0.contains(0) }) {
      switch try parameters.result(ofEmpty: given) {
      case .empty(let shapes): return zip(types, shapes).map { constant([], $1, $0) }
      case .input(let index): return [inputs[index].with(type: types[0])]
      case .inputs(let indices) where indices.count == 1: return [inputs[indices[0]]]
      case .inputs(let indices):
        return try addAll(parameters, indices.map { inputs[$0] }, types: types)
      case .elements(let shape, let values): return [constant(values, shape, types[0])]
      }
    }
    if types.count == 1, let result = try beforeChannelsMove(parameters, inputs, types[0]) {
      return [result]
    }
    let shapes = try parameters.blobShapes(given)
    let blobs = try inputs.map { try lowering.blob($0, named: label + "_constant") }
    let outputs = try lowering.append(
      parameters, blobs, outputs: min(shapes.count, types.count), name: label)
    for (output, type) in zip(outputs, types) { lowering.noteType(output, type) }
    return zip(zip(outputs, types), shapes).map { ProgramValue(blob: $0.0, $0.1, $1) }
  }

  /// Adds a layer with one result, which has the type of the first input unless another is
  /// specified.
  func add(
    _ parameters: any LayerParameters, _ inputs: ProgramValue..., type: MILDataType? = nil
  ) throws -> ProgramValue {
    try addAll(parameters, inputs, types: [type ?? inputs[0].type])[0]
  }

  func constant(_ values: [Float], _ shape: [Int], _ type: MILDataType) -> ProgramValue {
    ProgramValue(MILElements(values, shape, type))
  }

  func scalar(_ value: Float, _ type: MILDataType) -> ProgramValue { constant([value], [1], type) }

  /// The same elements in another shape.
  func reshaped(_ value: ProgramValue, _ shape: [Int]) throws -> ProgramValue {
    let target = shape.isEmpty ? [1] : shape
    if value.shape.contains(0), shape.contains(0) { return constant([], shape, value.type) }
    var result = value
    if value.blobShape != target {
      result = try add(ReshapeStatic().with(\.targetShape, target), value)
    } else if value.shape != shape, value.constant != nil {
      result.content = .blob(try lowering.blob(value, named: label + "_constant"))
    }
    result.shape = shape
    return result
  }

  func transposed(_ value: ProgramValue, _ axes: [Int]) throws -> ProgramValue {
    var (source, axes) = (value, axes)
    // Two consecutive transposes become one, or none.
    if let blob = value.blob, let (inner, input) = lowering.transpose(giving: blob) {
      axes = axes.map { inner[$0] }
      source.content = .blob(input)
      for (axis, index) in inner.enumerated() { source.shape[index] = value.shape[axis] }
    }
    if axes == Array(0..<value.rank) { return source }
    return try add(Transpose().with(\.axes, axes), source)
  }

  func broadcast(_ value: ProgramValue, to shape: [Int]) throws -> ProgramValue {
    if value.blobShape == shape { return value }
    return try add(BroadcastToStatic().with(\.targetShape, shape), value)
  }

  func concatenated(_ parts: [ProgramValue], _ axis: Int) throws -> ProgramValue {
    if parts.count == 1 { return parts[0] }
    return try addAll(ConcatND().with(\.axis, axis), parts, types: [parts[0].type])[0]
  }

  /// Applies `body` to the value as [N, C, H, W]; for an array of rank 3, H is 1.
  func asPlanes(
    _ value: ProgramValue, _ body: (ProgramValue) throws -> ProgramValue
  ) throws -> ProgramValue {
    guard value.rank == 3 else { return try body(value) }
    let shape = value.shape
    let result = try body(try reshaped(value, [shape[0], shape[1], 1, shape[2]]))
    return try reshaped(result, [result.shape[0], result.shape[1], result.shape[3]])
  }

  /// The weights of a constant argument, which must have `shape` if given; nil if it is missing.
  func weights(_ name: String, shape: [Int]? = nil) throws -> Weights? {
    guard let elements = try elements(name) else { return nil }
    try require(
      shape == nil || elements.shape == shape, "the shape is \(elements.shape), not \(shape ?? [])",
      field: name)
    return try inArgument(name) { try elements.weights() }
  }
}
