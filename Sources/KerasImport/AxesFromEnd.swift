import ByteFormats
import TensorCore

/// Makes axes in a layer's arguments count from the end, so that leading axes do not matter.
struct AxesFromEnd {
  /// The rank of the tensor in Keras, including the batch.
  let rank: Int
  /// The number of axes after the batch that the blob merges into one.
  let leading: Int

  private static let names = ["axis", "axes", "dim", "reduction_indices"]

  func rewrite(
    _ arguments: inout CallArguments, _ fields: inout JSONObject, of operation: Operation?,
    _ call: LayerCall
  ) throws {
    for name in Self.names {
      if let value = fields[name] { fields[name] = try fromEnd(value, call) }
      if let value = arguments.keywords[name]?.constant {
        arguments.keywords[name] = .value(try fromEnd(value, call))
      }
    }
    guard let operation else { return }
    if let position = OperationTable.keepingLeadingAxes[operation.names[0]] ?? nil,
      position < arguments.positional.count,
      let value = arguments.positional[position].constant
    {
      arguments.positional[position] = .value(try fromEnd(value, call))
    }
    guard operation.names[0] == "getitem" else { return }
    for name in ["slice_spec", "key"] {
      if let items = fields[name] { fields[name] = try withoutLeading(items, call) }
      if let items = arguments.keywords[name]?.constant {
        arguments.keywords[name] = .value(try withoutLeading(items, call))
      }
    }
    if arguments.positional.count > 1, let items = arguments.positional[1].constant {
      arguments.positional[1] = .value(try withoutLeading(items, call))
    }
  }

  /// An axis or a list of axes, counted from the end.
  private func fromEnd(_ value: JSONValue, _ call: LayerCall) throws -> JSONValue {
    if let elements = value.array { return .array(try elements.map { try fromEnd($0, call) }) }
    if let items = value["items"] { return try fromEnd(items, call) }
    guard let axis = value.int else { return value }
    let index = axis < 0 ? axis : axis - rank
    guard (leading + 1 - rank..<0).contains(index) else {
      throw call.unsupported(
        "axis \(axis) is the batch or one that Core ML's blobs do not have, which is not supported")
    }
    return .int(index)
  }

  /// The items of x[…] with one whole slice for the batch and one for all leading axes.
  private func withoutLeading(_ value: JSONValue, _ call: LayerCall) throws -> JSONValue {
    let items = value.array ?? [value]
    func isWhole(_ item: JSONValue) -> Bool {
      guard !item.isNull, let bounds = item["config"] ?? (item["class_name"] == nil ? item : nil)
      else { return false }
      return ["start", "stop", "step"].allSatisfy { bounds[$0]?.isNull ?? true }
        && bounds.object != nil
    }
    let first = items.prefix { isWhole($0) }.count
    if first < items.count, items[first]["class_name"]?.string == "__ellipsis__" { return value }
    guard let whole = items.first, first > 0, first > leading || first == items.count else {
      throw call.unsupported(
        "an index along the batch or an axis that Core ML's blobs do not have is not supported")
    }
    return .array([whole, whole] + items.dropFirst(1 + leading))
  }
}

extension OperationTable {
  /// Operations that work on each index of the leading axes separately, with the position of the
  /// argument that specifies other axes.
  static let keepingLeadingAxes: [String: Int?] = [
    "add": nil, "subtract": nil, "multiply": nil, "divide": nil, "pow": nil, "maximum": nil,
    "minimum": nil, "squareddifference": nil, "matmul": nil, "getitem": nil, "split": 2,
    "concat": 1, "softmax": 1, "logsoftmax": 1, "l2normalize": 1, "reducemean": 1, "reducesum": 1,
    "reducemax": 1, "reducemin": 1, "relu": nil, "leakyrelu": nil, "gelu": nil, "clip": nil,
    "identity": nil,
  ]

  /// Operations that regroup or move axes.
  static let decidingLeadingAxes: Set = [
    "reshape", "transpose", "shape", "repeat", "expanddims", "squeeze",
  ]
}
